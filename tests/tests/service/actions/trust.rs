//! An integration in another language, with a library of others, finds out what to trust
//! (`verify.py`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::Json;
use eddyline_tests::{Caller, Python, Robot, Server, on_both_databases};
use serde_json::json;

use super::{Stage, is_done, push, source, update};

on_both_databases![crate::actions::OPTIONS;
    an_integration_trusts_only_what_was_signed_for_it,
];

const SCRIPT: &str = include_str!("verify.py");

/// Shows: 5.13
async fn an_integration_trusts_only_what_was_signed_for_it(server: Server) {
    let Some(python) = Python::with("authlib", &["authlib"]) else {
        return;
    };
    let stage = Stage::set(server).await;
    let other = stage.server.robot("acme", &[]);
    let (neighbour, _) = source(&stage.server, &other);
    let mut requests = Vec::new();
    for (robot, foreign, source) in [
        (&stage.robot, &other, &stage.source),
        (&other, &stage.robot, &neighbour),
    ] {
        for method in ["POST", "GET", "DELETE"] {
            let url = stage.receiver.url("/do");
            let thread = push(
                source,
                method,
                &[update("Schließen – 閉じる", method, &url)],
            )
            .await;
            for caller in [&stage.acme.ada, &stage.acme.ben] {
                is_done(&stage.trigger(caller, &thread, "0").await);
                requests.push(request(&stage, robot, foreign, caller));
            }
        }
    }
    let judged: usize = python.run(SCRIPT, &json!(requests)).await;
    assert_eq!(judged, requests.len());
}

/// What came in last, with what the script has to know to judge it.
fn request(stage: &Stage, robot: &Robot, foreign: &Robot, caller: &Caller) -> Json {
    let request = stage.receiver.asked_once();
    json!({
        "token": request.token(),
        "body": STANDARD.encode(&request.body),
        "issuer": stage.server.base_url(),
        "client_id": robot.client_id,
        "secret": robot.client_secret,
        "other_secret": foreign.client_secret,
        "user": caller.id.to_string(),
    })
}
