//! Destinations of the audit log, and how far each has taken it.

use diesel::prelude::*;
use eddyline_model::Timestamp;
use eddyline_portable::portable;

use crate::Result;
use crate::areas::AuditExports;
use crate::reader::Access;
use crate::schema::{audit_exports, nodes};
use crate::transaction::Tx;

/// A destination of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditExport {
    /// Its name among the destinations.
    pub name: String,
    /// The number of the last record that it has taken.
    pub last_id: i64,
    /// The process that sends to it ([`ServingNode::id`](crate::ServingNode::id)); empty before the first.
    pub holder: String,
    /// When it last took records; before it took any, since when it is a destination.
    pub updated_at: Timestamp,
}

fn to_export((name, last_id, holder, updated_at): (String, i64, String, i64)) -> AuditExport {
    AuditExport {
        name,
        last_id,
        holder,
        updated_at: Timestamp(updated_at),
    }
}

#[portable]
impl<C: Access> AuditExports<'_, C> {
    /// The destination with this name.
    pub fn find(c: &mut Connection, name: &str) -> Result<Option<AuditExport>> {
        let found = audit_exports::table.find(name).first(c).optional()?;
        Ok(found.map(to_export))
    }

    /// All destinations, those that are configured no longer among them, by their names.
    pub fn list(c: &mut Connection) -> Result<Vec<AuditExport>> {
        let rows: Vec<(String, i64, String, i64)> = audit_exports::table
            .order(audit_exports::name.asc())
            .load(c)?;
        Ok(rows.into_iter().map(to_export).collect())
    }
}

#[portable]
impl AuditExports<'_, Tx<'_>> {
    /// Adds a destination that has taken the records up to this one, unless it is there.
    pub fn insert(c: &mut Connection, name: &str, last_id: i64, now: Timestamp) -> Result<()> {
        diesel::insert_into(audit_exports::table)
            .values((
                audit_exports::name.eq(name),
                audit_exports::last_id.eq(last_id),
                audit_exports::holder.eq(""),
                audit_exports::updated_at.eq(now.0),
            ))
            .on_conflict_do_nothing()
            .execute(c)?;
        Ok(())
    }

    /// Makes a process the one that sends to a destination, unless another one does that has shown a
    /// sign of life since `since`. Says whether it is the one.
    pub fn claim(c: &mut Connection, name: &str, node: &str, since: Timestamp) -> Result<bool> {
        let export = audit_exports::table.find(name);
        let holder: Option<String> = export.select(audit_exports::holder).first(c).optional()?;
        let Some(holder) = holder else {
            return Ok(false);
        };
        let living = nodes::table
            .filter(nodes::id.eq(&holder))
            .filter(nodes::heartbeat.ge(since.0));
        if holder != node && living.count().get_result::<i64>(c)? > 0 {
            return Ok(false);
        }
        // Unless another process was faster.
        let unclaimed = export.filter(audit_exports::holder.eq(&holder));
        let claimed = diesel::update(unclaimed)
            .set(audit_exports::holder.eq(node))
            .execute(c)?;
        Ok(claimed > 0)
    }

    /// Notes that a destination which had taken the log up to one record has taken it up to another,
    /// unless another process sends to it meanwhile, or it was set back. Says whether it was noted.
    pub fn advance(
        c: &mut Connection,
        name: &str,
        node: &str,
        taken: (i64, i64),
        now: Timestamp,
    ) -> Result<bool> {
        let (from, last_id) = taken;
        let held = audit_exports::table
            .find(name)
            .filter(audit_exports::last_id.eq(from))
            .filter(audit_exports::holder.eq(node));
        let advanced = diesel::update(held)
            .set((
                audit_exports::last_id.eq(last_id),
                audit_exports::updated_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(advanced > 0)
    }

    /// Lets a destination get the records behind this one again, whichever process sends.
    pub fn set_back(c: &mut Connection, name: &str, after: i64) -> Result<()> {
        let ahead = audit_exports::table
            .find(name)
            .filter(audit_exports::last_id.gt(after));
        diesel::update(ahead)
            .set(audit_exports::last_id.eq(after))
            .execute(c)?;
        Ok(())
    }
}
