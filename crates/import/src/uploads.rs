//! Bringing the bytes of files to where files are kept.

use std::collections::HashMap;
use std::io::Read;

use bytes::Bytes;
use eddyline_files::{FileKey, Files};
use eddyline_model::files::{Dimensions, FileId, NewFile, NewObject};
use eddyline_storage::Store;
use tokio::runtime::Handle;

use crate::texts;
use crate::{Error, Result};

/// How many bytes are read at once.
const CHUNK: usize = 64 * 1024;
/// How many bytes of memory a thumbnail may take while it is made.
const MAX_PICTURE_MEMORY: u64 = 128 << 20;
/// For how long an upload does not count as given up, in milliseconds: this process
/// shows no sign of life as servers do.
const KEPT_MILLIS: i64 = 3_600_000;
/// The types that the first bytes of a picture tell. Whatever is called so and is not, is something
/// else.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
const ANYTHING: &str = "application/octet-stream";

/// Files that were brought to their place.
pub(crate) struct Uploads {
    store: Store,
    files: Files,
    runtime: Handle,
    node: String,
    /// Keys that no message has yet.
    pending: Vec<String>,
    /// How many bytes further files may have.
    left: u64,
    /// What was found of files, by a name that the archive has for their bytes.
    known: HashMap<String, NewFile>,
}

impl Uploads {
    /// Uploads of so many bytes at most.
    pub(crate) fn new(store: Store, files: Files, runtime: Handle, left: u64) -> Self {
        Self {
            store,
            files,
            runtime,
            node: format!("import-{}", eddyline_random::hex::<8>()),
            pending: Vec::new(),
            left,
            known: HashMap::new(),
        }
    }

    /// Keeps the bytes under a new id. `name` and `content_type` are what the archive says;
    /// what a picture is, its bytes say. `same` is equal for equal bytes, which are read once.
    pub(crate) fn keep<'b>(
        &mut self,
        same: &str,
        name: &str,
        content_type: &str,
        limit: u64,
        bytes: impl FnOnce() -> Result<Box<dyn Read + 'b>>,
    ) -> Result<NewFile> {
        if !self.known.contains_key(same) {
            let file = match self.upload(bytes()?, limit.min(self.left)) {
                Err(Error::Files(eddyline_files::Error::TooLarge)) if self.left < limit => {
                    return Err(Error::NoRoomForFiles);
                }
                uploaded => uploaded?,
            };
            self.left = self.left.saturating_sub(file.object.size.unsigned_abs());
            self.known.insert(same.to_owned(), file);
        }
        let mut file = self
            .known
            .get(same)
            .cloned()
            .ok_or(eddyline_files::Error::Broken)?;
        file.id = FileId(eddyline_random::hex::<16>());
        file.name = texts::file_name(name);
        if !PICTURES.contains(&file.content_type.as_str())
            && is_media_type(content_type)
            && !PICTURES.contains(&content_type)
        {
            file.content_type = content_type.to_owned();
        }
        Ok(file)
    }

    /// Says that a transaction has taken all that was kept so far.
    pub(crate) fn note_taken(&mut self) {
        self.pending.clear();
    }

    fn key(&mut self) -> Result<FileKey> {
        let key = FileKey::random();
        let (noted, node) = (key.as_str().to_owned(), self.node.clone());
        self.pending.push(noted.clone());
        let write = self.store.write(move |tx| {
            let until = tx.now().plus_millis(KEPT_MILLIS);
            tx.files().insert_object(&noted, &node, until)
        });
        self.runtime.block_on(write)?;
        Ok(key)
    }

    fn upload(&mut self, mut bytes: Box<dyn Read + '_>, limit: u64) -> Result<NewFile> {
        let key = self.key()?;
        let runtime = self.runtime.clone();
        let mut upload = runtime.block_on(self.files.begin(&key, limit))?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = bytes.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            runtime.block_on(upload.write(Bytes::copy_from_slice(&buffer[..count])))?;
        }
        let reserve = async |wanted| (wanted <= MAX_PICTURE_MEMORY).then_some(());
        let stored = runtime.block_on(upload.finish(reserve))?;
        let picture = stored.picture.as_ref().map(|picture| Dimensions {
            width: picture.width,
            height: picture.height,
        });
        let thumbnail = match stored.picture.and_then(|picture| picture.thumbnail) {
            Some(thumbnail) => {
                let key = self.key()?;
                let size = thumbnail.bytes.len() as u64;
                let digest = runtime.block_on(self.files.put(&key, thumbnail.bytes))?;
                let dimensions = Dimensions {
                    width: thumbnail.width,
                    height: thumbnail.height,
                };
                Some((object(&key, digest, size), dimensions))
            }
            None => None,
        };
        Ok(NewFile {
            id: FileId(String::new()),
            name: String::new(),
            content_type: stored.content_type.unwrap_or(ANYTHING).to_owned(),
            object: object(&key, stored.digest, stored.size),
            picture,
            thumbnail,
        })
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        let keys = std::mem::take(&mut self.pending);
        if keys.is_empty() {
            return;
        }
        let node = self.node.clone();
        let marked = self.store.write(move |tx| {
            let now = tx.now();
            tx.files().mark_abandoned_uploads(&keys, &node, now)
        });
        // Where this fails, a server finds them an hour later.
        drop(self.runtime.block_on(marked));
    }
}

fn object(key: &FileKey, digest: [u8; 32], size: u64) -> NewObject {
    NewObject {
        key: key.as_str().to_owned(),
        digest,
        size: i64::try_from(size).unwrap_or(i64::MAX),
    }
}

/// Whether a text has the form of a media type.
fn is_media_type(text: &str) -> bool {
    let token = |text: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b);
        !text.is_empty() && text.bytes().all(fits)
    };
    let plain = text.len() <= 255 && text.bytes().all(|b| (b' '..0x7f).contains(&b) && b != b',');
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    plain
        && essence
            .split_once('/')
            .is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}
