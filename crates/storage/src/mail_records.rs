//! Records of mail that was caused within the last day, by which quotas on mail are counted. They
//! stand in the database and not in memory, so that a quota holds over all processes.

use diesel::prelude::*;
use eddyline_model::mail::MailKind;
use eddyline_model::{OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::MailRecords;
use crate::reader::Access;
use crate::schema::mail_records;
use crate::transaction::Tx;

/// How many rows one statement adds, or how many keys it is given.
const ROWS: usize = 500;

/// The lock of PostgreSQL that serializes those who count mail and record it.
#[cfg(feature = "postgres")]
const LOCK: i64 = 0x6d61_696c;

/// A mail that was caused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailRecord {
    /// The address it went to, in the form by which addresses are compared.
    pub recipient: String,
    /// The user who caused it, if it was a user.
    pub sender: Option<UserId>,
    /// The organization that caused it, if it was one.
    pub organization: Option<OrganizationId>,
    /// The time at which it was caused.
    pub at: Timestamp,
}

fn code(kind: MailKind) -> i16 {
    match kind {
        MailKind::Invitation => 0,
        MailKind::JoinRequest => 1,
        MailKind::Account => 2,
        MailKind::Deletion => 3,
    }
}

#[portable]
impl<C: Access> MailRecords<'_, C> {
    /// The mail of a kind to these recipients since a time, in no order.
    pub fn list_to(
        c: &mut Connection,
        kind: MailKind,
        recipients: &[&str],
        since: Timestamp,
    ) -> Result<Vec<MailRecord>> {
        let mut mails = Vec::new();
        for part in recipients.chunks(ROWS) {
            let rows = mail_records::table
                .filter(mail_records::recipient_key.eq_any(part.iter().copied()))
                .filter(mail_records::kind.eq(code(kind)))
                .filter(mail_records::at.gt(since.0))
                .select((
                    mail_records::recipient_key,
                    mail_records::sender_id,
                    mail_records::organization_id,
                    mail_records::at,
                ))
                .load::<(String, Option<i64>, Option<i64>, i64)>(c)?;
            mails.extend(
                rows.into_iter()
                    .map(|(recipient, sender, organization, at)| MailRecord {
                        recipient,
                        sender: sender.map(UserId),
                        organization: organization.map(OrganizationId),
                        at: Timestamp(at),
                    }),
            );
        }
        Ok(mails)
    }

    /// How much mail a user has caused since a time.
    pub fn count_by_sender(c: &mut Connection, sender: UserId, since: Timestamp) -> Result<i64> {
        let all = mail_records::table.filter(mail_records::sender_id.eq(sender.0));
        Ok(all
            .filter(mail_records::at.gt(since.0))
            .count()
            .get_result(c)?)
    }

    /// When a user caused the mail that is the `n`th from the last one, which is the 0th.
    pub fn find_nth_last_by_sender(
        c: &mut Connection,
        sender: UserId,
        n: i64,
    ) -> Result<Option<Timestamp>> {
        let all = mail_records::table.filter(mail_records::sender_id.eq(sender.0));
        let at = all
            .order(mail_records::at.desc())
            .offset(n)
            .select(mail_records::at)
            .first(c)
            .optional()?;
        Ok(at.map(Timestamp))
    }

    /// How much mail of a kind an organization has caused since a time.
    pub fn count_of_organization(
        c: &mut Connection,
        kind: MailKind,
        organization: OrganizationId,
        since: Timestamp,
    ) -> Result<i64> {
        let all = mail_records::table
            .filter(mail_records::organization_id.eq(organization.0))
            .filter(mail_records::kind.eq(code(kind)));
        Ok(all
            .filter(mail_records::at.gt(since.0))
            .count()
            .get_result(c)?)
    }

    /// When an organization caused the mail of a kind that is the `n`th from the last one, which is
    /// the 0th.
    pub fn find_nth_last_of_organization(
        c: &mut Connection,
        kind: MailKind,
        organization: OrganizationId,
        n: i64,
    ) -> Result<Option<Timestamp>> {
        let all = mail_records::table
            .filter(mail_records::organization_id.eq(organization.0))
            .filter(mail_records::kind.eq(code(kind)));
        let at = all
            .order(mail_records::at.desc())
            .offset(n)
            .select(mail_records::at)
            .first(c)
            .optional()?;
        Ok(at.map(Timestamp))
    }
}

#[portable]
impl MailRecords<'_, Tx<'_>> {
    /// Records mail to each of these recipients, who are given in the form by which addresses are
    /// compared.
    pub fn insert(
        c: &mut Connection,
        kind: MailKind,
        recipients: &[&str],
        sender: Option<UserId>,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> Result<()> {
        for part in recipients.chunks(ROWS) {
            let rows: Vec<_> = part
                .iter()
                .map(|recipient| {
                    (
                        mail_records::kind.eq(code(kind)),
                        mail_records::recipient_key.eq(*recipient),
                        mail_records::sender_id.eq(sender.map(|user| user.0)),
                        mail_records::organization_id
                            .eq(organization.map(|organization| organization.0)),
                        mail_records::at.eq(now.0),
                    )
                })
                .collect();
            diesel::insert_into(mail_records::table)
                .values(rows)
                .execute(c)?;
        }
        Ok(())
    }

    /// Deletes at most `limit` records of mail up to a time, and gives how many there were.
    pub fn delete_until(c: &mut Connection, until: Timestamp, limit: i64) -> Result<usize> {
        let ids: Vec<i64> = mail_records::table
            .filter(mail_records::at.le(until.0))
            .limit(limit)
            .select(mail_records::id)
            .load(c)?;
        Ok(diesel::delete(mail_records::table.filter(mail_records::id.eq_any(ids))).execute(c)?)
    }
}

impl MailRecords<'_, Tx<'_>> {
    /// Makes every other transaction that counts mail wait for the end of this one. To be called
    /// after rooms, organizations and users are locked.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            diesel::sql_query("select pg_advisory_xact_lock($1)")
                .bind::<diesel::sql_types::BigInt, _>(LOCK)
                .execute(c)?;
        }
        // A transaction that writes to SQLite is alone.
        Ok(())
    }
}
