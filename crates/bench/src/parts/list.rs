//! The latest messages of a room.

use super::{COMMIT, FILLED, connections};
use crate::Result;
use crate::fill::FLOW;
use crate::load::Load;
use crate::plan::LISTING;
use crate::references::ReferenceServer;
use crate::report::{Key, Metric, Results};
use crate::requests::{JSON, Request};
use crate::server::Server;
use crate::stage::Stage;

const PART: &str = "latest 30";

/// Measures the list of the latest thirty beside a bare list of as many rows.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    filled: &Server,
    commit: &ReferenceServer,
    results: &mut Results,
) -> Result<()> {
    let path = format!("/flows/{FLOW}/messages?limit=30");
    for count in LISTING {
        let key = |subject| Key::new(PART, subject, connections(count));
        let load = |address, server| Load {
            address,
            server,
            connections: count,
            variants: 1,
            rate: Metric::Lists,
        };
        let get = |path, token| {
            Request {
                method: "GET",
                path,
                token,
                accept: JSON,
                body: None,
            }
            .bytes()
        };
        let reference = load(commit.address, &commit.family);
        results.add(
            key(COMMIT),
            reference.run(&stage.plan, |_, _| get("/", None)).await?,
        );
        let ours = load(filled.api, &filled.family);
        let ours = ours.run(&stage.plan, |connection, _| {
            get(&path, Some(stage.homes.token(connection)))
        });
        results.add(key(FILLED), ours.await?);
        for metric in [Metric::Lists, Metric::ServerCpu] {
            results.compare(key(FILLED), metric, COMMIT);
        }
    }
    Ok(())
}
