//! `eddyline admin check-config`: the configuration as a server reads it, and what is wrong with it.

use std::env::vars_os;
use std::fmt::{self, Display};
use std::path::Path;

use eddyline_http::serve::Certificates;
use eddyline_storage::Store;
use serde::Serialize;

use super::print;
use crate::config::{ConfigError, ConfigExamination, EffectiveOption, Layer, Settings, examine};
use crate::output::Causes;
use crate::{CommandError, audit_export, mail, secret_key, serve};

/// Prints the configuration. Opens neither the database nor an address.
///
/// # Errors
///
/// When something is wrong with it, with the status of wrong configuration.
pub(crate) fn run(flags: Layer, file: Option<&Path>, json: bool) -> Result<(), CommandError> {
    let checked = ConfigChecked::new(examine(flags, file, vars_os()));
    print(&checked, json)?;
    match checked.mistakes.len() {
        0 => Ok(()),
        count => Err(ConfigError::Counted(count).into()),
    }
}

/// The configuration.
#[derive(Serialize)]
struct ConfigChecked {
    options: Vec<EffectiveOption>,
    /// What the server says of it in its log.
    remarks: Vec<String>,
    mistakes: Vec<ConfigMistake>,
}

/// Something that keeps the server from starting.
#[derive(Serialize)]
struct ConfigMistake {
    /// The key of the option, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<String>,
    /// `flag`, `environment` or `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    /// Where it is and what is wrong, in one sentence.
    problem: String,
}

impl ConfigChecked {
    fn new(examined: ConfigExamination) -> Self {
        let mut checked = Self {
            options: examined.options,
            remarks: examined.remarks,
            mistakes: examined.wrong.iter().map(ConfigMistake::of).collect(),
        };
        if let Some(settings) = &examined.settings {
            checked.mistakes.extend(named_files(settings));
            checked.remarks.extend(remarks(settings));
        }
        checked
    }
}

/// What is wrong with what the options name.
fn named_files(settings: &Settings) -> Vec<ConfigMistake> {
    let tls = settings.tls();
    let tls = tls.map(|files| ("tls_cert", Certificates::load(files.cert, files.key).err()));
    let mut found = Vec::new();
    if let Some((option, Some(error))) = tls {
        found.push(ConfigMistake::of_option(
            option,
            &Causes(&error).to_string(),
        ));
    }
    // Without a mail server, it would make the folder for mails.
    if settings.smtp_host.is_some()
        && let Err(error) = mail::mailing(settings)
    {
        found.push(ConfigMistake::of_option("smtp_host", &error.to_string()));
    }
    if settings.secret_key_file.is_some()
        && let Err(error) = secret_key::find(settings)
    {
        found.push(ConfigMistake::of_option(
            "secret_key_file",
            &error.to_string(),
        ));
    }
    if let Err((option, error)) = audit_export::configured(settings) {
        found.push(ConfigMistake::of_option(option, &error.to_string()));
    }
    found
}

/// What a server says when it starts with these settings.
fn remarks(settings: &Settings) -> Vec<String> {
    let mut remarks: Vec<String> = mail::remark_on_outbox(settings)
        .into_iter()
        .flatten()
        .collect();
    let url = settings.database_url();
    if Store::is_address_exposed(url.expose()).unwrap_or_default() {
        remarks.push(serve::EXPOSED.to_owned());
    }
    remarks
}

impl ConfigMistake {
    fn of(error: &ConfigError) -> Self {
        let (option, source) = match error {
            ConfigError::Wrong { origin, .. } => (Some(origin.key()), Some(origin.source())),
            ConfigError::UnknownKey { key, .. } => (Some(key.clone()), Some("file")),
            _ => (None, None),
        };
        Self {
            option,
            source,
            problem: Causes(error).to_string(),
        }
    }

    fn of_option(option: &str, problem: &str) -> Self {
        Self {
            option: Some(option.to_owned()),
            source: None,
            problem: format!("{option}: {problem}"),
        }
    }
}

impl Display for ConfigChecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for EffectiveOption {
            option,
            value,
            place,
            ..
        } in &self.options
        {
            let place = place.as_deref().unwrap_or("default");
            writeln!(f, "{option:30} {value:40} {place}")?;
        }
        for remark in &self.remarks {
            writeln!(f, "remark: {remark}")?;
        }
        for mistake in &self.mistakes {
            writeln!(f, "mistake: {}", mistake.problem)?;
        }
        match self.mistakes.len() {
            0 => write!(f, "The server can start with this configuration"),
            _ => write!(f, "The server does not start with this configuration"),
        }
    }
}
