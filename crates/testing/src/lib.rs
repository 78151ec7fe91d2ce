//! What the tests of several crates share: a throw-away PostgreSQL.
//!
//! The crate knows nothing of Eddyline and has no dependencies, so that every crate may use it in
//! its tests.

pub mod postgres;
