//! The clock of this machine against those of the database and of the server or the proxy that
//! answers at its address. Servers tell by their clocks which of them live, and when tokens and links
//! end.

use std::time::{Duration, UNIX_EPOCH};

use eddyline_storage::{DatabaseSettings, Inspection};
use http::header::DATE;

use super::finding::Finding;
use super::web;
use crate::output::machine_time;

/// From how far apart on servers take each other for late.
const WARNING_MILLIS: i64 = 3_000;
/// From how far apart on links and tokens end at the wrong time, and stores refuse requests soon.
const ERROR_MILLIS: i64 = 60_000;

const ADVICE: &str =
    "Have both machines set their clocks by NTP, for instance with chrony or systemd-timesyncd.";

pub(super) async fn check(found: Option<&Inspection>, base: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = found.and_then(of_database).into_iter().collect();
    findings.extend(of_address(base).await);
    findings
}

/// SQLite has the clock of this machine.
fn of_database(found: &Inspection) -> Option<Finding> {
    match &found.settings {
        DatabaseSettings::Sqlite(_) => None,
        DatabaseSettings::Postgres(_) => Some(judge(
            "clock_of_database",
            "now() of PostgreSQL",
            found.clock_ahead_millis,
        )),
    }
}

/// `Date` has whole seconds, and a proxy may write its own.
async fn of_address(base: &str) -> Option<Finding> {
    let sent = machine_time().0;
    let answer = web::get(&format!("{base}/healthz")).await.ok()?;
    let received = machine_time().0;
    let date = answer.headers().get(DATE)?.to_str().ok()?;
    let date = httpdate::parse_http_date(date).ok()?;
    let told = date.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let told = i64::try_from(told.as_millis()).unwrap_or(i64::MAX);
    let apart = match told {
        told if told + 1000 < sent => told + 1000 - sent,
        told if told > received => told - received,
        _ => 0,
    };
    Some(judge("clock_of_server", format!("Date of {base}"), apart))
}

fn judge(check: &'static str, subject: impl Into<String>, apart: i64) -> Finding {
    let seen = match apart / 1000 {
        0 => "within a second of this machine's".to_owned(),
        seconds if seconds > 0 => format!("{seconds} seconds ahead of this machine's"),
        seconds => format!("{} seconds behind this machine's", -seconds),
    };
    match apart.abs() {
        ERROR_MILLIS.. => Finding::error(check, subject, seen, ADVICE),
        WARNING_MILLIS.. => Finding::warning(check, subject, seen, ADVICE),
        _ => Finding::ok(check, subject, seen),
    }
}
