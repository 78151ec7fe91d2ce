//! Handing mails to a mail server (RFC 5321).
//!
//! The commands are given here one by one, and not by the library's ready-made transport: so we
//! know which of them was refused, and a connection whose mail was given up half-way is never
//! used again.

mod connect;
mod pool;

use std::sync::Arc;
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::compose::Composed;
use crate::config::SmtpConfig;
use crate::error::{SendError, SendStep, SetupError};
use crate::line::one_line;
use connect::{CONNECT, SmtpServer};
use pool::{SmtpConnection, SmtpPool};

/// What one mail may take once its turn has come, with connecting and signing in.
const MESSAGE_TIME: Duration = Duration::from_secs(60);
/// Mails on their way at once. Mail servers dislike clients with many connections.
const CONNECTIONS: usize = 4;
/// Characters of a server's answer that are kept.
const ANSWER: usize = 300;
/// "Authentication required" (RFC 4954): about us, and not about the recipient.
const SIGN_IN_FIRST: u16 = 530;

/// A mail server and the connections to it.
pub(crate) struct Smtp {
    server: SmtpServer,
    sender: Address,
    turns: Semaphore,
    pool: Arc<SmtpPool>,
}

impl Smtp {
    pub(crate) fn new(config: &SmtpConfig, sender: &Address) -> Result<Self, SetupError> {
        Ok(Self {
            server: SmtpServer::new(config, sender.domain())?,
            sender: sender.clone(),
            turns: Semaphore::new(CONNECTIONS),
            pool: Arc::default(),
        })
    }

    /// Host and port.
    pub(crate) fn server(&self) -> String {
        self.server.to_string()
    }

    /// Gives what the server answered when it took the mail.
    pub(crate) async fn send(&self, message: &Composed) -> Result<String, SendError> {
        let _turn = self.turns.acquire().await.expect("it is never closed");
        // A time-out drops the connection with whatever was said on it.
        timeout(MESSAGE_TIME, self.deliver(message))
            .await
            .unwrap_or_else(|_| Err(self.too_slow(SendStep::Content)))
    }

    /// Makes a connection as for a mail, and ends it.
    pub(crate) async fn check(&self) -> Result<(), SendError> {
        let connecting = timeout(MESSAGE_TIME, self.server.connect());
        let connected = connecting
            .await
            .map_err(|_| self.too_slow(SendStep::Connect))?;
        let client = connected.map_err(|failure| self.no_session(&failure))?;
        pool::quit(SmtpConnection::new(client)).await;
        Ok(())
    }

    fn too_slow(&self, step: SendStep) -> SendError {
        let seconds = MESSAGE_TIME.as_secs();
        let text = format!("the mail server {} took over {seconds} s", self.server);
        SendError::at(step, SendError::temporary(text))
    }

    fn no_session(&self, (step, error): &(SendStep, Error)) -> SendError {
        let text = format!(
            "no session with the mail server {}: {}",
            self.server,
            text(error)
        );
        SendError::at(*step, SendError::temporary(text))
    }

    async fn deliver(&self, message: &Composed) -> Result<String, SendError> {
        let connection = self.connection().await;
        let mut connection = connection.map_err(|failure| self.no_session(&failure))?;
        connection.messages += 1;
        let outcome = hand_over(&mut connection.client, &self.sender, message).await;
        if outcome
            .as_ref()
            .map_or_else(|failure| failure.answered, |_| true)
        {
            self.pool.park(connection);
        }
        outcome.map_err(|failure| failure.error)
    }

    /// A connection that is ready for a mail.
    async fn connection(&self) -> Result<SmtpConnection, (SendStep, Error)> {
        while let Some(mut connection) = self.pool.take() {
            // Shows that the server is still there, and makes it forget what a refused mail left.
            let reset = timeout(CONNECT, connection.client.command(Rset)).await;
            if reset.is_ok_and(|answer| answer.is_ok()) {
                return Ok(connection);
            }
        }
        Ok(SmtpConnection::new(self.server.connect().await?))
    }
}

struct SmtpFailure {
    error: SendError,
    /// Whether the server's answer to the last command is known, so that the connection can be used
    /// again.
    answered: bool,
}

async fn hand_over(
    client: &mut AsyncSmtpConnection,
    sender: &Address,
    message: &Composed,
) -> Result<String, SmtpFailure> {
    let mut options = Vec::new();
    if !message.to.user().is_ascii() {
        if !client
            .server_info()
            .supports_feature(Extension::SmtpUtfEight)
        {
            let text = format!(
                "the mail server takes only ASCII in front of the @, unlike {}",
                message.to
            );
            return Err(SmtpFailure {
                error: SendError::at(SendStep::Recipient, SendError::permanent(text)),
                answered: true,
            });
        }
        options.push(MailParameter::SmtpUtfEight);
        options.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    // A refused sender concerns every mail, and so our configuration.
    client
        .command(Mail::new(Some(sender.clone()), options))
        .await
        .map_err(|e| SmtpFailure::temporary(SendStep::Sender, &e))?;
    client
        .command(Rcpt::new(message.to.clone(), Vec::new()))
        .await
        .map_err(|e| SmtpFailure::of(SendStep::Recipient, &e))?;
    client
        .command(Data)
        .await
        .map_err(|e| SmtpFailure::of(SendStep::Content, &e))?;
    let taken = client
        .command(content(&message.data))
        .await
        .map_err(|e| SmtpFailure::of(SendStep::Content, &e))?;
    let said: Vec<&str> = taken.message().collect();
    Ok(one_line(
        &format!("{} {}", taken.code(), said.join(" ")),
        ANSWER,
    ))
}

/// The mail with its end mark, and with a dot doubled where it begins a line (RFC 5321, section
/// 4.5.2). It goes out in one piece: the library's own way, the mark in a second one, had every
/// mail wait 40 ms for an acknowledgement of the first.
fn content(data: &str) -> String {
    let end = if data.ends_with("\r\n") {
        ".\r\n"
    } else {
        "\r\n.\r\n"
    };
    data.replace("\r\n.", "\r\n..") + end
}

impl SmtpFailure {
    /// What came of a command that is about the mail or its recipient.
    fn of(step: SendStep, error: &Error) -> Self {
        if error.is_permanent() && !wants_sign_in(error) {
            return Self {
                error: SendError::at(step, SendError::permanent(text(error))),
                answered: true,
            };
        }
        Self::temporary(step, error)
    }

    fn temporary(step: SendStep, error: &Error) -> Self {
        let step = if wants_sign_in(error) {
            SendStep::SignIn
        } else {
            step
        };
        Self {
            error: SendError::at(step, SendError::temporary(text(error))),
            answered: error.status().is_some(),
        }
    }
}

fn wants_sign_in(error: &Error) -> bool {
    error
        .status()
        .is_some_and(|code| u16::from(code) == SIGN_IN_FIRST)
}

/// What the server said, or what else happened.
fn text(error: &Error) -> String {
    let Some(code) = error.status() else {
        return error.to_string();
    };
    let said = std::error::Error::source(error)
        .map(ToString::to_string)
        .unwrap_or_default();
    format!("the mail server answered {code} {said}")
}
