//! What an operator makes that has a secret: links to sign in, applications and sources.

use eddyline_auth::Secret;
use eddyline_model::applications::Application;
use eddyline_model::names::Email;
use eddyline_wire::Source;

use crate::oauth::NewApplication;
use crate::sources::NewSource;
use crate::{Operator, Result};

impl Operator {
    /// Makes the address of a page that signs a user in, once, within
    /// [`SIGN_IN_MINUTES`](eddyline_model::mail::SIGN_IN_MINUTES). Links that were made before end.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`](crate::Error::not_found) when no account has this address.
    pub async fn create_sign_in_link(&self, email: &Email) -> Result<String> {
        self.accounts.create_sign_in_link(email).await
    }

    /// Registers an application for an organization, named by its name in URLs, and gives its
    /// secret, unless it is one that has none. The secret is told here only.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`](crate::Error::not_found) without such an organization,
    /// [`Error::invalid`](crate::Error::invalid).
    pub async fn create_application(
        &self,
        organization: &str,
        new: NewApplication,
    ) -> Result<(Application, Option<Secret>)> {
        self.oauth.create_application(organization, new).await
    }

    /// Makes a source for an operator, and gives it with its token.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`](crate::Error::not_found) without such a flow or application, which is
    /// named by its number or its `client_id`; [`Error::invalid`](crate::Error::invalid),
    /// [`Error::conflict`](crate::Error::conflict) when the flow has too many.
    pub async fn create_source(
        &self,
        organization: &str,
        flow: &str,
        application: &str,
        new: NewSource,
    ) -> Result<Source> {
        self.sources
            .create_by_operator(organization, flow, application, new)
            .await
    }
}
