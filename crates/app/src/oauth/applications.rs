//! Registering applications, by operators and by the people of an organization.

use std::collections::HashSet;

use eddyline_auth::{SealingKey, Secret};
use eddyline_model::applications::{Application, MAX_REDIRECT_URIS, PageUri, RedirectUri};
use eddyline_model::audit::AuditAction;
use eddyline_model::names::display_name;
use eddyline_model::organizations::Organization;
use eddyline_model::policy::{self, ApplicationAction, OrganizationAction};
use eddyline_model::{ApplicationId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_storage::{GrantsOf, Result as StoreResult, Tx};
use eddyline_wire::SetupApplication;
use serde_json::{Value, json};

use super::end_grants;
use super::keys::check_key;
use super::records::note_application;
use crate::actor::{Actor, Credential};
use crate::audit::differences;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::rooms::FlowRoom;
use crate::{Error, OAuth, Result, sources};

/// How many applications the people of an organization can register. Operators can register more.
const MAX_APPLICATIONS: usize = 100;

/// What can be said and changed about an application.
#[derive(Clone, Debug)]
pub struct ApplicationChanges {
    /// The name that users see; 1 to 100 characters.
    pub name: String,
    /// Where users may be sent back to, at most [`MAX_REDIRECT_URIS`].
    pub redirect_uris: Vec<RedirectUri>,
    /// Where its integrations are configured.
    pub configuration_uri: Option<PageUri>,
    /// Where it is set up for a flow.
    pub setup_uri: Option<PageUri>,
    /// Its picture.
    pub icon_url: Option<PageUri>,
    /// Whether it may ask for tokens with users' passwords.
    pub password_grant: bool,
    /// Whether codes may be shown to users.
    pub out_of_band: bool,
}

/// An application to be registered.
#[derive(Clone, Debug)]
pub struct NewApplication {
    /// Whether it runs where it can keep no secret.
    pub public: bool,
    /// All else.
    pub about: ApplicationChanges,
}

impl ApplicationChanges {
    /// With a name and addresses as they are kept.
    fn checked(mut self) -> Result<Self> {
        self.name = display_name(&self.name).map_err(Error::invalid_name)?;
        let mut seen = HashSet::new();
        self.redirect_uris.retain(|uri| seen.insert(uri.clone()));
        if self.redirect_uris.is_empty() {
            return Err(Error::invalid("redirect_uri", "can't be blank"));
        }
        if self.redirect_uris.len() > MAX_REDIRECT_URIS {
            let text = format!("can't be more than {MAX_REDIRECT_URIS} addresses");
            return Err(Error::invalid("redirect_uri", text));
        }
        Ok(self)
    }

    fn apply(&self, application: &mut Application) {
        application.name.clone_from(&self.name);
        application.redirect_uris.clone_from(&self.redirect_uris);
        application
            .configuration_uri
            .clone_from(&self.configuration_uri);
        application.setup_uri.clone_from(&self.setup_uri);
        application.icon_url.clone_from(&self.icon_url);
        application.password_grant = self.password_grant;
        application.out_of_band = self.out_of_band;
    }
}

/// An application about to be kept, with its secret.
struct UnsavedApplication {
    application: Application,
    secret: Option<Secret>,
    sealed: Option<Vec<u8>>,
}

impl UnsavedApplication {
    fn new(
        new: &NewApplication,
        creator: Option<UserId>,
        now: Timestamp,
        key: &SealingKey,
    ) -> Self {
        let client_id = Secret::generate().expose().to_owned();
        let secret = (!new.public).then(Secret::generate_long);
        let sealed = secret.as_ref().map(|secret| key.seal(&client_id, secret));
        let mut application = Application {
            id: ApplicationId(0),
            client_id,
            organization: OrganizationId(0),
            name: String::new(),
            public: new.public,
            redirect_uris: Vec::new(),
            configuration_uri: None,
            setup_uri: None,
            icon_url: None,
            password_grant: false,
            out_of_band: false,
            creator,
            created_at: now,
        };
        new.about.apply(&mut application);
        Self {
            application,
            secret,
            sealed,
        }
    }
}

impl OAuth {
    /// See [`Operator::create_application`](crate::Operator::create_application).
    pub(crate) async fn create_application(
        &self,
        organization: &str,
        new: NewApplication,
    ) -> Result<(Application, Option<Secret>)> {
        let name = organization.to_lowercase();
        let found = self
            .core
            .store()
            .read(move |reader| reader.organizations().find_id_by_name(&name))
            .await?;
        self.insert_application(found.ok_or_else(Error::not_found)?, new, None)
            .await
    }

    /// Registers an application for an organization of the caller's, and gives its secret, unless
    /// it is one that has none. The secret is told here only.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for an organization that is not the caller's, [`Error::denied`] for one
    /// that is inactive, [`Error::conflict`] for one with a hundred applications,
    /// [`Error::invalid`].
    pub async fn register_application(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        new: NewApplication,
    ) -> Result<(Application, Option<Secret>)> {
        let caller = actor.user()?;
        policy::organization(caller.role_in(organization), OrganizationAction::See)?;
        self.insert_application(organization, new, Some(actor))
            .await
    }

    /// The organization for which a user registers applications by the API: the first of theirs.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, applications, and users without an organization.
    pub fn registers_for(&self, actor: &Actor) -> Result<OrganizationId> {
        let caller = actor.user()?;
        match (actor.credential(), caller.organizations.first()) {
            (Some(Credential::AccessToken(_)), _) | (_, None) => Err(Error::denied()),
            (_, Some(membership)) => Ok(membership.organization),
        }
    }

    async fn insert_application(
        &self,
        organization: OrganizationId,
        new: NewApplication,
        actor: Option<&Actor>,
    ) -> Result<(Application, Option<Secret>)> {
        let creator = actor.and_then(Actor::user_id);
        let new = NewApplication {
            about: new.about.checked()?,
            ..new
        };
        let UnsavedApplication {
            application,
            secret,
            sealed,
        } = UnsavedApplication::new(&new, creator, self.core.now(), &self.sealing);
        let application = Application {
            organization,
            ..application
        };
        let sealing = self.sealing.clone();
        let insert = move |tx: &mut Tx<'_>| {
            // Held, so that the applications can be counted.
            let organization = tx
                .organizations()
                .lock(organization)?
                .ok_or_else(Error::not_found)?;
            if let Some(creator) = creator {
                may_register(tx, &organization, creator)?;
            }
            if sealed.is_some() {
                check_key(tx, &sealing)?;
            }
            let id = tx.applications().insert(&application, sealed.as_deref())?;
            let made = Application {
                id,
                ..application.clone()
            };
            note_application(tx, &made, AuditAction::ApplicationCreate, &json!({}))?;
            Ok(made)
        };
        let (application, _) = match actor {
            Some(actor) => {
                self.core
                    .transaction_as(actor, move |tx, _| insert(tx))
                    .await?
            }
            None => self.core.transaction(NoCaller::Operator, insert).await?,
        };
        Ok((application, secret))
    }

    /// The applications of an organization of the caller's.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for an organization that is not the caller's.
    pub async fn applications(
        &self,
        actor: &Actor,
        organization: OrganizationId,
    ) -> Result<Vec<Application>> {
        policy::organization(actor.user()?.role_in(organization), OrganizationAction::See)?;
        Ok(self
            .core
            .store()
            .read(move |reader| reader.applications().list_of_organization(organization))
            .await?)
    }

    /// The applications of the flow's organization that say where they are set up for a flow. The
    /// caller was admitted to it for
    /// [`FlowAction::ManageSources`](policy::FlowAction::ManageSources).
    ///
    /// # Errors
    ///
    /// [`Error::denied`], [`Error::unavailable`].
    pub async fn set_up_in(&self, actor: &Actor, room: &FlowRoom) -> Result<Vec<SetupApplication>> {
        let (flow, organization) = (&room.flow, &room.organization);
        let addresses = &self.core.config().addresses;
        let url = addresses.flow(organization, flow);
        let all = self.applications(actor, organization.id).await?.into_iter();
        let with_links = all.filter_map(|application| {
            let setup_url = application.setup_link(&flow.id.0, &url)?;
            Some(SetupApplication {
                id: application.id.0,
                name: application.name,
                icon_url: application.icon_url.map(|uri| uri.as_str().to_owned()),
                setup_url,
            })
        });
        Ok(with_links.collect())
    }

    /// An application of one of the caller's organizations, if the caller may do `action` with it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn application(
        &self,
        actor: &Actor,
        id: ApplicationId,
        action: ApplicationAction,
    ) -> Result<Application> {
        let found = self
            .core
            .store()
            .read(move |reader| reader.applications().find(id))
            .await?
            .ok_or_else(Error::not_found)?;
        let caller = actor.user()?;
        policy::application(
            caller.user.id,
            caller.role_in(found.organization),
            &found,
            action,
        )?;
        Ok(found)
    }

    /// Whether the caller may change an application of theirs.
    #[must_use]
    pub fn may_change_application(&self, actor: &Actor, application: &Application) -> bool {
        actor.user().is_ok_and(|caller| {
            let role = caller.role_in(application.organization);
            policy::application(caller.user.id, role, application, ApplicationAction::Change)
                .is_ok()
        })
    }

    /// Changes an application. Codes that are under way to a place it no longer has lead nowhere.
    /// Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`], [`Error::invalid`].
    pub async fn change_application(
        &self,
        actor: &Actor,
        id: ApplicationId,
        changes: ApplicationChanges,
    ) -> Result<Application> {
        let changes = changes.checked()?;
        self.with_application(actor, id, Needs::Writing, move |tx, application| {
            let before = application.clone();
            changes.apply(application);
            if *application == before {
                return Ok(());
            }
            tx.applications().update(application)?;
            let changed = application_differences(&before, application);
            note_application(tx, application, AuditAction::ApplicationChange, &changed)?;
            if (&before.name, &before.icon_url) == (&application.name, &application.icon_url) {
                return Ok(());
            }
            sources::end_all(tx, application.id)
        })
        .await
    }

    /// Gives an application another secret; the one before is refused from now on. Tokens stay.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`], [`Error::conflict`] for one that has no secret.
    pub async fn rotate_application_secret(
        &self,
        actor: &Actor,
        id: ApplicationId,
    ) -> Result<Secret> {
        let before = self
            .application(actor, id, ApplicationAction::Change)
            .await?;
        if before.public {
            return Err(Error::conflict("the application has no secret"));
        }
        let secret = Secret::generate_long();
        let sealed = self.sealing.seal(&before.client_id, &secret);
        let sealing = self.sealing.clone();
        self.with_application(actor, id, Needs::Writing, move |tx, application| {
            check_key(tx, &sealing)?;
            tx.applications().set_secret(application.id, &sealed)?;
            note_application(tx, application, AuditAction::ApplicationSecret, &json!({}))
        })
        .await?;
        Ok(secret)
    }

    /// Removes an application. All that users allowed it ends, and its sources go with it, which is
    /// told in their flows.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`], [`Error::denied`].
    pub async fn remove_application(&self, actor: &Actor, id: ApplicationId) -> Result<()> {
        let removed = self.remove_step_by_step(actor, id).await;
        // Another removal may have ended the grants a moment ago, and still waits for other processes.
        self.core.wait_until_end_applied(None).await?;
        removed
    }

    async fn remove_step_by_step(&self, actor: &Actor, id: ApplicationId) -> Result<()> {
        let by = actor.user_id();
        // Also in an organization that can only be read: things may become fewer there. First of
        // all nobody acts for it any more; then its sources go flow by flow, so that others write
        // meanwhile, however many there are.
        let end = |tx: &mut Tx<'_>, application: &mut Application| {
            end_grants(tx, GrantsOf::Application(application.id)).map(drop)
        };
        self.with_application(actor, id, Needs::Nothing, end)
            .await?;
        for room in self
            .core
            .store()
            .read(move |reader| reader.sources().list_rooms_of_application(id))
            .await?
        {
            let remove = move |tx: &mut Tx<'_>, application: &mut Application| {
                sources::remove_in(tx, application.id, room, by)
            };
            self.with_application(actor, id, Needs::Flow(room), remove)
                .await?;
        }
        self.with_application(actor, id, Needs::Flows, move |tx, application| {
            end_grants(tx, GrantsOf::Application(application.id))?;
            sources::remove_all(tx, application.id, by)?;
            tx.applications().delete(application.id)?;
            note_application(tx, application, AuditAction::ApplicationDelete, &json!({}))
        })
        .await?;
        Ok(())
    }

    /// Does something with an application that the caller may change, and gives it as it is then.
    async fn with_application(
        &self,
        actor: &Actor,
        id: ApplicationId,
        needs: Needs,
        work: impl Fn(&mut Tx<'_>, &mut Application) -> StoreResult<()> + Send + Sync + 'static,
    ) -> Result<Application> {
        // Flows are held before applications.
        let lock = move |tx: &mut Tx<'_>| {
            match needs {
                Needs::Flow(room) => tx.rooms().lock(room)?,
                Needs::Flows => sources::lock_flows(tx, id)?,
                Needs::Writing | Needs::Nothing => {}
            }
            tx.applications().lock(id).map(drop)
        };
        let (application, event) = self
            .core
            .locked_transaction_as(actor, lock, move |tx, actor| {
                let mut application = tx.applications().find(id)?.ok_or_else(Error::not_found)?;
                let (caller, change) = (actor.user()?, ApplicationAction::Change);
                let role = caller.role_in(application.organization);
                policy::application(caller.user.id, role, &application, change)
                    .map_err(Error::from)?;
                if needs == Needs::Writing
                    && let Some(organization) = tx.organizations().find(application.organization)?
                {
                    policy::write(&organization).map_err(Error::from)?;
                }
                work(tx, &mut application)?;
                Ok(application)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(application)
    }
}

/// What a change of an application needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// An organization that can be written to.
    Writing,
    Nothing,
    /// A flow, held.
    Flow(RoomId),
    /// All flows where it has sources, held.
    Flows,
}

/// Returns the fields of an application that a change made different.
fn application_differences(before: &Application, after: &Application) -> Value {
    let uris = |of: &Application| of.redirect_uris.iter().map(RedirectUri::as_str).collect();
    let page = |uri: &Option<PageUri>| json!(uri.as_ref().map(PageUri::as_str));
    let pages = |name, before, after| (name, page(before), page(after));
    differences(&[
        ("name", json!(before.name), json!(after.name)),
        ("redirect_uris", uris(before), uris(after)),
        pages(
            "configuration_uri",
            &before.configuration_uri,
            &after.configuration_uri,
        ),
        pages("setup_uri", &before.setup_uri, &after.setup_uri),
        pages("icon_url", &before.icon_url, &after.icon_url),
        (
            "password_grant",
            json!(before.password_grant),
            json!(after.password_grant),
        ),
        (
            "out_of_band",
            json!(before.out_of_band),
            json!(after.out_of_band),
        ),
    ])
}

/// Whether somebody may still register an application for an organization.
fn may_register(tx: &mut Tx<'_>, organization: &Organization, user: UserId) -> TxResult<()> {
    let role = tx
        .organization_members()
        .list_of_user(user)?
        .iter()
        .find(|m| m.organization == organization.id)
        .map(|m| m.role);
    let allowed = policy::organization(role, OrganizationAction::See)
        .and_then(|()| policy::write(organization));
    if tx
        .applications()
        .list_of_organization(organization.id)?
        .len()
        >= MAX_APPLICATIONS
    {
        let text =
            format!("the organization has {MAX_APPLICATIONS} applications, and can't have more");
        return Err(Error::conflict(text).into());
    }
    Ok(allowed.map_err(Error::from)?)
}
