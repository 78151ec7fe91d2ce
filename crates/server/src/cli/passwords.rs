//! Passwords on the command line.

use std::convert::Infallible;
use std::io::{self, BufRead};

use clap::Args;
use eddyline_auth::Password;
use eddyline_auth::strength::{MIN_CHARS, Weakness};

/// Where a password comes from.
pub(crate) enum PasswordFrom {
    /// The command line.
    Argument(Password),
    /// The first line of the standard input.
    Input,
    /// It was not said.
    Nowhere,
}

/// A password that must be given.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct RequiredPassword {
    /// The password; others on this machine can see it while the command runs
    #[arg(long, value_parser = any_password)]
    password: Option<Password>,
    /// Read the password from the first line of the standard input. On a terminal it is asked for
    /// in any case
    #[arg(long)]
    password_stdin: bool,
}

impl RequiredPassword {
    /// Whether the standard input is needed.
    pub(super) fn reads_input(&self) -> bool {
        self.password.is_none()
    }

    /// Where it comes from.
    pub(crate) fn source(self) -> PasswordFrom {
        source_of(self.password, self.password_stdin)
    }
}

/// A password that may be given.
#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct OptionalPassword {
    /// Password; without one the user has only an API token. Others on this machine can see it
    /// while the command runs
    #[arg(long, value_parser = any_password)]
    password: Option<Password>,
    /// Read the password from the first line of the standard input; on a terminal, ask for it
    #[arg(long)]
    password_stdin: bool,
}

impl OptionalPassword {
    /// Whether the standard input is needed.
    pub(super) fn reads_input(&self) -> bool {
        self.password_stdin
    }

    /// Where it comes from.
    pub(crate) fn source(self) -> PasswordFrom {
        source_of(self.password, self.password_stdin)
    }
}

fn source_of(password: Option<Password>, stdin: bool) -> PasswordFrom {
    match password {
        Some(password) => PasswordFrom::Argument(password),
        None if stdin => PasswordFrom::Input,
        None => PasswordFrom::Nowhere,
    }
}

/// Takes any text: clap would repeat a refused one in its error.
fn any_password(text: &str) -> Result<Password, Infallible> {
    Ok(Password::new(text))
}

/// The password, if it has the length that the pages ask for.
///
/// # Errors
///
/// [`Weakness::TooShort`], [`Weakness::TooLong`].
pub(crate) fn long_enough(password: Password) -> Result<Password, Weakness> {
    if password.expose().chars().nth(MIN_CHARS - 1).is_none() {
        return Err(Weakness::TooShort);
    }
    if password.is_acceptable() {
        Ok(password)
    } else {
        Err(Weakness::TooLong)
    }
}

/// The first line of an input.
///
/// # Errors
///
/// When it cannot be read, or is no text.
pub(crate) fn read_line(input: impl BufRead) -> io::Result<Password> {
    let mut line = String::new();
    // Enough for the longest password and the end of its line, so that a wrong file is not read
    // into memory.
    let longest = Password::MAX_BYTES as u64 + 2;
    input.take(longest).read_line(&mut line)?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    Ok(Password::new(line))
}
