//! The whole server over real sockets, on both databases. Each module is one subject.

// These are tests: what fails here shall end the test.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod access;
mod accessibility;
mod actions;
mod around;
mod avatars;
mod bad_http;
mod bad_input;
mod callers;
mod command_line;
mod comments;
mod deleted;
mod documents;
mod edits;
mod ended_credentials;
mod everywhere;
mod files;
mod flows;
mod generators;
mod groups;
mod html;
mod integrations;
mod invitations;
mod join_links;
mod legacy_client;
mod lists;
mod mail;
mod newcomer;
mod nodes;
mod oauth;
mod organizations;
mod pages;
mod permissions;
mod posting;
mod presence;
mod private;
mod profiles;
mod reactions;
mod reading;
mod refusals;
mod repeats;
mod replicas;
mod requests;
mod restarts;
mod scim;
mod search;
mod session_api;
mod streams;
mod tags;
mod transitions;
mod transport;
mod typed_client;
mod users;
mod web_client;
