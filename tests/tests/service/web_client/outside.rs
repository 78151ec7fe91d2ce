//! Pages without a chat are live, too.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{MAIN, complaints, open, shows};

on_both_databases![
    the_tabs_beside_settings_count,
    the_list_of_mentions_grows,
    the_list_of_mentions_tells_which_are_unread,
];

async fn the_tabs_beside_settings_count(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.open(&format!("{}/account", server.base_url()));
    });
    let mention = ben.say(MAIN, "@ada look").await;
    let private = json!({"event": "message", "content": "psst"});
    let path = format!("/private/{}/messages", ada.id);
    ben.does(Method::POST, &path, &private).await;
    let tab = format!(".tab[data-api='{MAIN}']");
    tokio::task::block_in_place(|| {
        shows(&browser, &format!("{tab}.unread .count.hot:not([hidden])"));
        // The conversation is new to the page.
        shows(&browser, &format!(".tab[data-private='{}'].unread", ben.id));
        browser.wait_for("document.title.startsWith('(2) ')");
    });
    // Another device of the reader's reads.
    let marker = json!({"message": mention["id"]});
    let path = format!("/flows/{MAIN}/read");
    ada.does(Method::PUT, &path, &marker).await;
    tokio::task::block_in_place(|| {
        shows(&browser, &format!("{tab}:not(.unread) .count[hidden]"));
        browser.wait_for("document.title.startsWith('(1) ')");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_list_of_mentions_grows(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.open(&format!("{}/app/-/mentions", server.base_url()));
        shows(&browser, "#mentions-list .none");
    });
    ben.say(MAIN, "@ada look at this").await;
    tokio::task::block_in_place(|| {
        browser.wait_for(
            "document.querySelector('#mentions-list .excerpt')?.textContent === '@ada look at this'",
        );
        assert_eq!(browser.count("#mentions-list .none"), 0);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_list_of_mentions_tells_which_are_unread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let read_up_to = async |message: &serde_json::Value| {
        let path = format!("/flows/{MAIN}/read");
        let body = json!({"message": message["id"]});
        ada.does(Method::PUT, &path, &body).await;
    };
    let rows = |browser: &Browser| {
        browser.execute(
            "return [...document.querySelectorAll('#mentions-list li')].map((item) => [
                 item.className,
                 item.querySelector('.who').textContent.startsWith('Unread: '),
                 item.querySelector('.excerpt').textContent,
             ])",
        )
    };
    let first = ben.say(MAIN, "@ada **first**").await;
    tokio::task::block_in_place(|| open(&browser, &server, &ada));
    read_up_to(&first).await;
    tokio::task::block_in_place(|| {
        browser.open(&format!("{}/app/-/mentions", server.base_url()));
        super::ready(&browser);
        assert_eq!(rows(&browser), json!([["", false, "@ada first"]]));
    });
    let second = ben.say(MAIN, "@ada second").await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#mentions-list .unread");
        let shown = json!([["unread", true, "@ada second"], ["", false, "@ada first"]]);
        assert_eq!(rows(&browser), shown);
    });
    read_up_to(&second).await;
    tokio::task::block_in_place(|| {
        browser.wait_for("!document.querySelector('#mentions-list .unread')");
        let shown = json!([["", false, "@ada second"], ["", false, "@ada first"]]);
        assert_eq!(rows(&browser), shown);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
