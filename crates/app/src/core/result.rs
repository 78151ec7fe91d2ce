//! Writes and reads that may be decided against, for reasons that a caller is told. Whatever was
//! written before such a reason came up is taken back.

use eddyline_storage::{Abort, Reader};

use crate::core::Core;
use crate::{Error, Result};

/// Result of a step of a transaction. Either error aborts it; `?` converts from store errors and
/// from [`Error`].
pub(crate) type TxResult<T> = std::result::Result<T, Abort<Error>>;

impl From<Error> for Abort<Error> {
    fn from(reason: Error) -> Self {
        Self::Rejected(reason)
    }
}

/// The event of an [`Abort::Commit`] is lost here. A caller that has to wait until other processes
/// have applied it matches on the abort, as the exchange of OAuth tokens does.
impl From<Abort<Error>> for Error {
    fn from(abort: Abort<Error>) -> Self {
        match abort {
            Abort::Store(error) => error.into(),
            Abort::Rejected(reason) | Abort::Commit { reason, .. } => reason,
        }
    }
}

impl Core {
    /// Reads.
    pub(crate) async fn read<R, F>(&self, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut Reader<'_>) -> TxResult<R> + Send + 'static,
    {
        let read = self.store().read(move |reader| match work(reader) {
            Ok(found) => Ok(Ok(found)),
            Err(Abort::Rejected(reason) | Abort::Commit { reason, .. }) => Ok(Err(reason)),
            Err(Abort::Store(error)) => Err(error),
        });
        read.await?
    }
}

#[cfg(test)]
mod tests {
    use eddyline_storage::Store;

    use super::*;
    use crate::ErrorKind;
    use crate::core::transaction::NoCaller;
    use crate::error::kind_of;
    use crate::{App, Config};

    #[tokio::test]
    async fn what_was_written_before_a_refusal_is_taken_back() {
        let store = Store::open("sqlite::memory:").unwrap();
        let app = App::new(store, Config::default()).await.unwrap();
        let refused = app.core().transaction(NoCaller::Operator, |tx| {
            let now = tx.now();
            tx.organizations().insert("Acme", "acme", 5, now)?;
            Err::<(), _>(Error::denied().into())
        });
        assert_eq!(kind_of(&refused.await), Some(ErrorKind::Denied));
        let found = app.core().read(|reader| {
            Ok(reader
                .organizations()
                .find_id_by_name("acme")?
                .ok_or_else(Error::not_found)?)
        });
        assert_eq!(kind_of(&found.await), Some(ErrorKind::NotFound));
    }
}
