//! Editing a message: its own author changes the text, anyone who sees it the tags. Private
//! messages have tags in the classic profile only.

use std::borrow::Cow;

use eddyline_model::messages::{Message, Notice};
use eddyline_model::policy::{self, MessageAction};
use eddyline_model::search::{self, SearchTokens};
use eddyline_model::tags::{self, Extracted, TagChanges};
use eddyline_model::{MessageId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use super::{check_tags, check_text, notice, tagging};
use crate::actor::Actor;
use crate::rooms::Room;
use crate::{Error, Messages, Result};

/// What to change about a message.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The new text.
    pub content: Option<String>,
    /// The change of its tags.
    pub tags: Option<TagEdit>,
}

/// How to change the tags of a message. Tags are in any form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagEdit {
    /// Sets all tags: the message has these, and no others.
    Replace(Vec<String>),
    /// Adds and removes single tags, so that neither of two concurrent edits is lost.
    Amend {
        /// Those to add.
        add: Vec<String>,
        /// Those to remove.
        remove: Vec<String>,
    },
}

impl TagEdit {
    /// Checks what can be checked without the message.
    fn check(&self, most: usize) -> Result<()> {
        match self {
            Self::Replace(wanted) => check_tags("tags", wanted, most),
            Self::Amend { add, remove } => {
                check_tags("add_tags", add, most)?;
                check_tags("remove_tags", remove, most)
            }
        }
    }

    /// All tags that the message is to have.
    fn wanted(&self, room: &Room, message: &Message) -> Result<Cow<'_, [String]>> {
        match self {
            Self::Replace(wanted) => Ok(wanted.into()),
            Self::Amend { add, remove } => {
                let wanted = tags::amend(&message.tags, add, remove, room);
                // Those of the text can be as many again, and a message that has more than can be
                // given may still lose some.
                if !add.is_empty() {
                    check_tags("add_tags", &wanted, room.most_tags())?;
                }
                Ok(wanted.into())
            }
        }
    }
}

impl Messages {
    /// Edits a message and tells the streams. Where messages have no tags, it ignores those of the
    /// edit.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], [`Error::denied`] for the text of anything but one's own chat,
    /// [`Error::not_found`].
    pub async fn edit(
        &self,
        actor: &Actor,
        room: &Room,
        id: MessageId,
        mut edit: Edit,
    ) -> Result<()> {
        if let Some(content) = &edit.content {
            check_text(content)?;
        }
        edit.tags = edit.tags.filter(|_| room.has_tags());
        if let Some(change) = &edit.tags {
            change.check(room.most_tags())?;
        }
        let words = edit
            .content
            .as_deref()
            .map(search::tokens)
            .unwrap_or_default();
        let work = move |tx: &mut Tx<'_>, actor: &Actor, room: &Room, message: Message| {
            let user = actor.user_id().ok_or_else(Error::denied)?;
            if edit.content.is_some() {
                policy::edit_content(user, &message).map_err(Error::from)?;
            }
            let mut message = message;
            if let Some(content) = &edit.content
                && *content != message.content
            {
                let extracted = tagging::of_content(room, &message, content);
                message = write_content(tx, actor, &message, content, extracted, &words)?;
            }
            if let Some(change) = &edit.tags {
                let wanted = change.wanted(room, &message)?;
                let extracted = tagging::as_wanted(room, &message, &wanted, user);
                let changes = write_tags(tx, actor, &message, extracted)?;
                note_read(tx, &message, user, &changes)?;
            }
            Ok(())
        };
        self.change_message(actor, room, id, MessageAction::Change, work)
            .await
    }
}

/// A user who removes their own unread tag from a private message has read it.
fn note_read(
    tx: &mut Tx<'_>,
    message: &Message,
    user: UserId,
    changes: &TagChanges,
) -> StoreResult<()> {
    let mut removed = changes.remove.iter();
    if message.to.is_some() && removed.any(|tag| tags::parse_unread(tag) == Some(user)) {
        tx.messages()
            .set_mention_seen(message.room, user, message.id)?;
    }
    Ok(())
}

/// Gives a message another text, with the tags that make of it, and tells the streams. Gives the
/// message as it is then.
fn write_content(
    tx: &mut Tx<'_>,
    actor: &Actor,
    before: &Message,
    content: &str,
    extracted: Extracted,
    words: &SearchTokens,
) -> StoreResult<Message> {
    let mut after = with_tags(before, extracted);
    content.clone_into(&mut after.content);
    after.edited = Some(tx.now());
    tx.messages().update(before, &after, words)?;
    let draft = notice(&after, actor.user_id(), Notice::edit(&after), tx.now());
    tx.messages().append(&[draft])?;
    Ok(after)
}

/// Gives a message other tags and tells the streams what changed, if anything did.
fn write_tags(
    tx: &mut Tx<'_>,
    actor: &Actor,
    before: &Message,
    extracted: Extracted,
) -> StoreResult<TagChanges> {
    let after = with_tags(before, extracted);
    let changes = TagChanges::between(&before.tags, &after.tags);
    if changes.is_empty() {
        return Ok(changes);
    }
    tx.messages()
        .update(before, &after, &SearchTokens::default())?;
    let draft = notice(
        &after,
        actor.user_id(),
        Notice::tag_change(&after, &changes),
        tx.now(),
    );
    tx.messages().append(&[draft])?;
    Ok(changes)
}

/// The message with other tags. What a comment answers stays among them.
fn with_tags(before: &Message, extracted: Extracted) -> Message {
    let mut after = before.clone();
    after.tags = extracted.tags;
    after.explicit_tags = extracted.explicit;
    if let Some(parent) = before.parent {
        after.tags.put_first(format!(":influx:{parent}"));
    }
    after
}

#[cfg(test)]
mod tests {
    use eddyline_model::messages::MessageKind;
    use eddyline_model::policy::FlowAction;

    use super::*;
    use crate::accounts::tests::World;
    use crate::{NewPost, Posted};

    #[tokio::test]
    async fn an_edit_is_activity_before_the_feed_has_read_of_it() {
        let world = World::new().await;
        let room = world
            .app
            .rooms()
            .find(&world.ada, "acme", "main", FlowAction::Post)
            .await
            .unwrap();
        let post = NewPost {
            wait: true,
            ..NewPost::of(MessageKind::Message, "tea".into())
        };
        let Posted::Message(posted) = world
            .app
            .messages()
            .post(&world.ada, room.clone(), post)
            .await
            .unwrap()
        else {
            panic!("it waits for the message")
        };
        let shown = || {
            let user = world.ada.user().unwrap().user.id;
            world.app.presence().activity_of(user, room.id())
        };
        assert_eq!(shown(), posted.message.sent);
        world.pass(60);
        let edit = Edit {
            tags: Some(TagEdit::Replace(vec!["green".into()])),
            ..Edit::default()
        };
        world
            .app
            .messages()
            .edit(
                &world.ada,
                &room.clone().into(),
                posted.message.id,
                edit.clone(),
            )
            .await
            .unwrap();
        let edited = world.app.now();
        assert_eq!(shown(), edited);
        world.pass(60);
        world
            .app
            .messages()
            .edit(&world.ada, &room.clone().into(), posted.message.id, edit)
            .await
            .unwrap();
        assert_eq!(shown(), edited, "what changes nothing is no activity");
    }
}
