//! A configuration with everything that is wrong with it, and where each value comes from, for those
//! who write one. A server stops at the first mistake.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::options::layers::{Environment, Layer, Layers, read_all_of_file};
use super::{
    ConfigError, DEFAULT_FILE, OPTIONS, OptionSpec, Settings, contradictions, read,
    read_default_file, remarks,
};

/// What is known of a configuration.
pub(crate) struct ConfigExamination {
    /// All options, in the order of the help.
    pub(crate) options: Vec<EffectiveOption>,
    /// All mistakes.
    pub(crate) wrong: Vec<ConfigError>,
    /// What a server says of it in its log.
    pub(crate) remarks: Vec<String>,
    /// The configuration, if nothing is wrong with it.
    pub(crate) settings: Option<Settings>,
}

/// An option with the value that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EffectiveOption {
    /// The key in the configuration file.
    pub(crate) option: &'static str,
    /// The text of the value, without secrets; for a default, words for it where it is none.
    pub(crate) value: String,
    /// `flag`, `environment`, `file` or `default`.
    pub(crate) source: &'static str,
    /// The flag, the variable, or the file with the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

/// Reads a configuration as [`load`](super::load) does, and goes on where something is wrong.
pub(crate) fn examine(
    flags: Layer,
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> ConfigExamination {
    let mut wrong = Vec::new();
    let environment = Environment::read(variables).unwrap_or_else(|error| {
        wrong.push(error);
        Environment::default()
    });
    let file = match file.or(environment.config.as_deref()) {
        Some(path) => read_named(path, &mut wrong),
        None => read_found(&flags, &environment.layer, &mut wrong),
    };
    let layers = Layers::new(file, environment.layer, flags);
    wrong.extend(Settings::wrong_values(&layers));
    let settings = Settings::merge(&layers).ok();
    if let Some(settings) = &settings {
        wrong.extend(contradictions(&layers, settings));
    }
    ConfigExamination {
        options: OPTIONS
            .iter()
            .map(|option| EffectiveOption::of(option, &layers))
            .collect(),
        remarks: remarks(&environment.unknown),
        settings: settings.filter(|_| wrong.is_empty()),
        wrong,
    }
}

fn read_named(path: &Path, wrong: &mut Vec<ConfigError>) -> Layer {
    match read(path) {
        Ok(text) => {
            let (layer, mistakes) = read_all_of_file(path, &text);
            wrong.extend(mistakes);
            layer
        }
        Err(error) => {
            wrong.push(error);
            Layer::default()
        }
    }
}

/// The file in the data directory, which need not be there.
fn read_found(flags: &Layer, environment: &Layer, wrong: &mut Vec<ConfigError>) -> Layer {
    let refused = match read_default_file(flags, environment) {
        Ok(layer) => return layer,
        Err(error) => error,
    };
    let of_place = matches!(refused, ConfigError::Wrong { .. });
    let path = default_file(flags, environment);
    let is_missing = path
        .metadata()
        .is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let before = wrong.len();
    let layer = match is_missing {
        true => Layer::default(),
        false => read_named(&path, wrong),
    };
    // That it names another data directory is wrong with its place, and not with its text.
    if of_place && wrong.len() == before {
        wrong.push(refused);
    }
    layer
}

fn default_file(flags: &Layer, environment: &Layer) -> PathBuf {
    let key = "data_dir";
    let default = OptionSpec::by_key(key).map_or("", |option| option.default);
    let directory = flags.text(key).or(environment.text(key)).unwrap_or(default);
    Path::new(directory).join(DEFAULT_FILE)
}

impl EffectiveOption {
    fn of(option: &'static OptionSpec, layers: &Layers) -> Self {
        let origin = layers.origin(option.key);
        Self {
            option: option.key,
            value: match layers.text(option.key) {
                Some(text) => (option.shown)(text),
                None => option.default.to_owned(),
            },
            source: origin.map_or("default", |origin| origin.source()),
            place: origin.map(ToString::to_string),
        }
    }
}
