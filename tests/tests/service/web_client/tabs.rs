//! The tabs of flows and private conversations, and the hint of a first visit.

use eddyline_client::{Json, Method};
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Patience, Server, on_both_databases};
use serde_json::json;
use tokio::runtime::Handle;

use super::unread::inbox_of;
use super::{ENTER, MAIN, UP, complaints, open, open_flow, ready, sees, shows, write};
use crate::integrations::activity;

const CONTROL: &str = "\u{e009}";
const SHIFT: &str = "\u{e008}";
const RELEASE: &str = "\u{e000}";

on_both_databases![
    a_closed_tab_stays_closed_until_its_flow_is_visited,
    a_mention_brings_a_closed_tab_back_at_once,
    a_tab_that_is_closed_leaves_its_inbox_unread,
    a_closed_conversation_comes_back_with_a_message,
    a_conversation_that_is_begun_stays_in_the_list,
    a_first_visit_says_what_a_flow_is,
    tabs_stand_in_the_order_the_reader_gives_them,
];

async fn tabs_stand_in_the_order_the_reader_gives_them(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for name in ["side", "third"] {
        server.flow("acme", name, &[&ada]);
    }
    for with in [&ada, &ben] {
        let path = format!("/private/{}", with.id);
        ada.does(Method::PUT, &path, &json!({"open": true})).await;
    }
    let keep = async |first: &str, places: [i64; 3]| {
        let patience = Patience::until("the order is kept");
        loop {
            let flows = ada.get("/flows").await;
            let flows = flows.as_array().unwrap();
            let place = |flow: &Json| flow["tab_position"].as_i64().unwrap_or(0);
            let mut known: Vec<(i64, &str)> = flows
                .iter()
                .map(|flow| (place(flow), flow["parameterized_name"].as_str().unwrap()))
                .collect();
            known.sort_unstable();
            if known[0].1 == first && known.iter().map(|(place, _)| *place).eq(places) {
                return;
            }
            patience.goes_on().await;
        }
    };
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        let names = |list: &str| {
            browser.execute(&format!(
                "return [...document.querySelectorAll('{list} .tab:is([data-flow], [data-private]) .t')]
                    .map((name) => name.firstChild.textContent)"
            ))
        };
        assert_eq!(names("#tabs"), json!(["main", "side", "third"]));
        // By keys, and the focus stays.
        browser.execute("document.querySelector('.tab[data-api=\"acme/third\"]').focus()");
        let up = format!("{CONTROL}{SHIFT}{UP}{RELEASE}");
        browser.type_keys(":focus", &up);
        assert_eq!(names("#tabs"), json!(["main", "third", "side"]));
        browser.type_keys(":focus", &up);
        browser.type_keys(":focus", &up);
        let order = json!(["third", "main", "side"]);
        assert_eq!(names("#tabs"), order);
        browser.wait_for("document.activeElement.dataset.api === 'acme/third'");
        Handle::current().block_on(keep("third", [1, 2, 3]));
        open_flow(&browser, &server, "");
        assert_eq!(names("#tabs"), order);
        // By dragging: to the last place, and back when it is let go elsewhere.
        let drag = |list: &str, end: &str| {
            browser.execute(&format!(
                "const tabs = [...document.querySelectorAll('{list} .tab:is([data-flow], [data-private])')];
                 const dataTransfer = new DataTransfer();
                 const send = (tab, kind, clientY = 0) => tab.dispatchEvent(new DragEvent(kind,
                     {{ dataTransfer, clientY, bubbles: true, cancelable: true }}));
                 send(tabs[0], 'dragstart');
                 send(tabs.at(-1), 'dragover', tabs.at(-1).getBoundingClientRect().bottom - 1);
                 send(tabs[0], '{end}');"
            ));
        };
        drag("#tabs", "dragend");
        assert_eq!(names("#tabs"), order);
        drag("#tabs", "drop");
        assert_eq!(names("#tabs"), json!(["main", "side", "third"]));
        Handle::current().block_on(keep("main", [1, 2, 3]));
        let people = names("#conversations");
        drag("#conversations", "drop");
        let turned = json!([people[1], people[0]]);
        assert_eq!(names("#conversations"), turned);
        browser.wait_for("performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/tabs')).length === 2");
        open_flow(&browser, &server, "");
        assert_eq!(names("#conversations"), turned);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_closed_tab_stays_closed_until_its_flow_is_visited(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let side = ada
        .send(Method::POST, "/flows/acme", &json!({"name": "Side"}))
        .await
        .json();
    let all = json!({"access_mode": "organization"});
    ada.does(Method::PUT, "/flows/acme/side", &all).await;
    let tab = format!(".tab[data-flow='{}']", side["id"].as_str().unwrap());
    let is_open = async |open: bool| {
        let patience = Patience::until("the tab is kept");
        while ada.get("/flows/acme/side").await["open"] != open {
            patience.goes_on().await;
        }
    };
    tokio::task::block_in_place(|| {
        // Wide enough for the list of flows.
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        shows(&browser, &tab);
        browser.execute(&format!(
            "document.querySelector(\"{tab} + .close\").focus()"
        ));
        browser.press_keys(ENTER);
        browser.wait_for(&format!("!document.querySelector(\"{tab}\")"));
        browser.wait_for("document.activeElement.classList.contains('tab')");
        Handle::current().block_on(is_open(false));
        open_flow(&browser, &server, "");
        assert_eq!(browser.count(&tab), 0);

        browser.open(&format!("{}/app/acme/side", server.base_url()));
        ready(&browser);
        Handle::current().block_on(is_open(true));
        open_flow(&browser, &server, "");
        shows(&browser, &tab);

        browser.open(&format!("{}/app/acme/side", server.base_url()));
        ready(&browser);
        browser.execute("document.querySelector('.tab[aria-current] + .close').click()");
        browser.wait_for("document.title.includes('main')");
        Handle::current().block_on(is_open(false));
    });
    // A mention brings it back.
    ben.does(Method::PUT, "/flows/acme/side", &json!({"open": true}))
        .await;
    ben.say("acme/side", "@ada?").await;
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
        shows(&browser, &format!("{tab} .count:not([hidden])"));
        shows(&browser, "#mentions .count:not([hidden])");
        // It was seen, and closes as well.
        browser.execute(&format!(
            "document.querySelector(\"{tab} + .close\").click()"
        ));
        browser.wait_for(&format!("!document.querySelector(\"{tab}\")"));
        shows(&browser, "#mentions .count[hidden]");
        open_flow(&browser, &server, "");
        assert_eq!(browser.count(&tab), 0);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_mention_brings_a_closed_tab_back_at_once(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    ada.does(Method::PUT, "/flows/acme/side", &json!({"open": false}))
        .await;
    let tab = ".tab[data-api='acme/side']";
    for path in ["/app/acme/main", "/app/-/search", "/account"] {
        tokio::task::block_in_place(|| {
            open(&browser, &server, &ada);
            browser.open(&format!("{}{path}", server.base_url()));
            ready(&browser);
            assert_eq!(browser.count(tab), 0, "{path}");
        });
        ben.say("acme/side", "nothing for her").await;
        let mention = ben.say("acme/side", "@ada?").await;
        tokio::task::block_in_place(|| {
            browser.wait_for(&format!(
                "document.querySelector(\"{tab} .count\")?.textContent.startsWith('1')"
            ));
            assert_eq!(complaints(&browser), [""; 0]);
        });
        let read = json!({"message": mention["id"]});
        ada.does(Method::PUT, "/flows/acme/side/read", &read).await;
    }
}

async fn a_closed_conversation_comes_back_with_a_message(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let private = format!("/private/{}/messages", ada.id);
    let text = |text: &str| json!({"event": "message", "content": text});
    ben.does(Method::POST, &private, &text("one")).await;
    let tab = format!(".tab[data-private='{}']", ben.id);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, &tab);
        browser.open(&format!("{}/app/-/private/{}", server.base_url(), ben.id));
        ready(&browser);
        browser.execute("document.querySelector('.tab[aria-current] + .close').click()");
        browser.wait_for("document.title.includes('main')");
        open_flow(&browser, &server, "");
        assert_eq!(browser.count(&tab), 0);
    });
    ben.does(Method::POST, &private, &text("two")).await;
    tokio::task::block_in_place(|| {
        shows(&browser, &tab);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_conversation_that_is_begun_stays_in_the_list(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let tab = format!(".tab[data-private='{}']", ben.id);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.open(&format!("{}/app/-/private/{}", server.base_url(), ben.id));
        ready(&browser);
        browser.wait_for(&format!(
            "document.querySelector(\"{tab}\").dataset.closed === undefined"
        ));
        write(&browser, "psst");
        sees(&browser, "psst");
        open_flow(&browser, &server, "");
        shows(&browser, &tab);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_first_visit_says_what_a_flow_is(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "not empty").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, "#hint");
        browser.execute("document.querySelector('#hint button').click()");
        browser.wait_for("!document.querySelector('#hint')");
        open_flow(&browser, &server, "");
        assert_eq!(browser.count("#hint"), 0);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_tab_that_is_closed_leaves_its_inbox_unread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let source = inbox_of(&server, &ada, "acme/side").await;
    source.push(&activity("1", "opened")).await;
    ben.say("acme/side", "@ada?").await;
    let closes = |browser: &Browser| {
        let tab = ".tab[data-api='acme/side']";
        browser.execute(&format!(
            "document.querySelector(\"{tab} + .close\").click()"
        ));
        browser.wait_for(&format!("!document.querySelector(\"{tab}\")"));
    };
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        closes(&browser);
    });
    let side = ada.get("/flows/acme/side").await;
    assert_eq!(side["unread_mentions"], 0);
    assert_eq!(side["inbox"]["unread"], 1);
    // A mention in the inbox would bring the tab back.
    let mut mention = activity("2", "opened");
    mention["tags"] = json!(["@ada"]);
    source.push(&mention).await;
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
        closes(&browser);
    });
    let side = ada.get("/flows/acme/side").await;
    assert_eq!(side["unread_mentions"], 0);
    assert_eq!(side["inbox"]["unread"], 0);
    assert_eq!(side["open"], false);
}
