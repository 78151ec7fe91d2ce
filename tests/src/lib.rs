//! Support for the tests of the whole server: the real binary, over real sockets, on both
//! databases.
//!
//! A test takes a [`Server`], makes its callers with [`Server::user`], and talks through
//! `eddyline-client`. It knows the server from outside only: its command line, its HTTP.

// These are tests: what fails here shall end the test.
#![allow(clippy::unwrap_used)]

mod binary;
mod caller;
mod server;

pub use caller::{Caller, PASSWORD};
pub use server::{Backend, Server};
