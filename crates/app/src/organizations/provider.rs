//! The identity provider of an organization: connecting and disconnecting one. Administrators do that
//! on the pages, operators from the command line.

use eddyline_auth::{Secret, TokenHash};
use eddyline_model::audit::AuditAction;
use eddyline_model::policy::{self, OrganizationAction, ProviderChange};
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use serde_json::json;

use super::Organizations;
use crate::accounts::Confirmation;
use crate::actor::Actor;
use crate::addresses::Addresses;
use crate::audit::note;
use crate::core::transaction::TxResult;
use crate::{Error, Result};

/// What is known of the identity provider of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScimDetails {
    /// What its addresses name the organization by.
    pub uid: String,
    /// The address that it is given.
    pub url: String,
    /// Whether it is let in.
    pub enabled: bool,
    /// When it was let in first.
    pub created_at: Timestamp,
    /// When its token was last replaced or taken away.
    pub rotated_at: Timestamp,
    /// When its present token was last used, within an hour. `None` before.
    pub used_at: Option<Timestamp>,
    /// The user who made its present token, with the full name. `None` where an operator did.
    pub made_by: Option<(UserId, String)>,
    /// How many users it sees.
    pub users: i64,
    /// The domains of the organization, within which the addresses that it states count as proved.
    pub domains: Vec<String>,
}

/// Which token must be there for a new one to take its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedToken {
    /// None: no provider is let in.
    None,
    /// That of a provider who is let in.
    Present,
    /// That of a provider who is let in, if there is one.
    Any,
}

/// What is known of the identity provider of an organization; `None` if there never was one.
pub(crate) fn find(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
    addresses: &Addresses,
) -> StoreResult<Option<ScimDetails>> {
    let Some(known) = reader.identities().find_provider_details(organization)? else {
        return Ok(None);
    };
    let made_by = match known.made_by {
        Some(user) => reader.users().find(user)?,
        None => None,
    };
    Ok(Some(ScimDetails {
        made_by: made_by.map(|user| (user.id, user.name)),
        url: addresses.scim(&known.uid),
        uid: known.uid,
        enabled: known.enabled,
        created_at: known.created_at,
        rotated_at: known.rotated_at,
        used_at: known.used_at,
        users: known.users,
        domains: reader.organizations().list_domains(organization)?,
    }))
}

/// A token for a provider, and a uid for one that has none yet.
pub(crate) struct NewToken {
    pub(crate) secret: Secret,
    uid: String,
}

impl NewToken {
    pub(crate) fn generate() -> Self {
        Self {
            secret: Secret::generate_long(),
            uid: Secret::generate_hex::<10>().expose().to_owned(),
        }
    }

    /// What [`connect`] stores of it.
    pub(crate) fn stored(&self) -> (String, TokenHash) {
        (self.uid.clone(), self.secret.hash())
    }
}

/// Lets an identity provider into an organization with this token, and records that `actor` did,
/// who is `user` unless an operator. One that was there before keeps its uid. Gives the uid. The
/// caller holds the organization.
///
/// # Errors
///
/// [`Error::conflict`] when another token than the one that is to be replaced holds, or none.
pub(crate) fn connect(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    expected: ExpectedToken,
    (uid, token): &(String, TokenHash),
    (actor, user): (&str, Option<UserId>),
) -> TxResult<String> {
    let known = tx.identities().find_provider_details(organization)?;
    let has_token = known.as_ref().is_some_and(|known| known.enabled);
    match (expected, has_token) {
        (ExpectedToken::None, true) => {
            return Err(Error::conflict("an identity provider is let in already").into());
        }
        (ExpectedToken::Present, false) => return Err(none().into()),
        _ => {}
    }
    let action = if has_token {
        AuditAction::ScimRotate
    } else {
        AuditAction::ScimEnable
    };
    let uid = known.map_or_else(|| uid.clone(), |provider| provider.uid);
    let now = tx.now();
    tx.identities()
        .upsert_provider(organization, &uid, &token.0, user, now)?;
    let detail = json!({"uid": uid});
    note(tx, organization, (actor, action), None, &detail)?;
    Ok(uid)
}

/// Lets the identity provider of an organization in no longer, and records that `actor` did. Gives
/// the uid. The caller holds the organization.
///
/// # Errors
///
/// [`Error::conflict`] where no provider is let in.
pub(crate) fn disconnect(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    actor: &str,
) -> TxResult<String> {
    let known = tx.identities().find_provider_details(organization)?;
    let known = known.filter(|known| known.enabled);
    let uid = known.ok_or_else(none)?.uid;
    let now = tx.now();
    tx.identities().clear_provider_token(organization, now)?;
    let detail = json!({"uid": uid});
    note(
        tx,
        organization,
        (actor, AuditAction::ScimDisable),
        None,
        &detail,
    )?;
    Ok(uid)
}

fn none() -> Error {
    Error::conflict("no identity provider is let in")
}

/// Holds an organization. Taken before the caller's rights are looked at: others may be taking them.
fn hold(id: OrganizationId) -> impl Fn(&mut Tx<'_>) -> StoreResult<()> {
    move |tx| tx.organizations().lock(id).map(drop)
}

/// How records name a user.
fn named(user: UserId) -> String {
    format!("user:{user}")
}

/// Whether the caller may do this with the provider of an organization. Gives the caller.
fn may_change_provider(
    tx: &mut Tx<'_>,
    actor: &Actor,
    id: OrganizationId,
    change: ProviderChange,
) -> TxResult<UserId> {
    let caller = actor.user()?;
    let organization = tx.organizations().find(id)?.ok_or_else(Error::not_found)?;
    policy::change_provider(caller.role_in(id), &organization, change).map_err(Error::from)?;
    Ok(caller.user.id)
}

impl Organizations {
    /// What is known of the identity provider of an organization that the caller administers;
    /// `None` if there never was one.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it.
    pub async fn provider(&self, actor: &Actor, id: OrganizationId) -> Result<Option<ScimDetails>> {
        policy::organization(actor.user()?.role_in(id), OrganizationAction::Administer)?;
        let addresses = self.core.config().addresses.clone();
        Ok(self
            .core
            .store()
            .read(move |reader| find(reader, id, &addresses))
            .await?)
    }

    /// Lets an identity provider make and change the users of an organization that the caller
    /// administers. Gives its address and its token, which is shown only now. The token that is
    /// replaced is refused once this answers. With the token all users of the provider can be
    /// changed, so the caller must confirm who they are.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's; [`Error::denied`] when the caller does not
    /// administer it, or it is inactive; [`Error::conflict`] when another token than the one that
    /// is to be replaced holds, or none; those of [`Confirmation`].
    pub async fn connect_provider(
        &self,
        actor: &Actor,
        id: OrganizationId,
        expected: ExpectedToken,
        confirmation: &Confirmation,
    ) -> Result<(String, Secret)> {
        self.accounts.confirm(actor, confirmation).await?;
        let token = NewToken::generate();
        let stored = token.stored();
        let work = self
            .core
            .locked_transaction_as(actor, hold(id), move |tx, caller| {
                let caller = may_change_provider(tx, caller, id, ProviderChange::Connect)?;
                connect(tx, id, expected, &stored, (&named(caller), Some(caller)))
            });
        let (uid, _) = work.await?;
        Ok((self.core.config().addresses.scim(&uid), token.secret))
    }

    /// Lets the identity provider of an organization that the caller administers in no longer: its
    /// token is refused once this answers. The users stay as they are, also linked to the provider,
    /// which sees them again when it is let in again. That is possible in an inactive organization
    /// too.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it, [`Error::conflict`] where no provider is let in.
    pub async fn disconnect_provider(&self, actor: &Actor, id: OrganizationId) -> Result<()> {
        let work = self
            .core
            .locked_transaction_as(actor, hold(id), move |tx, caller| {
                let caller = may_change_provider(tx, caller, id, ProviderChange::Disconnect)?;
                disconnect(tx, id, &named(caller))
            });
        work.await?;
        Ok(())
    }
}
