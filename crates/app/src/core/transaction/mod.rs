//! Reading and writing, where every write names who is responsible for it: a caller, whose
//! credential is checked in the same transaction ([`Core::transaction_as`]), or no caller, for a
//! reason ([`NoCaller`]).
//!
//! The store itself is private to this module, so that no use case reaches a transaction in another
//! way.

mod author;
mod principal;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use eddyline_model::audit::{AuditAuthor, actor as audit_actor};
use eddyline_model::log::LogItem;
use eddyline_model::messages::{Draft, MessageQuery};
use eddyline_model::{EventId, RoomId, Seq, Timestamp};
use eddyline_storage::{
    Abort, ChangeNotifier, CredentialEpoch, Error as StoreError, MessagePage, PostResult, Reader,
    Result as StoreResult, RoomQuery, RoomsPage, RoomsPart, Store, TaskBudget, Tx,
};
use prometheus_client::registry::Registry;
use tokio::sync::mpsc;

pub(crate) use self::principal::Principal;
pub(crate) use super::result::TxResult;
use crate::actor::Actor;
use crate::charging::{budget, current_keys};
use crate::core::Core;
use crate::quota::{KeyedSemaphore, Permit, Quota, QuotaKeys};
use crate::{Limit, Result};

/// Why a write has no caller whose credential might end before it is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoCaller {
    /// An operator at the command line, who has the database itself.
    Operator,
    /// A user signs in: the password that was checked is compared in the transaction.
    SignIn,
    /// The record of a wrong password. Other requests of its network must not lose it, and how many
    /// there are has a bound.
    Refusal,
    /// The session's own bookkeeping: when it was used, by which browser, and its end, which needs
    /// nothing but its secret.
    Session,
    /// The bookkeeping of an identity provider's token: when it was used.
    Provider,
    /// The secret of a mailed link, or of a join link, is looked up in the transaction.
    Link,
    /// A request for a mail to an address, which needs no credential.
    MailRequest,
    /// A flow is told of an import, each portion of which its caller has written.
    Announcement,
    /// An application exchanges or revokes codes and tokens, each of which is looked up in the
    /// transaction.
    OAuthClient,
    /// The bytes of files that no message has yet: their note, and its end where the upload is given
    /// up.
    Upload,
    /// The process itself: signs of life, settings, presence, sending mail, clearing away.
    Process,
}

impl NoCaller {
    /// Whether the write counts for the client whose request causes it.
    const fn counts(self) -> bool {
        match self {
            Self::SignIn
            | Self::Session
            | Self::Provider
            | Self::Link
            | Self::MailRequest
            | Self::OAuthClient
            | Self::Upload => true,
            // An import counts by its portions.
            Self::Operator | Self::Refusal | Self::Announcement | Self::Process => false,
        }
    }
}

impl NoCaller {
    /// The actor in records of the audit log, unless the use case sets another.
    fn author(self) -> AuditAuthor {
        author::unnamed(match self {
            Self::Operator => audit_actor::OPERATOR,
            Self::Process | Self::Announcement | Self::Upload => audit_actor::SERVER,
            Self::SignIn
            | Self::Refusal
            | Self::Session
            | Self::Provider
            | Self::Link
            | Self::MailRequest
            | Self::OAuthClient => audit_actor::UNKNOWN,
        })
    }
}

/// Transactions in the queue of the writer, which runs them one after the other. Further ones of
/// the same caller or organization wait outside the queue, before they take a lock that others need.
/// Those of requests that have shown no credentials count for the network.
const TRANSACTIONS: Quota = Quota {
    network: 2,
    ..Quota::new(u64::MAX, 8, 2)
};
/// How long a transaction waits for other transactions of its caller and its organization.
const TRANSACTION_WAIT: Duration = Duration::from_secs(60);

/// The store, without the ways to write that do not name who is responsible.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    store: Store,
    transactions: KeyedSemaphore,
    /// See [`Database::last_acknowledged`].
    last_acknowledged: Arc<AtomicI64>,
}

/// A transaction that is counted for its caller until this is dropped. A transaction in the queue
/// is committed also when the future that waits for it is dropped, and would not be counted then.
/// So requests that change something are worked on to their end, whether or not their clients hang
/// up (`http::serve`).
#[derive(Debug)]
pub(crate) struct TransactionPermit {
    _permit: Option<Permit>,
}

tokio::task_local! {
    /// Set while a transaction that was counted before is run.
    static IS_COUNTED: ();
}

impl Database {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            transactions: KeyedSemaphore::new(TRANSACTIONS),
            last_acknowledged: Arc::default(),
        }
    }

    /// The last position of the log that this process has answered a write with. The feed, which
    /// reads the log, may not have read it yet.
    pub(crate) fn last_acknowledged(&self) -> Seq {
        Seq(self.last_acknowledged.load(Ordering::Acquire))
    }

    fn record_acknowledged(&self, event: Option<EventId>) {
        if let Some(event) = event {
            self.last_acknowledged
                .fetch_max(event.seq.0, Ordering::AcqRel);
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// As [`Store::credential_epoch`].
    pub(crate) fn credential_epoch(&self) -> &Arc<CredentialEpoch> {
        self.store.credential_epoch()
    }

    /// As [`Store::committed`].
    pub(crate) fn committed(&self) -> Option<mpsc::Receiver<Vec<LogItem>>> {
        self.store.committed()
    }

    /// The next entries of the log, for the feed: changes of tags name the tags that they removed,
    /// which the log itself does not keep.
    pub(crate) async fn log_onward(&self, after: Seq, limit: i64) -> StoreResult<Vec<LogItem>> {
        let mut items = self
            .read(move |reader| reader.log().list_after(after, limit))
            .await?;
        self.store.restore_live_notices(after, &mut items);
        Ok(items)
    }

    /// As [`Store::change_notifier`].
    pub(crate) fn change_notifier(&self) -> ChangeNotifier {
        self.store.change_notifier()
    }

    /// As [`Store::register_metrics`].
    pub(crate) fn register_metrics(&self, registry: &mut Registry) {
        self.store.register_metrics(registry);
    }

    /// As [`Store::takes_writes`].
    pub(crate) fn takes_writes(&self) -> bool {
        self.store.takes_writes()
    }

    /// As [`Store::close`].
    pub(crate) async fn close(&self) {
        self.store.close().await;
    }

    /// As [`Store::read`].
    pub(crate) async fn read<R, F>(&self, work: F) -> StoreResult<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut Reader<'_>) -> StoreResult<R> + Send + 'static,
    {
        self.store.read(work).await
    }

    /// As [`Store::log_has_news`].
    pub(crate) async fn log_has_news(&self, room: RoomId, after: Seq) -> StoreResult<bool> {
        self.store.log_has_news(room, after).await
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
        self.store.list(room, query, bytes, show).await
    }

    /// As [`Store::list_of_rooms`].
    pub(crate) async fn list_of_rooms<R, F>(
        &self,
        asked: Vec<RoomQuery>,
        part: RoomsPart,
        show: F,
    ) -> StoreResult<R>
    where
        R: Send + 'static,
        F: FnOnce(RoomsPage) -> R + Send + 'static,
    {
        self.store.list_of_rooms(asked, part, show).await
    }

    /// Posts a message of a caller, whose credential must have held in the present epoch when it
    /// was checked: otherwise the draft is stale, and the caller is to be checked again.
    ///
    /// # Errors
    ///
    /// [`Error::too_many_requests`](crate::Error::too_many_requests) when too many writes of the
    /// caller wait, and as [`Store::post`].
    pub(crate) async fn post(&self, actor: &Actor, draft: Draft) -> Result<PostResult> {
        let Some(epoch) = actor.epoch() else {
            return Ok(PostResult {
                outcome: eddyline_storage::AppendOutcome::Stale,
                event: None,
            });
        };
        let post = self.store.post(Draft {
            credential_epoch: Some(epoch),
            ..draft
        });
        let posted = budget(actor.quota_keys()).scope(post).await?;
        self.record_acknowledged(posted.event);
        Ok(posted)
    }

    /// Writes without a caller.
    pub(crate) async fn write<R, F>(
        &self,
        why: NoCaller,
        mut work: F,
    ) -> StoreResult<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> StoreResult<R> + Send + 'static,
    {
        let done = self
            .transaction(why, move |tx| work(tx).map_err(Abort::<Infallible>::Store))
            .await;
        done.map_err(Abort::into_store_error)
    }

    /// Writes without a caller what may be decided against.
    pub(crate) async fn transaction<R, E, F>(
        &self,
        why: NoCaller,
        work: F,
    ) -> std::result::Result<(R, Option<EventId>), Abort<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> std::result::Result<R, Abort<E>> + Send + 'static,
    {
        tracing::trace!(?why, "a write without a caller");
        let Some(keys) = current_keys().filter(|_| why.counts()) else {
            return self.run(why.author(), TaskBudget::BACKGROUND, work).await;
        };
        let permit = self.transaction_permit(keys).await;
        let _counted = permit.map_err(|_| StoreError::TooManyWrites)?;
        self.run(why.author(), budget(keys), work).await
    }

    /// A permit for a transaction, to be held until it is committed. It is waited for while enough
    /// others of the caller or the organization are in the queue.
    pub(crate) async fn transaction_permit(&self, keys: QuotaKeys) -> Result<TransactionPermit> {
        let permit = match IS_COUNTED.try_with(|()| ()) {
            Ok(()) => None,
            Err(_) => Some(
                self.transactions
                    .acquire_within(keys, 1, TRANSACTION_WAIT)
                    .await
                    .map_err(|exceeded| exceeded.of(Limit::Writes))?,
            ),
        };
        Ok(TransactionPermit { _permit: permit })
    }

    /// The same, but fails at once where it would wait.
    pub(crate) fn transaction_permit_now(&self, keys: QuotaKeys) -> Result<TransactionPermit> {
        let permit = self.transactions.acquire(keys, 1);
        Ok(TransactionPermit {
            _permit: Some(permit.map_err(|exceeded| exceeded.of(Limit::Writes))?),
        })
    }

    /// Runs a transaction that was counted before. A caller that needs a lock counts first, so that
    /// it does not hold the lock while it waits.
    pub(crate) async fn run_counted<F: Future>(
        &self,
        counted: TransactionPermit,
        transaction: F,
    ) -> F::Output {
        let _counted = counted;
        IS_COUNTED.scope((), transaction).await
    }

    /// Runs any transaction, in the turn of a budget: private to this module.
    async fn run<R, E, F>(
        &self,
        author: AuditAuthor,
        budget: TaskBudget,
        mut work: F,
    ) -> std::result::Result<(R, Option<EventId>), Abort<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> std::result::Result<R, Abort<E>> + Send + 'static,
    {
        let done = self.store.transaction(move |tx| {
            tx.set_author(author.clone());
            work(tx)
        });
        let done = budget.scope(done).await;
        if let Ok((_, event)) | Err(Abort::Commit { event, .. }) = &done {
            self.record_acknowledged(*event);
        }
        done
    }
}

impl Core {
    /// Writes without a caller in one transaction, of which nothing is kept unless `work` succeeds.
    /// Gives the position of what was told.
    pub(crate) async fn transaction<R, F>(
        &self,
        why: NoCaller,
        work: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> TxResult<R> + Send + 'static,
    {
        Ok(self.store().transaction(why, work).await?)
    }
}
