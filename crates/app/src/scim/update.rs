//! A provider changes a user.

use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names::{email_key, nick_key};
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_scim::{Patch, ScimError, Shown, State, Wanted};
use eddyline_storage::{Result as StoreResult, Tx};
use serde_json::{Map, Value, json};

use super::check::{Checked, check, full, hold_email, is_taken, nick_for, taken};
use super::create::raced;
use super::find::provided;
use super::{ScimProvider, random_end, state};
use crate::accounts::{end_access, end_mailed_links};
use crate::audit::note;
use crate::change::Attempt;
use crate::join_links::replace_join_secrets;
use crate::{App, Error, Result};

/// What a provider wants of a user.
#[derive(Clone, Debug)]
enum Wish {
    Replace(Wanted),
    Patch(Patch),
}

impl Wish {
    fn granted(&self, before: State) -> Result<Checked> {
        match self {
            Self::Replace(wanted) => check(wanted.clone().onto(before)),
            Self::Patch(patch) => check(patch.apply(before)?),
        }
    }
}

impl App {
    /// Changes what a whole resource says about a user; what it does not say stays. `matches` is asked
    /// first whether the version that there is may be changed.
    ///
    /// Somebody made inactive is signed out everywhere, and every token of theirs has ended, in every
    /// process once this answers.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] as in [`App::scim_user`]; [`Error::Scim`] with status 400 that names the
    /// attribute, with 409 when somebody else has the `userName`, address or nick, and with 412 for
    /// another version.
    pub async fn scim_replace(
        &self,
        provider: &ScimProvider,
        id: UserId,
        wanted: Wanted,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<Shown> {
        self.scim_update(provider, id, Wish::Replace(wanted), matches).await
    }

    /// The same for a list of changes, of which all are made or none.
    ///
    /// # Errors
    ///
    /// As [`App::scim_replace`], and with status 400 for changes that cannot be made.
    pub async fn scim_patch(
        &self,
        provider: &ScimProvider,
        id: UserId,
        patch: Patch,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<Shown> {
        self.scim_update(provider, id, Wish::Patch(patch), matches).await
    }

    async fn scim_update(
        &self,
        provider: &ScimProvider,
        id: UserId,
        wish: Wish,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<Shown> {
        let random = random_end();
        let work = move |tx: &mut Tx<'_, '_>, who: &ScimProvider| -> Attempt<(User, Identity)> {
            tx.lock_user(id)?;
            let (user, identity) = provided(tx, who, id)?;
            check_version(identity.version, &matches)?;
            let wanted = wish.granted(state(&user, &identity))?;
            apply(tx, who, (user, identity), &wanted, ("user.update", &random))
        };
        let ((user, identity), event) = self.transaction_as_provider(provider, work).await.map_err(raced)?;
        self.settle(event).await;
        Ok(self.shown(&provider.uid, &user, &identity))
    }
}

/// Refuses to change another version than the one that the provider knows.
///
/// # Errors
///
/// [`Error::Scim`] with status 412.
pub(super) fn check_version(version: i64, matches: impl Fn(i64) -> bool) -> Result<()> {
    if matches(version) {
        return Ok(());
    }
    Err(ScimError::new(412, "the user was changed since; read it again").into())
}

/// Whether a user whom the provider had removed may come back with the account: if that still has the
/// address, and belongs to no other organization by now, whose matter it would be as well.
pub(super) fn may_come_back(tx: &mut Tx<'_, '_>, identity: &Identity, wanted: &Checked) -> StoreResult<bool> {
    let here = identity.organization;
    let elsewhere =
        tx.memberships_of(identity.user)?.iter().any(|membership| membership.organization != here);
    let same = tx.user(identity.user)?.is_some_and(|user| email_key(&user.email) == wanted.email.key());
    Ok(same && !elsewhere)
}

/// Brings somebody back whom the provider had removed. The organization and the user are held.
pub(super) fn bring_back(
    tx: &mut Tx<'_, '_>,
    provider: &ScimProvider,
    identity: Identity,
    wanted: &Checked,
    random: &str,
) -> Attempt<(User, Identity)> {
    let id = identity.user;
    let user = tx.user(id)?.ok_or(Error::NotFound)?;
    let everywhere = everywhere(tx, id, identity.organization)?;
    // Where the provider asks for no nick, the user has the old one again if it is free.
    let mut nick = wanted.nick.clone();
    if nick.is_none()
        && let Ok(old) = user.nick.parse()
        && !is_taken(tx, &everywhere, id, &old)?
    {
        nick = Some(old);
    }
    let nick = nick_for(tx, &everywhere, id, (nick.as_ref(), &wanted.name), random)?;
    let organization = tx.organization(identity.organization)?.ok_or(Error::NotFound)?;
    if !tx.memberships_of(id)?.iter().any(|membership| membership.organization == organization.id) {
        if organization.user_count >= organization.user_limit {
            return Err(full().into());
        }
        let role = OrganizationRole::Member;
        let membership = OrganizationMembership { organization: organization.id, user: id, role };
        let now = tx.now();
        tx.insert_organization_member(membership, &nick.key(), now)?;
        tx.bump_private_rooms_of(id)?;
        tx.tell(Control::UserEdit { user: id });
    }
    let wanted = Checked { nick: Some(nick), ..wanted.clone() };
    apply(tx, provider, (user, identity), &wanted, ("user.return", random))
}

/// The organizations in which somebody's nick is to be unique, this one among them.
fn everywhere(tx: &mut Tx<'_, '_>, user: UserId, here: OrganizationId) -> StoreResult<Vec<OrganizationId>> {
    let mut all: Vec<OrganizationId> =
        tx.memberships_of(user)?.iter().map(|membership| membership.organization).collect();
    all.push(here);
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Makes a user, who is held, what is wanted.
fn apply(
    tx: &mut Tx<'_, '_>,
    provider: &ScimProvider,
    (before, known): (User, Identity),
    wanted: &Checked,
    (deed, random): (&str, &str),
) -> Attempt<(User, Identity)> {
    let id = before.id;
    hold_subject(tx, &known, &wanted.subject_key())?;
    if wanted.email.key() != email_key(&before.email) {
        hold_email(tx, &wanted.email, id)?;
    }
    let nick = match &wanted.nick {
        Some(nick) if nick.as_str() == before.nick => nick.clone(),
        other => {
            let everywhere = everywhere(tx, id, known.organization)?;
            nick_for(tx, &everywhere, id, (other.as_ref(), &wanted.name), random)?
        }
    };
    let after = User {
        name: wanted.name.clone(),
        email: wanted.email.as_str().to_owned(),
        nick: nick.as_str().to_owned(),
        active: wanted.active,
        ..before.clone()
    };
    let mut identity = Identity {
        subject: wanted.user_name.clone(),
        external_id: wanted.external_id.clone(),
        removed_at: None,
        ..known.clone()
    };
    let detail = differences(&state(&before, &known), &state(&after, &identity));
    if detail.is_empty() && known.removed_at.is_none() {
        if !before.active {
            // Told again, so that this answer too waits until everybody knows.
            tx.tell(Control::Revoked { user: id });
        }
        return Ok((before, known));
    }
    write_user(tx, &before, &after)?;
    identity.version += 1;
    identity.updated_at = tx.now();
    tx.update_identity(&identity)?;
    note(tx, identity.organization, (&provider.actor(), deed), Some(id), &Value::Object(detail))?;
    Ok((after, identity))
}

/// Sees to it that a subject may become that of a user. One that is removed does not keep it.
fn hold_subject(tx: &mut Tx<'_, '_>, known: &Identity, subject: &str) -> Attempt<()> {
    if subject == email_key(&known.subject) {
        return Ok(());
    }
    let named = tx.account_by_email(subject)?.map(|account| account.user);
    if named.is_some_and(|user| user.id != known.user && user.email_proved) {
        return Err(taken("there is a user with this userName as address already").into());
    }
    let other = tx.identity_by_subject(known.organization, subject)?;
    match other.filter(|other| other.user != known.user) {
        Some(other) if other.removed_at.is_some() => {
            tx.lock_user(other.user)?;
            Ok(tx.delete_identity(other.user)?)
        }
        Some(_) => Err(taken("there is a user with this userName").into()),
        None => Ok(()),
    }
}

fn write_user(tx: &mut Tx<'_, '_>, before: &User, after: &User) -> StoreResult<()> {
    let (id, email) = (after.id, email_key(&after.email));
    if (&before.nick, &before.email) != (&after.nick, &after.email) {
        tx.update_user(id, (&after.nick, &nick_key(&after.nick)), (&after.email, &email))?;
    }
    if email != email_key(&before.email) {
        // Only who reads its mail has an address: whoever is signed in already must not come by the rights of
        // another's. What was mailed to the old one leads nowhere.
        tx.set_email_proved(id, false)?;
        end_mailed_links(tx, id)?;
    }
    if before.name != after.name {
        tx.set_name(id, &after.name)?;
    }
    if before.active != after.active {
        tx.set_active(id, after.active)?;
    }
    if before != after {
        tx.tell(Control::UserEdit { user: id });
    }
    if before.active && !after.active {
        for membership in tx.memberships_of(id)? {
            replace_join_secrets(tx, membership.organization)?;
        }
        end_access(tx, id)?;
    }
    Ok(())
}

/// What is different, by attribute: what it was, and what it is.
fn differences(before: &State, after: &State) -> Map<String, Value> {
    let pairs = [
        ("userName", json!(before.user_name), json!(after.user_name)),
        ("externalId", json!(before.external_id), json!(after.external_id)),
        ("name", json!(before.name), json!(after.name)),
        ("email", json!(before.email), json!(after.email)),
        ("nickName", json!(before.nick), json!(after.nick)),
        ("active", json!(before.active), json!(after.active)),
    ];
    let changed = pairs.into_iter().filter(|(_, before, after)| before != after);
    changed.map(|(name, before, after)| (name.to_owned(), json!([before, after]))).collect()
}
