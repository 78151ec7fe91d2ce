//! Sources: what ties an application to a flow (specification, sections 2 and 4, Sources).

use std::collections::HashMap;

use crate::audit::{differences, note_impartially};
use crate::core::Core;
use crate::rooms::Rooms;
use eddyline_auth::Secret;
use eddyline_model::audit::{AuditAction, AuditEntry, AuditTarget};
use eddyline_model::log::Control;
use eddyline_model::policy::{self, FlowAction};
use eddyline_model::sources::{MAX_ERROR_CHARS, MAX_NAME_CHARS, MAX_SOURCES, Source};
use eddyline_model::{ApplicationId, RoomId, SourceId, Timestamp, UserId};
use eddyline_storage::{NewSourceRow, Result as StoreResult, Tx};
use eddyline_wire::{Source as WireSource, is_unseen};
use serde_json::{Value, json};

mod describe;
mod ending;
mod icons;

use self::describe::{Around, describe};
pub(crate) use self::ending::{end_all, lock_flows, remove_all, remove_in};
use crate::action_message::action;
use crate::actor::Actor;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::rooms::FlowRoom;
use crate::{Error, Result};

/// A source to be made.
#[derive(Clone, Debug)]
pub struct NewSource {
    /// What people know it by.
    pub name: String,
    /// Where what it mirrors is to be found.
    pub external_url: Option<String>,
}

/// What is to change about a source. An empty text takes something away.
#[derive(Clone, Debug, Default)]
pub struct SourceChanges {
    /// Another name.
    pub name: Option<String>,
    /// Where what it mirrors is to be found.
    pub external_url: Option<String>,
    /// Where it is configured, rather than where its application says.
    pub configuration_url: Option<String>,
    /// What is wrong with it.
    pub error_message: Option<String>,
}

impl SourceChanges {
    fn apply(&self, source: &mut Source) {
        let filled = |text: &String| Some(text.clone()).filter(|text| !text.trim().is_empty());
        if let Some(name) = &self.name {
            source.name.clone_from(name);
        }
        if let Some(url) = &self.external_url {
            source.external_url = filled(url);
        }
        if let Some(url) = &self.configuration_url {
            source.configuration_url = filled(url);
        }
        if let Some(text) = &self.error_message {
            source.error_message = filled(text);
        }
    }

    fn check(&self) -> Result<()> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        match &self.error_message {
            Some(text) if text.chars().count() > MAX_ERROR_CHARS => Err(Error::invalid(
                "error_message",
                format!("is too long (maximum is {MAX_ERROR_CHARS} characters)"),
            )),
            // It may have several lines.
            Some(text) if text.chars().any(|c| is_unseen(c) && c != '\n') => Err(Error::invalid(
                "error_message",
                "can't contain control characters",
            )),
            _ => Ok(()),
        }
    }
}

/// The source as it is shown, with when one of its threads changed last.
fn with_last_change(source: WireSource, at: Option<Timestamp>) -> WireSource {
    WireSource {
        threads_updated_at: at.map(|at| at.to_string()),
        ..source
    }
}

fn check_name(name: &str) -> Result<()> {
    match name.chars().count() {
        _ if name.trim().is_empty() => Err(Error::invalid("name", "can't be blank")),
        count if count > MAX_NAME_CHARS => Err(Error::invalid(
            "name",
            format!("is too long (maximum is {MAX_NAME_CHARS} characters)"),
        )),
        _ if name.chars().any(is_unseen) => {
            Err(Error::invalid("name", "can't contain control characters"))
        }
        _ => Ok(()),
    }
}

/// What integrations post by into the inbox of a flow. See [`crate::App::sources`].
#[derive(Clone)]
pub struct Sources {
    core: Core,
    rooms: Rooms,
}

crate::core::opaque_debug!(Sources);

impl Sources {
    pub(crate) fn new(core: Core, rooms: Rooms) -> Self {
        Self { core, rooms }
    }

    /// Makes a source of the application through which the caller asks, and gives it with its
    /// token, which nobody is shown again.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for callers without an application, [`Error::invalid`],
    /// [`Error::conflict`] when the flow has too many.
    pub async fn create(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        new: NewSource,
    ) -> Result<WireSource> {
        let application = actor.application().ok_or_else(Error::denied)?;
        self.make(actor, room, Some(application), new).await
    }

    /// Makes a source of no application for a script of the caller's, and gives it with its token,
    /// which is shown this once.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for applications and flow tokens, [`Error::invalid`], [`Error::conflict`]
    /// when the flow has too many.
    pub async fn create_for_script(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        name: String,
    ) -> Result<WireSource> {
        actor.user()?;
        if actor.application().is_some() {
            return Err(Error::denied());
        }
        let external_url = None;
        let new = NewSource { name, external_url };
        self.make(actor, room, None, new).await
    }

    async fn make(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        application: Option<ApplicationId>,
        new: NewSource,
    ) -> Result<WireSource> {
        check_name(&new.name)?;
        let (token, addresses) = (Secret::generate(), self.core.config().addresses.clone());
        let hash = token.hash();
        // Nobody remembers anything of a source that is new, so nobody is waited for.
        let (made, _) = self
            .rooms
            .change_flow(
                actor,
                room.id(),
                FlowAction::ManageSources,
                move |tx, actor, room| {
                    let creator = actor.user_id();
                    let source = insert(tx, room.id(), application, &new, creator, &hash.0)?;
                    let draft = action(tx, room.id(), creator, "source-add", &json!(source.name));
                    tx.messages().append(&[draft])?;
                    Ok(describe(tx, &addresses, &source)?)
                },
            )
            .await?;
        Ok(WireSource {
            flow_token: Some(token.expose().to_owned()),
            ..made
        })
    }

    /// See [`Operator::create_source`](crate::Operator::create_source).
    pub(crate) async fn create_by_operator(
        &self,
        organization: &str,
        flow: &str,
        application: &str,
        new: NewSource,
    ) -> Result<WireSource> {
        check_name(&new.name)?;
        let room = self.rooms.room_id_by_name(organization, flow).await?;
        let (token, addresses) = (Secret::generate(), self.core.config().addresses.clone());
        let (hash, application) = (token.hash(), application.to_owned());
        let (made, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                tx.rooms().lock(room)?;
                let found = match application.parse::<ApplicationId>() {
                    Ok(id) => tx.applications().find(id)?,
                    Err(_) => tx
                        .applications()
                        .find_by_client_id(&application)?
                        .map(|(application, _)| application),
                };
                let application = found.ok_or_else(Error::not_found)?;
                let source = insert(tx, room, Some(application.id), &new, None, &hash.0)?;
                Ok(describe(tx, &addresses, &source)?)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(WireSource {
            flow_token: Some(token.expose().to_owned()),
            ..made
        })
    }

    /// The sources of a flow that the caller was admitted to for [`FlowAction::ManageSources`].
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn list_of_flow(&self, room: &FlowRoom) -> Result<Vec<WireSource>> {
        self.describe_sources(vec![room.id()]).await
    }

    /// All sources that the caller can see: those of the flows they are in, or the one whose token
    /// they show.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn list(&self, actor: &Actor) -> Result<Vec<WireSource>> {
        if let Actor::FlowToken {
            room, thread_owner, ..
        } = actor
        {
            let room = self.rooms.admit(actor, *room, FlowAction::Post).await?;
            return match thread_owner.source {
                Some(source) => Ok(vec![self.get(&room, source).await?]),
                None => Ok(Vec::new()),
            };
        }
        let caller = actor.user()?.clone();
        let rooms = self.core.store().read(move |reader| {
            let mut visible = Vec::new();
            for place in reader.members().list_of_user(caller.user.id)? {
                if let Some(flow) = reader.flows().find(place.room)?
                    && !place.blocked
                    && !flow.disabled
                    && caller.role_in(flow.organization).is_some()
                {
                    visible.push(place.room);
                }
            }
            Ok(visible)
        });
        self.describe_sources(rooms.await?).await
    }

    async fn describe_sources(&self, rooms: Vec<RoomId>) -> Result<Vec<WireSource>> {
        let addresses = self.core.config().addresses.clone();
        let found = self.core.store().read(move |reader| {
            let sources = reader.sources().list_of_rooms(&rooms)?;
            let mut around = Around::default();
            let mut changes = HashMap::new();
            for room in rooms {
                changes.extend(reader.threads().list_changes_by_source(room)?);
            }
            let describe = |source: &Source| {
                let shown = around.describe(reader, &addresses, source)?;
                Ok(with_last_change(shown, changes.get(&source.id).copied()))
            };
            sources.iter().map(describe).collect()
        });
        Ok(found.await?)
    }

    /// A source of a flow that the caller was admitted to for [`FlowAction::ManageSources`].
    ///
    /// # Errors
    ///
    /// [`Error::not_found`].
    pub async fn get(&self, room: &FlowRoom, id: SourceId) -> Result<WireSource> {
        let (addresses, room) = (self.core.config().addresses.clone(), room.id());
        let found = self
            .core
            .store()
            .read(move |reader| match reader.sources().find(id)? {
                Some(source) if source.room == room && source.removed_at.is_none() => {
                    let change = reader.threads().find_change_of_source(room, id)?;
                    let shown = describe(reader, &addresses, &source)?;
                    Ok(Some(with_last_change(shown, change)))
                }
                _ => Ok(None),
            });
        found.await?.ok_or_else(Error::not_found)
    }

    /// The flow and the number of the source whose token the caller shows.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for everybody else.
    pub fn own(&self, actor: &Actor) -> Result<(RoomId, SourceId)> {
        match actor {
            Actor::FlowToken {
                room, thread_owner, ..
            } => Ok((*room, thread_owner.source.ok_or_else(Error::denied)?)),
            Actor::User { .. } => Err(Error::denied()),
        }
    }

    /// Changes a source, and gives it as it is then.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`], [`Error::invalid`].
    pub async fn update(
        &self,
        actor: &Actor,
        (room, id): (RoomId, SourceId),
        changes: SourceChanges,
    ) -> Result<WireSource> {
        changes.check()?;
        let addresses = self.core.config().addresses.clone();
        let updated = self.with_source(actor, room, id, move |tx, _, mut source| {
            let before = source.clone();
            changes.apply(&mut source);
            if source != before {
                source.updated_at = tx.now();
                tx.sources().update(&source)?;
                let url =
                    |source: &Source| json!(source.external_url.as_ref().map(ToString::to_string));
                let changed = differences(&[
                    ("name", json!(before.name), json!(source.name)),
                    ("external_url", url(&before), url(&source)),
                ]);
                note_source(tx, &source, AuditAction::SourceChange, &changed)?;
            }
            // Without an application, threads show the source's own name, which is cached with the
            // flow token.
            if source.name != before.name && source.application.is_none() {
                tx.record_event(Control::FlowTokens { room });
            }
            describe(tx, &addresses, &source)
        });
        let updated = updated.await?;
        // This query reads all threads of the source. Inside of the transaction it would block other
        // writes.
        let read = self
            .core
            .store()
            .read(move |reader| reader.threads().find_change_of_source(room, id));
        Ok(with_last_change(updated, read.await?))
    }

    /// Removes a source. Requests with its token are answered with 410 from now on.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn remove(&self, actor: &Actor, (room, id): (RoomId, SourceId)) -> Result<()> {
        self.with_source(actor, room, id, move |tx, actor, source| {
            let now = tx.now();
            tx.sources().delete(source.id, now)?;
            note_source(tx, &source, AuditAction::SourceDelete, &json!({}))?;
            // Posts that were let in before are looked at again.
            tx.rooms().advance_access(room)?;
            tx.record_event(Control::FlowTokens { room });
            let draft = action(
                tx,
                room,
                actor.user_id(),
                "source-remove",
                &json!(source.name),
            );
            tx.messages().append(&[draft]).map(drop)
        })
        .await
    }

    async fn with_source<R: Send + 'static>(
        &self,
        actor: &Actor,
        room: RoomId,
        id: SourceId,
        work: impl Fn(&mut Tx<'_>, &Actor, Source) -> StoreResult<R> + Send + Sync + 'static,
    ) -> Result<R> {
        let (done, event) = self
            .core
            .locked_transaction_as(
                actor,
                move |tx| tx.rooms().lock(room),
                move |tx, actor| {
                    let room = FlowRoom::load(tx, room)?.ok_or_else(Error::not_found)?;
                    let source = tx.sources().find(id)?.ok_or_else(Error::not_found)?;
                    let thread_owner = match &**actor {
                        Actor::FlowToken { thread_owner, .. } => Some(*thread_owner),
                        Actor::User { .. } => None,
                    };
                    // Somebody else may have removed it since the token was looked at.
                    if thread_owner.is_some() && source.removed_at.is_some() {
                        return Err(Error::source_removed().into());
                    }
                    let allowed = policy::source(
                        actor.flow_caller(&room),
                        thread_owner,
                        actor.application(),
                        &room.flow,
                        &source,
                    )
                    .and_then(|()| policy::write(&room.organization));
                    allowed.map_err(Error::from)?;
                    // The source may be the caller's own, and be removed.
                    actor.lock_credential(tx)?;
                    Ok(work(tx, actor, source)?)
                },
            )
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(done)
    }
}

/// Records what was done to a source.
pub(crate) fn note_source(
    tx: &mut Tx<'_>,
    source: &Source,
    action: AuditAction,
    detail: &Value,
) -> StoreResult<()> {
    let Some(flow) = tx.flows().find(source.room)? else {
        return Ok(());
    };
    let target = AuditTarget::new("source", source.id, &source.name);
    let entry = AuditEntry::new(action, Some(flow.organization)).on(target);
    let mut detail = detail.clone();
    detail["flow"] = json!(flow.id.0);
    note_impartially(tx, entry.with(detail))
}

fn insert(
    tx: &mut Tx<'_>,
    room: RoomId,
    application: Option<ApplicationId>,
    new: &NewSource,
    creator: Option<UserId>,
    hash: &[u8],
) -> TxResult<Source> {
    if let Some(application) = application
        && !tx.applications().lock_shared(application)?
    {
        return Err(Error::not_found().into());
    }
    if tx.sources().list_of_rooms(&[room])?.len() >= MAX_SOURCES {
        let text = format!("the flow has {MAX_SOURCES} sources, and can't have more");
        return Err(Error::conflict(text).into());
    }
    let now = tx.now();
    let id = tx.sources().insert(&NewSourceRow {
        room,
        application,
        name: new.name.clone(),
        external_url: new.external_url.clone(),
        creator,
        created_at: now,
    })?;
    tx.sources().insert_token(hash, room, Some(id), now)?;
    // An application's posts may go to another source now, or to none.
    tx.rooms().advance_access(room)?;
    let source = tx.sources().find(id)?.ok_or_else(Error::not_found)?;
    note_source(tx, &source, AuditAction::SourceCreate, &json!({}))?;
    Ok(source)
}
