//! Undoing a change of address by the link that was mailed to the old one.

use axum::response::Response;

use super::plain::Plain;
use super::secret;
use crate::error::PageError;
use crate::field::FormView;
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
    let form = FormView::new(visit.path(), visit.csrf(), format!("Restore {}", found.old));
    let shown = Plain::new("Restore your old e-mail address")
        .text(format!(
            "The address of {}'s account was changed from {} to {}.",
            found.name, found.old, found.present
        ))
        .text(
            "If this wasn’t you, restore the old address. This ends all sessions, all API tokens and the \
             password of the account, and a link to a new password is mailed to you.",
        )
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
    let shown = Plain::new("Your old address is restored")
        .text("All sessions and API tokens have ended, and the password has been removed.")
        .text("We’ve sent a link to choose a new password to your old address.")
        .link("/sign-in", "Sign in");
    Ok(visit.page(&shown))
}
