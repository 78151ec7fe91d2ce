//! Files that messages bring along: taking them in, handing them out, and clearing away what no
//! message has.

mod clean;
mod download;
mod metrics;
mod upload;
pub(crate) mod usage;

use std::sync::Arc;

use crate::core::Core;
use crate::rooms::Rooms;
use crate::unpacking::Unpacking;
use crate::{Error, Result};
use eddyline_auth::DownloadKey;
use eddyline_model::files::NewFile;
use eddyline_wire::{Attachment, PictureSize, Thumbnail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::{Notify, OnceCell};

use self::metrics::FileMetrics;
pub use download::Download;
pub use metrics::FileContent;
pub use upload::{Upload, Uploaded};

/// What stands in a path as it is: the unreserved characters of RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Files of messages: uploads, links and downloads. See [`crate::App::files`].
#[derive(Clone)]
pub struct Files {
    core: Core,
    rooms: Rooms,
    pub(crate) sums: Arc<usage::FileSums>,
    /// Signs the links to files.
    links: Arc<DownloadKey>,
    unpacking: Arc<Unpacking>,
    /// Notified when this process abandoned an upload.
    upload_abandoned: Arc<Notify>,
    /// The origin of the object store. It never changes, and finding it out signs an address.
    store_origin: Arc<OnceCell<Option<String>>>,
    metrics: FileMetrics,
}

crate::core::opaque_debug!(Files);

impl Files {
    pub(crate) fn new(
        core: Core,
        rooms: Rooms,
        links: DownloadKey,
        unpacking: Arc<Unpacking>,
    ) -> Self {
        let (sums, upload_abandoned) = (Arc::default(), Arc::default());
        Self {
            core,
            rooms,
            sums,
            links: Arc::new(links),
            unpacking,
            upload_abandoned,
            store_origin: Arc::default(),
            metrics: FileMetrics::default(),
        }
    }

    fn files(&self) -> Result<&eddyline_files::Files> {
        let place = self.core.config().files.place.as_ref();
        place.ok_or_else(|| Error::unavailable("this process keeps no files"))
    }
}

/// A name as one segment of a path.
fn in_path(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

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
        let name = in_path(&file.name);
        Attachment {
            content_type: file.content_type.clone(),
            content_id: self.content_id.clone(),
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
        }
    }
}
