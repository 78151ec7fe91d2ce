//! A mail to one recipient.

use std::fmt;

/// One mail to one recipient, as plain text.
///
/// `Debug` leaves the text out, because it holds secret links.
#[derive(Clone, PartialEq, Eq)]
pub struct MailMessage {
    /// The recipient's address, such as `ada@example.org`.
    pub to: String,
    /// The recipient's name, brought to one line of at most 100 characters when it is written.
    pub to_name: Option<String>,
    /// Brought to one line of at most 200 characters when it is written.
    pub subject: String,
    /// The text, in lines that end with `\n`.
    pub text: String,
    /// Names this mail among all mails of the server, and stays the same when it is sent again:
    /// it becomes the left side of the `Message-ID`. From 1 to 128 ASCII letters, digits, `-` or
    /// `_`.
    pub id: String,
}

impl fmt::Debug for MailMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailMessage")
            .field("id", &self.id)
            .field("to", &self.to)
            .field("to_name", &self.to_name)
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_letter_is_not_printed() {
        let message = MailMessage {
            to: "ada@example.org".into(),
            to_name: None,
            subject: "Hello".into(),
            text: "https://example.org/secret".into(),
            id: "hello-1".into(),
        };
        assert!(!format!("{message:#?}").contains("secret"));
    }
}
