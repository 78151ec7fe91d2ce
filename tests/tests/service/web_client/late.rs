//! Answers that come late: what a page shows does not go back to what an earlier one said.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Patience, Server, on_both_databases};
use serde_json::{Value as Json, json};

use super::unread::{counts, inbox_of, unread_in_inbox};
use super::{MAIN, click, complaints, open, open_flow, ready, sees, shows, texts};
use crate::integrations::activity;

on_both_databases![
    a_thread_read_while_the_page_is_made_anew_is_counted_no_more,
    an_inbox_marked_as_read_stays_read_when_an_earlier_answer_comes,
    a_list_opened_while_it_is_read_elsewhere_is_read,
    a_late_answer_does_not_count_what_was_read_elsewhere,
    settings_that_change_while_the_page_is_asked_for_are_shown,
    messages_of_a_moment_do_not_make_the_page_anew,
    what_others_call_themselves_makes_the_page_anew_ever_more_seldom,
    a_thread_read_without_a_network_is_marked_when_that_is_back,
];

/// Has the page hold its requests that a test names, and count those for the page itself.
///
/// `held(method, path, body)` says what is held: `'before'` it is sent, `'after'` its answer has come, or
/// nothing. `window.letGo()` lets go of what is held, which [`is_held`] waits for.
pub(super) fn hold(browser: &Browser, held: &str) {
    browser.execute(&format!(
        "const real = window.fetch;
         const held = {held};
         window.pages = 0;
         Math.random = () => 0;
         window.fetch = async (address, options) => {{
             const {{ pathname }} = new URL(address, location);
             const method = options?.method ?? 'GET';
             if (method === 'GET' && pathname === location.pathname) window.pages += 1;
             const wait = () => new Promise((resolve) => {{ window.letGo = resolve; }});
             const when = window.isHeld ? undefined : held(method, pathname, String(options?.body));
             window.isHeld ||= when !== undefined;
             if (when === 'before') await wait();
             const answer = await real(address, options);
             if (when === 'after') await wait();
             return answer;
         }}"
    ));
}

/// Waits until a request is held.
pub(super) fn is_held(browser: &Browser) {
    browser.wait_for("window.letGo !== undefined");
}

/// Lets go of the request that is held.
pub(super) fn let_go(browser: &Browser) {
    browser.execute("window.letGo()");
}

/// Has the page hold another request. `window.letFirstGo()` lets go of the one that is held.
fn hold_another(browser: &Browser) {
    browser.execute(
        "window.letFirstGo = window.letGo;
         delete window.letGo;
         window.isHeld = false",
    );
}

async fn rename(who: &Caller, name: &str) {
    who.does(Method::PUT, "/user", &json!({"name": name})).await;
}

/// Marks what the reader has read of the flow, as another device does.
async fn reads(reader: &Caller, message: &Json, marker: &str) {
    let body = json!({"message": message["id"], "marker": marker});
    reader
        .does(Method::PUT, &format!("/flows/{MAIN}/read"), &body)
        .await;
}

/// Waits until the server has noted that the chat was read up to a message.
async fn is_read(reader: &Caller, message: &Json) {
    let patience = Patience::until("the chat is marked read");
    while reader.get(&format!("/flows/{MAIN}")).await["read"] != message["id"] {
        patience.goes_on().await;
    }
}

async fn a_thread_read_while_the_page_is_made_anew_is_counted_no_more(server: Server) {
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
        let thread = first["thread_id"].as_str().unwrap();
        open_flow(&browser, &server, &format!("/threads/{thread}"));
        unread_in_inbox(&browser, 1);
        hold(
            &browser,
            "(method, path) => {
                 if (method === 'PUT' && path.includes('/threads/')) return 'before';
                 return method === 'GET' && window.pages === 2 ? 'after' : undefined;
             }",
        );
    });
    // The open thread gets a message, and the page is asked for before that is marked as read.
    source.push(&activity("1", "closed")).await;
    tokio::task::block_in_place(|| {
        is_held(&browser);
        // The head of the thread is made anew first.
        browser.wait_for("window.pages === 1");
        browser.execute("document.querySelector('#tabs .tab').isOfBefore = true");
        hold_another(&browser);
    });
    rename(&ben, "Benjamin").await;
    tokio::task::block_in_place(|| {
        is_held(&browser);
        browser.execute("window.letFirstGo()");
        unread_in_inbox(&browser, 1);
        let_go(&browser);
        browser.wait_for("!document.querySelector('#tabs .tab').isOfBefore");
        unread_in_inbox(&browser, 1);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn an_inbox_marked_as_read_stays_read_when_an_earlier_answer_comes(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let source = inbox_of(&server, &ada, MAIN).await;
    source.push(&activity("1", "opened")).await;
    source.push(&activity("2", "opened")).await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        hold(
            &browser,
            "(method, path) => (method === 'PUT' && path.includes('/threads/') ? 'after' : undefined)",
        );
        click(&browser, "#inbox .rows li:first-child a");
        is_held(&browser);
        browser.execute("document.querySelector(\"[data-do='read-inbox']\").focus()");
        click(&browser, "[data-do='read-inbox']");
        unread_in_inbox(&browser, 0);
        // The button is gone, and the focus stays beside it.
        browser.wait_for("document.activeElement.dataset.only === ''");
        let_go(&browser);
    });
    ben.say(MAIN, "later").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "later");
        unread_in_inbox(&browser, 0);
        shows(&browser, "[data-do='read-inbox'][hidden]");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_list_opened_while_it_is_read_elsewhere_is_read(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let source = inbox_of(&server, &ada, MAIN).await;
    let news = source.push(&activity("1", "opened")).await;
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/files");
        unread_in_inbox(&browser, 1);
        hold(
            &browser,
            "(method, path) => (method === 'GET' && path.endsWith('/main/inbox') ? 'after' : undefined)",
        );
        click(&browser, ".list .tabs [href$='/inbox']");
        is_held(&browser);
    });
    reads(&ada, &news, "inbox").await;
    tokio::task::block_in_place(|| {
        unread_in_inbox(&browser, 0);
        let_go(&browser);
        shows(&browser, "#inbox[data-list='inbox'] .rows li");
        assert_eq!(browser.count("#inbox .rows li.unread"), 0);
        unread_in_inbox(&browser, 0);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_late_answer_does_not_count_what_was_read_elsewhere(server: Server) {
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
        hold(
            &browser,
            "(method, path) => (method === 'PUT' && path.includes('/threads/') ? 'after' : undefined)",
        );
        // The second thread is read here, and the first on another device.
        click(&browser, "#inbox .rows li:first-child a");
        is_held(&browser);
    });
    let thread = first["thread_id"].as_str().unwrap();
    let path = format!("/flows/{MAIN}/threads/{thread}/read");
    let body = json!({"message": first["id"]});
    ada.does(Method::PUT, &path, &body).await;
    tokio::task::block_in_place(|| {
        unread_in_inbox(&browser, 0);
        let_go(&browser);
    });
    ben.say(MAIN, "later").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "later");
        unread_in_inbox(&browser, 0);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn settings_that_change_while_the_page_is_asked_for_are_shown(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let call = async |name: &str| {
        let body = json!({"name": name});
        ada.does(Method::PUT, "/flows/acme/side", &body).await;
    };
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ben);
        browser.open(&format!("{}/account", server.base_url()));
        ready(&browser);
        hold(
            &browser,
            "(method, path) => (method === 'GET' && path === location.pathname ? 'after' : undefined)",
        );
    });
    call("Once").await;
    tokio::task::block_in_place(|| is_held(&browser));
    call("Twice").await;
    // The stream brings this after the change.
    ben.does(Method::PUT, "/flows/acme/side", &json!({"open": true}))
        .await;
    ada.say("acme/side", "@ben look").await;
    tokio::task::block_in_place(|| {
        counts(&browser, "1", "hot");
        let_go(&browser);
        browser.wait_for("document.querySelector('#tabs').textContent.includes('Twice')");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn messages_of_a_moment_do_not_make_the_page_anew(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        hold(
            &browser,
            "(method, path) => (method === 'PUT' && path.endsWith('/main/read') ? 'before' : undefined)",
        );
    });
    let one = ben.say(MAIN, "one").await;
    tokio::task::block_in_place(|| {
        is_held(&browser);
        hold_another(&browser);
    });
    // The server notes that the first one was read when the page has shown the second.
    let two = ben.say(MAIN, "two").await;
    tokio::task::block_in_place(|| {
        is_held(&browser);
        browser.execute("window.letFirstGo()");
    });
    is_read(&ada, &one).await;
    tokio::task::block_in_place(|| let_go(&browser));
    is_read(&ada, &two).await;
    ben.say(MAIN, "three").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "three");
        assert_eq!(browser.execute("return window.pages"), 0);
        assert_eq!(texts(&browser), ["one", "two", "three"]);
        let own = "document.querySelector('.tab[aria-current]').dataset";
        browser.wait_for(&format!("{own}.unread === '0'"));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn what_others_call_themselves_makes_the_page_anew_ever_more_seldom(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let rename_again = async |name: &str| {
        rename(&ben, name).await;
        // The stream brings this after the name.
        ben.say(MAIN, &format!("{name} it is")).await;
    };
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/people");
        hold(&browser, "() => undefined");
        // The clock of the page stands still, and what is to come after a pause comes when the test
        // says so.
        browser.execute(
            "performance.now = () => 0;
             window.pauses = [];
             const real = window.setTimeout;
             window.setTimeout = (call, pause, ...rest) => {
                 if (![2000, 4000, 8000].includes(pause)) return real(call, pause, ...rest);
                 window.pauses.push(pause);
                 window.endPause = call;
                 return 1;
             }",
        );
    });
    let is_called = |name: &str| {
        browser.wait_for(&format!(
            "document.querySelector('.folks').textContent.includes('{name}')"
        ));
    };
    rename_again("Ben 0").await;
    tokio::task::block_in_place(|| is_called("Ben 0"));
    for number in [1, 3] {
        rename_again(&format!("Ben {number}")).await;
        rename_again(&format!("Ben {}", number + 1)).await;
        tokio::task::block_in_place(|| {
            sees(&browser, &format!("Ben {} it is", number + 1));
            browser.execute("window.endPause()");
            is_called(&format!("Ben {}", number + 1));
        });
    }
    tokio::task::block_in_place(|| {
        assert_eq!(browser.execute("return window.pauses"), json!([2000, 4000]));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_thread_read_without_a_network_is_marked_when_that_is_back(mut server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let source = inbox_of(&server, &ada, MAIN).await;
    let first = source.push(&activity("1", "opened")).await;
    let thread = first["thread_id"].as_str().unwrap();
    tokio::task::block_in_place(|| {
        browser.set_window_size(1700, 900);
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &format!("/threads/{thread}"));
        unread_in_inbox(&browser, 0);
        hold(
            &browser,
            "(method, path) => {
                 const isOfThread = method === 'PUT' && path.includes('/threads/');
                 const isPage = method === 'GET' && path === location.pathname;
                 return (window.isAway ? isPage : isOfThread) ? 'before' : undefined;
             }",
        );
    });
    let last = source.push(&activity("1", "closed")).await;
    tokio::task::block_in_place(|| is_held(&browser));
    is_read(&ada, &last).await;
    server.kill9();
    tokio::task::block_in_place(|| {
        // The thread cannot be marked now. The page is not made anew later, which would mark it, too.
        hold_another(&browser);
        browser.execute("window.isAway = true; window.letFirstGo()");
        shows(&browser, "#offline:not([hidden])");
    });
    server.restart();
    ben.say("acme/side", "@ada look").await;
    tokio::task::block_in_place(|| {
        counts(&browser, "1", "hot");
        unread_in_inbox(&browser, 0);
        assert_eq!(complaints(&browser), [""; 0]);
    });
    let patience = Patience::until("the thread is marked read");
    while ada.get(&format!("/flows/{MAIN}")).await["inbox"]["unread"] != 0 {
        patience.goes_on().await;
    }
}
