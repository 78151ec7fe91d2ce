//! A long chat, read from its end to its beginning.

use std::env;

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use super::{MAIN, complaints, open, read_all, sees, texts};

// A line of the log for each step of each message would take longer than the messages.
on_sqlite![&["--log", "warn"]; a_long_chat_is_read_without_growth];

/// Twenty times as many as a page keeps. `EDDYLINE_TEST_MESSAGES` sets another number.
const MESSAGES: usize = 10_000;
/// The most rows that the page keeps (`MOST_ROWS` in `feed.js`).
const MAX_ROWS: i64 = 500;
/// The most memory of scripts while the chat is read, in bytes. It is some 2 MB all the time.
const MAX_HEAP: i64 = 4 * 1024 * 1024;
/// The most nodes of the document while the chat is read. A row has some 25.
const MAX_NODES: i64 = 20_000;
/// How many messages are read between two measurements, so that no script runs too long.
const PART: usize = 500;
/// How far the reader goes back from the beginning.
const BACK: usize = 1_000;

async fn a_long_chat_is_read_without_growth(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let messages = env::var("EDDYLINE_TEST_MESSAGES")
        .map_or(MESSAGES, |number| number.parse().expect("a number"));
    ben.flood(MAIN, messages, |number| format!("message {number}"))
        .await;
    read_all(&ada).await;
    let is_in_order = "const ids = [...document.querySelectorAll('#chat article[data-id]')].map((row) => Number(row.dataset.id));
        return ids.every((id, at) => at === 0 || id === ids[at - 1] + 1)";
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for part in (PART..=messages).step_by(PART) {
            scroll_until(
                &browser,
                "-scroll.scrollHeight",
                &format!("first <= {}", messages - part + 1),
            );
            is_small(&browser);
            assert_eq!(browser.execute(is_in_order), true, "no gaps, and each once");
        }
    });
    // What comes meanwhile stands behind the newest.
    ben.say(MAIN, "meanwhile").await;
    tokio::task::block_in_place(|| {
        scroll_until(&browser, "0", &format!("last >= {BACK}"));
        is_small(&browser);
        assert_eq!(browser.execute(is_in_order), true, "no gaps, and each once");
        assert!(!texts(&browser).contains(&"meanwhile".to_owned()));
        browser.execute("document.querySelector('button.newer').click()");
        sees(&browser, "meanwhile");
        assert_eq!(browser.execute(is_in_order), true, "no gaps, and each once");
    });
    ben.say(MAIN, "live").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "live");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

/// Scrolls to one end of the chat again and again, until a condition of its first and last row
/// holds.
fn scroll_until(browser: &Browser, to: &str, condition: &str) {
    browser.wait_for(&format!(
        "(() => {{
            const scroll = document.querySelector('#chat-scroll');
            scroll.scrollTop = {to};
            const rows = document.querySelectorAll('#chat article[data-id]');
            const [first, last] = [rows[0], rows[rows.length - 1]].map((row) => Number(row.dataset.id));
            return {condition};
        }})()"
    ));
}

/// Measures the page, after what is not needed was thrown away.
fn is_small(browser: &Browser) {
    browser.command("HeapProfiler.collectGarbage", &json!({}));
    browser.command("Performance.enable", &json!({}));
    let metrics = browser.command("Performance.getMetrics", &json!({}));
    let metric = |name: &str| {
        let metrics = metrics["metrics"].as_array().unwrap();
        let found = metrics.iter().find(|metric| metric["name"] == name);
        found.and_then(|metric| metric["value"].as_f64()).unwrap() as i64
    };
    let (heap, nodes) = (metric("JSHeapUsedSize"), metric("Nodes"));
    let rows = browser.execute("return document.querySelectorAll('#chat article').length");
    assert!(heap <= MAX_HEAP, "{heap} bytes of heap");
    assert!(nodes <= MAX_NODES, "{nodes} nodes");
    assert!(rows.as_i64().unwrap() <= MAX_ROWS, "{rows} rows");
}
