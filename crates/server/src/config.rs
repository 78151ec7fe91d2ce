//! Configuration: flags win over `EDDYLINE_*` variables, these over the configuration file, and the
//! file over the defaults.
//!
//! To add an option, write it into the table in `options.rs` and describe it in
//! `docs/configuration.md`; a test compares the two.

mod destinations;
mod examination;
mod lifetimes;
mod options;
#[cfg(test)]
mod tests;
mod values;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) use self::destinations::{SyslogAddress, WebhookUrl};
pub(crate) use self::examination::{ConfigExamination, EffectiveOption, examine};
use self::options::layers::{Environment, Layers, read_file, similar};
pub(crate) use self::options::layers::{Layer, Origin};
pub(crate) use self::options::{OPTIONS, OptionSpec, Settings};
pub(crate) use self::values::{
    BackupPlace, BackupRecipient, DatabaseUrl, LogDirectives, LogFormat, Profile, SmtpSecurity,
};
use crate::owners::Denied;

/// What the names of all variables begin with.
pub(crate) const VARIABLE_PREFIX: &str = "EDDYLINE_";

/// The variable that names the configuration file, like `--config`.
pub(crate) const CONFIG_VARIABLE: &str = "EDDYLINE_CONFIG";

/// The configuration file that is read from the data directory when no other is named.
pub(crate) const DEFAULT_FILE: &str = "eddyline.toml";

/// The key of the option for the shape of log lines.
const LOG_FORMAT: &str = "log_format";

/// Options that belong together in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionGroup {
    /// Where the data is.
    Data,
    /// Where the server listens, and under which addresses it is reached.
    Addresses,
    /// How it speaks.
    Protocol,
    /// Encryption, or the proxy that does it.
    Https,
    /// How mail goes out.
    Mail,
    /// Where files are, and how they are handed out.
    Files,
    /// Where backups go, and when.
    Backups,
    /// How long the audit log is kept, and where it goes.
    Audit,
    /// How long deletions wait.
    Deletions,
    /// What applications may do for users.
    Applications,
    /// How much of everything.
    Limits,
    /// What it tells its operator.
    Logging,
}

impl OptionGroup {
    /// The heading in the help.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Data => "Data",
            Self::Addresses => "Addresses",
            Self::Protocol => "Protocol",
            Self::Https => "HTTPS and proxies",
            Self::Mail => "Mail",
            Self::Files => "Files",
            Self::Backups => "Backups",
            Self::Audit => "Audit log",
            Self::Deletions => "Deletions",
            Self::Applications => "Applications (OAuth)",
            Self::Limits => "Limits",
            Self::Logging => "Logging",
        }
    }
}

/// Why the configuration cannot be used. The text names the option and where it was given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A value that its option does not take.
    #[error("{origin}: {problem}")]
    Wrong {
        /// Where it was given.
        origin: Origin,
        /// What is wrong with it.
        problem: String,
    },
    /// A key that is no option.
    #[error("{}: unknown key {key}{hint}", path.display())]
    UnknownKey {
        /// The configuration file.
        path: PathBuf,
        /// The key as it stands there.
        key: String,
        /// A question that suggests another key, or nothing.
        hint: String,
    },
    /// A file that is not TOML.
    #[error("{}: not valid TOML", path.display())]
    Syntax {
        /// The configuration file.
        path: PathBuf,
        /// What is wrong, and where.
        source: toml::de::Error,
    },
    /// Mistakes that were told one by one already.
    #[error("{}", match .0 { 1 => "1 mistake in the configuration".to_owned(), count => format!("{count} mistakes in the configuration") })]
    Counted(usize),
    /// A file that this user may not read.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A file that cannot be read.
    #[error("{}: cannot read the configuration file", path.display())]
    Unreadable {
        /// The configuration file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A configuration, and what should be said about it in the log.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The configuration.
    pub(crate) settings: Settings,
    /// Sentences for the log, one for each variable that is not known.
    pub(crate) remarks: Vec<String>,
}

/// Reads the configuration of a server or of an operator's command. `file` is the argument of
/// `--config`; a file named there must exist, the one in the data directory need not.
pub(crate) fn load(
    flags: Layer,
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Loaded, ConfigError> {
    let environment = Environment::read(variables)?;
    let file = match file.or(environment.config.as_deref()) {
        Some(path) => read_file(path, &read(path)?)?,
        None => read_default_file(&flags, &environment.layer)?,
    };
    finish(
        &Layers::new(file, environment.layer, flags),
        &environment.unknown,
    )
}

/// Reads the configuration of a demonstration. It takes the place of its data from flags only,
/// knows no mail server, no store of files and no destination of the audit log, and reads no file, so that a machine's real server
/// is never filled with invented people, and none of them writes to anybody.
pub(crate) fn load_for_demo(
    flags: Layer,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Loaded, ConfigError> {
    let mut environment = Environment::read(variables)?;
    environment.layer.retain(|option| {
        !matches!(
            option.group,
            OptionGroup::Data
                | OptionGroup::Mail
                | OptionGroup::Files
                | OptionGroup::Backups
                | OptionGroup::Audit
        )
    });
    finish(
        &Layers::new(Layer::default(), environment.layer, flags),
        &environment.unknown,
    )
}

/// Whether a server is to log in JSON, as far as a configuration shows it that may be wrong.
pub(crate) fn wants_json(
    flags: &Layer,
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> bool {
    let environment = Environment::read(variables).unwrap_or_default();
    let file = match file.or(environment.config.as_deref()) {
        Some(path) => read(path).and_then(|text| read_file(path, &text)),
        None => read_default_file(flags, &environment.layer),
    };
    let layers = [flags, &environment.layer, &file.unwrap_or_default()];
    layers.iter().find_map(|layer| layer.text(LOG_FORMAT)) == Some("json")
}

/// The same of a demonstration, see [`load_for_demo`].
pub(crate) fn demo_wants_json(
    flags: &Layer,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> bool {
    let environment = Environment::read(variables).unwrap_or_default();
    flags
        .text(LOG_FORMAT)
        .or(environment.layer.text(LOG_FORMAT))
        == Some("json")
}

fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|source| match Denied::of(path, &source) {
        Some(denied) => denied.into(),
        None => ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        },
    })
}

fn read_default_file(flags: &Layer, environment: &Layer) -> Result<Layer, ConfigError> {
    let key = "data_dir";
    let default = || OptionSpec::by_key(key).map_or("", |option| option.default);
    let directory = flags
        .text(key)
        .or(environment.text(key))
        .unwrap_or_else(default);
    let path = Path::new(directory).join(DEFAULT_FILE);
    let text = match read(&path) {
        Err(ConfigError::Unreadable { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Ok(Layer::default());
        }
        other => other?,
    };
    let layer = read_file(&path, &text)?;
    if layer.text(key).is_some() {
        let problem = "the file was found in the data directory and cannot name another; \
                       give it with --config instead";
        return Err(ConfigError::Wrong {
            origin: Origin::File(path, key),
            problem: problem.to_owned(),
        });
    }
    Ok(layer)
}

fn finish(layers: &Layers, unknown: &[String]) -> Result<Loaded, ConfigError> {
    let settings = Settings::merge(layers)?;
    match contradictions(layers, &settings).into_iter().next() {
        Some(wrong) => Err(wrong),
        None => Ok(Loaded {
            settings,
            remarks: remarks(unknown),
        }),
    }
}

/// What options that are right by themselves get wrong together.
fn contradictions(layers: &Layers, settings: &Settings) -> Vec<ConfigError> {
    let mut wrong = Vec::new();
    let mut needs = |given: &str, missing: &str| {
        if let (Some(origin), None) = (layers.origin(given), layers.origin(missing)) {
            wrong.push(ConfigError::Wrong {
                origin: origin.clone(),
                problem: format!("{missing} must be given as well"),
            });
        }
    };
    needs("tls_cert", "tls_key");
    needs("tls_key", "tls_cert");
    for key in ["acme_directory", "acme_contact", "acme_ca"] {
        needs(key, "acme_domain");
    }
    needs("smtp_host", "mail_from");
    needs("smtp_user", "smtp_password");
    needs("smtp_password", "smtp_user");
    for key in ["smtp_port", "smtp_security", "smtp_user", "smtp_ca"] {
        needs(key, "smtp_host");
    }
    for key in [
        "files_s3_region",
        "files_s3_access_key",
        "files_s3_secret_key",
    ] {
        needs("files_s3_bucket", key);
    }
    for key in [
        "files_s3_endpoint",
        "files_s3_region",
        "files_s3_access_key",
        "files_s3_secret_key",
    ] {
        needs(key, "files_s3_bucket");
    }
    needs("backup_to", "backup_recipient");
    for key in ["backup_s3_region", "backup_s3_secret_key"] {
        needs("backup_s3_access_key", key);
    }
    for key in [
        "backup_s3_endpoint",
        "backup_s3_region",
        "backup_s3_secret_key",
        "backup_s3_allow_http",
    ] {
        needs(key, "backup_s3_access_key");
    }
    needs("audit_syslog_ca", "audit_syslog");
    needs("otlp_ca", "otlp_endpoint");
    needs("trace_percent", "otlp_endpoint");
    for key in [
        "audit_webhook_ca",
        "audit_webhook_secret",
        "audit_webhook_secret_file",
    ] {
        needs(key, "audit_webhook");
    }
    if layers.origin("audit_webhook_secret_file").is_none() {
        needs("audit_webhook", "audit_webhook_secret");
    }
    if let (Some(origin), Some(SyslogAddress { tls: false, .. })) =
        (layers.origin("audit_syslog_ca"), &settings.audit_syslog)
    {
        wrong.push(ConfigError::Wrong {
            origin: origin.clone(),
            problem: "audit_syslog must begin with tls://".to_owned(),
        });
    }
    if let Some(origin) = layers.origin("acme_domain")
        && settings.tls_cert.is_some()
    {
        wrong.push(ConfigError::Wrong {
            origin: origin.clone(),
            problem: "tls_cert names a certificate already; give only one of them".to_owned(),
        });
    }
    if settings.listen == settings.stream_listen && settings.listen.port() != 0 {
        let origin = layers.origin("stream_listen").or(layers.origin("listen"));
        let problem = format!(
            "listen and stream_listen are the same address, {}",
            settings.listen
        );
        if let Some(origin) = origin.cloned() {
            wrong.push(ConfigError::Wrong { origin, problem });
        }
    }
    wrong
}

/// What is said of variables that are not known.
fn remarks(unknown: &[String]) -> Vec<String> {
    let remarks = unknown.iter().map(|name| {
        let hint = similar(name).map(|option| format!("; did you mean {}?", option.variable()));
        format!(
            "{name} is not a known variable, and is ignored{}",
            hint.unwrap_or_default()
        )
    });
    remarks.collect()
}

/// What the server needs to speak HTTPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles<'a> {
    /// The certificate chain, in PEM form.
    pub(crate) cert: &'a Path,
    /// Its private key, in PEM form.
    pub(crate) key: &'a Path,
}

impl Settings {
    /// The database, which is an SQLite file in the data directory unless another is named.
    pub(crate) fn database_url(&self) -> DatabaseUrl {
        self.database
            .clone()
            .unwrap_or_else(|| DatabaseUrl::in_directory(&self.data_dir))
    }

    /// Whether the listeners speak HTTPS.
    pub(crate) fn speaks_tls(&self) -> bool {
        self.tls().is_some() || !self.acme_domain.is_empty()
    }

    /// The files of the certificate and its key, if there are any.
    pub(crate) fn tls(&self) -> Option<TlsFiles<'_>> {
        Some(TlsFiles {
            cert: self.tls_cert.as_deref()?,
            key: self.tls_key.as_deref()?,
        })
    }
}
