//! What can go wrong with a request.

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address can never be asked, as the text says.
    #[error("the address {0}")]
    BadUrl(&'static str),
    /// The host is, or has among its addresses, one that is not public. It was not connected to.
    #[error("the address belongs to a network that is not public")]
    ForbiddenAddress,
    /// There was no whole answer in time.
    #[error("there was no answer in time")]
    Timeout,
    /// The host is unknown, does not take the connection, or cannot prove who it is.
    #[error("the host cannot be connected to")]
    Connect(#[source] Cause),
    /// The body of the answer is larger than allowed.
    #[error("the answer is too large")]
    TooLarge,
    /// The answer is not HTTP, or ended early.
    #[error("the answer cannot be read")]
    Broken(#[source] Cause),
}

impl Error {
    pub(crate) fn connect(source: impl Into<Cause>) -> Self {
        Self::Connect(source.into())
    }

    pub(crate) fn broken(source: impl Into<Cause>) -> Self {
        Self::Broken(source.into())
    }
}
