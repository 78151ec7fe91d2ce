//! The mails that Eddyline writes.
//!
//! Each says who asked for it, what its link does and when that ends, and that one may leave it
//! alone. Names are what users call themselves and their flows: they are brought to one line and
//! bounded, and what somebody adds in their own words is set off as a quotation, so that nobody can
//! put words into the server's mouth.

use crate::line::one_line;
use crate::message::MailMessage;

/// Characters of a name in a subject.
const SHORT: usize = 50;
/// Characters of a name in the text.
const LONG: usize = 100;
/// How long a quoted line may be, in characters.
const WIDTH: usize = 76;
/// Characters of the longest address there is.
const ADDRESS: usize = 254;

/// What an invitation says.
#[derive(Clone, Copy)]
pub struct InvitationMail<'a> {
    /// The address that is invited.
    pub to: &'a str,
    /// Who invites.
    pub inviter_name: &'a str,
    /// The flow to join.
    pub flow_name: &'a str,
    /// The organization it belongs to.
    pub organization_name: &'a str,
    /// What the inviter adds, in any number of lines. It is not cut.
    pub message: Option<&'a str>,
    /// The address of the page that takes up the invitation, a secret.
    pub link: &'a str,
    /// How many days the link lasts.
    pub days: u32,
}

/// A mail by which an operator sees whether mail goes out.
pub fn test(id: impl Into<String>, to: &str, web_url: &str) -> MailMessage {
    MailMessage {
        to: to.to_owned(),
        to_name: None,
        subject: "Test of Eddyline's mail".to_owned(),
        text: format!(
            "An operator of {} sent this mail to see whether mail goes out. It does.\n\n\
             You need not do anything.\n",
            one_line(web_url, ADDRESS)
        ),
        id: id.into(),
    }
}

/// An invitation to a flow, to somebody who need not have an account.
pub fn invitation(id: impl Into<String>, invitation: &InvitationMail<'_>) -> MailMessage {
    let InvitationMail {
        to,
        inviter_name,
        flow_name,
        organization_name,
        message,
        link,
        days,
    } = *invitation;
    let subject = format!(
        "{} invites you to {}",
        one_line(inviter_name, SHORT),
        one_line(flow_name, SHORT)
    );
    let inviter = one_line(inviter_name, LONG);
    let flow = one_line(flow_name, LONG);
    let organization = one_line(organization_name, LONG);
    let words = message
        .map(|words| quotation(&inviter, words))
        .unwrap_or_default();
    let days = count(days, "day");
    let text = format!(
        "Hello,

{inviter} invites you to the flow \"{flow}\"
of {organization} on Eddyline.

{words}Open this link to join the conversation:

{link}

It is meant for you alone, works once and ends in {days}. If you
do not know {inviter} or do not want to join, you may
ignore this mail; nothing happens without you.
"
    );
    MailMessage {
        to: to.to_owned(),
        to_name: None,
        subject,
        text,
        id: id.into(),
    }
}

/// A link to choose a new password, for somebody who cannot sign in.
pub fn password_reset(
    id: impl Into<String>,
    to: &str,
    name: &str,
    link: &str,
    hours: u32,
) -> MailMessage {
    let name = one_line(name, LONG);
    let hours = count(hours, "hour");
    let text = format!(
        "Hello {name},

somebody, probably you, asked for a new password for the Eddyline
account of {to}.

Open this link to choose one:

{link}

It works once and ends in {hours}. If you did not ask for it, you may
ignore this mail; your password stays as it is.
"
    );
    let subject = "Choose a new password for Eddyline".to_owned();
    MailMessage {
        to: to.to_owned(),
        to_name: Some(name),
        subject,
        text,
        id: id.into(),
    }
}

/// To the old address of an account that has just got a new one, with a link that undoes it.
pub fn email_changed(
    id: impl Into<String>,
    to_old: &str,
    name: &str,
    new_address: &str,
    link: &str,
    days: u32,
) -> MailMessage {
    let name = one_line(name, LONG);
    let new_address = one_line(new_address, ADDRESS);
    let days = count(days, "day");
    let text = format!(
        "Hello {name},

the e-mail address of your Eddyline account was changed
from {to_old}
to {new_address},
by you or by an organization that you belong to.

If that is right, you may ignore this mail. If it is not, open this
link to take the change back and keep your old address:

{link}

It works once and ends in {days}.
"
    );
    let subject = "The e-mail address of your Eddyline account was changed".to_owned();
    MailMessage {
        to: to_old.to_owned(),
        to_name: Some(name),
        subject,
        text,
        id: id.into(),
    }
}

/// What a mail about the deletion of an organization says to one of its administrators.
#[derive(Clone, Copy)]
pub struct DeletionMail<'a> {
    /// The address of the administrator.
    pub to: &'a str,
    /// The organization.
    pub organization_name: &'a str,
    /// The user who requested or cancelled it; `None` for an operator of the server.
    pub user_name: Option<&'a str>,
    /// The address of the page about it.
    pub link: &'a str,
}

impl DeletionMail<'_> {
    /// Who requested or cancelled it, as the subject of a sentence.
    fn subject(&self) -> String {
        let name = self.user_name.map(|name| one_line(name, LONG));
        name.unwrap_or_else(|| "An operator of the server".to_owned())
    }
}

/// To an administrator of an organization that is closed, and will be deleted on a day, in UTC.
pub fn deletion_requested(
    id: impl Into<String>,
    deletion: &DeletionMail<'_>,
    day: &str,
) -> MailMessage {
    let who = deletion.subject();
    let organization = one_line(deletion.organization_name, LONG);
    let cancel = match deletion.user_name {
        Some(_) => {
            "Until then each of its administrators can cancel that. Open this
page and restore the organization:"
        }
        None => {
            "Until then operators of the server can cancel that; ask them if
you do not agree. This page says when it will be deleted:"
        }
    };
    let text = format!(
        "Hello,

{who} requested the deletion of
the organization \"{organization}\"
on Eddyline, which you administer.

It is closed: it lets nobody in. On {day} (UTC) it will be deleted,
with all of its flows, messages and files, and with the accounts of
people who belong to no other organization.

{cancel}

{}

If the deletion is right, you need not do anything.
",
        deletion.link
    );
    MailMessage {
        to: deletion.to.to_owned(),
        to_name: None,
        subject: format!(
            "{} will be deleted on {day}",
            one_line(deletion.organization_name, SHORT)
        ),
        text,
        id: id.into(),
    }
}

/// To an administrator of an organization whose deletion was cancelled.
pub fn deletion_cancelled(id: impl Into<String>, deletion: &DeletionMail<'_>) -> MailMessage {
    let who = deletion.subject();
    let organization = one_line(deletion.organization_name, LONG);
    let text = format!(
        "Hello,

{who} cancelled the deletion of
the organization \"{organization}\"
on Eddyline, which you administer.

It is open again, with its people, flows, messages and files:

{}

You need not do anything.
",
        deletion.link
    );
    MailMessage {
        to: deletion.to.to_owned(),
        to_name: None,
        subject: format!(
            "{} will not be deleted",
            one_line(deletion.organization_name, SHORT)
        ),
        text,
        id: id.into(),
    }
}

/// What somebody adds in their own words, each line marked as theirs; ends with an empty line.
fn quotation(name: &str, words: &str) -> String {
    let words = words.trim();
    if words.is_empty() {
        return String::new();
    }
    let lines: String = words
        .lines()
        .flat_map(|line| wrapped(&one_line(line, usize::MAX)))
        .map(|line| format!("> {line}\n"))
        .collect();
    format!("{name} writes:\n\n{lines}\n")
}

/// Lines of a length that mail carries as they are, broken between words where that is possible.
fn wrapped(line: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in line.split(' ') {
        let fits = length == 0 || length + 1 + word.chars().count() <= WIDTH;
        if !fits {
            lines.push(String::new());
            length = 0;
        }
        for (i, character) in word.chars().enumerate() {
            let last = lines.len() - 1;
            if i == 0 && length > 0 {
                lines[last].push(' ');
                length += 1;
            }
            if length == WIDTH {
                lines.push(String::new());
                length = 0;
            }
            let last = lines.len() - 1;
            lines[last].push(character);
            length += 1;
        }
    }
    lines
}

fn count(number: u32, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_lose_nothing() {
        let text = format!("{} {} end", "word ".repeat(40).trim_end(), "x".repeat(200));
        let lines = wrapped(&text);
        assert!(
            lines.iter().all(|line| line.chars().count() <= WIDTH),
            "{lines:?}"
        );
        assert!(lines[0].ends_with("word"), "{}", lines[0]);
        let characters = |text: &str| text.replace(' ', "");
        assert_eq!(characters(&lines.concat()), characters(&text));
        assert_eq!(wrapped("short"), ["short"]);
        assert_eq!(wrapped(""), [""]);
    }
}
