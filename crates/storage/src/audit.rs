//! What was done to an organization's users from outside, for those who ask later.

use diesel::prelude::*;
use eddyline_model::audit::AuditEntry;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Audit;
use crate::reader::Access;
use crate::schema::audit;
use crate::transaction::Tx;

#[derive(Queryable, Selectable)]
#[diesel(table_name = audit)]
struct Row {
    id: i64,
    organization_id: i64,
    at: i64,
    actor: String,
    action: String,
    user_id: Option<i64>,
    detail: String,
}

fn to_entry(row: Row) -> (i64, AuditEntry) {
    let entry = AuditEntry {
        organization: OrganizationId(row.organization_id),
        at: Timestamp(row.at),
        actor: row.actor,
        action: row.action,
        user: row.user_id.map(UserId),
        detail: row.detail,
    };
    (row.id, entry)
}

#[portable]
impl<C: Access> Audit<'_, C> {
    /// At most `limit` records of an organization with their numbers, the newest first: the newest
    /// of all, or of those with a number below `before`.
    pub fn list(
        c: &mut Connection,
        organization: OrganizationId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, AuditEntry)>> {
        let rows = audit::table
            .filter(audit::organization_id.eq(organization.0))
            .filter(audit::id.lt(before.unwrap_or(i64::MAX)))
            .order(audit::id.desc())
            .limit(limit.max(0))
            .select(Row::as_select())
            .load(c)?;
        Ok(rows.into_iter().map(to_entry).collect())
    }
}

#[portable]
impl Audit<'_, Tx<'_>> {
    /// Keeps a record of a change. It belongs into the transaction of that change, so that there is
    /// neither without the other.
    pub fn insert(c: &mut Connection, entry: &AuditEntry) -> Result<()> {
        diesel::insert_into(audit::table)
            .values((
                audit::organization_id.eq(entry.organization.0),
                audit::at.eq(entry.at.0),
                audit::actor.eq(&entry.actor),
                audit::action.eq(&entry.action),
                audit::user_id.eq(entry.user.map(|id| id.0)),
                audit::detail.eq(&entry.detail),
            ))
            .execute(c)?;
        Ok(())
    }
}
