//! The token endpoint: codes, passwords and refresh tokens for access tokens.

use std::net::IpAddr;

use super::authorized::end_grant;
use super::records::note_grant;
use eddyline_auth::oauth::{OAuthError, TokenRequest, check_code};
use eddyline_auth::{Password, Secret};
use eddyline_model::applications::Application;
use eddyline_model::audit::{AuditAction, actor};
use eddyline_model::grants::{Grant, Refresh};
use eddyline_model::scopes::Scopes;
use eddyline_model::{ApplicationId, UserId, names};
use eddyline_storage::{Abort, GrantsOf, Result as StoreResult, Tx};
use serde_json::json;

use super::AuthenticatedClient;
use super::client::waits_for;
use super::tokens::{NewTokens, TokenGrant, Tokens};
use crate::authenticate::still_opens;
use crate::core::transaction::NoCaller;
use crate::{Error, ErrorKind, OAuth, Result};

/// How many grants of one user to one application live at once. The next ends the one that was not
/// used for longest, so that nobody can fill the database, and no list of them grows long.
const MAX_GRANTS: usize = 100;

/// The application was removed since it authenticated.
const REMOVED: OAuthError = OAuthError::InvalidClient;

/// Why an exchange gives no tokens.
#[derive(Debug)]
struct ExchangeError {
    error: Error,
    /// Whether it may have been a guess at a code or a refresh token, which is counted.
    is_guess: bool,
}

impl ExchangeError {
    fn guess(error: OAuthError) -> Self {
        Self {
            error: error.into(),
            is_guess: true,
        }
    }

    /// What the client presented is unknown, or was given to another client.
    fn unknown() -> Self {
        let why = "it is not known, or was given to another client";
        Self::guess(OAuthError::InvalidGrant(why))
    }
}

impl<E: Into<Error>> From<E> for ExchangeError {
    fn from(error: E) -> Self {
        Self {
            error: error.into(),
            is_guess: false,
        }
    }
}

/// What an exchange came to in its transaction.
type Exchanged = std::result::Result<TokenGrant, Abort<ExchangeError>>;

/// Decides against an exchange, and takes back what was written.
fn rejected(error: OAuthError) -> Abort<ExchangeError> {
    Abort::Rejected(error.into())
}

impl OAuth {
    /// Issues tokens to a client (RFC 6749, sections 4.1.3, 4.3.2, 6).
    ///
    /// A code that is used a second time ends what it gave the first time, and a refresh token
    /// whose successor was used ends its family; both have ended in every process once this
    /// answers.
    ///
    /// # Errors
    ///
    /// [`OAuthError`] as [`Error::oauth`]; [`Error::too_many_attempts`] after too many wrong
    /// secrets.
    pub async fn issue_tokens(
        &self,
        client: &AuthenticatedClient,
        request: TokenRequest,
    ) -> Result<Tokens> {
        let AuthenticatedClient {
            application,
            address,
        } = client;
        let new_tokens = NewTokens::new(&self.core.config().oauth);
        if !matches!(request, TokenRequest::Password { .. }) {
            waits_for(self.code_guard.check(*address, self.core.now()))?;
        }
        let outcome = match request {
            TokenRequest::Code {
                code,
                redirect_uri,
                verifier,
            } => {
                let presented = (redirect_uri, verifier);
                self.exchange_code(application, &code, presented, new_tokens.clone())
                    .await
            }
            TokenRequest::Password {
                username,
                password,
                scopes,
            } => {
                let person = (username.as_str(), &password, *address);
                self.exchange_password(application, person, scopes, new_tokens.clone())
                    .await
            }
            TokenRequest::Refresh { token, scopes } => {
                self.refresh(application, &token, scopes, new_tokens.clone())
                    .await
            }
        };
        match outcome {
            Ok(granted) => Ok(new_tokens.into_tokens(granted)),
            Err(ExchangeError { error, is_guess }) => {
                if is_guess {
                    self.code_guard.failed(*address, self.core.now());
                }
                Err(error)
            }
        }
    }

    async fn exchange_code(
        &self,
        application: &Application,
        code: &Secret,
        (redirect_uri, verifier): (Option<String>, Option<String>),
        new_tokens: NewTokens,
    ) -> std::result::Result<TokenGrant, ExchangeError> {
        let (hash, id) = (code.hash(), application.id);
        self.exchange(move |tx| {
            // In the order in which everybody takes them: the user, the application, the code.
            let unknown = || Abort::Rejected(ExchangeError::unknown());
            let code = tx.oauth_tokens().find_code(&hash.0)?.ok_or_else(unknown)?;
            tx.users().lock(code.user)?;
            if !tx.applications().lock_shared(id)? {
                return Err(rejected(REMOVED));
            }
            let now = tx.now();
            let code = tx
                .oauth_tokens()
                .lock_code(&hash.0)?
                .filter(|code| code.application == id)
                .ok_or_else(unknown)?;
            if let Some(grant) = code.grant {
                let ended = (code.user, id, grant);
                end_grant(tx, ended, "a used code was shown again")?;
                let why = "the code was used before; what it gave has ended";
                return Err(Abort::commit(OAuthError::InvalidGrant(why).into()));
            }
            check_code(&code, redirect_uri.as_deref(), verifier.as_deref(), now)
                .map_err(|error| Abort::Rejected(ExchangeError::guess(error)))?;
            // The place may have been taken from the application since, for good reasons.
            let application = tx.applications().find(id)?;
            if application
                .and_then(|one| one.redirect_uri(Some(&code.redirect_uri)))
                .is_none()
            {
                let why = "the application is not sent codes there any more";
                return Err(rejected(OAuthError::InvalidGrant(why)));
            }
            let share = begin(tx, code.application, (code.user, code.scopes), &new_tokens)?;
            tx.oauth_tokens().set_code_used(&hash.0, share.grant)?;
            Ok(share)
        })
        .await
    }

    async fn exchange_password(
        &self,
        application: &Application,
        (username, password, address): (&str, &Password, IpAddr),
        scopes: Scopes,
        new_tokens: NewTokens,
    ) -> std::result::Result<TokenGrant, ExchangeError> {
        const WRONG: OAuthError = OAuthError::InvalidGrant("the address or the password is wrong");
        if !(application.password_grant && self.core.config().oauth.password_grant)
            || application.public
        {
            let why = "the application may not use passwords of users";
            return Err(OAuthError::UnauthorizedClient(why).into());
        }
        let known = match self
            .authentication
            .check_password(username, password, address)
            .await
        {
            Err(error) if error.kind() == ErrorKind::Unauthenticated => return Err(WRONG.into()),
            other => other?,
        };
        let (user, checked) = (known.0.user.id, known.0.password_hash.clone());
        let (key, id) = (names::email_key(username), application.id);
        self.exchange(move |tx| {
            // As with signing in, the password must not have been changed since it was checked.
            tx.users().lock(user)?;
            if !still_opens(tx, &key, user, checked.as_deref())? {
                return Err(rejected(WRONG));
            }
            if !tx.applications().lock_shared(id)? {
                return Err(rejected(REMOVED));
            }
            tx.set_actor(actor::user(user));
            let scopes_given = json!({"scopes": scopes.to_string(), "by": "password"});
            note_grant(tx, user, id, AuditAction::GrantGive, &scopes_given)?;
            Ok(begin(tx, id, (user, scopes), &new_tokens)?)
        })
        .await
    }

    async fn refresh(
        &self,
        application: &Application,
        token: &Secret,
        wanted: Option<Scopes>,
        new_tokens: NewTokens,
    ) -> std::result::Result<TokenGrant, ExchangeError> {
        let (hash, id) = (token.hash(), application.id);
        self.exchange(move |tx| {
            let unknown = || Abort::Rejected(ExchangeError::unknown());
            let found = tx.oauth_tokens().find_refresh(&hash.0)?;
            let (token, grant) = found
                .filter(|(_, grant)| grant.application == id)
                .ok_or_else(unknown)?;
            // Which token is the present one is only known while nobody else can replace it.
            let grant = tx.grants().lock(grant.id)?.ok_or_else(unknown)?;
            let now = tx.now();
            match token.presented(grant.generation, now) {
                Refresh::Rotate => rotate(tx, &grant, wanted, &new_tokens),
                Refresh::Refuse => {
                    let why = "the refresh token was replaced";
                    Err(rejected(OAuthError::InvalidGrant(why)))
                }
                Refresh::Expired => {
                    let why = "the refresh token has ended";
                    Err(rejected(OAuthError::InvalidGrant(why)))
                }
                Refresh::EndFamily => {
                    let ended = (grant.user, id, grant.id);
                    end_grant(tx, ended, "a replaced refresh token was shown")?;
                    let why = "the refresh token was replaced, and its successor used; all tokens have ended";
                    Err(Abort::commit(OAuthError::InvalidGrant(why).into()))
                }
            }
        })
        .await
    }

    /// Runs an exchange, and waits until everybody knows what it ended: a grant that made room for
    /// the new one, or, when it was refused, the grant of a code or token that was shown again,
    /// maybe not for the first time.
    async fn exchange(
        &self,
        work: impl FnMut(&mut Tx<'_>) -> Exchanged + Send + 'static,
    ) -> std::result::Result<TokenGrant, ExchangeError> {
        let store = self.core.store();
        let (error, event) = match store.transaction(NoCaller::OAuthClient, work).await {
            Ok((granted, event)) => {
                self.core.wait_until_applied(event).await;
                return Ok(granted);
            }
            Err(Abort::Store(error)) => return Err(error.into()),
            Err(Abort::Rejected(error)) => (error, None),
            Err(Abort::Commit { reason, event }) => (reason, event),
        };
        self.core.wait_until_end_applied(event).await?;
        Err(error)
    }
}

/// Begins a grant; its user is locked.
fn begin(
    tx: &mut Tx<'_>,
    application: ApplicationId,
    (user, scopes): (UserId, Scopes),
    new_tokens: &NewTokens,
) -> StoreResult<TokenGrant> {
    let mut others = tx.grants().list(GrantsOf::UserAt(user, application))?;
    others.sort_by_key(|grant| (grant.used_at, grant.id));
    for Grant { id, .. } in others
        .iter()
        .take((others.len() + 1).saturating_sub(MAX_GRANTS))
    {
        end_grant(tx, (user, application, *id), "it made room for another one")?;
    }
    let now = tx.now();
    let grant = tx.grants().insert(application, user, scopes, now)?;
    let share = TokenGrant {
        grant,
        granted: scopes,
        scopes,
        generation: 0,
    };
    new_tokens.issue(tx, share)?;
    Ok(share)
}

fn rotate(
    tx: &mut Tx<'_>,
    grant: &Grant,
    wanted: Option<Scopes>,
    new_tokens: &NewTokens,
) -> Exchanged {
    let scopes = wanted
        .filter(|scopes| !scopes.is_empty())
        .unwrap_or(grant.scopes);
    if !scopes.is_within(grant.scopes) {
        return Err(rejected(OAuthError::SCOPE));
    }
    let (now, generation) = (tx.now(), grant.generation + 1);
    tx.grants().advance(grant.id, generation, now)?;
    let share = TokenGrant {
        grant: grant.id,
        granted: grant.scopes,
        scopes,
        generation,
    };
    new_tokens.issue(tx, share)?;
    Ok(share)
}
