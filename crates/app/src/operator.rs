//! What operators do from the command line: making organizations, users, flows and tokens. They
//! post no action message.

use eddyline_auth::{Password, Secret};
use eddyline_model::log::Control;
use eddyline_model::names::{Email, FlowName, Nick, parameterized_candidates};
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::users::User;
use eddyline_model::{OrganizationId, RoomId, UserId, names};
use eddyline_storage::{Error as StoreError, NewUser, Tx};

use crate::flow_users::admit_member;
use crate::flows::insert_flow;
use crate::{App, Error, Result};

/// An organization to be made.
#[derive(Clone, Debug)]
pub struct NewOrganization {
    /// Display name.
    pub name: String,
    /// Name in URLs; made from the display name when absent.
    pub parameterized_name: Option<String>,
    /// How many people it may hold.
    pub user_limit: i64,
}

/// Somebody to be brought into an organization.
#[derive(Clone, Debug)]
pub struct NewPerson {
    /// The organization's name in URLs.
    pub organization: String,
    /// Address. A known one joins that person to the organization.
    pub email: Email,
    /// Full name.
    pub name: String,
    /// Short name.
    pub nick: Nick,
    /// Password, if there is to be one.
    pub password: Option<Password>,
    /// Whether to administer the organization.
    pub admin: bool,
    /// Whether it is a program.
    pub bot: bool,
}

/// A flow to be made.
#[derive(Clone, Debug)]
pub struct NewFlow {
    /// The organization's name in URLs.
    pub organization: String,
    /// Display name.
    pub name: FlowName,
}

impl App {
    /// Makes an organization and gives its number and name in URLs.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when the name is taken, [`Error::Invalid`].
    pub async fn operator_create_organization(
        &self,
        new: NewOrganization,
    ) -> Result<(OrganizationId, String)> {
        let wanted = new.parameterized_name.as_deref().unwrap_or(&new.name);
        let random = Secret::generate_hex::<4>();
        let name = parameterized_candidates(wanted, random.expose()).next().unwrap_or_default();
        if new.parameterized_name.as_ref().is_some_and(|given| *given != name) {
            return Err(Error::field(
                "parameterized_name",
                format!("is not a name for URLs; {name:?} would be"),
            ));
        }
        let display = display_name(&new.name)?;
        if new.user_limit < 1 {
            return Err(Error::field("user_limit", "must be at least 1"));
        }
        let answer = name.clone();
        let (id, _) = self
            .store()
            .write(move |tx| {
                let now = tx.now();
                tx.insert_organization(&display, &name, new.user_limit, now)
            })
            .await
            .map_err(|error| taken(error, &format!("the name {answer} is taken")))?;
        Ok((id, answer))
    }

    /// Brings a person into an organization, making the account unless the address is known, and
    /// gives the account as it is and a new API token. A known account keeps its name, nick and
    /// password.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when the organization is full, the person is in it, or the nick is
    /// taken; [`Error::NotFound`] without such an organization.
    pub async fn operator_create_user(&self, new: NewPerson) -> Result<(User, Secret)> {
        let new = NewPerson { name: display_name(&new.name)?, ..new };
        let password_hash = match &new.password {
            Some(password) => Some(self.hash_password(password).await?),
            None => None,
        };
        let token = Secret::generate();
        let hash = token.hash();
        let (outcome, event) = self
            .store()
            .write(move |tx| {
                let Some(organization) = tx.organization_id_by_name(&new.organization)? else {
                    return Ok(Err(Error::NotFound));
                };
                let id = find_or_insert_user(tx, &new, password_hash.clone())?;
                if tx.memberships_of(id)?.iter().any(|member| member.organization == organization) {
                    let text = format!("{} is in the organization already", new.email.as_str());
                    return Ok(Err(Error::Conflict(text)));
                }
                let role = if new.admin { OrganizationRole::Administrator } else { OrganizationRole::Member };
                let now = tx.now();
                let Some(user) = tx.user(id)? else { return Ok(Err(Error::NotFound)) };
                let nick = names::nick_key(&user.nick);
                tx.insert_organization_member(
                    OrganizationMembership { organization, user: id, role },
                    &nick,
                    now,
                )?;
                tx.insert_api_token(&hash.0, id, "command line", now)?;
                tx.tell(Control::UserEdit { user: id });
                Ok(Ok(user))
            })
            .await
            .map_err(|error| taken(error, "the nick is taken in the organization"))?;
        let user = outcome?;
        self.settle(event).await;
        Ok((user, token))
    }

    /// Adds an API token to a user.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when nobody has that address.
    pub async fn operator_create_user_token(&self, email: &Email) -> Result<(UserId, Secret)> {
        let token = Secret::generate();
        let (hash, key) = (token.hash(), email.key());
        let (id, _) = self
            .store()
            .write(move |tx| {
                let Some(account) = tx.account_by_email(&key)? else { return Ok(None) };
                let now = tx.now();
                tx.insert_api_token(&hash.0, account.user.id, "command line", now)?;
                Ok(Some(account.user.id))
            })
            .await?;
        Ok((id.ok_or(Error::NotFound)?, token))
    }

    /// Sets a user's password. The old one is refused once this answers.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Invalid`].
    pub async fn operator_set_password(&self, email: &Email, password: &Password) -> Result<UserId> {
        let hash = self.hash_password(password).await?;
        let key = email.key();
        let (id, event) = self
            .store()
            .write(move |tx| {
                let Some(account) = tx.account_by_email(&key)? else { return Ok(None) };
                tx.set_password_hash(account.user.id, &hash)?;
                tx.tell(Control::Revoked { user: account.user.id });
                Ok(Some(account.user.id))
            })
            .await?;
        let id = id.ok_or(Error::NotFound)?;
        self.settle(event).await;
        Ok(id)
    }

    /// Makes a flow with nobody in it, and gives its id and its name in URLs.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] without such an organization.
    pub async fn operator_create_flow(&self, new: NewFlow) -> Result<(String, String)> {
        let (made, _) = self
            .store()
            .write(move |tx| {
                let Some(organization) = tx.organization_id_by_name(&new.organization)? else {
                    return Ok(None);
                };
                let room = insert_flow(tx, organization, &new.name, None)?;
                tx.flow(room)
            })
            .await?;
        let flow = made.ok_or(Error::NotFound)?;
        Ok((flow.id.0, flow.parameterized_name))
    }

    /// Puts a member of the organization into a flow. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for an unknown flow or address, [`Error::Conflict`] when the person is
    /// not of the organization.
    pub async fn operator_add_flow_user(
        &self,
        organization: &str,
        flow: &str,
        email: &Email,
    ) -> Result<UserId> {
        let (organization, flow, key) = (organization.to_owned(), flow.to_owned(), email.key());
        let (outcome, event) = self
            .store()
            .write(move |tx| {
                let Some(room) = find_flow(tx, &organization, &flow)? else {
                    return Ok(Err(Error::NotFound));
                };
                tx.lock_room(room)?;
                let Some(account) = tx.account_by_email(&key)? else { return Ok(Err(Error::NotFound)) };
                let Some(organization) = tx.organization_id_by_name(&organization)? else {
                    return Ok(Err(Error::NotFound));
                };
                let user = account.user.id;
                if !tx.memberships_of(user)?.iter().any(|m| m.organization == organization) {
                    return Ok(Err(Error::Conflict("the user is not a member of the organization".into())));
                }
                if tx.room_membership(room, user)?.is_none() {
                    admit_member(tx, room, &account.user)?;
                }
                Ok(Ok(user))
            })
            .await?;
        let user = outcome?;
        self.settle(event).await;
        Ok(user)
    }

    /// Adds an API token to a flow.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn operator_create_flow_token(&self, organization: &str, flow: &str) -> Result<Secret> {
        let token = Secret::generate();
        let (hash, organization, flow) = (token.hash(), organization.to_owned(), flow.to_owned());
        let (made, _) = self
            .store()
            .write(move |tx| {
                let Some(room) = find_flow(tx, &organization, &flow)? else { return Ok(None) };
                let now = tx.now();
                tx.insert_flow_token(&hash.0, room, now)?;
                Ok(Some(()))
            })
            .await?;
        made.ok_or(Error::NotFound)?;
        Ok(token)
    }

    async fn hash_password(&self, password: &Password) -> Result<String> {
        if !password.is_acceptable() {
            return Err(Error::field("password", "must have 1 to 1024 bytes"));
        }
        self.inner.hasher.hash(password).await.map_err(|error| Error::Internal(error.to_string()))
    }
}

/// Says what it is that exists already.
fn taken(error: StoreError, what: &str) -> Error {
    match error {
        StoreError::Exists(_) => Error::Conflict(what.to_owned()),
        other => other.into(),
    }
}

/// A name for people to read, under the rules of a flow's.
fn display_name(text: &str) -> Result<String> {
    match text.parse::<FlowName>() {
        Ok(name) => Ok(name.into_string()),
        Err(error) => Err(Error::field("name", error.to_string())),
    }
}

fn find_flow(
    tx: &mut Tx<'_, '_>,
    organization: &str,
    flow: &str,
) -> eddyline_storage::Result<Option<RoomId>> {
    match tx.organization_id_by_name(organization)? {
        Some(organization) => tx.room_by_flow_name(organization, flow),
        None => Ok(None),
    }
}

fn find_or_insert_user(
    tx: &mut Tx<'_, '_>,
    new: &NewPerson,
    password_hash: Option<String>,
) -> eddyline_storage::Result<UserId> {
    if let Some(account) = tx.account_by_email(&new.email.key())? {
        return Ok(account.user.id);
    }
    let created_at = tx.now();
    tx.insert_user(&NewUser {
        email: new.email.as_str().to_owned(),
        email_key: new.email.key(),
        name: new.name.trim().to_owned(),
        nick: new.nick.as_str().to_owned(),
        avatar: Secret::generate().expose().to_owned(),
        bot: new.bot,
        password_hash,
        created_at,
    })
}
