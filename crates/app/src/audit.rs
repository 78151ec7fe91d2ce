//! Writing records of the audit log, and reading them. Each transaction knows the actor, the application
//! and the address; use cases give the action and its target.

use std::collections::{BTreeSet, HashMap};

use eddyline_model::audit::{
    AuditAction, AuditEntry, AuditFilter, AuditRange, AuditRecord, AuditTarget, actor,
};
use eddyline_model::flows::Flow;
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use eddyline_wire::NamedRecord;
use serde_json::{Value, json};

/// Records an action of `actor` with the change itself, so that neither is there without the other.
/// `detail` is an object without secrets.
pub(crate) fn note(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (actor, action): (&str, AuditAction),
    user: Option<UserId>,
    detail: &Value,
) -> StoreResult<()> {
    let entry = AuditEntry::new(action, Some(organization))
        .by(actor)
        .with(detail);
    tx.audit().insert(&AuditEntry { user, ..entry })
}

/// Records what was done to an account: for each organization that the user belongs to, or for the
/// server if there is none.
pub(crate) fn note_account(tx: &mut Tx<'_>, user: UserId, entry: AuditEntry) -> StoreResult<()> {
    let memberships = tx.organization_members().list_of_user(user)?;
    let organizations = memberships.iter().map(|of| of.organization);
    note_in(tx, organizations, &entry.about(user))
}

/// Records an action for each of these organizations, or for the server if there are none.
pub(crate) fn note_in(
    tx: &mut Tx<'_>,
    organizations: impl IntoIterator<Item = OrganizationId>,
    entry: &AuditEntry,
) -> StoreResult<()> {
    let mut concerned: Vec<_> = organizations.into_iter().map(Some).collect();
    if concerned.is_empty() {
        concerned.push(None);
    }
    for organization in concerned {
        let entry = entry.clone();
        let entry = AuditEntry {
            organization,
            ..entry
        };
        note_impartially(tx, entry)?;
    }
    Ok(())
}

/// Records an entry that may concern an organization that the author does not belong to. There, the
/// record names the server as its actor, so that administrators learn nothing about users of other
/// organizations.
pub(crate) fn note_impartially(tx: &mut Tx<'_>, entry: AuditEntry) -> StoreResult<()> {
    let is_named = match entry.organization {
        Some(organization) if entry.actor.is_none() => is_author_of(tx, organization, entry.user)?,
        _ => true,
    };
    let entry = match is_named {
        true => entry,
        false => entry.by(actor::SERVER),
    };
    tx.audit().insert(&entry)
}

/// Returns `true` if the author of the transaction acts on themselves, belongs to the organization,
/// or is neither a user nor an identity provider.
fn is_author_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    about: Option<UserId>,
) -> StoreResult<bool> {
    let author = tx.actor().to_owned();
    if let Some(user) = actor::named_user(&author) {
        return Ok(about == Some(user)
            || tx
                .organization_members()
                .find_user(organization, user)?
                .is_some());
    }
    let Some(uid) = actor::named_provider(&author) else {
        return Ok(true);
    };
    let Some(provider) = tx.identities().find_provider(uid)? else {
        return Ok(false);
    };
    let below = tx.organizations().list_below(provider.organization)?;
    Ok(provider.organization == organization || below.contains(&organization))
}

/// Records what was done to a flow.
pub(crate) fn note_flow(
    tx: &mut Tx<'_>,
    room: RoomId,
    action: AuditAction,
    detail: &Value,
) -> StoreResult<()> {
    match tx.flows().find(room)? {
        Some(flow) => {
            let entry = of_flow(&flow, action).with(detail);
            tx.audit().insert(&entry)
        }
        None => Ok(()),
    }
}

/// Records that a user came into a flow, or went out of it.
pub(crate) fn note_flow_member(
    tx: &mut Tx<'_>,
    room: RoomId,
    action: AuditAction,
    user: UserId,
) -> StoreResult<()> {
    match tx.flows().find(room)? {
        Some(flow) => {
            let entry = of_flow(&flow, action).about(user);
            tx.audit().insert(&entry)
        }
        None => Ok(()),
    }
}

/// A record about a flow.
pub(crate) fn of_flow(flow: &Flow, action: AuditAction) -> AuditEntry {
    let target = AuditTarget::new("flow", &flow.id.0, &flow.name);
    AuditEntry::new(action, Some(flow.organization)).on(target)
}

/// What is different, as `{"name": ["old", "new"]}`.
pub(crate) fn differences(fields: &[(&str, Value, Value)]) -> Value {
    let changed = fields.iter().filter(|(_, before, after)| before != after);
    changed
        .map(|(name, before, after)| ((*name).to_owned(), json!([before, after])))
        .collect()
}

/// The records that a filter wants, with the names of their users.
pub(crate) fn list(
    reader: &mut Reader<'_>,
    filter: &AuditFilter,
    range: AuditRange,
) -> StoreResult<Vec<NamedRecord>> {
    let found = reader.audit().list(filter, range)?;
    match found.is_empty() {
        true => Ok(Vec::new()),
        false => with_names(reader, found),
    }
}

/// Finds the names of the users in records.
fn with_names(reader: &mut Reader<'_>, records: Vec<AuditRecord>) -> StoreResult<Vec<NamedRecord>> {
    let concerned = records
        .iter()
        .flat_map(|record| [actor::named_user(&record.actor), record.user]);
    let ids: BTreeSet<UserId> = concerned.flatten().collect();
    let ids: Vec<UserId> = ids.into_iter().collect();
    let users = reader.users().list(&ids)?;
    let names: HashMap<UserId, String> =
        users.into_iter().map(|user| (user.id, user.name)).collect();
    let name = |user: Option<UserId>| user.and_then(|id| names.get(&id).cloned());
    let named = records.into_iter().map(|record| {
        let actor_name = name(actor::named_user(&record.actor));
        let user_name = name(record.user);
        NamedRecord::of(record, actor_name, user_name)
    });
    Ok(named.collect())
}
