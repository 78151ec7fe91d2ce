//! One's own picture.

use axum::response::Response;
use eddyline_app::{Actor, Error};

use super::{finish, see_other};
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::submission::Submission;
use crate::upload::PictureUpload;
use crate::visit::Visit;

const KINDS: &str = "image/png,image/jpeg,image/gif,image/webp";

/// The picture as the page of the account shows it.
pub(super) struct PictureView {
    pub(super) address: String,
    pub(super) upload: FormView,
    /// Absent where none was uploaded.
    pub(super) removal: Option<FormView>,
}

impl PictureView {
    pub(super) async fn of(visit: &Visit, actor: &Actor) -> Result<Self, PageError> {
        let is_uploaded = visit.app().avatars().has_uploaded(actor).await?;
        Ok(Self {
            // Pages are served beside the API.
            address: format!("/avatars/{}/192", actor.user()?.user.avatar),
            upload: uploading(visit),
            removal: is_uploaded.then(|| {
                visit
                    .form("/account", &visit.texts().picture.remove)
                    .hidden("part", "no-picture")
                    .quiet()
            }),
        })
    }
}

pub(in crate::pages) async fn upload(sent: PictureUpload) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in_for("/account")?;
    let picture = sent.picture();
    let t = visit.texts();
    let outcome = if picture.is_empty() {
        Err(Error::invalid("avatar", t.problem.blank.as_str()))
    } else {
        visit.app().avatars().set(actor, picture).await.map(drop)
    };
    finish(
        visit,
        "picture",
        &t.picture.title,
        uploading(visit),
        outcome,
    )
    .await
}

pub(super) async fn remove(sent: &Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    visit.app().avatars().delete(visit.signed_in()?).await?;
    Ok(see_other("/account?done=no-picture"))
}

fn uploading(visit: &Visit) -> FormView {
    let t = &visit.texts().picture;
    visit
        .form("/account/picture", &t.change)
        .prefix("picture-")
        .field(FormField::file("avatar", &t.label, KINDS).hint(&t.hint))
}
