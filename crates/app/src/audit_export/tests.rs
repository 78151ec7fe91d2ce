//! Records that a destination has not taken, and their age.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use eddyline_auth::PasswordPolicy;
use eddyline_model::Timestamp;
use eddyline_model::audit::{AuditAction, AuditEntry, AuditFilter, AuditRange};
use eddyline_model::audit_export::GRACE_DAYS;
use eddyline_storage::{Options, Store};
use eddyline_syslog::Collector;

use crate::audit_destination::AuditDestination;
use crate::core::transaction::NoCaller;
use crate::{App, AuditConfig, Config};

const DAY_MILLIS: i64 = 24 * 3_600_000;
const KEPT_DAYS: u32 = 10;

async fn app(clock: &Arc<AtomicI64>) -> App {
    let read = Arc::clone(clock);
    let options = Options {
        clock: Arc::new(move || Timestamp(read.load(Ordering::SeqCst))),
        ..Options::default()
    };
    let store = Store::open_with("sqlite::memory:", options).unwrap();
    let destination = AuditDestination::Syslog(Collector::new("127.0.0.1", 1, None));
    let config = Config {
        passwords: PasswordPolicy::cheapest(),
        audit: AuditConfig {
            days: KEPT_DAYS,
            destinations: vec![destination],
        },
        ..Config::default()
    };
    App::new(store, config).await.unwrap()
}

async fn record(app: &App) {
    let noted = app.core().store().write(NoCaller::Process, |tx| {
        let entry = AuditEntry::new(AuditAction::BackupTake, None);
        tx.audit().insert(&entry)
    });
    noted.await.unwrap();
}

async fn count_after_tidying(app: &App) -> usize {
    app.core().tidy().await.unwrap();
    let kept = app.core().store().read(|reader| {
        let range = AuditRange::newest(None, 100);
        reader.audit().list(&AuditFilter::default(), range)
    });
    kept.await.unwrap().len()
}

#[tokio::test]
async fn records_wait_for_a_destination_up_to_a_bound() {
    let clock = Arc::new(AtomicI64::new(1_700_000_000_000));
    let app = app(&clock).await;
    // Before there is a destination; the last record of all is never removed.
    record(&app).await;
    app.audit_export().begin().await.unwrap();
    record(&app).await;
    record(&app).await;
    let pass = |days: i64| clock.fetch_add(days * DAY_MILLIS, Ordering::SeqCst);

    pass(i64::from(KEPT_DAYS) - 1);
    assert_eq!(count_after_tidying(&app).await, 3);
    pass(2);
    assert_eq!(count_after_tidying(&app).await, 2, "those that wait stay");
    pass(i64::from(GRACE_DAYS) - 2);
    assert_eq!(count_after_tidying(&app).await, 2);
    pass(2);
    assert_eq!(count_after_tidying(&app).await, 1);
}
