//! Who provides an organization's users from outside, and whom they know.

use diesel::prelude::*;
use eddyline_model::identities::{Identity, Provider};
use eddyline_model::names::email_key;
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Identities;
use crate::reader::Access;
use crate::schema::{identities, identity_providers, users};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};

#[derive(Queryable, Selectable)]
#[diesel(table_name = identity_providers)]
struct ProviderRow {
    organization_id: i64,
    uid: String,
    token_hash: Vec<u8>,
    used_at: Option<i64>,
}

impl From<ProviderRow> for Provider {
    fn from(row: ProviderRow) -> Self {
        Self {
            organization: OrganizationId(row.organization_id),
            uid: row.uid,
            token_hash: row.token_hash,
            used_at: row.used_at.map(Timestamp),
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = identities)]
struct IdentityRow {
    user_id: i64,
    organization_id: i64,
    subject: String,
    external_id: Option<String>,
    version: i64,
    created_at: i64,
    updated_at: i64,
    stated_email: Option<String>,
    suspended_at: Option<i64>,
    removed_at: Option<i64>,
}

impl From<IdentityRow> for Identity {
    fn from(row: IdentityRow) -> Self {
        Self {
            user: UserId(row.user_id),
            organization: OrganizationId(row.organization_id),
            subject: row.subject,
            external_id: row.external_id,
            version: row.version,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
            stated_email: row.stated_email,
            suspended_at: row.suspended_at.map(Timestamp),
            removed_at: row.removed_at.map(Timestamp),
        }
    }
}

/// Which of the users that a provider sees are asked for. All terms that are given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvidedQuery {
    /// With this subject, in the form by which subjects are compared.
    pub subject_key: Option<String>,
    /// Whom the provider calls this for itself.
    pub external_id: Option<String>,
    /// With this address, in the form by which addresses are compared.
    pub email_key: Option<String>,
    /// How many are left out at the beginning.
    pub skip: i64,
    /// The most that are wanted.
    pub limit: Option<i64>,
}

/// The users that the provider of an organization sees: whom it did not remove, and who are no
/// bots.
macro_rules! provided {
    ($organization:expr) => {
        identities::table
            .inner_join(users::table.on(users::id.eq(identities::user_id)))
            .filter(identities::organization_id.eq($organization.0))
            .filter(identities::removed_at.is_null())
            .filter(users::bot.eq(false))
    };
}

/// Those of them for whom the terms of a query hold.
macro_rules! matching {
    ($organization:expr, $query:expr) => {{
        let mut found = provided!($organization).into_boxed();
        if let Some(key) = &$query.subject_key {
            found = found.filter(identities::subject_key.eq(key));
        }
        if let Some(id) = &$query.external_id {
            found = found.filter(identities::external_id.eq(id));
        }
        if let Some(key) = &$query.email_key {
            found = found.filter(users::email_key.eq(key));
        }
        found
    }};
}

fn to_provided((user, identity): (UserRow, IdentityRow)) -> (User, Identity) {
    (to_user(user), identity.into())
}

#[portable]
impl<C: Access> Identities<'_, C> {
    /// The provider whose addresses have this uid.
    pub fn find_provider(c: &mut Connection, uid: &str) -> Result<Option<Provider>> {
        let found = identity_providers::table.filter(identity_providers::uid.eq(uid));
        Ok(found
            .select(ProviderRow::as_select())
            .first(c)
            .optional()?
            .map(Provider::from))
    }

    /// The provider of an organization.
    pub fn find_provider_of_organization(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Option<Provider>> {
        let found = identity_providers::table.find(organization.0);
        Ok(found
            .select(ProviderRow::as_select())
            .first(c)
            .optional()?
            .map(Provider::from))
    }

    /// What a provider knows of a user, also of one it removed.
    pub fn find(c: &mut Connection, user: UserId) -> Result<Option<Identity>> {
        let found = identities::table.find(user.0);
        Ok(found
            .select(IdentityRow::as_select())
            .first(c)
            .optional()?
            .map(Identity::from))
    }

    /// The identity with this subject at an organization's provider, given in the form by which
    /// subjects are compared; also a removed one.
    pub fn find_by_subject(
        c: &mut Connection,
        organization: OrganizationId,
        subject_key: &str,
    ) -> Result<Option<Identity>> {
        let found = identities::table
            .filter(identities::organization_id.eq(organization.0))
            .filter(identities::subject_key.eq(subject_key));
        Ok(found
            .select(IdentityRow::as_select())
            .first(c)
            .optional()?
            .map(Identity::from))
    }

    /// The users that an organization's provider sees and that match, ordered by number, and how
    /// many match in all, whatever is skipped or left off.
    pub fn list_users(
        c: &mut Connection,
        organization: OrganizationId,
        query: &ProvidedQuery,
    ) -> Result<(Vec<(User, Identity)>, i64)> {
        let skip = query.skip.max(0);
        let mut page = matching!(organization, query)
            .select((UserRow::as_select(), IdentityRow::as_select()))
            .order(identities::user_id)
            .offset(skip);
        if let Some(limit) = query.limit {
            page = page.limit(limit.max(0));
        }
        let rows = page.load::<(UserRow, IdentityRow)>(c)?;
        let there = rows.len() as i64;
        // A page that is not full shows where the list ends, unless it lies beyond that.
        let is_full = query.limit.is_some_and(|limit| there >= limit);
        let total = if is_full || (there == 0 && skip > 0) {
            matching!(organization, query).count().get_result(c)?
        } else {
            skip + there
        };
        Ok((rows.into_iter().map(to_provided).collect(), total))
    }

    /// Which of these users an organization's provider sees, ordered by number.
    pub fn list_among(
        c: &mut Connection,
        organization: OrganizationId,
        users: &[UserId],
    ) -> Result<Vec<UserId>> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let found = provided!(organization)
            .filter(identities::user_id.eq_any(users))
            .order(identities::user_id)
            .select(identities::user_id)
            .load::<i64>(c)?;
        Ok(found.into_iter().map(UserId).collect())
    }

    /// A user that an organization's provider sees.
    pub fn find_user(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Option<(User, Identity)>> {
        let found = provided!(organization)
            .filter(identities::user_id.eq(user.0))
            .select((UserRow::as_select(), IdentityRow::as_select()))
            .get_result::<(UserRow, IdentityRow)>(c)
            .optional()?;
        Ok(found.map(to_provided))
    }
}

#[portable]
impl Identities<'_, Tx<'_>> {
    /// Gives an organization a provider with this uid and the digest of its token. One that is
    /// there keeps its uid, and gets the token in place of its old one.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when another organization's provider has the uid.
    pub fn upsert_provider(
        c: &mut Connection,
        organization: OrganizationId,
        uid: &str,
        token_hash: &[u8],
        made_by: Option<UserId>,
        now: Timestamp,
    ) -> Result<()> {
        let made_by = made_by.map(|user| user.0);
        diesel::insert_into(identity_providers::table)
            .values((
                identity_providers::organization_id.eq(organization.0),
                identity_providers::uid.eq(uid),
                identity_providers::token_hash.eq(token_hash),
                identity_providers::created_at.eq(now.0),
                identity_providers::rotated_at.eq(now.0),
                identity_providers::made_by.eq(made_by),
            ))
            .on_conflict(identity_providers::organization_id)
            .do_update()
            .set((
                identity_providers::token_hash.eq(token_hash),
                identity_providers::rotated_at.eq(now.0),
                identity_providers::used_at.eq(None::<i64>),
                identity_providers::made_by.eq(made_by),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Notes that a provider uses its token. With another token than the present one nothing
    /// happens.
    pub fn touch_provider(
        c: &mut Connection,
        organization: OrganizationId,
        token_hash: &[u8],
        now: Timestamp,
    ) -> Result<()> {
        let provider = identity_providers::table
            .find(organization.0)
            .filter(identity_providers::token_hash.eq(token_hash));
        diesel::update(provider)
            .set(identity_providers::used_at.eq(now.0))
            .execute(c)?;
        Ok(())
    }

    /// Makes a user known to a provider.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when the user is known to one already, or the provider knows
    /// another by the subject, removed ones among them.
    pub fn insert(c: &mut Connection, new: &Identity) -> Result<()> {
        diesel::insert_into(identities::table)
            .values((
                identities::user_id.eq(new.user.0),
                identities::organization_id.eq(new.organization.0),
                identities::subject.eq(&new.subject),
                identities::subject_key.eq(email_key(&new.subject)),
                identities::external_id.eq(&new.external_id),
                identities::version.eq(new.version),
                identities::created_at.eq(new.created_at.0),
                identities::updated_at.eq(new.updated_at.0),
                identities::stated_email.eq(&new.stated_email),
                identities::suspended_at.eq(new.suspended_at.map(|at| at.0)),
                identities::removed_at.eq(new.removed_at.map(|at| at.0)),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Writes what can change about an identity: all but its user, its provider and when it was
    /// made. A transaction that changes one locks the user
    /// ([`Users::lock`](crate::areas::Users::lock)) from before they read it.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Exists`] when the provider knows another by the subject, removed ones among
    /// them.
    pub fn update(c: &mut Connection, changed: &Identity) -> Result<()> {
        diesel::update(identities::table.find(changed.user.0))
            .set((
                identities::subject.eq(&changed.subject),
                identities::subject_key.eq(email_key(&changed.subject)),
                identities::external_id.eq(&changed.external_id),
                identities::version.eq(changed.version),
                identities::updated_at.eq(changed.updated_at.0),
                identities::stated_email.eq(&changed.stated_email),
                identities::suspended_at.eq(changed.suspended_at.map(|at| at.0)),
                identities::removed_at.eq(changed.removed_at.map(|at| at.0)),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Forgets what a provider knows of a user; the account stays.
    pub fn delete(c: &mut Connection, user: UserId) -> Result<()> {
        diesel::delete(identities::table.find(user.0)).execute(c)?;
        Ok(())
    }

    /// Counts a change of what the provider of an organization sees of some users. Those whom it
    /// does not know are passed over.
    pub fn touch_among(
        c: &mut Connection,
        organization: OrganizationId,
        users: &[UserId],
        now: Timestamp,
    ) -> Result<()> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let known = identities::table
            .filter(identities::organization_id.eq(organization.0))
            .filter(identities::user_id.eq_any(users));
        diesel::update(known)
            .set((
                identities::version.eq(identities::version + 1),
                identities::updated_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Counts a change of what a provider sees of a user. Without a provider that knows them,
    /// nothing happens.
    pub fn touch(c: &mut Connection, user: UserId, now: Timestamp) -> Result<()> {
        diesel::update(identities::table.find(user.0))
            .set((
                identities::version.eq(identities::version + 1),
                identities::updated_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }
}
