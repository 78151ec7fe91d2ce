//! Writes that are not posts.

use eddyline_model::log::EventId;
use tokio::sync::oneshot;

use crate::transaction::Tx;
use crate::{Error, Result};

/// A write that is not a post: runs in a transaction of its own.
pub(crate) trait Work: Send {
    /// Does it. May be called again when nothing of the first call was kept.
    fn run(&mut self, tx: &mut Tx<'_, '_>) -> Result<()>;
    /// Answers whoever asked for it.
    fn done(self: Box<Self>, outcome: Result<Option<EventId>>);
}

/// A closure as [`Work`].
pub(crate) struct Closure<F, R> {
    pub(crate) work: F,
    pub(crate) result: Option<R>,
    pub(crate) reply: oneshot::Sender<Result<(R, Option<EventId>)>>,
}

impl<F, R> Work for Closure<F, R>
where
    F: FnMut(&mut Tx<'_, '_>) -> Result<R> + Send,
    R: Send,
{
    fn run(&mut self, tx: &mut Tx<'_, '_>) -> Result<()> {
        self.result = Some((self.work)(tx)?);
        Ok(())
    }

    fn done(self: Box<Self>, outcome: Result<Option<EventId>>) {
        let answer = match (outcome, self.result) {
            (Ok(event), Some(result)) => Ok((result, event)),
            (Ok(_), None) => Err(Error::Corrupt("a write without a result")),
            (Err(error), _) => Err(error),
        };
        let _ = self.reply.send(answer);
    }
}
