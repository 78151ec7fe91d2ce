//! Posts that are on disk when they are answered.

use super::{COMMIT, EMPTY, FILLED, HELLO, connections};
use crate::Result;
use crate::fill::FLOW;
use crate::load::Load;
use crate::plan::POSTING;
use crate::random::Random;
use crate::references::{ReferenceServer, raw};
use crate::report::{Key, Metric, Results};
use crate::requests::{JSON, Request, chat};
use crate::server::Server;
use crate::stage::Stage;
use crate::words::Vocabulary;

const PART: &str = "posts";
const RAW: &str = "one row, one commit";
const VARIANTS: usize = 256;
const PLAIN: &str = "text/plain";

/// Measures everything that posts beside its limits: what the disk does between two measurements
/// may be quite another thing.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    empty: &Server,
    filled: &Server,
    commit: &ReferenceServer,
    results: &mut Results,
) -> Result<()> {
    let hello = ReferenceServer::hello()?;
    for count in POSTING {
        let key = |subject| Key::new(PART, subject, connections(count));
        results.add(
            key(RAW),
            raw::commits(&stage.scratch.join("raw.db"), &stage.plan)?,
        );
        for (subject, reference) in [(HELLO, &hello), (COMMIT, commit)] {
            let load = load(reference.address, &reference.family, count);
            results.add(key(subject), load.run(&stage.plan, bare(count)).await?);
        }
        for (subject, server) in [(EMPTY, empty), (FILLED, filled)] {
            let load = load(server.api, &server.family, count);
            results.add(
                key(subject),
                load.run(&stage.plan, whole(stage, count)).await?,
            );
        }
        for subject in [COMMIT, EMPTY] {
            results.compare(key(subject), Metric::Posts, HELLO);
        }
        for metric in [Metric::Posts, Metric::ServerCpu] {
            results.compare(key(EMPTY), metric, COMMIT);
            results.compare(key(FILLED), metric, EMPTY);
        }
    }
    hello.stop().await
}

fn load(
    address: std::net::SocketAddr,
    server: &crate::process::Family,
    connections: usize,
) -> Load<'_> {
    Load {
        address,
        server,
        connections,
        variants: VARIANTS,
        rate: Metric::Posts,
    }
}

/// What the references are sent: the same text, and nothing else to keep.
fn bare(seed: usize) -> impl FnMut(usize, usize) -> Vec<u8> {
    let (vocabulary, mut random) = (Vocabulary::new(), Random::new(seed as u64));
    move |_, _| {
        let text = vocabulary.sentence(&mut random);
        Request {
            method: "POST",
            path: "/",
            token: None,
            accept: JSON,
            body: Some((PLAIN, &text)),
        }
        .bytes()
    }
}

fn whole<'a>(stage: &'a Stage<'_>, seed: usize) -> impl FnMut(usize, usize) -> Vec<u8> + 'a {
    let (vocabulary, mut random) = (Vocabulary::new(), Random::new(seed as u64));
    let path = format!("/flows/{FLOW}/messages");
    move |connection, _| {
        let body = chat(&vocabulary.sentence(&mut random));
        let token = Some(stage.homes.token(connection));
        Request {
            method: "POST",
            path: &path,
            token,
            accept: JSON,
            body: Some((JSON, &body)),
        }
        .bytes()
    }
}
