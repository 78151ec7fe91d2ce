//! The client in German: what the server writes, what the script writes, and which language a
//! browser gets.

use std::collections::BTreeSet;

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::Value;

use super::{ENTER, MAIN, UP, WRITE, complaints, open_flow, ready, sees, shows, sign_in, write};

on_sqlite![a_german_browser_sees_german_until_another_language_is_chosen];
on_sqlite![no_page_of_the_client_keeps_english_texts];

const ENGLISH: &str = include_str!("../../../../crates/web/texts/en.json");
const GERMAN: &str = include_str!("../../../../crates/web/texts/de.json");
/// The areas that the client shows, the frame of its pages and errors included.
const AREAS: [&str; 12] = [
    "both", "keys", "shell", "tools", "composer", "row", "dialogs", "key_map", "flow", "finding",
    "locale", "error",
];

/// What an Austrian browser asks for.
const LANGUAGES: &str = "de-AT,de,en";

fn attribute(browser: &Browser, css: &str, name: &str) -> String {
    browser.attribute(css, name).unwrap_or_default()
}

async fn a_german_browser_sees_german_until_another_language_is_chosen(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "alone", &[&ada]);
    ben.say(MAIN, "moin").await;
    tokio::task::block_in_place(|| {
        browser.set_languages(LANGUAGES);
        sign_in(&browser, &server, server.base_url(), &ada);
        open_flow(&browser, &server, "");
        assert_eq!(attribute(&browser, "html", "lang"), "de");
        assert_eq!(
            attribute(&browser, WRITE, "placeholder"),
            "Nachricht an main"
        );
        assert_eq!(
            attribute(&browser, ".bar .people", "aria-label"),
            "2 Personen"
        );
        let today = browser.execute(
            "const format = new Intl.DateTimeFormat('de', { weekday: 'long', day: 'numeric', month: 'long' });
             return [document.querySelector('#chat .day').textContent, format.format()]",
        );
        assert_eq!(today[0], today[1]);

        write(&browser, "hallo");
        sees(&browser, "hallo");
        browser.type_keys(WRITE, UP);
        shows(&browser, "#composer .to:not([hidden])");
        let editing =
            browser.execute("return document.querySelector('#composer .to .t').textContent");
        assert_eq!(editing, "Deine Nachricht bearbeiten");
        browser.type_keys(WRITE, " zusammen");
        browser.type_keys(WRITE, ENTER);
        sees(&browser, "hallo zusammen (bearbeitet)");
        open_flow(&browser, &server, "");
        sees(&browser, "hallo zusammen (bearbeitet)");
        open_flow(&browser, &server, "/people");
        browser
            .wait_for("document.querySelector('[data-online]').textContent === '1 von 2 online'");
        browser.open(&format!("{}/app/acme/alone", server.base_url()));
        ready(&browser);
        assert_eq!(
            attribute(&browser, ".bar .people", "aria-label"),
            "1 Person"
        );
        browser.open(&format!("{}/app/acme/none", server.base_url()));
        assert_eq!(browser.title(), "Seite nicht gefunden · Eddyline");

        browser.open(&format!("{}/account", server.base_url()));
        browser.choose("Sprache der Seiten", "English");
        browser.press("Sprache speichern");
        assert!(browser.text().contains("Your language has been saved"));
        open_flow(&browser, &server, "");
        assert_eq!(attribute(&browser, "html", "lang"), "en");
        assert_eq!(attribute(&browser, WRITE, "placeholder"), "Write to main");
        sees(&browser, "hallo zusammen (edited)");

        browser.open(&format!("{}/account", server.base_url()));
        browser.choose("Language of the pages", "As the browser says");
        browser.press("Save language");
        open_flow(&browser, &server, "");
        assert_eq!(attribute(&browser, "html", "lang"), "de");
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

/// The texts of a file, in the areas that the client shows.
fn texts_of(file: &str) -> BTreeSet<String> {
    fn walk(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => fields.values().for_each(|value| walk(value, found)),
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            Value::String(text) => drop(found.insert(text.clone())),
            other => panic!("{other} is no text"),
        }
    }
    let all: Value = serde_json::from_str(file).unwrap();
    let mut found = BTreeSet::new();
    for area in AREAS {
        walk(&all[area], &mut found);
    }
    found
}

/// Whether a text of the page is this text of a file, with anything in the place of placeholders.
fn is_made_of(shown: &str, text: &str) -> bool {
    let pieces: Vec<&str> = text
        .split('{')
        .map(|part| part.split_once('}').map_or(part, |(_, after)| after))
        .collect();
    let [first, between @ .., last] = pieces.as_slice() else {
        return shown == text;
    };
    let fixed: usize = pieces.iter().map(|piece| piece.trim().len()).sum();
    let rest = shown
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last));
    let middle = between.iter().try_fold(rest, |rest, piece| {
        let (_, after) = rest?.split_once(piece)?;
        Some(Some(after))
    });
    fixed > 1 && middle.flatten().is_some()
}

/// All that a page says, also in attributes and in templates of its script.
const SAID: &str = "
    const said = [];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) said.push(node.data.trim());
        for (const name of ['aria-label', 'placeholder', 'title', 'alt']) {
            if (node.getAttribute?.(name)) said.push(node.getAttribute(name));
        }
        for (const child of (node instanceof HTMLTemplateElement ? node.content : node).childNodes) walk(child);
    };
    walk(document.documentElement);
    return said.filter(Boolean);";

async fn no_page_of_the_client_keeps_english_texts(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "@ada moin").await;
    let thread = root["thread_id"].as_str().unwrap().to_owned();
    let german = texts_of(GERMAN);
    let mut english = texts_of(ENGLISH);
    english.retain(|text| !german.contains(text));
    assert!(english.len() > 100, "{}", english.len());
    let paths = [
        format!("/app/{MAIN}"),
        format!("/app/{MAIN}/people"),
        format!("/app/{MAIN}/search"),
        format!("/app/{MAIN}/search?q=moin"),
        format!("/app/{MAIN}/search?q=nichts"),
        format!("/app/{MAIN}/threads/{thread}"),
        format!("/app/-/private/{}", ben.id),
        "/app/-/search".to_owned(),
        "/app/-/mentions".to_owned(),
        "/app/no/such/page".to_owned(),
    ];
    tokio::task::block_in_place(|| {
        browser.set_languages(LANGUAGES);
        browser.set_window_size(360, 640);
        sign_in(&browser, &server, server.base_url(), &ada);
        let mut wrong = Vec::new();
        for path in &paths {
            browser.open(&format!("{}{path}", server.base_url()));
            if path.starts_with("/app/acme") {
                ready(&browser);
            }
            let said: Vec<String> = serde_json::from_value(browser.execute(SAID)).unwrap();
            let kept = said
                .iter()
                .filter(|shown| english.iter().any(|text| is_made_of(shown, text)));
            wrong.extend(kept.map(|text| format!("{path}: {text}")));
            wrong.extend(
                browser
                    .audit()
                    .into_iter()
                    .map(|fault| format!("{path}: {fault}")),
            );
            let beyond =
                browser.execute("return document.documentElement.scrollWidth - innerWidth");
            if beyond.as_i64() != Some(0) {
                wrong.push(format!("{path} is {beyond} pixels too wide"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    });
}
