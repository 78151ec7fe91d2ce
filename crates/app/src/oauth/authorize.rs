//! The consent: what an application asks a user for, and the code that it gets.

use super::records::note_grant;
use eddyline_auth::Secret;
use eddyline_auth::oauth::{
    AuthorizationError, AuthorizationParameters, AuthorizationRequest, callback,
};
use eddyline_model::Timestamp;
use eddyline_model::applications::{Application, RedirectUri};
use eddyline_model::audit::AuditAction;
use eddyline_model::grants::AuthorizationCode;
use serde_json::json;

use crate::actor::Actor;
use crate::{Error, OAuth, Result};

/// An application that asks for something, as the consent page shows it.
#[derive(Clone, Debug)]
pub struct AuthorizationPrompt {
    /// The application.
    pub application: Application,
    /// The name of the organization whose application it is.
    pub organization_name: String,
    /// What it asks for.
    pub request: AuthorizationRequest,
}

/// Why there is nothing to consent to.
#[derive(Debug, thiserror::Error)]
pub enum AuthorizeError {
    /// It cannot be told where the user should be sent back to; the user is told this.
    #[error("{0}")]
    Tell(&'static str),
    /// The user is to be sent back, and the application told what is wrong.
    #[error("the application asked for something wrong")]
    SendBack {
        /// The application's address.
        redirect_uri: RedirectUri,
        /// The same with what is wrong: where the browser goes.
        address: String,
    },
    /// The application takes codes out of band, so that what is wrong is told to the user.
    #[error("{0}")]
    TellOutOfBand(String),
    /// Anything else.
    #[error(transparent)]
    App(#[from] Error),
}

impl OAuth {
    /// What an authorization request asks for.
    ///
    /// # Errors
    ///
    /// As [`AuthorizeError`] says.
    pub async fn authorization_prompt(
        &self,
        parameters: &AuthorizationParameters,
    ) -> std::result::Result<AuthorizationPrompt, AuthorizeError> {
        let client_id = parameters
            .client_id()
            .map_err(|error| self.asking_failure(error))?
            .to_owned();
        let found = self.core.store().read(move |reader| {
            let Some((application, _)) = reader.applications().find_by_client_id(&client_id)?
            else {
                return Ok(None);
            };
            let organization = reader.organizations().find(application.organization)?;
            Ok(organization.map(|organization| (application, organization.name)))
        });
        let Some((mut application, organization_name)) = found.await.map_err(Error::from)? else {
            return Err(AuthorizeError::Tell("There is no such application."));
        };
        application.out_of_band &= self.core.config().oauth.out_of_band;
        let request = parameters
            .check(&application)
            .map_err(|error| self.asking_failure(error))?;
        Ok(AuthorizationPrompt {
            application,
            organization_name,
            request,
        })
    }

    fn asking_failure(&self, error: AuthorizationError) -> AuthorizeError {
        match error {
            AuthorizationError::Tell(text) => AuthorizeError::Tell(text),
            AuthorizationError::SendBack {
                redirect_uri,
                error,
                ..
            } if redirect_uri.is_out_of_band() => AuthorizeError::TellOutOfBand(error.to_string()),
            AuthorizationError::SendBack {
                redirect_uri,
                state,
                error,
            } => {
                let description = error.to_string();
                let answer = [
                    ("error", error.code()),
                    ("error_description", description.as_str()),
                ];
                let address = callback(&redirect_uri, &answer, state.as_deref(), self.issuer());
                AuthorizeError::SendBack {
                    redirect_uri,
                    address,
                }
            }
        }
    }

    /// Consents for the caller, and gives the code by which the application gets its tokens.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the application is gone, [`Error::unauthenticated`] when what the
    /// caller has shown ended meanwhile.
    pub async fn consent(&self, actor: &Actor, asked: &AuthorizationPrompt) -> Result<Secret> {
        let code = Secret::generate_long();
        let (hash, id) = (code.hash(), asked.application.id);
        let code_millis = self.core.config().oauth.code_millis;
        let user = actor.user()?.user.id;
        let record = AuthorizationCode {
            application: id,
            user,
            scopes: asked.request.scopes,
            redirect_uri: asked.request.redirect_uri.to_string(),
            redirect_named: asked.request.redirect_named,
            challenge: asked
                .request
                .challenge
                .as_ref()
                .map(|challenge| challenge.as_str().to_owned()),
            expires_at: Timestamp(0),
            grant: None,
        };
        self.core
            .transaction_as(actor, move |tx, _| {
                // A transaction that ends all that was allowed locks the user too, and no code must
                // come after that.
                tx.users().lock(user)?;
                if !tx.applications().lock_shared(id)? {
                    return Err(Error::not_found().into());
                }
                let expires_at = tx.now().plus_millis(code_millis);
                let scopes = json!({"scopes": record.scopes.to_string()});
                note_grant(tx, user, id, AuditAction::GrantGive, &scopes)?;
                Ok(tx.oauth_tokens().insert_code(
                    &hash.0,
                    &AuthorizationCode {
                        expires_at,
                        ..record.clone()
                    },
                )?)
            })
            .await?;
        Ok(code)
    }

    /// Where the browser goes with a code; `None` when the code is to be shown to the user.
    #[must_use]
    pub fn accepted_at(&self, asked: &AuthorizationPrompt, code: &Secret) -> Option<String> {
        let request = &asked.request;
        (!request.redirect_uri.is_out_of_band()).then(|| {
            callback(
                &request.redirect_uri,
                &[("code", code.expose())],
                request.state.as_deref(),
                self.issuer(),
            )
        })
    }

    /// Where the browser goes when the user says no; `None` when there is nowhere to go.
    #[must_use]
    pub fn denied_at(&self, asked: &AuthorizationPrompt) -> Option<String> {
        let request = &asked.request;
        let answer = [
            ("error", "access_denied"),
            ("error_description", "the user said no"),
        ];
        (!request.redirect_uri.is_out_of_band()).then(|| {
            callback(
                &request.redirect_uri,
                &answer,
                request.state.as_deref(),
                self.issuer(),
            )
        })
    }

    /// The application that waits for this code, which the caller is to copy to it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for a code that is another user's, was used, has expired, or was sent
    /// elsewhere.
    pub async fn shown_code(&self, actor: &Actor, code: &Secret) -> Result<Application> {
        let (hash, user, now) = (code.hash(), actor.user()?.user.id, self.core.now());
        let found = self.core.store().read(move |reader| {
            let code = reader.oauth_tokens().find_code(&hash.0)?.filter(|code| {
                let shown = code.redirect_uri == eddyline_model::applications::OUT_OF_BAND;
                code.user == user && code.grant.is_none() && code.expires_at > now && shown
            });
            code.map_or(Ok(None), |code| {
                reader.applications().find(code.application)
            })
        });
        found.await?.ok_or_else(Error::not_found)
    }

    /// Who issues codes and tokens (RFC 8414, section 2; RFC 9207).
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.core.config().addresses.base
    }
}
