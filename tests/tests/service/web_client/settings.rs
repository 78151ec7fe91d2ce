//! Settings, filled in by people in a browser: what the page says of it, and that it holds for others.

mod account;
mod applications;
mod flow;
mod organization;
mod sources;

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Caller, Tenant, note_secret};
use serde_json::json;
use tokio::task::block_in_place;

use super::sign_in;

/// Signs in and opens a page, at a desk: all panes are seen.
fn visit(browser: &Browser, tenant: &Tenant, who: &Caller, path: &str) {
    let base = tenant.server().base_url();
    block_in_place(|| {
        sign_in(browser, tenant.server(), base, who);
        browser.set_window_size(1440, 900);
        browser.open(&format!("{base}{path}"));
    });
}

/// Does something on the page and checks that it says this then. It must be fit to be read.
#[track_caller]
fn then(browser: &Browser, text: &str, doing: impl FnOnce(&Browser)) {
    block_in_place(|| {
        doing(browser);
        says(browser, text);
        assert_eq!(browser.audit(), [""; 0], "at {}", browser.url());
    });
}

/// Checks that a text can be read on the page.
#[track_caller]
fn says(browser: &Browser, text: &str) {
    block_in_place(|| {
        let shown = browser.text();
        assert!(shown.contains(text), "{text} in {shown}");
    });
}

/// The secrets that the page shows this one time, in their order.
fn secrets(browser: &Browser) -> Vec<String> {
    let texts = "return [...document.querySelectorAll('main code.secret')].map((place) => place.textContent)";
    let shown = block_in_place(|| browser.execute(texts));
    let secrets: Vec<String> = serde_json::from_value(shown).unwrap();
    for secret in &secrets {
        note_secret(secret);
    }
    secrets
}

/// How the server answers a caller who reads a path.
async fn status(caller: &Caller, path: &str) -> u16 {
    let answer = caller.send(Method::GET, path, &json!(null)).await;
    answer.status.as_u16()
}
