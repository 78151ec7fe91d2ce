//! The people of an archive, and the users who they are here.

use std::sync::Arc;

use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::log::Control;
use eddyline_model::mail::Purpose;
use eddyline_model::names::{Email, nick_key};
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, UserId};
use eddyline_storage::{ImportOrigin, NewMail, NewUser, Reader, Result as StoreResult, Tx};

use crate::target::ImportWork;
use crate::{Error, LeftOutKind, Result, texts};

/// How many people one transaction brings in.
const PEOPLE: usize = 100;

/// A person as an archive tells of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Person {
    /// What the archive calls them.
    pub(crate) id: String,
    /// Their address. Without one they get no account.
    pub(crate) email: Option<String>,
    pub(crate) name: String,
    pub(crate) nick: String,
    pub(crate) website: String,
    pub(crate) status: Option<String>,
    pub(crate) is_bot: bool,
    /// Whether a new account may be used.
    pub(crate) is_active: bool,
    /// Whether the address is proved.
    pub(crate) is_proved: bool,
    /// When the account was made; now, where the archive does not say.
    pub(crate) created_at: Option<i64>,
    /// Whether they belong to the organization, and administer it.
    pub(crate) membership: Option<OrganizationRole>,
    /// Whether the reader of the archive gives a new account a picture after this.
    pub(crate) has_picture: bool,
}

/// What a person is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BroughtIn {
    /// The user; `None` when there is no account.
    pub(crate) user: Option<UserId>,
    pub(crate) is_new: bool,
    /// Whether they belong to the organization now.
    pub(crate) is_member: bool,
    /// The name and the nick of the account.
    pub(crate) names: (String, String),
}

impl ImportWork<'_> {
    /// Finds the accounts of people by their addresses, makes those that are missing, and brings
    /// members into the organization. The answers are in the order of the people.
    pub(crate) fn resolve_people(&mut self, people: &[Person]) -> Result<Vec<BroughtIn>> {
        self.check_places(people)?;
        let mut found = Vec::with_capacity(people.len());
        for part in people.chunks(PEOPLE) {
            let part: Arc<[Person]> = part.into();
            let (origin, own, invites) = (self.origin.clone(), part.clone(), self.target.invites);
            let brought = match self.target.is_dry_run {
                true => self.read(move |reader| look_up(reader, &own))?,
                false => self.write(move |tx| {
                    let each = own
                        .iter()
                        .map(|person| resolve(tx, &origin, person, invites));
                    each.collect::<StoreResult<Vec<_>>>()
                })?,
            };
            for (person, (brought, left_out)) in part.iter().zip(brought) {
                if let Some(kind) = left_out {
                    self.report.leave_out(kind, shown(person));
                }
                if brought.is_new {
                    self.report.new_people += 1;
                    self.report.invited += u64::from(invites && person.is_active);
                } else if brought.user.is_some() {
                    self.report.known_people += 1;
                }
                found.push(brought);
            }
        }
        Ok(found)
    }

    /// Says before anything is written that the organization has too few places.
    fn check_places(&mut self, people: &[Person]) -> Result<()> {
        let organization = self.origin.organization;
        let keys: Vec<String> = people
            .iter()
            .filter(|person| person.membership.is_some())
            .filter_map(|person| Some(email(person)?.key()))
            .collect();
        let counts = self.read(move |reader| {
            let Some(found) = reader.organizations().find(organization)? else {
                return Ok(None);
            };
            let members = reader.organization_members().list_users(organization)?;
            let members: std::collections::HashSet<String> = members
                .iter()
                .map(|(user, _)| eddyline_model::names::email_key(&user.email))
                .collect();
            let new = keys.iter().filter(|key| !members.contains(*key)).count();
            Ok(Some((found.user_limit - found.user_count, new)))
        })?;
        match counts {
            Some((places, new)) if i64::try_from(new).is_ok_and(|new| new > places) => {
                Err(Error::Full {
                    places,
                    people: i64::try_from(new).unwrap_or(i64::MAX),
                })
            }
            _ => Ok(()),
        }
    }
}

fn shown(person: &Person) -> String {
    person.email.clone().unwrap_or_else(|| person.name.clone())
}

fn email(person: &Person) -> Option<Email> {
    person.email.as_ref()?.parse().ok()
}

type Outcome = (BroughtIn, Option<LeftOutKind>);

fn without_account(person: &Person) -> BroughtIn {
    BroughtIn {
        user: None,
        is_new: false,
        is_member: false,
        names: (texts::display_name(&person.name), String::new()),
    }
}

/// What would become of people.
fn look_up(reader: &mut Reader<'_>, people: &[Person]) -> StoreResult<Vec<Outcome>> {
    let each = people.iter().map(|person| {
        let mut brought = without_account(person);
        let Some(email) = email(person) else {
            return Ok((brought, None));
        };
        match reader.users().find_account_by_email(&email.key())? {
            Some(account) if !account.user.email_proved => {
                return Ok((brought, Some(LeftOutKind::UnprovedAddress)));
            }
            Some(account) => brought.user = Some(account.user.id),
            // A number that no user has stands for an account that would be made.
            None => (brought.user, brought.is_new) = (Some(UserId(0)), true),
        }
        brought.is_member = person.membership.is_some();
        Ok((brought, None))
    });
    each.collect()
}

fn resolve(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    person: &Person,
    invites: bool,
) -> StoreResult<Outcome> {
    let Some(email) = email(person) else {
        return Ok((without_account(person), None));
    };
    // Locked, so that a nick that is found free stays free.
    tx.organizations().lock(origin.organization)?;
    let account = tx.users().find_account_by_email(&email.key())?;
    let is_new = account.is_none();
    let user = match account {
        // The address may have been entered by another person.
        Some(account)
            if !account.user.email_proved && !was_made_here(tx, origin, &account.user, person)? =>
        {
            return Ok((without_account(person), Some(LeftOutKind::UnprovedAddress)));
        }
        Some(account) => account.user,
        None => make(tx, origin, person, &email, invites)?,
    };
    if is_new && person.has_picture {
        let awaited = [(user.id.to_string(), user.id.0)];
        let kind = eddyline_storage::ImportedKind::AwaitedPicture;
        tx.imports().insert_records(origin, kind, &awaited)?;
    }
    let records = [(person.id.clone(), user.id.0)];
    let kind = eddyline_storage::ImportedKind::User;
    tx.imports().insert_records(origin, kind, &records)?;
    let left_out = match person.membership {
        Some(role) => enter(tx, origin, &user, role, is_new)?,
        None => None,
    };
    let brought = BroughtIn {
        is_new,
        is_member: person.membership.is_some() && left_out.is_none(),
        names: (user.name, user.nick),
        user: Some(user.id),
    };
    Ok((brought, left_out))
}

/// Whether an earlier import of the same archive has made the account.
fn was_made_here(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    user: &User,
    person: &Person,
) -> StoreResult<bool> {
    let known = tx
        .imports()
        .list(origin, eddyline_storage::ImportedKind::User)?;
    Ok(known.get(&person.id) == Some(&user.id.0))
}

/// Makes an account without a password. Its owner lets a link to one be mailed.
fn make(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    person: &Person,
    email: &Email,
    invites: bool,
) -> StoreResult<User> {
    let mut nick = String::new();
    for candidate in texts::nicks(&person.nick, &person.name) {
        let key = nick_key(&candidate);
        nick = candidate;
        let mut members = tx.organization_members();
        if !members.has_nick(origin.organization, &key, UserId(0))? {
            break;
        }
    }
    let now = tx.now();
    let id = tx.users().insert(&NewUser {
        id: None,
        email: email.as_str().to_owned(),
        email_key: email.key(),
        name: texts::display_name(&person.name),
        nick,
        avatar: eddyline_random::hex::<16>(),
        bot: person.is_bot,
        active: person.is_active,
        password_hash: None,
        created_at: person.created_at.map_or(now, texts::time),
    })?;
    let website = person.website.parse::<eddyline_model::names::Website>();
    let website = website
        .map(|site| site.as_str().to_owned())
        .unwrap_or_default();
    let status = person.status.as_deref().map(texts::without_nul);
    let proved = person.is_proved;
    tx.imports()
        .set_person(id, &website, status.as_deref(), proved)?;
    if invites && person.is_active {
        let mail = NewMail {
            purpose: Purpose::PasswordReset(id),
            recipient: email.as_str().to_owned(),
            detail: None,
        };
        tx.mails().insert(&[mail], now)?;
    }
    let made = tx.users().find(id)?;
    made.ok_or(eddyline_storage::Error::Corrupt("an account that was made"))
}

/// Whether conversations of a user may be written: of a member of the organization, and of a user
/// without any. Others talk in organizations that the archive has nothing to do with.
pub(crate) fn may_converse(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    user: UserId,
) -> StoreResult<bool> {
    let memberships = tx.organization_members().list_of_user(user)?;
    let mut within = memberships.iter().map(|of| of.organization);
    Ok(memberships.is_empty() || within.any(|of| of == organization))
}

/// Makes a user a member of the organization, unless the user was removed or the nick is taken.
fn enter(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    user: &User,
    role: OrganizationRole,
    is_new: bool,
) -> StoreResult<Option<LeftOutKind>> {
    let organization = origin.organization;
    if tx
        .organization_members()
        .find_user(organization, user.id)?
        .is_some()
    {
        return Ok(None);
    }
    let is_kept_out = tx
        .organization_members()
        .is_removed(organization, user.id)?
        || tx
            .identities()
            .find(user.id)?
            .is_some_and(|known| known.suspended_at.is_some());
    if is_kept_out || (!is_new && !user.active) {
        return Ok(Some(LeftOutKind::RemovedPerson));
    }
    let key = nick_key(&user.nick);
    if tx
        .organization_members()
        .has_nick(organization, &key, user.id)?
    {
        return Ok(Some(LeftOutKind::TakenNick));
    }
    let membership = OrganizationMembership {
        organization,
        user: user.id,
        role,
    };
    let now = tx.now();
    tx.organization_members().insert(membership, &key, now)?;
    let entry = AuditEntry::new(AuditAction::MemberAdd, Some(organization)).by(actor::OPERATOR);
    tx.audit().insert(&entry.about(user.id))?;
    tx.record_event(Control::UserEdit { user: user.id });
    tx.record_event(Control::OrganizationChange);
    Ok(None)
}
