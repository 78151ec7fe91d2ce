//! What users change about themselves: names, address, password.

use std::net::IpAddr;

use eddyline_auth::Password;
use eddyline_model::UserId;
use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_model::log::Control;
use eddyline_model::mail::MailKind;
use eddyline_model::names::{Email, Nick, Website, display_name, email_key, nick_key};
use eddyline_model::users::User;
use eddyline_storage::{Abort, Error as StoreError, Result as StoreResult, Tx};
use serde_json::json;

use crate::accounts::password::{personal, replace};
use crate::actor::{Actor, Credential};
use crate::audit::{differences, note_account};
use crate::core::transaction::TxResult;
use crate::email_addresses::follow_up_change;
use crate::groups::change::lock_names;
use crate::mail_quota::MailCause;
use crate::{Error, Limit, Result, Users};

/// What a user changes about themselves; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct UserChanges {
    /// Short name, unique within each of the user's organizations.
    pub nick: Option<Nick>,
    /// Address, unique in the whole server. The new one counts at once. It needs the present
    /// password, or a fresh sign-in.
    pub email: Option<Email>,
    /// Full name.
    pub name: Option<String>,
    /// The user's own page.
    pub website: Option<Website>,
    /// A new password. It needs the present one.
    pub password: Option<Password>,
    /// The present password.
    pub current_password: Option<Password>,
}

/// What was shown for a change, as far as it was looked at.
#[derive(Clone, Default)]
struct Evidence {
    /// The hash that the present password was checked against.
    checked: Option<String>,
    /// The hash of the new password.
    new: Option<String>,
}

impl Users {
    /// Changes the caller's own account; the caller asks from this address. With the password all
    /// sessions and streams end. After a change of address its former owner gets a mail with which
    /// to undo it.
    ///
    /// A new address needs the present password: with it goes the way to a new one. Credentials
    /// that are the password show it, and a session that has just begun counts as much
    /// ([`crate::Accounts::has_signed_in_lately`]).
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] naming what is wrong, a missing or wrong `current_password` among it;
    /// [`Error::too_many_attempts`] after too many wrong ones, and [`Error::too_many_requests`] for
    /// a user who tries too many addresses; [`Error::conflict`] for a nick or an address that is
    /// another user's; [`Error::denied`] when an application asks for another address or password.
    pub async fn update(&self, actor: &Actor, changes: UserChanges, address: IpAddr) -> Result<()> {
        let caller = actor.user()?.clone();
        // With another address comes another password: an application would have the whole account.
        if matches!(actor.credential(), Some(Credential::AccessToken(_)))
            && (changes.email.is_some() || changes.password.is_some())
        {
            return Err(Error::denied());
        }
        let name = changes
            .name
            .as_deref()
            .map(display_name)
            .transpose()
            .map_err(Error::invalid_name)?;
        let changes = UserChanges { name, ..changes };
        let (id, quotas) = (caller.user.id, self.core.config().mail_quotas);
        let moves = changes
            .email
            .as_ref()
            .is_some_and(|email| email.key() != email_key(&caller.user.email));
        let evidence = self
            .evidence(actor, &caller.user, &changes, moves, address)
            .await?;
        if moves {
            self.count_new_address(id)?;
        }
        let (moved, event) = self
            .core
            .transaction_as(actor, move |tx, actor| {
                if changes.nick.is_some() {
                    lock_names(tx, id)?;
                }
                tx.users().lock(id)?;
                // It may end with the password.
                actor.lock_credential(tx)?;
                let before = tx.users().find(id)?.ok_or_else(Error::not_found)?;
                let after = changed(&before, &changes);
                check(tx, &before, &after, evidence.checked.as_deref())?;
                if email_key(&before.email) != email_key(&after.email) && before.email_proved {
                    let cause = MailCause {
                        kind: MailKind::Account,
                        sender: Some(id),
                        organization: None,
                    };
                    quotas.record_one(tx, cause, &email_key(&before.email))?;
                }
                apply(tx, &before, &after, evidence.new.as_deref()).map_err(taken)?;
                Ok(email_key(&before.email) != email_key(&after.email))
            })
            .await?;
        if moved {
            self.mail.mail_is_queued();
        }
        self.core.wait_until_applied(event).await;
        Ok(())
    }

    /// Checks that enough was shown for a new address (`moves`) or a new password.
    async fn evidence(
        &self,
        actor: &Actor,
        user: &User,
        changes: &UserChanges,
        moves: bool,
        address: IpAddr,
    ) -> Result<Evidence> {
        if changes.password.is_none()
            && (!moves || self.accounts.has_signed_in_lately(actor).await?)
        {
            return Ok(Evidence::default());
        }
        let present = changes.current_password.as_ref().ok_or_else(|| {
            let text = match changes.password {
                Some(_) => "is required",
                None => {
                    "is required for a new address; without a password, change the address on the account page \
                     right after signing in"
                }
            };
            Error::invalid("current_password", text)
        })?;
        let known = self
            .accounts
            .check_current_password(&user.email, present, address)
            .await?;
        let new = match &changes.password {
            Some(new) => Some(
                self.accounts
                    .hash_new_password(new, &personal(user))
                    .await?,
            ),
            None => None,
        };
        Ok(Evidence {
            checked: known.0.password_hash.clone(),
            new,
        })
    }

    /// Counts that a user tries an address, which tells whether another account has it.
    fn count_new_address(&self, user: UserId) -> Result<()> {
        let (tried, now) = (&self.new_addresses, self.core.now());
        tried
            .check(&user, now)
            .map_err(|wait| Error::too_many_requests(Limit::NewAddresses, wait.seconds))?;
        tried.failed(&user, now);
        Ok(())
    }
}

/// Turns a unique violation into a conflict: two concurrent requests can both pass `check` for the
/// same nick or address.
fn taken(error: StoreError) -> Abort<Error> {
    match error {
        StoreError::Exists(_) => Error::conflict("the nick or the address is taken").into(),
        other => other.into(),
    }
}

fn changed(before: &User, changes: &UserChanges) -> User {
    let mut after = before.clone();
    if let Some(nick) = &changes.nick {
        nick.as_str().clone_into(&mut after.nick);
    }
    if let Some(email) = &changes.email {
        email.as_str().clone_into(&mut after.email);
    }
    if let Some(name) = &changes.name {
        after.name.clone_from(name);
    }
    if let Some(website) = &changes.website {
        website.as_str().clone_into(&mut after.website);
    }
    after
}

fn check(tx: &mut Tx<'_>, before: &User, after: &User, checked: Option<&str>) -> TxResult<()> {
    let nick = nick_key(&after.nick);
    if nick != nick_key(&before.nick) {
        let memberships = tx.organization_members().list_of_user(before.id)?;
        // Those who were in a closed organization may come back.
        let closed = tx.deletions().list_closed_of_user(before.id)?;
        let organizations = memberships.into_iter().map(|of| of.organization);
        for organization in organizations.chain(closed.into_iter().map(|of| of.organization)) {
            if tx
                .organization_members()
                .has_nick(organization, &nick, before.id)?
            {
                let text = format!("the nick {} is taken in your organization", after.nick);
                return Err(Error::conflict(text).into());
            }
        }
    }
    let email = email_key(&after.email);
    let now = tx.now();
    if tx
        .users()
        .find_account_by_email(&email)?
        .is_some_and(|account| account.user.id != before.id)
        || tx.emails().is_claimed(&email, before.id, now)?
    {
        return Err(Error::conflict("the email is the address of another account").into());
    }
    if checked.is_some() {
        let account = tx
            .users()
            .find_account_by_email(&email_key(&before.email))?;
        if !account
            .is_some_and(|now| now.user.id == before.id && now.password_hash.as_deref() == checked)
        {
            return Err(Error::conflict("the password was changed meanwhile").into());
        }
    }
    Ok(())
}

/// Records what is different about a user.
fn note_changes(tx: &mut Tx<'_>, before: &User, after: &User) -> StoreResult<()> {
    let email = differences(&[("email", json!(before.email), json!(after.email))]);
    let profile = differences(&[
        ("name", json!(before.name), json!(after.name)),
        ("nick", json!(before.nick), json!(after.nick)),
        ("website", json!(before.website), json!(after.website)),
    ]);
    for (action, changed) in [
        (AuditAction::EmailChange, email),
        (AuditAction::ProfileChange, profile),
    ] {
        if changed != json!({}) {
            note_account(tx, after.id, AuditEntry::new(action, None).with(changed))?;
        }
    }
    Ok(())
}

fn apply(tx: &mut Tx<'_>, before: &User, after: &User, password: Option<&str>) -> StoreResult<()> {
    let (id, email) = (after.id, email_key(&after.email));
    if (&before.nick, &before.email) != (&after.nick, &after.email) {
        tx.users().update(
            id,
            (&after.nick, &nick_key(&after.nick)),
            (&after.email, &email),
        )?;
    }
    if (&before.name, &before.website) != (&after.name, &after.website) {
        tx.users().set_profile(id, &after.name, &after.website)?;
    }
    if email != email_key(&before.email) {
        follow_up_change(tx, before, &after.email)?;
        // The owner says where links to a new password go, whatever a provider had changed before.
        tx.passwords().set_recovery_key(id, None)?;
    }
    if before != after {
        // What an identity provider sees.
        if (&before.name, &before.nick, &before.email) != (&after.name, &after.nick, &after.email) {
            let now = tx.now();
            tx.identities().touch(id, now)?;
        }
        tx.record_event(Control::UserEdit { user: id });
        note_changes(tx, before, after)?;
    }
    if let Some(hash) = password {
        replace(tx, id, hash)?;
    }
    Ok(())
}
