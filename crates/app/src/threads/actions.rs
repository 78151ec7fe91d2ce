//! Triggering the actions of threads (specification, section 6).

use eddyline_auth::action::{self, Parties};
use eddyline_auth::{SealingKey, Secret};
use eddyline_model::applications::Application;
use eddyline_model::items::{Action, EntryPoint};
use eddyline_model::policy;
use eddyline_model::sources::Keeper;
use eddyline_model::users::User;
use eddyline_model::{ApplicationId, MessageId, RoomId};
use eddyline_storage::{Result as StoreResult, Session};
use serde_json::{Value, json};

use super::asking::Asked;
use crate::actor::Actor;
use crate::error::IntegrationFailed;
use crate::rooms::Room;
use crate::{App, Error, Result};

/// An action whose integration can be asked.
struct Ready {
    action: Action,
    target: EntryPoint,
    application: ApplicationId,
    client_id: String,
    secret: Secret,
}

impl App {
    /// Has the integration that keeps a thread do what one of its actions says, the one at this position,
    /// counted from 0, for a user who was admitted to the room for posting. With a `name` it must be the
    /// one of that name: the thread may have changed since it was shown.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for flow tokens, [`Error::NotFound`], [`Error::Conflict`] when the action has
    /// another name, [`Error::Invalid`] when it is a link only, [`Error::Gone`] when the thread's source was
    /// removed, [`Error::Integration`] when the integration cannot be asked or does not agree,
    /// [`Error::TooManyRequests`] when the caller or the application has too many actions under way, and
    /// [`Error::Unavailable`] when all together have.
    pub async fn trigger_action(
        &self,
        actor: &Actor,
        room: &Room,
        thread_id: &str,
        position: usize,
        name: Option<&str>,
    ) -> Result<()> {
        let user = &actor.user()?.user;
        policy::write(&room.organization)?;
        let root = self.thread_root(room, thread_id)?;
        let ready = self.ready_action(room.id(), root, position, name.map(str::to_owned)).await?;
        let body = with_agent(&ready.action, user).to_string().into_bytes();
        let parties = Parties { issuer: &self.config().addresses.base, audience: &ready.client_id };
        let token = action::sign(&ready.secret, parties, user.id, &body, self.now());
        let EntryPoint::EntryPoint { url, method } = ready.target;
        let (application, user, thread) = (ready.application, user.id, thread_id.to_owned());
        self.inner.integrations.ask(Asked { application, user, thread, url, method, token, body }).await
    }

    async fn ready_action(
        &self,
        room: RoomId,
        root: MessageId,
        position: usize,
        name: Option<String>,
    ) -> Result<Ready> {
        let app = self.clone();
        let found = self.store().read(move |session| {
            let (action, keeper) = match chosen(session, room, root, position, name.as_deref())? {
                Ok(chosen) => chosen,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let Action::Update { target, .. } = &action else {
                let text = "is that of a link, which there is nothing to be asked for";
                return Ok(Err(Error::field("position", text)));
            };
            let target = target.clone();
            let signed = signed_with(session, keeper, &app.inner.sealing)?;
            Ok(signed.map(|(of, secret)| Ready {
                action,
                target,
                application: of.id,
                client_id: of.client_id,
                secret,
            }))
        });
        found.await?
    }
}

/// The action that is meant, and who keeps its thread.
fn chosen(
    session: &mut Session<'_>,
    room: RoomId,
    root: MessageId,
    position: usize,
    name: Option<&str>,
) -> StoreResult<Result<(Action, Option<Keeper>)>> {
    let item = session.thread(room, root)?.and_then(|thread| thread.item);
    let Some(action) = item.and_then(|item| item.actions.get(position).cloned()) else {
        return Ok(Err(Error::NotFound));
    };
    if name.is_some_and(|name| name != action.name()) {
        return Ok(Err(Error::Conflict("The thread has changed".into())));
    }
    Ok(Ok((action, session.thread_keeper(room, root)?)))
}

/// Whose secret signs for a keeper: that of the application which said where its requests go. Nobody
/// else may say that (see [`Keeper::keeps`]), so a signature never reaches another application's address.
fn signed_with(
    session: &mut Session<'_>,
    keeper: Option<Keeper>,
    sealing: &SealingKey,
) -> StoreResult<Result<(Application, Secret)>> {
    let cannot = |text: &str| Ok(Err(IntegrationFailed::unasked(text).into()));
    let Some(keeper) = keeper else { return cannot("No integration keeps this thread") };
    if let Some(source) = keeper.source
        && session.source(source)?.is_none_or(|source| source.removed_at.is_some())
    {
        return Ok(Err(Error::Gone));
    }
    let application = match keeper.application {
        Some(id) => session.application(id)?,
        None => return cannot("No application keeps this thread, so its requests cannot be signed"),
    };
    let Some(application) = application else {
        return cannot("The application that keeps this thread is gone");
    };
    let Some(sealed) = session.application_secret(application.id)? else {
        return cannot(
            "The application that keeps this thread has no secret, so its requests cannot be signed",
        );
    };
    match sealing.open(&application.client_id, &sealed) {
        Some(secret) => Ok(Ok((application, secret))),
        None => Ok(Err(Error::Internal("the secret of an application cannot be opened".into()))),
    }
}

/// The action as it is shown, and who does it. Whoever keeps the thread sees no more of the user than
/// everybody in the flow does by looking at a message: no address, no other flows.
fn with_agent(action: &Action, user: &User) -> Value {
    let mut body = json!(action);
    body["agent"] = json!({"@type": "Person", "id": user.id.0, "name": user.name, "nick": user.nick});
    body
}
