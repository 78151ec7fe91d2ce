//! An organization with all that pages show.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::Method;
use eddyline_tests::{Acme, Caller, PASSWORD, Server};
use serde_json::json;

use crate::avatars::png;
use crate::integrations::{Source, update};

const FLOW: &str = "acme/main";

/// What the page of the flow has of it.
pub(super) const SHOWN: [&str; 10] = [
    "#inbox .chip",
    "#chat .react",
    "#chat .file",
    "#chat .shot",
    "#chat audio",
    "#chat .hit",
    "#chat .edited",
    "#chat .gone",
    "#chat .unfold",
    "#chat pre span",
];

/// Who is there, and what pages are about.
pub(super) struct Showcase {
    pub(super) ada: Caller,
    pub(super) ben: Caller,
    /// The ids of threads: one that was answered, and one of the inbox.
    pub(super) threads: [String; 2],
    /// The number of an API token of Ada's.
    pub(super) token: String,
}

impl Showcase {
    pub(super) async fn fill(server: &Server) -> Self {
        let Acme { ada, ben } = server.acme();
        server.provider("acme");
        let answered = talk(&ada, &ben).await;
        attach(&ben).await;
        let mirrored = mirror(server, &ada).await;
        let text = json!({"event": "message", "content": "psst"});
        let private = format!("/private/{}/messages", ada.id);
        ben.does(Method::POST, &private, &text).await;
        let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
        let tokens = visitor.get("/account/tokens").await;
        let token = tokens.between("\"/account/tokens/", "\"").to_owned();
        Self {
            ada,
            ben,
            threads: [answered, mirrored],
            token,
        }
    }
}

/// Has both talk, and gives a thread that was answered.
async fn talk(ada: &Caller, ben: &Caller) -> String {
    let first = ben.say(FLOW, "Good morning @ada, see #release").await;
    let code = "> quoted\n`code` and\n```rust\nlet it = \"be\"; // Why\n```";
    ben.say(FLOW, code).await;
    let root = ada.say(FLOW, "**Who** takes it? https://example.com").await;
    ben.say(FLOW, &vec!["a line"; 30].join("\n")).await;
    let thread = root["thread_id"].as_str().unwrap().to_owned();
    let reply =
        json!({"event": "message", "content": "I do", "thread_id": thread, "tags": ["urgent"]});
    ben.post(FLOW, &reply).await;
    let status = json!({"event": "status", "content": "In the workshop"});
    ben.post(FLOW, &status).await;

    let mistaken = ben.say(FLOW, "mistaken").await;
    let path = |message: &serde_json::Value| format!("/flows/{FLOW}/messages/{}", message["id"]);
    let edit = json!({"content": "corrected"});
    ben.does(Method::PUT, &path(&mistaken), &edit).await;
    let regretted = ben.say(FLOW, "regretted").await;
    ben.does(Method::DELETE, &path(&regretted), &json!(null))
        .await;
    let main = ada.client.flow("acme", "main");
    main.react(first["id"].as_i64().unwrap(), "👍")
        .await
        .unwrap();
    thread
}

/// Has a file of each kind sent that is shown in a way of its own.
async fn attach(ben: &Caller) {
    for (name, kind, data) in [
        ("notes.txt", "text/plain", b"tea".to_vec()),
        ("squares.png", "image/png", png(64)),
        ("bell.wav", "audio/wav", b"RIFF".to_vec()),
    ] {
        let data = STANDARD.encode(data);
        let content = json!({"data": data, "content_type": kind, "file_name": name});
        ben.post(FLOW, &json!({"event": "file", "content": content}))
            .await;
    }
}

/// Has a source mirror items in states of all colours, with all that one can have, and gives the
/// thread of the last one.
async fn mirror(server: &Server, ada: &Caller) -> String {
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, ada, FLOW, "Ledger").await;
    let target = json!({
        "@type": "EntryPoint", "urlTemplate": "https://ledger.example/212/close", "httpMethod": "POST",
    });
    let mut thread = String::new();
    for color in [
        "red", "green", "yellow", "cyan", "orange", "grey", "black", "lime", "purple", "blue",
    ] {
        let state = json!({
            "title": "Gateway drops packets",
            "body": "<p>Since <a href='https://ledger.example/'>noon</a>.</p>",
            "external_url": "https://ledger.example/212",
            "status": {"color": color, "value": format!("State {color}")},
            "fields": [{"label": "Owner", "value": "Zoë"}, {"label": "Priority", "value": "high"}],
            "actions": [{"@type": "UpdateAction", "name": "Close", "target": target}],
        });
        let opened = update(&format!("212-{color}"), "opened it", &state);
        let pushed = source.push(&opened).await;
        pushed["thread_id"]
            .as_str()
            .unwrap()
            .clone_into(&mut thread);
    }
    thread
}
