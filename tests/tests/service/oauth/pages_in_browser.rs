//! The pages of accounts and developers in a real browser, also where there is little room: what it
//! makes of the forms, and whether everybody can read them.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Backend, CALLBACK, PASSWORD, Server, note_secret, run};

use crate::avatars::png;

#[test]
fn a_developer_sees_to_an_application_and_a_token_in_a_browser() {
    run(Backend::Sqlite, &[], async |server: Server| {
        let Some(browser) = Browser::with_javascript_disabled() else {
            return;
        };
        let Acme { ada, .. } = server.acme();
        browser.set_window_size(320, 640);
        tokio::task::block_in_place(|| {
            sign_in(&browser, &server, &ada.email);
            see_to_an_application(&browser, &server);
            see_to_a_token(&browser, &server);
            see_to_a_picture(&browser, &server);
            for path in [
                "/account",
                "/account/applications",
                "/account/sessions",
                "/app/acme/settings",
                "/app/acme/settings/people",
                "/app/acme/settings/applications",
                "/app/acme/settings/identity-provider",
            ] {
                browser.open(&format!("{}{path}", server.base_url()));
                is_fit(&browser);
            }
            // Refusals of these very pages are no complaints, and neither is advice.
            let refusals = ["/developer ", "/account/picture "]
                .map(|path| server.base_url().to_owned() + path);
            let is_refusal = |line: &String| refusals.iter().any(|refusal| line.contains(refusal));
            let mut complaints = browser.log();
            complaints.retain(|line| !is_refusal(line) && !line.starts_with("DEBUG "));
            assert_eq!(complaints, Vec::<String>::new(), "no policy is broken");
        });
    });
}

/// Everybody can use the page, and nothing of it is beyond the edge.
#[track_caller]
fn is_fit(browser: &Browser) {
    assert_eq!(browser.audit(), Vec::<String>::new(), "{}", browser.url());
    let beyond = browser.execute("return document.documentElement.scrollWidth - window.innerWidth");
    assert!(
        beyond.as_i64().is_some_and(|pixels| pixels <= 0),
        "{beyond} at {}",
        browser.url()
    );
}

fn sign_in(browser: &Browser, server: &Server, email: &str) {
    browser.open(&format!("{}/sign-in", server.base_url()));
    browser.fill_label("E-mail address", email);
    browser.fill_label("Password", PASSWORD);
    browser.press("Sign in");
}

fn see_to_an_application(browser: &Browser, server: &Server) {
    browser.open(&format!("{}/account", server.base_url()));
    browser.press("Developer");
    is_fit(browser);
    browser.fill_label("Name", "Robot");
    browser.fill_label("Redirect URIs", "http://127.0.0.1:9/back#here");
    browser.tick("Allow codes to be copied by hand");
    browser.press("Register it");
    assert!(
        browser.text().contains("must not have a fragment"),
        "{}",
        browser.text()
    );
    is_fit(browser);
    assert_eq!(
        browser.count("input[name=out_of_band]:checked"),
        1,
        "what was ticked still is"
    );
    browser.fill_label("Redirect URIs", &format!("{CALLBACK}\n{CALLBACK}/two"));
    browser.press("Register it");
    assert!(
        browser.text().contains("it is not shown again"),
        "{}",
        browser.text()
    );
    is_fit(browser);
    browser.press("Go to the application");
    is_fit(browser);
    let url = browser.url();
    browser.fill_label("Setup URI", "https://robot.example/{flow_id}");
    browser.press("Change it");
    assert_eq!(browser.url(), format!("{url}?done=changed"));
    browser.press("Set it up for a flow");
    is_fit(browser);
    assert!(
        browser
            .attribute("main li a", "href")
            .is_some_and(|link| link.starts_with("https://robot.example/"))
    );
    for (link, button) in [
        ("Create a new secret", "Create a new secret"),
        ("Remove the application", "Remove Robot"),
    ] {
        browser.open(&url);
        browser.press(link);
        is_fit(browser);
        browser.press(button);
        is_fit(browser);
    }
    assert_eq!(
        browser.url(),
        format!("{}/developer?done=removed", server.base_url())
    );
}

fn see_to_a_picture(browser: &Browser, server: &Server) {
    let files = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = files.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let shown = || browser.execute("return document.querySelector('img.avatar').naturalWidth");
    browser.open(&format!("{}/account", server.base_url()));
    is_fit(browser);
    let drawn = browser.attribute("img.avatar", "src");
    browser.fill_label("New picture", &file("notes.txt", b"no picture"));
    browser.press("Change the picture");
    assert!(
        browser.text().contains("Something isn’t right"),
        "{}",
        browser.text()
    );
    is_fit(browser);
    browser.fill_label("New picture", &file("checks.png", &png(300)));
    browser.press("Change the picture");
    assert_eq!(
        browser.url(),
        format!("{}/account?done=picture", server.base_url())
    );
    is_fit(browser);
    assert_ne!(browser.attribute("img.avatar", "src"), drawn);
    assert!(
        shown().as_i64().is_some_and(|width| width >= 192),
        "{}",
        shown()
    );
    browser.press("Remove the picture");
    assert_eq!(browser.count("img.avatar"), 1);
    assert!(
        browser.text().contains("Your initials are shown instead"),
        "{}",
        browser.text()
    );
}

fn see_to_a_token(browser: &Browser, server: &Server) {
    browser.open(&format!("{}/account", server.base_url()));
    browser.press("API tokens");
    is_fit(browser);
    browser.fill_label("Name", "Build server");
    browser.press("Create an API token");
    is_fit(browser);
    let secret = browser
        .text()
        .split_whitespace()
        .find(|word| word.len() == 32)
        .map(str::to_owned);
    note_secret(&secret.expect("the secret is shown"));
    browser.press("All API tokens");
    browser.press("Build server");
    is_fit(browser);
    browser.press("End it");
    assert_eq!(
        browser.url(),
        format!("{}/account/tokens?done=ended", server.base_url())
    );
    is_fit(browser);
}
