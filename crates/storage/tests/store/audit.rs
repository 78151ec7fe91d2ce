//! The audit log: records of who did what to whom.

use std::sync::Arc;

use eddyline_model::audit::{
    AuditAction, AuditAuthor, AuditEntry, AuditFilter, AuditRange, AuditRecord, AuditTarget,
};
use eddyline_model::{ApplicationId, OrganizationId, Seq, Timestamp, UserId};
use eddyline_storage::Error;

use crate::home::{Home, on_every_database};
use crate::world::World;

on_every_database!(
    records_are_read_back_from_the_newest,
    a_filter_leaves_what_it_names,
    records_of_several_questions_are_one_list,
    a_record_goes_with_the_change_it_is_of,
    a_record_may_be_of_somebody_who_never_was,
    a_record_names_the_author_of_its_transaction,
    old_records_go_and_the_last_one_stays,
    one_process_sends_to_a_destination,
    an_erased_user_is_a_number,
);

fn entry(organization: OrganizationId, action: AuditAction) -> AuditEntry {
    AuditEntry::new(action, Some(organization)).with(r#"{"name":"Zoë"}"#)
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
    filter: AuditFilter,
    before: Option<i64>,
    limit: i64,
) -> Vec<AuditRecord> {
    world
        .read(move |reader| {
            reader
                .audit()
                .list(&filter, AuditRange::newest(before, limit))
        })
        .await
}

fn of(organization: OrganizationId) -> AuditFilter {
    AuditFilter {
        organization: Some(organization),
        ..AuditFilter::default()
    }
}

fn actions(records: &[AuditRecord]) -> Vec<&str> {
    records.iter().map(|record| &*record.action).collect()
}

async fn records_are_read_back_from_the_newest(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other) = (OrganizationId(901), OrganizationId(902));
    for entry in [
        entry(acme, AuditAction::UserLink).about(world.ann),
        entry(other, AuditAction::UserCreate),
        entry(acme, AuditAction::FlowCreate).on(AuditTarget::new("flow", "abc", "Main")),
        AuditEntry::new(AuditAction::BackupCreate, None),
        entry(acme, AuditAction::TokenCreate),
    ] {
        note(&world, entry).await;
    }
    let all = records(&world, of(acme), None, 10).await;
    assert_eq!(
        actions(&all),
        ["token.create", "flow.create", "user.link"],
        "{all:?}"
    );
    assert_eq!(all[2].user, Some(world.ann));
    assert_eq!(all[2].detail, r#"{"name":"Zoë"}"#);
    assert_eq!(all[1].target, Some(AuditTarget::new("flow", "abc", "Main")));
    assert!(all[0].id > all[1].id && all[1].id > all[2].id, "{all:?}");
    assert_eq!(records(&world, of(acme), None, 2).await, all[..2]);
    assert_eq!(
        records(&world, of(acme), Some(all[1].id), 10).await,
        all[2..]
    );
    assert_eq!(records(&world, of(acme), Some(all[2].id), 10).await, []);
    assert_eq!(records(&world, of(acme), None, 0).await, []);
    assert_eq!(records(&world, of(other), None, 10).await.len(), 1);

    // And forward, with what concerns the whole server.
    let (first, last) = (all[2].id, all[0].id);
    let onward = world.read(move |reader| {
        reader
            .audit()
            .list(&AuditFilter::default(), AuditRange::following(first, 10))
    });
    let onward = onward.await;
    assert_eq!(
        actions(&onward),
        [
            "user.create",
            "flow.create",
            "backup.create",
            "token.create"
        ]
    );
    assert_eq!(onward[2].organization, None);
    assert_eq!(onward[3].id, last);
}

async fn a_filter_leaves_what_it_names(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = OrganizationId(901);
    let (ann, bob) = (world.ann, world.bob);
    for entry in [
        entry(acme, AuditAction::FlowCreate).by("operator"),
        entry(acme, AuditAction::TokenCreate)
            .by("user:7")
            .about(ann),
        entry(acme, AuditAction::TokenRevoke)
            .by(format!("user:{ann}"))
            .about(bob),
    ] {
        note(&world, entry).await;
    }
    let now = records(&world, of(acme), None, 1).await[0].at;
    let by = |actor: &str| AuditFilter {
        actor: Some(actor.to_owned()),
        ..of(acme)
    };
    let doing = |actions: &[&str]| AuditFilter {
        actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        ..of(acme)
    };
    let about = |user| AuditFilter {
        user: Some(user),
        ..of(acme)
    };
    let concerning = |user| AuditFilter {
        concerning: Some(user),
        ..of(acme)
    };
    let within = |since: Option<i64>, until: Option<i64>| AuditFilter {
        since: since.map(|millis| now.plus_millis(millis)),
        until: until.map(|millis| now.plus_millis(millis)),
        ..of(acme)
    };
    let concerning_by = |user, actor: &str| AuditFilter {
        actor: Some(actor.to_owned()),
        ..concerning(user)
    };
    for (filter, wanted) in [
        (concerning_by(ann, "user:7"), vec!["token.create"]),
        (
            concerning_by(bob, &format!("user:{ann}")),
            vec!["token.revoke"],
        ),
        (by("operator"), vec!["flow.create"]),
        (by("user"), vec![]),
        (
            doing(&["flow.create", "token.create"]),
            vec!["token.create", "flow.create"],
        ),
        (about(ann), vec!["token.create"]),
        (concerning(ann), vec!["token.revoke", "token.create"]),
        (concerning(UserId(999)), vec![]),
        (within(Some(1), None), vec![]),
        (within(None, Some(-60_000)), vec![]),
        (
            within(Some(-60_000), Some(1)),
            vec!["token.revoke", "token.create", "flow.create"],
        ),
    ] {
        let found = records(&world, filter.clone(), None, 10).await;
        assert_eq!(actions(&found), wanted, "{filter:?}");
    }
}

async fn records_of_several_questions_are_one_list(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann) = (OrganizationId(901), world.ann);
    let by_ann = format!("user:{ann}");
    for entry in [
        entry(acme, AuditAction::TokenCreate).by(&by_ann).about(ann),
        entry(acme, AuditAction::FlowCreate).by("operator"),
        entry(acme, AuditAction::TokenRevoke).by(&by_ann),
        entry(acme, AuditAction::TokenCreate).about(ann),
    ] {
        note(&world, entry).await;
    }
    let all = records(&world, of(acme), None, 10).await;
    let tokens = AuditFilter {
        actions: vec!["token.create".to_owned(), "token.revoke".to_owned()],
        ..of(acme)
    };
    let of_ann = AuditFilter {
        concerning: Some(ann),
        ..of(acme)
    };
    for filter in [tokens, of_ann] {
        let wanted = [&all[..2], &all[3..]].concat();
        assert_eq!(records(&world, filter.clone(), None, 10).await, wanted);
        assert_eq!(records(&world, filter.clone(), None, 2).await, wanted[..2]);
        assert_eq!(
            records(&world, filter.clone(), Some(wanted[0].id), 1).await,
            wanted[1..2]
        );
        let between = AuditRange {
            before: Some(wanted[0].id),
            ..AuditRange::following(0, 10)
        };
        let oldest = world.read(move |reader| reader.audit().list(&filter, between));
        assert_eq!(oldest.await, [wanted[2].clone(), wanted[1].clone()]);
    }
}

async fn a_record_goes_with_the_change_it_is_of(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = OrganizationId(901);
    let refused = world.store.write(move |tx| {
        tx.audit().insert(&entry(acme, AuditAction::UserCreate))?;
        Err::<(), _>(Error::Refused("it was not to be"))
    });
    assert!(matches!(refused.await, Err(Error::Refused(_))));
    assert_eq!(records(&world, of(acme), None, 10).await, []);
}

async fn a_record_may_be_of_somebody_who_never_was(home: Arc<Home>) {
    let world = World::new(&home).await;
    let nowhere = OrganizationId(999);
    note(
        &world,
        entry(nowhere, AuditAction::UserCreate).about(UserId(999)),
    )
    .await;
    let found = records(&world, of(nowhere), None, 1).await;
    assert_eq!(found[0].user, Some(UserId(999)));
}

async fn a_record_names_the_author_of_its_transaction(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = OrganizationId(901);
    let written = world.store.write(move |tx| {
        tx.set_author(AuditAuthor {
            actor: "unknown".to_owned(),
            application: Some(ApplicationId(3)),
            address: Some([192, 0, 2, 1].into()),
        });
        tx.audit().insert(&entry(acme, AuditAction::SessionBegin))?;
        tx.audit()
            .insert(&entry(acme, AuditAction::DataExport).by("operator"))?;
        // It is known in the course of the transaction, and goes for all of it.
        tx.set_actor("user:7");
        Ok(())
    });
    written.await.expect("written");
    note(&world, entry(acme, AuditAction::FlowCreate)).await;
    let found = records(&world, of(acme), None, 10).await;
    let shown: Vec<_> = found
        .iter()
        .map(|one| (&*one.actor, one.application, one.address.as_deref()))
        .collect();
    let (application, address) = (Some(ApplicationId(3)), Some("192.0.2.1"));
    assert_eq!(
        shown,
        [
            ("server", None, None),
            ("operator", application, address),
            ("user:7", application, address),
        ]
    );
}

async fn old_records_go_and_the_last_one_stays(home: Arc<Home>) {
    let world = World::new(&home).await;
    let acme = OrganizationId(901);
    for _ in 0..3 {
        note(&world, entry(acme, AuditAction::FlowCreate)).await;
    }
    let all = records(&world, of(acme), None, 10).await;
    let delete = async |until: Timestamp, limit| {
        let deleted = world
            .store
            .write(move |tx| tx.audit().delete_until(until, None, limit));
        deleted.await.expect("deleted").0
    };
    assert_eq!(delete(all[2].at, 10).await, 0);
    let later = all[0].at.plus_millis(1);
    let before = all[2].id - 1;
    let none = world.store.write(move |tx| {
        let audit = &mut tx.audit();
        audit.delete_until(later, Some(before), 10)
    });
    assert_eq!(none.await.expect("none are that old").0, 0);
    assert_eq!(delete(later, 1).await, 1);
    assert_eq!(delete(later, 10).await, 1);
    assert_eq!(delete(later, 10).await, 0);
    let left = records(&world, of(acme), None, 10).await;
    assert_eq!(left, all[..1]);
    note(&world, entry(acme, AuditAction::FlowCreate)).await;
    let next = world.read(|reader| reader.audit().find_last()).await;
    assert!(next > left[0].id);
    let (of_all, behind) = (left[0].id, next);
    let counts = world.read(move |reader| {
        Ok([
            reader.audit().count_after(of_all)?,
            reader.audit().count_after(behind)?,
        ])
    });
    assert_eq!(counts.await, [1, 0]);
}

async fn one_process_sends_to_a_destination(home: Arc<Home>) {
    let store = World::new(&home).await.store;
    let now = store.now();
    let done = store.write(move |tx| {
        tx.audit_exports().insert("syslog", 7, now)?;
        // What is there stays as it is.
        tx.audit_exports().insert("syslog", 9, now)?;
        tx.nodes().upsert_heartbeat("one", now, Seq(0))?;
        tx.nodes().upsert_heartbeat("two", now, Seq(0))
    });
    done.await.expect("there are two processes");
    let claim = async |node: &'static str, since: Timestamp| {
        let claimed = store.write(move |tx| tx.audit_exports().claim("syslog", node, since));
        claimed.await.expect("asked").0
    };
    let advance = async |node: &'static str, from: i64, last: i64| {
        let advanced = store.write(move |tx| {
            let now = tx.now();
            tx.audit_exports()
                .advance("syslog", node, (from, last), now)
        });
        advanced.await.expect("asked").0
    };
    let taken = async || {
        let exports = store.read(|reader| reader.audit_exports().list());
        let exports = exports.await.expect("listed");
        exports
            .into_iter()
            .map(|export| (export.last_id, export.holder))
            .collect::<Vec<_>>()
    };
    assert!(!advance("one", 7, 8).await, "it has not claimed it");
    assert!(claim("one", now).await);
    assert!(claim("one", now).await, "again");
    assert!(!claim("two", now).await, "the other one lives");
    assert!(!advance("one", 6, 8).await, "it was set back meanwhile");
    assert!(advance("one", 7, 8).await);
    assert_eq!(taken().await, [(8, "one".to_owned())]);
    // The other one has been silent since.
    assert!(claim("two", now.plus_millis(1)).await);
    assert!(!advance("one", 8, 9).await, "it was silent for too long");
    assert_eq!(taken().await, [(8, "two".to_owned())]);
    for after in [6, 7] {
        let set_back = store.write(move |tx| tx.audit_exports().set_back("syslog", after));
        set_back.await.expect("what may be lost is sent again");
        assert_eq!(taken().await, [(6, "two".to_owned())]);
    }
    let gone = store.write(move |tx| tx.nodes().delete("two", now));
    gone.await.expect("it has left");
    assert!(claim("one", now).await);
    let found = store.read(|reader| reader.audit_exports().find("webhook"));
    assert_eq!(found.await.expect("asked"), None);
}

async fn an_erased_user_is_a_number(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, ann, bob) = (OrganizationId(901), world.ann, world.bob);
    let written = world.store.write(move |tx| {
        tx.set_author(AuditAuthor {
            actor: format!("user:{ann}"),
            application: None,
            address: Some([192, 0, 2, 1].into()),
        });
        for user in [ann, bob] {
            tx.audit()
                .insert(&entry(acme, AuditAction::ProfileChange).about(user))?;
        }
        Ok(())
    });
    written.await.expect("written");
    let erased = world.store.write(move |tx| tx.audit().clear_user(ann));
    erased.await.expect("erased");
    let found = records(&world, of(acme), None, 10).await;
    let shown: Vec<_> = found
        .iter()
        .map(|one| (one.user, &*one.detail, one.address.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            (Some(bob), r#"{"name":"Zoë"}"#, None),
            (Some(ann), "{}", None)
        ]
    );
}
