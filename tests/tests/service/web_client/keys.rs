//! Keys that write, change and answer messages, and lead to other flows.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_sqlite};
use serde_json::{Value, json};

use crate::integrations::{Source, activity};

use super::late::{hold, is_held, let_go};
use super::{
    DOWN, ENTER, ESCAPE, MAIN, WRITE, complaints, open, open_flow, ready, sees, shows, texts,
};

on_sqlite![
    shift_enter_begins_a_line_and_sends_nothing,
    single_keys_answer_change_and_delete_the_message_with_the_focus,
    an_edit_that_is_answered_late_leaves_the_focus_where_it_is,
    the_message_of_another_user_is_neither_changed_nor_deleted,
    the_last_message_with_a_text_is_the_one_to_edit,
    a_key_copies_the_address_of_a_message,
    a_key_leads_to_the_search,
    a_key_opens_the_choice_of_files,
    keys_lead_to_the_flows_above_and_below,
    in_a_thread_the_keys_write_into_the_thread,
    the_next_mention_may_stand_in_the_inbox,
];

const ALT: &str = "\u{e00a}";
const CONTROL: &str = "\u{e009}";
const DELETE: &str = "\u{e017}";
const RELEASE: &str = "\u{e000}";
const SHIFT: &str = "\u{e008}";
const UP: &str = "\u{e013}";

/// Gives the focus to the row with this text.
fn focus(browser: &Browser, text: &str) {
    browser.execute(&format!(
        "[...document.querySelectorAll('#chat article')]
             .find((row) => row.querySelector('.text').textContent === {}).focus()",
        Value::from(text)
    ));
}

/// Waits until the field has this text.
#[track_caller]
fn is_written(browser: &Browser, text: &str) {
    browser.wait_for(&format!(
        "document.querySelector('{WRITE}').value === {}",
        Value::from(text)
    ));
}

async fn shift_enter_begins_a_line_and_sends_nothing(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let height = "return document.querySelector('#composer textarea').clientHeight";
        browser.type_keys(WRITE, "one");
        let low = browser.execute(height).as_i64().unwrap();
        browser.type_keys(WRITE, &format!("{SHIFT}{ENTER}{RELEASE}two"));
        is_written(&browser, "one\ntwo");
        assert!(
            browser.execute(height).as_i64().unwrap() > low,
            "both lines are seen"
        );
        assert_eq!(texts(&browser), [""; 0]);
        browser.type_keys(WRITE, ENTER);
        browser.wait_for("document.querySelector('#chat article[data-id]')");
        assert_eq!(browser.count("#chat article"), 1);
        assert_eq!(complaints(&browser), [""; 0]);
    });
    let sent = ada.get(&format!("/flows/{MAIN}/messages")).await;
    assert_eq!(sent[0]["content"], "one\ntwo");
}

async fn single_keys_answer_change_and_delete_the_message_with_the_focus(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Lunch?").await;
    ada.say(MAIN, "Helo").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        focus(&browser, "Lunch?");
        browser.press_keys("r");
        shows(&browser, "#composer .to:not([hidden])");
        let hint =
            browser.execute("return document.querySelector('#composer .to small').textContent");
        assert_eq!(hint, "Esc leaves the thread");
        is_written(&browser, "");
        browser.press_keys(&format!("At noon{ENTER}"));
        sees(&browser, "At noon");
        browser.press_keys(ESCAPE);
        browser.wait_for("document.querySelector('#composer .to').hidden");
        let threads = browser.execute(
            "const of = (text) => [...document.querySelectorAll('#chat article')]
                 .find((row) => row.querySelector('.text').textContent === text).dataset.thread;
             return of('Lunch?') === of('At noon')",
        );
        assert_eq!(threads, true, "it is an answer");

        focus(&browser, "Helo");
        browser.press_keys("e");
        is_written(&browser, "Helo");
        browser.execute(&format!("document.querySelector('{WRITE}').select()"));
        browser.press_keys(&format!("Hello{ENTER}"));
        sees(&browser, "Hello (edited)");

        // The message stays if the reader says no.
        focus(&browser, "Hello (edited)");
        browser.press_keys(DELETE);
        shows(&browser, "#delete[open]");
        let quoted =
            browser.execute("return document.querySelector('#delete blockquote').textContent");
        assert_eq!(quoted, "Hello (edited)");
        browser.press_keys(ESCAPE);
        shows(&browser, "article[data-mine]:focus");
        browser.press_keys(DELETE);
        shows(&browser, "#delete[open] [value='']:focus");
        browser.press_keys(ENTER);
        shows(&browser, "article[data-mine]:focus");
        assert_eq!(texts(&browser), ["Lunch?", "Hello (edited)", "At noon"]);
        // The step back in the history for one dialog closes no other that opens meanwhile.
        browser.press_keys(DELETE);
        browser.execute(
            "const again = new KeyboardEvent('keydown', { key: 'Delete', bubbles: true });
             const dialog = document.querySelector('#delete');
             addEventListener('popstate', () => (window.wentBack = true), { once: true });
             dialog.addEventListener('close', () => document.activeElement.dispatchEvent(again), { once: true });
             dialog.close();",
        );
        shows(&browser, "#delete[open] [value='']:focus");
        browser.wait_for("window.wentBack");
        shows(&browser, "#delete[open] [value='']:focus");
        browser.press_keys(ESCAPE);
        shows(&browser, "article[data-mine]:focus");
        // The answer to one question is none to the next, which opens at once.
        browser.press_keys(DELETE);
        browser.execute(
            "document.querySelector('#delete').close();
             const key = new KeyboardEvent('keydown', { key: 'Delete', bubbles: true });
             document.activeElement.dispatchEvent(key);",
        );
        super::click(&browser, "#delete[open] [value='delete']");
        sees(&browser, "Deleted");
        shows(&browser, "article[data-mine]:focus .gone");
        assert_eq!(texts(&browser), ["Lunch?", "Deleted", "At noon"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn an_edit_that_is_answered_late_leaves_the_focus_where_it_is(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    ada.say(MAIN, "Helo").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        hold(
            &browser,
            "(method) => method === 'PUT' ? 'after' : undefined",
        );
        focus(&browser, "Helo");
        browser.press_keys("e");
        is_written(&browser, "Helo");
        browser.press_keys(&format!("!{ENTER}"));
        // The stream is faster than the answer.
        sees(&browser, "Helo! (edited)");
        is_held(&browser);
        focus(&browser, "Helo! (edited)");
        let_go(&browser);
        browser.wait_for("document.querySelector('#composer .to').hidden");
        assert_eq!(browser.count("article[data-mine]:focus"), 1);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_message_of_another_user_is_neither_changed_nor_deleted(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Lunch?").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        focus(&browser, "Lunch?");
        browser.press_keys(DELETE);
        browser.press_keys("e");
        // A letter in a field is a letter.
        browser.press_keys("c");
        browser.press_keys(&format!("re{ENTER}"));
        sees(&browser, "re");
        assert_eq!(browser.count("dialog[open]"), 0);
        assert_eq!(texts(&browser), ["Lunch?", "re"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_last_message_with_a_text_is_the_one_to_edit(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ada.say(MAIN, "Helo").await;
    let content = json!({"data": "dGVh", "content_type": "text/plain", "file_name": "tea.txt"});
    let file = json!({"event": "file", "content": content});
    ada.post(MAIN, &file).await;
    ben.say(MAIN, "Thanks").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, "#chat .file");
        browser.type_keys(WRITE, UP);
        is_written(&browser, "Helo");
        browser.type_keys(WRITE, &format!(", hello{ENTER}"));
        sees(&browser, "Helo, hello (edited)");

        // The file itself has nothing to edit.
        browser.execute("document.querySelector('#chat article:has(.file)').focus()");
        assert_eq!(browser.count("#chat article:has(.file) [data-do=edit]"), 0);
        browser.press_keys("e");
        browser.press_keys("c");
        browser.wait_for(&format!("document.activeElement.matches('{WRITE}')"));
        is_written(&browser, "");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_key_copies_the_address_of_a_message(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Lunch?").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let allowed = json!({"origin": server.base_url(), "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
        browser.command("Browser.grantPermissions", &allowed);
        focus(&browser, "Lunch?");
        browser.press_keys("l");
        shows(&browser, "#notice:not([hidden])");
        let copied = browser.execute("return navigator.clipboard.readText()");
        let address = copied.as_str().unwrap();
        assert_eq!(
            address,
            format!("{}/app/{MAIN}/messages/1", server.base_url())
        );
        browser.open(address);
        ready(&browser);
        shows(&browser, "article.here[data-id='1']");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_key_leads_to_the_search(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Where is the kettle?").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        focus(&browser, "Where is the kettle?");
        browser.press_keys("/");
        browser.wait_for("document.activeElement.matches('#inbox [name=q]')");
        browser.press_keys(&format!("kettle{ENTER}"));
        shows(&browser, ".found mark");
        // A private conversation has no list: there all rooms are searched.
        browser.open(&format!("{}/app/-/private/{}", server.base_url(), ben.id));
        ready(&browser);
        browser.press_keys(&format!("a/b{ESCAPE}/"));
        browser.wait_for("location.pathname === '/app/-/search'");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_key_opens_the_choice_of_files(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // The choice itself is a window of the system.
        browser.execute(
            "window.opened = 0;
             document.querySelector('#composer input[type=file]').addEventListener('click', (event) => {
                 event.preventDefault();
                 window.opened += 1;
             });",
        );
        browser.type_keys(WRITE, &format!("{CONTROL}{SHIFT}u{RELEASE}"));
        browser.wait_for("window.opened === 1");
        browser.execute("document.activeElement.blur()");
        browser.type_keys("body", &format!("{CONTROL}{SHIFT}u{RELEASE}"));
        browser.wait_for("window.opened === 2");
        is_written(&browser, "");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

/// Writes privately, which begins a conversation.
async fn write_privately(from: &Caller, to: &Caller) {
    let text = json!({"event": "message", "content": "psst"});
    let path = format!("/private/{}/messages", to.id);
    from.does(Method::POST, &path, &text).await;
}

async fn keys_lead_to_the_flows_above_and_below(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for name in ["north", "south"] {
        server.flow("acme", name, &[&ada, &ben]);
    }
    write_privately(&ben, &ada).await;
    let private = format!("/app/-/private/{}", ben.id);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let go = |keys: &str, path: &str| {
            // Also from the field, where the keys are none of its own.
            browser.type_keys(WRITE, &format!("{keys}{RELEASE}"));
            browser.wait_for(&format!("location.pathname === '{path}'"));
            ready(&browser);
        };
        let below = format!("{ALT}{DOWN}");
        let above = format!("{ALT}{UP}");
        for path in ["/app/acme/north", "/app/acme/south", &private] {
            go(&below, path);
        }
        // Behind the last one comes the first.
        go(&below, &format!("/app/{MAIN}"));
        go(&above, &private);
        go(&above, "/app/acme/south");
        go(&above, "/app/acme/north");
        open_flow(&browser, &server, "");
    });
    ben.say("acme/south", "news").await;
    tokio::task::block_in_place(|| {
        shows(&browser, ".tab.unread[data-api='acme/south']");
        // With Shift only where something is unread.
        browser.type_keys(WRITE, &format!("{ALT}{SHIFT}{DOWN}{RELEASE}"));
        browser.wait_for("location.pathname === '/app/acme/south'");
    });
    ben.say(MAIN, "news").await;
    tokio::task::block_in_place(|| {
        ready(&browser);
        shows(&browser, &format!(".tab.unread[data-api='{MAIN}']"));
        // Also where that stands above.
        browser.type_keys(WRITE, &format!("{ALT}{SHIFT}{DOWN}{RELEASE}"));
        browser.wait_for(&format!("location.pathname === '/app/{MAIN}'"));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn in_a_thread_the_keys_write_into_the_thread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "Lunch?").await;
    let thread = root["thread_id"].as_str().unwrap().to_owned();
    let has_focus =
        |css: &str| browser.wait_for(&format!("document.activeElement.matches('{css}')"));
    let leaves = || browser.execute("document.activeElement.blur()");
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &format!("/threads/{thread}"));
        leaves();
        browser.type_keys("body", "r");
        has_focus("#reply textarea");
        for css in ["#thread article", "#chat article"] {
            leaves();
            browser.execute(&format!("document.querySelector('{css}').focus()"));
            browser.type_keys(&format!("{css}[data-id]"), "c");
            has_focus(if css.starts_with("#thread") {
                "#reply textarea"
            } else {
                WRITE
            });
        }
        browser.execute("document.querySelector('#thread article').focus()");
        browser.type_keys("#thread article", "r");
        has_focus("#reply textarea");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_next_mention_may_stand_in_the_inbox(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "@ada hello").await;
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        focus(&browser, "@ada hello");
    });
    let mut mention = activity("1", "opened");
    mention["tags"] = json!(["@ada"]);
    source.push(&mention).await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#mentions .count:not([hidden])");
        browser.type_keys("#chat article[tabindex='0']", "m");
        browser.wait_for("location.pathname === '/app/-/mentions'");
        ready(&browser);
        assert_eq!(browser.count("#mentions-list li.unread"), 1);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
