#![doc = include_str!("../README.md")]
//!
//! - [`Letter`] is what is sent: one recipient, a subject and plain text. [`letters`] has the
//!   letters that Eddyline writes.
//! - [`Postman`] sends letters, either to a mail server ([`Delivery::Smtp`]) or, where none is set
//!   up, as files into a folder ([`Delivery::Outbox`]), so that a newcomer can open the mail and
//!   follow its link all the same.
//! - [`SendError`] says whether trying again can help.
//!
//! # How a letter is written
//!
//! A letter becomes `text/plain; charset=utf-8` with `Date`, `Message-ID`, `From`, `To`, `Subject`
//! and `Auto-Submitted: auto-generated` (RFC 3834), so that no vacation notice answers it. Names
//! and subjects come from users: they are brought to one line and bounded before they are written,
//! and no header can be smuggled in through them. An international domain is written in its ASCII
//! form; a recipient whose local part is not ASCII is sent only to a server that offers SMTPUTF8
//! (RFC 6531).
//!
//! # What is kept secret
//!
//! Letters hold links that let their reader in. Neither the text of a letter nor a password is in
//! any `Debug` output, in an error or in the log.

mod address;
mod compose;
mod config;
mod error;
mod letter;
pub mod letters;
mod line;
mod outbox;
mod postman;
mod smtp;

pub use config::{Config, Credentials, Delivery, Password, Security, SmtpConfig};
pub use error::{SendError, SetupError};
pub use letter::Letter;
pub use postman::Postman;
