//! What an invitation's link leads to: signing up, coming in, or declining.

use std::collections::BTreeMap;

use eddyline_auth::{Password, Secret, TokenHash};
use eddyline_model::UserId;
use eddyline_model::invitations::Invitation;
use eddyline_model::names::{self, Email, Nick};
use eddyline_model::users::User;
use eddyline_storage::{Error as StoreError, NewUser, Result as StoreResult, Tx};

use super::{FlowPath, sessions};
use crate::actor::Actor;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::email_addresses::{displace, holder_of, keeps_address};
use crate::invitations::accept::{accept_in, decline_in, invitation_of_link};
use crate::join::{has_place, lock_open_flow};
use crate::{Accounts, Error, Result};

/// What the page of an invitation shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationDetails {
    /// The name of the flow it leads to.
    pub flow_name: String,
    /// The name of the flow's organization.
    pub organization_name: String,
    /// Where the flow is.
    pub path: FlowPath,
    /// The name of the user who invites, if there is one.
    pub inviter: Option<String>,
    /// The address that was invited.
    pub email: String,
    /// What the inviter adds in words.
    pub message: Option<String>,
    /// Whether the address has an account already that keeps it.
    pub has_account: bool,
}

/// What somebody who signs up says about themselves. The address is that of the invitation.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Full name.
    pub name: String,
    /// Short name.
    pub nick: String,
    /// The password to sign in with.
    pub password: Password,
}

impl Accounts {
    /// What an invitation's link leads to.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the invitation was accepted, declined or cancelled, its link has
    /// ended, or never was.
    pub async fn invitation_link(&self, link: &Secret) -> Result<InvitationDetails> {
        let (hash, now) = (link.hash(), self.core.now());
        let found = self.core.store().read(move |reader| {
            let Some((invitation, flow, organization, inviter)) =
                invitation_of_link(reader, &hash, now)?
            else {
                return Ok(None);
            };
            let email_key = names::email_key(&invitation.email);
            let has_account = holder_of(reader, &email_key, organization.id)?.is_some();
            Ok(Some(InvitationDetails {
                path: FlowPath::of(&organization, &flow),
                flow_name: flow.name,
                organization_name: organization.name,
                inviter: inviter.map(|user| user.name),
                email: invitation.email,
                message: invitation.message,
                has_account,
            }))
        });
        found.await?.ok_or_else(Error::not_found)
    }

    /// Makes an account for the address of an invitation, which its link has proved, and brings it
    /// into the flow. Gives the secret of a new session, and where the flow is.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Accounts::invitation_link`]; [`Error::invalid`] naming `name`,
    /// `nick` or `password`; [`Error::conflict`] when the address has an account or the
    /// organization is full; [`Error::denied`] when it is inactive.
    pub async fn sign_up(&self, link: &Secret, new: NewAccount) -> Result<(Secret, FlowPath)> {
        // Known before the work of hashing is done.
        let invited = self.invitation_link(link).await?;
        let email: Email = invited
            .email
            .parse()
            .map_err(|_| Error::internal("an invited address"))?;
        let accounts = self.clone();
        let checking = async move {
            let (name, nick) = accounts.check_newcomer(&new, &invited).await?;
            Ok((
                name,
                nick,
                accounts.authentication.hash_password(&new.password).await?,
            ))
        };
        let (name, nick, password_hash) = self.with_new_password(checking).await?;
        let secret = Secret::generate_long();
        let (link, session) = (link.hash(), secret.hash());
        let avatar = Secret::generate();
        let (path, event) = self
            .core
            .transaction(NoCaller::Link, move |tx| {
                let now = tx.now();
                let new = NewUser {
                    id: None,
                    email: email.as_str().to_owned(),
                    email_key: email.key(),
                    name: name.clone(),
                    nick: nick.as_str().to_owned(),
                    avatar: avatar.expose().to_owned(),
                    bot: false,
                    active: true,
                    password_hash: Some(password_hash.clone()),
                    created_at: now,
                };
                let (invitation, path) = admit(tx, &link, &new)?;
                let user = insert(tx, &new)?;
                accept_in(tx, &invitation, &user)?;
                sessions::begin(tx, &session, user.id)?;
                Ok(path)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok((secret, path))
    }

    /// Brings somebody who is signed in into the flow of an invitation, whatever their address: who
    /// has the link was invited. Gives where the flow is.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Accounts::invitation_link`]; [`Error::denied`] when the user is
    /// blocked or the organization inactive; [`Error::conflict`] when it is full;
    /// [`Error::invalid`] when another user there has the nick.
    pub async fn accept_link(&self, actor: &Actor, link: &Secret) -> Result<FlowPath> {
        actor.user()?;
        let hash = link.hash();
        let (path, event) = self
            .core
            .transaction_as(actor, move |tx, actor| {
                let (now, user) = (tx.now(), actor.user()?.user.clone());
                let (invitation, flow, organization, _) =
                    invitation_of_link(tx, &hash, now)?.ok_or_else(Error::not_found)?;
                accept_in(tx, &invitation, &user)?;
                Ok(FlowPath::of(&organization, &flow))
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(path)
    }

    /// Checks all that a newcomer has entered.
    async fn check_newcomer(
        &self,
        new: &NewAccount,
        invited: &InvitationDetails,
    ) -> Result<(String, Nick)> {
        let mut errors = BTreeMap::new();
        let name = names::display_name(&new.name);
        if let Err(wrong) = &name {
            errors.insert("name".to_owned(), vec![wrong.to_string()]);
        }
        let nick = new.nick.parse::<Nick>();
        if let Err(wrong) = &nick {
            errors.insert("nick".to_owned(), vec![wrong.to_string()]);
        }
        let about = [
            &*invited.email,
            &*new.name,
            &*new.nick,
            &*invited.organization_name,
        ];
        let about = about.map(str::to_owned).into();
        if let Err(text) = self.check_strength(&new.password, about).await? {
            errors.insert("password".to_owned(), vec![text]);
        }
        match (name, nick) {
            (Ok(name), Ok(nick)) if errors.is_empty() => Ok((name, nick)),
            _ => Err(Error::invalid_fields(errors)),
        }
    }

    /// Declines an invitation, which is gone afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] as in [`Accounts::invitation_link`].
    pub async fn decline_link(&self, link: &Secret) -> Result<()> {
        // Read first, so that guesses cost no transaction.
        self.invitation_link(link).await?;
        let hash = link.hash();
        self.core
            .transaction(NoCaller::Link, move |tx| {
                let now = tx.now();
                let (invitation, _, organization, _) =
                    invitation_of_link(tx, &hash, now)?.ok_or_else(Error::not_found)?;
                let account = holder_of(tx, &names::email_key(&invitation.email), organization.id)?;
                decline_in(tx, &invitation, account.map(|account| account.user.id))
            })
            .await?;
        Ok(())
    }
}

/// Finds the invitation, and asks for every reason why this newcomer could not come in by it.
fn admit(tx: &mut Tx<'_>, link: &TokenHash, new: &NewUser) -> TxResult<(Invitation, FlowPath)> {
    let now = tx.now();
    let (invitation, flow, organization, _) =
        invitation_of_link(tx, link, now)?.ok_or_else(Error::not_found)?;
    // In the order in which everybody takes them: the flow, then its organization.
    lock_open_flow(tx, flow.room)?;
    let holder = tx.users().find_account_by_email(&new.email_key)?;
    let is_kept = match &holder {
        Some(account) => keeps_address(tx, account, organization.id)?,
        None => false,
    };
    if is_kept || tx.emails().is_claimed(&new.email_key, UserId(0), now)? {
        return Err(Error::conflict("this address has an account by now; sign in instead").into());
    }
    // Held, so that nobody else takes the nick or the last place.
    let organization = tx
        .organizations()
        .lock(organization.id)?
        .ok_or_else(Error::not_found)?;
    has_place(tx, &organization, &new.nick, None)?;
    if let Some(squatter) = holder {
        displace(tx, &squatter.user)?;
    }
    Ok((invitation, FlowPath::of(&organization, &flow)))
}

fn insert(tx: &mut Tx<'_>, new: &NewUser) -> StoreResult<User> {
    let id = tx.users().insert(new)?;
    tx.users()
        .find(id)?
        .ok_or(StoreError::Corrupt("a new user"))
}
