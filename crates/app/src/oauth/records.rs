//! Records of applications and grants in the audit log.

use eddyline_model::applications::Application;
use eddyline_model::audit::{AuditAction, AuditEntry, AuditTarget};
use eddyline_model::{ApplicationId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use serde_json::Value;

use crate::audit::note_account;

/// Records what was done to an application.
pub(crate) fn note_application(
    tx: &mut Tx<'_>,
    application: &Application,
    action: AuditAction,
    detail: &Value,
) -> StoreResult<()> {
    let entry = AuditEntry::new(action, Some(application.organization)).on(target(application));
    tx.audit().insert(&entry.with(detail))
}

/// Records what a user allowed an application, or what was taken back of it.
pub(crate) fn note_grant(
    tx: &mut Tx<'_>,
    user: UserId,
    application: ApplicationId,
    action: AuditAction,
    detail: &Value,
) -> StoreResult<()> {
    let Some(application) = tx.applications().find(application)? else {
        return Ok(());
    };
    let entry = AuditEntry::new(action, None).on(target(&application));
    note_account(tx, user, entry.with(detail))
}

/// How records name an application.
fn target(application: &Application) -> AuditTarget {
    AuditTarget::new("application", application.id, &application.name)
}
