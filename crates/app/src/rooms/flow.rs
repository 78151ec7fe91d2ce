//! The rooms of flows: the flow, its organization and who is in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use eddyline_model::deletion::DeletionTarget;
use eddyline_model::flows::Flow;
use eddyline_model::names::{is_ignorable, nick_key};
use eddyline_model::organizations::Organization;
use eddyline_model::policy::{self, FlowAction, FlowCaller, MembershipState};
use eddyline_model::tags::{Cohort, Roster};
use eddyline_model::{EventId, OrganizationId, RoomId, Timestamp, UserId, tags};
use eddyline_storage::{Error as StoreError, Reader, Result as StoreResult, Tx};

use super::Rooms;
use crate::actor::Actor;
use crate::charging::charge_reads_to;
use crate::core::transaction::TxResult;
use crate::groups::MentionGroups;
use crate::{Error, Result};

/// A member of a flow. Blocked members can neither read nor post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name by which others mention the member.
    pub nick: String,
    /// Whether the member is blocked.
    pub blocked: bool,
}

/// The room of a flow, with what every request about it needs.
#[derive(Clone, Debug)]
pub struct FlowRoom {
    /// The flow.
    pub flow: Flow,
    /// The organization it belongs to.
    pub organization: Organization,
    members: HashMap<UserId, Member>,
    nicks: HashMap<String, UserId>,
    /// Those of the organization.
    groups: Arc<MentionGroups>,
    /// All members but the blocked ones: those whom a mention of everyone addresses.
    everyone: Arc<Cohort>,
    /// The cohorts of the groups, by the keys of the groups, while a message in memory refers to
    /// them.
    group_cohorts: Arc<Mutex<HashMap<String, Weak<Cohort>>>>,
    /// When the organization will be deleted, if it is closed.
    due_at: Option<Timestamp>,
}

impl FlowRoom {
    /// The room's number.
    #[must_use]
    pub fn id(&self) -> RoomId {
        self.flow.room
    }

    /// What a user is in it.
    #[must_use]
    pub fn member(&self, user: UserId) -> Option<&Member> {
        self.members.get(&user)
    }

    /// How many are in it, the blocked ones too.
    #[must_use]
    pub fn people(&self) -> usize {
        self.members.len()
    }

    /// How many tags a caller may send who sends those of a message back.
    pub(crate) fn most_tags(&self) -> usize {
        tags::most_tags(self.people(), self.groups.len())
    }

    /// The keys of the groups that a user is in, as many as a list of mentions asks for.
    pub(crate) fn groups_of(&self, user: UserId) -> Vec<&str> {
        self.groups.of_user(user)
    }

    /// The room as the store has it now, where no groups are mentioned; [`Rooms::load_room`] and
    /// [`Rooms::change_flow`] give it those of its organization.
    pub(crate) fn load(reader: &mut Reader<'_>, id: RoomId) -> StoreResult<Option<Self>> {
        let Some(flow) = reader.flows().find(id)? else {
            return Ok(None);
        };
        let Some(organization) = reader.organizations().find(flow.organization)? else {
            return Ok(None);
        };
        let deletion = DeletionTarget::Organization(organization.id);
        let deletion = reader.deletions().find(deletion)?;
        let mut members = HashMap::new();
        let mut nicks = HashMap::new();
        for (membership, user) in reader.members().list_of_room(id)? {
            if !membership.blocked {
                add_nick(&mut nicks, &user.nick, user.id);
            }
            members.insert(
                user.id,
                Member {
                    nick: user.nick,
                    blocked: membership.blocked,
                },
            );
        }
        let present = members.iter().filter(|(_, member)| !member.blocked);
        let mut everyone: Vec<UserId> = present.map(|(id, _)| *id).collect();
        everyone.sort_unstable();
        Ok(Some(Self {
            flow,
            organization,
            everyone: Arc::new(Cohort::of(everyone)),
            members,
            nicks,
            groups: Arc::default(),
            group_cohorts: Arc::default(),
            due_at: deletion.map(|deletion| deletion.due_at),
        }))
    }
}

impl Actor {
    /// Whether the actor may do `action` in a flow.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    fn allow_in(&self, room: &FlowRoom, action: FlowAction) -> Result<()> {
        let allowed = policy::flow(self.flow_caller(room), &room.flow, action);
        match (self, room.due_at) {
            (Self::User { caller, .. }, _) => {
                allowed.map_err(|refusal| caller.refused(room.organization.id, refusal))
            }
            (Self::FlowToken { .. }, Some(due_at)) if allowed.is_ok() => Err(Error::closed(due_at)),
            (Self::FlowToken { .. }, _) => Ok(allowed?),
        }
    }

    /// What the actor is towards a flow, for [`policy`] to decide by.
    #[must_use]
    pub fn flow_caller(&self, room: &FlowRoom) -> FlowCaller {
        match self {
            Self::FlowToken { room, .. } => FlowCaller::FlowToken { room: *room },
            Self::User { caller, .. } => FlowCaller::User {
                user: caller.user.id,
                role: caller.role_in(room.flow.organization),
                place: match room.member(caller.user.id) {
                    None => MembershipState::Outside,
                    Some(member) if member.blocked => MembershipState::Blocked,
                    Some(_) => MembershipState::Inside,
                },
            },
        }
    }
}

/// Of several nicks that look the same, which could be taken once, the one without invisible
/// characters is mentioned.
fn add_nick(nicks: &mut HashMap<String, UserId>, nick: &str, user: UserId) {
    let key = nick_key(nick);
    if nick.chars().any(is_ignorable) {
        nicks.entry(key).or_insert(user);
    } else {
        nicks.insert(key, user);
    }
}

impl Roster for FlowRoom {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        self.nicks.get(key).copied()
    }

    fn contains(&self, user: UserId) -> bool {
        self.member(user).is_some_and(|member| !member.blocked)
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        self.members
            .iter()
            .filter(|(_, member)| !member.blocked)
            .map(|(id, _)| *id)
    }

    fn everyone(&self) -> Arc<Cohort> {
        self.everyone.clone()
    }

    fn group(&self, key: &str) -> Option<&[UserId]> {
        self.groups.members(key)
    }

    fn group_cohort(&self, key: &str, members: &[UserId]) -> Arc<Cohort> {
        let mut cohorts = self
            .group_cohorts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(cohort) = cohorts.get(key).and_then(Weak::upgrade) {
            return cohort;
        }
        let cohort = Arc::new(self.present(members));
        cohorts.insert(key.to_owned(), Arc::downgrade(&cohort));
        cohort
    }
}

impl Rooms {
    /// The room of a flow named by organization and flow, for a caller who may do `action` there.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn find(
        &self,
        actor: &Actor,
        organization: &str,
        flow: &str,
        action: FlowAction,
    ) -> Result<Arc<FlowRoom>> {
        let id = self.room_id_by_name(organization, flow).await?;
        self.admit(actor, id, action).await
    }

    /// The room of a flow named in a parameter: by its id, as `organization/flow` or as
    /// `organization:flow`.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn find_named(
        &self,
        actor: &Actor,
        name: &str,
        action: FlowAction,
    ) -> Result<Arc<FlowRoom>> {
        let id = match name.split_once(['/', ':']) {
            Some((organization, flow)) => self.room_id_by_name(organization, flow).await?,
            None => self.room_id_by_public_id(name).await?,
        };
        self.admit(actor, id, action).await
    }

    /// The room that a flow token belongs to, for posting.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the flow is archived.
    pub async fn of_flow_token(&self, actor: &Actor, id: RoomId) -> Result<Arc<FlowRoom>> {
        self.admit(actor, id, FlowAction::Post).await
    }

    /// The room, if the caller may do `action` there.
    pub(crate) async fn admit(
        &self,
        actor: &Actor,
        id: RoomId,
        action: FlowAction,
    ) -> Result<Arc<FlowRoom>> {
        let room = self.load_room(id).await?;
        charge_reads_to(room.flow.organization);
        actor.allow_in(&room, action)?;
        Ok(room)
    }

    /// Changes something about a flow in one transaction: holds it against others, loads it and the
    /// caller's organizations anew, checks that the caller may do `action` and that the
    /// organization takes changes, and lets `change` do the rest. Gives the position of the last
    /// log entry that was written. The groups that can be mentioned come from the cache: no right
    /// depends on them.
    pub(crate) async fn change_flow<R, F>(
        &self,
        actor: &Actor,
        id: RoomId,
        action: FlowAction,
        change: F,
    ) -> Result<(R, Option<EventId>)>
    where
        R: Send + 'static,
        F: Fn(&mut Tx<'_>, &Actor, &Arc<FlowRoom>) -> TxResult<R> + Send + 'static,
    {
        let groups = self.load_room(id).await?.groups.clone();
        let lock = move |tx: &mut Tx<'_>| tx.rooms().lock(id);
        self.core
            .locked_transaction_as(actor, lock, move |tx, actor| {
                let loaded = FlowRoom::load(tx, id)?.ok_or_else(Error::not_found)?;
                let room = Arc::new(FlowRoom {
                    groups: groups.clone(),
                    ..loaded
                });
                actor.allow_in(&room, action)?;
                let possible = match action {
                    // One's own mark is no change of the organization.
                    FlowAction::SetOpen => Ok(()),
                    _ => policy::write(&room.organization),
                };
                possible.map_err(Error::from)?;
                change(tx, actor, &room)
            })
            .await
    }

    pub(crate) async fn load_room(&self, id: RoomId) -> Result<Arc<FlowRoom>> {
        let load = || async {
            let Some(loaded) = self
                .core
                .store()
                .read(move |reader| FlowRoom::load(reader, id))
                .await?
            else {
                return Ok::<_, StoreError>(None);
            };
            let groups = self.load_groups(loaded.organization.id).await?;
            Ok(Some(Arc::new(FlowRoom { groups, ..loaded })))
        };
        let room = self
            .cache
            .by_id
            .find(self.core.caches_current(), id, load)
            .await?;
        room.ok_or_else(Error::not_found)
    }

    /// The groups that can be mentioned in the flows of an organization.
    async fn load_groups(&self, organization: OrganizationId) -> StoreResult<Arc<MentionGroups>> {
        let load = || {
            self.core
                .store()
                .read(move |reader| Ok(Some(Arc::new(MentionGroups::load(reader, organization)?))))
        };
        let groups = self
            .cache
            .groups
            .find(self.core.caches_current(), organization, load)
            .await?;
        Ok(groups.unwrap_or_default())
    }

    pub(crate) async fn room_id_by_name(&self, organization: &str, flow: &str) -> Result<RoomId> {
        let key = name_key(organization, flow);
        let load = || {
            let (organization, flow) = (organization.to_lowercase(), flow.to_lowercase());
            self.core.store().read(move |reader| {
                match reader.organizations().find_id_by_name(&organization)? {
                    Some(organization) => reader.flows().find_room_by_name(organization, &flow),
                    None => Ok(None),
                }
            })
        };
        // This cache may be stale for a moment. That is safe: access is checked after the lookup.
        self.cache
            .by_name
            .find(true, key, load)
            .await?
            .ok_or_else(Error::not_found)
    }

    pub(crate) async fn room_id_by_public_id(&self, public_id: &str) -> Result<RoomId> {
        let wanted = public_id.to_owned();
        let load = || {
            self.core
                .store()
                .read(move |reader| reader.flows().find_room_by_id(&wanted))
        };
        self.cache
            .by_public_id
            .find(true, public_id.to_owned(), load)
            .await?
            .ok_or_else(Error::not_found)
    }
}

fn name_key(organization: &str, flow: &str) -> String {
    let mut key = String::with_capacity(organization.len() + 1 + flow.len());
    for part in [organization, "/", flow] {
        // Nearly all names are ASCII, which has no characters of more than one byte.
        match part.is_ascii() {
            true => key.push_str(part),
            false => key.extend(part.chars().flat_map(char::to_lowercase)),
        }
    }
    key.make_ascii_lowercase();
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nick_that_looks_like_another_is_not_mentioned_in_its_place() {
        let mut nicks = HashMap::new();
        for (nick, user) in [
            ("ad\u{200c}a", 1),
            ("Ada", 2),
            ("a\u{200d}da", 3),
            ("ben", 4),
        ] {
            add_nick(&mut nicks, nick, UserId(user));
        }
        assert_eq!(
            nicks,
            HashMap::from([("ada".to_owned(), UserId(2)), ("ben".to_owned(), UserId(4))])
        );
    }
}
