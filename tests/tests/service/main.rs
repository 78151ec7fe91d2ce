//! The whole server over real sockets, on both databases. Each module is one subject.

// These are tests: what fails here shall end the test.
#![allow(clippy::unwrap_used)]

mod access;
mod bad_input;
mod callers;
mod command_line;
mod comments;
mod edits;
mod flows;
mod legacy_client;
mod lists;
mod nodes;
mod posting;
mod presence;
mod profiles;
mod repeats;
mod requests;
mod restarts;
mod search;
mod streams;
mod tags;
mod transport;
mod typed_client;
mod users;
