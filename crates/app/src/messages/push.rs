//! The older push addresses, which thousands of scripts still use (docs/protocol.md, Pushing): chat
//! and mail for one or several flows whose tokens stand in the path.

use std::sync::Arc;

use eddyline_auth::Secret;
use eddyline_model::MessageId;
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::FlowAction;

use crate::actor::Actor;
use crate::messages::{NewPost, Pushed, PushedMail, check_tags, check_text};
use crate::quota::QuotaSubject;
use crate::rooms::FlowRoom;
use crate::{Error, Messages, Result};

/// The most tokens of one path.
const MAX_TOKENS: usize = 20;

/// A flow to push to.
#[derive(Debug)]
pub struct Pushing {
    actor: Actor,
    room: Arc<FlowRoom>,
}

impl Pushing {
    /// The integration that the token stands for.
    #[must_use]
    pub fn quota_subject(&self) -> QuotaSubject {
        self.actor.quota_subject()
    }
}

impl Messages {
    /// The flows whose tokens stand in a path, with commas between them. All must be good.
    ///
    /// # Errors
    ///
    /// [`Error::unauthenticated`], [`Error::gone`], [`Error::not_found`] for an archived flow.
    pub async fn pushing(&self, tokens: &str) -> Result<Vec<Pushing>> {
        let mut all = Vec::new();
        let mut distinct: Vec<&str> = tokens
            .split(',')
            .filter(|token| !token.is_empty())
            .collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() > MAX_TOKENS {
            return Err(Error::invalid(
                "token",
                format!("can't be more than {MAX_TOKENS}"),
            ));
        }
        for token in distinct {
            let actor = self
                .authentication
                .by_flow_token(&Secret::presented(token.to_owned()))
                .await?;
            let Actor::FlowToken { room, .. } = &actor else {
                return Err(Error::denied());
            };
            let room = self.rooms.admit(&actor, *room, FlowAction::Post).await?;
            all.push(Pushing { actor, room });
        }
        if all.is_empty() {
            Err(Error::unauthenticated("The flow token is not valid"))
        } else {
            Ok(all)
        }
    }

    /// Posts chat into each of the flows, as a comment where `parent` says so.
    ///
    /// # Errors
    ///
    /// As [`Messages::post`]. What was posted before the failure stays.
    pub async fn push_chat(
        &self,
        to: &[Pushing],
        new: NewPost,
        parent: Option<MessageId>,
    ) -> Result<()> {
        if parent.is_some() && to.len() > 1 {
            return Err(Error::invalid(
                "message_id",
                "belongs to one flow; push it there alone",
            ));
        }
        // Before anything is posted anywhere.
        check_text(&new.content)?;
        for Pushing { actor, room } in to {
            check_tags("tags", &new.tags, room.most_tags())?;
            let _ = self.authentication.count_request(actor)?;
        }
        for Pushing { actor, room } in to {
            let event = if parent.is_some() {
                MessageKind::Comment
            } else {
                MessageKind::Message
            };
            let new = NewPost {
                event,
                parent,
                ..new.clone()
            };
            self.post(actor, room.clone(), new).await?;
        }
        Ok(())
    }

    /// Posts a mail into the inbox of each of the flows.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`], and as [`Messages::post`]. What was posted before the failure stays.
    pub async fn push_mail(
        &self,
        to: &[Pushing],
        mail: PushedMail,
        tags: Vec<String>,
    ) -> Result<()> {
        let from_name = mail.from_name.clone();
        let pushed = Pushed::Mail(mail);
        let prepared = Arc::new(self.prepare(&pushed, None, Vec::new()).await?);
        for Pushing { actor, room } in to {
            check_tags("tags", &tags, room.most_tags())?;
            let _ = self.authentication.count_request(actor)?;
        }
        for Pushing { actor, room } in to {
            let mut new = NewPost::of(MessageKind::Mail, String::new());
            (new.tags, new.external_user_name) = (tags.clone(), from_name.clone());
            new.pushed = Some(pushed.clone());
            self.post_prepared(actor, room.clone().into(), new, Some(prepared.clone()))
                .await?;
        }
        Ok(())
    }
}
