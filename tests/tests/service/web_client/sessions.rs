//! A browser in which one user signs in after another.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_both_databases};

use super::{MAIN, complaints, open, open_flow, ready, sees, sign_in, texts, write};

on_both_databases![
    a_page_sends_nothing_under_the_session_of_another_user,
    what_waits_in_another_room_is_sent_from_any_page,
    a_page_without_a_chat_is_left_with_the_session,
];

async fn a_page_sends_nothing_under_the_session_of_another_user(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let is_of = |user: &Caller| format!("document.body?.dataset.me === '{}'", user.id);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // Ben signs in in another tab.
        sign_in(&browser, &server, server.base_url(), &ben);
        write(&browser, "by Ada");
        browser.wait_for(&is_of(&ben));
        ready(&browser);
        assert_eq!(texts(&browser), [""; 0]);
        // The text waits for its author.
        sign_in(&browser, &server, server.base_url(), &ada);
        open_flow(&browser, &server, "");
        assert_eq!(browser.execute(&format!("return {}", is_of(&ada))), true);
        sees(&browser, "by Ada");
        let author = browser.execute("return document.querySelector('#chat article').dataset.user");
        assert_eq!(author, ada.id.to_string());
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn what_waits_in_another_room_is_sent_from_any_page(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // As if the page had gone before the server had answered.
        browser.execute(&format!(
            "const uuid = crypto.randomUUID();
             localStorage.setItem(
                 `eddyline-outbox:{}:flows/acme/side:${{uuid}}`,
                 JSON.stringify({{ uuid, text: 'late', thread: null, at: 1, failed: null }}),
             );",
            ada.id
        ));
        open_flow(&browser, &server, "");
        browser.wait_for("Object.keys(localStorage).every((key) => !key.includes('outbox'))");
        browser.open(&format!("{}/app/acme/side", server.base_url()));
        ready(&browser);
        assert_eq!(texts(&browser), ["late"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_page_without_a_chat_is_left_with_the_session(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "@ada, for your eyes only").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.open(&format!("{}/app/-/mentions", server.base_url()));
        ready(&browser);
        assert_eq!(browser.count("#mentions-list a"), 1);
        // Ada signs out in another tab.
        browser.execute(
            "fetch('/sign-out', {
                 method: 'POST', body: new URLSearchParams({ csrf: document.body.dataset.csrf }),
             });",
        );
        browser.wait_for("location.pathname === '/sign-in'");
        assert_eq!(browser.count("#mentions-list"), 0);
    });
}
