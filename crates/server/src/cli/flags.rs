//! The flags of the options in the configuration's table.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::config::{Layer, OPTIONS, OptionGroup, OptionSpec, Origin};

/// The options that a command takes as flags. Variables and the file may set the others, too.
pub(crate) trait Selection {
    /// Their groups.
    const GROUPS: &[OptionGroup];
    /// Whether the commands below take the flags as well.
    const GLOBAL: bool = false;

    /// Where else a value may come from, for the help.
    fn otherwise(option: &OptionSpec) -> String {
        format!("[env: {}] [default: {}]", option.variable(), option.default)
    }
}

/// All options.
pub(crate) enum ServeOptions {}

impl Selection for ServeOptions {
    const GROUPS: &[OptionGroup] = &[
        OptionGroup::Data,
        OptionGroup::Addresses,
        OptionGroup::Protocol,
        OptionGroup::Https,
        OptionGroup::Mail,
        OptionGroup::Files,
        OptionGroup::Backups,
        OptionGroup::Audit,
        OptionGroup::Deletions,
        OptionGroup::Applications,
        OptionGroup::Limits,
        OptionGroup::Logging,
    ];
}

/// What matters for trying things.
pub(crate) enum DemoOptions {}

impl Selection for DemoOptions {
    const GROUPS: &[OptionGroup] = &[
        OptionGroup::Data,
        OptionGroup::Addresses,
        OptionGroup::Protocol,
        OptionGroup::Logging,
    ];

    // See `config::load_for_demo`.
    fn otherwise(option: &OptionSpec) -> String {
        match option.key {
            "data_dir" => "[default: one that goes when the demonstration ends]".to_owned(),
            _ if option.group == OptionGroup::Data => format!("[default: {}]", option.default),
            _ => ServeOptions::otherwise(option),
        }
    }
}

/// Where the data is.
pub(crate) enum AdminOptions {}

impl Selection for AdminOptions {
    const GROUPS: &[OptionGroup] = &[OptionGroup::Data];
    const GLOBAL: bool = true;
}

/// All options but those of [`AdminOptions`], which a command below `admin` has already.
pub(crate) enum CheckConfigOptions {}

impl Selection for CheckConfigOptions {
    const GROUPS: &[OptionGroup] = &[
        OptionGroup::Addresses,
        OptionGroup::Protocol,
        OptionGroup::Https,
        OptionGroup::Mail,
        OptionGroup::Files,
        OptionGroup::Backups,
        OptionGroup::Audit,
        OptionGroup::Deletions,
        OptionGroup::Applications,
        OptionGroup::Limits,
        OptionGroup::Logging,
    ];
}

/// How mail goes out.
pub(crate) enum MailOptions {}

impl Selection for MailOptions {
    const GROUPS: &[OptionGroup] = &[OptionGroup::Mail];
}

/// Where the files are.
pub(crate) enum FileOptions {}

impl Selection for FileOptions {
    const GROUPS: &[OptionGroup] = &[OptionGroup::Files];
}

/// Where the files are, for a command with commands below it.
pub(crate) enum DeletionOptions {}

impl Selection for DeletionOptions {
    const GROUPS: &[OptionGroup] = &[OptionGroup::Files];
    const GLOBAL: bool = true;
}

/// Where all data is, with the files.
pub(crate) enum BackupOptions {}

impl Selection for BackupOptions {
    const GROUPS: &[OptionGroup] = &[OptionGroup::Data, OptionGroup::Files];
}

/// The flags that were given, among those a [`Selection`] offers.
pub(crate) struct Flags<S> {
    /// What they say.
    pub(crate) layer: Layer,
    selection: PhantomData<S>,
}

impl<S: Selection> Flags<S> {
    fn offered() -> impl Iterator<Item = &'static OptionSpec> {
        OPTIONS
            .iter()
            .filter(|option| S::GROUPS.contains(&option.group))
    }
}

impl<S: Selection> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::offered().map(|option| argument::<S>(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument<S: Selection>(option: &'static OptionSpec) -> Arg {
    let argument = Arg::new(option.key)
        .long(option.flag())
        .value_name(option.value_name)
        .help(format!("{}\n{}", option.help, S::otherwise(option)))
        .help_heading(option.group.title())
        .global(S::GLOBAL)
        .action(if option.list {
            ArgAction::Append
        } else {
            ArgAction::Set
        });
    match option.alone {
        Some(value) => argument.num_args(0..=1).default_missing_value(value),
        None => argument,
    }
}

impl<S: Selection> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut layer = Layer::default();
        for option in Self::offered() {
            if let Some(values) = matches.get_many::<String>(option.key) {
                let text = values.map(String::as_str).collect::<Vec<_>>().join(",");
                layer.insert(option, text, Origin::Flag(option.flag()));
            }
        }
        Ok(Self {
            layer,
            selection: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
