//! The page of a flow in real browsers: what people see when they and others write, when the
//! connection breaks, and when somebody means them harm.

mod away;
mod choices;
mod code;
mod context;
mod covers;
mod fit;
mod former;
mod german;
mod hostile;
mod keyboard;
mod keys;
mod late;
mod long_chat;
mod marks;
mod media;
mod network;
mod notices;
mod notifications;
mod outside;
mod panes;
mod pictures;
mod reading;
mod refusals;
mod reset;
mod scrolling;
mod sending;
mod sessions;
mod settings;
mod silence;
mod switcher;
mod tabs;
mod unread;
mod widths;
mod windows;
mod writing;

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{CSRF, Caller, PASSWORD, SESSION, Server};
use serde_json::json;
use tokio::runtime::Handle;

const MAIN: &str = "acme/main";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const DOWN: &str = "\u{e015}";
const UP: &str = "\u{e013}";
const WRITE: &str = "#composer textarea";

/// Signs in and opens the page of the flow.
pub(crate) fn open(browser: &Browser, server: &Server, who: &Caller) {
    sign_in(browser, server, server.base_url(), who);
    open_flow(browser, server, "");
}

/// Signs a browser in on a server that is reached by this address. The test sends the form itself and
/// sets the cookies: typing takes long, and the test of `keyboard` does it.
pub(crate) fn sign_in(browser: &Browser, server: &Server, base_url: &str, who: &Caller) {
    let visitor = Handle::current().block_on(server.signed_in(&who.email, PASSWORD));
    for name in [SESSION, CSRF] {
        let value = visitor.cookie(name).expect("signing in sets it");
        let cookie = json!({
            "url": base_url, "name": name, "value": value, "httpOnly": true, "sameSite": "Lax",
        });
        browser.command("Network.setCookie", &cookie);
    }
}

/// Opens a page below that of the flow.
pub(crate) fn open_flow(browser: &Browser, server: &Server, rest: &str) {
    browser.open(&format!("{}/app/{MAIN}{rest}", server.base_url()));
    ready(browser);
}

/// Marks the flow as read by a user, so that its page opens at the newest messages.
async fn read_all(reader: &Caller) {
    let path = format!("/flows/{MAIN}");
    let last = reader.get(&path).await["last_message_id"].take();
    let marker = json!({"message": last});
    reader
        .does(Method::PUT, &format!("{path}/read"), &marker)
        .await;
}

/// Waits until the script has taken the page over.
fn ready(browser: &Browser) {
    browser.wait_for("document.documentElement.dataset.ready !== undefined");
}

/// Clicks on the first element that a CSS selector finds, without a pointer.
#[track_caller]
fn click(browser: &Browser, css: &str) {
    browser.execute(&format!(
        "document.querySelector({}).click()",
        serde_json::Value::from(css)
    ));
}

/// Writes a chat message and sends it.
#[track_caller]
fn write(browser: &Browser, text: &str) {
    browser.type_keys(WRITE, text);
    browser.type_keys(WRITE, ENTER);
}

/// The texts of the rows of the chat, in their order.
fn texts(browser: &Browser) -> Vec<String> {
    let texts = browser.execute(
        "return [...document.querySelectorAll('#chat article')].map(row => row.querySelector('.text').textContent)",
    );
    serde_json::from_value(texts).unwrap()
}

/// Waits until a row of the chat has this text, and the server has it.
#[track_caller]
fn sees(browser: &Browser, text: &str) {
    browser.wait_for(&format!(
        "[...document.querySelectorAll('#chat article[data-id] .text')].some(place => place.textContent === {})",
        serde_json::Value::from(text)
    ));
}

/// Waits until an element is there that a CSS selector finds.
#[track_caller]
fn shows(browser: &Browser, css: &str) {
    browser.wait_for(&format!(
        "document.querySelector({})",
        serde_json::Value::from(css)
    ));
}

/// What the console says beside advice and failed requests.
fn complaints(browser: &Browser) -> Vec<String> {
    let mut lines = browser.log();
    lines.retain(|line| !line.starts_with("DEBUG ") && !line.contains(" network: "));
    lines
}
