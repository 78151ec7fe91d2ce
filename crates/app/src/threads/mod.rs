//! Threads: listing and showing them, and having done what they offer. Only messages change them.

mod actions;
mod asking;

pub(crate) use asking::Integrations;
use eddyline_model::messages::ThreadState;
use eddyline_model::threads::{ThreadQuery, Threads};
pub use eddyline_storage::ThreadPage;

use crate::messages::LIST_BYTES;
use crate::rooms::Room;
use crate::{App, Error, Result};

/// Which threads a list shows, as a caller says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThreadsOf {
    /// All.
    #[default]
    All,
    /// Those that people began.
    Chat,
    /// Those that applications began.
    Inbox,
    /// Those of an application, named by its number or its `client_id`.
    Application(String),
}

impl App {
    /// The threads of a room that the caller may read, those that changed last first.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn threads(&self, room: &Room, of: ThreadsOf, mut query: ThreadQuery) -> Result<ThreadPage> {
        let room = room.id();
        let found = self.store().read(move |reader| {
            query.threads = match &of {
                ThreadsOf::All => Threads::All,
                ThreadsOf::Chat => Threads::Chat,
                ThreadsOf::Inbox => Threads::Inbox,
                ThreadsOf::Application(name) => match name.parse() {
                    Ok(id) => Threads::Of(id),
                    Err(_) => match reader.application_by_client_id(name)? {
                        Some((application, _)) => Threads::Of(application.id),
                        None => return Ok(ThreadPage::default()),
                    },
                },
            };
            reader.threads(room, &query, LIST_BYTES)
        });
        Ok(found.await?)
    }

    /// A thread of a room that the caller may read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn thread(&self, room: &Room, thread_id: &str) -> Result<ThreadState> {
        let (root, room) = (self.thread_root(room, thread_id)?, room.id());
        let found = self.store().read(move |reader| reader.thread(room, root));
        found.await?.ok_or(Error::NotFound)
    }
}
