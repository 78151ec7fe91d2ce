//! A page with a heading, some text, perhaps a form, and links.

use std::fmt::Display;

use askama::Template;

use crate::field::FormView;
use crate::texts::Texts;
use crate::visit::Visit;

/// Such a page.
#[derive(Template)]
#[template(path = "plain.html")]
pub(super) struct Plain {
    t: &'static Texts,
    title: String,
    text: Vec<String>,
    form: Option<FormView>,
    links: Vec<(String, &'static str)>,
}

impl Plain {
    pub(super) fn new(visit: &Visit, title: impl Display) -> Self {
        Self {
            t: visit.texts(),
            title: title.to_string(),
            text: Vec::new(),
            form: None,
            links: Vec::new(),
        }
    }

    pub(super) fn text(mut self, text: impl Display) -> Self {
        self.text.push(text.to_string());
        self
    }

    pub(super) fn form(mut self, form: FormView) -> Self {
        self.form = Some(form);
        self
    }

    pub(super) fn link(mut self, path: impl Into<String>, label: &'static str) -> Self {
        self.links.push((path.into(), label));
        self
    }
}
