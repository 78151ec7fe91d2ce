//! The people of an archive, and making accounts and members of them.

use eddyline_model::UserId;
use eddyline_model::audit::{AuditAction, AuditEntry, actor};
use eddyline_model::log::Control;
use eddyline_model::mail::{MailKind, Purpose};
use eddyline_model::names::{Email, email_key, nick_key};
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_storage::{ImportOrigin, ImportedKind, NewMail, NewUser, Result as StoreResult, Tx};

use crate::{LeftOutKind, texts};

/// The time within which mail is counted.
const DAY_MILLIS: i64 = 86_400_000;

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
    /// `true` if the archive says that the address is proved.
    pub(crate) is_proved: bool,
    /// When the account was made; now, where the archive does not say.
    pub(crate) created_at: Option<i64>,
    /// Whether they belong to the organization, and administer it.
    pub(crate) membership: Option<OrganizationRole>,
    /// Whether the reader of the archive gives a new account a picture after this.
    pub(crate) has_picture: bool,
}

impl Person {
    /// Their address, if it is a valid one. Addresses under `.invalid` do not count: each stands
    /// for one that was taken away, and names the account by its number here.
    pub(crate) fn address(&self) -> Option<Email> {
        let email: Email = self.email.as_ref()?.parse().ok()?;
        (!email.key().ends_with(".invalid")).then_some(email)
    }

    /// Returns the address, or else the name, by which reports name them.
    pub(crate) fn shown(&self) -> &str {
        self.email.as_deref().unwrap_or(&self.name)
    }
}

/// Makes an account without a password. Its owner lets a link to one be mailed.
pub(crate) fn make(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    person: &Person,
    email: &Email,
    is_proved: bool,
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
        created_at: person.created_at.map_or(now, |at| texts::time(at, now)),
    })?;
    let website = person.website.parse::<eddyline_model::names::Website>();
    let website = website
        .map(|site| site.as_str().to_owned())
        .unwrap_or_default();
    let status = person.status.as_deref();
    let status = status.map(|text| texts::short(text, texts::MAX_TEXT_CHARS));
    tx.imports()
        .set_person(id, &website, status.as_deref(), is_proved)?;
    tx.imports().insert_made_account(origin, &email.key(), id)?;
    if person.has_picture {
        let awaited = [(id.to_string(), id.0)];
        tx.imports()
            .insert_records(origin, ImportedKind::AwaitedPicture, &awaited)?;
    }
    let made = tx.users().find(id)?;
    made.ok_or(eddyline_storage::Error::Corrupt("an account that was made"))
}

/// Mails the owner of a new account a link to choose a password, unless the organization has caused
/// as much mail about accounts within a day as it may; 0 is any number.
pub(crate) fn mail_link(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    user: &User,
    mails_per_day: u32,
) -> StoreResult<bool> {
    let (now, organization) = (tx.now(), origin.organization);
    let since = now.plus_millis(-DAY_MILLIS);
    let mut records = tx.mail_records();
    let count = records.count_of_organization(MailKind::Account, organization, since)?;
    if mails_per_day != 0 && count >= i64::from(mails_per_day) {
        return Ok(false);
    }
    let key = email_key(&user.email);
    records.insert(
        MailKind::Account,
        &[key.as_str()],
        None,
        Some(organization),
        now,
    )?;
    let mail = NewMail {
        purpose: Purpose::PasswordReset(user.id),
        recipient: user.email.clone(),
        detail: None,
    };
    tx.mails().insert(&[mail], now)?;
    Ok(true)
}

/// Makes a user a member of the organization, unless the user was removed or the nick is taken.
pub(crate) fn enter(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    user: &User,
    role: OrganizationRole,
    is_new: bool,
) -> StoreResult<Option<LeftOutKind>> {
    let organization = origin.organization;
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
