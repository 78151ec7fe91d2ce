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
use crate::error::{SendError, SetupError};
use connect::{CONNECT, SmtpServer};
use pool::{SmtpConnection, SmtpPool};

/// What one mail may take once its turn has come, with connecting and signing in.
const MESSAGE_TIME: Duration = Duration::from_secs(60);
/// Mails on their way at once. Mail servers dislike clients with many connections.
const CONNECTIONS: usize = 4;
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

    pub(crate) async fn send(&self, message: &Composed) -> Result<(), SendError> {
        let _turn = self.turns.acquire().await.expect("it is never closed");
        // A time-out drops the connection with whatever was said on it.
        timeout(MESSAGE_TIME, self.deliver(message))
            .await
            .unwrap_or_else(|_| {
                let seconds = MESSAGE_TIME.as_secs();
                Err(SendError::temporary(format!(
                    "the mail server {} took over {seconds} s",
                    self.server
                )))
            })
    }

    async fn deliver(&self, message: &Composed) -> Result<(), SendError> {
        let mut connection = self.connection().await.map_err(|error| {
            SendError::temporary(format!(
                "no session with the mail server {}: {}",
                self.server,
                text(&error)
            ))
        })?;
        connection.messages += 1;
        let outcome = hand_over(&mut connection.client, &self.sender, message).await;
        if outcome
            .as_ref()
            .map_or_else(|failure| failure.answered, |()| true)
        {
            self.pool.park(connection);
        }
        outcome.map_err(|failure| failure.error)
    }

    /// A connection that is ready for a mail.
    async fn connection(&self) -> Result<SmtpConnection, Error> {
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
) -> Result<(), SmtpFailure> {
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
                error: SendError::permanent(text),
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
        .map_err(|e| SmtpFailure::temporary(&e))?;
    client
        .command(Rcpt::new(message.to.clone(), Vec::new()))
        .await
        .map_err(|e| SmtpFailure::of(&e))?;
    client
        .command(Data)
        .await
        .map_err(|e| SmtpFailure::of(&e))?;
    client
        .command(content(&message.data))
        .await
        .map_err(|e| SmtpFailure::of(&e))?;
    Ok(())
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
    fn of(error: &Error) -> Self {
        let about_us = error
            .status()
            .is_some_and(|code| u16::from(code) == SIGN_IN_FIRST);
        if error.is_permanent() && !about_us {
            return Self {
                error: SendError::permanent(text(error)),
                answered: true,
            };
        }
        Self::temporary(error)
    }

    fn temporary(error: &Error) -> Self {
        Self {
            error: SendError::temporary(text(error)),
            answered: error.status().is_some(),
        }
    }
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
