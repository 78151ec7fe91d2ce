//! The records of wrong passwords.

use eddyline_auth::{RefusalCounter, RefusalPlace};
use eddyline_model::Timestamp;
use eddyline_model::audit::{AuditAction, AuditEntry};
use serde_json::json;

use crate::actor::Caller;

/// Returns the records of a wrong password that was shown for the account of a user, or for none:
/// one for each organization of the user, within the bounds of the counter.
pub(crate) fn entries(
    counter: &RefusalCounter,
    caller: Option<&Caller>,
    now: Timestamp,
) -> Vec<AuditEntry> {
    let entry = |place| {
        let unrecorded = counter.count(place, now)?;
        Some(refusal(place).with(json!({"unrecorded": unrecorded})))
    };
    places(caller).into_iter().filter_map(entry).collect()
}

fn places(caller: Option<&Caller>) -> Vec<RefusalPlace> {
    let Some(caller) = caller else {
        return vec![RefusalPlace::Unknown];
    };
    let user = caller.user.id;
    let organizations = caller.organizations.iter();
    let places: Vec<RefusalPlace> = organizations
        .map(|membership| RefusalPlace::Organization(membership.organization, user))
        .collect();
    match places.is_empty() {
        true => vec![RefusalPlace::Server(user)],
        false => places,
    }
}

fn refusal(place: RefusalPlace) -> AuditEntry {
    let action = AuditAction::SessionRefuse;
    match place {
        RefusalPlace::Organization(organization, user) => {
            AuditEntry::new(action, Some(organization)).about(user)
        }
        RefusalPlace::Server(user) => AuditEntry::new(action, None).about(user),
        RefusalPlace::Unknown => AuditEntry::new(action, None),
    }
}
