//! Several tabs of one browser, which share a stream.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use super::{MAIN, complaints, open, open_flow, sees, texts, write};

on_sqlite![tabs_of_one_browser_share_a_stream];

async fn tabs_of_one_browser_share_a_stream(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let (first, second) = tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let first = browser.tab();
        let second = browser.open_tab();
        open_flow(&browser, &server, "");
        (first, second)
    });
    ben.say(MAIN, "for both").await;
    tokio::task::block_in_place(|| {
        for tab in [&first, &second] {
            browser.show_tab(tab);
            sees(&browser, "for both");
            assert_eq!(streams_of_the_page(&browser), 0);
        }
        assert_eq!(shared_workers(&browser), 1);
        // What one tab writes stands in the other.
        write(&browser, "to the other");
        browser.show_tab(&first);
        sees(&browser, "to the other");
        // The tab that began the stream is closed.
        browser.close_tab();
        browser.show_tab(&second);
    });
    ben.say(MAIN, "for the one that is left").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "for the one that is left");
        assert_eq!(shared_workers(&browser), 1);
        let third = browser.open_tab();
        open_flow(&browser, &server, "");
        browser.show_tab(&third);
    });
    ben.say(MAIN, "for both again").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "for both again");
        browser.show_tab(&second);
        sees(&browser, "for both again");
        let all = [
            "for both",
            "to the other",
            "for the one that is left",
            "for both again",
        ];
        assert_eq!(texts(&browser), all);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

/// How many streams the page has opened itself.
fn streams_of_the_page(browser: &Browser) -> i64 {
    let count = browser.execute(
        "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/-/stream/')).length",
    );
    count.as_i64().unwrap()
}

fn shared_workers(browser: &Browser) -> usize {
    let targets = browser.command("Target.getTargets", &json!({}));
    let targets = targets["targetInfos"].as_array().unwrap();
    let workers = targets
        .iter()
        .filter(|target| target["type"] == "shared_worker");
    workers.count()
}
