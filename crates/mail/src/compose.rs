//! A mail as it is written for mail servers and mail programs (RFC 5322).

use std::time::SystemTime;

use lettre::Address;
use lettre::address::Envelope;
use lettre::message::header::{
    ContentTransferEncoding, ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0, MessageId,
};
use lettre::message::{Body, Mailbox, Message};

use crate::address::{self, FromMailbox};
use crate::error::SendError;
use crate::line::one_line;
use crate::message::MailMessage;

/// Characters of a subject. In ASCII this fits a line of mail as well, even without a space in it.
const SUBJECT: usize = 200;
/// Characters of a mail's id.
const ID: usize = 128;
/// Bytes of a line in mail, without its end (RFC 5322, section 2.1.1).
const LINE: usize = 998;

/// How the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    /// In ASCII and short lines, which every mail server passes on.
    Wire,
    /// As it is, where its lines allow it, so that a link can be read in the file.
    Readable,
}

/// A mail that is ready to go.
pub(crate) struct Composed {
    pub(crate) to: Address,
    /// Header and body, in lines that end with CRLF. All ASCII in the form for the wire, unless the
    /// recipient's local part is not.
    pub(crate) data: String,
}

/// Writes a mail, or says why it cannot be written, which is permanent.
pub(crate) fn compose(
    message: &MailMessage,
    sender: &FromMailbox,
    form: TextEncoding,
    now: SystemTime,
) -> Result<Composed, SendError> {
    let to = address::parse(&message.to).map_err(|why| {
        SendError::permanent(format!("{:?} is no mail address: {why}", message.to))
    })?;
    if !is_id(&message.id) {
        return Err(SendError::permanent(format!(
            "{:?} cannot be the id of a mail",
            message.id
        )));
    }
    // Made from the addresses themselves, and not read out of the headers again.
    let envelope = Envelope::new(Some(sender.address.clone()), vec![to.clone()])
        .expect("there is one recipient");
    let message = Message::builder()
        .envelope(envelope)
        .date(now)
        .header(MessageId::from(format!(
            "<{}@{}>",
            message.id,
            sender.address.domain()
        )))
        .from(Mailbox::new(sender.name.clone(), sender.address.clone()))
        .to(Mailbox::new(
            message.to_name.as_deref().and_then(address::name),
            to.clone(),
        ))
        .subject(subject(&message.subject))
        .raw_header(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        ))
        .header(MIME_VERSION_1_0)
        .header(ContentType::TEXT_PLAIN)
        .body(body(&message.text, form))
        .map_err(|error| SendError::permanent(format!("the mail cannot be written: {error}")))?;
    let data = String::from_utf8(message.formatted()).expect("header and text were strings");
    Ok(Composed { to, data })
}

fn is_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=ID).contains(&id.len()) && id.bytes().all(allowed)
}

/// The subject on one line, without anything that a mail program would take for encoded text: that
/// could hold a line break, or a word that is not to be seen here.
fn subject(text: &str) -> String {
    one_line(text, SUBJECT).replace("=?", "= ?")
}

fn body(text: &str, form: TextEncoding) -> Body {
    let lines: Vec<String> = text.lines().map(printable).collect();
    let fits = lines.iter().all(|line| line.len() <= LINE);
    let mut whole = lines.join("\r\n");
    whole.push_str("\r\n");
    if form == TextEncoding::Wire || !fits {
        return Body::new(whole);
    }
    let encoding = match whole.is_ascii() {
        true => ContentTransferEncoding::SevenBit,
        false => ContentTransferEncoding::EightBit,
    };
    Body::dangerous_pre_encoded(whole.into_bytes(), encoding)
}

/// Mail allows no control characters within a line, and a lone carriage return is a line's end to
/// some servers.
fn printable(line: &str) -> String {
    line.chars()
        .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
        .collect()
}
