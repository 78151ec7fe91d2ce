//! Applications that register themselves.

use crate::request;
use crate::request::{Registration, registration};

request! {
    /// A new application, as clients of the original service register it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RegisterApplication {
        /// name, and redirect_uri: one or more addresses, one on each line.
        application: Registration = registration(),
    }
}
