//! Taking files in. Their bytes are written before the message that brings them along is posted;
//! what no message takes is thrown away.

use bytes::Bytes;
use eddyline_auth::Secret;
use eddyline_files::FileKey;
use eddyline_model::files::{Dimensions, FileId, MAX_NAME_CHARS, NewFile, NewObject};
use tokio::runtime::Handle;

use super::NewAttachment;
use crate::actor::Actor;
use crate::charging::{current_keys, on_behalf_of};
use crate::core::transaction::NoCaller;
use crate::quota::QuotaKeys;
use crate::{Error, Files, Result};

/// After how long nothing of an upload that was given up is written any more, in milliseconds.
const STILL_WRITTEN_MILLIS: i64 = 60_000;
/// After what time an upload that was given up is noted as such once more, when that went wrong.
const NOTED_AGAIN: std::time::Duration = std::time::Duration::from_secs(5);

/// The type of what says nothing better.
const ANYTHING: &str = "application/octet-stream";
/// What the first bytes tell. Whatever is called so and is not, is something else.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_TYPE_BYTES: usize = 255;
/// What a file is called that has no name.
const NAMELESS: &str = "file";

/// A file that is being taken in. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct Upload {
    writing: eddyline_files::Upload,
    /// Under which a thumbnail is made.
    keys: QuotaKeys,
    noted: PendingObjects,
}

/// A file that was taken in. It must be held until it is posted: what no message has taken when it
/// is dropped is thrown away.
#[derive(Debug)]
pub struct Uploaded {
    file: NewFile,
    sniffed: bool,
    _noted: PendingObjects,
}

impl Files {
    /// Begins to take in a file of `actor`.
    ///
    /// `before` are the bytes of files that came with the same message, which count as well.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`] where no files are kept, [`Error::disk_full`].
    pub async fn begin_upload(&self, actor: &Actor, before: u64) -> Result<Upload> {
        let mut noted = PendingObjects {
            files: self.clone(),
            keys: Vec::new(),
            is_written: false,
            uploader: current_keys(),
        };
        let key = noted.another().await?;
        let most = self.core.config().files.max_bytes.saturating_sub(before);
        let writing = self.files()?.begin(&key, most).await?;
        Ok(Upload {
            writing,
            keys: actor.quota_keys(),
            noted,
        })
    }
}

impl Upload {
    /// Takes more bytes.
    ///
    /// # Errors
    ///
    /// [`Error::too_large`] from the byte on that is one too many, [`Error::disk_full`].
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        Ok(self.writing.write(bytes).await?)
    }

    /// Puts the file on the disk for good, and finds out what it is.
    ///
    /// # Errors
    ///
    /// [`Error::disk_full`], [`Error::unavailable`].
    pub async fn finish(mut self) -> Result<Uploaded> {
        let key = self.writing.key().clone();
        let (unpacking, keys) = (&self.noted.files.unpacking, self.keys);
        let stored = self
            .writing
            .finish(async |bytes| unpacking.reserve(keys, bytes).await.ok())
            .await?;
        let object = new_object(&key, stored.digest, stored.size);
        let picture = stored.picture;
        let size = picture.as_ref().map(|p| Dimensions {
            width: p.width,
            height: p.height,
        });
        let thumbnail = match picture.and_then(|picture| picture.thumbnail) {
            Some(thumbnail) => {
                let key = self.noted.another().await?;
                let (size, bytes) = (thumbnail.bytes.len() as u64, thumbnail.bytes);
                let digest = self.noted.files.files()?.put(&key, bytes).await?;
                self.noted.files.metrics.note_thumbnail();
                let dimensions = Dimensions {
                    width: thumbnail.width,
                    height: thumbnail.height,
                };
                Some((new_object(&key, digest, size), dimensions))
            }
            None => None,
        };
        self.noted.is_written = true;
        self.noted.files.metrics.note_uploaded(stored.size);
        let file = NewFile {
            id: FileId(Secret::generate_hex::<16>().expose().to_owned()),
            name: NAMELESS.to_owned(),
            content_type: stored.content_type.unwrap_or(ANYTHING).to_owned(),
            object,
            picture: size,
            thumbnail,
        };
        Ok(Uploaded {
            file,
            sniffed: stored.content_type.is_some(),
            _noted: self.noted,
        })
    }
}

impl Uploaded {
    /// How many bytes it has.
    #[must_use]
    pub fn size(&self) -> i64 {
        self.file.object.size
    }

    /// The file under the name and as the type that its sender has given. Of a name that is a path
    /// the last part counts. What a picture is, its bytes say.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], about `file_name` and `content_type`.
    pub fn named(
        &self,
        name: Option<&str>,
        content_type: Option<&str>,
        content_id: Option<String>,
    ) -> Result<NewAttachment> {
        let mut file = self.file.clone();
        file.name = clean_name(name.unwrap_or_default());
        if file.name.chars().count() > MAX_NAME_CHARS {
            let text = format!("is too long (maximum is {MAX_NAME_CHARS} characters)");
            return Err(Error::invalid("file_name", text));
        }
        if let Some(told) = content_type.map(str::trim).filter(|told| !told.is_empty()) {
            if !is_media_type(told) {
                return Err(Error::invalid(
                    "content_type",
                    "is not a media type such as image/png",
                ));
            }
            let told = told.to_ascii_lowercase();
            let essence = told.split(';').next().unwrap_or_default().trim_end();
            if !self.sniffed && !PICTURES.contains(&essence) {
                file.content_type = told;
            }
        }
        Ok(NewAttachment { content_id, file })
    }
}

fn new_object(key: &FileKey, digest: [u8; 32], size: u64) -> NewObject {
    NewObject {
        key: key.as_str().to_owned(),
        digest,
        size: i64::try_from(size).unwrap_or(i64::MAX),
    }
}

/// The name without the folders it was in, and without what would make it look like another.
fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !is_misleading(*c)).collect();
    match clean.trim_matches(|c: char| c.is_whitespace() || is_joiner(c)) {
        "" | "." | ".." => NAMELESS.to_owned(),
        name => name.to_owned(),
    }
}

/// Whether a character is not seen in a name, or only splits it, and belongs to no spelling.
fn is_misleading(c: char) -> bool {
    (eddyline_wire::is_unseen(c) && !is_joiner(c))
        // A hyphen that is rarely seen, and the ends of lines and paragraphs.
        || matches!(c, '\u{ad}' | '\u{2028}' | '\u{2029}')
        // Numbers that Unicode never makes characters.
        || matches!(u32::from(c), 0xfdd0..=0xfdef)
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Whether a character joins its neighbours or keeps them apart, as Persian and emoji need it.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether a text has the form of RFC 9110, section 8.3.1, as far as it matters in a header.
fn is_media_type(text: &str) -> bool {
    let token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    // Behind a comma browsers read another type, which would not be the one that was judged.
    let plain = text.len() <= MAX_TYPE_BYTES
        && text.bytes().all(|b| (b' '..0x7f).contains(&b) && b != b',');
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    plain
        && essence
            .split_once('/')
            .is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

/// The keys under which an upload writes. What no message has kept when it is dropped is marked for
/// deletion.
struct PendingObjects {
    files: Files,
    keys: Vec<String>,
    /// Whether everything is written that will be.
    is_written: bool,
    /// The keys that the notes count for.
    uploader: Option<QuotaKeys>,
}

impl PendingObjects {
    async fn another(&mut self) -> Result<FileKey> {
        let key = FileKey::random();
        // Before it is noted, which may happen also when nobody waits for it any more.
        self.keys.push(key.as_str().to_owned());
        let (noted, node) = (key.as_str().to_owned(), self.files.core.node.clone());
        self.files
            .core
            .store()
            .write(NoCaller::Upload, move |tx| {
                let now = tx.now();
                tx.files().insert_object(&noted, &node, now)
            })
            .await?;
        Ok(key)
    }
}

impl Drop for PendingObjects {
    #[expect(
        clippy::disallowed_methods,
        reason = "a pause before the database is tried again"
    )]
    fn drop(&mut self) {
        let (files, keys) = (self.files.clone(), std::mem::take(&mut self.keys));
        let wait = if self.is_written {
            0
        } else {
            STILL_WRITTEN_MILLIS
        };
        let node = files.core.node.clone();
        // Without a runtime this process ends, and others find what it has left.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let uploader = self.uploader;
        let marking = async move {
            // Until it is noted: while this process lives, nobody else looks for its pending
            // objects.
            loop {
                let (again, node) = (keys.clone(), node.clone());
                let marked = files.core.store().write(NoCaller::Upload, move |tx| {
                    let from = tx.now().plus_millis(wait);
                    tx.files().mark_abandoned_uploads(&again, &node, from)
                });
                match marked.await {
                    Ok(_) => return files.upload_abandoned.notify_one(),
                    Err(error) => {
                        tracing::debug!(%error, "an upload that was given up could not be noted yet");
                    }
                }
                tokio::time::sleep(NOTED_AGAIN).await;
            }
        };
        match uploader {
            Some(keys) => runtime.spawn(on_behalf_of(keys, marking)),
            None => runtime.spawn(marking),
        };
    }
}

impl std::fmt::Debug for PendingObjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PendingObjects({:?})", self.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_part_of_a_path_and_shows_what_it_is() {
        for (given, kept) in [
            ("grüße.txt", "grüße.txt"),
            ("C:\\Users\\ada\\plan.pdf", "plan.pdf"),
            ("../../etc/passwd", "passwd"),
            (" a\r\nb\0.txt ", "ab.txt"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("invoice\u{61c}fdp.exe", "invoicefdp.exe"),
            (
                "\u{1f469}\u{200d}\u{1f680}.png",
                "\u{1f469}\u{200d}\u{1f680}.png",
            ),
            (
                "\u{645}\u{6cc}\u{200c}\u{631}\u{648}\u{645}.txt",
                "\u{645}\u{6cc}\u{200c}\u{631}\u{648}\u{645}.txt",
            ),
            (
                "in\u{ad}voice\u{2028}\u{2029}.\u{fffe}t\u{10ffff}x\u{fdd0}t",
                "invoice.txt",
            ),
            ("a.txt\u{200d} ", "a.txt"),
            ("\u{200c}\u{200d}", "file"),
            ("", "file"),
            ("..", "file"),
            ("a/", "file"),
            (" \u{7f} ", "file"),
        ] {
            assert_eq!(clean_name(given), kept, "{given:?}");
        }
    }

    #[test]
    fn a_media_type_is_told_from_other_texts() {
        for good in [
            "text/plain",
            "text/plain; charset=utf-8",
            "application/vnd.ms-excel",
            "image/svg+xml",
        ] {
            assert!(is_media_type(good), "{good}");
        }
        for bad in [
            "",
            "text",
            "/plain",
            "text/",
            "text/pl ain",
            "text/plain\r\nX: y",
            "tüxt/plain",
            "a b/c",
            "a/b;,c/d",
        ] {
            assert!(!is_media_type(bad), "{bad:?}");
        }
        assert!(!is_media_type(&format!("text/{}", "x".repeat(300))));
    }
}
