//! A provider makes a user.

use eddyline_auth::Secret;
use eddyline_model::audit::AuditAction;
use eddyline_model::identities::Identity;
use eddyline_model::names::nick_key;
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId, names, policy};
use eddyline_scim::{RequestedUser, State, UserResource};
use eddyline_storage::{Error as StoreError, NewUser, Result as StoreResult, Tx};
use serde_json::json;

use super::address::reserve_email;
use super::check::{ValidUser, check, full, invalid, named, nick_for, taken};
use super::reach::vouches;
use super::{ScimProvider, bring_back, raced, random_end};
use crate::audit::note;
use crate::core::transaction::TxResult;
use crate::join::note_member;
use crate::{Error, Result, Scim};

impl Scim {
    /// Makes a user, with an account that has no password. Its address is proved within the domains
    /// of the organization; elsewhere it becomes so by a mailed link, and a person who signs up by
    /// one is given it. A user whom the provider removed before comes back with the account it had,
    /// if that still has the address.
    ///
    /// Without an address, a `userName` that is one is taken; without a name, what stands before
    /// the `@`.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] that names the attribute, also when the organization is full, and
    /// [`Error::conflict`] when another user has the `userName`, the address or the nick.
    pub async fn create(
        &self,
        provider: &ScimProvider,
        wanted: RequestedUser,
    ) -> Result<UserResource> {
        let new = check(newcomer(wanted)?)?;
        let random = random_end();
        let work = move |tx: &mut Tx<'_>, who: &ScimProvider| create(tx, who, &new, &random);
        let (made, event) = self
            .core
            .transaction_as_provider(provider, work)
            .await
            .map_err(raced)?;
        self.core.wait_until_applied(event).await;
        // Neither a new user nor one who is back is in any group.
        Ok(self.shown(&provider.uid, &made, Vec::new()))
    }
}

/// What a new user is to be.
fn newcomer(wanted: RequestedUser) -> Result<State> {
    let user_name = wanted
        .user_name
        .ok_or_else(|| invalid("userName", "is required"))?;
    let user_name = named(&user_name, "userName")?;
    let email = match wanted.email {
        Some(email) => email,
        None if user_name.parse::<names::Email>().is_ok() => user_name.clone(),
        None => {
            return Err(invalid(
                "emails",
                "is required where userName is no address",
            ));
        }
    };
    let before_at = email.split('@').next().unwrap_or_default();
    Ok(State {
        name: wanted
            .name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| before_at.to_owned()),
        external_id: wanted.external_id,
        nick: wanted.nick.unwrap_or_default(),
        active: wanted.active.unwrap_or(true),
        user_name,
        email,
    })
}

/// The identity of the user who has the address, if this provider has removed them: the names by
/// which providers sign people in change.
fn removed_with_address(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    new: &ValidUser,
) -> StoreResult<Option<Identity>> {
    let Some(account) = tx.users().find_account_by_email(&new.email.key())? else {
        return Ok(None);
    };
    let known = tx.identities().find(account.user.id)?;
    Ok(known.filter(|known| known.organization == organization && known.removed_at.is_some()))
}

fn create(
    tx: &mut Tx<'_>,
    provider: &ScimProvider,
    new: &ValidUser,
    random: &str,
) -> TxResult<(User, Identity)> {
    // Held, so that nobody else takes the subject, the nick or the last place.
    let organization = tx
        .organizations()
        .lock(provider.organization)?
        .ok_or_else(Error::not_found)?;
    policy::write(&organization).map_err(Error::from)?;
    let before = match tx
        .identities()
        .find_by_subject(organization.id, &new.subject_key())?
    {
        None => removed_with_address(tx, organization.id, new)?,
        known => known,
    };
    if before
        .as_ref()
        .is_some_and(|identity| identity.removed_at.is_none())
    {
        return Err(taken("there is a user with this userName").into());
    }
    if let Some(identity) = before {
        tx.users().lock(identity.user)?;
        if bring_back::may_come_back(tx, &identity, new)? {
            return bring_back::bring_back(tx, provider, identity, new, random);
        }
        // The account has gone its own way since.
        tx.identities().delete(identity.user)?;
    }
    let named = tx
        .users()
        .find_account_by_email(&new.subject_key())?
        .filter(|account| account.user.email_proved);
    if named.is_some() {
        return Err(taken("there is a user with this userName as address already").into());
    }
    reserve_email(tx, organization.id, &new.email, UserId(0))?;
    if organization.user_count >= organization.user_limit {
        return Err(full().into());
    }
    let nick = nick_for(
        tx,
        &[organization.id],
        UserId(0),
        (new.nick.as_ref(), &new.name),
        random,
    )?
    .into_string();
    let now = tx.now();
    let id = tx.users().insert(&NewUser {
        id: None,
        email: new.email.as_str().to_owned(),
        email_key: new.email.key(),
        name: new.name.clone(),
        nick: nick.clone(),
        avatar: Secret::generate().expose().to_owned(),
        bot: false,
        active: new.active,
        password_hash: None,
        created_at: now,
    })?;
    let is_proved = vouches(tx, organization.id, &new.email.key())?;
    tx.emails().set_proved(id, is_proved)?;
    let membership = OrganizationMembership {
        organization: organization.id,
        user: id,
        role: OrganizationRole::Member,
    };
    tx.organization_members()
        .insert(membership, &nick_key(&nick), now)?;
    note_member(tx, membership, AuditAction::MemberAdd)?;
    let identity = Identity {
        user: id,
        organization: organization.id,
        subject: new.user_name.clone(),
        external_id: new.external_id.clone(),
        version: 1,
        created_at: now,
        updated_at: now,
        stated_email: Some(new.email.key()),
        suspended_at: None,
        removed_at: None,
    };
    tx.identities().insert(&identity)?;
    let detail = json!({
        "userName": new.user_name, "email": new.email.as_str(), "proved": is_proved, "active": new.active,
    });
    note(
        tx,
        organization.id,
        (&provider.actor(), AuditAction::UserCreate),
        Some(id),
        &detail,
    )?;
    let user = tx
        .users()
        .find(id)?
        .ok_or(StoreError::Corrupt("a new user"))?;
    Ok((user, identity))
}
