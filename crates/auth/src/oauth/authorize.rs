//! What an application asks a user for (RFC 6749, section 4.1.1), and how it gets the answer.

use eddyline_model::applications::{Application, RedirectUri, with_query};
use eddyline_model::scopes::Scopes;

use super::error::OAuthError;
use super::parameters::OAuthParameters;
use super::pkce::Challenge;

/// The longest `state`, in bytes: it comes back in an address.
const MAX_STATE: usize = 2000;

/// The parameters of an authorization request.
#[derive(Clone, Debug)]
pub struct AuthorizationParameters(OAuthParameters);

/// A request that can be put before the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest {
    /// Where the answer goes.
    pub redirect_uri: RedirectUri,
    /// Whether the request named that place.
    pub redirect_named: bool,
    /// What is asked for.
    pub scopes: Scopes,
    /// What comes back unchanged with the answer.
    pub state: Option<String>,
    /// The PKCE challenge.
    pub challenge: Option<Challenge>,
}

/// What is wrong with an authorization request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizationError {
    /// It cannot be told where the user should be sent back to, so the user is told (RFC 6749,
    /// section 4.1.2.1).
    Tell(&'static str),
    /// The application is told, at an address that is its own.
    SendBack {
        /// The address.
        redirect_uri: RedirectUri,
        /// What comes back unchanged.
        state: Option<String>,
        /// What is wrong.
        error: OAuthError,
    },
}

impl AuthorizationParameters {
    /// Takes the parameters as they came.
    #[must_use]
    pub fn new(parameters: OAuthParameters) -> Self {
        Self(parameters)
    }

    /// Which client asks.
    ///
    /// # Errors
    ///
    /// [`AuthorizationError::Tell`].
    pub fn client_id(&self) -> Result<&str, AuthorizationError> {
        match self.0.get("client_id") {
            Ok(Some(client_id)) => Ok(client_id),
            Ok(None) => Err(AuthorizationError::Tell(
                "The address does not say which application it is for.",
            )),
            Err(_) => Err(AuthorizationError::Tell(
                "The address names more than one application.",
            )),
        }
    }

    /// Judges the request of the application that it names.
    ///
    /// # Errors
    ///
    /// [`AuthorizationError`].
    pub fn check(
        &self,
        application: &Application,
    ) -> Result<AuthorizationRequest, AuthorizationError> {
        let Ok(named) = self.0.get("redirect_uri") else {
            return Err(AuthorizationError::Tell(
                "The address names more than one place to come back to.",
            ));
        };
        let Some(redirect_uri) = application.redirect_uri(named) else {
            return Err(AuthorizationError::Tell(match named {
                Some(_) => {
                    "The application asks to send you to a place that is not registered for it."
                }
                None => "The application does not say where to send you back to.",
            }));
        };
        // Of two states none is sent back.
        let state = self
            .0
            .get("state")
            .ok()
            .flatten()
            .filter(|state| state.len() <= MAX_STATE);
        let state = state.map(str::to_owned);
        match self.rest(application) {
            Ok((scopes, challenge)) => {
                let redirect_named = named.is_some();
                Ok(AuthorizationRequest {
                    redirect_uri,
                    redirect_named,
                    scopes,
                    state,
                    challenge,
                })
            }
            Err(error) => Err(AuthorizationError::SendBack {
                redirect_uri,
                state,
                error,
            }),
        }
    }

    /// What is asked for, once it is known where to say that something is wrong with it.
    fn rest(&self, application: &Application) -> Result<(Scopes, Option<Challenge>), OAuthError> {
        if self
            .0
            .get("state")?
            .is_some_and(|state| state.len() > MAX_STATE)
        {
            return Err(invalid_request(format!(
                "state is too long (maximum is {MAX_STATE} characters)"
            )));
        }
        match self.0.get("response_type")? {
            Some("code") => {}
            None => return Err(OAuthError::missing("response_type")),
            Some(_) => return Err(OAuthError::UnsupportedResponseType),
        }
        // Only what would be answered otherwise is refused; in all else, what is not known is
        // ignored.
        match self.0.get("response_mode")? {
            None | Some("query") => {}
            Some(_) => return Err(invalid_request("response_mode must be query")),
        }
        let (scopes, challenge) = (self.scopes()?, self.challenge()?);
        if challenge.is_none() && application.public {
            let why = "code_challenge is missing, which applications without a secret need";
            return Err(invalid_request(why));
        }
        Ok((scopes, challenge))
    }

    fn scopes(&self) -> Result<Scopes, OAuthError> {
        let text = self.0.get("scope")?.unwrap_or_default();
        let scopes = text
            .parse::<Scopes>()
            .map_err(|unknown| OAuthError::InvalidScope(unknown.to_string().into()))?;
        Ok(if scopes.is_empty() {
            Scopes::DEFAULT
        } else {
            scopes
        })
    }

    fn challenge(&self) -> Result<Option<Challenge>, OAuthError> {
        let method = self.0.get("code_challenge_method")?;
        match (self.0.get("code_challenge")?, method) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(OAuthError::missing("code_challenge")),
            (Some(text), Some("S256")) => Challenge::parse(text)
                .map(Some)
                .ok_or_else(|| invalid_request("code_challenge is not one of the method S256")),
            // Without a method, `plain` is meant (RFC 7636, section 4.3).
            (Some(_), _) => Err(invalid_request("code_challenge_method must be S256")),
        }
    }
}

fn invalid_request(text: impl Into<String>) -> OAuthError {
    OAuthError::InvalidRequest(text.into())
}

/// Where the user is sent with an answer: these parameters, the state, and who answers (RFC 9207),
/// so that a client of several servers cannot mistake one for another.
#[must_use]
pub fn callback(
    redirect_uri: &RedirectUri,
    answer: &[(&str, &str)],
    state: Option<&str>,
    issuer: &str,
) -> String {
    let mut parameters = answer.to_vec();
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", issuer));
    with_query(redirect_uri.as_str(), &parameters)
}

#[cfg(test)]
mod tests;
