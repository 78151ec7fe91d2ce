//! The files of the demonstration.

use eddyline_app::{Error, NewPost};
use eddyline_model::messages::MessageKind;

use super::MAIN;
use super::company::{Company, Persona, Spot};

/// A file that a person sends.
pub(super) struct SharedFile {
    by: Persona,
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

/// What was measured in the climate chamber.
pub(super) const MEASUREMENTS: SharedFile = SharedFile {
    by: Persona::Alan,
    name: "humidity-run-3.csv",
    kind: "text/csv",
    bytes: b"minute,humidity,packets lost\n0,61,0\n5,74,1\n10,83,9\n15,91,12\n",
};

/// A chart with a gap.
pub(super) const CHART: SharedFile = SharedFile {
    by: Persona::Katherine,
    name: "level-14.png",
    kind: "image/png",
    bytes: include_bytes!("../../assets/level-14.png"),
};

/// Sends a file into the chat. Without a place for files there are none.
pub(super) async fn send(company: &Company, file: &SharedFile) -> Result<(), Error> {
    if company.app.config().files.place.is_none() {
        return Ok(());
    }
    let files = company.app.files();
    let mut upload = files.begin_upload(company.actor(file.by)?, 0).await?;
    upload.write(file.bytes.into()).await?;
    let uploaded = upload.finish().await?;
    let post = NewPost {
        files: vec![uploaded.named(Some(file.name), Some(file.kind), None)?],
        ..NewPost::of(MessageKind::File, String::new())
    };
    company
        .post(file.by, &Spot::chat(MAIN), post)
        .await
        .map(drop)
}
