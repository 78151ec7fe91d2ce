//! A page that opens in the midst of a chat, searches, and mentions.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_both_databases, on_sqlite};
use serde_json::{Value, json};

use crate::integrations::{Source, activity};

use super::{MAIN, click, complaints, open, open_flow, ready, sees, shows, texts, write};

on_both_databases![
    a_page_opens_at_a_message_and_goes_on_to_both_ends,
    a_live_message_waits_until_the_newest_is_reached,
    nothing_is_missing_where_a_live_message_has_changed_behind_the_gap,
    an_older_message_of_a_thread_is_shown_in_its_pane,
    what_is_written_in_the_past_stands_behind_the_newest,
    a_page_opens_at_a_day,
    a_message_or_a_day_that_is_none_is_not_found,
    a_search_marks_what_it_found_and_leads_there,
    a_search_is_narrowed_by_nick_and_days,
    a_tag_leads_to_the_messages_that_have_it,
    all_rooms_are_searched_and_mentions_are_listed,
    hostile_words_are_shown_as_text,
    all_of_it_works_without_a_script,
];
on_sqlite![pages_over_all_rooms_fit_every_screen_in_light_and_dark];

async fn fill(ben: &Caller, count: usize) {
    for number in 0..count {
        ben.say(MAIN, &format!("message {number}")).await;
    }
}

fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| format!("message {number}")).collect()
}

/// Scrolls to one end of the chat until it shows a message there.
fn scroll_until(browser: &Browser, to: &str, text: &str) {
    browser.wait_for(&format!(
        "(() => {{
            const scroll = document.querySelector('#chat-scroll');
            scroll.scrollTop = {to};
            return [...document.querySelectorAll('#chat article .text')].some(place => place.textContent === {});
        }})()",
        Value::from(text)
    ));
}

/// The text of the first element that a CSS selector finds.
fn text_of(browser: &Browser, css: &str) -> String {
    let script = format!(
        "return document.querySelector({}).textContent",
        Value::from(css)
    );
    browser
        .execute(&script)
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

const UP: &str = "-scroll.scrollHeight";
const DOWN: &str = "0";

/// Goes down until the chat shows its newest messages.
fn go_down(browser: &Browser) {
    browser.wait_for(
        "(() => {
            document.querySelector('#chat-scroll').scrollTop = 0;
            return document.querySelector('button.newer').hidden;
        })()",
    );
}

/// Whether an element is within the part of the page that is seen.
fn is_in_sight(browser: &Browser, css: &str) -> bool {
    let script = format!(
        "const place = document.querySelector({}).getBoundingClientRect();
         const pane = document.querySelector('#chat-scroll').getBoundingClientRect();
         return place.top >= pane.top && place.bottom <= pane.bottom;",
        Value::from(css)
    );
    browser.execute(&script) == Value::Bool(true)
}

async fn a_page_opens_at_a_message_and_goes_on_to_both_ends(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, 300).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/messages/150");
        shows(&browser, "#chat article.here[data-id='150']");
        assert!(is_in_sight(&browser, "article.here"));
        let shown = texts(&browser);
        assert!(shown.contains(&"message 149".to_owned()));
        assert!(!shown.contains(&"message 299".to_owned()));
        assert_eq!(text_of(&browser, "button.newer"), "Jump to the newest");
        scroll_until(&browser, UP, "message 0");
        scroll_until(&browser, DOWN, "message 299");
        go_down(&browser);
        assert_eq!(texts(&browser), numbered(0..300), "no gaps, and each once");
        let path = browser.execute("return location.pathname");
        assert_eq!(path, format!("/app/{MAIN}"));
        // Each time leads to its message.
        let link = browser.execute(
            "return document.querySelector('#chat article[data-id=\"150\"] .when').getAttribute('href')",
        );
        assert_eq!(link, format!("/app/{MAIN}/messages/150#m150"));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_live_message_waits_until_the_newest_is_reached(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    fill(&ben, 130).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/messages/40");
    });
    ben.say(MAIN, "message 130").await;
    // Its sign has come when this one's has.
    ben.say("acme/side", "@ada look").await;
    tokio::task::block_in_place(|| {
        shows(&browser, ".tab[data-api='acme/side'].unread");
        assert!(!texts(&browser).contains(&"message 130".to_owned()));
        // Screen readers announce it although it is not shown yet.
        browser.wait_for("document.querySelector('#log').textContent.includes('message 130')");
        let flow = format!("/flows/{MAIN}");
        let read = tokio::runtime::Handle::current().block_on(ada.get(&flow))["read"].clone();
        assert_ne!(read, 131, "what is not shown is not read");
    });
    ben.does(Method::PUT, &reaction(131), &Value::Null).await;
    ben.say("acme/side", "@ada look again").await;
    tokio::task::block_in_place(|| {
        browser.wait_for(
            "document.querySelector('.tab[data-api=\"acme/side\"] .num').textContent === '2'",
        );
        go_down(&browser);
        shows(&browser, "#chat article[data-id='131'] .react");
        let shown = texts(&browser);
        let first: usize = shown[0]["message ".len()..].parse().unwrap();
        assert_eq!(shown, numbered(first..131));
        // The same by the button.
        open_flow(&browser, &server, "/messages/40");
        click(&browser, "button.newer");
        sees(&browser, "message 130");
        let shown = texts(&browser);
        let first: usize = shown[0]["message ".len()..].parse().unwrap();
        assert_eq!(shown, numbered(first..131));
    });
    ben.say(MAIN, "message 131").await;
    tokio::task::block_in_place(|| sees(&browser, "message 131"));
}

/// The path of a reaction to a message of the flow.
fn reaction(message: i64) -> String {
    format!("/flows/{MAIN}/messages/{message}/reactions/%F0%9F%8E%89")
}

async fn nothing_is_missing_where_a_live_message_has_changed_behind_the_gap(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, 120).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/messages/5");
    });
    // The page holds these. Those that change are to be loaded.
    for number in 120..190 {
        let message = ben.say(MAIN, &format!("message {number}")).await;
        if number % 20 == 0 {
            let path = format!("/flows/{MAIN}/messages/{}", message["id"]);
            let now = json!({"content": format!("message {number}!")});
            ben.does(Method::PUT, &path, &now).await;
        }
    }
    let all = (0..190).map(|number| match number {
        120 | 140 | 160 | 180 => format!("message {number}! (edited)"),
        _ => format!("message {number}"),
    });
    tokio::task::block_in_place(|| {
        click(&browser, "button.newer");
        sees(&browser, "message 189");
        scroll_until(&browser, UP, "message 0");
        assert_eq!(texts(&browser), all.collect::<Vec<_>>());
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn an_older_message_of_a_thread_is_shown_in_its_pane(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ben, MAIN, "Ledger").await;
    let mut ids = Vec::new();
    for number in 0..150 {
        let pushed = source
            .push(&activity("7", &format!("change {number}")))
            .await;
        ids.push(pushed["id"].as_i64().unwrap());
    }
    let thread = |number: usize| format!("#thread article[data-id='{}']", ids[number]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &format!("/messages/{}", ids[40]));
        shows(&browser, &format!("{}.here", thread(40)));
        let top = format!(
            "const [place, pane] = [\"{}\", '.thread .scroll']
                 .map((css) => document.querySelector(css).getBoundingClientRect());
             return place.top >= pane.top && place.bottom <= pane.bottom",
            thread(40)
        );
        assert_eq!(browser.execute(&top), true, "it is in sight");
        assert_eq!(browser.count(&thread(149)), 0);
        // What is written in the pane stands behind the newest of the thread.
        browser.type_keys("#reply textarea", "Seen");
        browser.type_keys("#reply textarea", "\u{e007}");
        shows(&browser, "#thread article[data-id][data-mine]");
        let shown = texts_of_thread(&browser);
        assert_eq!(shown[shown.len() - 2..], ["change 149", "Seen"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

fn texts_of_thread(browser: &Browser) -> Vec<String> {
    let texts = browser.execute(
        "return [...document.querySelectorAll('#thread .text')].map((place) => place.textContent)",
    );
    serde_json::from_value(texts).unwrap()
}

async fn what_is_written_in_the_past_stands_behind_the_newest(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, 120).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/messages/20");
        write(&browser, "mine");
        sees(&browser, "mine");
        let shown = texts(&browser);
        assert_eq!(shown[shown.len() - 2..], ["message 119", "mine"]);
        let first: usize = shown[0]["message ".len()..].parse().unwrap();
        assert_eq!(shown[..shown.len() - 1], numbered(first..120));
    });
}

async fn a_page_opens_at_a_day(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, 70).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // Nothing was said then, so the next that was is shown.
        open_flow(&browser, &server, "/on/2001-01-01");
        shows(&browser, "#chat .day#here + article[data-id='1']");
        assert!(is_in_sight(&browser, "#here"));
        assert!(text_of(&browser, "#notice").ends_with(": no messages. Here is what came next."));
        assert_eq!(browser.count("#chat article.here"), 0);
        // Of a day to come, the latest.
        open_flow(&browser, &server, "/on/2999-01-01");
        sees(&browser, "message 69");
        // The line with a day leads to the day.
        click(&browser, "#chat .day a");
        ready(&browser);
        shows(&browser, "#here");
        shows(&browser, "#notice[hidden]");
        // The form does, too.
        open_flow(&browser, &server, "/search");
        browser.execute("document.querySelector('input[name=date]').value = '2001-01-01'");
        browser.press("Go");
        browser.wait_for("location.pathname.endsWith('/on/2001-01-01')");
        ready(&browser);
        shows(&browser, "#chat .day#here + article[data-id='1']");
    });
}

async fn a_message_or_a_day_that_is_none_is_not_found(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, 1).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let flow = format!("/app/{MAIN}");
        for path in [
            format!("{flow}/messages/2"),
            format!("{flow}/messages/0"),
            format!("{flow}/messages/x"),
            format!("{flow}/on/2026-02-30"),
            format!("{flow}/on/yesterday"),
            format!("/app/-/private/{}/messages/1", ben.id),
            format!("/app/-/private/{}/on/x", ben.id),
        ] {
            browser.open(&format!("{}{path}", server.base_url()));
            assert!(
                text_of(&browser, "main").contains("Page not found"),
                "{path}"
            );
        }
    });
}

async fn a_search_marks_what_it_found_and_leads_there(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Where is the Kettle?").await;
    fill(&ben, 100).await;
    for number in 0..25 {
        ben.say(MAIN, &format!("teacup {number}")).await;
    }
    tokio::task::block_in_place(|| {
        // Signing in leads to the search that was asked for.
        browser.open(&format!("{}/app/{MAIN}/search?q=kettle", server.base_url()));
        browser.fill_label("E-mail address", &ada.email);
        browser.fill_label("Password", super::PASSWORD);
        browser.press("Sign in");
        shows(&browser, ".found mark");
        open_flow(&browser, &server, "/search");
        browser.fill_label("Words", "kettle");
        browser.press("Search");
        shows(&browser, ".found mark");
        assert_eq!(text_of(&browser, ".found mark"), "Kettle");
        click(&browser, ".found a");
        browser.wait_for("location.pathname.endsWith('/messages/1')");
        ready(&browser);
        shows(&browser, "article.here[data-id='1']");
        assert!(is_in_sight(&browser, "article.here"));
        // More than one page.
        open_flow(&browser, &server, "/search?q=teacup");
        assert_eq!(browser.count(".found li"), 20);
        assert!(text_of(&browser, ".found li").contains("teacup 24"));
        click(&browser, ".further a");
        browser.wait_for("document.querySelectorAll('.found li').length === 5");
        open_flow(&browser, &server, "/search?q=nothingofthekind");
        assert!(text_of(&browser, ".findings").contains("Nothing found"));
        let words: Vec<String> = (0..21).map(|number| format!("w{number}")).collect();
        open_flow(&browser, &server, &format!("/search?q={}", words.join("+")));
        assert!(text_of(&browser, ".findings").contains("more than 20 words"));
    });
}

async fn a_search_is_narrowed_by_nick_and_days(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "Where is the kettle?").await;
    ada.say(MAIN, "The kettle is here").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/search");
        browser.fill_label("Written by", "@Ben");
        browser.press("Search");
        browser.wait_for("document.querySelectorAll('.found li').length === 1");
        assert!(text_of(&browser, ".found li").contains("Where is"));
        browser.wait_for("location.search.includes('by=%40Ben')");
        let found = |query: &str| {
            open_flow(&browser, &server, &format!("/search?{query}"));
            browser.count(".found li")
        };
        let today = "new Date().toISOString().slice(0, 10)";
        let today = browser.execute(&format!("return {today}"));
        let today = today.as_str().unwrap();
        assert_eq!(found(&format!("q=kettle&since={today}&until={today}")), 2);
        assert_eq!(found("q=kettle&until=2020-01-01"), 0);
        assert_eq!(found("since=2020-01-01&by=ada"), 1);
        for (query, mistake) in [
            ("by=eve", "There is no user with the nick eve here."),
            ("since=yesterday", "Enter a day"),
        ] {
            assert_eq!(found(query), 0);
            assert!(text_of(&browser, ".findings").contains(mistake), "{query}");
        }
        // All rooms are searched by words, which a nick narrows.
        let everywhere = |query: &str| {
            browser.open(&format!("{}/app/-/search?{query}", server.base_url()));
            ready(&browser);
            browser.count(".found li")
        };
        assert_eq!(everywhere("q=kettle&by=ben"), 1);
        assert_eq!(everywhere("by=ben"), 0);
        assert!(text_of(&browser, ".findings").contains("Enter words or tags"));
    });
}

async fn a_tag_leads_to_the_messages_that_have_it(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "one #Release today").await;
    ben.say(MAIN, "two").await;
    let tagged = json!({"event": "message", "content": "three", "tags": ["release"]});
    ben.post(MAIN, &tagged).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for css in ["#chat .text a.tag", "#chat .tags a"] {
            open_flow(&browser, &server, "");
            click(&browser, css);
            browser.wait_for("location.search === '?tags=release'");
            ready(&browser);
            assert_eq!(browser.count(".found li"), 2, "{css}");
            assert_eq!(browser.count(".found mark"), 0);
        }
    });
    // What the script fills leads there, too.
    ben.say(MAIN, "four #release").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "four #release");
        let links = browser.execute(
            "return [...document.querySelectorAll('#chat .text a.tag')].map(link => link.getAttribute('href'))",
        );
        let link = format!("/app/{MAIN}/search?tags=release");
        assert_eq!(links, json!([link, link]));
    });
}

async fn all_rooms_are_searched_and_mentions_are_listed(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    ben.say(MAIN, "kettle in main").await;
    ben.say("acme/side", "@ada kettle in side").await;
    let private = json!({"event": "message", "content": "kettle in private"});
    let path = format!("/private/{}/messages", ada.id);
    ben.does(Method::POST, &path, &private).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, "#mentions .count:not([hidden])");
        assert_eq!(text_of(&browser, "#mentions .num"), "1");
        browser.open(&format!("{}/app/-/search", server.base_url()));
        shows(&browser, "[name=q]:focus");
        assert!(browser.text().contains("A word finds longer ones"));
        browser.fill_label("Words", "kettle");
        browser.press("Search");
        shows(&browser, ".found mark");
        let found = browser.execute(
            "return [...document.querySelectorAll('.found .excerpt')].map(place => place.textContent)",
        );
        assert_eq!(
            found,
            json!(["kettle in private", "@ada kettle in side", "kettle in main"])
        );
        click(&browser, ".found a");
        ready(&browser);
        shows(&browser, "article.here");
        assert_eq!(
            browser.execute("return location.pathname"),
            format!("/app/-/private/{}/messages/1", ben.id)
        );
        click(&browser, "#mentions");
        shows(&browser, ".found");
        assert_eq!(browser.count(".found li"), 1);
        click(&browser, ".found a");
        ready(&browser);
        shows(&browser, "article.here");
        assert_eq!(
            browser.execute("return location.pathname"),
            "/app/acme/side/messages/1"
        );
    });
}

async fn hostile_words_are_shown_as_text(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let hostile = "<script>kettle()</script> \"'><img src=x onerror=alert(1)>";
    ben.say(MAIN, hostile).await;
    let query = "?q=%3Cscript%3Ekettle%28%29%3C%2Fscript%3E+%22%27%3E&tags=%22%3E%3Cb%3E";
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for path in [format!("/app/{MAIN}/search"), "/app/-/search".to_owned()] {
            browser.open(&format!("{}{path}?q=kettle", server.base_url()));
            shows(&browser, ".found mark");
            assert_eq!(text_of(&browser, ".found .excerpt"), hostile);
            browser.open(&format!("{}{path}{query}", server.base_url()));
            let value = browser.execute("return document.querySelector('.search [name=q]').value");
            assert_eq!(value, "<script>kettle()</script> \"'>");
            let value =
                browser.execute("return document.querySelector('.search [name=tags]').value");
            assert_eq!(value, "\"><b>");
            assert_eq!(
                browser.count(".findings script, .findings b, .findings img"),
                0
            );
        }
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn all_of_it_works_without_a_script(server: Server) {
    let Some(browser) = Browser::with_javascript_disabled() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    fill(&ben, 120).await;
    ben.say(MAIN, "@ada kettle").await;
    tokio::task::block_in_place(|| {
        browser.open(&format!("{}/sign-in", server.base_url()));
        browser.fill_label("E-mail address", &ada.email);
        browser.fill_label("Password", super::PASSWORD);
        browser.press("Sign in");
        let at = |path: &str| browser.open(&format!("{}{path}", server.base_url()));
        at("/app/acme/main/messages/60#m60");
        assert_eq!(browser.count("article.here[data-id='60']"), 1);
        for (css, path) in [
            (
                "#chat .further a[href$='#m35']",
                "/app/acme/main/messages/35#m35",
            ),
            (
                "#chat .further a[href$='#m84']",
                "/app/acme/main/messages/84#m84",
            ),
            ("a.newer", "/app/acme/main"),
            (".day a", ""),
        ] {
            let href = browser.attribute(css, "href").unwrap_or_default();
            assert!(href.ends_with(path), "{css}: {href}");
        }
        at("/app/acme/main/search?q=kettle");
        assert_eq!(browser.count(".found mark"), 1);
        at("/app/-/search?q=kettle");
        assert_eq!(browser.count(".found mark"), 1);
        at("/app/-/mentions");
        assert_eq!(browser.count(".found li"), 1);
        at("/app/acme/main/on?date=2001-01-01");
        assert_eq!(browser.count("#here + article[data-id='1']"), 1);
    });
}

async fn pages_over_all_rooms_fit_every_screen_in_light_and_dark(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, &format!("@ada kettle {}", "a".repeat(300)))
        .await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for theme in ["light", "dark"] {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
            browser.command("Emulation.setEmulatedMedia", &features);
            for width in [360, 1024, 1440] {
                browser.set_window_size(width, 800);
                for path in ["search", "search?q=kettle", "search?q=none", "mentions"] {
                    browser.open(&format!("{}/app/-/{path}", server.base_url()));
                    let place = format!("{path} at {width} in {theme}");
                    assert_eq!(browser.audit(), [""; 0], "{place}");
                    let beyond =
                        browser.execute("return document.documentElement.scrollWidth - innerWidth");
                    assert!(
                        beyond.as_i64().is_some_and(|pixels| pixels <= 0),
                        "{place}: {beyond}"
                    );
                }
            }
        }
    });
}
