//! What is new to a reader: where a chat opens, the line above it, and the numbers in the tabs.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Patience, Server, on_both_databases};
use serde_json::{Value as Json, json};

use crate::integrations::{Source, activity};

use super::late::{hold, is_held, let_go};
use super::{MAIN, click, complaints, open, open_flow, sees, shows, texts};

on_both_databases![
    a_tab_counts_messages_and_nothing_else,
    a_tab_is_right_when_a_part_was_read_elsewhere,
    a_chat_opens_where_the_unread_begins,
    what_comes_while_the_reader_is_away_stands_below_a_line,
    a_private_conversation_has_a_line_above_the_unread,
    a_group_is_mentioned,
    an_inbox_is_read_apart_from_its_chat,
    what_comes_while_the_inbox_is_marked_as_read_stays_unread,
    a_message_that_leaves_the_inbox_is_counted_no_more,
    reading_the_chat_elsewhere_leaves_the_inbox_unread,
    a_mention_in_the_inbox_is_counted_until_it_is_read,
];

const SIDE: &str = ".tab[data-api='acme/side']";

/// What the tab of the other flow shows: its number, and whether it is one of mentions.
pub(super) fn counts(browser: &Browser, number: &str, kind: &str) {
    browser.wait_for(&format!(
        "(() => {{
             const count = document.querySelector(\"{SIDE} .count\");
             const shown = count.hidden ? '' : count.querySelector('.num').textContent;
             return shown === '{number}' && count.classList.contains('{kind}');
         }})()"
    ));
}

/// Marks a flow as read up to a message, as another device of the reader does.
async fn reads(reader: &Caller, flow: &str, message: &Json) {
    let marker = json!({"message": message["id"]});
    reader
        .does(Method::PUT, &format!("/flows/{flow}/read"), &marker)
        .await;
}

async fn a_tab_counts_messages_and_nothing_else(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let old = ben.say("acme/side", "before").await;
    reads(&ada, "acme/side", &old).await;
    let of = |message: &Json| format!("/flows/acme/side/messages/{}", message["id"]);
    let edit = json!({"content": "before, in other words"});
    ben.does(Method::PUT, &of(&old), &edit).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        counts(&browser, "", "new");
        assert_eq!(browser.count(&format!("{SIDE}.unread")), 0);
    });
    // The tab hears of the message after the changes, and counts that alone.
    ben.does(Method::PUT, &of(&old), &json!({"content": "again"}))
        .await;
    let said = ben.say("acme/side", "look").await;
    tokio::task::block_in_place(|| counts(&browser, "1", "new"));
    let mention = ben.say("acme/side", "@ada look").await;
    tokio::task::block_in_place(|| {
        counts(&browser, "1", "hot");
        shows(&browser, "#mentions .count:not([hidden])");
        open_flow(&browser, &server, "");
        counts(&browser, "1", "hot");
    });
    ben.does(Method::DELETE, &of(&mention), &json!({})).await;
    tokio::task::block_in_place(|| {
        counts(&browser, "1", "new");
        shows(&browser, "#mentions .count[hidden]");
    });
    ben.does(Method::DELETE, &of(&said), &json!({})).await;
    tokio::task::block_in_place(|| counts(&browser, "", "new"));
}

async fn a_tab_is_right_when_a_part_was_read_elsewhere(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let first = ben.say("acme/side", "@ada one").await;
    ben.say("acme/side", "@ada two").await;
    let last = ben.say("acme/side", "three").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        counts(&browser, "2", "hot");
    });
    reads(&ada, "acme/side", &first).await;
    tokio::task::block_in_place(|| counts(&browser, "1", "hot"));
    reads(&ada, "acme/side", &last).await;
    tokio::task::block_in_place(|| {
        counts(&browser, "", "new");
        assert_eq!(browser.count(&format!("{SIDE}.unread")), 0);
    });
}

async fn a_chat_opens_where_the_unread_begins(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let mut told = Vec::new();
    for number in 0..120 {
        told.push(ben.say(MAIN, &format!("message {number}")).await);
    }
    reads(&ada, MAIN, &told[9]).await;
    let path = format!("/flows/{MAIN}");
    let flow = ada.get(&path).await;
    assert_eq!(flow["unread"], 100);
    assert_eq!(flow["first_unread"], told[10]["id"]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let line = browser.execute(
            "const line = document.querySelector('.fresh');
             const { top, bottom } = line.closest('.scroll').getBoundingClientRect();
             const at = line.getBoundingClientRect();
             return [line.nextElementSibling.querySelector('.text').textContent,
                     at.top >= top - 1 && at.bottom <= bottom];",
        );
        assert_eq!(line, json!(["message 10", true]));
        assert!(!texts(&browser).contains(&"message 119".to_owned()));
    });
    assert_eq!(ada.get(&path).await["read"], told[9]["id"]);
    tokio::task::block_in_place(|| {
        click(&browser, "button.newer");
        sees(&browser, "message 119");
    });
    let patience = Patience::until("the flow is marked read");
    while ada.get(&path).await["read"] != told[119]["id"] {
        patience.goes_on().await;
    }
    assert_eq!(ada.get(&path).await["unread"], 0);
}

async fn what_comes_while_the_reader_is_away_stands_below_a_line(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "seen").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.execute(
            "globalThis.isLookedAt = false;
             document.hasFocus = () => globalThis.isLookedAt;
             document.querySelector('.fresh').remove()",
        );
    });
    ben.say(MAIN, "@ada not seen").await;
    ben.say(MAIN, "not seen either").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "not seen either");
        let line = "return [...document.querySelectorAll('.fresh')].map((line) =>
                        line.nextElementSibling.querySelector('.text').textContent)";
        assert_eq!(browser.execute(line), json!(["@ada not seen"]));
        browser.wait_for("document.title.startsWith('(1) ')");
        // The reader comes back.
        browser.execute("globalThis.isLookedAt = true; dispatchEvent(new Event('focus'))");
        browser.wait_for("!document.title.startsWith('(')");
        assert_eq!(browser.execute(line), json!(["@ada not seen"]));
    });
}

async fn a_private_conversation_has_a_line_above_the_unread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let path = format!("/private/{}", ada.id);
    let write = |text: &str| json!({"event": "message", "content": text});
    let messages = format!("{path}/messages");
    ben.does(Method::POST, &messages, &write("one")).await;
    let page = format!("{}/app/-/private/{}", server.base_url(), ben.id);
    let conversation = format!("/private/{}", ben.id);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.open(&page);
        sees(&browser, "one");
    });
    let patience = Patience::until("the conversation is marked read");
    while ada.get(&conversation).await["activity"]["mentions"] != 0 {
        patience.goes_on().await;
    }
    tokio::task::block_in_place(|| open_flow(&browser, &server, ""));
    ben.does(Method::POST, &messages, &write("two")).await;
    tokio::task::block_in_place(|| {
        browser.open(&page);
        sees(&browser, "two");
        let line =
            browser.execute("return document.querySelector('.fresh + article .text').textContent");
        assert_eq!(line, "two");
    });
}

async fn a_group_is_mentioned(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let group = json!({"name": "crew", "users": [ada.id]});
    ada.does(Method::POST, "/organizations/acme/groups", &group)
        .await;
    ben.say(MAIN, "@crew before").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, "#chat article.hit");
    });
    ben.say(MAIN, "@crew after").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "@crew after");
        assert_eq!(browser.count("#chat article.hit"), 2);
    });
}

/// Waits until the panes of the flow show so many unread messages of the inbox.
pub(super) fn unread_in_inbox(browser: &Browser, count: usize) {
    browser.wait_for(&format!(
        "(() => {{
             const place = document.querySelector('.list .tabs .of-inbox');
             return (place.hidden ? 0 : Number(place.querySelector('.num').textContent)) === {count};
         }})()"
    ));
}

async fn an_inbox_is_read_apart_from_its_chat(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let robot = server.robot("acme", &[]);
    let here = Source::of(&robot, &ada, MAIN, "Ledger").await;
    let there = Source::of(&robot, &ada, "acme/side", "Ledger").await;
    let first = here.push(&activity("1", "opened")).await;
    here.push(&activity("2", "opened")).await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        unread_in_inbox(&browser, 2);
        assert_eq!(browser.count("#inbox .rows li.unread"), 2);
        assert_eq!(browser.count(&format!("{SIDE} .ring[hidden]")), 1);
    });
    // The chat is read as it comes.
    let said = ben.say(MAIN, "hello").await;
    let path = format!("/flows/{MAIN}");
    let patience = Patience::until("the chat is marked read");
    while ada.get(&path).await["read"].as_i64() < said["id"].as_i64() {
        patience.goes_on().await;
    }
    there.push(&activity("1", "opened")).await;
    here.push(&activity("2", "closed")).await;
    tokio::task::block_in_place(|| {
        unread_in_inbox(&browser, 3);
        // The tab of the other flow counts chat, and a ring stands for its inbox.
        shows(
            &browser,
            &format!("{SIDE}:not(.unread) .ring:not([hidden])"),
        );
        counts(&browser, "", "new");
        // What is opened is read.
        click(&browser, "#inbox .rows li:first-child a");
        unread_in_inbox(&browser, 1);
        assert_eq!(browser.count("#inbox .rows li.unread"), 1);
    });
    // What comes in an open thread is read, too.
    here.push(&activity("2", "opened again")).await;
    let patience = Patience::until("the thread is marked read");
    while ada.get(&path).await["inbox"]["unread"] != 1 {
        patience.goes_on().await;
    }
    // Another device reads the other thread.
    let thread = first["thread_id"].as_str().unwrap();
    let marker = json!({"message": first["id"]});
    ada.does(
        Method::PUT,
        &format!("{path}/threads/{thread}/read"),
        &marker,
    )
    .await;
    let side = ada.get("/flows/acme/side").await;
    let marker = json!({"message": side["last_message_id"], "marker": "inbox"});
    ada.does(Method::PUT, "/flows/acme/side/read", &marker)
        .await;
    tokio::task::block_in_place(|| {
        unread_in_inbox(&browser, 0);
        browser.wait_for("!document.querySelector('#inbox .rows li.unread')");
        shows(&browser, &format!("{SIDE} .ring[hidden]"));
        open_flow(&browser, &server, "");
        unread_in_inbox(&browser, 0);
        assert_eq!(browser.count("#inbox .rows li.unread"), 0);
    });
}

/// A source that posts into the inbox of a flow.
pub(super) async fn inbox_of(server: &Server, ada: &Caller, flow: &str) -> Source {
    let robot = server.robot("acme", &[]);
    Source::of(&robot, ada, flow, "Ledger").await
}

async fn what_comes_while_the_inbox_is_marked_as_read_stays_unread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let source = inbox_of(&server, &ada, MAIN).await;
    source.push(&activity("1", "opened")).await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        unread_in_inbox(&browser, 1);
        hold(
            &browser,
            "(method, path, body) => (method === 'PUT' && body.includes('inbox') ? 'after' : undefined)",
        );
        click(&browser, "[data-do='read-inbox']");
        is_held(&browser);
    });
    source.push(&activity("2", "opened")).await;
    tokio::task::block_in_place(|| {
        browser.wait_for("document.querySelectorAll('#inbox .rows li').length === 2");
        let_go(&browser);
        unread_in_inbox(&browser, 1);
        browser.wait_for("document.querySelectorAll('#inbox .rows li.unread').length === 1");
        shows(&browser, "#inbox .rows li:first-child.unread");
        shows(&browser, "[data-do='read-inbox']:not([hidden])");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_message_that_leaves_the_inbox_is_counted_no_more(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let source = inbox_of(&server, &ada, MAIN).await;
    let first = source.push(&activity("1", "opened")).await;
    source.push(&activity("2", "opened")).await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        unread_in_inbox(&browser, 2);
    });
    let path = format!("/flows/{MAIN}/messages/{}", first["id"]);
    ben.does(Method::DELETE, &path, &json!({})).await;
    tokio::task::block_in_place(|| unread_in_inbox(&browser, 1));
}

async fn reading_the_chat_elsewhere_leaves_the_inbox_unread(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let source = inbox_of(&server, &ada, MAIN).await;
    tokio::task::block_in_place(|| {
        // Too narrow for the chat beside the list, so that the page itself reads nothing.
        browser.set_window_size(500, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/threads");
    });
    let question = ben.say(MAIN, "Lunch?").await;
    let thread = question["thread_id"].as_str().unwrap();
    let path = format!("/flows/{MAIN}/threads/{thread}/messages");
    let said = json!({"event": "message", "content": "At noon"});
    ben.does(Method::POST, &path, &said).await;
    let last = source.push(&activity("1", "opened")).await;
    let reads = async |marker: &str| {
        let body = json!({"message": last["id"], "marker": marker});
        ada.does(Method::PUT, &format!("/flows/{MAIN}/read"), &body)
            .await;
    };
    tokio::task::block_in_place(|| shows(&browser, "#inbox .rows li.unread"));
    reads("inbox").await;
    tokio::task::block_in_place(|| {
        browser.wait_for(&format!(
            "document.querySelector(\".tab[data-api='{MAIN}']\").dataset.inbox === '0'"
        ));
        shows(&browser, "#inbox .rows li.unread");
    });
    reads("chat").await;
    tokio::task::block_in_place(|| {
        browser.wait_for("!document.querySelector('#inbox .rows li.unread')");
    });
    source.push(&activity("1", "closed")).await;
    let said = ben.say(MAIN, "done").await;
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "/inbox");
        shows(&browser, "#inbox .rows li.unread");
    });
    tokio::task::block_in_place(|| {
        browser.execute("document.querySelector('#inbox .rows li').isOfBefore = true");
    });
    let body = json!({"message": said["id"], "marker": "chat"});
    ada.does(Method::PUT, &format!("/flows/{MAIN}/read"), &body)
        .await;
    tokio::task::block_in_place(|| {
        browser.wait_for("!document.querySelector('#inbox .rows li').isOfBefore");
        shows(&browser, "#inbox .rows li.unread");
    });
}

async fn a_mention_in_the_inbox_is_counted_until_it_is_read(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let source = inbox_of(&server, &ada, "acme/side").await;
    tokio::task::block_in_place(|| open(&browser, &server, &ada));
    let mut mention = activity("1", "opened");
    mention["tags"] = json!(["@ada"]);
    let mention = source.push(&mention).await;
    tokio::task::block_in_place(|| counts(&browser, "1", "hot"));
    let reads = async |marker: &str| {
        let body = json!({"message": mention["id"], "marker": marker});
        ada.does(Method::PUT, "/flows/acme/side/read", &body).await;
    };
    reads("chat").await;
    assert_eq!(ada.get("/flows/acme/side").await["unread_mentions"], 1);
    tokio::task::block_in_place(|| {
        browser.wait_for(&format!(
            "document.querySelector(\"{SIDE}\").dataset.read === '{}'",
            mention["id"]
        ));
        counts(&browser, "1", "hot");
    });
    reads("inbox").await;
    tokio::task::block_in_place(|| counts(&browser, "", "new"));
    assert_eq!(ada.get("/flows/acme/side").await["unread_mentions"], 0);
}
