//! Texts that were made to run something in the reader's browser, on every page that shows them.

use eddyline_client::{Json, Method};
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Backend, Caller, Server, run};
use proc_macro2::{TokenStream, TokenTree};
use serde_json::json;

use crate::files::{PIXEL, in_json};
use crate::integrations::push::html::HOSTILE;
use crate::integrations::{Source, try_push};

use super::{MAIN, open, open_flow, ready, sees, shows};

/// The tests of the sanitiser, whose literals are what it is tested with.
const SANITIZER: &str = include_str!("../../../../crates/markup/tests/markup/hostile.rs");
/// What hurts where a text is put into a template, an attribute or an address.
const OF_TEMPLATES: [&str; 7] = [
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "</div></article></main><h1>owned</h1>",
    "</template><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) ![x](https://evil.example/pixel.png)",
    "`</code><script>alert(1)</script>` **<b onclick=alert(1)>**",
    "> <svg onload=alert(1)>\n```\n</pre><script>alert(1)</script>\n```",
];
/// As many fields as an item may have.
const FIELDS: usize = 50;
/// As many actions as an item may have.
const ACTIONS: usize = 20;
/// How much of a text is a label, a status or a name.
const SHORT: usize = 100;

/// All that is hostile. What is only an address there is one of a link and of a picture here.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    literals(SANITIZER.parse().unwrap(), &mut texts);
    let addresses = texts.iter().filter(|text| !text.contains('<'));
    let used = addresses.flat_map(|address| {
        [
            format!("<a href=\"{address}\">x</a>"),
            format!("<img src='{address}'>"),
            format!("[x]({address})"),
        ]
    });
    let mut all: Vec<_> = used.collect();
    all.extend(texts);
    all.extend(HOSTILE.into_iter().chain(OF_TEMPLATES).map(str::to_owned));
    all
}

fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                found.extend(text.map(|text| text.value()));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// The beginning of a text.
fn short(text: &str) -> String {
    text.chars().take(SHORT).collect()
}

/// What an outside tool pushes about an item of which everything is hostile.
fn item(number: usize, texts: &[String]) -> Json {
    let text = &texts[0];
    let of_tool = |text: &String| {
        json!({
            "@type": "UpdateAction", "name": format!("x {}", short(text)),
            "target": {"@type": "EntryPoint", "urlTemplate": "https://x.example/", "httpMethod": "POST"},
        })
    };
    let field = |text: &String| json!({"label": format!("x {}", short(text)), "value": text});
    json!({
        "event": "discussion", "external_thread_id": number.to_string(),
        "title": format!("x {text}"), "body": format!("x {text}"),
        "author": {"name": format!("x {}", short(text))},
        "thread": {
            "title": format!("x {text}"), "body": format!("x {text}"),
            "status": {"color": "red", "value": format!("x {}", short(text))},
            "fields": texts.iter().map(field).collect::<Vec<_>>(),
            "actions": texts.iter().take(ACTIONS).map(of_tool).collect::<Vec<_>>(),
        },
    })
}

/// Pushes about as many items as there are parts of the corpus, with a message for each text.
async fn push_all(source: &Source, all: &[String]) {
    for (number, texts) in all.chunks(FIELDS).enumerate() {
        for at in 0..texts.len() {
            let mut texts = texts.to_vec();
            texts.rotate_left(at);
            let answer = try_push(&source.client, &item(number, &texts)).await;
            // Some are no texts that can be sent at all, such as those with a zero in them.
            assert!(
                matches!(answer.status.as_u16(), 200 | 400),
                "{}",
                answer.text()
            );
        }
    }
}

/// Has a user say everything: as a message with tags, as a comment, and as the name of a file.
async fn say_all(caller: &Caller, all: &[String]) {
    let path = format!("/flows/{MAIN}/messages");
    for text in all {
        let tagged = json!({"event": "message", "content": text, "tags": [short(text)]});
        if caller.send(Method::POST, &path, &tagged).await.status == 400 {
            let plain = json!({"event": "message", "content": text});
            let _ = caller.send(Method::POST, &path, &plain).await;
        }
    }
    let said = caller.say(MAIN, "the last of them").await;
    for text in all.iter().rev().take(FIELDS) {
        let comment = json!({"event": "comment", "content": text, "message": said["id"]});
        let _ = caller.send(Method::POST, &path, &comment).await;
        let file = in_json(&short(text), "image/png", PIXEL);
        let _ = caller.send(Method::POST, &path, &file).await;
    }
}

/// What would be otherwise if something had run or asked. A script that opens a dialog ends the
/// test by itself.
#[track_caller]
fn is_unharmed(browser: &Browser, place: &str) {
    let strange = browser.execute(
        "const own = new Set([location.origin]);
         const all = [...document.querySelectorAll('body *')];
         return {
             elements: all.filter((each) =>
                 each.matches('script, iframe, object, embed, base, meta, link, form[action^=http], style')
                 || [...each.attributes].some(({ name, value }) =>
                     name.startsWith('on') || name === 'style'
                     || (/href|src|action|data$/.test(name) && /^\\s*(javascript|data|vbscript):/i.test(value))))
                 .map((each) => each.outerHTML.slice(0, 200)),
             headings: all.filter((each) => each.matches('h1') && !each.closest('.text, .story')).length,
             asked: performance.getEntriesByType('resource').map(({ name }) => name)
                 .filter((name) => !own.has(new URL(name).origin)),
         }",
    );
    let harmless = json!({"elements": [], "headings": 1, "asked": []});
    assert_eq!(strange, harmless, "{place}");
    // What the policy stopped, and requests that failed since there is no such host, are there.
    assert_eq!(browser.log(), Vec::<String>::new(), "{place}");
}

/// The database makes no difference to the pages, and there are many of them: one is enough.
#[test]
fn hostile_texts_run_nothing_and_ask_nobody_on_any_page() {
    run(Backend::Sqlite, &[], all_pages_are_unharmed);
}

async fn all_pages_are_unharmed(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let all = corpus();
    assert!(all.len() > 300, "{} texts", all.len());
    let profile = json!({"name": short(&OF_TEMPLATES[1..3].concat())});
    ben.does(Method::PUT, &format!("/users/{}", ben.id), &profile)
        .await;
    let flow = json!({"description": OF_TEMPLATES.concat()});
    ada.does(Method::PUT, &format!("/flows/{MAIN}"), &flow)
        .await;
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &ben, MAIN, &short(&OF_TEMPLATES[..2].concat())).await;
    push_all(&source, &all[..1]).await;
    let threads = ada.get(&format!("/flows/{MAIN}/threads")).await;
    let first = format!("/threads/{}", threads[0]["id"].as_str().unwrap());

    // Live, into the chat, a thread and the inbox.
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        open_flow(&browser, &server, &first);
    });
    push_all(&source, &all).await;
    say_all(&ben, &all).await;
    ben.say(MAIN, "all of them").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "all of them");
        shows(&browser, "#inbox .rows .chip");
        is_unharmed(&browser, "live");
    });
    let threads = ada.get(&format!("/flows/{MAIN}/threads?limit=100")).await;
    tokio::task::block_in_place(|| pages_are_unharmed(&browser, &server, &threads));
}

/// Opens the pages as the server makes them.
fn pages_are_unharmed(browser: &Browser, server: &Server, threads: &Json) {
    let threads = threads.as_array().unwrap().iter();
    let ids = threads.filter(|thread| !thread["source"].is_null());
    let mut paths: Vec<_> = ids
        .map(|thread| format!("/threads/{}", thread["id"].as_str().unwrap()))
        .collect();
    assert!(paths.len() > 5, "{} threads", paths.len());
    // What the service worker keeps is the subject of other tests.
    browser.command("Network.enable", &json!({}));
    browser.command("Network.setBypassServiceWorker", &json!({"bypass": true}));
    open_flow(browser, server, "");
    let last = browser.execute("return Number(document.querySelector('#main').dataset.last)");
    let last = last.as_u64().unwrap();
    let stretches = (1..=last).step_by(50);
    paths.extend(stretches.map(|id| format!("/messages/{id}")));
    let hostile = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    paths.extend(["", "/people", "/settings"].map(str::to_owned));
    paths.extend([
        "/search?q=alert".to_owned(),
        format!("/search?q={hostile}&tags={hostile}"),
    ]);
    for path in paths {
        browser.open(&format!("{}/app/{MAIN}{path}", server.base_url()));
        if browser.count("body.app") == 1 {
            ready(browser);
        }
        is_unharmed(browser, &path);
    }
    for path in ["/app/-/search?q=alert", "/app/-/mentions", "/app"] {
        browser.open(&format!("{}{path}", server.base_url()));
        is_unharmed(browser, path);
    }
}
