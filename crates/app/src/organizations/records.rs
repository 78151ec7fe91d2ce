//! The records of an organization's audit log as administrators read and download them.

use std::collections::BTreeMap;
use std::time::Duration;

use eddyline_model::audit::{AuditAction, AuditFilter, AuditRange};
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::{ApplicationId, OrganizationId, SourceId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::NamedRecord;
use serde_json::Value;

use super::{Organizations, note_organization, role_in};
use crate::actor::Actor;
use crate::audit;
use crate::quota::{Permit, Quota};
use crate::{Error, Limit, Result};

/// Files with records of audit logs that are made at the same time. Each is in memory until it is
/// sent, and costs many reads.
pub(super) const AUDIT_FILES: Quota = Quota::new(4, 2, 1);
/// The longest wait for other files to be made.
const AUDIT_FILE_WAIT: Duration = Duration::from_secs(10);

/// Records, and what the applications and sources in them are called now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainedRecords {
    /// The records, in the order that was asked for.
    pub records: Vec<NamedRecord>,
    /// The names of applications, by their ids. Those that were removed are not among them.
    pub applications: BTreeMap<i64, String>,
    /// The names of sources, by their ids, also of those that were removed.
    pub sources: BTreeMap<i64, String>,
}

impl Organizations {
    /// Records of the audit log of an organization that the caller administers. What concerns the whole
    /// server is not among them.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when it is not the caller's, [`Error::denied`] when the caller does not
    /// administer it.
    pub async fn audit(
        &self,
        actor: &Actor,
        id: OrganizationId,
        filter: AuditFilter,
        range: AuditRange,
    ) -> Result<Vec<NamedRecord>> {
        let filter = of_organization(actor, id, filter)?;
        let found = self
            .core
            .store()
            .read(move |reader| audit::list(reader, &filter, range));
        Ok(found.await?)
    }

    /// The same, with the names of the applications and sources in them.
    ///
    /// # Errors
    ///
    /// Those of [`Organizations::audit`].
    pub async fn audit_explained(
        &self,
        actor: &Actor,
        id: OrganizationId,
        filter: AuditFilter,
        range: AuditRange,
    ) -> Result<ExplainedRecords> {
        let filter = of_organization(actor, id, filter)?;
        let found = self.core.store().read(move |reader| {
            let records = audit::list(reader, &filter, range)?;
            explain(reader, records)
        });
        Ok(found.await?)
    }

    /// A permit to make a file with records of an audit log for the caller.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`] and [`Error::unavailable`] when others are still being made
    /// after ten seconds.
    pub async fn audit_file_permit(&self, actor: &Actor) -> Result<Permit> {
        self.audit_files
            .acquire_within(actor.quota_keys(), 1, AUDIT_FILE_WAIT)
            .await
            .map_err(|exceeded| exceeded.of(Limit::AuditFiles))
    }

    /// Records that the caller downloads records of the audit log. `detail` says which, as an object.
    ///
    /// # Errors
    ///
    /// Those of [`Organizations::audit`].
    pub async fn note_audit_export(
        &self,
        actor: &Actor,
        id: OrganizationId,
        detail: Value,
    ) -> Result<()> {
        let caller = actor.user()?.user.id;
        self.core
            .transaction_as(actor, move |tx, _| {
                let organization = tx.organizations().lock(id)?.ok_or_else(Error::not_found)?;
                let role = role_in(&tx.organization_members().list_of_user(caller)?, id);
                policy::organization(role, OrganizationAction::Administer).map_err(Error::from)?;
                note_organization(tx, &organization, AuditAction::AuditExport, &detail)?;
                Ok(())
            })
            .await?;
        Ok(())
    }
}

/// The filter, narrowed to an organization that the caller administers.
fn of_organization(actor: &Actor, id: OrganizationId, filter: AuditFilter) -> Result<AuditFilter> {
    policy::organization(actor.user()?.role_in(id), OrganizationAction::Administer)?;
    Ok(AuditFilter {
        organization: Some(id),
        ..filter
    })
}

fn explain(reader: &mut Reader<'_>, records: Vec<NamedRecord>) -> StoreResult<ExplainedRecords> {
    let mut explained = ExplainedRecords::default();
    for record in &records {
        let actor = |kind: &str| record.actor.strip_prefix(kind)?.parse::<i64>().ok();
        let applications = [record.application, actor("application:")];
        for id in applications.into_iter().flatten() {
            if !explained.applications.contains_key(&id)
                && let Some(found) = reader.applications().find(ApplicationId(id))?
            {
                explained.applications.insert(id, found.name);
            }
        }
        if let Some(id) = actor("source:")
            && !explained.sources.contains_key(&id)
            && let Some(found) = reader.sources().find(SourceId(id))?
        {
            explained.sources.insert(id, found.name);
        }
    }
    explained.records = records;
    Ok(explained)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::accounts::tests::World;
    use crate::quota::QuotaKey;

    #[tokio::test]
    async fn files_of_an_administrator_wait_for_each_other() {
        let world = World::new().await;
        let organizations = world.app.organizations();
        let permit = || Box::pin(organizations.audit_file_permit(&world.ada));
        let mut held = Vec::new();
        for _ in 0..AUDIT_FILES.total - AUDIT_FILES.reserve {
            held.push(permit().now_or_never().expect("it is free").unwrap());
        }
        let mut waiting = permit();
        assert!((&mut waiting).now_or_never().is_none());
        let elsewhere = QuotaKey::NetworkV4(1).into();
        let other = organizations.audit_files.acquire(elsewhere, 1);
        assert!(other.is_ok(), "the reserve is left to others");
        held.pop();
        drop(other);
        assert!(waiting.await.is_ok());
    }
}
