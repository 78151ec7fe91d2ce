//! The error of a use case.

mod from;
mod kind;
mod make;

use std::borrow::Cow;
use std::fmt;

use eddyline_auth::oauth::OAuthError;
use eddyline_model::scopes::Scopes;
use eddyline_scim::ScimType;
pub use eddyline_wire::FieldErrors;

pub use self::kind::ErrorKind;
use crate::limit::Limit;

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a use case failed: a [kind](ErrorKind), which decides the status of the answer, and the
/// texts and limits that belong to it.
///
/// `Display` is for logs and operators. It ends with the [text](Error::log_text) that callers must
/// not see, so that answers are made of [`Error::message`] instead.
///
/// ```
/// use eddyline_app::{Error, ErrorKind};
///
/// let error = Error::unavailable("the database does not answer");
/// assert_eq!(error.kind(), ErrorKind::Unavailable);
/// assert_eq!(error.message(), None);
/// assert_eq!(error.to_string(), "the service is unavailable: the database does not answer");
/// ```
#[derive(Debug)]
pub struct Error(Repr);

/// Most errors have nothing but their kind, and allocate nothing.
#[derive(Debug)]
enum Repr {
    Kind(ErrorKind),
    Detailed(Box<Details>),
}

#[derive(Debug)]
struct Details {
    kind: ErrorKind,
    message: Option<Cow<'static, str>>,
    log_text: Option<Cow<'static, str>>,
    fields: FieldErrors,
    retry_after: Option<u64>,
    limit: Option<Limit>,
    data: Option<Data>,
}

/// What errors of some kinds have beside the rest.
#[derive(Debug)]
enum Data {
    MissingScopes(Scopes),
    Integration(IntegrationFailed),
    Scim(ScimType),
    OAuth(OAuthError),
}

/// Why an integration did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrationFailed {
    /// What happened, in a sentence for the user.
    pub message: String,
    /// The status of its answer, if it gave one.
    pub status: Option<u16>,
    /// Where the user has to sign in first, if it says so. The address may let its holder act for
    /// the user, so no other user may see it.
    pub authentication_url: Option<String>,
}

impl IntegrationFailed {
    /// It gave no answer that could be read, or was not asked.
    pub(crate) fn unasked(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            status: None,
            authentication_url: None,
        }
    }
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Repr::Kind(kind) => *kind,
            Repr::Detailed(details) => details.kind,
        }
    }

    /// What is wrong, in a sentence for the caller. `None` where the kind says it all.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        let details = self.details()?;
        match &details.data {
            Some(Data::Integration(failed)) => Some(&failed.message),
            _ => details.message.as_deref(),
        }
    }

    /// Why, for the log only: what callers must not see, such as texts of the database.
    #[must_use]
    pub fn log_text(&self) -> Option<&str> {
        self.details()?.log_text.as_deref()
    }

    /// What is wrong with each field of the request. Empty where no field is to blame.
    #[must_use]
    pub fn fields(&self) -> &FieldErrors {
        static NONE: FieldErrors = FieldErrors::new();
        self.details().map_or(&NONE, |details| &details.fields)
    }

    /// [`Error::fields`] by value, so that a form keeps them without a copy.
    #[must_use]
    pub fn into_fields(self) -> FieldErrors {
        match self.0 {
            Repr::Kind(_) => FieldErrors::new(),
            Repr::Detailed(details) => details.fields,
        }
    }

    /// The seconds after which another try may succeed.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        self.details()?.retry_after
    }

    /// The bound for which the request was refused.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        self.details()?.limit
    }

    /// The scopes of which an access token needs one, for [`ErrorKind::MissingScope`].
    #[must_use]
    pub fn missing_scopes(&self) -> Option<Scopes> {
        match self.data()? {
            Data::MissingScopes(scopes) => Some(*scopes),
            _ => None,
        }
    }

    /// What became of the request to an integration, for [`ErrorKind::Integration`].
    #[must_use]
    pub fn integration(&self) -> Option<&IntegrationFailed> {
        match self.data()? {
            Data::Integration(failed) => Some(failed),
            _ => None,
        }
    }

    /// What SCIM calls the error (RFC 7644, section 3.12), where it has a name for it.
    #[must_use]
    pub fn scim_type(&self) -> Option<ScimType> {
        match self.data()? {
            Data::Scim(scim_type) => Some(*scim_type),
            _ => None,
        }
    }

    /// What OAuth calls the error (RFC 6749, section 5.2), for requests of clients.
    #[must_use]
    pub fn oauth(&self) -> Option<&OAuthError> {
        match self.data()? {
            Data::OAuth(error) => Some(error),
            _ => None,
        }
    }

    fn details(&self) -> Option<&Details> {
        match &self.0 {
            Repr::Kind(_) => None,
            Repr::Detailed(details) => Some(details),
        }
    }

    fn data(&self) -> Option<&Data> {
        self.details()?.data.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(message) => f.write_str(message)?,
            None if self.fields().is_empty() => self.kind().fmt(f)?,
            None => {
                for (place, (name, texts)) in self.fields().iter().enumerate() {
                    let separator = if place == 0 { "" } else { "; " };
                    write!(f, "{separator}{name} {}", texts.join(", "))?;
                }
            }
        }
        match self.log_text() {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// The kind of the error that a use case gave, for tests.
#[cfg(test)]
pub(crate) fn kind_of<T>(outcome: &Result<T>) -> Option<ErrorKind> {
    outcome.as_ref().err().map(Error::kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_small_and_most_take_no_memory() {
        assert!(size_of::<Error>() <= 16);
        assert!(matches!(Error::not_found().0, Repr::Kind(_)));
        assert!(matches!(Error::denied().0, Repr::Kind(_)));
    }

    #[test]
    fn what_is_for_the_log_is_not_in_the_message() {
        let error = Error::internal("relation \"users\" is missing");
        assert_eq!(
            (error.message(), error.log_text()),
            (None, Some("relation \"users\" is missing"))
        );
        assert_eq!(
            error.to_string(),
            "internal error: relation \"users\" is missing"
        );
    }

    #[test]
    fn an_error_of_fields_names_them() {
        let mut fields = FieldErrors::from([("name".to_owned(), vec!["is required".to_owned()])]);
        fields.insert(
            "nick".to_owned(),
            vec!["is taken".to_owned(), "is short".to_owned()],
        );
        let error = Error::invalid_fields(fields.clone());
        assert_eq!(
            error.to_string(),
            "name is required; nick is taken, is short"
        );
        assert_eq!(error.into_fields(), fields);
    }

    #[test]
    fn a_message_of_its_own_takes_the_place_of_the_kind() {
        let error = Error::denied().with_message("The token is not valid");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert_eq!(error.to_string(), "The token is not valid");
        assert_eq!(Error::denied().to_string(), "access denied");
    }

    #[test]
    fn each_kind_has_only_its_own_data() {
        let failed = IntegrationFailed::unasked("The integration could not be reached");
        let error = Error::from(failed.clone());
        assert_eq!(error.integration(), Some(&failed));
        assert_eq!(error.message(), Some(failed.message.as_str()));
        assert!(error.missing_scopes().is_none() && error.scim_type().is_none());
        let error = Error::missing_scope(Scopes::DEFAULT);
        assert_eq!(error.missing_scopes(), Some(Scopes::DEFAULT));
        assert!(error.integration().is_none() && error.oauth().is_none());
    }
}
