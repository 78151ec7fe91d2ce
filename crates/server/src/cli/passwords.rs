//! Passwords on the command line.

use std::convert::Infallible;
use std::io::{self, BufRead};

use clap::Args;
use eddyline_auth::Password;

/// A password that must be given, in one of two ways.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RequiredPassword {
    /// The password; others on this machine can see it while the command runs
    #[arg(long, value_parser = any_password)]
    password: Option<Password>,
    /// Read the password from the first line of the standard input
    #[arg(long)]
    password_stdin: bool,
}

impl RequiredPassword {
    /// Whether [`RequiredPassword::read`] reads its input.
    pub(super) fn reads_input(&self) -> bool {
        self.password_stdin
    }

    /// The password. Reads `input` only when asked to. Fails when it cannot be anybody's.
    pub(crate) fn read(self, input: impl BufRead) -> io::Result<Password> {
        self.password.map_or_else(|| read_line(input), acceptable)
    }
}

/// A password that may be given, in one of two ways.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct OptionalPassword {
    /// Password; without one the user has only an API token. Others on this machine can see it
    /// while the command runs
    #[arg(long, value_parser = any_password)]
    password: Option<Password>,
    /// Read the password from the first line of the standard input
    #[arg(long)]
    password_stdin: bool,
}

impl OptionalPassword {
    /// Whether [`OptionalPassword::read`] reads its input.
    pub(super) fn reads_input(&self) -> bool {
        self.password_stdin
    }

    /// The password, if there is one. Reads `input` only when asked to. Fails when it cannot be
    /// anybody's.
    pub(crate) fn read(self, input: impl BufRead) -> io::Result<Option<Password>> {
        if self.password_stdin {
            read_line(input).map(Some)
        } else {
            self.password.map(acceptable).transpose()
        }
    }
}

/// Takes any text: clap would repeat a refused one in its error.
fn any_password(text: &str) -> Result<Password, Infallible> {
    Ok(Password::new(text))
}

fn acceptable(password: Password) -> io::Result<Password> {
    if password.is_acceptable() {
        Ok(password)
    } else {
        let problem = format!("a password has 1 to {} bytes", Password::MAX_BYTES);
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

fn read_line(input: impl BufRead) -> io::Result<Password> {
    let mut line = String::new();
    // Enough for the longest password and the end of its line, so that a wrong file is not read
    // into memory.
    let longest = Password::MAX_BYTES as u64 + 2;
    input.take(longest).read_line(&mut line)?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    acceptable(Password::new(line))
}
