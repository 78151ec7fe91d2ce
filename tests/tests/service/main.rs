//! The whole server over real sockets, on both databases. Each module is one subject.

mod access;
mod bad_input;
mod callers;
mod comments;
mod command_line;
mod edits;
mod flows;
mod legacy_client;
mod lists;
mod nodes;
mod posting;
mod presence;
mod profiles;
mod restarts;
mod search;
mod streams;
mod transport;
mod users;
