//! The one page that tells a new secret.

use std::fmt::Display;

use askama::Template;

use crate::error::PageError;
use crate::pages::shell::Shell;
use crate::texts::Texts;
use crate::visit::Visit;

/// Such a page. It is the answer to a form and never kept, so that nobody comes back to it.
#[derive(Template)]
#[template(path = "secret.html")]
pub(super) struct SecretPage<'a> {
    t: &'static Texts,
    shell: Shell,
    title: String,
    shown: Vec<(&'static str, &'a str)>,
    text: Vec<&'static str>,
    way_on: (&'a str, &'static str),
}

impl<'a> SecretPage<'a> {
    pub(super) async fn new(
        visit: &Visit,
        title: impl Display,
        way_on: (&'a str, &'static str),
    ) -> Result<Self, PageError> {
        Ok(Self {
            t: visit.texts(),
            shell: Shell::beside(visit).await?,
            title: title.to_string(),
            shown: Vec::new(),
            text: Vec::new(),
            way_on,
        })
    }

    pub(super) fn shows(mut self, label: &'static str, value: &'a str) -> Self {
        self.shown.push((label, value));
        self
    }

    pub(super) fn text(mut self, text: &'static str) -> Self {
        self.text.push(text);
        self
    }
}
