//! The narrowest and the widest screens: nothing has to be scrolled sideways.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use crate::integrations::{Source, update};

use super::{MAIN, complaints, open, open_flow};

on_sqlite![no_page_is_scrolled_sideways_on_the_smallest_and_largest_screens];

async fn no_page_is_scrolled_sideways_on_the_smallest_and_largest_screens(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let long = "a".repeat(300);
    let address = format!("https://example.com/{long}?{long}");
    let code = format!("```\n{long}\n```");
    for text in [&long, &address, &code] {
        ben.say(MAIN, text).await;
    }
    let file = json!({"data": "dGVh", "content_type": "text/plain", "file_name": format!("{}.txt", &long[..200])});
    ben.post(MAIN, &json!({"event": "file", "content": file}))
        .await;
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    let state = json!({
        "title": &long[..200], "body": format!("<p>{long}</p><pre>{long}</pre>"),
        "status": {"color": "red", "value": "Waiting for a reply"},
        "fields": [{"label": "Address", "value": address}],
    });
    let pushed = source.push(&update("212", &long, &state)).await;
    let thread = format!("/threads/{}", pushed["thread_id"].as_str().unwrap());
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for width in [320, 3840] {
            browser.set_window_size(width, 900);
            for rest in [
                "",
                "/threads",
                "/files",
                "/people",
                "/search",
                &thread,
                "/settings",
                "/settings/sources",
            ] {
                open_flow(&browser, &server, rest);
                fits(&browser, &format!("{rest} at {width}"));
            }
        }
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

/// Neither the page nor one of its panes is wider than its place.
fn fits(browser: &Browser, what: &str) {
    let beyond = browser.execute(
        "const root = document.documentElement;
         const panes = [...document.querySelectorAll('.scroll')].filter((pane) => pane.checkVisibility());
         return [root, ...panes].filter((pane) => pane.scrollWidth > pane.clientWidth)
             .map((pane) => `${pane.id || pane.className}: ${pane.scrollWidth} of ${pane.clientWidth}`)",
    );
    assert_eq!(beyond, json!([]), "{what}");
}
