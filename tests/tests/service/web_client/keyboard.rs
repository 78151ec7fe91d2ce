//! All that talking takes can be done by the keyboard.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, PASSWORD, Server, on_sqlite};

use serde_json::json;

use crate::integrations::{Source, update};

use super::{ENTER, ESCAPE, MAIN, complaints, open, open_flow, ready, sees, shows, texts};

on_sqlite![
    the_keyboard_alone_leads_from_signing_in_to_an_answer_in_a_thread,
    a_key_leads_from_pane_to_pane,
    keys_lead_to_both_ends_of_the_chat,
];

const TAB: &str = "\u{e004}";
const SHIFT: &str = "\u{e008}";
const END: &str = "\u{e010}";
const HOME: &str = "\u{e011}";
const F6: &str = "\u{e036}";
/// More than any page here has stops of Tab.
const MOST_STOPS: usize = 60;

/// What has the focus.
const FOCUSED: &str = ":focus";

/// Presses Tab until the focus is on an element that a CSS selector finds. It must be seen there.
fn tab_to(browser: &Browser, css: &str) {
    go_to(browser, css, || browser.press_keys(TAB));
}

/// The same backwards.
fn tab_back_to(browser: &Browser, css: &str) {
    go_to(browser, css, || {
        browser.type_keys(FOCUSED, &format!("{SHIFT}{TAB}"));
    });
}

fn go_to(browser: &Browser, css: &str, step: impl Fn()) {
    let is_there = format!(
        "return document.activeElement.matches({})",
        serde_json::Value::from(css)
    );
    let mut stops = 0;
    while browser.execute(&is_there) != true {
        assert!(stops < MOST_STOPS, "Tab does not lead to {css}");
        step();
        stops += 1;
    }
    let is_seen = "const element = document.activeElement;
        const { top, bottom } = element.getBoundingClientRect();
        return element.checkVisibility() && element.matches(':focus-visible') && bottom > 0 && top < innerHeight";
    assert_eq!(browser.execute(is_seen), true, "{css} is not seen");
}

async fn the_keyboard_alone_leads_from_signing_in_to_an_answer_in_a_thread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Lunch?").await;
    tokio::task::block_in_place(|| {
        browser.open(&format!("{}/sign-in", server.base_url()));
        tab_to(&browser, "input[type=email], input[name=email]");
        browser.press_keys(&ada.email);
        tab_to(&browser, "input[type=password]");
        browser.press_keys(PASSWORD);
        browser.press_key_enter(FOCUSED);
        let flow = format!("a[href='/app/{MAIN}']");
        tab_to(&browser, &flow);
        browser.press_key_enter(FOCUSED);
        ready(&browser);

        tab_to(&browser, "#composer textarea");
        browser.press_keys("Good morning");
        browser.press_keys(ENTER);
        sees(&browser, "Good morning");

        // Into the chat, up to the question, and into its thread.
        tab_back_to(&browser, "#chat article");
        browser.press_keys("\u{e013}");
        let text = "return document.activeElement.querySelector('.text').textContent";
        assert_eq!(browser.execute(text), "Lunch?");
        browser.press_key_enter(FOCUSED);
        ready(&browser);
        shows(&browser, "#thread article[data-id]");
        tab_to(&browser, "#reply textarea");
        browser.press_keys("At noon");
        browser.press_keys(ENTER);
        browser.wait_for("document.querySelectorAll('#thread article[data-id]').length === 2");
        sees(&browser, "At noon");
        // Escape leads back to the chat.
        browser.press_keys(ESCAPE);
        browser.wait_for("!document.querySelector('#thread')");
        ready(&browser);
        assert_eq!(texts(&browser), ["Lunch?", "Good morning", "At noon"]);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_key_leads_from_pane_to_pane(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    let state = json!({"title": "Gateway drops packets"});
    source.push(&update("212", "opened it", &state)).await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        for place in [
            ".tab[aria-current]",
            "#composer textarea",
            "#inbox .rows a",
            ".tab[aria-current]",
        ] {
            browser.press_keys(F6);
            browser.wait_for(&format!("document.activeElement.matches('{place}')"));
        }
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn keys_lead_to_both_ends_of_the_chat(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    // Three times what the page of a message has.
    ben.flood(MAIN, 150, |number| format!("message {number}"))
        .await;
    let focused = "Number(document.activeElement.dataset.id)";
    let first = "Number(document.querySelector('#chat article').dataset.id)";
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/messages/5");
        assert_eq!(browser.count("#chat article[data-id='150']"), 0);
        browser.execute("document.querySelector('article.here').focus()");
        browser.press_keys(END);
        browser.wait_for(&format!("{focused} === 150"));
        shows(&browser, "button.newer[hidden]");
        // There is nothing beyond.
        browser.press_keys(END);
        browser.wait_for(&format!("{focused} === 150"));

        // Home leads to the first one that is there, above which more are loaded.
        while browser.execute(&format!("return {focused}")) != 1 {
            browser.press_keys(HOME);
            browser.wait_for(&format!("{focused} === 1 || {first} < {focused}"));
        }
        browser.press_keys(END);
        browser.wait_for(&format!("{focused} === 150"));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
