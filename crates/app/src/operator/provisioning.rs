//! Letting an identity provider in, and telling it of users.

use eddyline_auth::Secret;
use eddyline_model::audit::AuditAction;
use eddyline_model::identities::Identity;
use eddyline_model::names::{Email, email_key};
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::Tx;
use serde_json::json;

use super::users::unproved;
use super::{OPERATOR, find_organization};
use crate::audit::note;
use crate::core::Core;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::offboarding::unlink_scim_identity;
use crate::organizations::provider::{NewToken, connect, disconnect, find};
use crate::organizations::{ExpectedToken, ScimDetails};
use crate::{Error, ErrorKind, Result};

/// How an operator lets identity providers in. See [`crate::App::provisioning`].
#[derive(Clone)]
pub struct Provisioning {
    core: Core,
}

crate::core::opaque_debug!(Provisioning);

impl Provisioning {
    pub(crate) fn new(core: Core) -> Self {
        Self { core }
    }

    /// Lets an identity provider make and change the users of an organization, and gives the uid in
    /// its addresses, its address and its token, which is shown only now. Where one is let in
    /// already, `rotate` gives it another token; the one before is refused once this answers, and
    /// the uid stays.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization, [`Error::conflict`] where one is let in
    /// already and its token is not to be replaced.
    pub async fn enable(
        &self,
        organization: &str,
        rotate: bool,
    ) -> Result<(String, String, Secret)> {
        let (name, token) = (organization.to_owned(), NewToken::generate());
        let stored = token.stored();
        let expected = match rotate {
            true => ExpectedToken::Any,
            false => ExpectedToken::None,
        };
        let work = move |tx: &mut Tx<'_>| {
            let organization = find_organization(tx, &name)?;
            tx.organizations().lock(organization)?;
            connect(tx, organization, expected, &stored, (OPERATOR, None))
        };
        let done = self.core.transaction(NoCaller::Operator, work).await;
        let (uid, _) = done.map_err(|error| match error.kind() {
            ErrorKind::Conflict => Error::conflict(
                "an identity provider is let in already; --rotate gives it another token, and the present one \
                 is refused then",
            ),
            _ => error,
        })?;
        let url = self.core.config().addresses.scim(&uid);
        Ok((uid, url, token.secret))
    }

    /// What is known of the identity provider of an organization; `None` if there never was one.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn get(&self, organization: &str) -> Result<Option<ScimDetails>> {
        let name = organization.to_owned();
        let addresses = self.core.config().addresses.clone();
        self.core
            .read(move |reader| {
                let organization = find_organization(reader, &name)?;
                Ok(find(reader, organization, &addresses)?)
            })
            .await
    }

    /// Lets the identity provider of an organization in no longer: its token is refused once this
    /// answers. The users stay as they are, also linked to the provider, which sees them again when
    /// it is let in again.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization, [`Error::conflict`] where no provider is
    /// let in.
    pub async fn disable(&self, organization: &str) -> Result<String> {
        let name = organization.to_owned();
        let work = move |tx: &mut Tx<'_>| {
            let organization = find_organization(tx, &name)?;
            tx.organizations().lock(organization)?;
            disconnect(tx, organization, OPERATOR)
        };
        let (uid, _) = self.core.transaction(NoCaller::Operator, work).await?;
        Ok(uid)
    }

    /// Tells the identity provider of an organization of a user there, whose address becomes the
    /// `userName`. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or user in it, [`Error::conflict`] for a
    /// bot, for somebody whom the provider of another organization knows, and where there is no
    /// provider.
    pub async fn link_identity(&self, organization: &str, email: &Email) -> Result<UserId> {
        let (name, email) = (organization.to_owned(), email.clone());
        let (user, _) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let organization = find_organization(tx, &name)?;
                tx.organizations().lock(organization)?;
                if tx.identities().find_provider_of_organization(organization)?.is_none() {
                    let text =
                        "the organization has no identity provider; let one in first with `scim enable`";
                    return Err(Error::conflict(text).into());
                }
                let account = tx.users().find_account_by_email(&email.key())?;
                let account = account.ok_or_else(Error::not_found)?;
                tx.users().lock(account.user.id)?;
                let (user, _) = tx
                    .organization_members()
                    .find_user(organization, account.user.id)?
                    .ok_or_else(Error::not_found)?;
                if !user.email_proved {
                    return Err(unproved().into());
                }
                if user.bot {
                    return Err(Error::conflict("identity providers do not see bots").into());
                }
                let known = tx.identities().find(user.id)?;
                if known.as_ref().is_some_and(|known| known.removed_at.is_none()) {
                    return match known.is_some_and(|known| known.organization == organization) {
                        true => Ok(user.id),
                        false => Err(Error::conflict("another provider knows this user").into()),
                    };
                }
                link(tx, organization, user.id, &user.email)?;
                Ok(user.id)
            })
            .await?;
        Ok(user)
    }

    /// Unlinks a user from the identity provider of an organization: the provider neither sees nor
    /// changes the user any more. The account and its memberships stay; memberships that the
    /// provider has suspended end. The provider links the account again by creating the user, as
    /// after a removal.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization or user, or when the provider does not
    /// know the user.
    pub async fn unlink_identity(&self, organization: &str, email: &Email) -> Result<UserId> {
        let (name, key) = (organization.to_owned(), email.key());
        let work = move |tx: &mut Tx<'_>| {
            let organization = find_organization(tx, &name)?;
            let user = tx
                .users()
                .find_account_by_email(&key)?
                .ok_or_else(Error::not_found)?
                .user
                .id;
            tx.users().lock(user)?;
            match unlink_scim_identity(
                tx,
                &[organization],
                user,
                (OPERATOR, AuditAction::UserUnlink),
            )? {
                true => Ok(user),
                false => Err(Error::not_found().into()),
            }
        };
        let (user, _) = self.core.transaction(NoCaller::Operator, work).await?;
        Ok(user)
    }
}

/// Notes that the provider knows a user by an address.
fn link(tx: &mut Tx<'_>, organization: OrganizationId, user: UserId, email: &str) -> TxResult<()> {
    match tx
        .identities()
        .find_by_subject(organization, &email_key(email))?
    {
        Some(other) if other.user != user && other.removed_at.is_none() => {
            let text = "the provider knows somebody else by this address";
            return Err(Error::conflict(text).into());
        }
        Some(other) => {
            tx.users().lock(other.user)?;
            tx.identities().delete(other.user)?;
        }
        None => {}
    }
    // One that a provider gave up.
    tx.identities().delete(user)?;
    let now = tx.now();
    tx.identities().insert(&Identity {
        user,
        organization,
        subject: email.to_owned(),
        external_id: None,
        version: 1,
        created_at: now,
        updated_at: now,
        stated_email: None,
        suspended_at: None,
        removed_at: None,
    })?;
    note(
        tx,
        organization,
        (OPERATOR, AuditAction::UserLink),
        Some(user),
        &json!({"userName": email}),
    )?;
    Ok(())
}
