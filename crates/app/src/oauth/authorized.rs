//! What applications are allowed now, for the users who allowed it and for the administrators of
//! their organizations, and ending it.

use std::collections::{BTreeSet, HashMap};

use super::records::note_grant;
use eddyline_model::applications::Application;
use eddyline_model::audit::AuditAction;
use eddyline_model::grants::Grant;
use eddyline_model::log::Control;
use eddyline_model::policy::{self, OrganizationAction};
use eddyline_model::scopes::Scopes;
use eddyline_model::users::User;
use eddyline_model::{ApplicationId, EventId, GrantId, OrganizationId, Timestamp, UserId};
use eddyline_storage::{GrantsOf, Reader, Result as StoreResult, Tx};
use serde_json::json;

use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::{Error, ErrorKind, OAuth, Result};

/// An application that a user has allowed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorized {
    /// The application.
    pub application: Application,
    /// The name of the organization whose application it is.
    pub organization_name: String,
    /// All that it may do, of however many consents.
    pub scopes: Scopes,
    /// When it was first allowed something of that.
    pub since: Timestamp,
    /// When it last got tokens.
    pub used_at: Timestamp,
}

/// An application that somebody of an organization has allowed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizedByMember {
    /// Who allowed it.
    pub user: User,
    /// What was allowed.
    pub authorized: Authorized,
}

/// Ends grants with all that came of them, and codes that would lead to more. Records what ended,
/// once for each user and application, and returns `true` if there was something. Users are locked
/// first, if at all.
pub(crate) fn end_grants(tx: &mut Tx<'_>, whose: GrantsOf) -> StoreResult<bool> {
    let now = tx.now();
    let codes = tx.oauth_tokens().delete_codes(whose)?.into_iter();
    let mut ended: BTreeSet<(UserId, ApplicationId)> = codes
        .filter(|code| code.grant.is_none() && code.expires_at > now)
        .map(|code| (code.user, code.application))
        .collect();
    for Grant {
        id,
        user,
        application,
        ..
    } in tx.grants().list(whose)?
    {
        if tx.grants().delete(id)? {
            tx.record_event(Control::GrantEnd { user, grant: id });
            ended.insert((user, application));
        }
    }
    for (user, application) in &ended {
        note_grant(
            tx,
            *user,
            *application,
            AuditAction::GrantRevoke,
            &json!({}),
        )?;
    }
    Ok(!ended.is_empty())
}

/// Ends one grant with all that came of it, and records why. Ending it twice does nothing.
pub(super) fn end_grant(
    tx: &mut Tx<'_>,
    (user, application, grant): (UserId, ApplicationId, GrantId),
    reason: &str,
) -> StoreResult<()> {
    if !tx.grants().delete(grant)? {
        return Ok(());
    }
    tx.record_event(Control::GrantEnd { user, grant });
    let detail = json!({"reason": reason});
    note_grant(tx, user, application, AuditAction::GrantRevoke, &detail)
}

/// What the organizations of applications are called.
type OrganizationNames = HashMap<OrganizationId, String>;

fn organization_names<'a>(
    reader: &mut Reader<'_>,
    applications: impl Iterator<Item = &'a Application>,
) -> StoreResult<OrganizationNames> {
    let mut names = OrganizationNames::new();
    for Application {
        organization: id, ..
    } in applications
    {
        if !names.contains_key(id)
            && let Some(organization) = reader.organizations().find(*id)?
        {
            names.insert(*id, organization.name);
        }
    }
    Ok(names)
}

impl Authorized {
    fn of(grant: Grant, application: Application, names: &OrganizationNames) -> Self {
        Self {
            organization_name: names
                .get(&application.organization)
                .cloned()
                .unwrap_or_default(),
            application,
            scopes: grant.scopes,
            since: grant.created_at,
            used_at: grant.used_at,
        }
    }

    fn join(&mut self, grant: Grant) {
        self.scopes = self.scopes.union(grant.scopes);
        self.since = self.since.min(grant.created_at);
        self.used_at = self.used_at.max(grant.used_at);
    }
}

/// Ends all that a user has allowed an application.
fn take_back(tx: &mut Tx<'_>, user: UserId, application: ApplicationId) -> TxResult<()> {
    match end_grants(tx, GrantsOf::UserAt(user, application))? {
        true => Ok(()),
        false => Err(Error::not_found().into()),
    }
}

impl OAuth {
    /// The applications that the caller has allowed something which still holds, by their names.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn authorized(&self, actor: &Actor) -> Result<Vec<Authorized>> {
        let (user, now) = (actor.user()?.user.id, self.core.now());
        let found = self.core.store().read(move |reader| {
            let found = reader.grants().list_of_user(user, now)?;
            let names =
                organization_names(reader, found.iter().map(|(_, application)| application))?;
            Ok((found, names))
        });
        let (found, names) = found.await?;
        let mut all: Vec<Authorized> = Vec::new();
        for (grant, application) in found {
            match all
                .iter_mut()
                .find(|one| one.application.id == application.id)
            {
                Some(one) => one.join(grant),
                None => all.push(Authorized::of(grant, application, &names)),
            }
        }
        all.sort_by(|one, other| one.application.name.cmp(&other.application.name));
        Ok(all)
    }

    /// What the people of an organization have allowed applications, for its administrators.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`] for others.
    pub async fn authorized_by_members(
        &self,
        actor: &Actor,
        organization: OrganizationId,
    ) -> Result<Vec<AuthorizedByMember>> {
        policy::organization(
            actor.user()?.role_in(organization),
            OrganizationAction::Administer,
        )?;
        let now = self.core.now();
        let found = self.core.store().read(move |reader| {
            let found = reader.grants().list_of_organization(organization, now)?;
            let names =
                organization_names(reader, found.iter().map(|(.., application)| application))?;
            Ok((found, names))
        });
        let (found, names) = found.await?;
        let mut all: Vec<AuthorizedByMember> = Vec::new();
        for (grant, user, application) in found {
            let same = |one: &&mut AuthorizedByMember| {
                one.user.id == user.id && one.authorized.application.id == application.id
            };
            match all.iter_mut().find(same) {
                Some(one) => one.authorized.join(grant),
                None => {
                    let authorized = Authorized::of(grant, application, &names);
                    all.push(AuthorizedByMember { user, authorized });
                }
            }
        }
        Ok(all)
    }

    /// Takes back all that the caller has allowed an application. Its tokens are dead in every
    /// process once this answers, and streams opened with them end.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the caller allows it nothing, [`Error::denied`] for flow tokens.
    pub async fn unauthorize(&self, actor: &Actor, application: ApplicationId) -> Result<()> {
        let user = actor.user()?.user.id;
        let ended = self
            .core
            .transaction_as(actor, move |tx, actor| {
                tx.users().lock(user)?;
                // It may be among those that end.
                actor.lock_credential(tx)?;
                take_back(tx, user, application)
            })
            .await;
        self.wait_for_end(ended).await
    }

    /// The same, for somebody of an organization that the caller administers. It ends what was
    /// allowed there and anywhere else: tokens are not made for one organization.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for a user outside the organization, and for one who allows the
    /// application nothing; [`Error::denied`].
    pub async fn unauthorize_member(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        user: UserId,
        application: ApplicationId,
    ) -> Result<()> {
        let ended = self
            .core
            .transaction_as(actor, move |tx, actor| {
                let role = actor.user()?.role_in(organization);
                policy::organization(role, OrganizationAction::Administer).map_err(Error::from)?;
                if !tx
                    .organization_members()
                    .list_of_user(user)?
                    .iter()
                    .any(|membership| membership.organization == organization)
                {
                    return Err(Error::not_found().into());
                }
                take_back(tx, user, application)
            })
            .await;
        self.wait_for_end(ended).await
    }

    /// Waits until every process has applied the end: that of this request, or of another one a
    /// moment ago, which still waits itself.
    async fn wait_for_end(&self, ended: Result<((), Option<EventId>)>) -> Result<()> {
        match ended {
            Ok(((), event)) => self.core.wait_until_end_applied(event).await,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.core.wait_until_end_applied(None).await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }
}
