//! Where files are kept.

use std::path::PathBuf;

use eddyline_app::{FileQuotas, FilesConfig};
use eddyline_files::Files;

use crate::CommandError;
use crate::config::Settings;

/// Opens the place for files: a store, or a folder, which is made when there is none.
pub(crate) fn open(settings: &Settings) -> Result<FilesConfig, CommandError> {
    let place = match &settings.files_s3_bucket {
        Some(bucket) => in_store(settings, bucket, Some(spool(settings)))?,
        None => {
            let folder = folder(settings);
            Files::in_folder(&folder).map_err(|error| {
                format!(
                    "cannot make the folder {} for files: {error}",
                    folder.display()
                )
            })?
        }
    };
    Ok(FilesConfig {
        place: Some(place),
        max_bytes: settings.max_upload_bytes.get(),
        quotas: FileQuotas {
            organization: settings.max_file_bytes_per_organization,
            private: settings.max_private_file_bytes_per_user,
        },
        link_millis: settings.download_link_ttl.millis(),
    })
}

/// The folder of the files, where they are not in a store.
pub(crate) fn folder(settings: &Settings) -> PathBuf {
    let ours = || settings.data_dir.join("files");
    settings.files.clone().unwrap_or_else(ours)
}

/// The folder where uploads are put aside until a store has them.
pub(crate) fn spool(settings: &Settings) -> PathBuf {
    settings.data_dir.join("uploads")
}

/// The files in a store. Uploads are put aside in `spool`, which is made, or where the system has
/// its temporary files.
#[cfg(feature = "s3")]
pub(crate) fn in_store(
    settings: &Settings,
    bucket: &str,
    spool: Option<PathBuf>,
) -> Result<Files, CommandError> {
    let given = |text: &Option<String>| text.clone().unwrap_or_default();
    let config = eddyline_files::S3Config {
        bucket: bucket.to_owned(),
        region: given(&settings.files_s3_region),
        endpoint: settings
            .files_s3_endpoint
            .as_ref()
            .map(|url| url.as_str().to_owned()),
        access_key: given(&settings.files_s3_access_key),
        secret_key: settings
            .files_s3_secret_key
            .as_ref()
            .map_or("", |secret| secret.expose())
            .to_owned(),
        allow_http: settings.files_s3_allow_http.0,
        spool,
    };
    Files::in_s3(&config)
        .map_err(|error| format!("the store of files cannot be used: {error}").into())
}

#[cfg(not(feature = "s3"))]
pub(crate) fn in_store(
    _: &Settings,
    bucket: &str,
    _: Option<PathBuf>,
) -> Result<Files, CommandError> {
    Err(format!(
        "files_s3_bucket: this server was built without stores (feature s3), so {bucket} cannot be used"
    )
    .into())
}
