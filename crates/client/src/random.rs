//! Numbers that differ between processes and calls. They are no secrets.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

/// Some number. The standard library seeds its hashers with random keys.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
