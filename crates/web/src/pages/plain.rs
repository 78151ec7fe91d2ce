//! A page with a heading, some text, perhaps a form, and links.

use askama::Template;

use crate::field::FormView;

/// Such a page.
#[derive(Template)]
#[template(path = "plain.html")]
pub(super) struct Plain {
    title: String,
    text: Vec<String>,
    form: Option<FormView>,
    links: Vec<(String, &'static str)>,
}

impl Plain {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: Vec::new(),
            form: None,
            links: Vec::new(),
        }
    }

    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.text.push(text.into());
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
