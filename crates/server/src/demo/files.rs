//! The files of the demonstration.

use eddyline_app::{Actor, App, Error, NewPost};
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::FlowAction;

use super::{FLOW, ORGANIZATION};

/// Sends a file of this name and type into the chat. Without a place for files there are none.
pub(super) async fn send(
    app: &App,
    actor: &Actor,
    (name, kind): (&str, &str),
    bytes: &'static [u8],
) -> Result<(), Error> {
    if app.config().files.place.is_none() {
        return Ok(());
    }
    let rooms = app.rooms();
    let room = rooms
        .find(actor, ORGANIZATION, FLOW, FlowAction::Post)
        .await?;
    let mut upload = app.files().begin_upload(actor, 0).await?;
    upload.write(bytes.into()).await?;
    let uploaded = upload.finish().await?;
    let post = NewPost {
        files: vec![uploaded.named(Some(name), Some(kind), None)?],
        ..NewPost::of(MessageKind::File, String::new())
    };
    app.messages().post(actor, room, post).await.map(drop)
}
