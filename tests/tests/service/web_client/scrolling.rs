//! A reader who has scrolled up: what they see stays where it is.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_sqlite};

use super::{MAIN, complaints, open, read_all, sees};

on_sqlite![
    what_arrives_does_not_move_what_is_seen,
    what_is_loaded_above_does_not_move_what_is_seen,
    what_an_author_wrote_before_does_not_move_what_is_seen,
];

/// Has both say messages of several lines in turn, more than one screen of them.
async fn fill(one: &Caller, other: &Caller, count: usize) {
    for (number, who) in (0..count).zip([one, other].into_iter().cycle()) {
        who.say(MAIN, &format!("message {number}\nof\nthree lines"))
            .await;
    }
}

/// Scrolls, and remembers a row in the middle of the pane.
fn scroll(browser: &Browser, to: &str) {
    browser.execute(&format!(
        "const scroll = document.querySelector('#chat-scroll');
         scroll.scrollTop = {to};
         const {{ top, height }} = scroll.getBoundingClientRect();
         window.row = [...document.querySelectorAll('#chat article[data-id]')]
             .find((row) => row.getBoundingClientRect().bottom > top + height / 2);
         window.place = window.row.getBoundingClientRect().bottom;"
    ));
}

/// The text of the row is where it was. Above it the line with the author can come and go.
fn is_unmoved(browser: &Browser, what: &str) {
    let moved = browser.execute(
        "return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
             resolve(Math.abs(window.row.getBoundingClientRect().bottom - window.place)))))",
    );
    let moved = moved.as_f64().expect("a distance");
    assert!(moved < 1.0, "{what}: it moved by {moved} pixels");
}

fn counts(browser: &Browser, label: &str) {
    browser.wait_for(&format!(
        "document.querySelector('button.newer:not([hidden])')?.textContent.trim() === '{label}'"
    ));
}

async fn what_arrives_does_not_move_what_is_seen(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ada, &ben, 40).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        scroll(&browser, "-700");
        counts(&browser, "Jump to the newest");
    });
    ben.say(MAIN, "first\nof\nthree lines").await;
    tokio::task::block_in_place(|| {
        counts(&browser, "1 newer");
        is_unmoved(&browser, "live");
    });
    ben.say(MAIN, "second").await;
    tokio::task::block_in_place(|| {
        counts(&browser, "2 newer");
        is_unmoved(&browser, "live");
        // The button leads to them.
        browser.execute("document.querySelector('button.newer').click()");
        browser.wait_for("document.querySelector('button.newer').hidden");
        browser.wait_for("document.querySelector('#chat-scroll').scrollTop === 0");
    });
    // A reader at the end sees what comes, without a button.
    ben.say(MAIN, "third").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "third");
        let seen = "const pane = document.querySelector('#chat-scroll').getBoundingClientRect();
             const row = document.querySelector('#chat article:last-of-type').getBoundingClientRect();
             return row.bottom <= pane.bottom && document.querySelector('button.newer').hidden";
        assert_eq!(browser.execute(seen), true);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn what_is_loaded_above_does_not_move_what_is_seen(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ada, &ben, 120).await;
    loads_in_place(&browser, &server, &ada).await;
}

/// The first row loses the line with its author.
async fn what_an_author_wrote_before_does_not_move_what_is_seen(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, &ben, 120).await;
    loads_in_place(&browser, &server, &ada).await;
}

/// Scrolls up to the first message of the flow, of 120.
async fn loads_in_place(browser: &Browser, server: &Server, ada: &Caller) {
    read_all(ada).await;
    tokio::task::block_in_place(|| {
        open(browser, server, ada);
        // Near the first row that is there, and at its very top.
        for above in [300, 0] {
            let count = browser.count("#chat article");
            scroll(
                browser,
                &format!("scroll.clientHeight - scroll.scrollHeight + {above}"),
            );
            browser.wait_for(&format!(
                "document.querySelectorAll('#chat article').length > {count}"
            ));
            is_unmoved(browser, &format!("at {above}"));
        }
        sees(browser, "message 0\nof\nthree lines");
        assert_eq!(complaints(browser), [""; 0]);
    });
}
