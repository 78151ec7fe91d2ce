//! The room that a path names.

use eddyline_app::{Actor, App, Error, Room};
use eddyline_model::policy::MessageAction;

use crate::path_params::PathParams;

/// The flow or the private conversation that the path names, if the caller may do `action` there.
/// `None` when the path names neither.
pub(crate) async fn find(
    app: &App,
    segments: &PathParams,
    actor: &Actor,
    action: MessageAction,
) -> Result<Option<Room>, Error> {
    let rooms = app.rooms();
    let (organization, flow) = (segments.get("organization"), segments.get("flow"));
    if !flow.is_empty() {
        let action = action.in_flow();
        let flow = rooms.find(actor, organization, flow, action).await?;
        return Ok(Some(flow.into()));
    }
    let with = segments.get("user");
    if with.is_empty() {
        return Ok(None);
    }
    // Flow tokens are denied before the id is parsed.
    actor.user()?;
    let with = with.parse().map_err(|_| Error::not_found())?;
    Ok(Some(rooms.private(actor, with, action).await?.into()))
}
