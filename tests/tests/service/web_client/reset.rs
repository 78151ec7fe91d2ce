//! A stream that cannot go on where it broke off, as after an older backup was put back: the page is
//! made anew in place.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::{Value as Json, json};

use super::network::{at_a_cable, has_stayed, shown, stays, stored};
use super::unread::counts;
use super::{MAIN, WRITE, complaints, read_all, sees, shows, write};

on_both_databases![a_page_is_made_anew_in_place_when_its_stream_cannot_go_on,];

/// Fewer than a page shows.
const MEANWHILE: usize = 20;

/// What a reload would lose: the text in the field, with the place of the cursor.
fn draft(browser: &Browser) -> Json {
    browser.execute(&format!(
        "const field = document.querySelector('{WRITE}');
         return [field.value, field.selectionStart, field === document.activeElement]"
    ))
}

async fn a_page_is_made_anew_in_place_when_its_stream_cannot_go_on(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    ben.say(MAIN, "before").await;
    read_all(&ada).await;
    ben.say("acme/side", "look").await;
    let cable = at_a_cable(&browser, &server, &ada).await;
    tokio::task::block_in_place(|| {
        counts(&browser, "1", "new");
        stays(&browser);
        browser.execute("document.querySelector('#chat article').isOfBefore = true");
    });

    cable.unplug();
    for number in 0..MEANWHILE {
        ben.say(MAIN, &format!("message {number}")).await;
    }
    ben.say("acme/side", "@ada look").await;
    tokio::task::block_in_place(|| {
        write(&browser, "mine");
        shows(&browser, "#chat article.wait");
        browser.type_keys(WRITE, "not yet sent");
    });
    let drafted = tokio::task::block_in_place(|| draft(&browser));
    assert_eq!(drafted, json!(["not yet sent", 12, true]));

    cable.mislead();
    cable.plug_in();
    tokio::task::block_in_place(|| {
        browser.wait_for("!document.querySelector('#chat article').isOfBefore");
        sees(&browser, "mine");
        sees(&browser, &format!("message {}", MEANWHILE - 1));
        counts(&browser, "1", "hot");
        browser.wait_for("document.querySelector('#offline').hidden");
    });
    ben.say(MAIN, "live").await;
    ben.say("acme/side", "@ada again").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "live");
        counts(&browser, "2", "hot");
    });
    let stored = stored(&ada).await;
    assert_eq!(stored.len(), MEANWHILE + 3);
    tokio::task::block_in_place(|| {
        assert_eq!(shown(&browser), stored);
        assert_eq!(draft(&browser), drafted);
        has_stayed(&browser);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
