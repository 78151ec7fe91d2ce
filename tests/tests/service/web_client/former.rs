//! Authors who have left the flow keep their names.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_both_databases};
use serde_json::{Value, json};

use super::{MAIN, click, complaints, open, open_flow, read_all, sees, shows};

on_both_databases![
    those_who_have_left_keep_their_names,
    one_who_leaves_keeps_the_name_on_open_pages,
    searches_over_all_rooms_name_those_who_have_left,
];

/// Takes a user out of the flow, as the user does it.
async fn leave(who: &Caller) {
    let path = format!("/flows/{MAIN}/users/{}", who.id);
    who.does(Method::DELETE, &path, &Value::Null).await;
}

/// The names above the messages that a user has written.
fn names(browser: &Browser, who: &Caller) -> Vec<String> {
    let script = format!(
        "return [...new Set([...document.querySelectorAll('#chat article[data-user=\"{}\"] .by b')].map(name => name.textContent))]",
        who.id
    );
    serde_json::from_value(browser.execute(&script)).unwrap()
}

async fn those_who_have_left_keep_their_names(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let first = ben.say(MAIN, "the very first").await;
    let reaction = format!(
        "/flows/{MAIN}/messages/{}/reactions/%F0%9F%91%8D",
        first["id"]
    );
    ben.does(Method::PUT, &reaction, &Value::Null).await;
    for number in 0..60 {
        ada.say(MAIN, &format!("message {number}")).await;
    }
    ben.say(MAIN, "the last word").await;
    leave(&ben).await;
    read_all(&ada).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        assert_eq!(
            names(&browser, &ben),
            ["ben"],
            "the server names the author"
        );
        // The script fills the older rows, and asks for the name.
        browser.wait_for(
            "(() => {
                const scroll = document.querySelector('#chat-scroll');
                scroll.scrollTop = -scroll.scrollHeight;
                return document.querySelector('#chat article[data-id=\"1\"]');
            })()",
        );
        browser.wait_for(
            "document.querySelector('#chat article[data-id=\"1\"] .by b').textContent === 'ben'",
        );
        shows(&browser, "#chat article[data-id='1'] img[src*='/avatars/']");
        shows(&browser, "#chat article[data-id='1'] .react[title='ben']");
        click(&browser, "[data-list-link='people'], a[href$='/people']");
        shows(&browser, "#inbox[data-list='people']");
        let people = browser.execute("return document.querySelector('#inbox').textContent");
        assert!(!people.as_str().unwrap().contains("ben"), "{people}");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn one_who_leaves_keeps_the_name_on_open_pages(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let written = ben.say(MAIN, "I will be gone soon").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        sees(&browser, "I will be gone soon");
    });
    leave(&ben).await;
    tokio::task::block_in_place(|| {
        browser.wait_for(&format!(
            "!document.querySelector('#people li[data-id=\"{}\"]')",
            ben.id
        ));
        let count = "document.querySelector('.bar .people').textContent.trim()";
        browser.wait_for(&format!("{count} === '1'"));
    });
    // The row is made anew for the reaction, which names its user.
    let path = format!(
        "/flows/{MAIN}/messages/{}/reactions/%F0%9F%91%8D",
        written["id"]
    );
    ada.does(Method::PUT, &path, &Value::Null).await;
    tokio::task::block_in_place(|| {
        shows(&browser, ".react[title='ada']");
        assert_eq!(names(&browser, &ben), ["ben"]);
        open_flow(&browser, &server, "/threads");
        assert_eq!(names(&browser, &ben), ["ben"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn searches_over_all_rooms_name_those_who_have_left(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "@ada the kettle is on").await;
    leave(&ben).await;
    // Ben is in no organization of Ada's any more.
    let path = format!("/organizations/acme/users/{}", ben.id);
    ada.does(Method::DELETE, &path, &json!({})).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for path in ["/app/-/search?q=kettle", "/app/-/mentions"] {
            browser.open(&format!("{}{path}", server.base_url()));
            shows(&browser, ".found a");
            let found = browser.execute("return document.querySelector('.found').textContent");
            let found = found.as_str().unwrap();
            assert!(found.contains("ben"), "{path}: {found}");
        }
    });
}
