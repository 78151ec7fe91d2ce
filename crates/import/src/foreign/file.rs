//! Files as messages show them.

use eddyline_model::files::{FileId, NewFile, NewObject};
use eddyline_wire::{Attachment, PictureSize, Thumbnail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::texts;

/// What stands in a path as it is: the unreserved characters of RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The content of the message that brings a file.
pub(crate) fn describe(file: &NewFile) -> String {
    let name = utf8_percent_encode(&file.name, ESCAPED);
    let shown = Attachment {
        content_type: file.content_type.clone(),
        content_id: None,
        file_name: file.name.clone(),
        file_size: file.object.size,
        path: format!("/files/{}/{name}", file.id.0),
        image: file.picture.map(|size| PictureSize {
            width: size.width,
            height: size.height,
        }),
        thumbnail: file.thumbnail.as_ref().map(|(_, size)| Thumbnail {
            path: format!("/files/{}/thumbnail/{name}", file.id.0),
            width: size.width,
            height: size.height,
        }),
    };
    serde_json::to_string(&shown).unwrap_or_default()
}

/// Stands for a file that a dry run does not read.
pub(crate) fn unread(name: &str) -> NewFile {
    NewFile {
        id: FileId(String::new()),
        name: texts::file_name(name),
        content_type: String::new(),
        object: NewObject {
            key: String::new(),
            digest: [0; 32],
            size: 0,
        },
        picture: None,
        thumbnail: None,
    }
}

/// Returns `true` if an error is one of the packed data, rather than of the system.
pub(super) fn is_of_data(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof
    )
}
