//! Threads: listing and showing them, and having done what they offer. Only messages change them.

mod actions;
mod asking;

use crate::core::Core;
use crate::messages::Messages;
pub(crate) use asking::Integrations;
use eddyline_auth::SealingKey;
use eddyline_model::messages::ThreadState;
use eddyline_model::threads::{self, ThreadQuery};
pub use eddyline_storage::ThreadPage;
use std::sync::Arc;

use crate::messages::LIST_BYTES;
use crate::rooms::FlowRoom;
use crate::{Error, Result};

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

/// Threads, and the actions that integrations offer in them. See [`crate::App::threads`].
#[derive(Clone)]
pub struct Threads {
    core: Core,
    messages: Messages,
    /// Opens the secrets of applications, which sign the requests of actions.
    sealing: Arc<SealingKey>,
    integrations: Integrations,
}

crate::core::opaque_debug!(Threads);

impl Threads {
    pub(crate) fn new(core: Core, messages: Messages, sealing: Arc<SealingKey>) -> Self {
        let config = core.config();
        let integrations = Integrations::new(config.outbound, config.profile, core.jobs().clone());
        Self {
            core,
            messages,
            sealing,
            integrations,
        }
    }

    /// The threads of a room that the caller may read, those that changed last first.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn list(
        &self,
        room: &FlowRoom,
        of: ThreadsOf,
        mut query: ThreadQuery,
    ) -> Result<ThreadPage> {
        let room = room.id();
        let found = self.core.store().read(move |reader| {
            query.threads = match &of {
                ThreadsOf::All => threads::ThreadSelection::All,
                ThreadsOf::Chat => threads::ThreadSelection::Chat,
                ThreadsOf::Inbox => threads::ThreadSelection::Inbox,
                ThreadsOf::Application(name) => match name.parse() {
                    Ok(id) => threads::ThreadSelection::Of(id),
                    Err(_) => match reader.applications().find_by_client_id(name)? {
                        Some((application, _)) => threads::ThreadSelection::Of(application.id),
                        None => return Ok(ThreadPage::default()),
                    },
                },
            };
            reader.threads().list(room, &query, LIST_BYTES)
        });
        Ok(found.await?)
    }

    /// A thread of a room that the caller may read.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`].
    pub async fn get(&self, room: &FlowRoom, thread_id: &str) -> Result<ThreadState> {
        let (root, room) = (self.messages.thread_root(room, thread_id)?, room.id());
        let found = self
            .core
            .store()
            .read(move |reader| reader.threads().find(room, root));
        found.await?.ok_or_else(Error::not_found)
    }
}
