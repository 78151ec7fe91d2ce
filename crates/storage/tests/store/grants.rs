//! What users allowed applications, with the codes and tokens that came of it.

use std::sync::Arc;

use eddyline_model::grants::{AccessToken, AuthorizationCode, Grant, RefreshToken};
use eddyline_model::scopes::{Scope, Scopes};
use eddyline_model::{ApplicationId, GrantId, Timestamp, UserId};
use eddyline_storage::{GrantsOf, Result, Tx};

use crate::applications::{register, robot};
use crate::home::{Home, on_every_database};
use crate::world::{World, member};

on_every_database!(
    a_code_is_found_and_notes_what_it_was_exchanged_for,
    a_grant_begins_and_goes_on,
    grants_are_found_by_user_and_application,
    tokens_are_found_with_what_they_came_from,
    an_access_token_ends_alone,
    a_grant_ends_with_all_its_tokens_and_nothing_else,
    codes_of_a_user_or_an_application_are_forgotten,
    what_a_user_allowed_is_listed_while_a_token_holds,
    what_the_people_of_an_organization_allowed_is_listed,
    a_code_is_forgotten_when_it_ended_and_its_grant_too,
    ended_tokens_are_forgotten,
    grants_without_a_token_that_holds_are_idle,
);

/// Two applications, and somebody in another organization.
struct Allowed {
    world: World,
    robot: ApplicationId,
    other: ApplicationId,
}

impl Allowed {
    async fn new(home: &Home) -> Self {
        let world = World::new(home).await;
        let [first, second] = [robot(&world, "abc"), robot(&world, "def")];
        let (robot, other) = (
            register(&world, first, None).await.id,
            register(&world, second, None).await.id,
        );
        Self {
            world,
            robot,
            other,
        }
    }

    async fn write<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<R> + Send + Sync + 'static,
    ) -> R {
        self.world
            .store
            .write(work)
            .await
            .expect("the write is answered")
            .0
    }

    async fn grant(&self, application: ApplicationId, user: UserId) -> GrantId {
        self.write(move |tx| {
            tx.grants()
                .insert(application, user, Scopes::DEFAULT, Timestamp(100))
        })
        .await
    }

    /// An access token that ends then.
    async fn access(&self, hash: &'static [u8], grant: GrantId, ends: i64) {
        self.write(move |tx| tx.oauth_tokens().insert_access(hash, access(grant, ends)))
            .await;
    }

    /// A refresh token that ends then.
    async fn refresh(&self, hash: &'static [u8], grant: GrantId, ends: i64) {
        self.write(move |tx| tx.oauth_tokens().insert_refresh(hash, refresh(grant, ends)))
            .await;
    }

    async fn code(&self, hash: &'static [u8], code: AuthorizationCode) {
        self.write(move |tx| tx.oauth_tokens().insert_code(hash, &code))
            .await;
    }

    /// Which of these codes are kept.
    async fn codes(&self, hashes: &[&'static [u8]]) -> Vec<bool> {
        let mut kept = Vec::new();
        for hash in hashes.iter().copied() {
            kept.push(
                self.world
                    .read(move |reader| reader.oauth_tokens().find_code(hash))
                    .await
                    .is_some(),
            );
        }
        kept
    }

    async fn grants_of(&self, whose: GrantsOf) -> Vec<GrantId> {
        let found = self
            .world
            .read(move |reader| reader.grants().list(whose))
            .await;
        found.into_iter().map(|grant| grant.id).collect()
    }

    async fn has_access(&self, hash: &'static [u8]) -> bool {
        self.world
            .read(move |reader| reader.oauth_tokens().find_access(hash))
            .await
            .is_some()
    }

    async fn has_refresh(&self, hash: &'static [u8]) -> bool {
        self.world
            .read(move |reader| reader.oauth_tokens().find_refresh(hash))
            .await
            .is_some()
    }
}

fn access(grant: GrantId, ends: i64) -> AccessToken {
    let scopes = Scopes::of(&[Scope::Flow]);
    AccessToken {
        grant,
        scopes,
        created_at: Timestamp(150),
        expires_at: Timestamp(ends),
    }
}

fn refresh(grant: GrantId, ends: i64) -> RefreshToken {
    RefreshToken {
        grant,
        generation: 3,
        expires_at: Timestamp(ends),
    }
}

fn code(application: ApplicationId, user: UserId) -> AuthorizationCode {
    AuthorizationCode {
        application,
        user,
        scopes: Scopes::ALL,
        redirect_uri: "https://robot.example/back".to_owned(),
        redirect_named: true,
        challenge: Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned()),
        expires_at: Timestamp(600),
        grant: None,
    }
}

async fn a_code_is_found_and_notes_what_it_was_exchanged_for(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let ann = there.world.ann;
    let whole = code(there.robot, ann);
    let bare = AuthorizationCode {
        redirect_named: false,
        challenge: None,
        ..whole.clone()
    };
    there.code(b"whole", whole.clone()).await;
    there.code(b"bare", bare.clone()).await;
    let find = async |hash: &'static [u8]| {
        there
            .world
            .read(move |reader| reader.oauth_tokens().find_code(hash))
            .await
    };
    assert_eq!(
        (find(b"whole").await, find(b"bare").await),
        (Some(whole.clone()), Some(bare.clone()))
    );
    assert_eq!(find(b"none").await, None);
    let grant = there.grant(there.robot, ann).await;
    let held = there
        .write(move |tx| {
            let held = tx.oauth_tokens().lock_code(b"whole")?;
            tx.oauth_tokens().set_code_used(b"whole", grant)?;
            Ok((held, tx.oauth_tokens().lock_code(b"none")?))
        })
        .await;
    assert_eq!(held, (Some(whole.clone()), None));
    let used = AuthorizationCode {
        grant: Some(grant),
        ..whole
    };
    assert_eq!(
        (find(b"whole").await, find(b"bare").await),
        (Some(used), Some(bare))
    );
}

async fn a_grant_begins_and_goes_on(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let ann = there.world.ann;
    let (id, untouched) = (
        there.grant(there.robot, ann).await,
        there.grant(there.robot, ann).await,
    );
    let new = Grant {
        id,
        application: there.robot,
        user: ann,
        scopes: Scopes::DEFAULT,
        generation: 0,
        created_at: Timestamp(100),
        used_at: Timestamp(100),
    };
    let find = async |id| {
        there
            .world
            .read(move |reader| reader.grants().find(id))
            .await
    };
    assert_eq!(find(id).await, Some(new));
    let held = there
        .write(move |tx| {
            let held = (tx.grants().lock(id)?, tx.grants().lock(GrantId(99))?);
            tx.grants().advance(id, 4, Timestamp(200))?;
            Ok(held)
        })
        .await;
    assert_eq!(held, (Some(new), None));
    assert_eq!(
        find(id).await,
        Some(Grant {
            generation: 4,
            used_at: Timestamp(200),
            ..new
        })
    );
    assert_eq!(
        find(untouched).await,
        Some(Grant {
            id: untouched,
            ..new
        })
    );
}

async fn grants_are_found_by_user_and_application(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let (ann, bob, robot, other) = (there.world.ann, there.world.bob, there.robot, there.other);
    let mut made = Vec::new();
    for (application, user) in [(robot, ann), (other, ann), (robot, bob), (robot, ann)] {
        made.push(there.grant(application, user).await);
    }
    let [first, second, bobs, third] = made[..] else {
        panic!("four grants")
    };
    assert_eq!(
        there.grants_of(GrantsOf::User(ann)).await,
        [first, second, third]
    );
    assert_eq!(
        there.grants_of(GrantsOf::UserAt(ann, robot)).await,
        [first, third]
    );
    assert_eq!(
        there.grants_of(GrantsOf::Application(robot)).await,
        [first, bobs, third]
    );
    assert_eq!(there.grants_of(GrantsOf::UserAt(bob, other)).await, []);
    assert_eq!(there.grants_of(GrantsOf::User(there.world.cid)).await, []);
}

async fn tokens_are_found_with_what_they_came_from(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let id = there.grant(there.robot, there.world.ann).await;
    there.access(b"same", id, 300).await;
    there.refresh(b"same", id, 400).await;
    let grant = there
        .world
        .read(move |reader| reader.grants().find(id))
        .await
        .expect("the grant");
    let read = &there.world;
    assert_eq!(
        read.read(|reader| reader.oauth_tokens().find_access(b"same"))
            .await,
        Some((access(id, 300), grant))
    );
    assert_eq!(
        read.read(|reader| reader.oauth_tokens().find_refresh(b"same"))
            .await,
        Some((refresh(id, 400), grant))
    );
    assert!(!there.has_access(b"other").await && !there.has_refresh(b"other").await);
}

async fn an_access_token_ends_alone(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let id = there.grant(there.robot, there.world.ann).await;
    there.access(b"one", id, 300).await;
    there.access(b"two", id, 300).await;
    there.refresh(b"one", id, 300).await;
    assert!(
        there
            .write(|tx| tx.oauth_tokens().delete_access(b"one"))
            .await
    );
    assert!(
        !there
            .write(|tx| tx.oauth_tokens().delete_access(b"one"))
            .await
    );
    assert!(!there.has_access(b"one").await && there.has_access(b"two").await);
    assert!(there.has_refresh(b"one").await);
}

async fn a_grant_ends_with_all_its_tokens_and_nothing_else(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let ann = there.world.ann;
    let (ending, staying) = (
        there.grant(there.robot, ann).await,
        there.grant(there.robot, ann).await,
    );
    for (hash, grant) in [(&b"a1"[..], ending), (b"a2", ending), (b"b1", staying)] {
        there.access(hash, grant, 300).await;
        there.refresh(hash, grant, 300).await;
    }
    assert!(there.write(move |tx| tx.grants().delete(ending)).await);
    assert!(!there.write(move |tx| tx.grants().delete(ending)).await);
    for hash in [&b"a1"[..], b"a2"] {
        assert!(!there.has_access(hash).await && !there.has_refresh(hash).await);
    }
    assert!(there.has_access(b"b1").await && there.has_refresh(b"b1").await);
    assert_eq!(there.grants_of(GrantsOf::User(ann)).await, [staying]);
}

async fn codes_of_a_user_or_an_application_are_forgotten(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let (ann, bob, robot, other) = (there.world.ann, there.world.bob, there.robot, there.other);
    let all: [&'static [u8]; 4] = [b"ann robot", b"ann other", b"bob robot", b"bob other"];
    for (whose, kept) in [
        (GrantsOf::UserAt(ann, other), [true, false, true, true]),
        (GrantsOf::User(ann), [false, false, true, true]),
        (GrantsOf::Application(robot), [false, true, false, true]),
    ] {
        let made = [(robot, ann), (other, ann), (robot, bob), (other, bob)];
        for (hash, (application, user)) in all.into_iter().zip(made) {
            there.code(hash, code(application, user)).await;
        }
        there
            .write(move |tx| tx.oauth_tokens().delete_codes(whose))
            .await;
        assert_eq!(there.codes(&all).await, kept, "{whose:?}");
        for user in [ann, bob] {
            there
                .write(move |tx| tx.oauth_tokens().delete_codes(GrantsOf::User(user)))
                .await;
        }
    }
}

async fn what_a_user_allowed_is_listed_while_a_token_holds(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let (ann, bob, robot, other) = (there.world.ann, there.world.bob, there.robot, there.other);
    let by_access = there.grant(robot, ann).await;
    there.access(b"1", by_access, 300).await;
    let by_refresh = there.grant(other, ann).await;
    there.access(b"2", by_refresh, 200).await;
    there.refresh(b"2", by_refresh, 400).await;
    let _never_used = there.grant(robot, ann).await;
    let bobs = there.grant(robot, bob).await;
    there.access(b"3", bobs, 400).await;
    for (now, expected) in [
        (299, vec![(by_access, robot), (by_refresh, other)]),
        (300, vec![(by_refresh, other)]),
        (399, vec![(by_refresh, other)]),
        (400, vec![]),
    ] {
        let found = there
            .world
            .read(move |reader| reader.grants().list_of_user(ann, Timestamp(now)))
            .await;
        let found: Vec<_> = found
            .iter()
            .map(|(grant, application)| (grant.id, application.id))
            .collect();
        assert_eq!(found, expected, "at {now}");
    }
}

async fn what_the_people_of_an_organization_allowed_is_listed(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let (ann, bob, robot, other) = (there.world.ann, there.world.bob, there.robot, there.other);
    let elsewhere = there
        .write(move |tx| {
            let elsewhere = tx
                .organizations()
                .insert("Other", "other", 10, Timestamp(1))?;
            tx.organization_members()
                .insert(member(elsewhere, bob), "bob", Timestamp(2))?;
            Ok(elsewhere)
        })
        .await;
    let bobs = there.grant(robot, bob).await;
    there.refresh(b"1", bobs, 300).await;
    let anns = there.grant(other, ann).await;
    there.access(b"2", anns, 400).await;
    let list = async |organization, now| {
        let found = there.world.read(move |reader| {
            reader
                .grants()
                .list_of_organization(organization, Timestamp(now))
        });
        let found = found.await.into_iter();
        found
            .map(|(grant, user, application)| (grant.id, user.id, application.id))
            .collect::<Vec<_>>()
    };
    let here = there.world.organization;
    assert_eq!(
        list(here, 299).await,
        [(anns, ann, other), (bobs, bob, robot)]
    );
    assert_eq!(list(here, 300).await, [(anns, ann, other)]);
    assert_eq!(
        list(elsewhere, 299).await,
        [(bobs, bob, robot)],
        "whose application it is counts nothing"
    );
    assert_eq!(list(elsewhere, 300).await, []);
}

async fn a_code_is_forgotten_when_it_ended_and_its_grant_too(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let ann = there.world.ann;
    let (living, ended) = (
        there.grant(there.robot, ann).await,
        there.grant(there.robot, ann).await,
    );
    let all: [&'static [u8]; 4] = [b"unused", b"of living", b"of ended", b"still good"];
    let made = [
        (600, None),
        (600, Some(living)),
        (600, Some(ended)),
        (601, None),
    ];
    for (hash, (ends, grant)) in all.into_iter().zip(made) {
        let expires_at = Timestamp(ends);
        there
            .code(
                hash,
                AuthorizationCode {
                    expires_at,
                    grant,
                    ..code(there.robot, ann)
                },
            )
            .await;
    }
    there.write(move |tx| tx.grants().delete(ended)).await;
    there
        .write(|tx| tx.oauth_tokens().delete_ended_codes(Timestamp(599)))
        .await;
    assert_eq!(there.codes(&all).await, [true; 4]);
    there
        .write(|tx| tx.oauth_tokens().delete_ended_codes(Timestamp(600)))
        .await;
    assert_eq!(there.codes(&all).await, [false, true, false, true]);
    there.write(move |tx| tx.grants().delete(living)).await;
    there
        .write(|tx| tx.oauth_tokens().delete_ended_codes(Timestamp(600)))
        .await;
    assert_eq!(there.codes(&all).await, [false, false, false, true]);
}

async fn ended_tokens_are_forgotten(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let id = there.grant(there.robot, there.world.ann).await;
    for (hash, ends) in [(&b"early"[..], 300), (b"late", 301)] {
        there.access(hash, id, ends).await;
        there.refresh(hash, id, ends).await;
    }
    there
        .write(|tx| tx.oauth_tokens().delete_ended_access(Timestamp(300)))
        .await;
    assert!(!there.has_access(b"early").await && there.has_access(b"late").await);
    assert!(there.has_refresh(b"early").await);
    there
        .write(|tx| tx.oauth_tokens().delete_ended_refresh(Timestamp(300)))
        .await;
    assert!(!there.has_refresh(b"early").await && there.has_refresh(b"late").await);
    assert!(there.has_access(b"late").await);
}

async fn grants_without_a_token_that_holds_are_idle(home: Arc<Home>) {
    let there = Allowed::new(&home).await;
    let ann = there.world.ann;
    let bare = there.grant(there.robot, ann).await;
    let by_access = there.grant(there.robot, ann).await;
    there.access(b"1", by_access, 300).await;
    let by_refresh = there.grant(there.robot, ann).await;
    there.access(b"2", by_refresh, 200).await;
    there.refresh(b"2", by_refresh, 400).await;
    let idle = async |now, limit| {
        there
            .world
            .read(move |reader| reader.grants().list_idle(Timestamp(now), limit))
            .await
    };
    assert_eq!(idle(299, 10).await, [bare]);
    assert_eq!(idle(300, 10).await, [bare, by_access]);
    assert_eq!(idle(400, 10).await, [bare, by_access, by_refresh]);
    assert_eq!(idle(400, 2).await, [bare, by_access]);
}
