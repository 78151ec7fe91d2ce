//! Organizations as their people and operators see and change them; pictures.

use std::sync::Arc;

use eddyline_model::organizations::{
    OrganizationMembership, OrganizationRole, OrganizationSubscription,
};
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::{AvatarOf, Error, NewUser};

use crate::home::{Home, on_every_database};
use crate::world::{World, member, new_flow, new_user};

on_every_database!(
    a_name_in_urls_leads_to_its_organization_for_good,
    what_changes_about_an_organization_is_kept,
    organizations_come_with_their_people,
    people_are_counted_as_they_come_and_go,
    a_change_of_an_organization_leaves_its_count_alone,
    organizations_below_are_children_and_theirs,
    parents_in_a_ring_are_looked_at_once,
    those_in_a_flow_see_each_other,
    administrators_see_everybody,
    the_rooms_of_an_organization_are_its_flows,
    a_picture_is_found_by_its_name_only,
);

async fn add_organization(world: &World, name: &'static str) -> OrganizationId {
    let added = world
        .store
        .write(move |tx| tx.organizations().insert(name, name, 10, Timestamp(1)))
        .await;
    added.expect("an organization").0
}

async fn rename(world: &World, id: OrganizationId, name: &'static str) -> Result<(), Error> {
    let renamed = world.store.write(move |tx| {
        let mut organization = tx.organizations().lock(id)?.expect("it is there");
        name.clone_into(&mut organization.parameterized_name);
        tx.organizations().update(&organization)
    });
    renamed.await.map(|_| ())
}

async fn a_name_in_urls_leads_to_its_organization_for_good(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other) = (world.organization, add_organization(&world, "other").await);
    rename(&world, acme, "newer").await.expect("a new name");
    let found = async |name: &'static str| {
        world
            .read(move |reader| reader.organizations().find_id_by_name(name))
            .await
    };
    assert_eq!(
        (found("acme").await, found("newer").await),
        (Some(acme), Some(acme))
    );
    for taken in ["acme", "newer"] {
        assert!(
            matches!(rename(&world, other, taken).await, Err(Error::Exists(_))),
            "{taken}"
        );
        let new = world
            .store
            .write(move |tx| tx.organizations().insert("New", taken, 1, Timestamp(1)))
            .await;
        assert!(matches!(new, Err(Error::Exists(_))), "{taken}: {new:?}");
    }
    rename(&world, acme, "acme")
        .await
        .expect("its own name again");
    let name = world
        .read(move |reader| reader.organizations().find(acme))
        .await
        .expect("it is there")
        .parameterized_name;
    assert_eq!((name.as_str(), found("newer").await), ("acme", Some(acme)));
}

async fn what_changes_about_an_organization_is_kept(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (id, parent) = (world.organization, add_organization(&world, "parent").await);
    let mut wanted = world
        .read(move |reader| reader.organizations().find(id))
        .await
        .expect("it is there");
    assert_eq!(
        wanted.subscription,
        OrganizationSubscription::Paid { next_bill: None }
    );
    wanted.name = "Acme & Sons".into();
    wanted.user_limit = 2;
    wanted.active = false;
    wanted.parent = Some(parent);
    for subscription in [
        OrganizationSubscription::Trial {
            ends: "2027-01-31".parse().expect("a day"),
        },
        OrganizationSubscription::Paid {
            next_bill: Some("2027-02-28".parse().expect("a day")),
        },
        OrganizationSubscription::Paid { next_bill: None },
    ] {
        wanted.subscription = subscription;
        let change = wanted.clone();
        world
            .store
            .write(move |tx| tx.organizations().update(&change))
            .await
            .expect("a change");
        assert_eq!(
            world
                .read(move |reader| reader.organizations().find(id))
                .await
                .as_ref(),
            Some(&wanted)
        );
    }
}

async fn organizations_come_with_their_people(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid) = (world.ann, world.bob, world.cid);
    let (other, foreign) = (
        add_organization(&world, "other").await,
        add_organization(&world, "foreign").await,
    );
    world
        .store
        .write(move |tx| {
            let role = OrganizationRole::Administrator;
            let boss = OrganizationMembership {
                organization: other,
                user: cid,
                role,
            };
            tx.organization_members()
                .insert(boss, "cid", Timestamp(1))?;
            tx.organization_members()
                .insert(member(other, ann), "ann", Timestamp(1))?;
            tx.organization_members()
                .insert(member(foreign, bob), "bob", Timestamp(1))
        })
        .await
        .expect("members");
    let mine = world
        .read(move |reader| reader.organizations().list_of_user(ann))
        .await;
    type People = Vec<(UserId, bool)>;
    let people: Vec<(OrganizationId, i64, People)> = mine
        .iter()
        .map(|(of, people)| {
            (
                of.id,
                of.user_count,
                people
                    .iter()
                    .map(|(user, admin)| (user.id, *admin))
                    .collect(),
            )
        })
        .collect();
    let acme = vec![(ann, false), (bob, false), (cid, false)];
    assert_eq!(
        people,
        [
            (world.organization, 3, acme),
            (other, 2, vec![(ann, false), (cid, true)])
        ]
    );
    let one = world
        .read(move |reader| reader.organization_members().find_user(other, cid))
        .await;
    assert_eq!(one.map(|(user, admin)| (user.id, admin)), Some((cid, true)));
    assert_eq!(
        world
            .read(move |reader| reader.organization_members().find_user(other, bob))
            .await,
        None
    );
    world
        .store
        .write(move |tx| tx.organization_members().delete(other, ann))
        .await
        .expect("ann is out");
    let left = world
        .read(move |reader| reader.organizations().list_of_user(ann))
        .await;
    assert_eq!(
        left.iter().map(|(of, _)| of.id).collect::<Vec<_>>(),
        [world.organization]
    );
}

async fn people_are_counted_as_they_come_and_go(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other, ann) = (
        world.organization,
        add_organization(&world, "other").await,
        world.ann,
    );
    let counts = async || {
        let of = async |id| {
            let read = world
                .read(move |reader| reader.organizations().find(id))
                .await
                .expect("there")
                .user_count;
            let locked = world
                .store
                .write(move |tx| tx.organizations().lock(id))
                .await
                .expect("a read")
                .0;
            assert_eq!(locked.expect("there").user_count, read);
            read
        };
        (of(acme).await, of(other).await)
    };
    assert_eq!(counts().await, (3, 0));
    let join = || {
        world.store.write(move |tx| {
            tx.organization_members()
                .insert(member(other, ann), "ann", Timestamp(1))
        })
    };
    let leave = |from, user| {
        world
            .store
            .write(move |tx| tx.organization_members().delete(from, user))
    };
    join().await.expect("ann is in both");
    assert_eq!(counts().await, (3, 1));
    assert!(matches!(join().await, Err(Error::Exists(_))));
    assert_eq!(counts().await, (3, 1), "nobody comes in twice");
    for _ in 0..2 {
        leave(acme, ann).await.expect("ann is not in it");
        assert_eq!(counts().await, (2, 1), "who is gone does not go again");
    }
    leave(acme, UserId(999)).await.expect("nobody");
    leave(OrganizationId(999), ann).await.expect("nowhere");
    assert_eq!(counts().await, (2, 1));
    let gone = world.store.write(move |tx| {
        tx.organization_members().delete(other, ann)?;
        Err::<(), _>(Error::Refused("after all"))
    });
    assert!(gone.await.is_err());
    assert_eq!(counts().await, (2, 1));
}

async fn a_change_of_an_organization_leaves_its_count_alone(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann) = (world.organization, world.ann);
    let changed = world.store.write(move |tx| {
        let before = tx.organizations().lock(acme)?.expect("there");
        tx.organization_members().delete(acme, ann)?;
        tx.organizations().update(&before)
    });
    changed.await.expect("a change");
    assert_eq!(
        world
            .read(move |reader| reader.organizations().find(acme))
            .await
            .expect("there")
            .user_count,
        2
    );
}

async fn put_below(world: &World, child: OrganizationId, parent: OrganizationId) {
    let put = world.store.write(move |tx| {
        let mut organization = tx.organizations().lock(child)?.expect("it is there");
        organization.parent = Some(parent);
        tx.organizations().update(&organization)
    });
    put.await.expect("a parent");
}

async fn below(world: &World, id: OrganizationId) -> Vec<OrganizationId> {
    world
        .read(move |reader| reader.organizations().list_below(id))
        .await
}

async fn organizations_below_are_children_and_theirs(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = world.organization;
    let mut made = Vec::new();
    for name in ["one", "two", "three", "four", "five"] {
        made.push(add_organization(&world, name).await);
    }
    let [one, two, three, four, five] = made[..] else {
        panic!("five organizations")
    };
    for (child, parent) in [(five, acme), (one, five), (two, one), (three, acme)] {
        put_below(&world, child, parent).await;
    }
    assert_eq!(below(&world, acme).await, [one, two, three, five]);
    assert_eq!(below(&world, five).await, [one, two]);
    assert_eq!(
        (below(&world, two).await, below(&world, four).await),
        (vec![], vec![])
    );
    assert_eq!(below(&world, OrganizationId(999)).await, []);
}

async fn parents_in_a_ring_are_looked_at_once(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, one) = (world.organization, add_organization(&world, "one").await);
    let (two, outside) = (
        add_organization(&world, "two").await,
        add_organization(&world, "outside").await,
    );
    for (child, parent) in [
        (one, acme),
        (two, one),
        (acme, two),
        (acme, acme),
        (outside, two),
        (acme, two),
    ] {
        put_below(&world, child, parent).await;
    }
    assert_eq!(below(&world, acme).await, [one, two, outside]);
    assert_eq!(below(&world, one).await, [acme, two, outside]);
    put_below(&world, outside, outside).await;
    assert_eq!(below(&world, outside).await, []);
}

async fn seen_by(world: &World, user: UserId) -> Vec<UserId> {
    let seen = world
        .read(move |reader| reader.users().list_seen_by(user))
        .await;
    seen.into_iter().map(|user| user.id).collect()
}

async fn those_in_a_flow_see_each_other(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, cid, main, side) = (world.ann, world.bob, world.cid, world.main, world.side);
    let (dan, _) = world
        .store
        .write(move |tx| {
            let dan = tx.users().insert(&new_user("dan"))?;
            tx.organization_members().insert(
                member(OrganizationId(1), dan),
                "dan",
                Timestamp(1),
            )?;
            // A private conversation is no flow.
            tx.rooms().insert_private(dan, bob)?;
            tx.members().set_blocked(side, cid, true)?;
            tx.members().delete(main, cid)?;
            Ok(dan)
        })
        .await
        .expect("dan is there, cid is out");
    assert_eq!(seen_by(&world, ann).await, [ann, bob], "each once");
    assert_eq!(
        (seen_by(&world, cid).await, seen_by(&world, dan).await),
        (vec![cid], vec![dan])
    );
    world
        .store
        .write(move |tx| {
            for room in [main, side] {
                let mut flow = tx.flows().find(room)?.expect("a flow");
                flow.disabled = true;
                tx.flows().update(&flow)?;
            }
            Ok(())
        })
        .await
        .expect("all is archived");
    assert_eq!(seen_by(&world, ann).await, [ann]);
}

async fn administrators_see_everybody(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, other) = (world.ann, add_organization(&world, "other").await);
    let ((dan, eva), _) = world
        .store
        .write(move |tx| {
            let (dan, eva) = (
                tx.users().insert(&new_user("dan"))?,
                tx.users().insert(&new_user("eva"))?,
            );
            let role = OrganizationRole::Administrator;
            let boss = OrganizationMembership {
                organization: other,
                user: eva,
                role,
            };
            tx.organization_members()
                .insert(boss, "eva", Timestamp(1))?;
            for (user, nick) in [(ann, "ann"), (dan, "dan")] {
                tx.organization_members()
                    .insert(member(other, user), nick, Timestamp(1))?;
            }
            Ok((dan, eva))
        })
        .await
        .expect("another organization");
    assert_eq!(seen_by(&world, eva).await, [ann, dan, eva]);
    assert_eq!(seen_by(&world, dan).await, [dan]);
}

async fn the_rooms_of_an_organization_are_its_flows(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, bob, side) = (world.ann, world.bob, world.side);
    let other = add_organization(&world, "other").await;
    world
        .store
        .write(move |tx| {
            let flow = tx.flows().insert(&new_flow(other, "third"))?;
            tx.members().insert(flow, ann, Timestamp(1))?;
            tx.rooms().insert_private(ann, bob)?;
            tx.members().set_blocked(side, ann, true)
        })
        .await
        .expect("more rooms");
    let organization = world.organization;
    let rooms = world
        .read(move |reader| {
            reader
                .members()
                .list_rooms_in_organization(organization, ann)
        })
        .await;
    assert_eq!(
        rooms,
        [world.main, world.side],
        "also those one is blocked from"
    );
}

async fn a_picture_is_found_by_its_name_only(home: Arc<Home>) {
    let world = World::new(&home).await;
    let name = |digit: char| digit.to_string().repeat(32);
    let new = NewUser {
        avatar: name('a'),
        ..new_user("dan")
    };
    let (dan, _) = world
        .store
        .write(move |tx| tx.users().insert(&new))
        .await
        .expect("dan");
    let whose = async |digit| {
        world
            .read(move |reader| reader.users().find_avatar(&name(digit)))
            .await
    };
    let of = |uploaded| {
        Some(AvatarOf {
            user: dan,
            name: "DAN".into(),
            uploaded,
        })
    };
    assert_eq!((whose('a').await, whose('b').await), (of(false), None));
    for (digit, bytes) in [('b', &[1, 2][..]), ('c', &[3][..])] {
        world
            .store
            .write(move |tx| tx.users().set_avatar(dan, &name(digit), "image/png", bytes))
            .await
            .expect("new");
        assert_eq!(whose(digit).await, of(true));
        let file = world
            .read(move |reader| reader.users().find_uploaded_avatar(&name(digit)))
            .await;
        assert_eq!(file, Some(("image/png".to_owned(), bytes.to_vec())));
    }
    assert_eq!((whose('a').await, whose('b').await), (None, None));
    let gone = world
        .store
        .write(move |tx| tx.users().delete_avatar(dan, &name('d')))
        .await
        .expect("gone")
        .0;
    let again = world
        .store
        .write(move |tx| tx.users().delete_avatar(dan, &name('e')))
        .await
        .expect("gone")
        .0;
    assert_eq!(
        (gone, again, whose('d').await, whose('e').await),
        (true, false, of(false), None)
    );
}
