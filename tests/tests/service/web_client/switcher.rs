//! The switcher: what it offers, and how that is called.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use super::late::{hold, is_held, let_go};
use super::{DOWN, ENTER, MAIN, UP, click, complaints, open, open_flow, ready, shows};

on_sqlite![
    titles_of_threads_show_no_markdown,
    it_says_that_the_server_is_away,
    a_command_stays_marked_when_more_is_known,
];
on_sqlite![it_ends_with_a_search_for_what_was_typed];

fn open_switcher(browser: &Browser, letters: &str) {
    click(browser, ".side [data-do=jump]");
    shows(browser, "#switcher[open]");
    browser.type_keys("#switcher input", letters);
}

/// Waits until the last choice that the selector finds says this.
fn offers(browser: &Browser, css: &str, text: &str) {
    browser.wait_for(&format!(
        "[...document.querySelectorAll('#switcher [role=option]{css} .t')].at(-1)?.textContent === {}",
        json!(text)
    ));
}

async fn titles_of_threads_show_no_markdown(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let answered = async |text: &str| {
        let root = ben.say(MAIN, text).await;
        let reply =
            json!({"event": "message", "content": "Where?", "thread_id": root["thread_id"]});
        ben.post(MAIN, &reply).await;
    };
    answered("**Whale** at `pier 3`").await;
    // It is not answered, so that the page knows it from the search only.
    ben.say(MAIN, "_Dolphin_ at pier 4").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.set_window_size(1440, 900);
        for (letters, title) in [
            ("whale at", "Whale at pier 3"),
            ("dolphin", "Dolphin at pier 4"),
        ] {
            open_flow(&browser, &server, "");
            open_switcher(&browser, letters);
            offers(&browser, "[aria-selected=true]", title);
            browser.type_keys("#switcher input", ENTER);
            browser.wait_for("location.pathname.includes('/threads/')");
        }
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn it_says_that_the_server_is_away(mut server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| open(&browser, &server, &ada));
    server.kill9();
    tokio::task::block_in_place(|| {
        open_switcher(&browser, "whale");
        browser.wait_for(
            "[...document.querySelectorAll('#switcher .group')]
                 .some((place) => place.textContent.includes('the server can\u{2019}t be reached'))",
        );
        assert!(!browser.text().contains("Nothing found"));
    });
}

async fn it_ends_with_a_search_for_what_was_typed(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    // No title has these words.
    let root = ben.say(MAIN, "Lunch?").await;
    let reply = json!({"event": "message", "content": "A whale & a dolphin", "thread_id": root["thread_id"]});
    ben.post(MAIN, &reply).await;
    let is_at = |path: &str| browser.wait_for(&format!("location.pathname === '{path}'"));
    let asks = |words: &str| {
        browser.wait_for(&format!(
            "document.querySelector('main [name=q]')?.value === {}",
            json!(words)
        ));
        assert!(browser.text().contains("A whale & a dolphin"));
    };
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        // Nothing else has such a name.
        open_switcher(&browser, "dolphin & whale");
        shows(&browser, "#switcher .group");
        let label = "Search for \u{201c}dolphin & whale\u{201d} in messages";
        offers(&browser, "[aria-selected=true]", label);
        assert_eq!(browser.audit(), [""; 0]);
        browser.type_keys("#switcher input", ENTER);
        is_at(&format!("/app/{MAIN}/search"));
        asks("dolphin & whale");

        // It stands behind all else, one key above the first choice.
        open_flow(&browser, &server, "");
        open_switcher(&browser, "a");
        offers(&browser, "", "Search for \u{201c}a\u{201d} in messages");
        assert!(browser.count("#switcher [role=option]") > 1);
        browser.type_keys("#switcher input", UP);
        offers(
            &browser,
            "[aria-selected=true]",
            "Search for \u{201c}a\u{201d} in messages",
        );

        // Outside of a flow it searches all messages.
        browser.open(&format!("{}/app/-/private/{}", server.base_url(), ben.id));
        ready(&browser);
        open_switcher(&browser, "dolphin");
        offers(
            &browser,
            "",
            "Search for \u{201c}dolphin\u{201d} in messages",
        );
        browser.type_keys("#switcher input", UP);
        browser.type_keys("#switcher input", ENTER);
        is_at("/app/-/search");
        asks("dolphin");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_command_stays_marked_when_more_is_known(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        hold(
            &browser,
            "(method, path) => (path.endsWith('/flows/all') ? 'after' : undefined)",
        );
        open_switcher(&browser, "e");
        let marked = "document.querySelector('#switcher [aria-selected=true] .t')?.textContent";
        let is_command = format!("{marked} === 'Threads of this flow'");
        browser.wait_for("document.querySelectorAll('#switcher [role=option]').length > 3");
        for _ in 0..20 {
            if browser.execute(&format!("return {is_command}")) == true {
                break;
            }
            browser.type_keys("#switcher input", DOWN);
        }
        browser.wait_for(&is_command);
        is_held(&browser);
        browser.execute("document.querySelector('#switcher [role=option]').isOfBefore = true");
        let_go(&browser);
        browser.wait_for("!document.querySelector('#switcher [role=option]').isOfBefore");
        browser.wait_for(&is_command);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
