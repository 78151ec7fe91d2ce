//! The three places where options come from, and which of them wins.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{OPTIONS, OptionSpec};
use crate::config::values::Value;
use crate::config::{CONFIG_VARIABLE, ConfigError, VARIABLE_PREFIX};

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// On the command line; the name has no dashes.
    Flag(String),
    /// In the environment.
    Variable(String),
    /// In the configuration file, under the key.
    File(PathBuf, &'static str),
}

impl Origin {
    /// The kind of place.
    pub(crate) fn source(&self) -> &'static str {
        match self {
            Self::Flag(_) => "flag",
            Self::Variable(_) => "environment",
            Self::File(..) => "file",
        }
    }

    /// The key of the option.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Flag(name) => name.replace('-', "_"),
            Self::Variable(name) => name
                .trim_start_matches(VARIABLE_PREFIX)
                .to_ascii_lowercase(),
            Self::File(_, key) => (*key).to_owned(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Variable(name) => f.write_str(name),
            Self::File(path, key) => write!(f, "{}: {key}", path.display()),
        }
    }
}

/// The values that one place gives, by the key of the option.
#[derive(Clone, Default)]
pub(crate) struct Layer(BTreeMap<&'static str, (String, Origin)>);

impl Layer {
    pub(crate) fn insert(&mut self, option: &'static OptionSpec, text: String, origin: Origin) {
        self.0.insert(option.key, (text, origin));
    }

    /// Adds what another layer gives.
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The text given for the option.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(text, _)| text.as_str())
    }

    /// Drops the options that do not satisfy the condition.
    pub(in crate::config) fn retain(&mut self, condition: impl Fn(&OptionSpec) -> bool) {
        self.0
            .retain(|key, _| OptionSpec::by_key(key).is_some_and(&condition));
    }
}

/// What the environment says.
#[derive(Default)]
pub(in crate::config) struct Environment {
    pub(in crate::config) layer: Layer,
    /// The configuration file to read.
    pub(in crate::config) config: Option<PathBuf>,
    /// Names that begin like ours and are none of ours.
    pub(in crate::config) unknown: Vec<String>,
}

impl Environment {
    /// Reads the variables that begin with [`VARIABLE_PREFIX`]. An empty one counts as not set,
    /// since many ways to start a service cannot leave a variable out.
    pub(in crate::config) fn read(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut environment = Self::default();
        for (name, value) in variables {
            let name = name.to_string_lossy();
            let Some(rest) = name.strip_prefix(VARIABLE_PREFIX) else {
                continue;
            };
            let known = OptionSpec::by_key(&rest.to_ascii_lowercase())
                .filter(|option| option.variable() == name);
            match known {
                None if name != CONFIG_VARIABLE => environment.unknown.push(name.into_owned()),
                _ if value.is_empty() => {}
                Some(option) => {
                    let origin = Origin::Variable(name.into_owned());
                    let Ok(text) = value.into_string() else {
                        return Err(ConfigError::Wrong {
                            origin,
                            problem: "the value is not UTF-8 text".to_owned(),
                        });
                    };
                    environment.layer.insert(option, text, origin);
                }
                None => environment.config = Some(value.into()),
            }
        }
        environment.unknown.sort();
        Ok(environment)
    }
}

/// Reads a configuration file: a flat TOML table of options.
pub(in crate::config) fn read_file(path: &Path, text: &str) -> Result<Layer, ConfigError> {
    let (layer, mut wrong) = read_all_of_file(path, text);
    match wrong.is_empty() {
        true => Ok(layer),
        false => Err(wrong.remove(0)),
    }
}

/// The same with everything that is wrong.
pub(in crate::config) fn read_all_of_file(path: &Path, text: &str) -> (Layer, Vec<ConfigError>) {
    let (mut layer, mut wrong) = (Layer::default(), Vec::new());
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(source) => {
            let path = path.to_owned();
            return (layer, vec![ConfigError::Syntax { path, source }]);
        }
    };
    for (key, value) in &table {
        let Some(option) = OptionSpec::by_key(key) else {
            wrong.push(ConfigError::UnknownKey {
                path: path.to_owned(),
                key: key.clone(),
                hint: hint(key),
            });
            continue;
        };
        let origin = Origin::File(path.to_owned(), option.key);
        match text_of(value, option) {
            Ok(text) => layer.insert(option, text, origin),
            Err(problem) => wrong.push(ConfigError::Wrong { origin, problem }),
        }
    }
    (layer, wrong)
}

/// How much two names must have in common for one to be suggested for the other, from 0 to 1.
const ALIKE: f64 = 0.8;

/// The option with the name most like this one, which may be spelt as a flag or a variable.
pub(in crate::config) fn similar(name: &str) -> Option<&'static OptionSpec> {
    let name = name
        .trim_start_matches('-')
        .replace('-', "_")
        .to_lowercase();
    let key = name.strip_prefix("eddyline_").unwrap_or(&name);
    let alike = OPTIONS
        .iter()
        .map(|option| (strsim::jaro_winkler(key, option.key), option));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness > ALIKE)
        .map(|(_, option)| option)
}

fn hint(key: &str) -> String {
    similar(key).map_or_else(String::new, |option| {
        format!("; did you mean {}?", option.key)
    })
}

/// The text that would stand on the command line.
fn text_of(value: &toml::Value, option: &OptionSpec) -> Result<String, String> {
    match value {
        toml::Value::Array(items) if option.list => {
            let items: Option<Vec<_>> = items.iter().map(text_or_number).collect();
            items.map(|items| items.join(","))
        }
        toml::Value::Boolean(on) if option.boolean => {
            Some(if *on { "on" } else { "off" }.to_owned())
        }
        other => text_or_number(other),
    }
    .ok_or_else(|| {
        let wanted = match (option.list, option.boolean) {
            (true, _) => "a list of texts",
            (_, true) => "true or false",
            _ => "a text or a whole number",
        };
        format!(
            "the value must be {wanted}, not of type {}",
            value.type_str()
        )
    })
}

fn text_or_number(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

/// All places, the weakest first.
pub(crate) struct Layers([Layer; 3]);

impl Layers {
    pub(in crate::config) fn new(file: Layer, environment: Layer, flags: Layer) -> Self {
        Self([file, environment, flags])
    }

    /// The strongest value of an option. A wrong value is refused also where a stronger place
    /// overrides it, so that it does not come to light on the day when that place falls silent.
    pub(in crate::config) fn resolve<T: Value>(
        &self,
        key: &str,
        default: T,
    ) -> Result<T, ConfigError> {
        let mut given = self.0.iter().filter_map(|layer| layer.0.get(key));
        given.try_fold(default, |_weaker, (text, origin)| {
            T::parse(text).map_err(|problem| ConfigError::Wrong {
                origin: origin.clone(),
                problem,
            })
        })
    }

    /// The strongest text for an option, unless there is none.
    pub(in crate::config) fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find_map(|layer| layer.text(key))
    }

    /// Where the value of an option comes from, unless it is the default.
    pub(in crate::config) fn origin(&self, key: &str) -> Option<&Origin> {
        self.0
            .iter()
            .rev()
            .find_map(|layer| layer.0.get(key))
            .map(|(_, origin)| origin)
    }
}
