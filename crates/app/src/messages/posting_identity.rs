//! For whom an integration posts into a flow.

use std::sync::Arc;

use eddyline_model::sources::{ThreadOwner, ThreadSource};
use eddyline_model::{ApplicationId, RoomId};
use eddyline_storage::{Reader, Result as StoreResult};

use crate::actor::Actor;
use crate::rooms::FlowRoom;
use crate::{Error, Messages, Result};

/// Who posts into the inbox.
#[derive(Clone, Debug)]
pub(crate) struct PostingIdentity {
    pub(crate) thread_owner: ThreadOwner,
    pub(crate) source: Option<Arc<ThreadSource>>,
}

impl Messages {
    /// For whom a caller posts into the inbox of a room. Users do that through an application, for
    /// its one source there, if they name the thread by an id of its own.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] without an application, [`Error::invalid`] when the application has no
    /// source or several.
    pub(crate) async fn posting_identity(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        by_own_id: bool,
    ) -> Result<PostingIdentity> {
        if let Actor::FlowToken {
            thread_owner,
            source,
            ..
        } = actor
        {
            return Ok(PostingIdentity {
                thread_owner: *thread_owner,
                source: source.clone(),
            });
        }
        let application = actor.application().ok_or_else(Error::denied)?;
        let room = room.id();
        let mut own = self
            .core
            .store()
            .read(move |reader| own_sources(reader, application, room))
            .await?;
        match (own.pop(), own.is_empty()) {
            (Some(only), true) => Ok(only),
            _ if !by_own_id => {
                let thread_owner = ThreadOwner {
                    source: None,
                    application: Some(application),
                };
                Ok(PostingIdentity {
                    thread_owner,
                    source: None,
                })
            }
            (None, _) => Err(Error::invalid(
                "external_thread_id",
                "can't be used, because the application has no source in this flow",
            )),
            (Some(_), false) => Err(Error::invalid(
                "external_thread_id",
                "can't be used, because the application has several sources in this flow; name the thread_id",
            )),
        }
    }
}

/// The sources of an application in a flow; more than one are as good as two.
fn own_sources(
    reader: &mut Reader<'_>,
    application: ApplicationId,
    room: RoomId,
) -> StoreResult<Vec<PostingIdentity>> {
    let found = reader.sources().list_of_application(application, room, 2)?;
    let posters = found.into_iter().map(|source| {
        let shown = reader.sources().find_shown(&source)?;
        let thread_owner = ThreadOwner {
            source: Some(source.id),
            application: source.application,
        };
        Ok(PostingIdentity {
            thread_owner,
            source: Some(Arc::new(shown)),
        })
    });
    posters.collect()
}
