//! Recording what was done to an organization's users by providers and operators, and by
//! administrators where a provider is concerned.

use eddyline_model::audit::AuditEntry;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use serde_json::Value;

/// Records an action of `actor` (`scim:` and a uid, `user:` and a number, or `operator`) with the
/// change itself, so that neither is there without the other. `detail` is an object without
/// secrets.
pub(crate) fn note(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (actor, action): (&str, &str),
    user: Option<UserId>,
    detail: &Value,
) -> StoreResult<()> {
    let at = tx.now();
    tx.audit().insert(&AuditEntry {
        organization,
        at,
        actor: actor.to_owned(),
        action: action.to_owned(),
        user,
        detail: detail.to_string(),
    })
}
