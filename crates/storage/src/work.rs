//! Writes that are not posts.

use eddyline_model::log::EventId;
use tokio::sync::oneshot;

use crate::Error;
use crate::transaction::{Abort, Rollback, Tx};

/// A write that is not a post: runs in a transaction of its own.
pub(crate) trait Work: Send {
    /// Does it, and says whether the transaction is committed. May be called again when nothing of
    /// the first call was kept.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Rollback<()>>;
    /// Answers the caller.
    fn done(self: Box<Self>, outcome: Result<Option<EventId>, Rollback<()>>);
}

/// What a closure answers, with the position of the last log entry that it told.
type WorkResult<R, E> = Result<(R, Option<EventId>), Abort<E>>;

/// A closure as [`Work`].
pub(crate) struct Closure<F, R, E> {
    pub(crate) work: F,
    /// What the last call came to, if the store had no part in it.
    pub(crate) result: Option<Result<R, E>>,
    pub(crate) reply: oneshot::Sender<WorkResult<R, E>>,
}

impl<F, R, E> Work for Closure<F, R, E>
where
    F: FnMut(&mut Tx<'_>) -> Result<R, Abort<E>> + Send,
    R: Send,
    E: Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Rollback<()>> {
        let (result, outcome) = match (self.work)(tx) {
            Ok(result) => (Ok(result), Ok(())),
            Err(Abort::Commit { reason, .. }) => (Err(reason), Ok(())),
            Err(Abort::Rejected(reason)) => (Err(reason), Err(Rollback::Rejected(()))),
            Err(Abort::Store(error)) => return Err(Rollback::Store(error)),
        };
        self.result = Some(result);
        outcome
    }

    fn done(self: Box<Self>, outcome: Result<Option<EventId>, Rollback<()>>) {
        let answer = match (outcome, self.result) {
            (Ok(event), Some(Ok(result))) => Ok((result, event)),
            (Ok(event), Some(Err(reason))) => Err(Abort::Commit { reason, event }),
            (Err(Rollback::Rejected(())), Some(Err(reason))) => Err(Abort::Rejected(reason)),
            (Err(Rollback::Store(error)), _) => Err(Abort::Store(error)),
            (Ok(_), None) | (Err(Rollback::Rejected(())), _) => {
                Err(Error::Corrupt("a write without a result").into())
            }
        };
        let _ = self.reply.send(answer);
    }
}
