//! Asking the operator, where there is a terminal: for passwords, without showing them, and whether
//! to go on.

use std::io::{self, IsTerminal as _, Write as _, stdin};

use eddyline_auth::Password;
use eddyline_auth::strength::{self, Weakness};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::cli::PasswordFrom;
use crate::cli::passwords::{long_enough, read_line};
use crate::{CommandError, output};

/// The status of a program that an interrupt ended, as a shell reports it.
const INTERRUPTED: i32 = 128 + 2;

/// The password that was given, if one was.
pub(crate) async fn optional_password(
    from: PasswordFrom,
) -> Result<Option<Password>, CommandError> {
    match from {
        PasswordFrom::Nowhere => Ok(None),
        given => required_password(given).await.map(Some),
    }
}

/// The password that was given, or that the terminal is asked for.
pub(crate) async fn required_password(from: PasswordFrom) -> Result<Password, CommandError> {
    let is_terminal = stdin().is_terminal();
    match from {
        PasswordFrom::Argument(password) => checked(password),
        PasswordFrom::Input if !is_terminal => {
            checked(tokio::task::spawn_blocking(|| read_line(stdin().lock())).await??)
        }
        PasswordFrom::Nowhere if !is_terminal => {
            Err("a password is needed: give it with --password-stdin or --password".into())
        }
        PasswordFrom::Input | PasswordFrom::Nowhere => tokio::task::spawn_blocking(ask).await?,
    }
}

fn checked(password: Password) -> Result<Password, CommandError> {
    long_enough(password).map_err(|weakness| format!("the password {weakness}").into())
}

/// Warns of a password that is easy to guess, also for those who know this much about its user.
pub(crate) fn warn_if_weak(password: &Password, about: &[&str]) {
    if let Err(weakness @ Weakness::Guessable(_)) = strength::check(password, about) {
        output::warning(&format!("the password {weakness}"));
    }
}

/// Asks for a new password on the terminal, twice. Blocks.
fn ask() -> Result<Password, CommandError> {
    let hidden = Hidden::begin()?;
    let password = checked(hidden.line("New password: ")?)?;
    let again = hidden.line("The same again: ")?;
    if password.expose() != again.expose() {
        return Err("the two passwords are different".into());
    }
    Ok(password)
}

/// While it lives, the terminal does not show what is typed.
struct Hidden {
    before: Termios,
}

impl Hidden {
    #[expect(clippy::disallowed_methods, reason = "ends with the process")]
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let restored = before.clone();
        // An interrupt must not leave the terminal silent. From here on tokio takes every interrupt
        // of this process, so the task goes on after the prompt: it then ends the process as the
        // system would have.
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                let _ = tcsetattr(stdin(), OptionalActions::Now, &restored);
                std::process::exit(INTERRUPTED);
            }
        });
        // What was typed ahead is dropped: it was shown.
        tcsetattr(stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self { before })
    }

    fn line(&self, question: &str) -> io::Result<Password> {
        let mut error = io::stderr().lock();
        write!(error, "{question}")?;
        error.flush()?;
        let line = read_line(stdin().lock());
        // The end of the line was not shown either.
        writeln!(error)?;
        line
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

/// Whether there is a terminal to ask at.
pub(crate) fn is_terminal() -> bool {
    stdin().is_terminal()
}

/// Whether the operator wants to go on, where there is a terminal to ask at; otherwise yes. Blocks.
pub(crate) fn confirms(question: &str) -> io::Result<bool> {
    if !stdin().is_terminal() {
        return Ok(true);
    }
    let mut error = io::stderr().lock();
    write!(error, "{question} [y/N] ")?;
    error.flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
