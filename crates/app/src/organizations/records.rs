//! The records of an organization's audit log as administrators read and download them.

use std::collections::BTreeMap;

use eddyline_model::audit::{AuditAction, AuditFilter, AuditRange};
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::{ApplicationId, OrganizationId, SourceId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::NamedRecord;
use serde_json::Value;

use super::{Organizations, note_organization, role_in};
use crate::actor::Actor;
use crate::audit;
use crate::{Error, Result};

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
