//! Action buttons in the head of a thread: the page shows the outcome, and a link where the user
//! has to sign in first.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Server, on_both_databases};

use super::{Stage, push, update};
use crate::receiver::{Answer, status, with_headers};
use crate::web_client::{open, open_flow};

on_both_databases![crate::actions::OPTIONS;
    a_button_shows_its_outcome_and_where_to_sign_in_first,
];
on_both_databases![&["--allow-private-targets"];
    enter_pressed_again_triggers_no_other_action,
];

const OUTCOME: &str = ".head .told";

fn shows_outcome(browser: &Browser, text: &str) {
    browser.wait_for(&format!(
        "document.querySelector('{OUTCOME}:not([hidden])')?.textContent.includes('{text}')"
    ));
}

async fn a_button_shows_its_outcome_and_where_to_sign_in_first(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let url = "https://tracker.example/sign-in?claim=1";
    let challenge = format!("www-authenticate: Service-Token url={url}\r\n");
    let press = || browser.execute("document.querySelector('[data-action]').click()");
    stage
        .receiver
        .answers(Answer::Text(with_headers("401 Unauthorized", &challenge)));
    tokio::task::block_in_place(|| {
        open(&browser, &stage.server, &stage.acme.ben);
        open_flow(&browser, &stage.server, &format!("/threads/{thread}"));
        press();
        shows_outcome(&browser, "wants you to sign in there first");
        let link = browser.execute(&format!(
            "return document.querySelector('{OUTCOME} a[target=\"_blank\"]').href"
        ));
        assert_eq!(link, url);
    });
    // Having done so, the user tries again.
    stage.receiver.answers(Answer::Text(status("200 OK")));
    tokio::task::block_in_place(|| {
        press();
        shows_outcome(&browser, "done");
        assert_eq!(browser.count(&format!("{OUTCOME} a")), 0);
    });
    stage
        .receiver
        .answers(Answer::Text(status("500 Internal Server Error")));
    tokio::task::block_in_place(|| {
        press();
        shows_outcome(&browser, "answered with status 500");
    });
}

/// Waits until the head offers one action, with this name.
fn offers(browser: &Browser, name: &str) {
    browser.wait_for(&format!(
        "document.querySelector('[data-action]')?.textContent === '{name}'"
    ));
}

async fn enter_pressed_again_triggers_no_other_action(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let stage = Stage::set(server).await;
    let action = |name: &str| update(name, "POST", &stage.receiver.url(&format!("/{name}")));
    let brings = async |name: &str| push(&stage.source, "1", &[action(name)]).await;
    let enter = "\u{e007}";
    let thread = brings("Approve").await;
    stage.receiver.answers(Answer::Silence);
    tokio::task::block_in_place(|| {
        open(&browser, &stage.server, &stage.acme.ben);
        open_flow(&browser, &stage.server, &format!("/threads/{thread}"));
        browser.execute("document.querySelector('[data-action]').focus()");
        browser.press_keys(enter);
    });
    stage.receiver.is_asked(1).await;
    // The next state of the item is there before the integration has answered.
    brings("Revoke").await;
    tokio::task::block_in_place(|| {
        offers(&browser, "Revoke");
        browser.wait_for("document.activeElement.matches('.thread h2')");
        browser.press_keys(enter);
        browser.execute("document.querySelector('[data-action]').click()");
    });
    stage.receiver.answers(Answer::Text(status("200 OK")));
    stage.receiver.let_go();
    tokio::task::block_in_place(|| {
        shows_outcome(&browser, "Approve: done");
        browser.wait_for(&format!("document.activeElement.matches('{OUTCOME}')"));
        browser.press_keys(enter);
    });
    // It stays there when the actions change once more.
    brings("Close").await;
    tokio::task::block_in_place(|| {
        offers(&browser, "Close");
        browser.wait_for(&format!("document.activeElement.matches('{OUTCOME}')"));
        browser.press_keys(enter);
        browser.execute("document.querySelector('[data-action]').click()");
        shows_outcome(&browser, "Close: done");
    });
    let asked = stage.receiver.asked();
    let paths: Vec<&str> = asked.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/Approve", "/Close"]);
}
