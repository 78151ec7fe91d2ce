#![doc = include_str!("../README.md")]

mod encrypt;
mod vapid;

pub use crate::encrypt::{BrowserKeys, EncryptError, InvalidKeys, MAX_PLAINTEXT, encrypt};
pub use crate::vapid::{InvalidEndpoint, InvalidKey, ServerKey};
