//! Where a page opens, and what is counted as read.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Patience, Server, on_both_databases};
use serde_json::json;

use crate::integrations::{Source, update};

use super::{
    ENTER, ESCAPE, MAIN, complaints, open, open_flow, read_all, ready, sees, shows, sign_in, texts,
};

on_both_databases![
    a_page_opens_at_what_is_unread_and_marks_it_read,
    older_messages_are_loaded_upward,
    people_come_and_go_while_the_page_is_open,
    a_conversation_that_begins_shows_the_presence,
    another_flow_is_marked_until_it_is_read_elsewhere,
    an_item_of_an_integration_comes_up_in_the_inbox,
    a_change_of_a_user_leaves_the_messages_in_place,
    a_deleted_message_offers_no_changes,
    the_stream_goes_on_when_a_flow_is_left_and_another_joined,
    a_small_screen_marks_nothing_read_that_it_does_not_show,
];

async fn a_page_opens_at_what_is_unread_and_marks_it_read(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let read = ben.say(MAIN, "read").await;
    let path = format!("/flows/{MAIN}/read");
    let marker = json!({"message": read["id"]});
    ada.does(Method::PUT, &path, &marker).await;
    let last = ben.say(MAIN, "unread").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, ".fresh + article");
        let fresh =
            browser.execute("return document.querySelector('.fresh + article .text').textContent");
        assert_eq!(fresh, "unread");
    });
    let patience = Patience::until("the flow is marked read");
    while ada.get(&format!("/flows/{MAIN}")).await["read"] != last["id"] {
        patience.goes_on().await;
    }
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
        assert_eq!(browser.count(".fresh"), 0);
    });
}

async fn people_come_and_go_while_the_page_is_open(server: Server) {
    let Some((ours, theirs)) = Browser::start().zip(Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let text = json!({"event": "message", "content": "psst"});
    let conversation = format!("/private/{}/messages", ada.id);
    ben.does(Method::POST, &conversation, &text).await;
    tokio::task::block_in_place(|| {
        sign_in(&ours, &server, server.base_url(), &ada);
        open_flow(&ours, &server, "/people");
        let shows = |count: usize, state: &str| {
            ours.wait_for(&format!(
                "document.querySelector('[data-online]').textContent === '{count} of 2 online'
                 && ['.folks [data-person=\"{id}\"]', '.tab[data-private=\"{id}\"]'].every(
                    (place) => document.querySelector(place).dataset.presence === '{state}')",
                id = ben.id
            ));
        };
        shows(1, "offline");
        open(&theirs, &server, &ben);
        shows(2, "active");
        // The list is right when the page is made, too.
        open_flow(&ours, &server, "/people");
        shows(2, "active");
        // Its tab is closed. A page that is left by another address in the tab may live on for a
        // while in the browser's memory, with its worker.
        drop(theirs);
        shows(1, "offline");
        assert_eq!(complaints(&ours), [""; 0]);
    });
}

async fn a_conversation_that_begins_shows_the_presence(server: Server) {
    let (Some(ours), Some(theirs)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&theirs, &server, &ben);
        sign_in(&ours, &server, server.base_url(), &ada);
        // The server knows by now.
        open_flow(&ours, &server, "/people");
        ours.wait_for(&format!(
            "document.querySelector('.folks [data-person=\"{}\"]').dataset.presence === 'active'",
            ben.id
        ));
        ours.open(&format!("{}/app/-/private/{}", server.base_url(), ben.id));
        ready(&ours);
        let shows = |state: &str, word: &str| {
            ours.wait_for(&format!(
                "['.tab[data-private=\"{id}\"]', '.presence'].every((place) => {{
                    const shown = document.querySelector(place);
                    return shown?.dataset.presence === '{state}'
                        && shown.querySelector('[data-word]').textContent === '{word}';
                 }})",
                id = ben.id
            ));
        };
        shows("active", "Online");
        drop(theirs);
        shows("offline", "Offline");
        assert_eq!(complaints(&ours), [""; 0]);
    });
}

async fn older_messages_are_loaded_upward(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for number in 0..120 {
        ben.say(MAIN, &format!("message {number}")).await;
    }
    read_all(&ada).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let newest = texts(&browser);
        assert_eq!(newest.last().unwrap(), "message 119");
        for _ in 0..2 {
            let count = texts(&browser).len();
            browser.execute(
                "const scroll = document.querySelector('#chat-scroll');
                 scroll.scrollTop = -scroll.scrollHeight;",
            );
            browser.wait_for(&format!(
                "document.querySelectorAll('#chat article').length > {count} \
                 || document.querySelector('#chat article .text').textContent === 'message 0'"
            ));
        }
        sees(&browser, "message 0");
        let all: Vec<String> = (0..120).map(|number| format!("message {number}")).collect();
        assert_eq!(texts(&browser), all);
    });
}

async fn another_flow_is_marked_until_it_is_read_elsewhere(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, ".tab[data-api='acme/side']:not(.unread)");
    });
    let told = ben.say("acme/side", "@ada look").await;
    tokio::task::block_in_place(|| {
        shows(
            &browser,
            ".tab[data-api='acme/side'].unread .count:not([hidden])",
        );
    });
    let marker = json!({"message": told["id"]});
    ada.does(Method::PUT, "/flows/acme/side/read", &marker)
        .await;
    tokio::task::block_in_place(|| {
        shows(
            &browser,
            ".tab[data-api='acme/side']:not(.unread) .count[hidden]",
        );
    });
}

async fn a_change_of_a_user_leaves_the_messages_in_place(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "hello").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.execute("document.querySelector('#chat article').dataset.kept = ''");
    });
    ben.does(Method::PUT, "/user", &json!({"name": "Benjamin"}))
        .await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#people [data-name='Benjamin']");
        assert_eq!(browser.count("#chat article[data-kept]"), 1);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_deleted_message_offers_no_changes(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let message = ada.say(MAIN, "oops").await;
    let path = format!("/flows/{MAIN}/messages/{}", message["id"]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.execute("document.querySelector('#chat article').focus()");
        shows(&browser, "#chat .tools [data-do=edit]");
    });
    ada.does(Method::DELETE, &path, &json!(null)).await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#chat .gone");
        assert_eq!(browser.count("#chat .tools"), 0);
        browser.execute("document.activeElement.blur()");
        browser.execute("document.querySelector('#chat article').focus()");
        shows(&browser, "#chat .tools");
        for tool in ["edit", "delete", "react", "tags"] {
            assert_eq!(browser.count(&format!("#chat .tools [data-do={tool}]")), 0);
        }
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn an_item_of_an_integration_comes_up_in_the_inbox(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, "#inbox .none");
    });
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    let activity = |status: &str| {
        let status = json!({"color": "yellow", "value": status});
        let state = json!({"title": "Gateway <b>drops</b> packets", "status": status});
        update("212", "changed it", &state)
    };
    for status in ["New", "Investigating"] {
        source.push(&activity(status)).await;
        tokio::task::block_in_place(|| {
            browser.wait_for(&format!(
                "document.querySelector('#inbox .rows .chip.yellow')?.textContent === '{status}'"
            ));
        });
    }
    tokio::task::block_in_place(|| {
        assert_eq!(browser.count("#inbox .rows li"), 1);
        browser.execute("document.querySelector('#inbox .rows a').click()");
        shows(&browser, "#thread-chip .chip");
        ready(&browser);
    });
    // The state of the thread is the same wherever it stands.
    let thread = ada.get(&format!("/flows/{MAIN}/threads")).await[0]["id"].clone();
    let thread = format!(
        "/flows/{MAIN}/threads/{}/messages",
        thread.as_str().unwrap()
    );
    let text = json!({"event": "message", "content": "on it"});
    ada.does(Method::POST, &thread, &text).await;
    source.push(&activity("Solved")).await;
    tokio::task::block_in_place(|| {
        for place in ["#thread-chip", "#inbox .rows", "#chat article .about"] {
            browser.wait_for(&format!(
                "document.querySelector('{place} .chip')?.textContent === 'Solved'"
            ));
        }
        // Escape closes the thread, wherever the focus is.
        browser.execute("document.activeElement.blur()");
        browser.press_keys(ESCAPE);
        browser.wait_for("!document.querySelector('#thread')");
        ready(&browser);
        let title = browser.execute("return document.querySelector('#inbox .title').textContent");
        assert_eq!(title, "Gateway drops packets");
        open_flow(&browser, &server, "");
        assert_eq!(browser.count("#inbox .rows li"), 1);
    });
}

async fn the_stream_goes_on_when_a_flow_is_left_and_another_joined(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ben);
        shows(&browser, ".tab[data-api='acme/side']");
    });
    let place = format!("/flows/acme/side/users/{}", ben.id);
    ada.does(Method::PUT, &place, &json!({"disabled": true}))
        .await;
    tokio::task::block_in_place(|| {
        browser.wait_for("!document.querySelector('.tab[data-api=\"acme/side\"]')");
    });
    ada.say(MAIN, "still here").await;
    tokio::task::block_in_place(|| sees(&browser, "still here"));

    server.flow("acme", "third", &[&ada]);
    let users = "/flows/acme/third/users";
    ada.does(Method::POST, users, &json!({"id": ben.id})).await;
    tokio::task::block_in_place(|| shows(&browser, ".tab[data-api='acme/third']"));
    ada.say("acme/third", "@ben hello").await;
    tokio::task::block_in_place(|| {
        shows(
            &browser,
            ".tab[data-api='acme/third'].unread .count:not([hidden])",
        );
    });
    ada.say(MAIN, "and here").await;
    tokio::task::block_in_place(|| sees(&browser, "and here"));
}

async fn a_small_screen_marks_nothing_read_that_it_does_not_show(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "a thread").await;
    let thread = root["thread_id"].as_str().unwrap().to_owned();
    ben.say(MAIN, "not seen yet").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(360, 640);
        sign_in(&browser, &server, server.base_url(), &ada);
        open_flow(&browser, &server, &format!("/threads/{thread}"));
        // Whatever the page does at first it has done when this is in the thread.
        browser.type_keys("#reply textarea", "a reply");
        browser.type_keys("#reply textarea", ENTER);
        browser.wait_for("document.querySelectorAll('#thread article[data-id]').length === 2");
    });
    let flow = ada.get(&format!("/flows/{MAIN}")).await;
    assert_eq!(flow["read"], 0);
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
    });
    let patience = Patience::until("the flow is marked read");
    while ada.get(&format!("/flows/{MAIN}")).await["read"].as_i64() <= root["id"].as_i64() {
        patience.goes_on().await;
    }
}
