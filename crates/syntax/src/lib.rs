#![doc = include_str!("../README.md")]
//!
//! [`blocks`] divides a text into lines, code, quotes, lists, tables and headings; [`code_spans`]
//! finds the code within a line; [`prose`] gives what is no code, for those who look for mentions
//! and tags. [`link_at`] and [`other_address_at`] find addresses. Everything is a slice of the text, the nesting is
//! bounded, and the work grows linearly with the text.
//!
//! The rules are those of CommonMark and of the tables and task lists of GitHub, but for what people
//! type in a chat without meaning it: a line break is a line break, a quote ends with the last line
//! that begins with `>`, and `2*3`, `snake_case`, `+1` and `---` are what they are.

mod blocks;
mod characters;
mod fences;
mod links;
mod lists;
mod prose;
mod spans;
mod tables;

pub use self::blocks::{Block, ListItem, MAX_DEPTH, blocks};
pub use self::characters::is_cjk;
pub use self::links::{LinkSpan, MAX_ADDRESS, begins_host, link_at, other_address_at};
pub use self::prose::{Prose, prose};
pub use self::spans::{CodeSpan, code_spans};
pub use self::tables::{Alignment, Table};
