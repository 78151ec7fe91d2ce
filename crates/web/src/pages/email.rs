//! Undoing a change of address by the link that was mailed to the old one.

use axum::response::Response;

use super::plain::Plain;
use super::secret;
use crate::error::PageError;
use crate::segments::LinkSegment;
use crate::submission::Submission;
use crate::visit::Visit;

/// Digits of the secret in the link.
const DIGITS: usize = 64;

pub(super) async fn show(
    visit: Visit,
    LinkSegment(link): LinkSegment,
) -> Result<Response, PageError> {
    let link = secret(&link, DIGITS).ok_or(PageError::InvalidLink)?;
    let found = visit
        .app()
        .accounts()
        .undo_link(&link)
        .await
        .map_err(PageError::of_link)?;
    let t = &visit.texts().old_address;
    let form = visit.form(visit.path(), t.restore.with("address", &found.old));
    let changed = t.changed.with("name", &found.name);
    let shown = Plain::new(&visit, &t.title)
        .text(changed.with("old", &found.old).with("new", &found.present))
        .text(&t.warning)
        .form(form);
    Ok(visit.page(&shown))
}

pub(super) async fn undo(
    LinkSegment(link): LinkSegment,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let link = secret(&link, DIGITS).ok_or(PageError::InvalidLink)?;
    visit
        .app()
        .accounts()
        .undo_email_change(&link)
        .await
        .map_err(PageError::of_link)?;
    let t = visit.texts();
    let shown = Plain::new(visit, &t.old_address.restored)
        .text(&t.old_address.ended)
        .text(&t.old_address.sent)
        .link("/sign-in", &t.sign_in.title);
    Ok(visit.page(&shown))
}
