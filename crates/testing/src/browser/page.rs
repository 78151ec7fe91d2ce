//! What the calls of a browser are made of: elements found, and pages waited for.

use std::time::Instant;

use serde_json::{Value, json};

use super::Browser;
use super::driver::{Driver, LITTLE_PATIENCE, PAGE_PATIENCE, PATIENCE};

const FOLLOW: &str = include_str!("follow.js");
/// What a failure tells of the page: its text, and which element has the focus.
const SHOWN: &str = "const focused = document.activeElement?.cloneNode(false).outerHTML;
    return `${document.body?.innerText ?? ''}\n--- the focus is on ${focused}`";

/// The key under which WebDriver tells of an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// WebDriver's character for the Enter key.
const ENTER: &str = "\u{e007}";
const FIELDS: &str = "input:not([type=hidden], [type=submit], [type=button], [type=reset], [type=image]), \
                      textarea, select, [contenteditable], [role=textbox]";

/// An element of the page, by WebDriver's name for it.
pub(super) struct Element(String);

impl Element {
    /// The path of something of the element.
    pub(super) fn at(&self, what: &str) -> String {
        format!("/element/{}/{what}", self.0)
    }

    /// The element as an argument of a script.
    pub(super) fn argument(&self) -> Value {
        json!({ ELEMENT: self.0 })
    }
}

/// How an element is pressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Press {
    Click,
    Enter,
}

impl Browser {
    pub(super) fn driver(&self) -> &Driver {
        self.driver.as_ref().expect("the browser is there")
    }

    #[track_caller]
    pub(super) fn type_over(&self, field: &Element, text: &str) {
        self.post(&field.at("clear"), &json!({}));
        self.post(&field.at("value"), &json!({ "text": text }));
    }

    #[track_caller]
    pub(super) fn click(&self, element: &Element) {
        self.post(&element.at("click"), &json!({}));
    }

    /// Presses, and waits for the page to which that leads. WebDriver does so too, but looks once
    /// only: a form that is sent a moment later it misses.
    #[track_caller]
    pub(super) fn press_and_follow(&self, element: &Element, press: Press) {
        let by_enter = press == Press::Enter;
        self.run(
            FOLLOW,
            &json!([element.argument(), self.javascript, by_enter]),
        );
        match press {
            Press::Click => self.click(element),
            Press::Enter => drop(self.post(&element.at("value"), &json!({ "text": ENTER }))),
        }
        let end = Instant::now() + PAGE_PATIENCE;
        while self.run(FOLLOW, &json!([null, self.javascript, by_enter])) != "here" {
            if Instant::now() > end {
                self.fail("the page to which this leads did not come");
            }
        }
    }

    #[track_caller]
    pub(super) fn field(&self, label: &str) -> Element {
        let mut fields = self.elements("/elements", FIELDS);
        fields.retain(|field| self.is_announced(field, label));
        self.only(fields, "fields labelled", label)
    }

    #[track_caller]
    pub(super) fn is_announced(&self, element: &Element, name: &str) -> bool {
        self.same_words(&element.at("computedlabel"), name)
    }

    #[track_caller]
    pub(super) fn reads(&self, element: &Element, text: &str) -> bool {
        self.same_words(&element.at("text"), text)
    }

    #[track_caller]
    pub(super) fn same_words(&self, path: &str, wanted: &str) -> bool {
        match self.driver().call("GET", path, None, PATIENCE) {
            Ok(text) => text_of(text)
                .split_whitespace()
                .eq(wanted.split_whitespace()),
            // The page took it away since it was found.
            Err(text) if text.starts_with("stale element reference") => false,
            Err(text) => self.fail(&text),
        }
    }

    #[track_caller]
    pub(super) fn first(&self, css: &str) -> Element {
        match self.elements("/elements", css).into_iter().next() {
            Some(element) => element,
            None => self.fail(&format!("nothing matches {css:?}")),
        }
    }

    #[track_caller]
    pub(super) fn only(&self, mut found: Vec<Element>, what: &str, name: &str) -> Element {
        match found.pop() {
            Some(element) if found.is_empty() => element,
            rest => self.fail(&format!(
                "{} {what} {name:?}",
                found.len() + usize::from(rest.is_some())
            )),
        }
    }

    #[track_caller]
    pub(super) fn elements(&self, path: &str, css: &str) -> Vec<Element> {
        let found = self.post(path, &json!({ "using": "css selector", "value": css }));
        list_of(&found)
            .iter()
            .map(|element| Element(text_of(element[ELEMENT].clone())))
            .collect()
    }

    /// Runs the body of a function with arguments.
    #[track_caller]
    pub(super) fn run(&self, script: &str, arguments: &Value) -> Value {
        self.post(
            "/execute/sync",
            &json!({ "script": script, "args": arguments }),
        )
    }

    /// Runs a script that ends when `condition` has come true.
    #[track_caller]
    pub(super) fn wait(&self, script: &str, condition: &str) {
        let body = json!({ "script": script, "args": [] });
        let run = self
            .driver()
            .call("POST", "/execute/sync", Some(&body), PATIENCE);
        if let Err(text) = run {
            self.fail(&format!("waiting for {condition}: {text}"));
        }
    }

    #[track_caller]
    pub(super) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        )
    }

    #[track_caller]
    pub(super) fn get(&self, path: &str) -> Value {
        match self.driver().call("GET", path, None, PATIENCE) {
            Ok(value) => value,
            Err(text) => self.fail(&text),
        }
    }

    #[track_caller]
    pub(super) fn delete(&self, path: &str) -> Value {
        match self.driver().call("DELETE", path, None, PATIENCE) {
            Ok(value) => value,
            Err(text) => self.fail(&text),
        }
    }

    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        match self.driver().call("POST", path, Some(body), PATIENCE) {
            Ok(value) => value,
            Err(text) => self.fail(&text),
        }
    }

    #[track_caller]
    pub(super) fn fail(&self, why: &str) -> ! {
        let script = json!({ "script": SHOWN, "args": [] });
        let [url, title, text] = [
            ("GET", "/url", None),
            ("GET", "/title", None),
            ("POST", "/execute/sync", Some(&script)),
        ]
        .map(|(method, path, body)| self.driver().call(method, path, body, LITTLE_PATIENCE))
        .map(|answer| answer.map_or_else(|text| text, text_of));
        panic!("{why}\n--- on {url}, titled {title:?}, with the text:\n{text}\n---");
    }
}

pub(super) fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

pub(super) fn list_of(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
