//! `eddyline doctor`: looks for what is wrong with an installation. It changes nothing but a probe
//! object among the files, which it removes again, and works whether or not a server runs.

mod audit_export;
mod clock;
mod database;
mod disk;
mod file_system;
mod files;
mod finding;
mod identity_provider;
mod limits;
mod mail;
mod proxy;
mod traces;
mod web;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use eddyline_storage::Inspection;

use self::finding::{DoctorReport, Finding};
use crate::config::Settings;
use crate::{CommandError, output, serve};

/// How long the checks of one part may take.
const LIMIT: Duration = Duration::from_secs(15);

/// Checks everything, prints the findings, and fails when one of them is an error.
pub(crate) async fn run(settings: Settings, json: bool) -> Result<(), CommandError> {
    let report = DoctorReport::new(check(&settings).await);
    if json {
        for finding in &report.findings {
            output::json_line(std::io::stdout().lock(), finding)?;
        }
    } else {
        output::answer(&report, false)?;
    }
    match report.errors() {
        0 => Ok(()),
        1 => Err("1 error was found".into()),
        count => Err(format!("{count} errors were found").into()),
    }
}

/// All checks, those that need nothing of each other at the same time.
async fn check(settings: &Settings) -> Vec<Finding> {
    let addresses = serve::configured_addresses(settings);
    let on_line = async {
        let (mut findings, found) = database::check(settings).await;
        let found = found.as_ref();
        let servers = found.map_or(0, |found| found.servers);
        let clock = in_time("clock", clock::check(found, &addresses.base));
        let proxy = in_time("proxy", proxy::check(settings, &addresses, servers));
        let provider = in_time(
            "identity_provider",
            identity_provider::check(providers(found), &addresses.base),
        );
        for part in <[_; 3]>::from(tokio::join!(clock, proxy, provider)) {
            findings.extend(part);
        }
        findings
    };
    let here = settings.clone();
    let here = async {
        // A disk that does not answer blocks the thread, which the time limit must not wait for.
        let work = tokio::task::spawn_blocking(move || {
            let mut findings = disk::check(&here);
            findings.push(limits::check(&here));
            findings
        });
        work.await.unwrap_or_default()
    };
    let parts = tokio::join!(
        Box::pin(on_line),
        in_time("mail", mail::check(settings)),
        in_time("audit_export", audit_export::check(settings)),
        in_time("traces", traces::check(settings)),
        in_time("files", files::check(settings)),
        in_time("disk", here),
    );
    <[_; 6]>::from(parts).into_iter().flatten().collect()
}

fn providers(found: Option<&Inspection>) -> &[eddyline_storage::EnabledProvider] {
    found.map_or(&[], |found| &found.providers)
}

/// The findings of a part, or that it took too long.
fn in_time<'a>(
    part: &'static str,
    check: impl Future<Output = Vec<Finding>> + Send + 'a,
) -> Pin<Box<dyn Future<Output = Vec<Finding>> + Send + 'a>> {
    Box::pin(async move {
        tokio::time::timeout(LIMIT, check)
            .await
            .unwrap_or_else(|_| {
                let seconds = LIMIT.as_secs();
                vec![Finding::error(
                    part,
                    "time",
                    format!("the checks did not end within {seconds} seconds"),
                    "Find out what does not answer: a name server, a network, or a disk.",
                )]
            })
    })
}
