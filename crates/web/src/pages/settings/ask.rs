//! A page that asks whether something shall really be done.

use askama::Template;
use axum::response::Response;
use eddyline_wire::Flow;
use http::StatusCode;

use super::{Frame, Subject, path_of};
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::shell::Shell;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/ask.html")]
pub(super) struct Ask {
    pub(super) t: &'static Texts,
    pub(super) shell: Shell,
    pub(super) frame: Frame,
    /// What follows from it.
    pub(super) text: String,
    pub(super) form: FormView,
    /// The page that led here.
    pub(super) back: String,
}

impl Ask {
    /// The page; 400 where its form has a mistake.
    pub(super) async fn answer(&self, visit: &Visit) -> Result<Response, PageError> {
        let status = match self.frame.wrong {
            true => StatusCode::BAD_REQUEST,
            false => StatusCode::OK,
        };
        visit.client_page_with(status, self).await
    }
}

/// Asks about a flow. `what` is to be done; it is both the heading and the button.
pub(super) async fn ask_about(
    visit: &Visit,
    flow: &Flow,
    what: String,
    text: String,
) -> Result<Response, PageError> {
    let ask = Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame::new(visit, flow, Subject::General).headed(what.clone()),
        text,
        form: visit.form(visit.path(), what),
        back: Subject::General.path(&path_of(flow)),
    };
    ask.answer(visit).await
}
