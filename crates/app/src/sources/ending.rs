//! What becomes of an application's sources when it changes or goes.

use eddyline_model::audit::AuditAction;
use eddyline_model::log::Control;
use eddyline_model::{ApplicationId, RoomId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use serde_json::json;

use super::note_source;
use crate::action_message::action;

/// Holds the flows in which an application has sources. To be called before the application is
/// held.
pub(crate) fn lock_flows(tx: &mut Tx<'_>, application: ApplicationId) -> StoreResult<()> {
    tx.sources()
        .list_rooms_of_application(application)?
        .into_iter()
        .try_for_each(|room| tx.rooms().lock(room))
}

/// Removes what sources an application that goes has in a flow, which is held, and tells the flow
/// who did that, if they are of its organization: others there learn of nobody elsewhere.
pub(crate) fn remove_in(
    tx: &mut Tx<'_>,
    application: ApplicationId,
    room: RoomId,
    by: Option<UserId>,
) -> StoreResult<()> {
    let now = tx.now();
    let Some(flow) = tx.flows().find(room)? else {
        return Ok(());
    };
    let by = match by {
        Some(user)
            if tx
                .organization_members()
                .find_user(flow.organization, user)?
                .is_some() =>
        {
            Some(user)
        }
        _ => None,
    };
    let mut told = Vec::new();
    for source in tx
        .sources()
        .list_of_application(application, room, i64::MAX)?
    {
        note_source(tx, &source, AuditAction::SourceDelete, &json!({}))?;
        told.push(action(tx, room, by, "source-remove", &json!(source.name)));
    }
    tx.sources().delete_of_application(application, room, now)?;
    // Posts that were let in before are looked at again.
    tx.rooms().advance_access(room)?;
    tx.record_event(Control::FlowTokens { room });
    tx.messages().append(&told)?;
    Ok(())
}

/// Removes what sources an application has left, and parts all from it.
pub(crate) fn remove_all(
    tx: &mut Tx<'_>,
    application: ApplicationId,
    by: Option<UserId>,
) -> StoreResult<()> {
    for room in tx.sources().list_rooms_of_application(application)? {
        // Another server may have made a source there since the flows were held.
        tx.rooms().lock(room)?;
        remove_in(tx, application, room, by)?;
    }
    tx.sources().clear_application(application)
}

/// Invalidates what is cached of an application's sources, since the application is shown
/// differently.
pub(crate) fn end_all(tx: &mut Tx<'_>, application: ApplicationId) -> StoreResult<()> {
    for room in tx.sources().list_rooms_of_application(application)? {
        tx.record_event(Control::FlowTokens { room });
    }
    Ok(())
}
