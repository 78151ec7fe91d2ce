//! Who takes turns in sending files, and what is answered when there are none.

use eddyline_app::{Actor, Error, NoTurn};
use eddyline_model::{RoomId, UserId};

use crate::error::Failure;

/// Seconds after which a caller may come back who has all turns of their share.
const RETRY_SECONDS: u64 = 2;

/// Who takes a turn. All tokens of a flow are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sender {
    User(UserId),
    Flow(RoomId),
}

impl From<&Actor> for Sender {
    fn from(actor: &Actor) -> Self {
        match actor {
            Actor::User { caller, .. } => Self::User(caller.user.id),
            Actor::FlowToken { room, .. } => Self::Flow(*room),
        }
    }
}

impl From<NoTurn> for Failure {
    fn from(why: NoTurn) -> Self {
        match why {
            NoTurn::All => Error::Unavailable("many files are on their way; try again in a moment".into()),
            NoTurn::Own => Error::TooManyRequests { retry_after: RETRY_SECONDS },
        }
        .into()
    }
}
