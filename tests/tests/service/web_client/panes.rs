//! What stands beside the chat: lists and threads, which open while the chat stays where it is.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_sqlite};
use serde_json::{Value, json};

use crate::integrations::{Source, activity, update};

use super::{ESCAPE, MAIN, click, complaints, open, open_flow, sees, shows};

on_sqlite![
    a_thread_opens_beside_a_chat_that_stays_where_it_is,
    what_is_said_while_a_thread_is_loaded_is_in_it,
    the_inbox_tells_what_is_new_and_what_was_said_last,
    threads_that_people_began_have_a_list,
    titles_and_lines_are_plain_text,
    the_inbox_goes_on_with_older_threads,
    files_have_a_list,
    a_search_stays_beside_what_it_found,
    a_phone_shows_the_list_that_was_asked_for,
    on_a_phone_back_leads_to_the_list_that_a_thread_was_opened_from,
    a_private_conversation_hears_of_a_new_flow,
];

/// Says a text in a thread, which the answer to a message begins.
async fn answer(who: &Caller, message: &Value, text: &str) -> Value {
    let thread = message["thread_id"].as_str().expect("each message has one");
    let path = format!("/flows/{MAIN}/threads/{thread}/messages");
    let said = json!({"event": "message", "content": text});
    who.send(Method::POST, &path, &said).await.json()
}

fn waits_for_text(browser: &Browser, css: &str, text: &str) {
    browser.wait_for(&format!(
        "document.querySelector({})?.textContent === {}",
        Value::from(css),
        Value::from(text)
    ));
}

/// Marks the page, so that a page that is loaded shows.
fn mark(browser: &Browser) {
    browser.execute("window.isSame = true");
}

fn is_same(browser: &Browser) {
    assert_eq!(browser.execute("return window.isSame === true"), true);
}

fn scrolled(browser: &Browser) -> Value {
    browser.execute("return Math.round(document.querySelector('#chat-scroll').scrollTop)")
}

async fn a_thread_opens_beside_a_chat_that_stays_where_it_is(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let question = ben.say(MAIN, "Lunch?").await;
    answer(&ben, &question, "At noon").await;
    let other = ben.say(MAIN, "Tea?").await;
    answer(&ben, &other, "Always").await;
    for number in 0..40 {
        ben.say(MAIN, &format!("message {number}")).await;
    }
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        mark(&browser);
        browser.execute("document.querySelector('#chat-scroll').scrollTop = -500");
        let place = scrolled(&browser);
        let thread = question["thread_id"].as_str().unwrap();
        click(
            &browser,
            &format!("#chat article[data-thread='{thread}'] .mark"),
        );
        waits_for_text(&browser, "#thread-title", "Lunch?");
        let path = browser.execute("return location.pathname");
        assert_eq!(path, format!("/app/{MAIN}/threads/{thread}"));
        browser.type_keys("#reply textarea", "Good");
        assert_eq!(scrolled(&browser), place);
        // Another one takes its place. The draft is kept with its thread.
        let thread = other["thread_id"].as_str().unwrap();
        click(
            &browser,
            &format!("#chat article[data-thread='{thread}'] .mark"),
        );
        waits_for_text(&browser, "#thread-title", "Tea?");
        browser.execute("history.back()");
        waits_for_text(&browser, "#thread-title", "Lunch?");
        let draft = browser.execute("return document.querySelector('#reply textarea').value");
        assert_eq!(draft, "Good");
        browser.type_keys("#reply textarea", super::ENTER);
        shows(&browser, "#thread article[data-id][data-mine]");
        // Escape closes the thread, and what had opened it has the focus again.
        browser.execute("document.activeElement.blur()");
        browser.press_keys(ESCAPE);
        browser.wait_for("!document.querySelector('#thread')");
        let path = browser.execute("return location.pathname");
        assert_eq!(path, format!("/app/{MAIN}"));
        let focused = "return document.activeElement.matches('#chat article .mark')";
        assert_eq!(browser.execute(focused), true);
        browser.execute("history.back()");
        waits_for_text(&browser, "#thread-title", "Lunch?");
        is_same(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn what_is_said_while_a_thread_is_loaded_is_in_it(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let question = ben.say(MAIN, "Lunch?").await;
    answer(&ben, &question, "At noon").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        // The page of the thread arrives late.
        browser.execute(
            "const real = fetch;
             window.fetch = async (address, options) => {
                 const answer = await real(address, options);
                 if (String(address).includes('/app/acme/main/threads/')) {
                     await new Promise((resolve) => { window.arrive = resolve; });
                 }
                 return answer;
             };",
        );
        click(&browser, "#chat article .mark");
        browser.wait_for("window.arrive");
    });
    answer(&ben, &question, "Or later").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "Or later");
        browser.execute("window.arrive()");
        waits_for_text(&browser, "#thread article:last-child .text", "Or later");
        assert_eq!(browser.count("#thread article[data-id]"), 3);
        assert_eq!(browser.count("#chat article[data-id]"), 3);
    });
}

async fn the_inbox_tells_what_is_new_and_what_was_said_last(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    source
        .push(&update("1", "opened", &json!({"title": "One"})))
        .await;
    let one = source.push(&activity("1", "took <b>it</b>")).await;
    let title = |number: usize| format!("#inbox .rows li:nth-child({number}) .title");
    tokio::task::block_in_place(|| {
        // Wide enough for the thread beside the inbox.
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        assert_eq!(browser.count("#inbox .rows li.unread"), 1);
        let line = browser.execute("return document.querySelector('#inbox .last').textContent");
        assert_eq!(line, "took it", "the source names no author");
    });
    // Live, as on the page.
    source
        .push(&update("2", "opened", &json!({"title": "Two"})))
        .await;
    answer(&ben, &one, "Thank you").await;
    tokio::task::block_in_place(|| {
        waits_for_text(
            &browser,
            "#inbox .rows li:first-child .last",
            "ben: Thank you",
        );
        waits_for_text(&browser, &title(2), "Two");
        assert_eq!(browser.count("#inbox .rows li.unread"), 2);
        // What is opened is read.
        click(&browser, "#inbox .rows li:nth-child(2) a");
        waits_for_text(&browser, "#thread-title", "Two");
        assert_eq!(browser.count("#inbox .rows li.unread"), 1);
        click(&browser, ".thread .leave");
        browser.wait_for("!document.querySelector('#thread')");
        assert_eq!(browser.count("#inbox .rows li.unread"), 1);
        click(&browser, ".sift [data-only='unread']");
        let shown = browser.execute(
            "return [...document.querySelectorAll('#inbox .rows li')]
                .filter((item) => item.checkVisibility()).length",
        );
        assert_eq!(shown, 1);
    });
    // The line changes with what was said last.
    let last = ada.get(&format!("/flows/{MAIN}/messages?limit=1")).await[0]["id"].clone();
    let path = format!("/flows/{MAIN}/messages/{last}");
    ben.does(Method::PUT, &path, &json!({"content": "Thanks"}))
        .await;
    tokio::task::block_in_place(|| {
        waits_for_text(&browser, "#inbox .rows li:first-child .last", "ben: Thanks");
        assert_eq!(browser.count("#inbox .rows li.unread"), 1);
        // The next visit knows what was read: the chat, and the thread that was opened.
        open_flow(&browser, &server, "");
        assert_eq!(browser.count("#inbox .rows li"), 2);
        assert_eq!(browser.count("#inbox .rows li.unread"), 1);
        waits_for_text(&browser, ".list .tabs .of-inbox .num", "2");
        click(&browser, "[data-do='read-inbox']");
        browser.wait_for("!document.querySelector('#inbox .rows li.unread')");
        shows(&browser, ".list .tabs .of-inbox[hidden]");
        assert_eq!(browser.count("[data-do='read-inbox']:not([hidden])"), 0);
    });
    let flow = ada.get(&format!("/flows/{MAIN}")).await;
    assert_eq!(flow["inbox"]["unread"], 0);
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
        assert_eq!(browser.count("#inbox .rows li"), 2);
        assert_eq!(browser.count("#inbox .rows li.unread"), 0);
    });
}

async fn threads_that_people_began_have_a_list(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    source.push(&activity("1", "opened")).await;
    ben.say(MAIN, "alone").await;
    let question = ben.say(MAIN, "Lunch?").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        mark(&browser);
        click(&browser, ".list .tabs a[href$='/threads']");
        shows(&browser, "#inbox[data-list='threads'] .none");
    });
    answer(&ben, &question, "At noon").await;
    source.push(&activity("1", "closed")).await;
    answer(&ben, &question, "Or one").await;
    tokio::task::block_in_place(|| {
        waits_for_text(&browser, "#inbox .rows .last", "ben: Or one");
        assert_eq!(browser.count("#inbox .rows li"), 1);
        // A thread opens over the list that it was in, and closes to it.
        click(&browser, "#inbox .rows a");
        waits_for_text(&browser, "#thread-title", "Lunch?");
        shows(
            &browser,
            "#inbox[data-list='threads'] .rows a[aria-current]",
        );
        click(&browser, ".thread .leave");
        browser.wait_for("!document.querySelector('#thread')");
        is_same(&browser);
        browser.wait_for(&format!("location.pathname === '/app/{MAIN}/threads'"));
        open_flow(&browser, &server, "/threads");
        assert_eq!(browser.count("#inbox .rows li"), 1);
        waits_for_text(&browser, "#inbox .rows .title", "Lunch?");
    });
}

async fn titles_and_lines_are_plain_text(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let question = ben
        .say(
            MAIN,
            "**Lunch** at `noon`? [menu](https://example.org/menu)",
        )
        .await;
    answer(&ben, &question, "*Yes*, ~~no~~").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/threads");
        waits_for_text(&browser, "#inbox .rows .title", "Lunch at noon? menu");
        waits_for_text(&browser, "#inbox .rows .last", "ben: Yes, no");
        click(&browser, "#inbox .rows a");
        waits_for_text(&browser, "#thread-title", "Lunch at noon? menu");
    });
    ben.say(MAIN, "Something else").await;
    answer(&ben, &question, "**Or** one").await;
    tokio::task::block_in_place(|| {
        waits_for_text(&browser, "#inbox .rows .last", "ben: Or one");
        waits_for_text(
            &browser,
            "#chat article:last-child .about span",
            "Lunch at noon? menu",
        );
        waits_for_text(&browser, "#inbox .rows .title", "Lunch at noon? menu");
    });
    let path = format!("/flows/{MAIN}/messages/{}", question["id"]);
    ben.does(Method::PUT, &path, &json!({"content": "_Tea_?"}))
        .await;
    tokio::task::block_in_place(|| {
        waits_for_text(&browser, "#chat article:last-child .about span", "Tea?");
        waits_for_text(&browser, "#thread-title", "Tea?");
        browser.open(&format!("{}/app/{MAIN}/search?q=or", server.base_url()));
        super::ready(&browser);
        waits_for_text(&browser, ".found .excerpt", "Or one");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

/// The titles of the inbox, in their order.
fn titles(browser: &Browser) -> Vec<String> {
    let titles = browser.execute(
        "return [...document.querySelectorAll('#inbox .rows .title')].map(title => title.textContent)",
    );
    serde_json::from_value(titles).unwrap()
}

/// The titles of items, the last one first.
fn counted_down(range: std::ops::Range<usize>) -> Vec<String> {
    range.rev().map(|number| format!("item {number}")).collect()
}

async fn open_items(source: &Source, range: std::ops::Range<usize>) {
    for number in range {
        let state = json!({"title": format!("item {number}")});
        source
            .push(&update(&number.to_string(), "opened", &state))
            .await;
    }
}

async fn the_inbox_goes_on_with_older_threads(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    open_items(&source, 0..70).await;
    let late = server.user("acme", "late");
    let has =
        |number: usize| format!("document.querySelectorAll('#inbox .rows li').length === {number}");
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        assert_eq!(titles(&browser), counted_down(40..70));
    });
    // Of those that come meanwhile the list has the last fifty. It goes on behind them.
    open_items(&source, 70..95).await;
    tokio::task::block_in_place(|| {
        waits_for_text(&browser, "#inbox .rows li:first-child .title", "item 94");
        assert_eq!(titles(&browser), counted_down(45..95));
        for number in [80, 95] {
            click(&browser, "#inbox .further a");
            browser.wait_for(&has(number));
        }
        assert_eq!(titles(&browser), counted_down(0..95));
        assert_eq!(
            browser.count("#inbox .further:not([hidden])"),
            0,
            "there is no more"
        );
    });
    // What was added stays when the list is made anew.
    let path = format!("/flows/{MAIN}/users");
    ben.does(Method::POST, &path, &json!({"id": late.id})).await;
    tokio::task::block_in_place(|| {
        shows(&browser, &format!("#people li[data-id='{}']", late.id));
        assert_eq!(titles(&browser), counted_down(0..95));
        // Without a script the link leads to a page of its own.
        open_flow(&browser, &server, "");
        let address = "document.querySelector('#inbox .further a').getAttribute('href')";
        let address = browser.execute(&format!("return {address}"));
        browser.open(&format!(
            "{}{}",
            server.base_url(),
            address.as_str().unwrap()
        ));
        assert_eq!(titles(&browser), counted_down(35..65));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn files_have_a_list(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for number in 0..31 {
        let file = json!({
            "event": "file",
            "content": {"data": "dGVh", "content_type": "text/plain", "file_name": format!("tea-{number}.txt")},
        });
        ben.post(MAIN, &file).await;
    }
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        click(&browser, ".list .tabs a[href$='/files']");
        waits_for_text(&browser, ".files .name", "tea-30.txt");
        assert_eq!(browser.count(".files li"), 30);
        let sent = browser.execute("return document.querySelector('.files .sent').textContent");
        assert!(sent.as_str().unwrap().starts_with("ben "), "{sent}");
        click(&browser, ".further a");
        waits_for_text(&browser, ".files li:last-child .name", "tea-0.txt");
        assert_eq!(browser.count(".files li"), 31);
        assert_eq!(browser.count(".further"), 0, "there is no more");
        // It leads to the message that brought it.
        click(&browser, ".files li:last-child .sent");
        shows(&browser, "#chat article.here[data-id='1']");
        shows(&browser, "#inbox[data-list='files']");
    });
}

async fn a_search_stays_beside_what_it_found(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Where is the kettle?").await;
    for number in 0..100 {
        ben.say(MAIN, &format!("message {number}")).await;
    }
    ben.say(MAIN, "The kettle is here").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        mark(&browser);
        click(&browser, ".talk .bar a[href$='/search']");
        shows(&browser, "#inbox [name='q']");
        browser.type_keys("#inbox [name='q']", "kettle");
        browser.type_keys("#inbox [name='q']", super::ENTER);
        browser.wait_for("document.querySelectorAll('.found li').length === 2");
        for (number, id) in [(2, 1), (1, 102)] {
            click(&browser, &format!(".found li:nth-child({number}) a"));
            shows(&browser, &format!("#chat article.here[data-id='{id}']"));
            assert_eq!(browser.count(".found li"), 2);
        }
        browser.execute("history.back()");
        shows(&browser, "#chat article.here[data-id='1']");
        is_same(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_phone_shows_the_list_that_was_asked_for(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let question = ben.say(MAIN, "Lunch?").await;
    answer(&ben, &question, "At noon").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(400, 800);
        open(&browser, &server, &ada);
        mark(&browser);
        let is_shown = |css: &str| {
            browser.wait_for(&format!(
                "document.querySelector({})?.checkVisibility()",
                Value::from(css)
            ));
        };
        for (pane, list) in [
            ("/threads", "threads"),
            ("/people", "people"),
            ("/inbox", "inbox"),
        ] {
            let tab = format!(".both a[href$='{pane}']");
            let visible = format!(
                "[...document.querySelectorAll({})].find((tab) => tab.checkVisibility()).click()",
                Value::from(tab)
            );
            browser.execute(&visible);
            is_shown(&format!("#inbox[data-list='{list}']"));
            is_shown(".list .both [aria-current]");
        }
        // The button of the new list opens the list of flows.
        click(&browser, ".list [data-drawer-opener]");
        browser.wait_for("document.body.dataset.drawer !== undefined");
        browser.press_keys(ESCAPE);
        browser.execute(
            "[...document.querySelectorAll('.both a[href$=\"/main\"]')].find((tab) => tab.checkVisibility()).click()",
        );
        is_shown("#chat article .mark");
        click(&browser, "#chat article .mark");
        is_shown("#thread-title");
        click(&browser, ".thread .back");
        is_shown("#inbox");
        is_same(&browser);
    });
}

/// Follows the tab of a narrow page to the pane whose address ends so.
fn go_to(browser: &Browser, pane: &str) {
    let tabs = format!(".both a[href$='{pane}']");
    browser.execute(&format!(
        "[...document.querySelectorAll({})].find((tab) => tab.checkVisibility()).click()",
        Value::from(tabs)
    ));
}

/// Waits until one pane of a narrow page is shown, and the address is that of this path.
fn shows_only(browser: &Browser, pane: &str, path: &str) {
    browser.wait_for(&format!(
        "[...document.querySelectorAll('main > section')].filter((each) => each.checkVisibility())
             .map(({{ classList }}) => classList[0]).join() === '{pane}'
         && location.pathname === '/app/{MAIN}{path}'"
    ));
}

async fn on_a_phone_back_leads_to_the_list_that_a_thread_was_opened_from(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ada, MAIN, "Ledger").await;
    source.push(&activity("1", "opened")).await;
    let question = ben.say(MAIN, "Lunch?").await;
    answer(&ben, &question, "At noon").await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(400, 800);
        open(&browser, &server, &ada);
        mark(&browser);
        shows_only(&browser, "talk", "");
        for list in ["/inbox", "/threads"] {
            go_to(&browser, list);
            shows_only(&browser, "list", list);
            click(&browser, "#inbox .rows a");
            browser.wait_for("document.querySelector('#thread')?.checkVisibility()");
            browser.execute("history.back()");
            shows_only(&browser, "list", list);
            click(&browser, "#inbox .rows a");
            browser.wait_for("document.querySelector('#thread')?.checkVisibility()");
            click(&browser, ".thread .back");
            shows_only(&browser, "list", list);
            go_to(&browser, "/main");
            shows_only(&browser, "talk", "");
            browser.execute("history.back()");
            shows_only(&browser, "list", list);
            go_to(&browser, "/main");
            shows_only(&browser, "talk", "");
        }
        // A thread that the chat has opened closes to the chat, whatever list was shown before.
        click(&browser, "#chat article:last-child .mark");
        browser.wait_for("document.querySelector('#thread')?.checkVisibility()");
        click(&browser, ".thread .leave");
        shows_only(&browser, "talk", "");
        is_same(&browser);
        // The inbox is a page of its own.
        open_flow(&browser, &server, "/inbox");
        shows_only(&browser, "list", "/inbox");
        shows(&browser, "#inbox[data-list='inbox'] .rows");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_private_conversation_hears_of_a_new_flow(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        let page = format!("{}/app/-/private/{}", server.base_url(), ben.id);
        browser.open(&page);
        super::ready(&browser);
        mark(&browser);
    });
    server.flow("acme", "side", &[&ada, &ben]);
    tokio::task::block_in_place(|| {
        shows(&browser, ".tab[data-api='acme/side']");
        is_same(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
