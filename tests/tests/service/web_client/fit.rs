//! Everybody can use the page, whatever the room and the colours, and no text does harm.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use super::{MAIN, complaints, open, open_flow, sees, write};

on_sqlite![the_page_fits_every_screen_in_light_and_dark];
on_sqlite![
    hostile_text_runs_nothing_and_asks_nobody,
    the_page_is_light_and_stays_where_it_is,
];

/// The most bytes of all scripts and of the style over the wire.
const MAX_SCRIPT: i64 = 60 * 1024;
const MAX_STYLE: i64 = 40 * 1024;

async fn the_page_fits_every_screen_in_light_and_dark(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for text in [
        "Good morning @ada",
        "`code` and\n```rust\n// Why\nlet a = \"b\" + 1;\n```",
        "```diff\n@@ 1 @@\n-old\n+new\n```\n```json\n{\"key\": null}\n```",
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
                let thread = format!("/threads/{thread}");
                let (found, none) = ("/search?q=morning", "/search?q=nothing&tags=tag");
                for rest in ["", "/people", &thread, found, none, "/messages/1#m1"] {
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
        // What the policy stops, and requests that fail because there is no such host, are there.
        assert_eq!(browser.log(), Vec::<String>::new());
    });
}

async fn the_page_is_light_and_stays_where_it_is(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for number in 0..60 {
        ben.say(MAIN, &format!("message {number} @ada\n`code` #tag"))
            .await;
    }
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // What the service worker keeps has no size over the wire.
        browser.command("Network.enable", &json!({}));
        browser.command("Network.setBypassServiceWorker", &json!({"bypass": true}));
        // A page that comes slowly must not be drawn while it still grows.
        browser.command("Emulation.setCPUThrottlingRate", &json!({"rate": 10}));
        // The clock of the page is known from now on.
        open_flow(&browser, &server, "");
        // Chromium can list a module twice: for the preload and for the import.
        let bytes = |end: &str| {
            let sum = browser.execute(&format!(
                "const sizes = new Map(performance.getEntriesByType('resource')
                     .filter((entry) => new URL(entry.name).pathname.endsWith('{end}'))
                     .map((entry) => [entry.name, entry.encodedBodySize]));
                 return [...sizes.values()].reduce((sum, size) => sum + size, 0)"
            ));
            sum.as_i64().unwrap()
        };
        let (script, style) = (bytes(".js"), bytes(".css"));
        assert!(
            script > 0 && script <= MAX_SCRIPT,
            "{script} bytes of script"
        );
        assert!(style > 0 && style <= MAX_STYLE, "{style} bytes of style");
        let moved = browser.execute(
            "return new Promise((resolve) => {
                const moved = [];
                const note = (entries) => {
                    for (const { value, sources } of entries) {
                        const nodes = sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 200));
                        moved.push({ value, nodes });
                    }
                };
                const observer = new PerformanceObserver((list) => note(list.getEntries()));
                observer.observe({ type: 'layout-shift', buffered: true });
                requestAnimationFrame(() => requestAnimationFrame(() => {
                    note(observer.takeRecords());
                    resolve(moved);
                }));
            })",
        );
        assert_eq!(moved, json!([]), "nothing moves once it is shown");
    });
}
