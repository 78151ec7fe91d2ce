//! A provider changes a user.

use eddyline_model::audit::AuditAction;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::identities::Identity;
use eddyline_model::log::Control;
use eddyline_model::names::{email_key, nick_key};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_scim::{Patch, RequestedUser, State, UserResource};
use eddyline_storage::{Error as StoreError, Result as StoreResult, Tx};
use serde_json::{Map, Value, json};

use super::check::{ValidUser, check, nick_for, taken};
use super::find::{groups_of, provided};
use super::raced;
use super::reach::is_shared;
use super::suspension::{self, MembershipChange};
use super::{ScimProvider, address, random_end, state};
use crate::accounts::end_access;
use crate::audit::note;
use crate::core::transaction::TxResult;
use crate::groups::change::lock_names;
use crate::offboarding::end_ways_in;
use crate::{Error, Result, Scim};

/// What a provider wants of a user.
#[derive(Clone, Debug)]
enum UserUpdate {
    Replace(RequestedUser),
    Patch(Patch),
}

impl UserUpdate {
    fn apply(&self, before: State) -> Result<ValidUser> {
        match self {
            Self::Replace(wanted) => check(wanted.clone().onto(before)),
            Self::Patch(patch) => check(patch.apply(before)?),
        }
    }
}

impl Scim {
    /// Changes what a whole resource says about a user; what it does not say stays. `matches` is
    /// asked first whether the version that there is may be changed.
    ///
    /// Somebody made inactive is signed out everywhere, and every token of theirs has ended, in
    /// every process once this answers. Where the account belongs to another organization too, that
    /// ends the membership in the provider's, until the user is made active again, and all access
    /// the first time only; the name, nick and address of such an account stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Scim::user`]; [`Error::invalid`], naming the attribute;
    /// [`Error::conflict`] when another user has the `userName`, address or nick;
    /// [`Error::version_mismatch`].
    pub async fn replace(
        &self,
        provider: &ScimProvider,
        id: UserId,
        wanted: RequestedUser,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<UserResource> {
        self.scim_update(provider, id, UserUpdate::Replace(wanted), matches)
            .await
    }

    /// The same for a list of changes, of which all are made or none.
    ///
    /// # Errors
    ///
    /// As [`Scim::replace`], and [`Error::invalid`] for changes that cannot be made.
    pub async fn patch(
        &self,
        provider: &ScimProvider,
        id: UserId,
        patch: Patch,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<UserResource> {
        self.scim_update(provider, id, UserUpdate::Patch(patch), matches)
            .await
    }

    async fn scim_update(
        &self,
        provider: &ScimProvider,
        id: UserId,
        wish: UserUpdate,
        matches: impl Fn(i64) -> bool + Send + 'static,
    ) -> Result<UserResource> {
        let random = random_end();
        let work = move |tx: &mut Tx<'_>, who: &ScimProvider| {
            let updated = update(tx, who, id, &wish, &matches, &random)?;
            Ok((updated, groups_of(tx, who, id)?))
        };
        let ((updated, groups), event) = self
            .core
            .transaction_as_provider(provider, work)
            .await
            .map_err(raced)?;
        // There may be a mail to the owner of the address before.
        self.mail.mail_is_queued();
        match event {
            // The suspension may have been a moment ago, and not every process has read of it yet.
            None if updated.1.suspended_at.is_some() => self.core.wait_until_all_applied().await?,
            event => self.core.wait_until_applied(event).await,
        }
        Ok(self.shown(&provider.uid, &updated, groups))
    }
}

fn update(
    tx: &mut Tx<'_>,
    provider: &ScimProvider,
    id: UserId,
    wish: &UserUpdate,
    matches: impl Fn(i64) -> bool,
    random: &str,
) -> TxResult<(User, Identity)> {
    // Decided before any lock: only a change of memberships and the end of join links and
    // invitations need the locks of the whole organization.
    let (user, identity) = provided(tx, provider, id)?;
    check_version(identity.version, &matches)?;
    let wanted = wish.apply(state(&user, &identity))?;
    let expected = MembershipChange::of(tx, &user, &identity, wanted.active)?;
    match expected {
        MembershipChange::Nothing if wanted.active || !user.active => {
            if wanted
                .nick
                .as_ref()
                .is_none_or(|nick| nick.key() != nick_key(&user.nick))
            {
                lock_names(tx, id)?;
            }
            tx.users().lock(id)?;
        }
        MembershipChange::Nothing => suspension::lock_memberships(tx, &identity)?,
        MembershipChange::Suspend | MembershipChange::Restore => {
            suspension::lock_memberships(tx, &identity)?;
        }
    }
    let (user, identity) = provided(tx, provider, id)?;
    check_version(identity.version, &matches)?;
    let wanted = wish.apply(state(&user, &identity))?;
    let change = MembershipChange::of(tx, &user, &identity, wanted.active)?;
    if change != MembershipChange::Nothing && expected == MembershipChange::Nothing {
        let text =
            "the user joined another organization, or was changed, at the same moment; ask again";
        return Err(Error::unavailable(text).into());
    }
    apply(
        tx,
        provider,
        (user, identity),
        &wanted,
        change,
        (AuditAction::UserUpdate, random),
    )
}

/// Refuses to change another version than the one that the provider knows.
///
/// # Errors
///
/// [`Error::version_mismatch`].
pub(super) fn check_version(version: i64, matches: impl Fn(i64) -> bool) -> Result<()> {
    if matches(version) {
        return Ok(());
    }
    Err(Error::version_mismatch(
        "it was changed since; read it again",
    ))
}

/// The organizations in which somebody's nick is to be unique, this one among them.
pub(super) fn everywhere(
    tx: &mut Tx<'_>,
    user: UserId,
    here: OrganizationId,
) -> StoreResult<Vec<OrganizationId>> {
    let mut all: Vec<OrganizationId> = tx
        .organization_members()
        .list_of_user(user)?
        .iter()
        .map(|membership| membership.organization)
        .collect();
    all.push(here);
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Makes a user, who is held, what is wanted.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    provider: &ScimProvider,
    (before, known): (User, Identity),
    wanted: &ValidUser,
    change: MembershipChange,
    (action, random): (AuditAction, &str),
) -> TxResult<(User, Identity)> {
    let is_shared = is_shared(tx, &known)?;
    reserve_subject(tx, &known, &wanted.subject_key())?;
    let mut identity = Identity {
        subject: wanted.user_name.clone(),
        external_id: wanted.external_id.clone(),
        suspended_at: match change {
            MembershipChange::Nothing => known.suspended_at,
            MembershipChange::Suspend => Some(tx.now()),
            MembershipChange::Restore => None,
        },
        removed_at: None,
        ..known.clone()
    };
    // A shared account is the owner's and the other organization's.
    let after = match is_shared {
        true => before.clone(),
        false => person(tx, &before, &known, wanted, random)?,
    };
    let detail = differences((&before, &known), (&after, &identity), change);
    if detail.is_empty() && known.removed_at.is_none() {
        if !before.active {
            // Logged again: this answer too waits until every process has read it. Nothing is left
            // to end.
            tx.record_event(Control::Revoked { user: before.id });
        }
        return Ok((before, known));
    }
    let ends_access = change_memberships(tx, &after, &identity, change)?;
    write_user(tx, &before, &after)?;
    if email_key(&after.email) != email_key(&before.email) {
        address::follow_up(tx, identity.organization, &before, &after.email)?;
        identity.stated_email = Some(email_key(&after.email));
    }
    let is_deactivated = before.active && !after.active;
    if is_deactivated {
        // A membership that ended took the ways in with it.
        for membership in tx.organization_members().list_of_user(before.id)? {
            end_ways_in(tx, membership.organization, before.id)?;
        }
    }
    if ends_access || is_deactivated {
        end_access(tx, before.id)?;
    }
    identity.version += 1;
    identity.updated_at = tx.now();
    tx.identities().update(&identity)?;
    note(
        tx,
        identity.organization,
        (&provider.actor(), action),
        Some(before.id),
        &Value::Object(detail),
    )?;
    Ok((after, identity))
}

/// The user, whose account is not shared, as wanted, with an address and a nick that nobody else
/// has.
fn person(
    tx: &mut Tx<'_>,
    before: &User,
    known: &Identity,
    wanted: &ValidUser,
    random: &str,
) -> TxResult<User> {
    let id = before.id;
    if wanted.email.key() != email_key(&before.email) {
        address::reserve_email(tx, known.organization, &wanted.email, id)?;
    }
    let nick = match &wanted.nick {
        Some(nick) if nick.as_str() == before.nick => nick.clone(),
        other => {
            let everywhere = everywhere(tx, id, known.organization)?;
            nick_for(tx, &everywhere, id, (other.as_ref(), &wanted.name), random)?
        }
    };
    Ok(User {
        name: wanted.name.clone(),
        email: wanted.email.as_str().to_owned(),
        nick: nick.as_str().to_owned(),
        active: wanted.active,
        ..before.clone()
    })
}

/// Ends or restores memberships. Tells whether all access is to end with them.
fn change_memberships(
    tx: &mut Tx<'_>,
    user: &User,
    identity: &Identity,
    change: MembershipChange,
) -> TxResult<bool> {
    match change {
        MembershipChange::Nothing => Ok(false),
        MembershipChange::Suspend => Ok(suspension::suspend(tx, user, identity.organization)?),
        MembershipChange::Restore => suspension::restore(tx, user, identity).map(|()| false),
    }
}

/// Sees to it that a subject may become that of a user. One that is removed does not keep it.
fn reserve_subject(tx: &mut Tx<'_>, known: &Identity, subject: &str) -> TxResult<()> {
    if subject == email_key(&known.subject) {
        return Ok(());
    }
    let named = tx
        .users()
        .find_account_by_email(subject)?
        .map(|account| account.user);
    if named.is_some_and(|user| user.id != known.user && user.email_proved) {
        return Err(taken("there is a user with this userName as address already").into());
    }
    let other = tx
        .identities()
        .find_by_subject(known.organization, subject)?;
    match other.filter(|other| other.user != known.user) {
        Some(other) if other.removed_at.is_some() => {
            tx.users().lock(other.user)?;
            Ok(tx.identities().delete(other.user)?)
        }
        Some(_) => Err(taken("there is a user with this userName").into()),
        None => Ok(()),
    }
}

fn write_user(tx: &mut Tx<'_>, before: &User, after: &User) -> StoreResult<()> {
    let (id, email) = (after.id, email_key(&after.email));
    if (&before.nick, &before.email) != (&after.nick, &after.email) {
        tx.users().update(
            id,
            (&after.nick, &nick_key(&after.nick)),
            (&after.email, &email),
        )?;
    }
    if before.name != after.name {
        tx.users().set_name(id, &after.name)?;
    }
    let deletion = DeletionTarget::User(id);
    if !after.active {
        tx.deletions().set_inactive(deletion)?;
    }
    if before.active != after.active {
        if after.active && tx.deletions().find(deletion)?.is_some() {
            return Err(StoreError::Refused("the user is to be deleted"));
        }
        tx.users().set_active(id, after.active)?;
    }
    if before != after {
        tx.record_event(Control::UserEdit { user: id });
    }
    Ok(())
}

/// What is different, by attribute: what it was, and what it is. Where only the membership in the
/// provider's organization ends or begins, that is said too.
fn differences(
    before: (&User, &Identity),
    after: (&User, &Identity),
    change: MembershipChange,
) -> Map<String, Value> {
    let (before, after) = (state(before.0, before.1), state(after.0, after.1));
    let (was_member, is_member) = (
        change == MembershipChange::Suspend,
        change == MembershipChange::Restore,
    );
    let pairs = [
        ("userName", json!(before.user_name), json!(after.user_name)),
        (
            "externalId",
            json!(before.external_id),
            json!(after.external_id),
        ),
        ("name", json!(before.name), json!(after.name)),
        ("email", json!(before.email), json!(after.email)),
        ("nickName", json!(before.nick), json!(after.nick)),
        ("active", json!(before.active), json!(after.active)),
        ("member", json!(was_member), json!(is_member)),
    ];
    let changed = pairs
        .into_iter()
        .filter(|(_, before, after)| before != after);
    changed
        .map(|(name, before, after)| (name.to_owned(), json!([before, after])))
        .collect()
}
