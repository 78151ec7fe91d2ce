#![doc = include_str!("../README.md")]

mod content;
mod error;
mod people;
mod plan;
mod rooms;
mod take;

pub use error::{Error, Result};
pub use plan::ExportSubject;
pub use take::{ExportProgress, ExportSource, Exported, export};
