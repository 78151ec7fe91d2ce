//! Providers of users, and whom they know.

use std::sync::Arc;

use eddyline_model::identities::{Identity, Provider};
use eddyline_model::names::email_key;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::{Error, NewUser, ProvidedQuery, Result};

use crate::home::{Home, on_every_database};
use crate::world::{World, new_user};

on_every_database!(
    a_provider_is_found_by_its_uid_and_by_its_organization,
    a_new_token_takes_the_place_of_the_old_one_and_the_uid_stays,
    a_uid_belongs_to_one_organization,
    an_identity_is_found_by_its_user_and_its_subject,
    what_changes_about_an_identity_is_kept,
    a_touched_identity_has_the_next_version,
    a_provider_knows_one_user_by_a_subject_also_when_it_removed_them,
    a_user_is_known_to_one_provider,
    a_provider_sees_neither_bots_nor_whom_it_removed,
    an_inactive_user_stays_visible,
    users_are_found_by_what_their_provider_calls_them,
    all_terms_must_hold,
    pages_tell_how_many_match_in_all,
);

/// A world whose organization has a provider.
async fn provided(home: &Home) -> World {
    let world = World::new(home).await;
    let acme = world.organization;
    world
        .store
        .write(move |tx| {
            tx.identities()
                .upsert_provider(acme, "acme-uid", b"one", None, Timestamp(5))
        })
        .await
        .expect("made");
    world
}

/// An organization with another provider.
async fn another(world: &World) -> OrganizationId {
    let made = world.store.write(|tx| {
        let id = tx
            .organizations()
            .insert("Other", "other", 10, Timestamp(1))?;
        tx.identities()
            .upsert_provider(id, "other-uid", b"two", None, Timestamp(5))?;
        Ok(id)
    });
    made.await.expect("made").0
}

fn identity(organization: OrganizationId, user: UserId, subject: &str) -> Identity {
    Identity {
        user,
        organization,
        subject: subject.to_owned(),
        external_id: None,
        version: 1,
        created_at: Timestamp(6),
        updated_at: Timestamp(6),
        stated_email: None,
        suspended_at: None,
        removed_at: None,
    }
}

async fn link(world: &World, new: &Identity) -> Result<()> {
    let new = new.clone();
    world
        .store
        .write(move |tx| tx.identities().insert(&new))
        .await
        .map(|_| ())
}

async fn change(world: &World, changed: &Identity) -> Result<()> {
    let changed = changed.clone();
    world
        .store
        .write(move |tx| tx.identities().update(&changed))
        .await
        .map(|_| ())
}

async fn identity_of(world: &World, user: UserId) -> Option<Identity> {
    world
        .read(move |reader| reader.identities().find(user))
        .await
}

/// The users that the provider of the world's organization is shown, and how many there are in all.
async fn shown(world: &World, query: ProvidedQuery) -> (Vec<UserId>, i64) {
    let acme = world.organization;
    let (found, total) = world
        .read(move |reader| reader.identities().list_users(acme, &query))
        .await;
    for (user, identity) in &found {
        assert_eq!(user.id, identity.user);
    }
    (found.into_iter().map(|(user, _)| user.id).collect(), total)
}

async fn a_provider_is_found_by_its_uid_and_by_its_organization(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, other) = (world.organization, another(&world).await);
    let of_acme = Provider {
        organization: acme,
        uid: "acme-uid".into(),
        token_hash: b"one".to_vec(),
        used_at: None,
    };
    let of_other = Provider {
        organization: other,
        uid: "other-uid".into(),
        token_hash: b"two".to_vec(),
        used_at: None,
    };
    for provider in [of_acme, of_other] {
        let (organization, uid) = (provider.organization, provider.uid.clone());
        let found = world
            .read(move |reader| reader.identities().find_provider(&uid))
            .await;
        assert_eq!(found.as_ref(), Some(&provider));
        assert_eq!(
            world
                .read(move |reader| reader
                    .identities()
                    .find_provider_of_organization(organization))
                .await,
            Some(provider)
        );
    }
    assert_eq!(
        world
            .read(|reader| reader.identities().find_provider("ACME-UID"))
            .await,
        None
    );
    assert_eq!(
        world
            .read(|reader| reader
                .identities()
                .find_provider_of_organization(OrganizationId(999)))
            .await,
        None
    );
}

/// When the present token of the provider of the world's organization was last used.
async fn used_at(world: &World) -> Option<Timestamp> {
    let acme = world.organization;
    let found = world
        .read(move |reader| reader.identities().find_provider_of_organization(acme))
        .await;
    let details = world
        .read(move |reader| reader.identities().find_provider_details(acme))
        .await;
    let used = found.expect("a provider").used_at;
    assert_eq!(details.expect("a provider").used_at, used);
    used
}

/// Who made the present token of the provider.
async fn maker(world: &World) -> Option<UserId> {
    let acme = world.organization;
    let details = world
        .read(move |reader| reader.identities().find_provider_details(acme))
        .await;
    details.expect("a provider").made_by
}

async fn a_new_token_takes_the_place_of_the_old_one_and_the_uid_stays(home: Arc<Home>) {
    let world = provided(&home).await;
    let acme = world.organization;
    assert_eq!(used_at(&world).await, None);
    for (token, at, noted) in [
        (&b"one"[..], 6, Some(6)),
        (b"old", 7, Some(6)),
        (b"one", 8, Some(8)),
    ] {
        let used = world
            .store
            .write(move |tx| tx.identities().touch_provider(acme, token, Timestamp(at)));
        used.await.expect("noted");
        assert_eq!(used_at(&world).await, noted.map(Timestamp), "{at}");
    }
    assert_eq!(maker(&world).await, None);
    let ann = world.ann;
    let again = world.store.write(move |tx| {
        tx.identities()
            .upsert_provider(acme, "another-uid", b"new", Some(ann), Timestamp(9))
    });
    again.await.expect("another token");
    assert_eq!(maker(&world).await, Some(ann));
    let expected = Provider {
        organization: acme,
        uid: "acme-uid".into(),
        token_hash: b"new".to_vec(),
        used_at: None,
    };
    assert_eq!(
        world
            .read(move |reader| reader.identities().find_provider_of_organization(acme))
            .await,
        Some(expected)
    );
    assert_eq!(
        world
            .read(|reader| reader.identities().find_provider("another-uid"))
            .await,
        None
    );
    let cleared = world
        .store
        .write(move |tx| tx.identities().clear_provider_token(acme, Timestamp(10)));
    cleared.await.expect("no token");
    assert_eq!(maker(&world).await, None);
}

async fn a_uid_belongs_to_one_organization(home: Arc<Home>) {
    let world = provided(&home).await;
    let made = world.store.write(|tx| {
        let id = tx
            .organizations()
            .insert("Other", "other", 10, Timestamp(1))?;
        tx.identities()
            .upsert_provider(id, "acme-uid", b"two", None, Timestamp(5))
    });
    let made = made.await;
    assert!(matches!(made, Err(Error::Exists(_))), "{made:?}");
}

async fn an_identity_is_found_by_its_user_and_its_subject(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, other) = (world.organization, another(&world).await);
    let made = Identity {
        external_id: Some("0042".into()),
        ..identity(acme, world.ann, "Ann.Lee@Example.org")
    };
    link(&world, &made).await.expect("known");
    assert_eq!(identity_of(&world, world.ann).await.as_ref(), Some(&made));
    assert_eq!(identity_of(&world, world.bob).await, None);
    let by_subject = async |of, subject: &'static str| {
        world
            .read(move |reader| reader.identities().find_by_subject(of, &email_key(subject)))
            .await
    };
    assert_eq!(by_subject(acme, "ann.lee@EXAMPLE.ORG").await, Some(made));
    assert_eq!(by_subject(acme, "ann@example.org").await, None);
    assert_eq!(by_subject(other, "ann.lee@example.org").await, None);
}

async fn what_changes_about_an_identity_is_kept(home: Arc<Home>) {
    let world = provided(&home).await;
    let made = identity(world.organization, world.ann, "ann");
    link(&world, &made).await.expect("known");
    let bystander = identity(world.organization, world.bob, "bob");
    link(&world, &bystander).await.expect("known");
    let changed = Identity {
        subject: "Ann-Marie".into(),
        external_id: Some("7".into()),
        version: 2,
        updated_at: Timestamp(8),
        removed_at: Some(Timestamp(8)),
        ..made
    };
    change(&world, &changed).await.expect("changed");
    assert_eq!(
        identity_of(&world, world.ann).await.as_ref(),
        Some(&changed)
    );
    assert_eq!(identity_of(&world, world.bob).await, Some(bystander));
    let acme = world.organization;
    let by = async |key: &'static str| {
        world
            .read(move |reader| reader.identities().find_by_subject(acme, key))
            .await
            .map(|found| found.user)
    };
    assert_eq!(
        (by("ann").await, by("ann-marie").await),
        (None, Some(world.ann))
    );
    let back = Identity {
        external_id: None,
        version: 3,
        removed_at: None,
        ..changed
    };
    change(&world, &back).await.expect("changed");
    assert_eq!(identity_of(&world, world.ann).await, Some(back));
}

async fn a_touched_identity_has_the_next_version(home: Arc<Home>) {
    let world = provided(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let made = identity(world.organization, ann, "ann");
    link(&world, &made).await.expect("known");
    for user in [ann, bob] {
        world
            .store
            .write(move |tx| tx.identities().touch(user, Timestamp(77)))
            .await
            .expect("touched");
    }
    let expected = Identity {
        version: 2,
        updated_at: Timestamp(77),
        ..made
    };
    assert_eq!(identity_of(&world, ann).await, Some(expected));
    assert_eq!(
        identity_of(&world, bob).await,
        None,
        "whom no provider knows"
    );
    let (acme, other) = (world.organization, another(&world).await);
    for (organization, version) in [(other, 2), (acme, 3)] {
        let touch = world.store.write(move |tx| {
            tx.identities()
                .touch_among(organization, &[ann, bob], Timestamp(78))
        });
        touch.await.expect("touched");
        let identity = identity_of(&world, ann).await;
        assert_eq!(identity.map(|identity| identity.version), Some(version));
        let known = world
            .read(move |reader| reader.identities().list_among(organization, &[ann, bob]))
            .await;
        assert_eq!(known.contains(&ann), organization == acme);
        assert!(!known.contains(&bob));
    }
}

async fn a_provider_knows_one_user_by_a_subject_also_when_it_removed_them(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, other) = (world.organization, another(&world).await);
    let removed = Identity {
        removed_at: Some(Timestamp(7)),
        ..identity(acme, world.ann, "same")
    };
    link(&world, &removed).await.expect("known");
    let taken = link(&world, &identity(acme, world.bob, "SAME")).await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
    let bob = identity(acme, world.bob, "bob");
    link(&world, &bob).await.expect("known");
    let taken = change(
        &world,
        &Identity {
            subject: "Same".into(),
            ..bob
        },
    )
    .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
    link(&world, &identity(other, world.cid, "same"))
        .await
        .expect("another provider's subject");
}

async fn a_user_is_known_to_one_provider(home: Arc<Home>) {
    let world = provided(&home).await;
    let other = another(&world).await;
    link(&world, &identity(world.organization, world.ann, "ann"))
        .await
        .expect("known");
    let twice = link(&world, &identity(other, world.ann, "ann")).await;
    assert!(matches!(twice, Err(Error::Exists(_))), "{twice:?}");
}

async fn a_provider_sees_neither_bots_nor_whom_it_removed(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, other) = (world.organization, another(&world).await);
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let ((robot, dan), _) = world
        .store
        .write(|tx| {
            let robot = tx.users().insert(&NewUser {
                bot: true,
                ..new_user("robot")
            })?;
            Ok((robot, tx.users().insert(&new_user("dan"))?))
        })
        .await
        .expect("a bot, and one whom no provider knows");
    let seen = identity(acme, ann, "ann");
    link(&world, &seen).await.expect("known");
    for hidden in [
        Identity {
            removed_at: Some(Timestamp(9)),
            ..identity(acme, bob, "bob")
        },
        identity(other, cid, "cid"),
        identity(acme, robot, "robot"),
    ] {
        link(&world, &hidden).await.expect("known");
    }
    assert_eq!(
        shown(&world, ProvidedQuery::default()).await,
        (vec![ann], 1)
    );
    let one = async |user| {
        world
            .read(move |reader| reader.identities().find_user(acme, user))
            .await
    };
    let (user, identity) = one(ann).await.expect("ann is seen");
    assert_eq!(
        (Some(user), identity),
        (
            world.read(move |reader| reader.users().find(ann)).await,
            seen
        )
    );
    for hidden in [bob, cid, robot, dan, UserId(999)] {
        assert_eq!(one(hidden).await, None, "{hidden}");
    }
}

async fn an_inactive_user_stays_visible(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, ann) = (world.organization, world.ann);
    link(&world, &identity(acme, ann, "ann"))
        .await
        .expect("known");
    world
        .store
        .write(move |tx| tx.users().set_active(ann, false))
        .await
        .expect("inactive");
    let (user, _) = world
        .read(move |reader| reader.identities().find_user(acme, ann))
        .await
        .expect("seen");
    assert!(!user.active);
    assert_eq!(
        shown(&world, ProvidedQuery::default()).await,
        (vec![ann], 1)
    );
}

async fn users_are_found_by_what_their_provider_calls_them(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, ann, bob, cid) = (world.organization, world.ann, world.bob, world.cid);
    for (user, subject, external_id) in [
        (ann, "ann", Some("x1")),
        (bob, "Bob@Work", Some("X1")),
        (cid, "cid", None),
    ] {
        let external_id = external_id.map(str::to_owned);
        link(
            &world,
            &Identity {
                external_id,
                ..identity(acme, user, subject)
            },
        )
        .await
        .expect("known");
    }
    let subject = |key: &str| ProvidedQuery {
        subject_key: Some(key.into()),
        ..ProvidedQuery::default()
    };
    let external = |id: &str| ProvidedQuery {
        external_id: Some(id.into()),
        ..ProvidedQuery::default()
    };
    let email = |key: &str| ProvidedQuery {
        email_key: Some(key.into()),
        ..ProvidedQuery::default()
    };
    for (query, found) in [
        (subject("bob@work"), vec![bob]),
        (subject("bob"), vec![]),
        (external("x1"), vec![ann]),
        (external("X1"), vec![bob]),
        (external(""), vec![]),
        (email("cid@example.org"), vec![cid]),
        (email("dan@example.org"), vec![]),
    ] {
        let total = found.len() as i64;
        assert_eq!(
            shown(&world, query.clone()).await,
            (found, total),
            "{query:?}"
        );
    }
}

async fn all_terms_must_hold(home: Arc<Home>) {
    let world = provided(&home).await;
    let (acme, ann, bob) = (world.organization, world.ann, world.bob);
    for (user, subject) in [(ann, "ann"), (bob, "bob")] {
        let external_id = Some("same".to_owned());
        link(
            &world,
            &Identity {
                external_id,
                ..identity(acme, user, subject)
            },
        )
        .await
        .expect("known");
    }
    let query = |subject: &str, email: &str| ProvidedQuery {
        subject_key: Some(subject.into()),
        external_id: Some("same".into()),
        email_key: Some(email.into()),
        ..ProvidedQuery::default()
    };
    assert_eq!(
        shown(&world, query("bob", "bob@example.org")).await,
        (vec![bob], 1)
    );
    assert_eq!(
        shown(&world, query("bob", "ann@example.org")).await,
        (vec![], 0)
    );
    let either = ProvidedQuery {
        external_id: Some("same".into()),
        ..ProvidedQuery::default()
    };
    assert_eq!(shown(&world, either).await, (vec![ann, bob], 2));
}

async fn pages_tell_how_many_match_in_all(home: Arc<Home>) {
    let world = provided(&home).await;
    let acme = world.organization;
    let (users, _) = world
        .store
        .write(move |tx| {
            let mut users = Vec::new();
            for n in 1..=7 {
                let user = tx.users().insert(&new_user(&format!("user{n}")))?;
                tx.identities()
                    .insert(&identity(acme, user, &format!("user{n}")))?;
                users.push(user);
            }
            Ok(users)
        })
        .await
        .expect("seven users");
    let page = async |skip, limit| {
        shown(
            &world,
            ProvidedQuery {
                skip,
                limit,
                ..ProvidedQuery::default()
            },
        )
        .await
    };
    for (skip, limit, found) in [
        (0, None, &users[..]),
        (0, Some(3), &users[..3]),
        (3, Some(3), &users[3..6]),
        (6, Some(3), &users[6..]),
        (4, Some(3), &users[4..]),
        (2, None, &users[2..]),
        (7, Some(3), &[]),
        (100, None, &[]),
        (0, Some(0), &[]),
        (5, Some(0), &[]),
        (-3, Some(-1), &[]),
    ] {
        assert_eq!(
            page(skip, limit).await,
            (found.to_vec(), 7),
            "{skip}, {limit:?}"
        );
    }
}
