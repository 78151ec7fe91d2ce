//! The parameters of a request, of which none may come twice (RFC 6749, sections 3.1 and 3.2).

use std::fmt;

use super::error::OAuthError;

/// Parameters by name. `Debug` writes the names only, since secrets are among the values.
#[derive(Clone, Default)]
pub struct OAuthParameters(Vec<(String, String)>);

impl OAuthParameters {
    /// Takes parameters as they came. Those without a value count as left out (RFC 6749, section
    /// 3.1).
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(
            pairs
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect(),
        )
    }

    /// The only value of this name.
    ///
    /// # Errors
    ///
    /// [`OAuthError::InvalidRequest`] when it is given more than once.
    pub fn get(&self, name: &str) -> Result<Option<&str>, OAuthError> {
        let mut values = self
            .0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(OAuthError::InvalidRequest(format!(
                "{name} is given more than once"
            ))),
        }
    }
}

impl fmt::Debug for OAuthParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}
