//! Undoing a change of address by the link that was mailed to the old one.

use eddyline_auth::Secret;
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::log::Control;
use eddyline_model::mail::{MailedLink, Purpose, UNDO_DAYS};
use eddyline_model::users::User;
use eddyline_model::{Timestamp, names};
use eddyline_storage::{Reader, Result as StoreResult};
use serde_json::json;

use super::{end_access, reset};
use crate::audit::note_account;
use crate::core::transaction::NoCaller;
use crate::{Accounts, Error, Result};

/// What the page of such a link shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoLink {
    /// Whose address it is.
    pub name: String,
    /// The address to go back to.
    pub old: String,
    /// The address of the account now.
    pub present: String,
}

impl Accounts {
    /// What a link to undo a change of address would do.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the link was used, has ended, or never was.
    pub async fn undo_link(&self, link: &Secret) -> Result<UndoLink> {
        let (hash, now) = (link.hash(), self.core.now());
        let found = self
            .core
            .store()
            .read(move |reader| find(reader, &hash.0, now))
            .await?;
        let found = found.ok_or_else(Error::not_found)?;
        Ok(UndoLink {
            name: found.user.name,
            old: found.old,
            present: found.user.email,
        })
    }

    /// Gives an account its old address back. All its sessions, its password and links to a new one
    /// end, with all that applications were allowed and all API tokens: any of them may have made
    /// the change. A link to a new password is mailed to the old address. The link leads nowhere
    /// afterwards, and neither do those of later changes; those of earlier ones do, since their
    /// addresses have the older claim.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Accounts::undo_link`], [`Error::conflict`] when another user
    /// has the address meanwhile.
    pub async fn undo_email_change(&self, link: &Secret) -> Result<()> {
        // Read first, so that guesses cost no transaction.
        self.undo_link(link).await?;
        let hash = link.hash();
        let ((), event) = self
            .core
            .transaction(NoCaller::Link, move |tx| {
                let now = tx.now();
                let Undo { user, .. } = find(tx, &hash.0, now)?.ok_or_else(Error::not_found)?;
                tx.users().lock(user.id)?;
                // Asked again, as it is now that nobody else changes it.
                let Undo { user, old, end } =
                    find(tx, &hash.0, now)?.ok_or_else(Error::not_found)?;
                let key = names::email_key(&old);
                if tx
                    .users()
                    .find_account_by_email(&key)?
                    .is_some_and(|account| account.user.id != user.id)
                {
                    let text =
                        "another account has this address by now; ask the operator of the server";
                    return Err(Error::conflict(text).into());
                }
                let nick = names::nick_key(&user.nick);
                tx.users()
                    .update(user.id, (&user.nick, &nick), (&old, &key))?;
                tx.emails().set_proved(user.id, true)?;
                tx.passwords().set_recovery_key(user.id, None)?;
                tx.identities().touch(user.id, now)?;
                let change = Purpose::EmailChange(user.id);
                let changed_at = end.plus_millis(-UNDO_DAYS * 24 * 3_600_000);
                tx.mails().delete_since(change, changed_at)?;
                tx.mails().delete_links_ending_from(change, end)?;
                tx.emails().delete_claims_ending_from(user.id, end)?;
                // The link shows who acts.
                tx.set_actor(actor::user(user.id));
                let undone = json!({"email": [user.email, old], "undone": true});
                let entry = AuditEntry::new(AuditAction::EmailChange, None);
                note_account(tx, user.id, entry.with(undone))?;
                end_access(tx, user.id)?;
                // The person who changed the address may have chosen the password too.
                if tx.passwords().clear(user.id)? {
                    let entry = AuditEntry::new(AuditAction::PasswordChange, None);
                    note_account(tx, user.id, entry.with(json!({"removed": true})))?;
                }
                reset::queue(
                    tx,
                    &User {
                        email: old,
                        ..user.clone()
                    },
                )?;
                tx.record_event(Control::UserEdit { user: user.id });
                Ok(())
            })
            .await?;
        self.authentication.memo.invalidate_all();
        self.mail.mail_is_queued();
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

struct Undo {
    user: User,
    old: String,
    end: Timestamp,
}

fn find(reader: &mut Reader<'_>, hash: &[u8], now: Timestamp) -> StoreResult<Option<Undo>> {
    let Some(MailedLink {
        purpose: Purpose::EmailChange(id),
        email: Some(old),
        expires_at: end,
    }) = reader.mails().find_link(hash, now)?
    else {
        return Ok(None);
    };
    Ok(reader.users().find(id)?.map(|user| Undo { user, old, end }))
}
