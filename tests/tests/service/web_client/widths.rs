//! The narrowest and the widest screens: nothing has to be scrolled sideways.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use crate::integrations::{Source, update};

use super::{MAIN, click, complaints, open, open_flow, shows};

on_sqlite![
    no_page_is_scrolled_sideways_on_the_smallest_and_largest_screens,
    zoomed_in_to_400_percent_the_texts_have_room,
];

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

async fn zoomed_in_to_400_percent_the_texts_have_room(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "Lunch?").await;
    let thread = format!("/threads/{}", root["thread_id"].as_str().unwrap());
    for number in 0..9 {
        server.flow("acme", &format!("lunch{number}"), &[&ada]);
    }
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // What windows of 1280 by 1024 and 1440 by 900 pixels show then.
        for (width, height) in [(320, 256), (360, 225)] {
            browser.set_window_size(width, height);
            for (rest, place) in [
                ("", "#chat-scroll"),
                (&*thread, ".thread .scroll"),
                ("/inbox", "#inbox"),
            ] {
                open_flow(&browser, &server, rest);
                let what = format!("{rest} at {width}");
                fits(&browser, &what);
                let share = browser.execute(&format!(
                    "return document.querySelector('{place}').clientHeight / innerHeight"
                ));
                assert!(share.as_f64().unwrap() > 0.4, "{what}: {share}");
                assert_eq!(browser.audit(), [""; 0], "{what}");
            }
            // The link of the page is in view among the others.
            open_flow(&browser, &server, "/search");
            let is_seen = browser.execute(
                "const [link, nav] = ['.list .both [aria-current]', '.list .both']
                     .map((css) => document.querySelector(css).getBoundingClientRect());
                 return nav.left <= link.left && link.right <= nav.right",
            );
            assert_eq!(is_seen, true, "at {width}");
            // The last choice of the switcher can be scrolled to.
            click(&browser, ".side [data-do=jump]");
            browser.type_keys("#switcher input", "lunch");
            shows(&browser, "#switcher [role=option]:nth-of-type(5)");
            browser.type_keys("#switcher input", super::UP);
            let is_seen = browser.execute(
                "const [option, dialog] = ['#switcher [aria-selected=true]', '#switcher']
                     .map((css) => document.querySelector(css).getBoundingClientRect());
                 return option.bottom <= dialog.bottom && dialog.bottom <= innerHeight",
            );
            assert_eq!(is_seen, true, "at {width}");
        }
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
