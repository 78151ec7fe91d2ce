//! People and bots, their passwords and tokens.

use std::collections::BTreeSet;

use eddyline_auth::{Password, Secret};
use eddyline_model::audit::AuditAction;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::log::Control;
use eddyline_model::names::{self, Email, Nick};
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{NewUser, Tx};
use serde_json::json;

use super::{OPERATOR, find_organization, taken};
use crate::account_links::end_address_claims;
use crate::accounts::end_access;
use crate::accounts::insert_token;
use crate::accounts::password::replace;
use crate::audit::note;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::join::enter;
use crate::offboarding::{end_ways_in, lock_for_removal};
use crate::{Error, Operator, Result};

/// Somebody to be brought into an organization.
#[derive(Clone, Debug)]
pub struct NewPerson {
    /// The user's number, by which bots and archives may know them already; `None` for the next
    /// one.
    pub id: Option<UserId>,
    /// The organization's name in URLs.
    pub organization: String,
    /// Address. A known one joins that person to the organization.
    pub email: Email,
    /// Full name.
    pub name: String,
    /// Short name.
    pub nick: Nick,
    /// Password, if there is to be one.
    pub password: Option<Password>,
    /// Whether to administer the organization.
    pub admin: bool,
    /// Whether it is a program.
    pub bot: bool,
}

impl Operator {
    /// Brings a person into an organization, making the account unless the address is known, and
    /// gives the account as it is and a new API token. A known account keeps its name and nick.
    ///
    /// # Errors
    ///
    /// [`Error::conflict`] when the organization is full, the person is in it, the nick or the
    /// number is taken, or a known account is given a password; [`Error::not_found`] without such
    /// an organization.
    pub async fn create_user(&self, new: NewPerson) -> Result<(User, Secret)> {
        let new = NewPerson {
            name: names::display_name(&new.name).map_err(Error::invalid_name)?,
            ..new
        };
        let password_hash = match &new.password {
            Some(password) => Some(self.authentication.hash_password(password).await?),
            None => None,
        };
        let token = Secret::generate();
        let hash = token.hash();
        let (user, event) = self
            .core
            .store()
            .transaction(NoCaller::Operator, move |tx| {
                let organization = find_organization(tx, &new.organization)?;
                // Held from here on: an identity provider may be about to change the account.
                tx.organizations().lock(organization)?;
                let id = find_or_insert_user(tx, &new, password_hash.clone())?;
                tx.users().lock(id)?;
                if tx
                    .organization_members()
                    .list_of_user(id)?
                    .iter()
                    .any(|member| member.organization == organization)
                {
                    let text = format!("{} is in the organization already", new.email.as_str());
                    return Err(Error::conflict(text).into());
                }
                let role = if new.admin {
                    OrganizationRole::Administrator
                } else {
                    OrganizationRole::Member
                };
                let user = tx.users().find(id)?.ok_or_else(Error::not_found)?;
                if !user.active {
                    return Err(inactive().into());
                }
                enter(tx, organization, &user, role)?;
                insert_token(tx, id, &hash, "command line")?;
                Ok(user)
            })
            .await
            .map_err(|abort| taken(abort, "the nick is taken in the organization"))?;
        self.core.wait_until_applied(event).await;
        Ok((user, token))
    }

    /// Adds an API token to a user.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address.
    pub async fn create_user_token(&self, email: &Email) -> Result<(UserId, Secret)> {
        let token = Secret::generate();
        let (hash, key) = (token.hash(), email.key());
        let (id, _) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let account = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?;
                tx.users().lock(account.user.id)?;
                if !tx
                    .users()
                    .find(account.user.id)?
                    .is_some_and(|user| user.active)
                {
                    return Err(inactive().into());
                }
                insert_token(tx, account.user.id, &hash, "command line")?;
                Ok(account.user.id)
            })
            .await?;
        Ok((id, token))
    }

    /// Sets a user's password, and gives the user. The old one is refused once this answers, and
    /// all sessions and links to a new one have ended.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::invalid`].
    pub async fn set_password(&self, email: &Email, password: &Password) -> Result<User> {
        let hash = self.authentication.hash_password(password).await?;
        let key = email.key();
        let (user, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let account = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?;
                replace(tx, account.user.id, &hash)?;
                Ok(account.user)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(user)
    }

    /// Makes a user inactive, which ends all that lets them in before this answers, or lets them be
    /// used again: whom a provider has made inactive and does not know any more, for instance.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address.
    pub async fn set_active(&self, email: &Email, active: bool) -> Result<UserId> {
        let key = email.key();
        let (id, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let id = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                if !active {
                    let memberships = tx.organization_members().list_of_user(id)?;
                    let organizations: Vec<_> =
                        memberships.iter().map(|m| m.organization).collect();
                    lock_for_removal(tx, &organizations, id)?;
                }
                tx.users().lock(id)?;
                let user = tx.users().find(id)?.ok_or_else(Error::not_found)?;
                let deletion = DeletionTarget::User(id);
                if active && tx.deletions().find(deletion)?.is_some() {
                    let text =
                        "this user is to be deleted; `delete cancel user` lets them in again";
                    return Err(Error::conflict(text).into());
                }
                if !active {
                    tx.deletions().set_inactive(deletion)?;
                }
                if user.active != active {
                    set_active(tx, id, active)?;
                }
                Ok(id)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(id)
    }
}

/// Makes a user inactive, which ends all that lets them in, or active. The user is held, with the
/// organizations that they are in ([`lock_for_removal`]).
pub(crate) fn set_active(
    tx: &mut Tx<'_>,
    id: UserId,
    active: bool,
) -> eddyline_storage::Result<()> {
    let now = tx.now();
    tx.users().set_active(id, active)?;
    tx.identities().touch(id, now)?;
    // Where a provider knows the user, and wherever else the user belongs.
    let known = tx.identities().find(id)?.map(|known| known.organization);
    let member = tx
        .organization_members()
        .list_of_user(id)?
        .into_iter()
        .map(|membership| membership.organization);
    let concerned: BTreeSet<OrganizationId> = known.into_iter().chain(member).collect();
    for organization in concerned {
        let detail = json!({"active": [!active, active]});
        note(
            tx,
            organization,
            (OPERATOR, AuditAction::UserUpdate),
            Some(id),
            &detail,
        )?;
    }
    tx.record_event(Control::UserEdit { user: id });
    if active {
        return Ok(());
    }
    for membership in tx.organization_members().list_of_user(id)? {
        end_ways_in(tx, membership.organization, id)?;
    }
    end_access(tx, id)?;
    end_address_claims(tx, id)
}

/// An account has an address without its owner having shown that they read its mail.
pub(super) fn unproved() -> Error {
    let text = "an account has this address without having proved it; its owner must follow a link in a \
                mail first, to a new password for instance";
    Error::conflict(text)
}

fn inactive() -> Error {
    Error::conflict("this user is inactive; `user set-active` lets them in again")
}

fn find_or_insert_user(
    tx: &mut Tx<'_>,
    new: &NewPerson,
    password_hash: Option<String>,
) -> TxResult<UserId> {
    if let Some(account) = tx.users().find_account_by_email(&new.email.key())? {
        if !account.user.email_proved {
            return Err(unproved().into());
        }
        if !account.user.active {
            return Err(inactive().into());
        }
        if new.id.is_some_and(|id| id != account.user.id) {
            let text = format!(
                "the user with this address has the number {}",
                account.user.id.0
            );
            return Err(Error::conflict(text).into());
        }
        if new.password.is_some() {
            let text = "an account has this address and keeps its password; leave the password out, or use \
                        `user set-password`";
            return Err(Error::conflict(text).into());
        }
        return Ok(account.user.id);
    }
    let created_at = tx.now();
    if tx
        .emails()
        .is_claimed(&new.email.key(), UserId(0), created_at)?
    {
        let text = "the address was given up lately by a user who may still take it back";
        return Err(Error::conflict(text).into());
    }
    if let Some(id) = new.id
        && tx.users().find(id)?.is_some()
    {
        return Err(Error::conflict(format!("another user has the number {}", id.0)).into());
    }
    Ok(tx.users().insert(&NewUser {
        id: new.id,
        email: new.email.as_str().to_owned(),
        email_key: new.email.key(),
        name: new.name.trim().to_owned(),
        nick: new.nick.as_str().to_owned(),
        avatar: Secret::generate().expose().to_owned(),
        bot: new.bot,
        active: true,
        password_hash,
        created_at,
    })?)
}
