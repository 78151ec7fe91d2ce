//! What a browser keeps of a user's choices, and what makes the client an application of its own.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_sqlite};
use serde_json::json;

use super::{ENTER, ESCAPE, MAIN, complaints, open, open_flow, ready, shows};

on_sqlite![
    chosen_colours_are_those_of_every_page,
    a_draft_in_a_thread_outlives_a_reload,
    signing_out_drops_drafts,
    the_manifest_names_pages_and_icons_that_are_there,
];

fn background(browser: &Browser) -> String {
    let colour = browser.execute("return getComputedStyle(document.body).backgroundColor");
    colour.as_str().unwrap().to_owned()
}

async fn chosen_colours_are_those_of_every_page(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let pages = [
        format!("/app/{MAIN}"),
        format!("/app/{MAIN}/settings"),
        format!("/app/-/private/{}", ben.id),
        "/app/-/search".to_owned(),
        "/account".to_owned(),
        "/developer".to_owned(),
    ];
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let light = background(&browser);
        let chooses = |colours: &str| {
            browser.open(&format!("{}/account", server.base_url()));
            ready(&browser);
            browser.press("Appearance");
            shows(&browser, "#appearance-title:target");
            browser.choose("Colours", colours);
            browser.press("Save colours");
        };
        chooses("Dark");
        let dark = background(&browser);
        assert_ne!(dark, light);
        let theme = || browser.attribute("html", "data-theme");
        for page in &pages {
            browser.open(&format!("{}{page}", server.base_url()));
            assert_eq!(theme().as_deref(), Some("dark"), "{page}");
            assert_eq!(background(&browser), dark, "{page}");
        }
        // The choice goes before that of the system.
        let system = |theme: &str| {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
            browser.command("Emulation.setEmulatedMedia", &features);
        };
        system("dark");
        chooses("Light");
        assert_eq!(background(&browser), light);
        chooses("As the system");
        assert_eq!(theme(), None);
        assert_eq!(background(&browser), dark);
        system("light");
        assert_eq!(background(&browser), light);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_draft_in_a_thread_outlives_a_reload(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "Lunch?").await;
    let thread = root["thread_id"].as_str().unwrap();
    let answer = json!({"event": "message", "content": "At noon"});
    let path = format!("/flows/{MAIN}/threads/{thread}/messages");
    ben.does(Method::POST, &path, &answer).await;
    let page = format!("/threads/{thread}");
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.type_keys("#composer textarea", "in the chat");
        open_flow(&browser, &server, &page);
        browser.type_keys("#reply textarea", "in the thread");
        open_flow(&browser, &server, &page);
        let drafts = "return ['#composer', '#reply'].map((place) => document.querySelector(`${place} textarea`).value)";
        assert_eq!(
            browser.execute(drafts),
            json!(["in the chat", "in the thread"])
        );
        // The same draft is there for those who answer from the chat.
        open_flow(&browser, &server, "");
        browser.execute("document.querySelector('#chat article').focus()");
        browser.press_keys("r");
        shows(&browser, "#composer .to:not([hidden])");
        let draft = "return document.querySelector('#composer textarea').value";
        assert_eq!(browser.execute(draft), "in the thread");
        browser.press_keys(ESCAPE);
        browser.wait_for("document.querySelector('#composer .to').hidden");
        assert_eq!(browser.execute(draft), "in the chat");
        // What is sent is no draft any more.
        open_flow(&browser, &server, &page);
        browser.type_keys("#reply textarea", ENTER);
        browser.wait_for("document.querySelectorAll('#thread article[data-id]').length === 3");
        open_flow(&browser, &server, &page);
        assert_eq!(browser.execute(drafts), json!(["in the chat", ""]));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_manifest_names_pages_and_icons_that_are_there(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // As the browser has read it: it says so where something is wrong, also of the policy.
        let read = browser.command("Page.getAppManifest", &json!({}));
        assert_eq!(read["errors"], json!([]));
        let url = read["url"].as_str().unwrap();
        let manifest: serde_json::Value =
            serde_json::from_str(read["data"].as_str().unwrap()).unwrap();
        assert_eq!(manifest["name"], "Eddyline");
        let of = |address: &serde_json::Value| {
            let resolved = browser.execute(&format!("return new URL({address}, '{url}').href"));
            resolved.as_str().unwrap().to_owned()
        };
        let base = format!("{}/", server.base_url());
        assert_eq!(of(&manifest["scope"]), base);
        assert!(of(&manifest["start_url"]).starts_with(&base));
        let icons = manifest["icons"].as_array().unwrap();
        assert!(!icons.is_empty());
        for icon in icons {
            let loaded = browser.execute(&format!(
                "const icon = new Image();
                 icon.src = '{}';
                 return icon.decode().then(() => icon.naturalWidth > 0)",
                of(&icon["src"])
            ));
            assert_eq!(loaded, true, "{icon}");
        }
        browser.open(&of(&manifest["start_url"]));
        ready(&browser);
        browser.wait_for("location.pathname.startsWith('/app')");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn signing_out_drops_drafts(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let drafts = "return Object.keys(localStorage).filter((key) => key.startsWith('eddyline-draft:')).length";
    tokio::task::block_in_place(|| {
        browser.set_window_size(1440, 900);
        open(&browser, &server, &ada);
        browser.type_keys("#composer textarea", "for my eyes only");
        assert_eq!(browser.execute(drafts), 1);
        // They stay where the server refuses.
        browser.execute("document.querySelector('.home-menu [name=csrf]').value = 'other'");
        browser.execute("document.querySelector('.home-menu').open = true");
        browser.press("Sign out");
        browser.wait_for("location.pathname === '/sign-out'");
        assert_eq!(browser.execute(drafts), 1);
        open_flow(&browser, &server, "");
        browser.execute("document.querySelector('.home-menu').open = true");
        browser.press("Sign out");
        browser.wait_for("location.pathname === '/sign-in'");
        assert_eq!(browser.execute(drafts), 0);
        shows(&browser, "[name=email]:focus");
    });
}
