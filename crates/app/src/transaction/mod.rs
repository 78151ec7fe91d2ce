//! Reading and writing, where every write names who is responsible for it: a caller, whose credential is
//! checked in the same transaction ([`App::transaction_as`]), or no caller, for a reason ([`NoCaller`]).
//!
//! The store itself is private to this module, so that no use case reaches a transaction in another way.

mod principal;

use std::convert::Infallible;
use std::sync::Arc;

use eddyline_model::log::LogItem;
use eddyline_model::messages::{Draft, MessageQuery};
use eddyline_model::{EventId, RoomId, Timestamp};
use eddyline_storage::{
    Doorbell, MessagePage, PostGate, Posted, Result as StoreResult, Session, Store, Tx, Undone,
};
use tokio::sync::mpsc;

pub(crate) use self::principal::Principal;
use crate::actor::Actor;
use crate::change::Attempt;
use crate::{App, Result};

/// Why a write has no caller whose credential might end before it is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoCaller {
    /// An operator at the command line, who has the database itself.
    Operator,
    /// A user signs in: the password that was checked is compared in the transaction.
    SignIn,
    /// The session's own bookkeeping: when it was used, by which browser, and its end, which needs nothing
    /// but its secret.
    Session,
    /// The secret of a mailed link, or of a join link, is looked up in the transaction.
    Link,
    /// A request for a letter to an address, which needs no credential.
    MailRequest,
    /// A flow is told of an import, each portion of which its caller has written.
    Announcement,
    /// An application exchanges or revokes codes and tokens, each of which is looked up in the transaction.
    OAuthClient,
    /// The process itself: signs of life, settings, presence, sending mail, clearing away, the bytes of
    /// files that no message has yet.
    Process,
}

/// The store, without the ways to write that do not name who is responsible.
#[derive(Clone, Debug)]
pub(crate) struct Database(Store);

impl Database {
    pub(crate) fn new(store: Store) -> Self {
        Self(store)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// As [`Store::gate`].
    pub(crate) fn gate(&self) -> &Arc<PostGate> {
        self.0.gate()
    }

    /// As [`Store::committed`].
    pub(crate) fn committed(&self) -> Option<mpsc::Receiver<Vec<LogItem>>> {
        self.0.committed()
    }

    /// As [`Store::doorbell`].
    pub(crate) fn doorbell(&self) -> Doorbell {
        self.0.doorbell()
    }

    /// As [`Store::takes_writes`].
    pub(crate) fn takes_writes(&self) -> bool {
        self.0.takes_writes()
    }

    /// As [`Store::close`].
    pub(crate) async fn close(&self) {
        self.0.close().await;
    }

    /// As [`Store::read`].
    pub(crate) async fn read<R, F>(&self, work: F) -> StoreResult<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut Session<'_>) -> StoreResult<R> + Send + 'static,
    {
        self.0.read(work).await
    }

    /// As [`Store::list`].
    pub(crate) async fn list<R, F>(
        &self,
        room: RoomId,
        query: MessageQuery,
        bytes: usize,
        show: F,
    ) -> StoreResult<R>
    where
        R: Send + 'static,
        F: FnOnce(MessagePage) -> R + Send + 'static,
    {
        self.0.list(room, query, bytes, show).await
    }

    /// Posts a message of a caller, whose credential must have held in the present epoch when it was
    /// checked: otherwise the draft is stale, and the caller is to be checked again.
    pub(crate) async fn post(&self, actor: &Actor, draft: Draft) -> StoreResult<Posted> {
        let Some(epoch) = actor.epoch() else {
            return Ok(Posted { outcome: eddyline_storage::Outcome::Stale, event: None });
        };
        self.0.post(Draft { credential_epoch: Some(epoch), ..draft }).await
    }

    /// Writes without a caller.
    pub(crate) async fn write<R, F>(&self, why: NoCaller, mut work: F) -> StoreResult<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_, '_>) -> StoreResult<R> + Send + 'static,
    {
        let done = self.change(why, move |tx| work(tx).map_err(Undone::Store)).await;
        done.map_err(|Undone::Store(error): Undone<Infallible>| error)
    }

    /// Writes without a caller what may be decided against.
    pub(crate) async fn change<R, E, F>(
        &self,
        why: NoCaller,
        work: F,
    ) -> std::result::Result<(R, Option<EventId>), Undone<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut Tx<'_, '_>) -> std::result::Result<R, Undone<E>> + Send + 'static,
    {
        tracing::trace!(?why, "a write without a caller");
        self.run(work).await
    }

    /// Runs any transaction: private to this module.
    async fn run<R, E, F>(&self, work: F) -> std::result::Result<(R, Option<EventId>), Undone<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut Tx<'_, '_>) -> std::result::Result<R, Undone<E>> + Send + 'static,
    {
        self.0.change(work).await
    }
}

impl App {
    /// Writes without a caller in one transaction, of which nothing is kept unless `work` succeeds. Gives
    /// the position of what was told.
    pub(crate) async fn change<R, F>(&self, why: NoCaller, work: F) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_, '_>) -> Attempt<R> + Send + 'static,
    {
        Ok(self.store().change(why, work).await?)
    }
}
