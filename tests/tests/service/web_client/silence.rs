//! A connection that stays open while no more bytes pass.

use std::time::Duration;

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use tokio::time::sleep;

use super::network::{chat_at_a_cable, has_stayed, shown, stored};
use super::{MAIN, complaints, sees, shows, write};

on_sqlite![
    a_stream_that_falls_silent_is_opened_anew,
    a_network_that_falls_silent_is_told_and_left_behind,
    a_message_on_a_connection_that_fell_silent_is_sent_on_another,
];

/// How long the page hears nothing before it takes the connection for broken (`SILENCE` in
/// `stream.js`).
const SILENCE: Duration = Duration::from_secs(45);

async fn a_stream_that_falls_silent_is_opened_anew(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, ben }, cable) = chat_at_a_cable(&browser, &server).await;

    cable.silence_streams();
    for text in ["one", "two"] {
        ben.say(MAIN, text).await;
    }
    tokio::task::block_in_place(|| {
        write(&browser, "mine");
        sees(&browser, "mine");
        assert_eq!(shown(&browser), ["before", "mine"], "nothing else is heard");
    });
    sleep(SILENCE).await;
    tokio::task::block_in_place(|| {
        for text in ["one", "two"] {
            sees(&browser, text);
        }
    });
    ben.say(MAIN, "live").await;
    tokio::task::block_in_place(|| sees(&browser, "live"));
    let stored = stored(&ada).await;
    assert_eq!(stored, ["before", "one", "two", "mine", "live"]);
    tokio::task::block_in_place(|| {
        assert_eq!(shown(&browser), stored);
        has_stayed(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_network_that_falls_silent_is_told_and_left_behind(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, ben }, cable) = chat_at_a_cable(&browser, &server).await;

    cable.fall_silent();
    for text in ["one", "two"] {
        ben.say(MAIN, text).await;
    }
    tokio::task::block_in_place(|| {
        write(&browser, "mine");
        shows(&browser, "#chat article.wait");
        assert_eq!(browser.count("#offline[hidden]"), 1, "nothing says so yet");
    });
    sleep(SILENCE).await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#offline:not([hidden])");
        assert_eq!(shown(&browser), ["before", "mine"]);
        assert_eq!(browser.count("#chat article.wait"), 1);
    });

    cable.plug_in();
    tokio::task::block_in_place(|| {
        browser.wait_for("document.querySelector('#offline').hidden");
        for text in ["one", "two", "mine"] {
            sees(&browser, text);
        }
    });
    let stored = stored(&ada).await;
    assert_eq!(stored, ["before", "one", "two", "mine"]);
    tokio::task::block_in_place(|| {
        assert_eq!(shown(&browser), stored);
        has_stayed(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_message_on_a_connection_that_fell_silent_is_sent_on_another(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, ben }, cable) = chat_at_a_cable(&browser, &server).await;

    cable.fall_silent();
    tokio::task::block_in_place(|| {
        write(&browser, "mine");
        shows(&browser, "#chat article.wait");
    });
    cable.carry_new_ones();
    sleep(SILENCE).await;
    tokio::task::block_in_place(|| {
        browser.wait_for("!document.querySelector('#chat article.wait')");
        browser.wait_for("document.querySelector('#offline').hidden");
    });
    ben.say(MAIN, "live").await;
    tokio::task::block_in_place(|| sees(&browser, "live"));
    let stored = stored(&ada).await;
    assert_eq!(stored, ["before", "mine", "live"]);
    tokio::task::block_in_place(|| {
        assert_eq!(shown(&browser), stored);
        has_stayed(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
