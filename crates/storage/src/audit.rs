//! The audit log: records of who did what to whom.
//!
//! Records are written last of all in their transaction, while it holds the clock of the log. So
//! they become visible in the order of their numbers, also with several servers, and who reads on
//! from a number misses none.

use std::cmp::Reverse;

use diesel::prelude::*;
use eddyline_model::audit::{
    AuditAuthor, AuditEntry, AuditFilter, AuditRange, AuditRecord, AuditTarget, actor,
};
use eddyline_model::messages::Sort;
use eddyline_model::{ApplicationId, OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::Audit;
use crate::reader::{Access, dialect};
use crate::schema::audit;
use crate::transaction::Tx;

/// What stands for no organization in the table.
const SERVER: i64 = 0;

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
    application_id: Option<i64>,
    address: Option<String>,
    target_kind: Option<String>,
    target_id: Option<String>,
    target_name: Option<String>,
}

fn to_record(row: Row) -> AuditRecord {
    let target = row.target_kind.map(|kind| AuditTarget {
        kind,
        id: row.target_id.unwrap_or_default(),
        name: row.target_name.unwrap_or_default(),
    });
    AuditRecord {
        id: row.id,
        organization: Some(row.organization_id)
            .filter(|id| *id != SERVER)
            .map(OrganizationId),
        at: Timestamp(row.at),
        actor: row.actor,
        application: row.application_id.map(ApplicationId),
        address: row.address,
        action: row.action,
        user: row.user_id.map(UserId),
        target,
        detail: row.detail,
    }
}

/// The questions that together find the records of a filter, each answered by an index in the order of
/// their numbers: one for each action, or one for what a user did and one for what was done to them.
fn questions(filter: &AuditFilter) -> Vec<AuditFilter> {
    if let Some(user) = filter.concerning {
        let (to, by) = (Some(user), Some(actor::user(user)));
        let rest = AuditFilter {
            concerning: None,
            ..filter.clone()
        };
        let about = AuditFilter {
            user: to,
            ..rest.clone()
        };
        let done_by = AuditFilter {
            actor: by.clone(),
            ..rest.clone()
        };
        let is_open = [
            (about, rest.user.is_none() || rest.user == to),
            (done_by, rest.actor.is_none() || rest.actor == by),
        ];
        return is_open
            .into_iter()
            .filter_map(|(question, is_open)| is_open.then_some(question))
            .collect();
    }
    let by_action =
        filter.organization.is_some() && filter.actor.is_none() && filter.user.is_none();
    if !by_action || filter.actions.len() < 2 {
        return vec![filter.clone()];
    }
    let each = filter.actions.iter().map(|action| AuditFilter {
        actions: vec![action.clone()],
        ..filter.clone()
    });
    each.collect()
}

/// The records that a filter wants, in no order yet.
macro_rules! wanted {
    ($filter:expr) => {{
        let filter: &AuditFilter = $filter;
        let mut rows = audit::table.select(Row::as_select()).into_boxed();
        if let Some(organization) = filter.organization {
            rows = rows.filter(audit::organization_id.eq(organization.0));
        }
        match filter.actions.as_slice() {
            [] => {}
            [action] => rows = rows.filter(audit::action.eq(action.clone())),
            several => rows = rows.filter(audit::action.eq_any(several.to_vec())),
        }
        if let Some(actor) = &filter.actor {
            rows = rows.filter(audit::actor.eq(actor.clone()));
        }
        if let Some(user) = filter.user {
            rows = rows.filter(audit::user_id.eq(user.0));
        }
        if let Some(since) = filter.since {
            rows = rows.filter(audit::at.ge(since.0));
        }
        if let Some(until) = filter.until {
            rows = rows.filter(audit::at.lt(until.0));
        }
        rows
    }};
}

impl<C: Access> Audit<'_, C> {
    /// The records that the filter wants, as many of them and in the order as the range says.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn list(&mut self, filter: &AuditFilter, range: AuditRange) -> Result<Vec<AuditRecord>> {
        let mut found = Vec::new();
        for question in questions(filter) {
            found.extend(self.list_rows(&question, range)?);
        }
        match range.sort {
            Sort::Descending => found.sort_unstable_by_key(|row| Reverse(row.id)),
            Sort::Ascending => found.sort_unstable_by_key(|row| row.id),
        }
        // What a user did to themselves is found twice.
        found.dedup_by_key(|row| row.id);
        let limit = usize::try_from(range.limit).unwrap_or(0);
        Ok(found.into_iter().take(limit).map(to_record).collect())
    }
}

#[portable]
impl<C: Access> Audit<'_, C> {
    /// The rows that a single question finds.
    fn list_rows(c: &mut Connection, filter: &AuditFilter, range: AuditRange) -> Result<Vec<Row>> {
        let mut rows = wanted!(filter).limit(range.limit.max(0));
        if let Some(after) = range.after {
            rows = rows.filter(audit::id.gt(after));
        }
        if let Some(before) = range.before {
            rows = rows.filter(audit::id.lt(before));
        }
        rows = match range.sort {
            Sort::Descending => rows.order(audit::id.desc()),
            Sort::Ascending => rows.order(audit::id.asc()),
        };
        Ok(rows.load(c)?)
    }

    /// The number of the last record; 0 where there is none.
    pub fn find_last(c: &mut Connection) -> Result<i64> {
        let last: Option<i64> = audit::table.select(diesel::dsl::max(audit::id)).first(c)?;
        Ok(last.unwrap_or(0))
    }

    /// How many records come behind this number.
    pub fn count_after(c: &mut Connection, after: i64) -> Result<i64> {
        let behind = audit::table.filter(audit::id.gt(after));
        Ok(behind.count().get_result(c)?)
    }
}

impl Audit<'_, Tx<'_>> {
    /// Keeps a record of a change. It belongs into the transaction of that change, so that there is
    /// neither without the other.
    ///
    /// # Errors
    ///
    /// None yet: the record is written with the last statements of the transaction.
    pub fn insert(&mut self, entry: &AuditEntry) -> Result<()> {
        self.0.record_audit(entry.clone());
        Ok(())
    }

    /// Writes the records of the transaction. The caller holds the clock of the log, or takes it
    /// after this.
    pub(crate) fn append_pending(&mut self) -> Result<()> {
        let (entries, author) = self.0.take_audit();
        if entries.is_empty() {
            return Ok(());
        }
        // Held until the commit, which makes the order of numbers the order of commits.
        let _: i64 = dialect!(self, advance_clock, 0)?;
        let now = self.0.now();
        for entry in &entries {
            self.insert_row(entry, &author, now)?;
        }
        Ok(())
    }
}

#[portable]
impl Audit<'_, Tx<'_>> {
    fn insert_row(
        c: &mut Connection,
        entry: &AuditEntry,
        author: &AuditAuthor,
        now: Timestamp,
    ) -> Result<()> {
        let target = entry.target.as_ref();
        let is_by_server = entry.actor.as_deref() == Some(actor::SERVER);
        let application = author.application.filter(|_| !is_by_server);
        let address = author.address.filter(|_| !is_by_server);
        diesel::insert_into(audit::table)
            .values((
                audit::organization_id.eq(entry.organization.map_or(SERVER, |id| id.0)),
                audit::at.eq(now.0),
                audit::actor.eq(entry.actor.as_ref().unwrap_or(&author.actor)),
                audit::action.eq(entry.action.name()),
                audit::user_id.eq(entry.user.map(|id| id.0)),
                audit::detail.eq(&entry.detail),
                audit::application_id.eq(application.map(|id| id.0)),
                audit::address.eq(address.map(|address| address.to_string())),
                audit::target_kind.eq(target.map(|target| &target.kind)),
                audit::target_id.eq(target.map(|target| &target.id)),
                audit::target_name.eq(target.map(|target| &target.name)),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Deletes at most `limit` records from before a time, of those up to the number `through` where
    /// one is given, and gives how many there were. The last record of all stays, so that numbers are
    /// never given out again.
    pub fn delete_until(
        c: &mut Connection,
        until: Timestamp,
        through: Option<i64>,
        limit: i64,
    ) -> Result<usize> {
        let last: Option<i64> = audit::table.select(diesel::dsl::max(audit::id)).first(c)?;
        let through = through.unwrap_or(i64::MAX);
        let ids: Vec<i64> = audit::table
            .filter(audit::at.lt(until.0))
            .filter(audit::id.lt(last.unwrap_or(0)))
            .filter(audit::id.le(through))
            .limit(limit)
            .select(audit::id)
            .load(c)?;
        Ok(diesel::delete(audit::table.filter(audit::id.eq_any(ids))).execute(c)?)
    }

    /// Removes what records say of a user beyond the number: details of what was done to them, and
    /// the addresses that they acted from, also before they had shown who they are. For a user who is
    /// erased.
    pub fn clear_user(c: &mut Connection, user: UserId) -> Result<()> {
        diesel::update(audit::table.filter(audit::user_id.eq(user.0)))
            .set((
                audit::detail.eq("{}"),
                audit::target_name.eq(None::<String>),
            ))
            .execute(c)?;
        let refused = audit::user_id
            .assume_not_null()
            .eq(user.0)
            .and(audit::actor.eq(actor::UNKNOWN));
        let own = audit::actor.eq(actor::user(user)).or(refused);
        let own = audit::table.filter(own);
        diesel::update(own)
            .set(audit::address.eq(None::<String>))
            .execute(c)?;
        Ok(())
    }
}
