//! A page for somebody who is signed in, with a heading, some text, forms, and links.

use std::fmt::Display;

use askama::Template;

use crate::field::FormView;
use crate::visit::{Inside, Visit};

/// Such a page.
#[derive(Template)]
#[template(path = "within.html")]
pub(super) struct Within {
    inside: Inside,
    title: String,
    text: Vec<String>,
    forms: Vec<FormView>,
    links: Vec<(String, String)>,
}

impl Within {
    pub(super) fn new(visit: &Visit, title: impl Display) -> Self {
        Self {
            inside: visit.inside(),
            title: title.to_string(),
            text: Vec::new(),
            forms: Vec::new(),
            links: Vec::new(),
        }
    }

    pub(super) fn text(mut self, text: impl Display) -> Self {
        self.text.push(text.to_string());
        self
    }

    pub(super) fn form(mut self, form: FormView) -> Self {
        self.forms.push(form);
        self
    }

    pub(super) fn link(mut self, path: impl Into<String>, label: impl Display) -> Self {
        self.links.push((path.into(), label.to_string()));
        self
    }

    fn is_wrong(&self) -> bool {
        self.forms.iter().any(FormView::is_wrong)
    }
}
