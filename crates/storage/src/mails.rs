//! Mail that waits to be sent, and the links that mails hold.

use std::collections::HashSet;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use eddyline_model::mail::{MailedLink, Purpose, QueuedMail};
use eddyline_model::{InvitationId, OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::Mails;
use crate::reader::Access;
use crate::schema::{links, mails};
use crate::transaction::Tx;
use crate::{Error, Result};

#[derive(Queryable, Selectable)]
#[diesel(table_name = mails)]
struct MailRow {
    id: i64,
    purpose: i16,
    target_id: i64,
    recipient: String,
    detail: Option<String>,
    attempts: i64,
    created_at: i64,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = links)]
struct LinkRow {
    purpose: i16,
    target_id: i64,
    email: Option<String>,
    expires_at: i64,
}

/// How many rows one statement adds, or how many numbers it is given.
const ROWS: usize = 500;

const INVITATION: i16 = 0;

/// The invitations that are due, in turns of organizations, each with its oldest first.
const DUE_INVITATIONS: &str = "
    with due as (
        select m.id, m.due_at,
            row_number() over (partition by f.organization_id order by m.due_at, m.id) as turn
        from mails m
        left join invitations i on i.id = m.target_id
        left join flows f on f.room_id = i.room_id
        where m.purpose = 0 and m.due_at <= $1
    )
    select id from due order by turn, due_at, id limit $2";

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

fn key(purpose: Purpose) -> (i16, i64) {
    match purpose {
        Purpose::Invitation(id) => (INVITATION, id.0),
        Purpose::PasswordReset(user) => (1, user.0),
        Purpose::EmailChange(user) => (2, user.0),
        Purpose::SignIn(user) => (3, user.0),
        Purpose::DeletionRequest(organization) => (4, organization.0),
        Purpose::DeletionCancel(organization) => (5, organization.0),
    }
}

fn purpose(code: i16, target: i64) -> Result<Purpose> {
    match code {
        INVITATION => Ok(Purpose::Invitation(InvitationId(target))),
        1 => Ok(Purpose::PasswordReset(UserId(target))),
        2 => Ok(Purpose::EmailChange(UserId(target))),
        3 => Ok(Purpose::SignIn(UserId(target))),
        4 => Ok(Purpose::DeletionRequest(OrganizationId(target))),
        5 => Ok(Purpose::DeletionCancel(OrganizationId(target))),
        _ => Err(Error::Corrupt("purpose of a mail")),
    }
}

fn to_mail(row: MailRow) -> Result<QueuedMail> {
    Ok(QueuedMail {
        id: row.id,
        purpose: purpose(row.purpose, row.target_id)?,
        recipient: row.recipient,
        detail: row.detail,
        attempts: row.attempts,
        created_at: Timestamp(row.created_at),
    })
}

/// A mail to be put into the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMail {
    /// What it is about.
    pub purpose: Purpose,
    /// The address it goes to.
    pub recipient: String,
    /// What it says beside.
    pub detail: Option<String>,
}

#[portable]
impl<C: Access> Mails<'_, C> {
    /// Whether such a mail waits already.
    pub fn contains(c: &mut Connection, about: Purpose) -> Result<bool> {
        let (purpose, target) = key(about);
        let waiting = mails::table
            .filter(mails::purpose.eq(purpose))
            .filter(mails::target_id.eq(target));
        Ok(diesel::select(diesel::dsl::exists(waiting)).get_result(c)?)
    }

    /// Those of some invitations whose mail waits already.
    pub fn list_waiting_invitations(
        c: &mut Connection,
        ids: &[InvitationId],
    ) -> Result<HashSet<InvitationId>> {
        let mut waiting = HashSet::new();
        for part in ids.chunks(ROWS) {
            let targets: Vec<i64> = part.iter().map(|id| id.0).collect();
            let rows = mails::table
                .filter(mails::purpose.eq(INVITATION))
                .filter(mails::target_id.eq_any(targets))
                .select(mails::target_id)
                .load::<i64>(c)?;
            waiting.extend(rows.into_iter().map(InvitationId));
        }
        Ok(waiting)
    }

    /// When the next mail is due; `None` when none waits.
    pub fn find_next_due(c: &mut Connection) -> Result<Option<Timestamp>> {
        Ok(mails::table
            .select(diesel::dsl::min(mails::due_at))
            .get_result::<Option<i64>>(c)?
            .map(Timestamp))
    }

    /// How many mails wait.
    pub fn count(c: &mut Connection) -> Result<i64> {
        Ok(mails::table.count().get_result(c)?)
    }

    /// The link with this digest, unless it has ended.
    pub fn find_link(
        c: &mut Connection,
        hash: &[u8],
        now: Timestamp,
    ) -> Result<Option<MailedLink>> {
        let row = links::table
            .find(hash)
            .filter(links::expires_at.gt(now.0))
            .select(LinkRow::as_select())
            .get_result(c)
            .optional()?;
        row.map(
            |LinkRow {
                 purpose: code,
                 target_id,
                 email,
                 expires_at,
             }| {
                Ok(MailedLink {
                    purpose: purpose(code, target_id)?,
                    email,
                    expires_at: Timestamp(expires_at),
                })
            },
        )
        .transpose()
    }

    /// When the last of the links that lead to something ends; `None` when there is none.
    pub fn find_last_link_end(c: &mut Connection, to: Purpose) -> Result<Option<Timestamp>> {
        let (purpose, target) = key(to);
        let end = links::table
            .filter(links::purpose.eq(purpose))
            .filter(links::target_id.eq(target))
            .select(diesel::dsl::max(links::expires_at))
            .get_result::<Option<i64>>(c)?;
        Ok(end.map(Timestamp))
    }
}

#[portable]
impl Mails<'_, Tx<'_>> {
    /// Puts mails into the queue.
    pub fn insert(c: &mut Connection, new: &[NewMail], now: Timestamp) -> Result<()> {
        for part in new.chunks(ROWS) {
            let rows: Vec<_> = part
                .iter()
                .map(|mail| {
                    let (purpose, target) = key(mail.purpose);
                    (
                        mails::purpose.eq(purpose),
                        mails::target_id.eq(target),
                        mails::recipient.eq(&mail.recipient),
                        mails::detail.eq(mail.detail.as_deref()),
                        mails::attempts.eq(0),
                        mails::due_at.eq(now.0),
                        mails::created_at.eq(now.0),
                    )
                })
                .collect();
            diesel::insert_into(mails::table).values(rows).execute(c)?;
        }
        Ok(())
    }

    /// Ends the links of some invitations, and takes their mails out of the queue.
    pub fn delete_of_invitations(c: &mut Connection, ids: &[InvitationId]) -> Result<()> {
        for part in ids.chunks(ROWS) {
            let targets: Vec<i64> = part.iter().map(|id| id.0).collect();
            // Mails first: the process that sends one locks it until its link is stored.
            let unsent = mails::table.filter(mails::purpose.eq(INVITATION));
            diesel::delete(unsent.filter(mails::target_id.eq_any(&targets))).execute(c)?;
            let ended = links::table.filter(links::purpose.eq(INVITATION));
            diesel::delete(ended.filter(links::target_id.eq_any(&targets))).execute(c)?;
        }
        Ok(())
    }

    /// Takes the mails that are due and puts them off until `again`, when they are due again unless
    /// they were sent: no other process takes them meanwhile. Oldest first, but those about an
    /// account before any invitation, of which one organization may have thousands: in these,
    /// organizations take turns.
    pub fn claim_due(
        c: &mut Connection,
        now: Timestamp,
        again: Timestamp,
        limit: i64,
    ) -> Result<Vec<QueuedMail>> {
        let mut ids: Vec<i64> = mails::table
            .filter(mails::due_at.le(now.0))
            .filter(mails::purpose.ne(INVITATION))
            .order((mails::due_at, mails::id))
            .limit(limit)
            .select(mails::id)
            .load(c)?;
        let invitations = diesel::sql_query(DUE_INVITATIONS)
            .bind::<BigInt, _>(now.0)
            .bind::<BigInt, _>(limit - ids.len() as i64)
            .load::<DueRow>(c)?;
        ids.extend(invitations.into_iter().map(|row| row.id));
        let mut taken = Vec::with_capacity(ids.len());
        for id in ids {
            // Asked again, since another process may have taken it since.
            let row = diesel::update(mails::table.find(id).filter(mails::due_at.le(now.0)))
                .set((
                    mails::due_at.eq(again.0),
                    mails::attempts.eq(mails::attempts + 1),
                ))
                .returning(MailRow::as_returning())
                .get_result(c)
                .optional()?;
            match row.map(to_mail).transpose() {
                Ok(mail) => taken.extend(mail),
                // Of a newer server, perhaps, which will send it.
                Err(error) => {
                    tracing::warn!(mail = id, %error, "a mail is left for another server");
                }
            }
        }
        Ok(taken)
    }

    /// Sets when a mail is to be tried again.
    pub fn postpone(c: &mut Connection, id: i64, until: Timestamp) -> Result<()> {
        diesel::update(mails::table.find(id))
            .set(mails::due_at.eq(until.0))
            .execute(c)?;
        Ok(())
    }

    /// Gives back a mail that was taken and never tried: it is due, and the taking does not count
    /// as an attempt. Nothing happens when it was taken again since.
    pub fn release(c: &mut Connection, mail: &QueuedMail, now: Timestamp) -> Result<()> {
        diesel::update(
            mails::table
                .find(mail.id)
                .filter(mails::attempts.eq(mail.attempts)),
        )
        .set((
            mails::due_at.eq(now.0),
            mails::attempts.eq(mail.attempts - 1),
        ))
        .execute(c)?;
        Ok(())
    }

    /// Takes a mail out of the queue: it was sent, or never will be.
    pub fn delete(c: &mut Connection, id: i64) -> Result<()> {
        diesel::delete(mails::table.find(id)).execute(c)?;
        Ok(())
    }

    /// Takes all mails about something out of the queue.
    pub fn delete_about(c: &mut Connection, about: Purpose) -> Result<()> {
        let (purpose, target) = key(about);
        diesel::delete(
            mails::table
                .filter(mails::purpose.eq(purpose))
                .filter(mails::target_id.eq(target)),
        )
        .execute(c)?;
        Ok(())
    }

    /// Takes the mails about something out of the queue that were put there since.
    pub fn delete_since(c: &mut Connection, about: Purpose, since: Timestamp) -> Result<()> {
        let (purpose, target) = key(about);
        let all = mails::table
            .filter(mails::purpose.eq(purpose))
            .filter(mails::target_id.eq(target));
        diesel::delete(all.filter(mails::created_at.ge(since.0))).execute(c)?;
        Ok(())
    }

    /// Adds a link by the digest of its secret.
    pub fn insert_link(c: &mut Connection, hash: &[u8], link: &MailedLink) -> Result<()> {
        let (purpose, target) = key(link.purpose);
        diesel::insert_into(links::table)
            .values((
                links::hash.eq(hash),
                links::purpose.eq(purpose),
                links::target_id.eq(target),
                links::email.eq(link.email.as_deref()),
                links::expires_at.eq(link.expires_at.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Ends all links that lead to something.
    pub fn delete_links(c: &mut Connection, to: Purpose) -> Result<()> {
        let (purpose, target) = key(to);
        diesel::delete(
            links::table
                .filter(links::purpose.eq(purpose))
                .filter(links::target_id.eq(target)),
        )
        .execute(c)?;
        Ok(())
    }

    /// Ends the links that lead to something and would not have ended before `end`.
    pub fn delete_links_ending_from(c: &mut Connection, to: Purpose, end: Timestamp) -> Result<()> {
        let (purpose, target) = key(to);
        let all = links::table
            .filter(links::purpose.eq(purpose))
            .filter(links::target_id.eq(target));
        diesel::delete(all.filter(links::expires_at.ge(end.0))).execute(c)?;
        Ok(())
    }

    /// Forgets the links that have ended.
    pub fn delete_ended_links(c: &mut Connection, now: Timestamp) -> Result<()> {
        diesel::delete(links::table.filter(links::expires_at.le(now.0))).execute(c)?;
        Ok(())
    }
}
