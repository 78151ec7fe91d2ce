//! On a small screen Back takes away what lies over the page, instead of leaving the page.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use super::{ESCAPE, MAIN, click, complaints, open, open_flow, ready, shows};

on_sqlite![
    back_closes_the_drawer,
    a_drawer_that_is_closed_leaves_nothing_in_the_history,
    a_link_of_the_drawer_leads_away_from_the_page_itself,
    back_closes_dialogs,
    a_choice_in_the_switcher_is_one_step,
];

/// A flow on a phone, to which the browser came from another page.
fn on_a_phone(browser: &Browser, server: &Server, acme: &Acme) {
    browser.set_window_size(390, 844);
    open(browser, server, &acme.ada);
    browser.open(&format!("{}/account", server.base_url()));
    open_flow(browser, server, "");
}

fn open_drawer(browser: &Browser) {
    click(browser, ".talk [data-drawer-opener]");
    shows(browser, "body[data-drawer]");
}

fn back(browser: &Browser) {
    browser.execute("history.back()");
}

/// Waits until the drawer is closed and its entry has left the history.
fn has_no_drawer(browser: &Browser) {
    browser.wait_for("document.body.dataset.drawer === undefined && history.state === null");
}

fn is_at(browser: &Browser, path: &str) {
    browser.wait_for(&format!("location.pathname === '{path}'"));
}

async fn back_closes_the_drawer(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let acme = server.acme();
    tokio::task::block_in_place(|| {
        on_a_phone(&browser, &server, &acme);
        open_drawer(&browser);
        back(&browser);
        has_no_drawer(&browser);
        shows(&browser, ".talk [data-drawer-opener]:focus");
        is_at(&browser, &format!("/app/{MAIN}"));
        back(&browser);
        is_at(&browser, "/account");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_drawer_that_is_closed_leaves_nothing_in_the_history(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let acme = server.acme();
    tokio::task::block_in_place(|| {
        on_a_phone(&browser, &server, &acme);
        let before = browser.execute("return history.length").as_i64().unwrap();
        for _ in 0..3 {
            open_drawer(&browser);
            browser.press_keys(ESCAPE);
            has_no_drawer(&browser);
        }
        // The entry of the last drawer is there for Forward, until the next step.
        let after = browser.execute("return history.length").as_i64().unwrap();
        assert_eq!(after, before + 1);
        browser.execute("history.forward()");
        browser.wait_for("history.state === null");
        back(&browser);
        is_at(&browser, "/account");
        // A page that was made anew has no drawer, and no entry of one.
        open_flow(&browser, &server, "");
        open_drawer(&browser);
        browser.execute("location.reload()");
        browser.wait_for("document.documentElement.dataset.ready !== undefined");
        has_no_drawer(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_link_of_the_drawer_leads_away_from_the_page_itself(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let acme = server.acme();
    server.flow("acme", "other", &[&acme.ada]);
    tokio::task::block_in_place(|| {
        on_a_phone(&browser, &server, &acme);
        open_drawer(&browser);
        click(&browser, ".side .tab[data-api='acme/other']");
        is_at(&browser, "/app/acme/other");
        ready(&browser);
        back(&browser);
        is_at(&browser, &format!("/app/{MAIN}"));
        has_no_drawer(&browser);
        back(&browser);
        is_at(&browser, "/account");
    });
}

async fn back_closes_dialogs(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let acme = server.acme();
    tokio::task::block_in_place(|| {
        on_a_phone(&browser, &server, &acme);
        for (opener, dialog) in [("jump", "switcher"), ("notices", "notices")] {
            open_drawer(&browser);
            click(&browser, &format!(".side [data-do={opener}]"));
            shows(&browser, &format!("#{dialog}[open]"));
            back(&browser);
            browser.wait_for(&format!("!document.querySelector('#{dialog}').open"));
            shows(&browser, "body[data-drawer]");
            back(&browser);
            has_no_drawer(&browser);
        }
        // On a large screen a dialog fills no window, and Back leaves the page.
        browser.set_window_size(1440, 900);
        click(&browser, ".side [data-do=jump]");
        shows(&browser, "#switcher[open]");
        assert_eq!(browser.execute("return history.state"), json!(null));
        back(&browser);
        is_at(&browser, "/account");
    });
}

async fn a_choice_in_the_switcher_is_one_step(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let acme = server.acme();
    tokio::task::block_in_place(|| {
        on_a_phone(&browser, &server, &acme);
        browser.press_keys("?");
        shows(&browser, "#keys[open]");
        browser.press_keys(ESCAPE);
        has_no_drawer(&browser);
        open_drawer(&browser);
        click(&browser, ".side [data-do=jump]");
        browser.type_keys("#switcher input", "Files of this flow");
        browser.wait_for("document.querySelectorAll('#switcher [role=option]').length > 0");
        browser.type_keys("#switcher input", super::ENTER);
        is_at(&browser, &format!("/app/{MAIN}/files"));
        browser.wait_for("document.querySelector('#inbox').dataset.list === 'files'");
        back(&browser);
        is_at(&browser, &format!("/app/{MAIN}"));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
