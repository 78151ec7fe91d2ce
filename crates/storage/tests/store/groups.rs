//! Groups of users, and names that are unique among users and groups.

use std::sync::Arc;

use eddyline_model::groups::{Group, GroupLabels};
use eddyline_model::names::nick_key;
use eddyline_model::{GroupId, OrganizationId, Timestamp, UserId};
use eddyline_storage::{Error, Result};

use crate::home::{Home, on_every_database};
use crate::world::{World, member, new_user};

on_every_database!(
    groups_come_with_their_members_in_the_order_of_their_names,
    a_group_changes_its_name_and_its_members,
    a_provider_calls_a_group_as_it_likes,
    a_thousand_come_into_a_group_and_leave_it_at_once,
    a_removed_group_leaves_nothing_and_its_number_is_not_used_again,
    a_user_who_leaves_an_organization_leaves_its_groups,
    a_group_and_a_user_of_an_organization_have_different_names,
);

impl World {
    async fn add_group(&self, of: OrganizationId, name: &'static str, users: &[UserId]) -> GroupId {
        let users = users.to_vec();
        let work = move |tx: &mut eddyline_storage::Tx<'_>| {
            let id = tx
                .groups()
                .insert(of, (name, &nick_key(name)), Timestamp(5))?;
            tx.groups().insert_members(of, id, &users)?;
            Ok(id)
        };
        self.store.write(work).await.expect("a group").0
    }

    async fn groups(&self, of: &[OrganizationId]) -> Vec<(String, Vec<UserId>)> {
        let of = of.to_vec();
        let found = self
            .read(move |reader| reader.groups().list_of_organizations(&of))
            .await;
        found
            .into_iter()
            .map(|group| (group.name, group.users))
            .collect()
    }
}

async fn other_organization(world: &World) -> OrganizationId {
    let other = world
        .store
        .write(|tx| {
            tx.organizations()
                .insert("Other", "other", 10, Timestamp(1))
        })
        .await;
    other.expect("another organization").0
}

async fn groups_come_with_their_members_in_the_order_of_their_names(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other) = (world.organization, other_organization(&world).await);
    let (ann, bob) = (world.ann, world.bob);
    let ops = world.add_group(acme, "Ops", &[bob, ann]).await;
    world.add_group(other, "a", &[]).await;
    world.add_group(acme, "_x", &[]).await;
    world
        .add_group(acme, "All-hands", &[ann, ann, UserId(999)])
        .await;
    let expected = [
        ("_x".to_owned(), vec![]),
        ("All-hands".into(), vec![ann]),
        ("Ops".into(), vec![ann, bob]),
    ];
    assert_eq!(world.groups(&[acme]).await, expected);
    assert_eq!(world.groups(&[other, acme]).await.len(), 4);
    assert_eq!(world.groups(&[]).await, []);
    let found = world.read(move |reader| reader.groups().find(ops)).await;
    let (name, users) = ("Ops".to_owned(), vec![ann, bob]);
    assert_eq!(
        found,
        Some(Group {
            id: ops,
            organization: acme,
            name,
            labels: GroupLabels::default(),
            users,
            created_at: Timestamp(5)
        })
    );
    let (count, by_name) = world
        .read(move |reader| {
            Ok((
                reader.groups().count(acme)?,
                reader.groups().find_by_name(acme, "ops")?,
            ))
        })
        .await;
    assert_eq!((count, by_name), (3, Some(ops)));
    assert_eq!(
        world
            .read(move |reader| reader.groups().find_by_name(other, "ops"))
            .await,
        None
    );
}

async fn a_provider_calls_a_group_as_it_likes(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann, bob) = (world.organization, world.ann, world.bob);
    let ops = world.add_group(acme, "ops", &[ann, bob]).await;
    let dev = world.add_group(acme, "dev", &[bob]).await;
    let labels = GroupLabels {
        display_name: Some("Op s".into()),
        external_id: Some("00g1".into()),
    };
    let wanted = labels.clone();
    let change = world
        .store
        .write(move |tx| tx.groups().set_labels(ops, &wanted));
    change.await.expect("labels");
    let (group, of_users) = world
        .read(move |reader| {
            let of_users = reader.groups().list_of_users(acme, &[ann, bob])?;
            Ok((reader.groups().find(ops)?, of_users))
        })
        .await;
    assert_eq!(group.map(|group| group.labels), Some(labels));
    let named = "Op s".to_owned();
    assert_eq!(
        of_users,
        [
            (ann, ops, named.clone()),
            (bob, ops, named),
            (bob, dev, "dev".to_owned()),
        ]
    );
    let other = other_organization(&world).await;
    let elsewhere = world.read(move |reader| reader.groups().list_of_users(other, &[ann, bob]));
    assert_eq!(elsewhere.await, []);
}

async fn a_group_changes_its_name_and_its_members(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann, bob) = (world.organization, world.ann, world.bob);
    let ops = world.add_group(acme, "ops", &[ann]).await;
    world.add_group(acme, "dev", &[ann]).await;
    let change = world.store.write(move |tx| {
        tx.groups().set_name(ops, ("Ops2", "ops2"))?;
        tx.groups().delete_members(ops, &[ann, bob])?;
        tx.groups().insert_members(acme, ops, &[bob])
    });
    change.await.expect("a change");
    let twice = world
        .store
        .write(move |tx| tx.groups().insert_members(acme, ops, &[bob]))
        .await;
    assert!(matches!(twice, Err(Error::Exists(_))), "{twice:?}");
    let members = world
        .read(move |reader| {
            reader
                .organization_members()
                .list_among(acme, &[bob, UserId(999), ann])
        })
        .await;
    assert_eq!(members, [ann, bob]);
    assert_eq!(
        world.groups(&[acme]).await,
        [("dev".to_owned(), vec![ann]), ("Ops2".into(), vec![bob])]
    );
    let taken = world
        .store
        .write(move |tx| tx.groups().set_name(ops, ("Dev", "dev")))
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
    let taken = world
        .store
        .write(move |tx| tx.groups().insert(acme, ("DEV", "dev"), Timestamp(1)))
        .await;
    assert!(matches!(taken, Err(Error::Exists(_))), "{taken:?}");
}

async fn a_thousand_come_into_a_group_and_leave_it_at_once(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = world
        .store
        .write(|tx| tx.organizations().insert("Big", "big", 2000, Timestamp(1)))
        .await;
    let big = other.expect("another organization").0;
    let added = world.store.write(move |tx| {
        let group = tx.groups().insert(big, ("team", "team"), Timestamp(5))?;
        let mut users = Vec::new();
        for number in 0..1000 {
            let nick = format!("user{number}");
            let user = tx.users().insert(&new_user(&nick))?;
            tx.organization_members()
                .insert(member(big, user), &nick, Timestamp(1))?;
            users.push(user);
        }
        tx.groups().insert_members(big, group, &users)?;
        assert_eq!(tx.organization_members().list_among(big, &users)?, users);
        Ok((group, users))
    });
    let ((group, users), _) = added.await.expect("a group");
    assert_eq!(
        world.groups(&[big]).await,
        [("team".to_owned(), users.clone())]
    );
    world
        .store
        .write(move |tx| tx.groups().delete_members(group, &users))
        .await
        .expect("they are out");
    assert_eq!(world.groups(&[big]).await, [("team".to_owned(), vec![])]);
}

async fn a_removed_group_leaves_nothing_and_its_number_is_not_used_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann) = (world.organization, world.ann);
    let ops = world.add_group(acme, "ops", &[ann]).await;
    world
        .store
        .write(move |tx| tx.groups().delete(ops))
        .await
        .expect("it is removed");
    assert_eq!(
        world.read(move |reader| reader.groups().find(ops)).await,
        None
    );
    let again = world.add_group(acme, "ops", &[]).await;
    assert!(again > ops);
    assert_eq!(world.groups(&[acme]).await, [("ops".to_owned(), vec![])]);
}

async fn a_user_who_leaves_an_organization_leaves_its_groups(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other, ann) = (
        world.organization,
        other_organization(&world).await,
        world.ann,
    );
    let join = world.store.write(move |tx| {
        tx.organization_members()
            .insert(member(other, ann), "ann", Timestamp(1))
    });
    join.await.expect("ann is in both");
    world.add_group(acme, "ops", &[ann, world.bob]).await;
    world.add_group(other, "dev", &[ann]).await;
    world
        .store
        .write(move |tx| tx.organization_members().delete(acme, ann))
        .await
        .expect("ann is out");
    assert_eq!(
        world.groups(&[acme]).await,
        [("ops".to_owned(), vec![world.bob])]
    );
    assert_eq!(
        world.groups(&[other]).await,
        [("dev".to_owned(), vec![ann])]
    );
}

async fn a_group_and_a_user_of_an_organization_have_different_names(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other, ann) = (
        world.organization,
        other_organization(&world).await,
        world.ann,
    );
    world.add_group(acme, "Ops", &[]).await;
    let taken = world
        .read(move |reader| {
            let asked = [
                (acme, "ops"),
                (acme, "bob"),
                (acme, "ann"),
                (acme, "dev"),
                (other, "ops"),
            ];
            asked
                .iter()
                .map(|(of, key)| reader.organization_members().has_nick(*of, key, ann))
                .collect::<Result<Vec<_>>>()
        })
        .await;
    assert_eq!(taken, [true, true, false, false, false]);
    let join = |of| {
        world.store.write(move |tx| {
            let user = tx.users().insert(&new_user("ops"))?;
            tx.organization_members()
                .insert(member(of, user), "ops", Timestamp(1))
        })
    };
    let refused = join(acme).await;
    assert!(matches!(refused, Err(Error::Exists(_))), "{refused:?}");
    join(other).await.expect("there is no such group there");
}
