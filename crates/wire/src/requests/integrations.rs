//! Sources.

use eddyline_model::sources::{MAX_ERROR_CHARS, MAX_NAME_CHARS};

use crate::request;
use crate::request::{address, text};

request! {
    /// A new source.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CreateSource {
        /// The source's name.
        name: String = text(1..=MAX_NAME_CHARS),
        /// Where what it mirrors is to be found.
        external_url: Option<String> = address(),
    }
}

request! {
    /// Changes of a source; what is `None` stays as it is.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UpdateSource {
        /// A new name.
        name: Option<String> = text(1..=MAX_NAME_CHARS),
        /// Where what it mirrors is to be found.
        external_url: Option<String> = address(),
        /// Where it is configured, if not where its application says.
        configuration_url: Option<String> = address(),
        /// What is wrong with it; an empty text takes it away.
        error_message: Option<String> = text(0..=MAX_ERROR_CHARS),
    }
}
