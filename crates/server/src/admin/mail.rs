//! `eddyline admin mail`: whether mail goes out.

use std::fmt::{self, Display};

use eddyline_mail::{Receipt, texts};
use serde::Serialize;

use super::print;
use crate::cli::MailCommand;
use crate::config::Settings;
use crate::{CommandError, mail, output, serve};

/// Sends a mail, and tells what became of it.
pub(super) async fn run(
    settings: &Settings,
    command: MailCommand,
    json: bool,
) -> Result<(), CommandError> {
    let MailCommand::Test(test) = command;
    let mailer = mail::mailing(settings)?.mailer;
    let id = format!("test-{}", output::machine_time().0);
    let web = serve::configured_addresses(settings).web;
    let sent = mailer.send(&texts::test(id, &test.address, &web)).await;
    let receipt = sent.map_err(|error| {
        let (what, advice) = (mail::failed_step(error.step), mail::advice(error.step));
        format!("{what}: {error}\n{advice}")
    })?;
    let answer = MailTested::new(test.address, settings.mail_from.clone(), receipt);
    print(&answer, json)
}

/// A mail has been sent.
#[derive(Serialize)]
struct MailTested {
    to: String,
    from: String,
    /// Host and port of the mail server that took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// What that server answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The file that it is, where there is no mail server.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

impl MailTested {
    fn new(to: String, from: String, receipt: Receipt) -> Self {
        let (server, answer, file) = match receipt {
            Receipt::Taken { server, answer } => (Some(server), Some(answer), None),
            Receipt::Written(path) => (None, None, Some(path.display().to_string())),
        };
        Self {
            to,
            from,
            server,
            answer,
            file,
        }
    }
}

impl Display for MailTested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { to, from, .. } = self;
        match (&self.server, &self.answer, &self.file) {
            (Some(server), Some(answer), _) => write!(
                f,
                "The mail server {server} took the mail from {from} to {to}: {answer}"
            ),
            (_, _, Some(file)) => write!(
                f,
                "No mail server is set up (smtp_host): the mail to {to} is the file {file}"
            ),
            _ => write!(f, "The mail to {to} was sent"),
        }
    }
}
