//! A network that breaks: what happens meanwhile is shown once, and what is sent is stored once.

use std::time::Duration;

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::faults::Cable;
use eddyline_tests::{Acme, Caller, Patience, Server, on_both_databases, on_sqlite};
use serde_json::json;
use tokio::time::interval;

use super::{MAIN, complaints, ready, sees, shows, sign_in, texts, write};

on_both_databases![
    what_happens_while_the_network_is_away_is_shown_once_and_in_order,
    a_message_whose_answer_is_lost_is_stored_once,
    a_page_whose_worker_could_not_be_loaded_gets_its_stream_later,
];

on_sqlite![what_happens_in_a_minute_without_a_network_is_shown_once_and_in_order];

/// More than the page opens with, and than one request loads.
const MEANWHILE: usize = 70;

/// A cable to the server.
async fn cable_to(server: &Server) -> Cable {
    let host = server.base_url().trim_start_matches("http://");
    Cable::to(host, Duration::ZERO).await
}

/// A cable to the server, and a browser at its end that shows the flow.
pub(super) async fn at_a_cable(browser: &Browser, server: &Server, who: &Caller) -> Cable {
    let cable = cable_to(server).await;
    tokio::task::block_in_place(|| open_at(&cable, browser, server, who));
    cable
}

fn open_at(cable: &Cable, browser: &Browser, server: &Server, who: &Caller) {
    let base = format!("http://{}", cable.address());
    sign_in(browser, server, &base, who);
    browser.open(&format!("{base}/app/{MAIN}"));
    ready(browser);
}

/// A browser at a cable, in which Ada reads a first message of Ben's. The page is marked ([`stays`]).
pub(super) async fn chat_at_a_cable(browser: &Browser, server: &Server) -> (Acme, Cable) {
    let acme = server.acme();
    let cable = at_a_cable(browser, server, &acme.ada).await;
    acme.ben.say(MAIN, "before").await;
    tokio::task::block_in_place(|| {
        sees(browser, "before");
        stays(browser);
    });
    (acme, cable)
}

/// Marks the page, so that one that was loaded anew is known ([`has_stayed`]).
pub(super) fn stays(browser: &Browser) {
    browser.execute("window.isTheSame = true");
}

/// Checks that the page was not loaded anew.
#[track_caller]
pub(super) fn has_stayed(browser: &Browser) {
    assert_eq!(browser.execute("return window.isTheSame"), true);
}

/// The texts that the server has, in their order.
pub(super) async fn stored(caller: &Caller) -> Vec<String> {
    let list = caller
        .get(&format!("/flows/{MAIN}/messages?limit=100"))
        .await;
    let text = |message: &serde_json::Value| message["content"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(text).collect()
}

/// The same as the page shows it.
pub(super) fn shown(browser: &Browser) -> Vec<String> {
    let texts = texts(browser).into_iter();
    texts
        .map(|text| text.trim_end_matches(" (edited)").to_owned())
        .collect()
}

async fn what_happens_while_the_network_is_away_is_shown_once_and_in_order(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let cable = at_a_cable(&browser, &server, &ada).await;
    let first = ben.say(MAIN, "before").await;
    tokio::task::block_in_place(|| sees(&browser, "before"));

    cable.unplug();
    for number in 0..MEANWHILE {
        ben.say(MAIN, &format!("message {number}")).await;
    }
    tokio::task::block_in_place(|| {
        for text in ["mine, first", "mine, second"] {
            write(&browser, text);
        }
        shows(&browser, "#offline:not([hidden])");
        assert_eq!(browser.count("#chat article.wait"), 2);
        assert_eq!(browser.count("#chat article[data-id]"), 1);
    });
    let path = format!("/flows/{MAIN}/messages/{}", first["id"]);
    ben.does(Method::PUT, &path, &json!({"content": "changed meanwhile"}))
        .await;
    let reaction = format!("{path}/reactions/%F0%9F%8E%89");
    ben.does(Method::PUT, &reaction, &json!(null)).await;

    cable.plug_in();
    tokio::task::block_in_place(|| {
        browser.wait_for("document.querySelector('#offline').hidden");
        sees(&browser, "mine, second");
        sees(&browser, &format!("message {}", MEANWHILE - 1));
        sees(&browser, "changed meanwhile (edited)");
        shows(&browser, "#chat article[data-id='1'] .react");
        assert_eq!(browser.count("#chat article.wait"), 0);
    });
    let stored = stored(&ada).await;
    assert_eq!(stored.len(), MEANWHILE + 3);
    assert_eq!(stored[MEANWHILE + 1..], ["mine, first", "mine, second"]);
    tokio::task::block_in_place(|| {
        assert_eq!(shown(&browser), stored);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

/// How long the network is away.
const AWAY: Duration = Duration::from_secs(60);
/// How many messages both write meanwhile, in turn.
const EACH: u32 = 20;

async fn what_happens_in_a_minute_without_a_network_is_shown_once_and_in_order(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, ben }, cable) = chat_at_a_cable(&browser, &server).await;

    cable.unplug();
    let (mut turns, mut written) = (interval(AWAY / EACH), Vec::new());
    for number in 0..EACH {
        turns.tick().await;
        ben.say(MAIN, &format!("message {number}")).await;
        written.push(format!("mine {number}"));
        tokio::task::block_in_place(|| write(&browser, written.last().unwrap()));
    }
    turns.tick().await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#offline:not([hidden])");
        let waiting = [vec!["before".to_owned()], written.clone()].concat();
        assert_eq!(texts(&browser), waiting);
        assert_eq!(browser.count("#chat article.wait"), written.len());
    });
    assert_eq!(stored(&ada).await.len(), written.len() + 1);

    cable.plug_in();
    tokio::task::block_in_place(|| {
        browser.wait_for("document.querySelector('#offline').hidden");
        sees(&browser, written.last().unwrap());
        sees(&browser, &format!("message {}", EACH - 1));
        assert_eq!(browser.count("#chat article.wait"), 0);
    });
    let stored = stored(&ada).await;
    assert_eq!(
        stored[written.len() + 1..],
        written,
        "in the order of writing"
    );
    tokio::task::block_in_place(|| {
        assert_eq!(shown(&browser), stored);
        has_stayed(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_message_whose_answer_is_lost_is_stored_once(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let cable = at_a_cable(&browser, &server, &ada).await;
    cable.lose_answers();
    tokio::task::block_in_place(|| write(&browser, "once"));
    let patience = Patience::until("the server has the message");
    while stored(&ada).await.is_empty() {
        patience.goes_on().await;
    }
    tokio::task::block_in_place(|| {
        assert_eq!(browser.count("#chat article[data-id]"), 0);
        cable.cut();
        write(&browser, "and on");
        sees(&browser, "and on");
        assert_eq!(shown(&browser), ["once", "and on"]);
    });
    assert_eq!(stored(&ada).await, ["once", "and on"]);
}

async fn a_page_whose_worker_could_not_be_loaded_gets_its_stream_later(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let cable = cable_to(&server).await;
    cable.refuse(Some("/worker.js"));
    tokio::task::block_in_place(|| {
        open_at(&cable, &browser, &server, &ada);
        shows(&browser, "#offline:not([hidden])");
    });
    ben.say(MAIN, "meanwhile").await;
    cable.refuse(None);
    tokio::task::block_in_place(|| {
        sees(&browser, "meanwhile");
        browser.wait_for("document.querySelector('#offline').hidden");
    });
    ben.say(MAIN, "afterwards").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "afterwards");
        assert_eq!(texts(&browser), ["meanwhile", "afterwards"]);
    });
}
