//! Everybody can use the page, whatever the room and the colours, and no text does harm.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{MAIN, complaints, open, open_flow, sees, write};

on_both_databases![
    the_page_fits_every_screen_in_light_and_dark,
    hostile_text_runs_nothing_and_asks_nobody,
];

async fn the_page_fits_every_screen_in_light_and_dark(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for text in [
        "Good morning @ada",
        "`code` and\n```\na block\n```",
        "> quoted\n#tag",
    ] {
        ben.say(MAIN, text).await;
    }
    let long = "a".repeat(300);
    let root = ben.say(MAIN, &long).await;
    let thread = root["thread_id"].as_str().unwrap().to_owned();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for theme in ["light", "dark"] {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
            browser.command("Emulation.setEmulatedMedia", &features);
            for (width, height) in [(360, 640), (1024, 768), (1440, 900), (1920, 1080)] {
                browser.set_window_size(width, height);
                for rest in ["", "/people", &format!("/threads/{thread}")] {
                    open_flow(&browser, &server, rest);
                    let place = format!("{rest} at {width} in {theme}");
                    assert_eq!(browser.audit(), Vec::<String>::new(), "{place}");
                    let beyond =
                        browser.execute("return document.documentElement.scrollWidth - innerWidth");
                    assert!(
                        beyond.as_i64().is_some_and(|pixels| pixels <= 0),
                        "{place}: {beyond}"
                    );
                }
            }
        }
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn hostile_text_runs_nothing_and_asks_nobody(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let hostile = [
        "<script>document.title = 'owned'</script>",
        "<img src=x onerror=\"document.title = 'owned'\">",
        "[x](javascript:document.title='owned')",
        "</div></article><h1>owned</h1>",
        "<svg onload=\"document.title='owned'\">",
        "![x](https://evil.example/pixel.png)",
    ];
    for text in hostile {
        ben.say(MAIN, text).await;
    }
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
    });
    for text in hostile {
        ben.say(MAIN, text).await;
    }
    tokio::task::block_in_place(|| {
        write(&browser, "done");
        sees(&browser, "done");
        browser.wait_for("document.querySelectorAll('#chat article').length === 13");
        assert_eq!(browser.title(), "main · Eddyline");
        assert_eq!(
            browser.count("#chat script, #chat img[src=x], #chat svg[onload], h1"),
            1
        );
        assert_eq!(complaints(&browser), Vec::<String>::new());
        let elsewhere = browser.log();
        assert!(
            elsewhere.iter().all(|line| !line.contains("evil.example")),
            "{elsewhere:?}"
        );
    });
}
