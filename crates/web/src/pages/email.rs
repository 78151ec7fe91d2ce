//! Undoing a change of address by the link that was mailed to the old one.

use axum::response::Response;

use super::password::gone;
use super::plain::Plain;
use super::secret;
use crate::failure::PageFailure;
use crate::field::FormView;
use crate::segments::Link;
use crate::submission::Submission;
use crate::visit::Visit;

/// Digits of the secret in the link.
const DIGITS: usize = 64;

pub(super) async fn show(visit: Visit, Link(link): Link) -> Result<Response, PageFailure> {
    let link = secret(&link, DIGITS).ok_or(PageFailure::LinkGone)?;
    let found = visit
        .app()
        .accounts()
        .undo_link(&link)
        .await
        .map_err(gone)?;
    let form = FormView::new(
        visit.path(),
        visit.csrf(),
        format!("Go back to {}", found.old),
    );
    let shown = Plain::new("Take your old address back")
        .text(format!(
            "The address of {}'s account was changed from {} to {}.",
            found.name, found.old, found.present
        ))
        .text(
            "If that was not you, go back to the old one. That ends all sessions, all API tokens and the \
             password of the account, and a link to a new password is mailed to you.",
        )
        .form(form);
    Ok(visit.page(&shown))
}

pub(super) async fn undo(Link(link): Link, sent: Submission) -> Result<Response, PageFailure> {
    let visit = &sent.visit;
    let link = secret(&link, DIGITS).ok_or(PageFailure::LinkGone)?;
    visit
        .app()
        .accounts()
        .undo_email_change(&link)
        .await
        .map_err(gone)?;
    let shown = Plain::new("The old address is back")
        .text("All sessions and API tokens of the account have ended, and so has its password.")
        .text("A link to choose a new password is on its way to your old address.")
        .link("/sign-in", "Sign in");
    Ok(visit.page(&shown))
}
