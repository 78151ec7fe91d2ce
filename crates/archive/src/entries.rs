//! Reading the entries of an archive: a tar file, or the folder that it was unpacked into.
//!
//! What is read may have been made by a stranger. Nothing is unpacked, names are compared and never
//! opened but below the folder that was named, and no more is kept of a name than [`MAX_PATH`].

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tar::Header;

use crate::{Error, Result, paths};

const BLOCK: usize = 512;
/// How long the path of an entry may be.
const MAX_PATH: usize = 100;
/// How deep folders may lie in each other. Archives need two.
const MAX_DEPTH: usize = 4;

/// What an archive ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It is whole.
    Whole,
    /// Bytes are missing, within this entry if there is one.
    Truncated(Option<String>),
    /// Bytes come behind its end.
    Trailing,
    /// It cannot be read further behind this entry.
    Unreadable(Option<String>),
}

/// Gives each entry to `visit`: its path, how many bytes it has, and these. Entries that `visit`
/// does not read to their end are passed over.
pub(crate) fn each_entry(
    archive: &Path,
    visit: &mut dyn FnMut(&str, u64, &mut dyn Read) -> io::Result<()>,
) -> Result<End> {
    each_entry_at(archive, Rc::default(), visit)
}

/// The same; `at` is where in a tar file the bytes of an entry begin while it is visited.
pub(crate) fn each_entry_at(
    archive: &Path,
    at: Rc<Cell<u64>>,
    visit: &mut dyn FnMut(&str, u64, &mut dyn Read) -> io::Result<()>,
) -> Result<End> {
    if fs::metadata(archive)?.is_dir() {
        return each_in_folder(archive, visit);
    }
    let mut file = File::open(archive)?;
    let mut first = Vec::with_capacity(BLOCK);
    (&mut file).take(BLOCK as u64).read_to_end(&mut first)?;
    file.rewind()?;
    if first.starts_with(b"age-encryption.org") {
        return Err(Error::NotAnExport(
            "it is encrypted with age, as a backup is; decrypt it with age first",
        ));
    }
    if first.starts_with(&[0x1f, 0x8b]) {
        return Err(Error::NotAnExport(
            "it is packed; unpack it with gunzip first",
        ));
    }
    if block(&first).is_none_or(|header| size_of(&header).is_none()) {
        return Err(Error::NotAnExport("it is no tar file"));
    }
    let file = BufReader::with_capacity(256 * 1024, file);
    each_in_tar(Positioned { file, at }, visit)
}

fn each_in_tar(
    mut file: impl Read,
    visit: &mut dyn FnMut(&str, u64, &mut dyn Read) -> io::Result<()>,
) -> Result<End> {
    let mut last = None;
    loop {
        let mut bytes = Vec::with_capacity(BLOCK);
        (&mut file).take(BLOCK as u64).read_to_end(&mut bytes)?;
        if bytes.len() < BLOCK {
            return Ok(End::Truncated(last));
        }
        if bytes.iter().all(|byte| *byte == 0) {
            return end_of_tar(file);
        }
        let Some((path, size, is_folder)) = block(&bytes).as_ref().and_then(entry_of) else {
            return Ok(End::Unreadable(last));
        };
        if !is_folder {
            let mut content = Counted {
                file: (&mut file).take(size),
                count: 0,
            };
            visit(&path, size, &mut content)?;
            io::copy(&mut content, &mut io::sink())?;
            if content.count < size {
                return Ok(End::Truncated(Some(path)));
            }
        }
        let padding = size.next_multiple_of(BLOCK as u64) - size;
        if io::copy(&mut (&mut file).take(padding), &mut io::sink())? < padding {
            return Ok(End::Truncated(Some(path)));
        }
        last = Some(path);
    }
}

/// Behind the last entry there are two empty blocks, and any number of further ones.
fn end_of_tar(mut file: impl Read) -> Result<End> {
    let mut buffer = vec![0; 64 * 1024];
    let mut count = 0;
    loop {
        match file.read(&mut buffer)? {
            0 if count < BLOCK => return Ok(End::Truncated(None)),
            0 => return Ok(End::Whole),
            read if buffer[..read].iter().any(|byte| *byte != 0) => return Ok(End::Trailing),
            read => count += read,
        }
    }
}

fn block(bytes: &[u8]) -> Option<Header> {
    (bytes.len() == BLOCK).then(|| Header::from_byte_slice(bytes).clone())
}

/// The size in a header whose checksum is right.
fn size_of(header: &Header) -> Option<u64> {
    let mut counted = header.clone();
    counted.set_cksum();
    let is_right = counted.cksum().ok()? == header.cksum().ok()?;
    is_right.then(|| header.entry_size().ok()).flatten()
}

/// The path of an entry, how many bytes it has, and whether it is a folder.
fn entry_of(header: &Header) -> Option<(String, u64, bool)> {
    let size = size_of(header)?;
    let kind = header.entry_type();
    if !(kind.is_file() || kind.is_dir()) {
        return None;
    }
    let path = header.path_bytes();
    let path = std::str::from_utf8(&path).ok()?;
    let path = path.strip_prefix("./").unwrap_or(path);
    (path.len() <= MAX_PATH).then(|| (path.to_owned(), size, kind.is_dir()))
}

struct Counted<R> {
    file: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.count += count as u64;
        Ok(count)
    }
}

/// Counts the bytes that were read, for the offsets of entries.
struct Positioned<R> {
    file: R,
    at: Rc<Cell<u64>>,
}

impl<R: Read> Read for Positioned<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.at.set(self.at.get() + count as u64);
        Ok(count)
    }
}

fn each_in_folder(
    folder: &Path,
    visit: &mut dyn FnMut(&str, u64, &mut dyn Read) -> io::Result<()>,
) -> Result<End> {
    if !folder.join(paths::MANIFEST).exists() && !folder.join(paths::PEOPLE).exists() {
        return Err(Error::NotAnExport("the folder has no manifest.json"));
    }
    let mut end = End::Whole;
    // In the order of their names, so that people come before the rooms that name them.
    let mut waiting = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((at, name, depth)) = waiting.pop() {
        // A link may lead anywhere, and to a device.
        let kind = fs::symlink_metadata(&at)?;
        if kind.is_dir() && depth <= MAX_DEPTH {
            waiting.extend(children(&at, &name, depth)?);
        } else if kind.is_file() && name.len() <= MAX_PATH {
            let file = File::open(&at)?;
            let size = file.metadata()?.len();
            visit(&name, size, &mut BufReader::with_capacity(64 * 1024, file))?;
        } else {
            end = End::Unreadable(Some(shortened(&name)));
        }
    }
    Ok(end)
}

/// The contents of a folder, the last name first.
fn children(at: &Path, name: &str, depth: usize) -> Result<Vec<(PathBuf, String, usize)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(at)? {
        let entry = entry?;
        let own = entry.file_name().to_string_lossy().into_owned();
        let name = match name {
            "" => own,
            above => format!("{above}/{own}"),
        };
        found.push((entry.path(), name, depth + 1));
    }
    found.sort_by(|one, other| other.1.cmp(&one.1));
    Ok(found)
}

fn shortened(name: &str) -> String {
    name.chars().take(MAX_PATH).collect()
}
