//! The addresses that stand in answers. They come from configuration, never from what a request
//! claims.

use eddyline_auth::Secret;
use eddyline_model::flows::{AccessMode, Flow};
use eddyline_model::mail::Purpose;
use eddyline_model::organizations::Organization;
use eddyline_model::{GroupId, InvitationId, MessageId, SourceId, UserId};

/// Where the server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The address of the API, without a slash at the end.
    pub base: String,
    /// The address of the stream.
    pub stream: String,
    /// The address of the pages.
    pub web: String,
}

impl Default for Addresses {
    fn default() -> Self {
        let local = "http://127.0.0.1:8080".to_owned();
        Self {
            base: local.clone(),
            stream: "http://127.0.0.1:8081".to_owned(),
            web: local,
        }
    }
}

impl Addresses {
    /// The address that the identity provider with this uid is given.
    #[must_use]
    pub fn scim(&self, uid: &str) -> String {
        format!("{}/scim/{uid}", self.base)
    }

    /// The address of a user for the identity provider with this uid.
    #[must_use]
    pub fn scim_user(&self, uid: &str, user: UserId) -> String {
        format!("{}/scim/{uid}/Users/{user}", self.base)
    }

    /// The address of a group for the identity provider with this uid.
    #[must_use]
    pub fn scim_group(&self, uid: &str, group: GroupId) -> String {
        format!("{}/scim/{uid}/Groups/{group}", self.base)
    }

    /// The API address of a flow.
    #[must_use]
    pub fn flow(&self, organization: &Organization, flow: &Flow) -> String {
        [
            &self.base,
            "/flows/",
            &organization.parameterized_name,
            "/",
            &flow.parameterized_name,
        ]
        .concat()
    }

    /// Where a flow streams.
    #[must_use]
    pub fn flow_stream(&self, organization: &Organization, flow: &Flow) -> String {
        format!(
            "{}/flows/{}/{}",
            self.stream, organization.parameterized_name, flow.parameterized_name
        )
    }

    /// The page of a flow.
    #[must_use]
    pub fn flow_page(&self, organization: &Organization, flow: &Flow) -> String {
        format!(
            "{}/app/{}/{}",
            self.web, organization.parameterized_name, flow.parameterized_name
        )
    }

    /// The page with the settings of an organization.
    #[must_use]
    pub fn organization_page(&self, organization: &Organization) -> String {
        format!(
            "{}/app/{}/settings",
            self.web, organization.parameterized_name
        )
    }

    /// The page on which an organization is deleted, and restored while it is closed.
    #[must_use]
    pub fn deletion_page(&self, organization: &Organization) -> String {
        format!("{}/deletion", self.organization_page(organization))
    }

    /// Where one joins a flow, if it can be joined by a link.
    #[must_use]
    pub fn join(&self, flow: &Flow) -> Option<String> {
        (flow.access_mode != AccessMode::Invitation).then(|| {
            format!(
                "{}/invitations/{}-{}",
                self.web, flow.join_secret, flow.parameterized_name
            )
        })
    }

    /// The API address of the invitations into a flow.
    #[must_use]
    pub fn invitations(&self, organization: &Organization, flow: &Flow) -> String {
        format!("{}/invitations", self.flow(organization, flow))
    }

    /// The API address of an invitation into a flow.
    #[must_use]
    pub fn invitation(&self, organization: &Organization, flow: &Flow, id: InvitationId) -> String {
        format!("{}/{id}", self.invitations(organization, flow))
    }

    /// The page to which a mailed link leads.
    pub(crate) fn mailed_page(&self, purpose: Purpose, secret: &Secret) -> String {
        let kind = match purpose {
            Purpose::Invitation(_) => "invitations",
            Purpose::PasswordReset(_) => "password",
            Purpose::EmailChange(_) => "email",
            Purpose::SignIn(_) => "sign-in",
            // Their mails lead to pages for those who are signed in.
            Purpose::DeletionRequest(_) | Purpose::DeletionCancel(_) => "app",
        };
        format!("{}/{kind}/{}", self.web, secret.expose())
    }

    /// The API address of a source.
    #[must_use]
    pub fn source(&self, organization: &Organization, flow: &Flow, id: SourceId) -> String {
        format!("{}/sources/{id}", self.flow(organization, flow))
    }

    /// The API address of a flow's threads.
    #[must_use]
    pub fn threads(&self, organization: &Organization, flow: &Flow) -> String {
        format!("{}/threads", self.flow(organization, flow))
    }

    /// The comments on a message.
    #[must_use]
    pub fn comments(&self, organization: &Organization, flow: &Flow, message: MessageId) -> String {
        format!(
            "{}/messages/{message}/comments",
            self.flow(organization, flow)
        )
    }

    /// The address of a user.
    #[must_use]
    pub fn user(&self, user: UserId) -> String {
        format!("{}/users/{user}", self.base)
    }

    /// The address of the caller's private conversation with a user.
    #[must_use]
    pub fn private(&self, with: UserId) -> String {
        format!("{}/private/{with}", self.base)
    }

    /// The mail address of a flow's inbox, under the host name of the pages.
    #[must_use]
    pub fn flow_email(&self, organization: &Organization, flow: &Flow) -> String {
        let host = self
            .web
            .split_once("://")
            .map_or(self.web.as_str(), |(_, rest)| rest);
        let host = host.split(['/', ':']).next().unwrap_or_default();
        format!(
            "{}@{}.{host}",
            flow.parameterized_name, organization.parameterized_name
        )
    }
}
