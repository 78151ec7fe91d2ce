//! Records of what was done to users from outside.

use std::sync::Arc;

use eddyline_model::audit::AuditEntry;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::Error;

use crate::home::{Home, on_every_database};
use crate::world::World;

on_every_database!(
    records_are_read_back_from_the_newest,
    a_record_goes_with_the_change_it_is_of,
    a_record_may_be_of_somebody_who_never_was,
);

fn entry(organization: OrganizationId, action: &str) -> AuditEntry {
    AuditEntry {
        organization,
        at: Timestamp(7),
        actor: "scim:uid".to_owned(),
        action: action.to_owned(),
        user: None,
        detail: r#"{"name":"Zoë"}"#.to_owned(),
    }
}

async fn note(world: &World, entry: AuditEntry) {
    world
        .store
        .write(move |tx| tx.audit().insert(&entry))
        .await
        .expect("it is noted");
}

async fn records(
    world: &World,
    organization: OrganizationId,
    before: Option<i64>,
    limit: i64,
) -> Vec<(i64, AuditEntry)> {
    world
        .read(move |reader| reader.audit().list(organization, before, limit))
        .await
}

async fn records_are_read_back_from_the_newest(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other) = (world.organization, OrganizationId(2));
    let first = AuditEntry {
        user: Some(world.ann),
        actor: "operator".into(),
        ..entry(acme, "user.link")
    };
    for entry in [
        first.clone(),
        entry(other, "user.create"),
        entry(acme, "second"),
        entry(acme, "third"),
    ] {
        note(&world, entry).await;
    }
    let all = records(&world, acme, None, 10).await;
    let actions: Vec<&str> = all.iter().map(|(_, entry)| entry.action.as_str()).collect();
    assert_eq!(actions, ["third", "second", "user.link"]);
    assert_eq!(all[2].1, first);
    assert!(all[0].0 > all[1].0 && all[1].0 > all[2].0, "{all:?}");
    assert_eq!(records(&world, acme, None, 2).await, all[..2]);
    assert_eq!(records(&world, acme, Some(all[1].0), 10).await, all[2..]);
    assert_eq!(records(&world, acme, Some(all[2].0), 10).await, []);
    assert_eq!(records(&world, acme, None, 0).await, []);
    assert_eq!(records(&world, other, None, 10).await.len(), 1);
}

async fn a_record_goes_with_the_change_it_is_of(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = world.organization;
    let refused = world.store.write(move |tx| {
        tx.audit().insert(&entry(acme, "user.create"))?;
        Err::<(), _>(Error::Refused("it was not to be"))
    });
    assert!(matches!(refused.await, Err(Error::Refused(_))));
    assert_eq!(records(&world, acme, None, 10).await, []);
}

async fn a_record_may_be_of_somebody_who_never_was(home: Arc<Home>) {
    let world = World::new(&home).await;
    let nowhere = OrganizationId(999);
    let of_nobody = AuditEntry {
        user: Some(UserId(999)),
        ..entry(nowhere, "user.create")
    };
    note(&world, of_nobody.clone()).await;
    assert_eq!(records(&world, nowhere, None, 1).await[0].1, of_nobody);
}
