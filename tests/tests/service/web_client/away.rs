//! Readers who give no sign for a while are shown as away.

use eddyline_client::StreamRequest;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Listener, Server, on_sqlite};
use serde_json::json;

use super::{ENTER, MAIN, complaints, open};

on_sqlite![a_reader_without_a_sign_is_away_until_the_next_one];

/// The ten minutes pass at once, and the page itself keeps time, as where browsers have no shared
/// workers.
const HURRY: &str = "delete globalThis.SharedWorker;
    const [later, now] = [setTimeout, Date.now];
    globalThis.setTimeout = (run, pause, ...rest) => later(run, pause === 600000 ? 0 : pause, ...rest);
    Date.now = () => now() + (globalThis.ahead ?? 0);";

async fn a_reader_without_a_sign_is_away_until_the_next_one(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let asks = StreamRequest {
        presence: true,
        ..StreamRequest::new().flow(MAIN)
    };
    let mut heard = Listener::open(&ben.client, &asks).await;
    tokio::task::block_in_place(|| {
        let source = json!({"source": HURRY});
        browser.command("Page.addScriptToEvaluateOnNewDocument", &source);
        open(&browser, &server, &ada);
    });
    let mut seen_as = async || {
        let content = heard.event("presence").await["content"].take();
        assert_eq!(content["user_id"], ada.id);
        content["state"].as_str().unwrap().to_owned()
    };
    // The time may have passed before the stream was open.
    let mut first = seen_as().await;
    if first == "active" {
        first = seen_as().await;
    }
    assert_eq!(first, "idle");
    // What the reader does counts once in half a minute.
    tokio::task::block_in_place(|| {
        browser.execute("globalThis.ahead = 60000");
        browser.type_keys("body", ENTER);
    });
    assert_eq!(seen_as().await, "active");
    assert_eq!(seen_as().await, "idle");
    tokio::task::block_in_place(|| {
        assert_eq!(
            browser.count("#offline[hidden]"),
            1,
            "the stream is open all the while"
        );
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
