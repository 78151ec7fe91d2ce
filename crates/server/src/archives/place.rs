//! Where archives are written and read.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
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
        // A pipe is read once, as the standard input is.
        BackupPlace::Folder(path) if path.exists() && !path.is_dir() && !path.is_file() => {
            let file = File::open(&path)?;
            return Ok((
                ArchiveSource::Stream(Box::new(BufReader::new(file))),
                text.to_owned(),
            ));
        }
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

/// The newest archive of a place, where all are of one database.
async fn newest(place: ArchivePlace) -> Result<String, CommandError> {
    let shown = place.to_string();
    let archives = tokio::task::spawn_blocking(move || place.archives()).await??;
    let Some(newest) = archives.last() else {
        return Err(format!("{shown} has no backup").into());
    };
    let other = archives
        .iter()
        .rev()
        .find(|archive| archive.series != newest.series);
    match other {
        None => Ok(newest.to_string()),
        Some(other) => Err(format!(
            "{shown} has backups of several databases; name an archive, such as {newest} or {other}"
        )
        .into()),
    }
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

/// Opens a place for archives. A folder is made when it is missing, in one that is there: the disk of
/// a longer path may not be mounted.
pub(crate) fn open_place(
    settings: &Settings,
    place: &BackupPlace,
) -> Result<ArchivePlace, CommandError> {
    match place {
        BackupPlace::Folder(folder) => {
            match std::fs::create_dir(folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(format!("cannot make {}: {error}", folder.display()).into());
                }
                _ => {}
            }
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
    // All or nothing: a key must not go to the endpoint of another store.
    let (access_key, secret_key, region, endpoint, allow_http) =
        match &settings.backup_s3_access_key {
            Some(_) => (
                &settings.backup_s3_access_key,
                &settings.backup_s3_secret_key,
                &settings.backup_s3_region,
                &settings.backup_s3_endpoint,
                settings.backup_s3_allow_http.is_some_and(|switch| switch.0),
            ),
            None => (
                &settings.files_s3_access_key,
                &settings.files_s3_secret_key,
                &settings.files_s3_region,
                &settings.files_s3_endpoint,
                settings.files_s3_allow_http.0,
            ),
        };
    let (Some(access_key), Some(secret_key), Some(region)) = (access_key, secret_key, region)
    else {
        return Err("a bucket for backups needs backup_s3_access_key".into());
    };
    let config = eddyline_files::S3Config {
        bucket: bucket.to_owned(),
        region: region.clone(),
        endpoint: endpoint.as_ref().map(|url| url.as_str().to_owned()),
        access_key: access_key.clone(),
        secret_key: secret_key.expose().to_owned(),
        allow_http,
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
