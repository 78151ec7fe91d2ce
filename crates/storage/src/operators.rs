//! What operators list, page by page, and the few things that only they change.

use std::collections::HashMap;

use diesel::prelude::*;
use eddyline_model::applications::Application;
use eddyline_model::flows::Flow;
use eddyline_model::organizations::{Organization, OrganizationRole};
use eddyline_model::users::User;
use eddyline_model::{ApplicationId, OrganizationId, RoomId, SourceId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::applications::{self as apps, to_application};
use crate::areas::{
    Applications, Flows, Identities, Nodes, OrganizationMembers, Organizations, Settings, Sources,
    Users,
};
use crate::flows::{FlowRow, RoomRow, to_flow};
use crate::organizations::{Row as OrganizationRow, to_organization};
use crate::reader::Access;
use crate::schema::{
    api_tokens, applications, flow_tokens, flows, identities, identity_providers, nodes,
    organization_members, organization_names, organizations, room_members, rooms, sessions,
    settings, users,
};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};

/// A token of a flow, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowToken {
    /// The digest of the secret.
    pub hash: Vec<u8>,
    /// The source that the token is of; `None` for a token of the flow itself.
    pub source: Option<SourceId>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What is known of the identity provider of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderDetails {
    /// What its addresses name the organization by.
    pub uid: String,
    /// Whether any token is taken.
    pub enabled: bool,
    /// When it was let in first.
    pub created_at: Timestamp,
    /// When its token was last replaced or taken away.
    pub rotated_at: Timestamp,
    /// When its present token was last used; noted once an hour.
    pub used_at: Option<Timestamp>,
    /// The user who made its token. `None` where an operator did.
    pub made_by: Option<UserId>,
    /// How many users it sees.
    pub users: i64,
}

#[portable]
impl<C: Access> Organizations<'_, C> {
    /// Organizations with a number above `after`, ordered by number.
    pub fn list_page(
        c: &mut Connection,
        after: OrganizationId,
        limit: i64,
    ) -> Result<Vec<Organization>> {
        let rows = organizations::table
            .filter(organizations::id.gt(after.0))
            .order(organizations::id)
            .limit(limit)
            .select(OrganizationRow::as_select())
            .load(c)?;
        rows.into_iter().map(to_organization).collect()
    }

    /// The names in URLs that lead to an organization, the present one among them.
    pub fn list_names(c: &mut Connection, id: OrganizationId) -> Result<Vec<String>> {
        Ok(organization_names::table
            .filter(organization_names::organization_id.eq(id.0))
            .order(organization_names::parameterized_name)
            .select(organization_names::parameterized_name)
            .load(c)?)
    }
}

#[portable]
impl<C: Access> Users<'_, C> {
    /// Users with a number above `after`, ordered by number.
    pub fn list_page(c: &mut Connection, after: UserId, limit: i64) -> Result<Vec<User>> {
        let rows = users::table
            .filter(users::id.gt(after.0))
            .order(users::id)
            .limit(limit)
            .select(UserRow::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(to_user).collect())
    }

    /// How many API tokens and sessions a user has.
    pub fn count_credentials(c: &mut Connection, user: UserId) -> Result<(i64, i64)> {
        let tokens = api_tokens::table
            .filter(api_tokens::user_id.eq(user.0))
            .count()
            .get_result(&mut *c)?;
        let sessions = sessions::table
            .filter(sessions::user_id.eq(user.0))
            .count()
            .get_result(c)?;
        Ok((tokens, sessions))
    }
}

#[portable]
impl<C: Access> OrganizationMembers<'_, C> {
    /// The same of those in an organization, each with whether they administer it.
    pub fn list_users_page(
        c: &mut Connection,
        organization: OrganizationId,
        after: UserId,
        limit: i64,
    ) -> Result<Vec<(User, bool)>> {
        let rows = organization_members::table
            .inner_join(users::table.on(users::id.eq(organization_members::user_id)))
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(users::id.gt(after.0))
            .order(users::id)
            .limit(limit)
            .select((UserRow::as_select(), organization_members::admin))
            .load::<(UserRow, bool)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(row, admin)| (to_user(row), admin))
            .collect())
    }
}

#[portable]
impl<C: Access> Flows<'_, C> {
    /// Flows of an organization in rooms above `after`, ordered by room, each with how many people
    /// are in it.
    pub fn list_page(
        c: &mut Connection,
        organization: OrganizationId,
        after: RoomId,
        limit: i64,
    ) -> Result<Vec<(Flow, i64)>> {
        let rows = flows::table
            .inner_join(rooms::table.on(rooms::id.eq(flows::room_id)))
            .filter(flows::organization_id.eq(organization.0))
            .filter(flows::room_id.gt(after.0))
            .order(flows::room_id)
            .limit(limit)
            .select((FlowRow::as_select(), RoomRow::as_select()))
            .load::<(FlowRow, RoomRow)>(&mut *c)?;
        let found = rows
            .into_iter()
            .map(to_flow)
            .collect::<Result<Vec<Flow>>>()?;
        let ids: Vec<i64> = found.iter().map(|flow| flow.room.0).collect();
        let counts = room_members::table
            .filter(room_members::room_id.eq_any(ids))
            .filter(room_members::blocked.eq(false))
            .group_by(room_members::room_id)
            .select((room_members::room_id, diesel::dsl::count_star()))
            .load::<(i64, i64)>(c)?;
        let count_of: HashMap<i64, i64> = counts.into_iter().collect();
        let with_count = |flow: Flow| {
            let count = count_of.get(&flow.room.0).copied().unwrap_or_default();
            (flow, count)
        };
        Ok(found.into_iter().map(with_count).collect())
    }
}

#[portable]
impl<C: Access> Applications<'_, C> {
    /// Applications with a number above `after`, ordered by number: all, or those of an
    /// organization.
    pub fn list_page(
        c: &mut Connection,
        organization: Option<OrganizationId>,
        after: ApplicationId,
        limit: i64,
    ) -> Result<Vec<Application>> {
        let mut query = applications::table
            .filter(applications::id.gt(after.0))
            .into_boxed();
        if let Some(organization) = organization {
            query = query.filter(applications::organization_id.eq(organization.0));
        }
        let rows = query
            .order(applications::id)
            .limit(limit)
            .select(apps::Row::as_select())
            .load(c)?;
        rows.into_iter().map(to_application).collect()
    }

    /// How many applications have a sealed secret.
    pub fn count_sealed_secrets(c: &mut Connection) -> Result<i64> {
        Ok(applications::table
            .filter(applications::secret.is_not_null())
            .count()
            .get_result(c)?)
    }
}

#[portable]
impl<C: Access> Sources<'_, C> {
    /// The tokens of a flow, its sources' among them, the oldest first.
    pub fn list_tokens(c: &mut Connection, room: RoomId) -> Result<Vec<FlowToken>> {
        let rows = flow_tokens::table
            .filter(flow_tokens::room_id.eq(room.0))
            .order((flow_tokens::created_at, flow_tokens::hash))
            .select((
                flow_tokens::hash,
                flow_tokens::source_id,
                flow_tokens::created_at,
            ))
            .load::<(Vec<u8>, Option<i64>, i64)>(c)?;
        let whole = |(hash, source, at): (_, Option<i64>, _)| FlowToken {
            hash,
            source: source.map(SourceId),
            created_at: Timestamp(at),
        };
        Ok(rows.into_iter().map(whole).collect())
    }
}

#[portable]
impl<C: Access> Identities<'_, C> {
    /// What is known of the identity provider of an organization, if it ever had one.
    pub fn find_provider_details(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Option<ProviderDetails>> {
        let found = identity_providers::table
            .find(organization.0)
            .select((
                identity_providers::uid,
                identity_providers::token_hash,
                identity_providers::created_at,
                identity_providers::rotated_at,
                identity_providers::used_at,
                identity_providers::made_by,
            ))
            .first::<(String, Vec<u8>, i64, i64, Option<i64>, Option<i64>)>(&mut *c)
            .optional()?;
        let Some((uid, hash, created, rotated, used, made_by)) = found else {
            return Ok(None);
        };
        let users = identities::table
            .inner_join(users::table.on(users::id.eq(identities::user_id)))
            .filter(identities::organization_id.eq(organization.0))
            .filter(identities::removed_at.is_null())
            .filter(users::bot.eq(false))
            .count()
            .get_result(c)?;
        Ok(Some(ProviderDetails {
            uid,
            enabled: !hash.is_empty(),
            created_at: Timestamp(created),
            rotated_at: Timestamp(rotated),
            used_at: used.map(Timestamp),
            made_by: made_by.map(UserId),
            users,
        }))
    }
}

#[portable]
impl<C: Access> Nodes<'_, C> {
    /// How many serving processes showed a sign of life since `since`.
    pub fn count(c: &mut Connection, since: Timestamp) -> Result<i64> {
        Ok(nodes::table
            .filter(nodes::heartbeat.ge(since.0))
            .count()
            .get_result(c)?)
    }
}

#[portable]
impl OrganizationMembers<'_, Tx<'_>> {
    /// Sets what a user is in an organization.
    pub fn set_role(
        c: &mut Connection,
        organization: OrganizationId,
        user: UserId,
        role: OrganizationRole,
    ) -> Result<()> {
        let admin = role == OrganizationRole::Administrator;
        diesel::update(organization_members::table.find((organization.0, user.0)))
            .set(organization_members::admin.eq(admin))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Sources<'_, Tx<'_>> {
    /// Ends a token of a flow, and tells whether there was one.
    pub fn delete_token(c: &mut Connection, hash: &[u8]) -> Result<bool> {
        Ok(diesel::delete(flow_tokens::table.find(hash)).execute(c)? > 0)
    }
}

#[portable]
impl Identities<'_, Tx<'_>> {
    /// Takes the token of an organization's provider away, so that none is taken any more. Its uid
    /// stays, and so do the users that it is linked to.
    pub fn clear_provider_token(
        c: &mut Connection,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<()> {
        diesel::update(identity_providers::table.find(organization.0))
            .set((
                identity_providers::token_hash.eq(Vec::<u8>::new()),
                identity_providers::rotated_at.eq(now.0),
                identity_providers::used_at.eq(None::<i64>),
                identity_providers::made_by.eq(None::<i64>),
            ))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Settings<'_, Tx<'_>> {
    /// Sets a value that all processes share, in place of the one that there is.
    pub fn upsert(c: &mut Connection, name: &str, value: &[u8]) -> Result<()> {
        diesel::insert_into(settings::table)
            .values((settings::name.eq(name), settings::value.eq(value)))
            .on_conflict(settings::name)
            .do_update()
            .set(settings::value.eq(value))
            .execute(c)?;
        Ok(())
    }
}
