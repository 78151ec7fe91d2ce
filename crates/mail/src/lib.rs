#![doc = include_str!("../README.md")]
//!
//! - [`MailMessage`] is what is sent: one recipient, a subject and plain text. [`texts`] has the
//!   mails that Eddyline writes.
//! - [`Mailer`] sends mails, either to a mail server ([`Delivery::Smtp`]) or, where none is set
//!   up, as files into a folder ([`Delivery::Outbox`]), so that a newcomer can open the mail and
//!   follow its link all the same.
//! - [`SendError`] says whether trying again can help.
//!
//! # How a mail is written
//!
//! A mail becomes `text/plain; charset=utf-8` with `Date`, `Message-ID`, `From`, `To`, `Subject`
//! and `Auto-Submitted: auto-generated` (RFC 3834), so that no vacation notice answers it. Names
//! and subjects come from users: they are brought to one line and bounded before they are written,
//! and no header can be smuggled in through them. An international domain is written in its ASCII
//! form; a recipient whose local part is not ASCII is sent only to a server that offers SMTPUTF8
//! (RFC 6531).
//!
//! # What is kept secret
//!
//! Mails hold links that let their reader in. Neither the text of a mail nor a password is in
//! any `Debug` output, in an error or in the log.

mod address;
mod compose;
mod config;
mod error;
mod line;
mod mailer;
mod message;
mod outbox;
mod smtp;
pub mod texts;

pub use config::{Config, Delivery, Security, SmtpConfig, SmtpCredentials, SmtpPassword};
pub use error::{SendError, SendStep, SetupError};
pub use mailer::{Mailer, Receipt};
pub use message::MailMessage;
