//! What a server takes while it does nothing.

use std::time::Duration;

use tokio::time::sleep;

use super::EMPTY;
use crate::Result;
use crate::fanout::open_all;
use crate::fill::FLOW;
use crate::plan::MEMBERS;
use crate::report::{Key, Metric, Results, Sample};
use crate::requests::{EVENTS, Request};
use crate::server::Server;
use crate::stage::Stage;

/// After this long nothing of opening a stream is left.
const REST: Duration = Duration::from_secs(1);

/// Resident memory now.
pub(crate) fn resident(server: &Server) -> Result<Sample> {
    Ok(Sample::single(
        Metric::Resident,
        server.family.resident()? as f64 / 1e6,
    ))
}

/// Measures what a stream more takes when every member has one already, on a fresh server.
pub(crate) async fn streams(stage: &Stage<'_>, results: &mut Results) -> Result<()> {
    let server = stage.binary.serve(&stage.homes.empty()?)?;
    let path = format!("/flows?filter={FLOW}");
    let request = |number| {
        let token = Some(stage.homes.token(number));
        Request {
            method: "GET",
            path: &path,
            token,
            accept: EVENTS,
            body: None,
        }
        .bytes()
    };
    let few = open_all(server.stream, (0..MEMBERS).map(request)).await?;
    sleep(REST).await;
    let before = server.family.resident()?;
    let count = stage.plan.idle_streams;
    let many = open_all(server.stream, (0..count).map(request)).await?;
    sleep(REST).await;
    let bytes = server.family.resident()? as f64 - before as f64;
    let setting = format!("{count} streams");
    results.add(
        Key::new("memory", EMPTY, setting),
        Sample::single(Metric::StreamMemory, bytes / count as f64),
    );
    drop((few, many));
    server.stop().await
}
