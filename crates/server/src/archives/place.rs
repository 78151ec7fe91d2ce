//! Where archives are written and read.

use std::path::{Path, PathBuf};

use eddyline_backup::{ArchiveName, ArchivePlace, ArchiveSource};

use crate::CommandError;
use crate::cli::STANDARD;
use crate::config::{BackupPlace, Settings};

/// Where `--to` says that an archive goes.
pub(crate) enum BackupTarget {
    /// The standard output.
    Standard,
    /// A file of this name.
    File(PathBuf),
    /// A place that gives names to archives.
    Place(ArchivePlace),
}

impl BackupTarget {
    pub(crate) fn of(settings: &Settings, text: &str) -> Result<Self, CommandError> {
        if text == STANDARD {
            return Ok(Self::Standard);
        }
        match parse(text)? {
            BackupPlace::Folder(path) if !path.is_dir() && !text.ends_with('/') => {
                Ok(Self::File(path))
            }
            place => Ok(Self::Place(open_place(settings, &place)?)),
        }
    }
}

/// What `--from` names: the standard input, an archive, or the newest of a place.
pub(crate) async fn source(
    settings: &Settings,
    text: &str,
) -> Result<(ArchiveSource, String), CommandError> {
    if text == STANDARD {
        let source = ArchiveSource::Stream(Box::new(std::io::stdin()));
        return Ok((source, STANDARD.to_owned()));
    }
    let (place, name) = match parse(text)? {
        BackupPlace::Folder(path) if !path.is_dir() => {
            let name = path.file_name().ok_or("--from names no file")?;
            let name = name.to_string_lossy().into_owned();
            (ArchivePlace::folder(folder_of(&path)), Some(name))
        }
        folder @ BackupPlace::Folder(_) => (open_place(settings, &folder)?, None),
        BackupPlace::Bucket { bucket, prefix } => {
            let (above, last) = prefix.rsplit_once('/').unwrap_or(("", &prefix));
            let name = last.parse::<ArchiveName>().ok().map(|_| last.to_owned());
            let prefix = name.as_ref().map_or(&*prefix, |_| above).to_owned();
            let place = BackupPlace::Bucket { bucket, prefix };
            (open_place(settings, &place)?, name)
        }
    };
    let name = match name {
        Some(name) => name,
        None => newest(place.clone()).await?,
    };
    let shown = format!("{}/{name}", place.to_string().trim_end_matches('/'));
    let shown = shown.trim_start_matches("./").to_owned();
    Ok((ArchiveSource::Named(place, name), shown))
}

async fn newest(place: ArchivePlace) -> Result<String, CommandError> {
    let shown = place.to_string();
    let archives = tokio::task::spawn_blocking(move || place.archives()).await??;
    let newest = archives.last().map(ArchiveName::to_string);
    newest.ok_or_else(|| format!("{shown} has no backup").into())
}

fn parse(text: &str) -> Result<BackupPlace, CommandError> {
    Ok(BackupPlace::parse_place(text)?)
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Opens a place for archives. A folder is made when it is missing.
pub(super) fn open_place(
    settings: &Settings,
    place: &BackupPlace,
) -> Result<ArchivePlace, CommandError> {
    match place {
        BackupPlace::Folder(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
            Ok(ArchivePlace::folder(folder))
        }
        BackupPlace::Bucket { bucket, prefix } => in_bucket(settings, bucket, prefix),
    }
}

#[cfg(feature = "s3")]
fn in_bucket(
    settings: &Settings,
    bucket: &str,
    prefix: &str,
) -> Result<ArchivePlace, CommandError> {
    let settings = settings.clone();
    let missing = |name: &str| format!("a bucket for backups needs {name}");
    let region = settings.backup_s3_region.or(settings.files_s3_region);
    let access_key = settings
        .backup_s3_access_key
        .or(settings.files_s3_access_key);
    let secret_key = settings
        .backup_s3_secret_key
        .or(settings.files_s3_secret_key);
    let endpoint = settings.backup_s3_endpoint.or(settings.files_s3_endpoint);
    let allow_http = settings
        .backup_s3_allow_http
        .unwrap_or(settings.files_s3_allow_http);
    let config = eddyline_files::S3Config {
        bucket: bucket.to_owned(),
        region: region.ok_or_else(|| missing("backup_s3_region"))?,
        endpoint: endpoint.map(|url| url.as_str().to_owned()),
        access_key: access_key.ok_or_else(|| missing("backup_s3_access_key"))?,
        secret_key: secret_key
            .ok_or_else(|| missing("backup_s3_secret_key"))?
            .expose()
            .to_owned(),
        allow_http: allow_http.0,
        spool: None,
    };
    let bucket = eddyline_files::Bucket::new(&config, prefix)
        .map_err(|error| format!("the store of backups cannot be used: {error}"))?;
    Ok(ArchivePlace::bucket(bucket))
}

#[cfg(not(feature = "s3"))]
fn in_bucket(_: &Settings, bucket: &str, _: &str) -> Result<ArchivePlace, CommandError> {
    Err(format!(
        "this server was built without stores (feature s3), so the bucket {bucket} cannot be used"
    )
    .into())
}
