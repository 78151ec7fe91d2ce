//! Organizations and who belongs to them.

use diesel::prelude::*;
use eddyline_model::organizations::{Organization, OrganizationMembership, OrganizationRole, Subscription};
use eddyline_model::{Day, OrganizationId, Timestamp, UserId};

use crate::schema::{organization_members, organization_names, organizations};
use crate::session::{Session, portable};
use crate::{Error, Result};

type Row = (i64, String, String, i64, bool, Option<i64>, i64, Option<String>, Option<String>);

fn to_day(text: Option<String>) -> Result<Option<Day>> {
    text.map(|text| text.parse().map_err(|_| Error::Corrupt("day"))).transpose()
}

fn to_organization(row: Row, user_count: i64) -> Result<Organization> {
    let (id, name, parameterized_name, user_limit, active, parent, created_at, trial_ends, billing_date) =
        row;
    let subscription = match to_day(trial_ends)? {
        Some(ends) => Subscription::Trial { ends },
        None => Subscription::Paid { next_bill: to_day(billing_date)? },
    };
    Ok(Organization {
        id: OrganizationId(id),
        name,
        parameterized_name,
        user_limit,
        user_count,
        active,
        parent: parent.map(OrganizationId),
        created_at: Timestamp(created_at),
        subscription,
    })
}

portable! {
    /// Adds an organization.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when the name is taken.
    pub fn insert_organization(c, name: &str, parameterized_name: &str, user_limit: i64, now: Timestamp) -> Result<OrganizationId> {
        let id = diesel::insert_into(organizations::table)
            .values((
                organizations::name.eq(name),
                organizations::parameterized_name.eq(parameterized_name),
                organizations::user_limit.eq(user_limit),
                organizations::active.eq(true),
                organizations::created_at.eq(now.0),
            ))
            .returning(organizations::id)
            .get_result(c)?;
        Ok(OrganizationId(id))
    }

    /// The organization with this number.
    pub fn organization(c, id: OrganizationId) -> Result<Option<Organization>> {
        let Some(row) = organizations::table.find(id.0).get_result::<Row>(c).optional()? else { return Ok(None) };
        let count = organization_members::table
            .filter(organization_members::organization_id.eq(id.0))
            .count()
            .get_result(c)?;
        to_organization(row, count).map(Some)
    }

    /// The number of the organization that has this name, or had it before.
    pub fn organization_id_by_name(c, parameterized_name: &str) -> Result<Option<OrganizationId>> {
        let id = organizations::table
            .filter(organizations::parameterized_name.eq(parameterized_name))
            .select(organizations::id)
            .get_result::<i64>(c)
            .optional()?;
        if let Some(id) = id {
            return Ok(Some(OrganizationId(id)));
        }
        let former = organization_names::table.find(parameterized_name).select(organization_names::organization_id);
        Ok(former.get_result::<i64>(c).optional()?.map(OrganizationId))
    }

    /// Brings a user into an organization.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the organization is full, [`Error::Exists`] when the user is in it
    /// or the nick is taken there.
    pub fn insert_organization_member(c, membership: OrganizationMembership, nick_key: &str, now: Timestamp) -> Result<()> {
        let organization = Session::from(&mut *c)
            .lock_organization(membership.organization)?
            .ok_or(Error::Refused("no such organization"))?;
        if organization.user_count >= organization.user_limit {
            return Err(Error::Refused("the organization's user limit is reached"));
        }
        diesel::insert_into(organization_members::table)
            .values((
                organization_members::organization_id.eq(membership.organization.0),
                organization_members::user_id.eq(membership.user.0),
                organization_members::nick_key.eq(nick_key),
                organization_members::admin.eq(membership.role == OrganizationRole::Administrator),
                organization_members::created_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Whether somebody else in an organization has a nick with this key.
    pub fn nick_is_taken(c, organization: OrganizationId, nick_key: &str, but: UserId) -> Result<bool> {
        let others = organization_members::table
            .filter(organization_members::organization_id.eq(organization.0))
            .filter(organization_members::nick_key.eq(nick_key))
            .filter(organization_members::user_id.ne(but.0));
        Ok(diesel::select(diesel::dsl::exists(others)).get_result(c)?)
    }

    /// The organizations a user belongs to.
    pub fn memberships_of(c, user: UserId) -> Result<Vec<OrganizationMembership>> {
        let rows = organization_members::table
            .filter(organization_members::user_id.eq(user.0))
            .order(organization_members::organization_id)
            .select((organization_members::organization_id, organization_members::admin))
            .load::<(i64, bool)>(c)?;
        Ok(rows
            .into_iter()
            .map(|(organization, admin)| OrganizationMembership {
                organization: OrganizationId(organization),
                user,
                role: if admin { OrganizationRole::Administrator } else { OrganizationRole::Member },
            })
            .collect())
    }
}

impl Session<'_> {
    /// The organization, held against other writers until the transaction ends, so that counting
    /// its people and adding one is one step.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_organization(&mut self, id: OrganizationId) -> Result<Option<Organization>> {
        match &mut self.0 {
            #[cfg(feature = "postgres")]
            crate::session::Inner::Postgres(c) => {
                organizations::table
                    .find(id.0)
                    .select(organizations::id)
                    .for_update()
                    .get_result::<i64>(*c)
                    .optional()?;
            }
            // Whoever writes to SQLite writes alone.
            #[cfg(feature = "sqlite")]
            crate::session::Inner::Sqlite(_) => {}
        }
        self.organization(id)
    }
}
