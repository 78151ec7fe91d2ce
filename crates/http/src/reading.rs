//! Marking what was read (docs/protocol.md, Reading).

use eddyline_model::MessageId;
use eddyline_model::policy::FlowDeed;
use eddyline_model::scopes::Scope::{Flow, Private};
use http::Method;

use crate::answer::{Answer, done};
use crate::call::Call;
use crate::endpoint::Endpoint;
use crate::endpoint::Shape::Empty;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::PUT, "/flows/{organization}/{flow}/read", "Mark a flow as read", flow)
            .scopes(&[Flow])
            .needs("message", "integer", "The last message read; an earlier one changes nothing")
            .answers(200, "Done", Some(Empty)),
        Endpoint::new(Method::PUT, "/private/{user}/read", "Mark a private conversation as read", private)
            .scopes(&[Private])
            .needs("message", "integer", "The last message read; an earlier one changes nothing")
            .answers(200, "Done", Some(Empty)),
    ]
}

async fn flow(call: Call) -> Answer {
    let room = call.room(FlowDeed::Read).await?;
    call.app().read_flow(call.actor()?, &room, message(&call)?).await?;
    Ok(done())
}

async fn private(call: Call) -> Answer {
    call.actor()?.user()?;
    let with = call.id("user")?;
    call.app().read_private(call.actor()?, with, message(&call)?).await?;
    Ok(done())
}

fn message(call: &Call) -> Result<MessageId, crate::error::Failure> {
    Ok(call.params.reader().required_id("message")?)
}
