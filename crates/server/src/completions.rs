//! `eddyline completions`: scripts by which shells complete the commands and options.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::CommandError;
use crate::cli::{Cli, NAME};

/// Prints the script for a shell.
pub(crate) fn run(shell: Shell) -> Result<(), CommandError> {
    let mut output = io::stdout().lock();
    output.write_all(&script(shell))?;
    Ok(output.flush()?)
}

/// The script. It is collected first, because the generator panics where it cannot write.
fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;
    use crate::config::OPTIONS;

    #[test]
    fn every_shell_learns_the_commands_and_the_options() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).unwrap();
            for command in Cli::command().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}");
            }
            for option in OPTIONS {
                assert!(
                    script.contains(&option.flag()),
                    "{shell}: {}",
                    option.flag()
                );
            }
        }
    }
}
