//! Deleting when the day is there. Each step is a small transaction, and none depends on what a
//! process knows of earlier ones: one that was killed is followed by another that goes on.

use std::time::Duration;

use eddyline_model::audit::{AuditAction, AuditEntry, AuditTarget};
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::log::Control;
use eddyline_model::mail::Purpose;
use eddyline_model::names::Email;
use eddyline_model::retention::RoomUnderHold;
use eddyline_model::{ApplicationId, MessageId, OrganizationId, RoomId, UserId};
use eddyline_storage::{GrantsOf, Tx};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Deletions, held_by, list_people_to_erase, name_of, refuse_held};
use crate::core::transaction::{NoCaller, TxResult};
use crate::jobs::Ticker;
use crate::oauth::end_grants;
use crate::operator::erasure::{closed_organizations_of, refuse_last_of_closed};
use crate::pending_invitations::revoke;
use crate::{Error, ErrorKind, Result, sources};

/// How often a server looks whether something is to be deleted.
const LOOK: Duration = Duration::from_secs(60);
/// How long after one server has begun to delete another one may.
const EVERY_MILLIS: i64 = 3_600_000;
/// The setting with the time from which a server may delete again.
const DUE: &str = "deletions_due";
/// How many messages one transaction deletes.
const BATCH: i64 = 50;
/// How many records of the audit log one transaction deletes.
const RECORDS: i64 = 500;

/// How far a deletion is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletionProgress {
    /// So many messages are deleted or erased.
    Messages(u64),
    /// This waits, since a legal hold covers it; with what the hold is placed on.
    Held(String, String),
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletedDeletions {
    /// How many organizations.
    pub organizations: u64,
    /// How many users, also those that were deleted with their organization.
    pub users: u64,
    /// How many messages of any kind.
    pub messages: u64,
    /// How many deletions are due and wait for a legal hold.
    pub held: u64,
}

impl Deletions {
    /// Deletes once an hour what is due, in one server of a database.
    pub(crate) async fn run_deletions(self, stop: CancellationToken) {
        let mut ticker = Ticker::new(LOOK, stop);
        while ticker.tick().await {
            if let Err(error) = self.carry_out_when_due().await {
                tracing::warn!(%error, "what is to be deleted could not be deleted");
            }
        }
    }

    async fn carry_out_when_due(&self) -> Result<()> {
        if self.list_due().await?.is_empty() || !self.core.claim(DUE, EVERY_MILLIS).await? {
            return Ok(());
        }
        let done = self.carry_out(|progress| {
            if let DeletionProgress::Held(what, held) = progress {
                tracing::warn!(what, held, "a deletion waits for a legal hold");
            }
        });
        let CompletedDeletions {
            organizations,
            users,
            messages,
            held,
        } = done.await?;
        tracing::info!(
            organizations,
            users,
            messages,
            held,
            "deleted what was due; `eddyline admin delete run` also removes what the database keeps of deleted rows"
        );
        Ok(())
    }

    /// Deletes all organizations and users whose day is there, but for those that a legal hold
    /// covers. The bytes of the files, and what the database keeps of deleted rows, are removed after
    /// that, by [`Files::remove_deleted`](crate::Files::remove_deleted) and
    /// [`Store::scrub`](eddyline_storage::Store::scrub).
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn carry_out(
        &self,
        progress: impl Fn(DeletionProgress) + Send + Sync,
    ) -> Result<CompletedDeletions> {
        let mut done = CompletedDeletions::default();
        let mut failure = None;
        for target in self.list_due().await? {
            let deleted = match target {
                DeletionTarget::Organization(id) => {
                    self.delete_organization(id, &mut done, &progress).await
                }
                DeletionTarget::User(id) => self.erase(id, &mut done, &progress).await,
            };
            match deleted {
                Ok(()) => {}
                // Another process has completed it, or it was cancelled.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    done.held += 1;
                    let what = self
                        .core
                        .read(move |reader| Ok(name_of(reader, target)?))
                        .await?;
                    progress(DeletionProgress::Held(what, error.to_string()));
                }
                // It is tried again; the others need not wait for that.
                Err(error) => {
                    tracing::error!(%error, ?target, "a deletion failed");
                    failure = Some(error);
                }
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    async fn list_due(&self) -> Result<Vec<DeletionTarget>> {
        let found = self.core.store().read(|reader| reader.deletions().list());
        let (found, now) = (found.await?, self.core.now());
        let due = found.into_iter().filter(|deletion| deletion.is_due(now));
        Ok(due.map(|deletion| deletion.target).collect())
    }

    /// Notes that it begins, after which nothing can be restored.
    async fn begin(&self, target: DeletionTarget) -> Result<()> {
        self.core
            .transaction(NoCaller::Process, move |tx| {
                // A cancellation takes the same lock.
                match target {
                    DeletionTarget::Organization(id) => drop(tx.organizations().lock(id)?),
                    DeletionTarget::User(id) => {
                        for closed in closed_organizations_of(tx, id)? {
                            tx.organizations().lock(closed)?;
                        }
                        tx.users().lock(id)?;
                        refuse_last_of_closed(tx, id)?;
                    }
                }
                let now = tx.now();
                let deletion = tx.deletions().find(target)?;
                if !deletion.is_some_and(|deletion| deletion.is_due(now)) {
                    return Err(Error::not_found().into());
                }
                tx.retention().lock_holds()?;
                refuse_held(tx, target)?;
                Ok(tx.deletions().set_begun(target, now)?)
            })
            .await?;
        Ok(())
    }

    async fn erase(
        &self,
        user: UserId,
        done: &mut CompletedDeletions,
        progress: &(impl Fn(DeletionProgress) + Send + Sync),
    ) -> Result<()> {
        self.begin(DeletionTarget::User(user)).await?;
        self.erase_account(user, done, progress).await
    }

    async fn erase_account(
        &self,
        user: UserId,
        done: &mut CompletedDeletions,
        progress: &(impl Fn(DeletionProgress) + Send + Sync),
    ) -> Result<()> {
        let found = self
            .core
            .store()
            .read(move |reader| reader.users().find(user));
        let found = found.await?.ok_or_else(Error::not_found)?;
        let email: Email = found
            .email
            .parse()
            .map_err(|error| Error::internal(format!("the address of user {user} {error}")))?;
        let before = done.messages;
        let erased = self
            .operator
            .erase_user(&email, |messages| {
                progress(DeletionProgress::Messages(before + messages));
            })
            .await?;
        done.users += 1;
        done.messages += erased.messages;
        Ok(())
    }

    async fn delete_organization(
        &self,
        id: OrganizationId,
        done: &mut CompletedDeletions,
        progress: &(impl Fn(DeletionProgress) + Send + Sync),
    ) -> Result<()> {
        self.begin(DeletionTarget::Organization(id)).await?;
        let flows = self
            .core
            .store()
            .read(move |reader| reader.flows().list_of_organization(id));
        for flow in flows.await? {
            loop {
                let deleted = self.delete_messages(id, flow.room).await?;
                if deleted == 0 {
                    break;
                }
                done.messages += deleted;
                progress(DeletionProgress::Messages(done.messages));
            }
            self.delete_flow(flow.room).await?;
        }
        let applications = self
            .core
            .store()
            .read(move |reader| reader.deletions().list_applications(id));
        for application in applications.await? {
            self.delete_application(application).await?;
        }
        let people = self
            .core
            .store()
            .read(move |reader| list_people_to_erase(reader, id));
        for user in people.await? {
            // They may have entered another organization while others were erased.
            let elsewhere = self
                .core
                .store()
                .read(move |reader| reader.deletions().has_other_organization(user, id));
            if !elsewhere.await? {
                self.erase_account(user, done, progress).await?;
            }
        }
        self.delete_records(id).await?;
        self.complete(id).await?;
        done.organizations += 1;
        Ok(())
    }

    /// Deletes the oldest messages of a flow, and gives how many.
    async fn delete_messages(&self, organization: OrganizationId, room: RoomId) -> Result<u64> {
        let (deleted, _) = self
            .core
            .transaction(NoCaller::Process, move |tx| {
                tx.rooms().lock(room)?;
                // A hold may have been placed since the last batch.
                let holds = tx.retention().lock_holds()?;
                let place = RoomUnderHold::Flow(room, organization);
                let page = tx.messages().list_oldest(room, MessageId(0), BATCH)?;
                for old in &page {
                    if holds.covering(&place, old.author).is_some() {
                        refuse_held(tx, DeletionTarget::Organization(organization))?;
                        return Err(held_by("flow").into());
                    }
                    if let Some(message) = tx.messages().find(room, old.id)? {
                        tx.messages().delete(&message)?;
                    }
                }
                Ok(page.len() as u64)
            })
            .await?;
        Ok(deleted)
    }

    async fn delete_flow(&self, room: RoomId) -> Result<()> {
        self.core
            .transaction(NoCaller::Process, move |tx| {
                tx.rooms().lock(room)?;
                let invitations = tx.deletions().list_invitations(room)?;
                revoke(tx, &invitations)?;
                tx.deletions().delete_flow(room)?;
                tx.deletions().delete_empty_room(room)?;
                tx.record_event(Control::FlowTokens { room });
                TxResult::Ok(())
            })
            .await?;
        Ok(())
    }

    /// Deletes an application with what users allowed it. Its grants end first, so that no token acts
    /// for it any more; then its sources in flows of other organizations go, flow by flow.
    async fn delete_application(&self, id: ApplicationId) -> Result<()> {
        self.core
            .transaction(NoCaller::Process, move |tx| {
                tx.applications().lock(id)?;
                Ok(end_grants(tx, GrantsOf::Application(id)).map(drop)?)
            })
            .await?;
        let rooms = self
            .core
            .store()
            .read(move |reader| reader.sources().list_rooms_of_application(id));
        for room in rooms.await? {
            self.core
                .transaction(NoCaller::Process, move |tx| {
                    tx.rooms().lock(room)?;
                    Ok(sources::remove_in(tx, id, room, None)?)
                })
                .await?;
        }
        self.core
            .transaction(NoCaller::Process, move |tx| {
                sources::lock_flows(tx, id)?;
                tx.applications().lock(id)?;
                end_grants(tx, GrantsOf::Application(id))?;
                sources::remove_all(tx, id, None)?;
                Ok(tx.applications().delete(id)?)
            })
            .await?;
        Ok(())
    }

    /// Deletes the records of an organization in the audit log.
    async fn delete_records(&self, organization: OrganizationId) -> Result<()> {
        loop {
            let (deleted, _) = self
                .core
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.deletions().delete_audit(organization, RECORDS)
                })
                .await?;
            if deleted == 0 {
                return Ok(());
            }
        }
    }

    /// Deletes the organization itself, and records that for the server.
    async fn complete(&self, id: OrganizationId) -> Result<()> {
        let ((), event) = self
            .core
            .transaction(NoCaller::Process, move |tx| complete(tx, id))
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

fn complete(tx: &mut Tx<'_>, id: OrganizationId) -> TxResult<()> {
    let target = DeletionTarget::Organization(id);
    let organization = tx.organizations().lock(id)?.ok_or_else(Error::not_found)?;
    let deletion = tx.deletions().find(target)?.ok_or_else(Error::not_found)?;
    // Some may have been written since the others were deleted.
    tx.deletions().delete_audit(id, RECORDS)?;
    tx.deletions().delete_organization(id)?;
    tx.deletions().delete(target)?;
    tx.mails().delete_about(Purpose::DeletionRequest(id))?;
    tx.mails().delete_about(Purpose::DeletionCancel(id))?;
    tx.record_event(Control::OrganizationChange);
    let target = AuditTarget::new("organization", id, &organization.name);
    let detail = json!({
        "requested_by": deletion.requested_by,
        "requested_at": deletion.requested_at.to_string(),
    });
    let entry = AuditEntry::new(AuditAction::OrganizationDelete, None).on(target);
    Ok(tx.audit().insert(&entry.with(&detail))?)
}
