//! The code that a user copies into an application which cannot be sent back to (specification,
//! section 5). Its address ends in the code, where programs that watch the browser find it.

use askama::Template;
use axum::response::Response;
use eddyline_app::{ErrorKind, Secret};

use crate::error::PageError;
use crate::segments::LinkSegment;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "code.html")]
struct Code<'a> {
    t: &'static Texts,
    application: &'a str,
    code: &'a str,
}

pub(super) async fn show(
    visit: Visit,
    LinkSegment(code): LinkSegment,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    match visit
        .app()
        .oauth()
        .shown_code(actor, &Secret::presented(code.as_str()))
        .await
    {
        Ok(application) => Ok(visit.page(&Code {
            t: visit.texts(),
            application: &application.name,
            code: &code,
        })),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(PageError::InvalidCode),
        Err(error) => Err(error.into()),
    }
}
