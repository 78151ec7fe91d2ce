//! The marks of threads, by which users tell them apart, and the head of a thread with what its
//! source says of it.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_both_databases};
use serde_json::{Value, json};

use crate::integrations::{Source, update};

use super::{MAIN, complaints, open, open_flow, shows};

on_both_databases![
    a_thread_has_the_same_mark_for_all_and_everywhere,
    the_title_of_a_thread_changes_with_its_first_message,
    the_head_of_a_thread_shows_what_its_source_says_of_it,
];

/// Says something and has it answered.
async fn talk(who: &Caller, text: &str) -> String {
    let root = who.say(MAIN, text).await;
    let thread = root["thread_id"].as_str().unwrap().to_owned();
    let path = format!("/flows/{MAIN}/threads/{thread}/messages");
    let answer = json!({"event": "message", "content": format!("on {text}")});
    who.does(Method::POST, &path, &answer).await;
    thread
}

/// How the mark within an element is drawn: its hue, its shape, and what the browser makes of them.
fn mark(browser: &Browser, css: &str) -> Value {
    browser.execute(&format!(
        "const place = document.querySelector({});
         const shape = place.querySelector('.shape');
         const drawn = getComputedStyle(shape);
         return [shape.closest('[data-hue]').dataset.hue, shape.dataset.shape, drawn.backgroundColor,
                 drawn.boxShadow, drawn.borderRadius, drawn.transform];",
        Value::from(css)
    ))
}

async fn a_thread_has_the_same_mark_for_all_and_everywhere(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let mut threads = Vec::new();
    for text in ["tea", "lunch", "whales"] {
        threads.push(talk(&ben, text).await);
    }
    tokio::task::block_in_place(|| {
        for (browser, who) in [(&one, &ada), (&other, &ben)] {
            browser.set_window_size(1440, 900);
            open(browser, &server, who);
        }
    });
    // The page of the server has the first ones, and the script draws this one.
    threads.push(talk(&ben, "stars").await);
    tokio::task::block_in_place(|| {
        let mut marks = Vec::new();
        for thread in &threads {
            let row = format!("#chat article.knot[data-thread='{thread}']");
            for browser in [&one, &other] {
                shows(browser, &row);
            }
            let drawn = mark(&one, &row);
            assert_eq!(mark(&other, &row), drawn);
            marks.push((thread, row, drawn));
        }
        for (thread, row, drawn) in &marks {
            open_flow(&one, &server, "/threads");
            let in_list = format!("#inbox a[href$='/threads/{thread}']");
            assert_eq!(mark(&one, &in_list), *drawn, "in the list");
            open_flow(&one, &server, &format!("/threads/{thread}"));
            assert_eq!(mark(&one, row), *drawn, "on a page made anew");
            assert_eq!(mark(&one, ".thread .bar"), *drawn, "in its head");
        }
        for browser in [&one, &other] {
            assert_eq!(complaints(browser), [""; 0]);
        }
    });
}

/// The texts of elements.
fn texts_of(browser: &Browser, css: &str) -> Value {
    browser.execute(&format!(
        "return [...document.querySelectorAll('{css}')].map((place) => place.textContent.trim())"
    ))
}

async fn the_title_of_a_thread_changes_with_its_first_message(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "the door code is 4711").await;
    let thread = root["thread_id"].as_str().unwrap();
    ben.say(MAIN, "Lunch").await;
    let path = format!("/flows/{MAIN}/threads/{thread}/messages");
    let answer = json!({"event": "message", "content": "Thanks"});
    ben.does(Method::POST, &path, &answer).await;
    let message = format!("/flows/{MAIN}/messages/{}", root["id"]);
    let titles = |browser: &Browser, title: &str| {
        for place in ["#chat .about-on .about span", "#thread-title"] {
            browser.wait_for(&format!(
                "document.querySelector('{place}').textContent === '{title}'"
            ));
        }
    };
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &format!("/threads/{thread}"));
        titles(&browser, "the door code is 4711");
    });
    ben.does(Method::PUT, &message, &json!({"content": "the door"}))
        .await;
    tokio::task::block_in_place(|| titles(&browser, "the door"));
    ben.does(Method::DELETE, &message, &json!({})).await;
    tokio::task::block_in_place(|| {
        browser.wait_for("document.querySelector('#thread-title').textContent === 'Deleted'");
        browser.wait_for("!document.querySelector('#main').textContent.includes('the door')");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_head_of_a_thread_shows_what_its_source_says_of_it(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    let state = json!({
        "title": "Gateway drops packets",
        "body": "<p>Since <b>noon</b>.</p><script>alert(1)</script>",
        "status": {"color": "red", "value": "Open"},
        "fields": [{"label": "Owner", "value": "<i>Zoë</i>"}, {"label": "Priority", "value": "high"}],
        "external_url": "https://ledger.example/212",
    });
    let pushed = source.push(&update("212", "opened it", &state)).await;
    let thread = pushed["thread_id"].as_str().unwrap();
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &format!("/threads/{thread}"));
        assert_eq!(
            texts_of(&browser, ".thread #thread-title"),
            json!(["Gateway drops packets"])
        );
        assert_eq!(
            texts_of(&browser, "#thread-chip .chip.red"),
            json!(["Open"])
        );
        assert_eq!(
            texts_of(&browser, ".thread .fields > div > *"),
            json!(["Owner", "Zoë", "Priority", "high"])
        );
        assert_eq!(texts_of(&browser, ".thread .story b"), json!(["noon"]));
        assert_eq!(
            browser.attribute(".thread .acts a", "href").as_deref(),
            Some("https://ledger.example/212")
        );
        assert_eq!(browser.audit(), [""; 0]);
    });
    // A new state takes its place while the page is open.
    let state = json!({
        "title": "Gateway drops packets", "body": "<p>Until one.</p>",
        "status": {"color": "green", "value": "Solved"},
        "fields": [{"label": "Owner", "value": "Ada"}],
    });
    source.push(&update("212", "closed it", &state)).await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#thread-chip .chip.green");
        browser.wait_for(
            "document.querySelector('.thread .story').textContent.trim() === 'Until one.'",
        );
        assert_eq!(
            texts_of(&browser, ".thread .fields > div > *"),
            json!(["Owner", "Ada"])
        );
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
