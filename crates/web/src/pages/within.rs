//! A page for somebody who is signed in, with a heading, some text, forms, and links.

use std::fmt::Display;

use askama::Template;

use crate::error::PageError;
use crate::field::FormView;
use crate::pages::shell::Shell;
use crate::texts::Texts;
use crate::visit::Visit;

/// Such a page.
#[derive(Template)]
#[template(path = "within.html")]
pub(super) struct Within {
    t: &'static Texts,
    shell: Shell,
    title: String,
    text: Vec<String>,
    forms: Vec<FormView>,
    links: Vec<(String, String)>,
}

impl Within {
    pub(super) async fn new(visit: &Visit, title: impl Display) -> Result<Self, PageError> {
        Ok(Self {
            t: visit.texts(),
            shell: Shell::beside(visit).await?,
            title: title.to_string(),
            text: Vec::new(),
            forms: Vec::new(),
            links: Vec::new(),
        })
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
