//! Support for the tests of the whole server: the real binary, over real sockets, on both
//! databases.
//!
//! A test takes a [`Server`], makes its callers with [`Server::user`], and talks through
//! `eddyline-client`. It knows the server from outside only: its command line, its HTTP.

// These are tests: what fails here shall end the test.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod authority;
mod backends;
mod binary;
mod caller;
mod certificate;
pub mod chaos;
mod contract;
mod dice;
pub mod faults;
mod listener;
mod outbox;
mod patience;
mod ports;
mod program;
mod provider;
mod python;
mod raw;
mod record;
mod robot;
mod scene;
mod secrets;
mod server;
pub mod snippets;
mod tenant;
mod web;

pub use authority::{CertificateAuthority, certificate_shown};
pub use backends::{run, run_plain};
pub use binary::eddyline;
pub use caller::{Caller, PASSWORD};
pub use certificate::Certificate;
pub use dice::Dice;
pub use listener::Listener;
pub use outbox::Letter;
pub use patience::Patience;
pub use program::{converse, run_program};
pub use provider::{Provider, SCIM_JSON};
pub use python::Python;
pub use raw::{Raw, basic};
pub use robot::{CALLBACK, Robot};
pub use scene::Acme;
pub use secrets::note_secret;
pub use server::{Backend, Server, Setting};
pub use tenant::{Tenant, run_on_shared};
pub use web::{CSRF, PARTS, Page, SESSION, SlowRequest, Visitor};
