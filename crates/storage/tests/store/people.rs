//! Users, organizations, flows, and who is in what.

use std::sync::Arc;

use eddyline_model::flows::AccessMode;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::{MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{Error, NewUser};

use crate::home::{Home, on_every_database};
use crate::world::{World, chat, member, new_flow, new_user};

on_every_database!(
    users_are_found_by_number_address_and_token,
    an_address_belongs_to_one_user,
    a_user_can_be_changed,
    an_account_is_active_until_it_is_made_inactive,
    a_name_is_set_alone,
    an_organization_is_found_by_its_name_and_counts_its_people,
    an_organization_takes_no_more_than_its_limit,
    a_nick_is_unique_within_an_organization,
    people_who_share_an_organization_know_each_other,
    a_flow_is_found_by_id_name_and_token,
    flow_names_are_unique_within_an_organization,
    a_flow_can_be_changed,
    who_comes_into_a_room_has_read_what_was_said,
    memberships_can_be_changed_and_ended,
    the_read_marker_never_goes_back,
    activity_is_noted_only_forward,
    settings_keep_their_first_value,
);

async fn users_are_found_by_number_address_and_token(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (dan, _) = world
        .store
        .write(|tx| {
            let new = NewUser {
                bot: true,
                password_hash: Some("$argon2id$x".into()),
                ..new_user("dan")
            };
            let dan = tx.users().insert(&new)?;
            tx.api_tokens()
                .insert(b"hash of dan's token", dan, "laptop", Timestamp(9))?;
            Ok(dan)
        })
        .await
        .expect("dan is added");
    let user = world
        .read(move |reader| reader.users().find(dan))
        .await
        .expect("dan is there");
    assert_eq!(
        (user.email.as_str(), user.name.as_str(), user.nick.as_str()),
        ("dan@Example.org", "DAN", "dan")
    );
    assert!(user.bot && user.status.is_none() && user.website.is_empty());
    assert_eq!(user.created_at, Timestamp(2));

    let account = world
        .read(|reader| reader.users().find_account_by_email("dan@example.org"))
        .await
        .expect("dan's account");
    assert_eq!(
        (account.user, account.password_hash.as_deref()),
        (user.clone(), Some("$argon2id$x"))
    );
    let by_token = world
        .read(|reader| reader.api_tokens().find_user(b"hash of dan's token"))
        .await;
    assert_eq!(by_token, Some(user));
    assert_eq!(
        world
            .read(|reader| reader.api_tokens().find_user(b"another"))
            .await,
        None
    );
    assert_eq!(
        world
            .read(|reader| reader.users().find_account_by_email("dan@Example.org"))
            .await,
        None
    );

    let (ann, nobody) = (world.ann, UserId(9_999));
    let several = world
        .read(move |reader| reader.users().list(&[dan, nobody, ann]))
        .await;
    assert_eq!(
        several.iter().map(|user| user.id).collect::<Vec<_>>(),
        [ann, dan]
    );
    assert_eq!(
        world.read(move |reader| reader.users().find(nobody)).await,
        None
    );
}

async fn an_account_is_active_until_it_is_made_inactive(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let active = async |user| {
        world
            .read(move |reader| reader.users().find(user))
            .await
            .expect("there")
            .active
    };
    for wanted in [false, true, false] {
        world
            .store
            .write(move |tx| tx.users().set_active(ann, wanted))
            .await
            .expect("a change");
        assert_eq!((active(ann).await, active(bob).await), (wanted, true));
    }
    let account = world
        .read(|reader| reader.users().find_account_by_email("ann@example.org"))
        .await
        .expect("ann");
    assert!(!account.user.active);
    let new = NewUser {
        active: false,
        ..new_user("dan")
    };
    let (dan, _) = world
        .store
        .write(move |tx| tx.users().insert(&new))
        .await
        .expect("dan");
    assert!(!active(dan).await);
}

async fn a_name_is_set_alone(home: Arc<Home>) {
    let world = World::new(&home).await;
    let ann = world.ann;
    let write = world.store.write(move |tx| {
        tx.users().set_profile(ann, "Ann", "https://ann.example/")?;
        tx.users().set_name(ann, "Ann Lee")
    });
    write.await.expect("a change");
    let user = world
        .read(move |reader| reader.users().find(ann))
        .await
        .expect("ann");
    assert_eq!(
        (user.name.as_str(), user.website.as_str()),
        ("Ann Lee", "https://ann.example/")
    );
}

async fn an_address_belongs_to_one_user(home: Arc<Home>) {
    let world = World::new(&home).await;
    let taken = world
        .store
        .write(|tx| tx.users().insert(&new_user("ann")))
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
    let bob = world.bob;
    let taken = world
        .store
        .write(move |tx| {
            tx.users()
                .update(bob, ("bob", "bob"), ("Ann@x", "ann@example.org"))
        })
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
}

async fn a_user_can_be_changed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let ann = world.ann;
    world
        .store
        .write(move |tx| {
            tx.users().update(
                ann,
                ("Anna", "anna"),
                ("Anna@example.org", "anna@example.org"),
            )?;
            tx.users().set_status(ann, Some("out for lunch"))?;
            tx.passwords().set(ann, "hash")
        })
        .await
        .expect("ann is changed");
    let account = world
        .read(|reader| reader.users().find_account_by_email("anna@example.org"))
        .await
        .expect("found");
    assert_eq!((account.user.id, account.user.nick.as_str()), (ann, "Anna"));
    assert_eq!(account.user.status.as_deref(), Some("out for lunch"));
    assert_eq!(account.password_hash.as_deref(), Some("hash"));
    world
        .store
        .write(move |tx| tx.users().set_status(ann, None))
        .await
        .expect("the status is taken back");
    assert_eq!(
        world
            .read(move |reader| reader.users().find(ann))
            .await
            .and_then(|user| user.status),
        None
    );
}

/// Shows: 2.6
async fn an_organization_is_found_by_its_name_and_counts_its_people(home: Arc<Home>) {
    let world = World::new(&home).await;
    let id = world.organization;
    assert_eq!(
        world
            .read(|reader| reader.organizations().find_id_by_name("acme"))
            .await,
        Some(id)
    );
    assert_eq!(
        world
            .read(|reader| reader.organizations().find_id_by_name("Acme"))
            .await,
        None
    );
    let organization = world
        .read(move |reader| reader.organizations().find(id))
        .await
        .expect("it is there");
    assert_eq!(
        (
            organization.name.as_str(),
            organization.parameterized_name.as_str()
        ),
        ("Acme", "acme")
    );
    assert_eq!(
        (
            organization.user_limit,
            organization.user_count,
            organization.active
        ),
        (10, 3, true)
    );
    assert_eq!(
        (organization.parent, organization.created_at),
        (None, Timestamp(1))
    );
    assert_eq!(
        world
            .read(|reader| reader.organizations().find(OrganizationId(99)))
            .await,
        None
    );
    let taken = world
        .store
        .write(|tx| tx.organizations().insert("Other", "acme", 1, Timestamp(1)))
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
}

/// Shows: 8.4
async fn an_organization_takes_no_more_than_its_limit(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob) = (world.ann, world.bob);
    let (small, _) = world
        .store
        .write(move |tx| {
            let small = tx
                .organizations()
                .insert("Small", "small", 1, Timestamp(1))?;
            let role = OrganizationRole::Administrator;
            let boss = OrganizationMembership {
                organization: small,
                user: ann,
                role,
            };
            tx.organization_members()
                .insert(boss, "ann", Timestamp(1))?;
            Ok(small)
        })
        .await
        .expect("a small organization");
    let full = world
        .store
        .write(move |tx| {
            tx.organization_members()
                .insert(member(small, bob), "bob", Timestamp(1))
        })
        .await;
    assert!(matches!(full, Err(Error::Refused(_))), "{full:?}");
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().list_administrators(small))
            .await,
        [ann]
    );
    let people = world
        .read(move |reader| reader.organization_members().list_users(small))
        .await;
    assert_eq!(
        people
            .iter()
            .map(|(user, admin)| (user.id, *admin))
            .collect::<Vec<_>>(),
        [(ann, true)]
    );
    let mine = world
        .read(move |reader| reader.organization_members().list_of_user(ann))
        .await;
    let roles: Vec<_> = mine
        .iter()
        .map(|one| (one.organization, one.role))
        .collect();
    let expected = [
        (world.organization, OrganizationRole::Member),
        (small, OrganizationRole::Administrator),
    ];
    assert_eq!(roles, expected);
}

async fn a_nick_is_unique_within_an_organization(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (organization, bob) = (world.organization, world.bob);
    let ((dan, other), _) = world
        .store
        .write(|tx| {
            let dan = tx.users().insert(&new_user("dan"))?;
            Ok((
                dan,
                tx.organizations()
                    .insert("Other", "other", 5, Timestamp(1))?,
            ))
        })
        .await
        .expect("dan and another organization");
    let store = world.store.clone();
    let join = |organization, nick: &'static str| {
        let store = store.clone();
        async move {
            store
                .write(move |tx| {
                    tx.organization_members()
                        .insert(member(organization, dan), nick, Timestamp(1))
                })
                .await
        }
    };
    assert!(matches!(
        join(organization, "ann").await,
        Err(Error::Exists(_))
    ));
    assert!(
        join(other, "ann").await.is_ok(),
        "another organization has its own nicks"
    );
    assert!(join(organization, "dan").await.is_ok());
    assert!(
        matches!(join(organization, "dan").await, Err(Error::Exists(_))),
        "nobody is in it twice"
    );

    let taken = store
        .write(move |tx| tx.users().update(bob, ("Ann", "ann"), ("b@b", "b@b")))
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
    let kept = store
        .read(move |reader| reader.users().find(bob))
        .await
        .expect("a read")
        .expect("bob");
    assert_eq!(
        (kept.nick.as_str(), kept.email.as_str()),
        ("bob", "bob@Example.org"),
        "nothing was kept"
    );
}

async fn people_who_share_an_organization_know_each_other(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (stranger, _) = world
        .store
        .write(|tx| tx.users().insert(&new_user("zoe")))
        .await
        .expect("a stranger");
    let (ann, bob) = (world.ann, world.bob);
    assert!(
        world
            .read(move |reader| reader.organization_members().have_common(ann, bob))
            .await
    );
    assert!(
        !world
            .read(move |reader| reader.organization_members().have_common(ann, stranger))
            .await
    );
    let known = world.read(move |reader| {
        let members = &mut reader.organization_members();
        members.list_with_common(ann, &[bob, stranger])
    });
    assert_eq!(known.await, [bob]);
}

async fn a_flow_is_found_by_id_name_and_token(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, organization) = (world.main, world.organization);
    world
        .store
        .write(move |tx| {
            tx.sources()
                .insert_token(b"hash of the flow's token", room, None, Timestamp(1))
        })
        .await
        .expect("a token");
    let flow = world
        .read(move |reader| reader.flows().find(room))
        .await
        .expect("the flow");
    assert_eq!(
        (flow.id.0.as_str(), flow.name.as_str()),
        ("id-of-main", "MAIN")
    );
    assert_eq!(
        (flow.access_mode, flow.disabled, flow.creator),
        (AccessMode::Invitation, false, None)
    );
    assert_eq!(
        (
            flow.last_message_id,
            flow.last_message_at,
            flow.access_version
        ),
        (0, None, 0)
    );
    assert_eq!(
        world
            .read(|reader| reader.flows().find_room_by_id("id-of-main"))
            .await,
        Some(room)
    );
    let by_name = world
        .read(move |reader| reader.flows().find_room_by_name(organization, "main"))
        .await;
    assert_eq!(by_name, Some(room));
    assert_eq!(
        world
            .read(|reader| reader.sources().find_token(b"hash of the flow's token"))
            .await
            .map(|token| token.room),
        Some(room)
    );
    assert!(
        world
            .read(|reader| reader.sources().find_token(b"x"))
            .await
            .is_none()
    );
    assert_eq!(
        world.read(|reader| reader.flows().find(RoomId(99))).await,
        None
    );
    let all = world
        .read(move |reader| reader.flows().list_of_organization(organization))
        .await;
    assert_eq!(
        all.iter().map(|flow| flow.room).collect::<Vec<_>>(),
        [world.main, world.side]
    );
}

async fn flow_names_are_unique_within_an_organization(home: Arc<Home>) {
    let world = World::new(&home).await;
    let organization = world.organization;
    let taken = world
        .store
        .write(move |tx| {
            let mut flow = new_flow(organization, "main");
            flow.id.0 = "another id".into();
            tx.flows().insert(&flow)
        })
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
}

async fn a_flow_can_be_changed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let room = world.main;
    let mut flow = world
        .read(move |reader| reader.flows().find(room))
        .await
        .expect("the flow");
    flow.name = "Renamed".into();
    flow.description = Some("What it is for".into());
    flow.access_mode = AccessMode::Link;
    flow.disabled = true;
    let changed = flow.clone();
    world
        .store
        .write(move |tx| tx.flows().update(&changed))
        .await
        .expect("the flow is changed");
    assert_eq!(
        world.read(move |reader| reader.flows().find(room)).await,
        Some(flow)
    );
}

async fn who_comes_into_a_room_has_read_what_was_said(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(chat(world.main, world.ann, "before")).await;
    let room = world.main;
    let (dan, _) = world
        .store
        .write(move |tx| {
            let dan = tx.users().insert(&new_user("dan"))?;
            tx.members().insert(room, dan, Timestamp(50))?;
            Ok(dan)
        })
        .await
        .expect("dan comes in");
    let there = world
        .read(move |reader| reader.members().find(room, dan))
        .await
        .expect("dan is in");
    assert_eq!(
        (there.read_up_to, there.last_activity, there.last_ping),
        (MessageId(1), Timestamp(50), Timestamp(0))
    );
    assert!(there.open && !there.blocked);
    let again = world
        .store
        .write(move |tx| tx.members().insert(room, dan, Timestamp(51)))
        .await;
    assert!(matches!(again, Err(Error::Exists(_))), "{again:?}");
}

async fn memberships_can_be_changed_and_ended(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (main, side, ann, bob) = (world.main, world.side, world.ann, world.bob);
    world
        .store
        .write(move |tx| {
            tx.members().set_open(main, ann, false)?;
            tx.members().set_blocked(main, bob, true)?;
            tx.members().delete(side, ann)
        })
        .await
        .expect("memberships change");
    assert_eq!(
        world
            .read(move |reader| reader.members().list_rooms_of_user(ann))
            .await,
        [main]
    );
    assert_eq!(
        world
            .read(move |reader| reader.members().list_rooms_of_user(bob))
            .await,
        [main, side],
        "also the one that shuts bob out: bob is among its people"
    );
    let bobs = world
        .read(move |reader| reader.members().list_of_user(bob))
        .await;
    assert_eq!(
        bobs.iter()
            .map(|one| (one.room, one.blocked))
            .collect::<Vec<_>>(),
        [(main, true), (side, false)]
    );
    let former = world
        .read(move |reader| reader.members().list_former(side))
        .await;
    let former: Vec<UserId> = former.iter().map(|user| user.id).collect();
    assert_eq!(former, [ann]);
    let people = world
        .read(move |reader| {
            let mut people = reader.members().list_of_room(main)?;
            people.extend(reader.members().list_of_room(side)?);
            Ok(people)
        })
        .await;
    let people: Vec<_> = people
        .iter()
        .map(|(place, user)| (place.room, user.id, place.open))
        .collect();
    let cid = world.cid;
    let expected = [
        (main, ann, false),
        (main, bob, true),
        (main, cid, true),
        (side, bob, true),
        (side, cid, true),
    ];
    assert_eq!(people, expected);
    assert_eq!(
        world
            .read(move |reader| reader.members().find(side, ann))
            .await,
        None
    );
}

async fn the_read_marker_never_goes_back(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, ann) = (world.main, world.ann);
    for (to, moves) in [(5, true), (3, false), (5, false), (6, true)] {
        let (moved, _) = world
            .store
            .write(move |tx| tx.members().set_read(room, ann, None, MessageId(to)))
            .await
            .expect("the marker");
        assert_eq!(moved, moves, "to {to}");
    }
    let there = world
        .read(move |reader| reader.members().find(room, ann))
        .await
        .expect("ann is in");
    assert_eq!(there.read_up_to, MessageId(6));
}

async fn activity_is_noted_only_forward(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, ann, bob) = (world.main, world.ann, world.bob);
    world
        .store
        .write(move |tx| {
            tx.members().touch(&[
                (room, ann, Timestamp(20), Timestamp(10)),
                (room, bob, Timestamp(7), Timestamp(0)),
            ])?;
            tx.members()
                .touch(&[(room, ann, Timestamp(15), Timestamp(30))])
        })
        .await
        .expect("activity is noted");
    let ann = world
        .read(move |reader| reader.members().find(room, ann))
        .await
        .expect("ann is in");
    assert_eq!(
        (ann.last_ping, ann.last_activity),
        (Timestamp(20), Timestamp(30))
    );
    let bob = world
        .read(move |reader| reader.members().find(room, bob))
        .await
        .expect("bob is in");
    assert_eq!(
        (bob.last_ping, bob.last_activity),
        (Timestamp(7), Timestamp(3)),
        "never active since"
    );
}

async fn settings_keep_their_first_value(home: Arc<Home>) {
    let store = home.open();
    assert_eq!(
        store
            .read(|reader| reader.settings().find("key"))
            .await
            .expect("a read"),
        None
    );
    for _ in 0..2 {
        let (value, _) = store
            .write(|tx| tx.settings().insert_or_find("key", b"\0first"))
            .await
            .expect("a write");
        assert_eq!(value, b"\0first");
    }
    let (value, _) = store
        .write(|tx| tx.settings().insert_or_find("key", b"second"))
        .await
        .expect("a write");
    assert_eq!(value, b"\0first");
    assert_eq!(
        store
            .read(|reader| reader.settings().find("key"))
            .await
            .expect("a read")
            .as_deref(),
        Some(&b"\0first"[..])
    );
}
