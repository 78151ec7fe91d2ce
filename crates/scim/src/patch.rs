//! Changes of a user (RFC 7644, section 3.5.2).

use serde_json::{Map, Value};

use crate::{ScimError, State};

/// The operations of a PATCH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {}

impl Patch {
    /// Reads the body of a PATCH.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(_body: &Map<String, Value>) -> Result<Self, ScimError> {
        Err(ScimError::new(501, "PATCH is not there yet"))
    }

    /// The state with all operations applied in order.
    ///
    /// # Errors
    ///
    /// Which of them cannot be applied; then none is.
    pub fn apply(&self, _state: State) -> Result<State, ScimError> {
        Err(ScimError::new(501, "PATCH is not there yet"))
    }
}
