//! The people whom an archive reaches: the one place that decides it, for every format.
//!
//! [`ImportWork::decide`] asks [`policy::person_relation`] for each person, by the state before the
//! import, and reports the outcome before anything is written. [`ImportWork::make_participants`]
//! makes accounts and members of those who are reached, and returns [`Participants`]. These are the
//! only source of users, authors and pairs of users: content of all other people keeps their names
//! only.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use eddyline_model::flows::AccessMode;
use eddyline_model::messages::Author;
use eddyline_model::names::{Email, email_key};
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::policy::{self, AddressDomain, PersonRelation};
use eddyline_model::users::Account;
use eddyline_model::{OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{ImportOrigin, Reader, Result as StoreResult, Tx};

use crate::people::{self, Person};
use crate::target::ImportWork;
use crate::{Error, FlowInvitations, ImportPlan, LeftOutKind, Result, texts};

/// The number of people that one transaction brings in.
const PEOPLE: usize = 100;

/// A person of an archive, with their state on this server.
#[derive(Clone, Debug)]
pub(crate) struct Participant {
    /// The account, where the archive reaches it.
    user: Option<UserId>,
    is_new: bool,
    /// `true` if they were mailed a link to choose a password.
    is_mailed: bool,
    /// `true` if they belong to the organization now.
    is_member: bool,
    may_converse: bool,
    /// The address at which to invite them.
    invited: Option<Email>,
    name: String,
    nick: String,
}

impl Participant {
    /// A person with this account, or with none.
    #[cfg(test)]
    pub(crate) fn of_test(user: Option<UserId>) -> Self {
        Self {
            user,
            is_new: false,
            is_mailed: false,
            is_member: user.is_some(),
            may_converse: user.is_some(),
            invited: None,
            name: "somebody".to_owned(),
            nick: "somebody".to_owned(),
        }
    }

    /// The account that messages and all else of the person may be of.
    pub(crate) fn user(&self) -> Option<UserId> {
        self.user
    }

    /// The account, where it belongs to the organization.
    pub(crate) fn member(&self) -> Option<UserId> {
        self.user.filter(|_| self.is_member)
    }

    /// The name of the account, or that of the archive.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The nick of the account.
    pub(crate) fn nick(&self) -> &str {
        &self.nick
    }

    /// Returns the author that messages of the person show.
    pub(crate) fn author(&self) -> Author {
        Author {
            user: self.user,
            external_name: match self.user {
                Some(_) => None,
                None => Some(texts::external_name(&self.name)),
            },
        }
    }
}

/// The people of an archive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Participants {
    all: Vec<Participant>,
    by_id: HashMap<String, usize>,
}

impl Participants {
    /// The people in the order of the archive.
    pub(crate) fn all(&self) -> &[Participant] {
        &self.all
    }

    /// The person to whom the archive gives this id.
    pub(crate) fn find(&self, id: &str) -> Option<&Participant> {
        self.by_id.get(id).map(|place| &self.all[*place])
    }
}

/// Two users, or one, whose private messages an archive may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair(UserId, UserId);

impl Pair {
    /// The pair that the members of a conversation are.
    pub(crate) fn of(members: &[Option<&Participant>]) -> Option<Self> {
        let user = |participant: &Option<&Participant>| {
            let reached = (*participant)?;
            reached.user.filter(|_| reached.may_converse)
        };
        match members {
            [one] => user(one).map(|user| Self(user, user)),
            [one, other] => Some(Self(user(one)?, user(other)?)),
            _ => None,
        }
    }

    /// The two, the one with the lower number first.
    pub(crate) fn users(self) -> (UserId, UserId) {
        (
            UserId(self.0.0.min(self.1.0)),
            UserId(self.0.0.max(self.1.0)),
        )
    }

    pub(crate) fn has(self, user: UserId) -> bool {
        self.0 == user || self.1 == user
    }

    /// Returns the user to whom a message of one of the two goes.
    pub(crate) fn other(self, author: Option<UserId>) -> UserId {
        match author == Some(self.0) {
            true => self.1,
            false => self.0,
        }
    }
}

/// Returns `true` if an archive may still bring the private messages of a pair. Other transactions
/// may have written since it was decided: one of the two may have come into another organization.
pub(crate) fn may_still_converse(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    pair: Pair,
) -> StoreResult<bool> {
    let (one, other) = pair.users();
    for user in [one, other] {
        tx.users().lock(user)?;
        let Some(user) = tx.users().find(user)? else {
            return Ok(false);
        };
        let key = email_key(&user.email);
        let (_, belonging) = tx
            .imports()
            .find_address_account(organization, &key)?
            .unzip();
        // Their own domain: whom an address may reach was decided before.
        let relation = policy::person_relation(AddressDomain::Own, belonging, false);
        let is_elsewhere = belonging.is_none_or(|belonging| belonging.is_elsewhere);
        if !policy::may_import_conversation(relation, is_elsewhere) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The note of an earlier import on a room of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotedRoom {
    /// Nothing, or a room that is gone.
    Absent,
    /// The room.
    Same(RoomId),
    /// Another room: the archive gave this id to something else then.
    Another,
}

/// Checks whether a noted room is the conversation of a pair, or a flow of the organization. An
/// archive may give its rooms any ids.
pub(crate) fn confirm_room(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
    noted: Option<RoomId>,
    pair: Option<Pair>,
) -> StoreResult<NotedRoom> {
    let Some(room) = noted else {
        return Ok(NotedRoom::Absent);
    };
    if reader.rooms().find_last_message_id(room)?.is_none() {
        return Ok(NotedRoom::Absent);
    }
    let is_same = match pair {
        Some(pair) => reader.rooms().find_private_users(room)? == Some(pair.users()),
        None => {
            let flow = reader.flows().find(room)?;
            flow.is_some_and(|flow| flow.organization == organization)
        }
    };
    Ok(match is_same {
        true => NotedRoom::Same(room),
        false => NotedRoom::Another,
    })
}

/// The decision on each person of an archive.
pub(crate) struct Decisions {
    people: Vec<Person>,
    relations: Vec<PersonRelation>,
}

/// A person as the store knows them.
struct PersonState {
    relation: PersonRelation,
    domain: AddressDomain,
    account: Option<Account>,
    is_member: bool,
    is_elsewhere: bool,
}

/// Looks a person up. `email` is their address, and `domains_of` the organization whose domains
/// count: the one above an organization that is to be made.
fn look_up(
    reader: &mut Reader<'_>,
    organization: OrganizationId,
    domains_of: OrganizationId,
    email: &Email,
    now: Timestamp,
) -> StoreResult<PersonState> {
    let key = email.key();
    let domain = reader
        .organizations()
        .find_address_domain(domains_of, &key)?;
    let owner = reader.imports().find_address_account(organization, &key)?;
    let (account, belonging) = owner.unzip();
    let is_claimed = reader.imports().is_address_claimed(&key, now)?;
    Ok(PersonState {
        relation: policy::person_relation(domain, belonging, is_claimed),
        domain,
        account,
        is_member: belonging.is_some_and(|belonging| belonging.is_member),
        is_elsewhere: belonging.is_some_and(|belonging| belonging.is_elsewhere),
    })
}

impl ImportWork<'_> {
    /// Decides whom the archive reaches, and reports it before anything is written.
    pub(crate) fn decide(&mut self, people: Vec<Person>) -> Result<Decisions> {
        let (mut relations, mut plan) = (Vec::with_capacity(people.len()), ImportPlan::default());
        let mut newcomers = HashSet::new();
        let (organization, domains_of, now) =
            (self.origin.organization, self.domains_of(), self.now);
        for part in people.chunks(PEOPLE) {
            let emails: Vec<Option<Email>> = part.iter().map(Person::address).collect();
            let states = self.read(move |reader| {
                let each = emails.iter().map(|email| match email {
                    Some(email) => look_up(reader, organization, domains_of, email, now).map(Some),
                    None => Ok(None),
                });
                each.collect::<StoreResult<Vec<_>>>()
            })?;
            for (person, state) in part.iter().zip(states) {
                let relation = state
                    .as_ref()
                    .map_or(PersonRelation::WithoutAddress, |state| state.relation);
                let is_member = state.is_some_and(|state| state.is_member);
                if relation.is_reached() && person.membership.is_some() && !is_member {
                    newcomers.extend(person.address().map(|email| email.key()));
                }
                plan.add(relation, person.shown());
                relations.push(relation);
            }
        }
        self.note_plan(plan);
        self.check_places(newcomers.len())?;
        Ok(Decisions { people, relations })
    }

    /// Fails before anything is written if the organization has too few places.
    fn check_places(&self, newcomers: usize) -> Result<()> {
        let organization = self.origin.organization;
        let organization = self.read(move |reader| reader.organizations().find(organization))?;
        let people = i64::try_from(newcomers).unwrap_or(i64::MAX);
        match organization.map(|of| of.user_limit - of.user_count) {
            Some(places) if people > places => Err(Error::Full { places, people }),
            _ => Ok(()),
        }
    }

    /// Makes the accounts that are missing, and members of those who are to belong to the
    /// organization.
    pub(crate) fn make_participants(&mut self, decisions: Decisions) -> Result<Participants> {
        let mut participants = Participants::default();
        let decided: Vec<(Person, PersonRelation)> = decisions
            .people
            .into_iter()
            .zip(decisions.relations)
            .collect();
        for part in decided.chunks(PEOPLE) {
            let part: Arc<[(Person, PersonRelation)]> = part.into();
            let (origin, people, invites) =
                (self.origin.clone(), part.clone(), self.target.invites);
            let (is_dry_run, domains_of, now) =
                (self.target.is_dry_run, self.domains_of(), self.now);
            let brought = match is_dry_run {
                true => self.read(move |reader| {
                    let each = people.iter().map(|(person, decided)| {
                        preview(
                            reader,
                            &origin,
                            domains_of,
                            person,
                            (*decided, now),
                            invites,
                        )
                    });
                    each.collect::<StoreResult<Vec<_>>>()
                })?,
                false => self.write(move |tx| {
                    let each = people.iter().map(|(person, decided)| {
                        make_participant(tx, &origin, person, *decided, invites)
                    });
                    each.collect::<StoreResult<Vec<_>>>()
                })?,
            };
            for ((person, _), (participant, left_out)) in part.iter().zip(brought) {
                if let Some(kind) = left_out {
                    self.report.leave_out(kind, person.shown());
                }
                if participant.is_new {
                    self.report.new_people += 1;
                    self.report.invited += u64::from(participant.is_mailed);
                    if invites.is_some() && person.is_active && !participant.is_mailed {
                        self.report
                            .leave_out(LeftOutKind::MailQuota, person.shown());
                    }
                } else if participant.user.is_some() {
                    self.report.known_people += 1;
                }
                let place = participants.all.len();
                participants.by_id.insert(person.id.clone(), place);
                participants.all.push(participant);
            }
        }
        Ok(participants)
    }

    /// Reports the people to invite: each into the first flow that names them.
    pub(crate) fn report_invitations<'a>(
        &mut self,
        flows: impl IntoIterator<Item = InvitingRoom<'a>>,
    ) -> Result<()> {
        let mut seen = HashSet::new();
        for InvitingRoom {
            room,
            is_complete,
            people,
        } in flows
        {
            let people = people.into_iter().filter_map(|one| one.invited.as_ref());
            // A flow may name a person several times.
            let mut keys = HashSet::new();
            let invited: Vec<&Email> = people
                .filter(|email| !seen.contains(&email.key()) && keys.insert(email.key()))
                .collect();
            if invited.is_empty() {
                continue;
            }
            let place = self.read(move |reader| find_inviter(reader, room, is_complete))?;
            if let Some((flow, inviter)) = place {
                seen.extend(keys);
                let addresses = invited.iter().map(|email| email.as_str().to_owned());
                self.report.invitations.push(FlowInvitations {
                    flow,
                    inviter,
                    addresses: addresses.collect(),
                });
            }
        }
        Ok(())
    }
}

/// A room with the people of the archive who are in it.
pub(crate) struct InvitingRoom<'a> {
    pub(crate) room: RoomId,
    /// `true` if an earlier import has completed it.
    pub(crate) is_complete: bool,
    pub(crate) people: Vec<&'a Participant>,
}

/// Returns the name in URLs of a flow that is open, and the address of a member who may invite into
/// it: an administrator of the organization, or else another member of it, of those in the flow.
fn find_inviter(
    reader: &mut Reader<'_>,
    room: RoomId,
    is_complete: bool,
) -> StoreResult<Option<(String, Option<String>)>> {
    let Some(flow) = reader.flows().find(room)?.filter(|flow| !flow.disabled) else {
        return Ok(None);
    };
    // A later archive adds no members to a flow that is open to invited users only.
    if is_complete && flow.access_mode == AccessMode::Invitation {
        return Ok(None);
    }
    let mut inviter: Option<String> = None;
    for (member, user) in reader.members().list_of_room(room)? {
        let membership = reader
            .organization_members()
            .list_of_user(user.id)?
            .into_iter()
            .find(|membership| membership.organization == flow.organization);
        let Some(membership) = membership.filter(|_| user.active && !user.bot && !member.blocked)
        else {
            continue;
        };
        let is_administrator = membership.role == OrganizationRole::Administrator;
        if is_administrator || inviter.is_none() {
            inviter = Some(user.email);
        }
        if is_administrator {
            break;
        }
    }
    Ok(Some((flow.parameterized_name, inviter)))
}

type Outcome = (Participant, Option<LeftOutKind>);

fn left_out(relation: PersonRelation) -> Option<LeftOutKind> {
    match relation {
        PersonRelation::Elsewhere => Some(LeftOutKind::ElsewherePerson),
        PersonRelation::AnotherDomain => Some(LeftOutKind::AnotherDomain),
        PersonRelation::Unproved => Some(LeftOutKind::UnprovedAddress),
        PersonRelation::KeptOut => Some(LeftOutKind::RemovedPerson),
        PersonRelation::Member
        | PersonRelation::Imported
        | PersonRelation::New
        | PersonRelation::WithoutAddress => None,
    }
}

/// A person who has nothing but a name here.
fn named(person: &Person, relation: PersonRelation) -> Outcome {
    let is_invited = relation == PersonRelation::Elsewhere && person.membership.is_some();
    let participant = Participant {
        user: None,
        is_new: false,
        is_mailed: false,
        is_member: false,
        may_converse: false,
        invited: person.address().filter(|_| is_invited),
        name: texts::display_name(&person.name),
        nick: String::new(),
    };
    (participant, left_out(relation))
}

/// Returns the outcome that an import would have for a person.
fn preview(
    reader: &mut Reader<'_>,
    origin: &ImportOrigin,
    domains_of: OrganizationId,
    person: &Person,
    (decided, now): (PersonRelation, Timestamp),
    invites: Option<u32>,
) -> StoreResult<Outcome> {
    let (mut outcome, email) = (named(person, decided), person.address());
    let Some(email) = email.filter(|_| decided.is_reached()) else {
        return Ok(outcome);
    };
    let state = look_up(reader, origin.organization, domains_of, &email, now)?;
    let account = state.account.map(|account| account.user);
    let participant = &mut outcome.0;
    participant.is_new = account.is_none();
    participant.is_mailed = participant.is_new && invites.is_some() && person.is_active;
    participant.is_member = state.is_member || person.membership.is_some();
    participant.may_converse = policy::may_import_conversation(decided, state.is_elsewhere);
    // A number that no user has stands for an account that would be made.
    participant.user = Some(account.map_or(UserId(0), |user| user.id));
    Ok(outcome)
}

fn make_participant(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    person: &Person,
    decided: PersonRelation,
    invites: Option<u32>,
) -> StoreResult<Outcome> {
    let Some(email) = person.address().filter(|_| decided.is_reached()) else {
        return Ok(named(person, decided));
    };
    let organization = origin.organization;
    // Locked, so that the decision stays valid and a free nick stays free. Other transactions may
    // have written since the first decision, so it is made again: the writes of imports never let
    // an archive reach more people.
    tx.organizations().lock(organization)?;
    tx.organizations()
        .lock_address_domain(organization, &email.key())?;
    if let Some(account) = tx.users().find_account_by_email(&email.key())? {
        tx.users().lock(account.user.id)?;
    }
    let now = tx.now();
    let state = look_up(tx, organization, organization, &email, now)?;
    if !state.relation.is_reached() {
        return Ok(named(person, state.relation));
    }
    let is_proved = policy::proves_address(state.domain, person.is_proved);
    let is_new = state.account.is_none();
    let user = match state.account {
        Some(account) => account.user,
        None => people::make(tx, origin, person, &email, is_proved)?,
    };
    let is_mailed = match invites {
        Some(mails_per_day) if is_new && person.is_active => {
            people::mail_link(tx, origin, &user, mails_per_day)?
        }
        _ => false,
    };
    let left_out = match person.membership {
        Some(role) if !state.is_member => people::enter(tx, origin, &user, role, is_new)?,
        _ => None,
    };
    let is_entered = person.membership.is_some() && left_out.is_none();
    let participant = Participant {
        user: Some(user.id),
        is_new,
        is_mailed,
        is_member: state.is_member || is_entered,
        may_converse: policy::may_import_conversation(state.relation, state.is_elsewhere),
        invited: None,
        name: user.name,
        nick: user.nick,
    };
    Ok((participant, left_out))
}
