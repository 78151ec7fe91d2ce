//! Deleting a message: inbox messages go, one's own chat stays as an empty place (specification,
//! section 3).

use eddyline_model::messages::{Message, Notice, Placement};
use eddyline_model::policy::{self, Deletion, MessageAction};
use eddyline_model::search::SearchTokens;
use eddyline_model::tags::Tags;
use eddyline_model::{MessageId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use super::notice;
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::files::usage::FilesOf;
use crate::rooms::Room;
use crate::{Error, Messages, Result};

impl Messages {
    /// Deletes a message and tells the streams. Says what the deletion came to.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for every message that the caller may not delete, [`Error::not_found`].
    pub async fn delete(&self, actor: &Actor, room: &Room, id: MessageId) -> Result<Deletion> {
        let work = |tx: &mut Tx<'_>, actor: &Actor, _: &Room, message: Message| {
            delete_in(tx, actor, &message)
        };
        let deletion = self
            .change_message(actor, room, id, MessageAction::Change, work)
            .await?;
        if deletion == Deletion::Remove {
            self.files.sums.invalidate(FilesOf::room(room));
        }
        Ok(deletion)
    }
}

/// Deletes a message in the way that its kind asks for, if the caller may.
fn delete_in(tx: &mut Tx<'_>, actor: &Actor, message: &Message) -> TxResult<Deletion> {
    let user = actor.user_id().ok_or_else(Error::denied)?;
    let deletion = policy::delete(user, message).map_err(Error::from)?;
    match deletion {
        Deletion::Truncate => truncate(tx, Some(user), message)?,
        Deletion::Remove => remove(tx, Some(user), message)?,
    }
    Ok(deletion)
}

/// Empties a message and tells the streams that this user did. One that is empty stays as it is.
pub(crate) fn truncate(tx: &mut Tx<'_>, by: Option<UserId>, before: &Message) -> StoreResult<()> {
    if before.content.is_empty() {
        return Ok(());
    }
    let mut after = before.clone();
    after.content.clear();
    after.tags = Tags::default();
    after.explicit_tags.clear();
    if let Some(parent) = before.parent {
        after.tags.put_first(format!(":influx:{parent}"));
    }
    after.edited = Some(tx.now());
    tx.messages()
        .update(before, &after, &SearchTokens::default())?;
    let draft = notice(&after, by, Notice::edit(&after), tx.now());
    tx.messages().append(&[draft])?;
    Ok(())
}

/// Takes a message away and tells the streams that this user did.
pub(crate) fn remove(tx: &mut Tx<'_>, by: Option<UserId>, message: &Message) -> StoreResult<()> {
    tx.messages().delete(message)?;
    let mut draft = notice(message, by, Notice::removal(message.id), tx.now());
    // Listeners that follow the thread learn that it counts one less.
    if let Some(root) = message.thread_root
        && tx.threads().contains(message.room, root)?
    {
        draft.placement = Placement::InThread(root);
    }
    tx.messages().append(&[draft])?;
    Ok(())
}
