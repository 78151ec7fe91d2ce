//! A real browser without a window, for tests of pages: Chromium, driven by chromedriver. Where its
//! headless shell is installed, most tests take that: the same engine without what surrounds a page.
//!
//! It reaches this machine only: whatever a page asks of another host fails, and is in
//! [`Browser::log`]. Where the two programs are not installed, tests that need them are passed
//! over, with a line that says so; where `EDDYLINE_TEST_REQUIRE` contains `browser` they fail.
//!
//! All calls block until the browser has answered; one that does not answer within a minute and a
//! half has failed. A test whose server runs in the same tokio runtime needs several threads there
//! and `tokio::task::block_in_place` around the calls.
//!
//! What the browser cannot do fails the test: calls panic with the address, the title and the text
//! of the page.

mod driver;
mod idle;
mod page;

use std::env;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::say;
use driver::{Driver, Programs};
use page::{Press, list_of, text_of};

const AUDIT: &str = include_str!("browser/audit.js");
const BUTTONS: &str = "button, summary, [role=button], \
                       input:is([type=submit], [type=button], [type=reset], [type=image])";
const LINKS: &str = "a[href]";
/// What the browser calls such an icon in its messages.
const MANIFEST_ICON: &str = "icon from the Manifest";

/// A browser of the test's own, with an empty profile. Starting Chromium costs more than a second of
/// processor time, so a browser whose test has passed is emptied and kept for the next test of the
/// process. The browser of a test that has failed ends with this value.
pub struct Browser {
    /// `None` only while the value is dropped.
    driver: Option<Driver>,
    /// Whether scripts of pages run.
    javascript: bool,
}

/// A cookie that the browser would send to the page it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether scripts cannot read it.
    pub http_only: bool,
    /// Whether it is sent over HTTPS (and to this machine) only.
    pub secure: bool,
    /// `Strict`, `Lax` or `None`, if the server said so.
    pub same_site: Option<String>,
}

/// A tab of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab(String);

impl Browser {
    /// Gives an empty browser, or `None` when there is none.
    ///
    /// # Panics
    /// When a browser is required and not there, or there and does not start.
    pub fn start() -> Option<Self> {
        Self::start_with(true)
    }

    /// Starts a new browser that is not the headless shell, for tests of notifications of the system,
    /// which the shell has not, and of ids which Chromium counts from 0 in each profile.
    ///
    /// # Panics
    /// As [`Browser::start`].
    pub fn start_whole() -> Option<Self> {
        Some(Self::launch(&programs(Programs::find_whole)?, true))
    }

    /// Starts a browser that runs no scripts of pages, or gives `None` when there is none.
    /// [`Browser::execute`] and [`Browser::audit`] work in it all the same.
    ///
    /// # Panics
    /// As [`Browser::start`].
    pub fn with_javascript_disabled() -> Option<Self> {
        Self::start_with(false)
    }

    fn start_with(javascript: bool) -> Option<Self> {
        let programs = programs(Programs::find)?;
        let idle = idle::take(javascript).map(|driver| Self {
            driver: Some(driver),
            javascript,
        });
        if let Some(browser) = &idle {
            // What the pages of the last test said as they ended can come after they are gone.
            browser.log();
        }
        Some(idle.unwrap_or_else(|| Self::launch(&programs, javascript)))
    }

    fn launch(programs: &Programs, javascript: bool) -> Self {
        match Driver::start(programs, javascript) {
            Ok(driver) => Self {
                driver: Some(driver),
                javascript,
            },
            Err(text) => panic!("the browser did not start: {text}"),
        }
    }

    /// Goes to a page, and waits until it is loaded with everything it names.
    #[track_caller]
    pub fn open(&self, url: &str) {
        self.driver().note_origin(url);
        self.post("/url", &json!({ "url": url }));
    }

    /// The tab with the page.
    #[track_caller]
    pub fn tab(&self) -> Tab {
        Tab(text_of(self.get("/window")))
    }

    /// Opens another tab, which is empty. From now on all calls are about its page.
    #[track_caller]
    pub fn open_tab(&self) -> Tab {
        let opened = self.post("/window/new", &json!({ "type": "tab" }));
        let tab = Tab(text_of(opened["handle"].clone()));
        self.show_tab(&tab);
        tab
    }

    /// From now on all calls are about the page of this tab.
    #[track_caller]
    pub fn show_tab(&self, tab: &Tab) {
        self.post("/window", &json!({ "handle": tab.0 }));
    }

    /// Closes the tab with the page. Another one must be left, to which [`Browser::show_tab`] leads.
    #[track_caller]
    pub fn close_tab(&self) {
        let left = self.delete("/window");
        assert!(!list_of(&left).is_empty(), "it was the last tab");
    }

    /// Address of the page.
    #[track_caller]
    pub fn url(&self) -> String {
        text_of(self.get("/url"))
    }

    /// Title of the page.
    #[track_caller]
    pub fn title(&self) -> String {
        text_of(self.get("/title"))
    }

    /// What can be read on the page, as a person sees it: without hidden text, and in capitals
    /// where a style says so.
    #[track_caller]
    pub fn text(&self) -> String {
        let body = self.first("body");
        text_of(self.get(&body.at("text")))
    }

    /// The page as HTML, as it is now.
    #[track_caller]
    pub fn source(&self) -> String {
        text_of(self.get("/source"))
    }

    /// Types a text into the first field that a CSS selector finds, in place of what was there.
    #[track_caller]
    pub fn fill(&self, css: &str, text: &str) {
        self.type_over(&self.first(css), text);
    }

    /// Types a text into the field with a label, in place of what was there. The label is what a
    /// screen reader says: hidden marks do not count, and white space does not matter.
    ///
    /// # Panics
    /// Also when several fields have that label.
    #[track_caller]
    pub fn fill_label(&self, label: &str, text: &str) {
        self.type_over(&self.field(label), text);
    }

    /// Changes a checkbox, or chooses a radio button, by its label.
    ///
    /// # Panics
    /// Also when several fields have that label.
    #[track_caller]
    pub fn tick(&self, label: &str) {
        self.click(&self.field(label));
    }

    /// Chooses an option, by its text, of the list (`<select>`) with a label.
    ///
    /// # Panics
    /// Also when several fields have that label, or several options that text.
    #[track_caller]
    pub fn choose(&self, label: &str, option: &str) {
        let list = self.field(label);
        let mut options = self.elements(&list.at("elements"), "option");
        options.retain(|element| self.reads(element, option));
        self.click(&self.only(options, "options with the text", option));
    }

    /// Presses the button, or if there is none the link, that reads so or is announced so by a
    /// screen reader. When that leads to another page, waits until it is loaded; a page that a
    /// script of this one asks for later is not waited for.
    ///
    /// # Panics
    /// Also when several buttons read so, or several links that lead to different places; and when
    /// a page does not come within half a minute, as where the server answers with a file to keep.
    #[track_caller]
    pub fn press(&self, text: &str) {
        let named = |css: &str| {
            let mut found = self.elements("/elements", css);
            found.retain(|element| self.is_announced(element, text) || self.reads(element, text));
            found
        };
        let mut found = named(BUTTONS);
        if found.is_empty() {
            found = named(LINKS);
            found.dedup_by_key(|link| self.get(&link.at("property/href")));
        }
        self.press_and_follow(&self.only(found, "buttons or links", text), Press::Click);
    }

    /// Presses Enter in the first element that a CSS selector finds, and waits as
    /// [`Browser::press`].
    #[track_caller]
    pub fn press_key_enter(&self, css: &str) {
        self.press_and_follow(&self.first(css), Press::Enter);
    }

    /// Types keys into the first element that a CSS selector finds, which keeps what it has. Unlike
    /// [`Browser::press_key_enter`] it does not wait for another page. Keys without a character are
    /// those of WebDriver, such as `\u{e007}` for Enter and `\u{e00c}` for Escape.
    #[track_caller]
    pub fn type_keys(&self, css: &str, keys: &str) {
        let element = self.first(css);
        self.post(&element.at("value"), &json!({ "text": keys }));
    }

    /// Presses keys one after the other, whatever element has the focus. Keys without a character
    /// are those of [`Browser::type_keys`].
    #[track_caller]
    pub fn press_keys(&self, keys: &str) {
        let each = keys.chars().flat_map(|key| {
            ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()}))
        });
        let keyboard =
            json!({"type": "key", "id": "keyboard", "actions": each.collect::<Vec<_>>()});
        self.post("/actions", &json!({ "actions": [keyboard] }));
    }

    /// Waits until a condition of the page holds: an expression of JavaScript, which is looked at
    /// again whenever the page has drawn.
    ///
    /// # Panics
    /// When it does not hold within half a minute.
    #[track_caller]
    pub fn wait_for(&self, condition: &str) {
        let script = format!(
            "return new Promise((resolve) => {{
                const look = () => (({condition}) ? resolve(true) : setTimeout(look, 20));
                look();
            }})"
        );
        self.wait(&script, condition);
    }

    /// Sends a command of the protocol of Chromium's developer tools, and gives its result.
    #[track_caller]
    pub fn command(&self, name: &str, parameters: &Value) -> Value {
        self.devtools(name, parameters)
    }

    /// Runs a script in the page, whatever its content security policy allows. What it puts into
    /// the global object is there for [`Browser::execute`], until another page is opened.
    #[track_caller]
    pub fn add_script(&self, source: &str) {
        let result = self.devtools("Runtime.evaluate", &json!({ "expression": source }));
        assert!(result["exceptionDetails"].is_null(), "{result}");
    }

    /// The value of an attribute of the first element that a CSS selector finds, if it has the
    /// attribute. What was typed into a field is not its attribute `value`.
    #[track_caller]
    pub fn attribute(&self, css: &str, name: &str) -> Option<String> {
        let script = "return arguments[0].getAttribute(arguments[1])";
        let value = self.run(script, &json!([self.first(css).argument(), name]));
        value.as_str().map(ToOwned::to_owned)
    }

    /// How many elements a CSS selector finds, hidden ones too.
    #[track_caller]
    pub fn count(&self, css: &str) -> usize {
        self.elements("/elements", css).len()
    }

    /// Runs the body of a function in the page, and gives what it returns (`return …`); waits for a
    /// promise.
    #[track_caller]
    pub fn execute(&self, js: &str) -> Value {
        self.run(js, &json!([]))
    }

    /// The cookies that the browser would send to the page it shows.
    #[track_caller]
    pub fn cookies(&self) -> Vec<Cookie> {
        // WebDriver's own list says `Lax` of a cookie of which the server said nothing.
        let answer = self.devtools("Network.getCookies", &json!({}));
        let word = |cookie: &Value, key: &str| cookie[key].as_str().map(ToOwned::to_owned);
        list_of(&answer["cookies"])
            .iter()
            .map(|cookie| Cookie {
                name: word(cookie, "name").unwrap_or_default(),
                value: word(cookie, "value").unwrap_or_default(),
                http_only: cookie["httpOnly"] == true,
                secure: cookie["secure"] == true,
                same_site: word(cookie, "sameSite"),
            })
            .collect()
    }

    /// What the browser wrote to its console since this was asked last, a line each: what pages
    /// write there and their errors, requests that failed or were answered with an error (a missing
    /// `/favicon.ico` too), and what a content security policy stopped. A line names the level
    /// (`SEVERE`, `WARNING`, `INFO`, …), the source (`network`, `security`, `javascript`,
    /// `console-api`, …) and the message. Icons of a manifest are left out: the browser fetches them
    /// when it likes, and reports one as broken when the page is left or its server ends meanwhile.
    #[track_caller]
    pub fn log(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        let word = |entry: &Value, key: &str| entry[key].as_str().unwrap_or("?").to_owned();
        list_of(&entries)
            .iter()
            .map(|entry| {
                format!(
                    "{} {}: {}",
                    word(entry, "level"),
                    word(entry, "source"),
                    word(entry, "message")
                )
            })
            .filter(|line| !line.contains(MANIFEST_ICON))
            .collect()
    }

    /// Gives pages so much room from now on, in CSS pixels: 320 by 640 is a small telephone's.
    #[track_caller]
    pub fn set_window_size(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Has the browser ask for pages in these languages, with commas between, the preferred one
    /// first.
    #[track_caller]
    pub fn set_languages(&self, languages: &str) {
        let agent = self.execute("return navigator.userAgent");
        let said = json!({ "userAgent": agent, "acceptLanguage": languages });
        self.devtools("Emulation.setUserAgentOverride", &said);
    }

    /// What the window shows, as PNG.
    ///
    /// # Panics
    /// Also when the browser answers with something else.
    #[track_caller]
    pub fn screenshot(&self) -> Vec<u8> {
        let encoded = text_of(self.get("/screenshot"));
        STANDARD.decode(encoded).expect("the picture is in base64")
    }

    /// What keeps people from using the page, a line for each fault: no language, no title, not
    /// exactly one `h1`, an id that several elements have, fields without a label (a placeholder is
    /// none), pictures without an alternative, buttons and links without a text, an order of focus
    /// against that of the page, and text with less contrast than 4.5:1, disabled controls aside.
    ///
    /// A background is taken to be that of the elements around the text. Where a picture or a
    /// gradient is behind it, and of frames and shadow trees, a line says that they were not
    /// judged.
    #[track_caller]
    pub fn audit(&self) -> Vec<String> {
        list_of(&self.execute(AUDIT))
            .iter()
            .map(|fault| text_of(fault.clone()))
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let Some(driver) = self.driver.take() else {
            return;
        };
        if !thread::panicking() {
            idle::keep(driver, self.javascript);
        }
    }
}

/// The programs, unless tests shall be passed over.
fn programs(find: fn() -> Option<Programs>) -> Option<Programs> {
    let found = find();
    if found.is_none() {
        let required = env::var("EDDYLINE_TEST_REQUIRE")
            .is_ok_and(|list| list.split(',').any(|name| name.trim() == "browser"));
        assert!(
            !required,
            "a browser is required by EDDYLINE_TEST_REQUIRE and was not found"
        );
        say("chromium with chromedriver was not found; tests that need a browser are passed over");
    }
    found
}
