//! The files that come with a request: as parts of a form, streamed to where files are kept, or as
//! Base64 in JSON.

mod described;
mod form;

use bytes::Bytes;
use eddyline_app::{Actor, App, Error, NewAttachment, Uploaded};
use eddyline_wire::params::ParamReader;
use http::HeaderMap;

pub(crate) use self::described::FileParameters;
pub(crate) use self::form::{FormBody, read_form};
use crate::media::BodyType;

/// Where a file belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    /// It is the message.
    Content,
    /// It comes with the message, which may refer to it by an id.
    Attachment(Option<String>),
}

/// A file that came as a part of a form.
#[derive(Debug)]
pub(crate) struct Received {
    role: Role,
    file_name: Option<String>,
    content_type: Option<String>,
    uploaded: Uploaded,
}

/// The one file that a file message is, as the parameters describe it. What is handed back beside
/// it must be held until the message is posted.
pub(crate) async fn content(
    (app, sender): (&App, &Actor),
    received: Vec<Received>,
    described: FileParameters,
) -> Result<(NewAttachment, Uploaded), Error> {
    let FileParameters {
        file_name,
        content_type,
        data,
    } = described;
    let (uploaded, told_name, told_type) = match (received.into_iter().next(), data) {
        (Some(file), _) => (file.uploaded, file.file_name, file.content_type),
        (None, Some(data)) => (keep((app, sender), data).await?, None, None),
        (None, None) => return Err(Error::invalid("content", "is required")),
    };
    let name = file_name.or(told_name);
    let attachment =
        uploaded.named(name.as_deref(), content_type.or(told_type).as_deref(), None)?;
    Ok((attachment, uploaded))
}

async fn keep((app, sender): (&App, &Actor), data: Bytes) -> Result<Uploaded, Error> {
    let mut upload = app.files().begin_upload(sender, 0).await?;
    upload.write(data).await?;
    upload.finish().await
}

/// The attachments of a message, and what must be held until it is posted.
pub(crate) fn attachments(
    received: Vec<Received>,
) -> Result<(Vec<NewAttachment>, Vec<Uploaded>), Error> {
    let mut attachments = Vec::new();
    let mut held = Vec::new();
    for Received {
        role,
        file_name,
        content_type,
        uploaded,
    } in received
    {
        let Role::Attachment(id) = role else { continue };
        attachments.push(uploaded.named(file_name.as_deref(), content_type.as_deref(), id)?);
        held.push(uploaded);
    }
    Ok((attachments, held))
}

/// Notes a mistake where files came that the message has no place for.
pub(crate) fn check_places(
    received: &[Received],
    takes_content: bool,
    takes_attachments: bool,
    params: &mut ParamReader<'_>,
) {
    for file in received {
        match file.role {
            Role::Content if !takes_content => {
                params.error("content", "must be a text, not a file");
            }
            Role::Attachment(_) if !takes_attachments => {
                params.error(
                    "attachments",
                    "goes with activity and discussion messages only",
                );
                return;
            }
            _ => {}
        }
    }
}

/// Whether the body can be JSON, which has files as Base64.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    matches!(
        BodyType::of(headers),
        BodyType::Json | BodyType::TextJson | BodyType::Unnamed
    )
}

/// How long JSON may be that has a file of so many bytes in it.
pub(crate) fn json_bytes(file: usize, rest: usize) -> usize {
    // Some write Base64 in lines, whose ends have up to four characters for 76.
    let encoded = (file / 3 + 1).saturating_mul(4);
    encoded.saturating_add(encoded / 16).saturating_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_room_for_the_largest_file() {
        for bytes in 0..10 {
            assert!(json_bytes(bytes, 0) >= bytes.div_ceil(3) * 4, "{bytes}");
        }
    }
}
