//! Handing files out: links for callers who may read a file, and the files behind them.

use std::ops::Range;
use std::time::Duration;

use eddyline_auth::{DownloadClaim, DownloadError, Variant};
use eddyline_files::FileKey;
use eddyline_model::RoomId;
use eddyline_model::files::{File, FileId};
use eddyline_model::policy::{FlowAction, MessageAction};
use eddyline_model::scopes::Scope;
use eddyline_wire::disposition;
use futures_util::TryStreamExt as _;

use super::{FileContent, in_path};
use crate::actor::Actor;
use crate::quota::QuotaSubject;
use crate::{Error, ErrorKind, Files, Result};

/// What a PNG file begins with. A thumbnail is either that or a JPEG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The number of bytes of a text that are read to find out its charset.
const EXAMINED: u64 = 64 << 10;

/// The most characters behind a dot that tell what a file is.
const MAX_ENDING: usize = 10;

/// A file that can be downloaded.
#[derive(Clone, Debug)]
pub struct Download {
    /// Its name.
    pub name: String,
    /// Its MIME type.
    pub content_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// Differs for files that differ.
    pub tag: String,
    /// Who asked for the link.
    pub owner: QuotaSubject,
    key: FileKey,
}

impl Files {
    /// An address where a file can be read without credentials for a short while, for a caller who
    /// may read the flow or the private conversation it is in.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`], [`Error::missing_scope`].
    pub async fn link(&self, actor: &Actor, id: &str, variant: Variant) -> Result<String> {
        let file = self.load_file(id).await?;
        self.admit_reader(actor, file.room).await?;
        let (files, millis) = (self.files()?, self.core.config().files.link_millis);
        let found = self.found(&file, variant, actor.quota_subject()).await?;
        let lifetime = Duration::from_millis(millis.unsigned_abs());
        let shown = disposition(&found.name, &found.content_type);
        if let Some(link) = files
            .link(&found.key, lifetime, &found.content_type, &shown)
            .await?
        {
            return Ok(link.into());
        }
        let QuotaSubject { user, organization } = actor.quota_subject();
        let claim = DownloadClaim {
            file: file.id.0,
            variant,
            user,
            organization,
        };
        let token = self
            .links
            .sign(&claim, self.core.now().plus_millis(millis).0);
        Ok(format!(
            "{}/download/{token}/{}",
            self.core.config().addresses.base,
            in_path(&found.name)
        ))
    }

    /// A file, for a caller who may read the flow or the private conversation it is in.
    ///
    /// # Errors
    ///
    /// As [`Files::link`].
    pub async fn find(&self, actor: &Actor, id: &str, variant: Variant) -> Result<Download> {
        let file = self.load_file(id).await?;
        self.admit_reader(actor, file.room).await?;
        self.found(&file, variant, actor.quota_subject()).await
    }

    /// The origin at which browsers read files, where an object store hands them out.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`] when the store cannot sign.
    pub async fn origin(&self) -> Result<Option<String>> {
        let Ok(files) = self.files() else {
            return Ok(None);
        };
        let origin = self.store_origin.get_or_try_init(|| files.origin()).await?;
        Ok(origin.clone())
    }

    async fn admit_reader(&self, actor: &Actor, room: RoomId) -> Result<()> {
        match self.rooms.admit(actor, room, FlowAction::Read).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            admitted => {
                actor.require_any(&[Scope::Flow])?;
                return admitted.map(drop);
            }
        }
        let people = self
            .core
            .store()
            .read(move |reader| reader.rooms().find_private_users(room))
            .await?;
        let (one, other) = people.ok_or_else(Error::not_found)?;
        let with = match actor.user()?.user.id {
            own if own == one => other,
            own if own == other => one,
            _ => return Err(Error::not_found()),
        };
        actor.require_any(&[Scope::Private])?;
        self.rooms
            .private(actor, with, MessageAction::Read)
            .await
            .map(drop)
    }

    /// The file behind a link's token.
    ///
    /// # Errors
    ///
    /// [`Error::gone`], and [`Error::not_found`] for any other text and when the file was
    /// deleted.
    pub async fn download(&self, token: &str) -> Result<Download> {
        let claim =
            self.links
                .check(token, self.core.now().0)
                .map_err(|refused| match refused {
                    DownloadError::Expired => Error::gone("This link has ended"),
                    DownloadError::Forged => Error::not_found(),
                })?;
        let file = self.load_file(&claim.file).await?;
        let owner = QuotaSubject {
            user: claim.user,
            organization: claim.organization,
        };
        self.found(&file, claim.variant, owner).await
    }

    /// The bytes of a file, or of a range of it that is not empty and begins within it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it was deleted meanwhile.
    pub async fn read(
        &self,
        download: &Download,
        range: Option<Range<u64>>,
    ) -> Result<FileContent> {
        let content = self.files()?.open(&download.key, range).await?;
        Ok(self.metrics.counted(content))
    }

    async fn load_file(&self, id: &str) -> Result<File> {
        let id = FileId(id.to_owned());
        self.core
            .store()
            .read(move |reader| reader.files().find(&id))
            .await?
            .ok_or_else(Error::not_found)
    }

    async fn found(&self, file: &File, variant: Variant, owner: QuotaSubject) -> Result<Download> {
        let key = match variant {
            Variant::File => Some(&file.object),
            Variant::Thumbnail => file.thumbnail.as_ref(),
        };
        let key = key
            .and_then(|key| FileKey::parse(key))
            .ok_or_else(Error::not_found)?;
        let (content_type, size, tag) = match variant {
            Variant::File => (
                self.served_type(file, &key).await,
                file.size.unsigned_abs(),
                format!("\"{}\"", file.id.0),
            ),
            Variant::Thumbnail => {
                let head = self.files()?.open(&key, Some(0..PNG.len() as u64)).await?;
                let size = head.file_size();
                let head: Vec<_> = head.try_collect().await?;
                let kind = if head.concat() == PNG {
                    "image/png"
                } else {
                    "image/jpeg"
                };
                (kind.to_owned(), size, format!("\"{}-small\"", file.id.0))
            }
        };
        let name = match variant {
            Variant::File => file.name.clone(),
            Variant::Thumbnail => small_name(&file.name, &content_type),
        };
        Ok(Download {
            name,
            content_type,
            size,
            tag,
            owner,
            key,
        })
    }

    /// The media type under which a file is handed out: that of a text names its charset where the
    /// sender did not and its beginning is UTF-8, since browsers would take it for another
    /// (RFC 6657, section 3). The bytes decide when they are read, so that this holds for files of
    /// every age and origin.
    async fn served_type(&self, file: &File, key: &FileKey) -> String {
        let content_type = file.content_type.clone();
        if !content_type.starts_with("text/") || content_type.contains(';') {
            return content_type;
        }
        // What cannot be read now may be read when the link is followed.
        match self.head(key).await {
            Ok(head) if is_utf8_beginning(&head) => content_type + "; charset=utf-8",
            _ => content_type,
        }
    }

    /// The beginning of a file.
    async fn head(&self, key: &FileKey) -> Result<Vec<u8>> {
        let content = self.files()?.open(key, Some(0..EXAMINED)).await?;
        let chunks: Vec<_> = content.try_collect().await?;
        Ok(chunks.concat())
    }
}

/// Returns `true` for UTF-8, of which the last character may be cut.
fn is_utf8_beginning(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // A sequence that is only cut has no length of an error.
        Err(error) => error.error_len().is_none(),
    }
}

/// What the thumbnail of a file of this name is called: it need not be of the same type.
fn small_name(name: &str, content_type: &str) -> String {
    let fitting: &[&str] = if content_type == "image/png" {
        &["png"]
    } else {
        &["jpg", "jpeg"]
    };
    let is_ending = |ending: &str| {
        (1..=MAX_ENDING).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && is_ending(ending) => (stem, ending),
        _ => (name, ""),
    };
    match fitting
        .iter()
        .any(|known| known.eq_ignore_ascii_case(ending))
    {
        true => name.to_owned(),
        false => format!("{stem}.{}", fitting[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbnail_is_called_what_it_is() {
        for (name, content_type, expected) in [
            ("x.html", "image/jpeg", "x.jpg"),
            ("photo.png", "image/jpeg", "photo.jpg"),
            ("photo.JPEG", "image/jpeg", "photo.JPEG"),
            ("dot.webp", "image/png", "dot.png"),
            ("dot.png", "image/png", "dot.png"),
            ("file", "image/png", "file.png"),
            (".png", "image/jpeg", ".png.jpg"),
            ("v1. the first", "image/jpeg", "v1. the first.jpg"),
            (
                "gr\u{fc}\u{df}e.g\u{fc}f",
                "image/png",
                "gr\u{fc}\u{df}e.g\u{fc}f.png",
            ),
        ] {
            assert_eq!(small_name(name, content_type), expected);
        }
    }
}
