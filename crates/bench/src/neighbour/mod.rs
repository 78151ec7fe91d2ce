//! A noisy neighbour: one organization works at a steady pace while a member of another, or a
//! client without credentials, attacks the server. Each way of attacking is measured beside the
//! quiet server.

mod attack;
mod picture;
mod preparation;
mod priority;
mod push_service;
mod tenants;
mod work;

use std::path::Path;
use std::time::Duration;

use eddyline_testing::postgres::Cluster;
use tokio::time::{Instant, sleep};

use self::attack::{Attack, Attacker};
use self::tenants::Tenants;
use self::work::{Work, Worked};
use crate::report::{Key, Metric, Results, Sample};
use crate::server::Server;
use crate::stage::Stage;
use crate::{Result, progress};

const QUIET: &str = "quiet";
/// The server without an attack once more, behind all of them.
const QUIET_AGAIN: &str = "quiet again";
/// The server finishes what the attack before left, and time-outs of its connections pass.
const PAUSE: Duration = Duration::from_secs(3);
/// How often the memory of the server is read while it is attacked.
const MEMORY_INTERVAL: Duration = Duration::from_millis(250);

/// Measures on SQLite, and on PostgreSQL where that is installed.
pub(crate) async fn measure(stage: &Stage<'_>, results: &mut Results) -> Result<()> {
    let directory = || {
        tempfile::Builder::new()
            .prefix("neighbour-")
            .tempdir_in(stage.scratch)
    };
    let data = directory()?;
    on("neighbour (SQLite)", stage, data.path(), None, results).await?;
    let Some(database) = Cluster::own(&[]).map(|cluster| cluster.database()) else {
        return Ok(());
    };
    let data = directory()?;
    on(
        "neighbour (PostgreSQL)",
        stage,
        data.path(),
        Some(database.url()),
        results,
    )
    .await
}

async fn on(
    part: &'static str,
    stage: &Stage<'_>,
    data: &Path,
    database: Option<&str>,
    results: &mut Results,
) -> Result<()> {
    let tenants = Tenants::create(&stage.binary.on_database(database), data)?;
    // The push services are on this machine.
    let options = ["--allow-private-targets"];
    let server = stage
        .binary
        .on_database(database)
        .serve_with(data, &options)?;
    let target = preparation::prepare(&tenants, &server).await?;
    let work = Work::start(&tenants, &server).await?;
    // The server has been started with the normal one.
    priority::set(priority::HIGH);
    sleep(PAUSE).await;
    let idle = server.family.resident()?;
    progress(&format!("  {part}, {QUIET}"));
    let (quiet, peak) = observe(stage, &work, &server).await?;
    add(part, QUIET, &quiet, peak.saturating_sub(idle), results);
    for attack in Attack::ALL
        .into_iter()
        .filter(|attack| stage.arguments.wants_attack(attack.name()))
    {
        progress(&format!("  {part}, {}", attack.name()));
        let attacker = Attacker::start(attack, target.clone())?;
        let (attacked, peak) = observe(stage, &work, &server).await?;
        attacker.stop();
        add(
            part,
            attack.name(),
            &attacked,
            peak.saturating_sub(idle),
            results,
        );
        sleep(PAUSE).await;
    }
    progress(&format!("  {part}, {QUIET_AGAIN}"));
    let (quiet, peak) = observe(stage, &work, &server).await?;
    add(
        part,
        QUIET_AGAIN,
        &quiet,
        peak.saturating_sub(idle),
        results,
    );
    priority::set(priority::NORMAL);
    work.stop();
    server.stop().await
}

/// What the work came to, and the most memory that the server had meanwhile.
async fn observe(stage: &Stage<'_>, work: &Work, server: &Server) -> Result<(Worked, u64)> {
    work.begin();
    let (end, mut peak) = (Instant::now() + stage.plan.attacked, 0);
    while Instant::now() < end {
        sleep(MEMORY_INTERVAL).await;
        peak = peak.max(server.family.resident()?);
    }
    Ok((work.end(), peak))
}

fn add(
    part: &'static str,
    subject: &'static str,
    worked: &Worked,
    memory: u64,
    results: &mut Results,
) {
    for (name, times, faults) in worked.kinds() {
        let mut sample = Sample::default();
        sample.add(Metric::Operations, times.total() as f64);
        sample.add_times(times);
        sample.faults = faults;
        let key = Key::new(part, subject, name);
        results.add(key.clone(), sample);
        if subject != QUIET {
            results.compare(key, Metric::P99, QUIET);
        }
    }
    let megabytes = memory as f64 / 1e6;
    results.add(
        Key::new(part, subject, "memory above idle"),
        Sample::single(Metric::Resident, megabytes),
    );
}
