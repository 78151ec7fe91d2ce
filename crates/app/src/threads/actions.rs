//! Triggering the actions of threads (specification, section 6).

use eddyline_auth::action::{self, Parties};
use eddyline_auth::{SealingKey, Secret};
use eddyline_model::applications::Application;
use eddyline_model::items::{Action, EntryPoint};
use eddyline_model::policy;
use eddyline_model::sources::ThreadOwner;
use eddyline_model::users::User;
use eddyline_model::{ApplicationId, MessageId, RoomId};
use eddyline_storage::Reader;
use serde_json::{Value, json};

use super::asking::ActionCall;
use crate::actor::Actor;
use crate::core::transaction::Principal;
use crate::core::transaction::TxResult;
use crate::error::IntegrationFailed;
use crate::rooms::FlowRoom;
use crate::{Error, Result, Threads};

/// An action whose integration can be asked.
struct Ready {
    action: Action,
    target: EntryPoint,
    application: ApplicationId,
    client_id: String,
    secret: Secret,
}

impl Threads {
    /// Has the integration that keeps a thread do what one of its actions says, the one at this
    /// position, counted from 0, for a user who was admitted to the room for posting. With a `name`
    /// it must be the one of that name: the thread may have changed since it was shown.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, [`Error::not_found`], [`Error::conflict`] when the action
    /// has another name, [`Error::invalid`] when it is a link only, [`Error::gone`] when the
    /// thread's source was removed, [`Error::integration`] when the integration cannot be asked or
    /// does not agree, [`Error::too_many_requests`] when the caller or the application has too many
    /// actions under way, and [`Error::unavailable`] when all together have.
    pub async fn trigger_action(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        thread_id: &str,
        position: usize,
        name: Option<&str>,
    ) -> Result<()> {
        let (user, owner) = (&actor.user()?.user, actor.quota_subject());
        policy::write(&room.organization)?;
        let root = self.messages.thread_root(room, thread_id)?;
        let ready = self
            .ready_action(actor, room.id(), root, position, name.map(str::to_owned))
            .await?;
        let body = with_agent(&ready.action, user).to_string().into_bytes();
        let parties = Parties {
            issuer: &self.core.config().addresses.base,
            audience: &ready.client_id,
        };
        let token = action::sign(&ready.secret, parties, user.id, &body, self.core.now());
        let EntryPoint::EntryPoint { url, method } = ready.target;
        let (application, thread) = (ready.application, thread_id.to_owned());
        self.integrations
            .ask(ActionCall {
                application,
                owner,
                thread,
                url,
                method,
                token,
                body,
            })
            .await
    }

    async fn ready_action(
        &self,
        actor: &Actor,
        room: RoomId,
        root: MessageId,
        position: usize,
        name: Option<String>,
    ) -> Result<Ready> {
        let (sealing, actor) = (self.sealing.clone(), actor.clone());
        self.core
            .read(move |reader| {
                Principal::verify(reader, &actor)?;
                let (action, thread_owner) = chosen(reader, room, root, position, name.as_deref())?;
                let Action::Update { target, .. } = &action else {
                    let text = "is that of a link, which there is nothing to be asked for";
                    return Err(Error::invalid("position", text).into());
                };
                let target = target.clone();
                let (of, secret) = signed_with(reader, thread_owner, &sealing)?;
                Ok(Ready {
                    action,
                    target,
                    application: of.id,
                    client_id: of.client_id,
                    secret,
                })
            })
            .await
    }
}

/// The action that is meant, and who keeps its thread.
fn chosen(
    reader: &mut Reader<'_>,
    room: RoomId,
    root: MessageId,
    position: usize,
    name: Option<&str>,
) -> TxResult<(Action, Option<ThreadOwner>)> {
    let item = reader
        .threads()
        .find(room, root)?
        .and_then(|thread| thread.item);
    let action = item
        .and_then(|item| item.actions.get(position).cloned())
        .ok_or_else(Error::not_found)?;
    if name.is_some_and(|name| name != action.name()) {
        return Err(Error::conflict("The thread has changed").into());
    }
    Ok((action, reader.threads().find_owner(room, root)?))
}

/// The application whose secret signs requests for a thread owner: the one that named their
/// address. No other may name it (see [`ThreadOwner::keeps`]), so a signature never reaches another
/// application's address.
fn signed_with(
    reader: &mut Reader<'_>,
    thread_owner: Option<ThreadOwner>,
    sealing: &SealingKey,
) -> TxResult<(Application, Secret)> {
    let cannot = |text: &str| Error::from(IntegrationFailed::unasked(text));
    let thread_owner = thread_owner.ok_or_else(|| cannot("No integration keeps this thread"))?;
    if let Some(source) = thread_owner.source
        && reader
            .sources()
            .find(source)?
            .is_none_or(|source| source.removed_at.is_some())
    {
        return Err(Error::source_removed().into());
    }
    let unsigned = "No application keeps this thread, so its requests cannot be signed";
    let application = thread_owner.application.ok_or_else(|| cannot(unsigned))?;
    let gone = "The application that keeps this thread is gone";
    let application = reader
        .applications()
        .find(application)?
        .ok_or_else(|| cannot(gone))?;
    let without =
        "The application that keeps this thread has no secret, so its requests cannot be signed";
    let sealed = reader
        .applications()
        .find_secret(application.id)?
        .ok_or_else(|| cannot(without))?;
    let secret = sealing
        .open(&application.client_id, &sealed)
        .ok_or_else(|| Error::internal("the secret of an application cannot be opened"))?;
    Ok((application, secret))
}

/// The action as it is shown, and who does it. The owner of the thread sees no more of the user
/// than everybody in the flow does by looking at a message: no address, no other flows.
fn with_agent(action: &Action, user: &User) -> Value {
    let mut body = json!(action);
    body["agent"] =
        json!({"@type": "Person", "id": user.id.0, "name": user.name, "nick": user.nick});
    body
}
