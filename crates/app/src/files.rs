//! Files that messages bring along.

use eddyline_model::files::NewFile;
use eddyline_wire::{Attachment, Picture, Thumbnail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands in a path as it is: the unreserved characters of RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A file whose bytes are written already, on its way into a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttachment {
    /// The id by which the message's body refers to it.
    pub content_id: Option<String>,
    /// The file.
    pub file: NewFile,
}

impl NewAttachment {
    /// The file as the message shows it.
    pub(crate) fn describe(&self) -> Attachment {
        let file = &self.file;
        let name = utf8_percent_encode(&file.name, ESCAPED);
        Attachment {
            content_type: file.content_type.clone(),
            content_id: self.content_id.clone(),
            file_name: file.name.clone(),
            file_size: file.object.size,
            path: format!("/files/{}/{name}", file.id.0),
            image: file.picture.map(|size| Picture { width: size.width, height: size.height }),
            thumbnail: file.thumbnail.as_ref().map(|(_, size)| Thumbnail {
                path: format!("/files/{}/thumbnail/{name}", file.id.0),
                width: size.width,
                height: size.height,
            }),
        }
    }
}
