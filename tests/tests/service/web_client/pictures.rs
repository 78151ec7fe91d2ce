//! Pictures of integrations: the page shows the copies of the server, and initials without them.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{MAIN, open, open_flow, shows};
use crate::avatars::png;
use crate::integrations::Source;
use crate::pictures::discussion;
use crate::receiver::{Answer, Receiver};

on_both_databases![&["--allow-private-targets"];
    pictures_of_integrations_come_from_the_server,
    a_picture_that_is_missing_leaves_the_initial,
    lists_and_settings_show_the_pictures_of_applications,
];

/// The rows of the thread.
const ROWS: &str = ".thread article";

async fn source(server: &Server) -> (Acme, Source, Receiver) {
    let acme = server.acme();
    let host = Receiver::start().await;
    host.answers(Answer::File(png(200)));
    let robot = server.robot("acme", &["--icon", &host.url("/icon.png")]);
    let source = Source::of(&robot, &acme.ben, MAIN, "Tickets").await;
    (acme, source, host)
}

/// Waits until the picture of each row is loaded.
#[track_caller]
fn all_loaded(browser: &Browser, rows: usize) {
    browser.wait_for(&format!(
        "(() => {{
            const rows = [...document.querySelectorAll('{ROWS}')];
            const loaded = (row) => row.querySelector(':scope > span[data-letter] img')?.naturalWidth > 0;
            return rows.length === {rows} && rows.every(loaded);
        }})()"
    ));
}

/// The places of the pictures of the rows, and what stands in them.
fn shown(browser: &Browser) -> serde_json::Value {
    browser.execute(&format!(
        "const attributes = (each) => Object.fromEntries([...each.attributes].map(({{ name, value }}) => [name, value]));
         return [...document.querySelectorAll('{ROWS} > span')]
             .map((place) => [attributes(place), [...place.children].map(attributes)])"
    ))
}

async fn pictures_of_integrations_come_from_the_server(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, .. }, source, host) = source(&server).await;
    let first = source.push(&discussion(&host.url("/zoe.png"))).await;
    let thread = format!("/threads/{}", first["thread_id"].as_str().unwrap());
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &thread);
        all_loaded(&browser, 1);
    });
    // The script fills the next rows: of another author, of none, and in one line.
    let mut second = discussion(&host.url("/yan.png"));
    second["author"]["name"] = json!("Yan");
    source.push(&second).await;
    second["author"] = json!(null);
    source.push(&second).await;
    second["event"] = json!("activity");
    second["title"] = json!("closed it");
    second["author"] = json!({"name": "Zoë", "avatar": host.url("/zoe.png")});
    source.push(&second).await;
    tokio::task::block_in_place(|| {
        all_loaded(&browser, 4);
        let filled = shown(&browser);
        open_flow(&browser, &server, &thread);
        all_loaded(&browser, 4);
        assert_eq!(shown(&browser), filled);
        let strange = browser.execute(
            "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin)
                 .filter((origin) => origin !== location.origin)",
        );
        assert_eq!(strange, json!([]));
        // What is in one line has its picture beside the line.
        let is_beside = browser.execute(
            "const row = document.querySelector('.thread article.act');
             const [picture, by] = ['img', '.by b'].map((each) => row.querySelector(each).getBoundingClientRect());
             return picture.width > 0 && picture.right <= by.left",
        );
        assert_eq!(is_beside, true);
    });
    assert_eq!(host.asked().len(), 3, "each picture once");
}

async fn a_picture_that_is_missing_leaves_the_initial(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, .. }, source, host) = source(&server).await;
    host.answers(Answer::Text("HTTP/1.1 404 Not Found\r\n\r\n".to_owned()));
    let first = source.push(&discussion(&host.url("/zoe.png"))).await;
    let thread = format!("/threads/{}", first["thread_id"].as_str().unwrap());
    let alone = format!("{ROWS} > span[data-letter=Z]:not(:has(img))");
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &thread);
        shows(&browser, &alone);
    });
    let mut second = discussion(&host.url("/yan.png"));
    second["author"]["name"] = json!("Yan");
    source.push(&second).await;
    tokio::task::block_in_place(|| {
        shows(&browser, &alone.replace('Z', "Y"));
    });
}

async fn lists_and_settings_show_the_pictures_of_applications(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (Acme { ada, .. }, source, host) = source(&server).await;
    let mut item = discussion(&host.url("/zoe.png"));
    source.push(&item).await;
    let sign = "#inbox .rows .from .source-icon[data-letter=R]";
    // The size of a sign is there before its picture is.
    let is_loaded = |sign: &str| {
        format!(
            "(() => {{
                const sign = document.querySelector('{sign}');
                const picture = sign?.querySelector('img');
                return picture?.naturalWidth > 0 && picture.offsetWidth === sign.offsetWidth;
            }})()"
        )
    };
    let rows = "return document.querySelector('#inbox .rows .from').outerHTML";
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, "/inbox");
        browser.wait_for(&is_loaded(sign));
        assert_eq!(browser.audit(), [""; 0]);
    });
    // The script makes the row anew.
    item["body"] = json!("Another word");
    source.push(&item).await;
    tokio::task::block_in_place(|| {
        browser.wait_for(
            "document.querySelector('#inbox .rows .last')?.textContent.includes('Another word')",
        );
        browser.wait_for(&is_loaded(sign));
        let live = browser.execute(rows);
        open_flow(&browser, &server, "/inbox");
        browser.wait_for(&is_loaded(sign));
        let places = |html: &serde_json::Value| {
            let html = html.as_str().unwrap();
            let mut parts: Vec<String> = html.split(['<', '>', ' ']).map(str::to_owned).collect();
            parts.sort_unstable();
            parts
        };
        assert_eq!(places(&browser.execute(rows)), places(&live));
        open_flow_settings(&browser, &server);
        browser.wait_for(&is_loaded(".src .source-icon[data-letter=T]"));
        assert_eq!(browser.audit(), [""; 0]);
    });
    assert_eq!(host.asked().len(), 1, "the picture once");
    // What its host does not have any more leaves the initial.
    let robot = server.robot("acme", &["--icon", &host.url("/gone.png")]);
    host.answers(Answer::Text("HTTP/1.1 404 Not Found\r\n\r\n".to_owned()));
    let bare = Source::of(&robot, &ada, MAIN, "Without").await;
    bare.push(&discussion(&host.url("/zoe.png"))).await;
    tokio::task::block_in_place(|| {
        open_flow_settings(&browser, &server);
        shows(&browser, ".src .source-icon[data-letter=W]:not(:has(img))");
        open_flow(&browser, &server, "/inbox");
        shows(&browser, &format!("{sign}:not(:has(img))"));
    });
}

/// Opens the page of the flow's sources.
fn open_flow_settings(browser: &Browser, server: &Server) {
    browser.open(&format!(
        "{}/app/{MAIN}/settings/sources",
        server.base_url()
    ));
    super::ready(browser);
}
