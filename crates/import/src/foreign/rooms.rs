//! Making and showing the rooms of archives.

use eddyline_model::flows::{AccessMode, Flow};
use eddyline_model::log::Control;
use eddyline_model::names::parameterized_candidates;
use eddyline_model::{FlowId, MessageId, RoomId, UserId};
use eddyline_storage::{ImportedMember, NewFlowRow, Result as StoreResult, Tx};

use super::{Room, RoomKind};
use crate::authority::Pair;
use crate::target::{ImportWork, MEMBERS};
use crate::{Result, texts};

/// Makes members of users, who have read everything. Those who are members already stay as they
/// are, and who has left since an import was interrupted stays away. Only for a room that is not
/// complete: later its members decide who else reads it.
pub(super) fn show(
    work: &ImportWork<'_>,
    room: RoomId,
    users: &[UserId],
    is_flow: bool,
) -> Result<()> {
    for part in users.chunks(MEMBERS) {
        let part = part.to_vec();
        work.write(move |tx| show_part(tx, room, &part, is_flow))?;
    }
    Ok(())
}

fn show_part(tx: &mut Tx<'_>, room: RoomId, users: &[UserId], is_flow: bool) -> StoreResult<()> {
    tx.rooms().lock(room)?;
    if is_flow {
        tx.rooms().advance_access(room)?;
    }
    let end = tx
        .rooms()
        .find_last_message_id(room)?
        .unwrap_or(MessageId(0));
    let mut members = Vec::with_capacity(users.len());
    for user in users {
        if tx.imports().has_member(room, *user)? {
            continue;
        }
        members.push(ImportedMember {
            user: *user,
            open: is_flow,
            blocked: false,
            read_up_to: end,
            inbox_read_up_to: end,
        });
        if is_flow {
            let user = *user;
            tx.record_event(Control::FlowAdd { room, user });
        }
    }
    tx.imports().upsert_members(room, &members)
}

pub(super) fn describe_flow(tx: &mut Tx<'_>, room: RoomId, foreign: &Room) -> StoreResult<()> {
    let Some(found) = tx.flows().find(room)? else {
        return Ok(());
    };
    let description = foreign.description.as_deref();
    let description = description.map(|text| texts::short(text, texts::MAX_DESCRIPTION));
    tx.flows().update(&Flow {
        description: description.filter(|text| !text.trim().is_empty()),
        access_mode: match foreign.kind {
            RoomKind::Open => AccessMode::Organization,
            _ => AccessMode::Invitation,
        },
        disabled: foreign.is_archived,
        ..found
    })
}

/// The conversation of two users.
pub(super) fn conversation(tx: &mut Tx<'_>, pair: Pair) -> StoreResult<RoomId> {
    let (one, other) = pair.users();
    match tx.rooms().find_private(one, other)? {
        Some(known) => Ok(known.id),
        None => tx.rooms().insert_private(one, other),
    }
}

/// Makes a flow. Returns its room, and `true` if its name in URLs had to be another.
pub(super) fn make_flow(
    tx: &mut Tx<'_>,
    organization: eddyline_model::OrganizationId,
    name: &str,
    foreign: &Room,
    creator: Option<UserId>,
) -> StoreResult<(RoomId, bool)> {
    tx.organizations().lock(organization)?;
    let random = eddyline_random::hex::<4>();
    let (mut free, mut is_renamed) = (String::new(), false);
    for candidate in parameterized_candidates(name, &random) {
        if tx
            .flows()
            .find_room_by_name(organization, &candidate)?
            .is_none()
        {
            free = candidate;
            break;
        }
        is_renamed = true;
    }
    let created_at = foreign
        .created_at
        .map_or(tx.now(), |at| texts::time(at, tx.now()));
    let room = tx.flows().insert(&NewFlowRow {
        id: FlowId(uuid::Uuid::new_v4().to_string()),
        organization,
        name: name.to_owned(),
        parameterized_name: free,
        creator,
        join_secret: eddyline_random::hex::<20>(),
        created_at,
    })?;
    Ok((room, is_renamed))
}
