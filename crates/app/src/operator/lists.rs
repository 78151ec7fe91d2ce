//! What there is: organizations, users, flows, applications and sources, for operators to look at.
//! Long lists are read by pages: so many entries behind the one with a number.

use eddyline_model::applications::Application;
use eddyline_model::audit::{AuditFilter, AuditRange};
use eddyline_model::flows::Flow;
use eddyline_model::names::Email;
use eddyline_model::organizations::Organization;
use eddyline_model::sources::Source;
use eddyline_model::users::User;
use eddyline_model::{ApplicationId, OrganizationId, RoomId, UserId};
use eddyline_storage::Reader;
use eddyline_wire::NamedRecord;

use super::find_organization;
use super::flows::find_flow;
use crate::audit::list;
use crate::{Error, Operator, Result};

/// An organization with what belongs to it.
#[derive(Clone, Debug)]
pub struct OrganizationDetails {
    /// The organization.
    pub organization: Organization,
    /// The name in URLs of the organization above it.
    pub parent: Option<String>,
    /// All names in URLs that lead to it, the present one among them.
    pub names: Vec<String>,
    /// The addresses of its active administrators.
    pub administrators: Vec<String>,
    /// Its domains.
    pub domains: Vec<String>,
    /// What the addresses of its identity provider name it by, if one is let in.
    pub provider: Option<String>,
}

/// A user with what belongs to them.
#[derive(Clone, Debug)]
pub struct UserDetails {
    /// The user.
    pub user: User,
    /// Whether there is a password.
    pub has_password: bool,
    /// The organizations that they belong to, by their names in URLs, each with whether they
    /// administer it.
    pub organizations: Vec<(String, bool)>,
    /// How many flows they are in.
    pub flows: usize,
    /// How many API tokens they have.
    pub api_tokens: i64,
    /// How many browsers they are signed in with.
    pub sessions: i64,
    /// The organization whose identity provider knows them, by its name in URLs.
    pub provided_by: Option<String>,
}

impl Operator {
    /// Organizations, ordered by number.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn organizations(
        &self,
        after: OrganizationId,
        limit: i64,
    ) -> Result<Vec<Organization>> {
        self.core
            .read(move |reader| Ok(reader.organizations().list_page(after, limit)?))
            .await
    }

    /// An organization, by its name in URLs.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn organization(&self, name: &str) -> Result<OrganizationDetails> {
        let name = name.to_owned();
        self.core
            .read(move |reader| {
                let id = find_organization(reader, &name)?;
                let organization = reader
                    .organizations()
                    .find(id)?
                    .ok_or_else(Error::not_found)?;
                let parent = match organization.parent {
                    Some(parent) => reader
                        .organizations()
                        .find(parent)?
                        .map(|parent| parent.parameterized_name),
                    None => None,
                };
                let administrators = reader.organization_members().list_administrators(id)?;
                let administrators = reader.users().list(&administrators)?;
                Ok(OrganizationDetails {
                    organization,
                    parent,
                    names: reader.organizations().list_names(id)?,
                    administrators: administrators.into_iter().map(|user| user.email).collect(),
                    domains: reader.organizations().list_domains(id)?,
                    provider: reader
                        .identities()
                        .find_provider_details(id)?
                        .filter(|known| known.enabled)
                        .map(|known| known.uid),
                })
            })
            .await
    }

    /// Users, ordered by number: all of them, or those of an organization, named by its name in
    /// URLs, each with whether they administer it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn users(
        &self,
        organization: Option<&str>,
        after: UserId,
        limit: i64,
    ) -> Result<Vec<(User, Option<bool>)>> {
        let name = organization.map(str::to_owned);
        self.core
            .read(move |reader| match name {
                Some(name) => {
                    let organization = find_organization(reader, &name)?;
                    let page = reader.organization_members().list_users_page(
                        organization,
                        after,
                        limit,
                    )?;
                    Ok(page
                        .into_iter()
                        .map(|(user, admin)| (user, Some(admin)))
                        .collect())
                }
                None => Ok(reader
                    .users()
                    .list_page(after, limit)?
                    .into_iter()
                    .map(|user| (user, None))
                    .collect()),
            })
            .await
    }

    /// A user, by the address.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address.
    pub async fn user(&self, email: &Email) -> Result<UserDetails> {
        let key = email.key();
        self.core
            .read(move |reader| {
                let account = reader
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?;
                let id = account.user.id;
                let mut organizations = Vec::new();
                for membership in reader.organization_members().list_of_user(id)? {
                    let admin = membership.role
                        == eddyline_model::organizations::OrganizationRole::Administrator;
                    organizations.extend(
                        name_of(reader, membership.organization)?.map(|name| (name, admin)),
                    );
                }
                let known = reader
                    .identities()
                    .find(id)?
                    .filter(|known| known.removed_at.is_none());
                let provided_by = match known {
                    Some(known) => name_of(reader, known.organization)?,
                    None => None,
                };
                let (api_tokens, sessions) = reader.users().count_credentials(id)?;
                let flows = reader
                    .members()
                    .list_of_user(id)?
                    .iter()
                    .filter(|place| !place.blocked)
                    .count();
                let has_password = account.password_hash.is_some();
                let user = account.user;
                Ok(UserDetails {
                    user,
                    has_password,
                    organizations,
                    flows,
                    api_tokens,
                    sessions,
                    provided_by,
                })
            })
            .await
    }

    /// The organizations, by their names in URLs, that only the user with this address administers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address.
    pub async fn administers_alone(&self, email: &Email) -> Result<Vec<String>> {
        let key = email.key();
        self.core
            .read(move |reader| {
                let id = reader
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                let mut alone = Vec::new();
                for membership in reader.organization_members().list_of_user(id)? {
                    if reader
                        .organization_members()
                        .list_administrators(membership.organization)?
                        == [id]
                    {
                        alone.extend(name_of(reader, membership.organization)?);
                    }
                }
                Ok(alone)
            })
            .await
    }

    /// Flows of an organization, named by its name in URLs, ordered by room, archived ones among
    /// them; each with how many people are in it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn flows(
        &self,
        organization: &str,
        after: RoomId,
        limit: i64,
    ) -> Result<Vec<(Flow, i64)>> {
        let name = organization.to_owned();
        self.core
            .read(move |reader| {
                let organization = find_organization(reader, &name)?;
                Ok(reader.flows().list_page(organization, after, limit)?)
            })
            .await
    }

    /// Applications, ordered by number: all, or those of an organization, named by its name in
    /// URLs; each with that name.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn applications(
        &self,
        organization: Option<&str>,
        after: ApplicationId,
        limit: i64,
    ) -> Result<Vec<(Application, String)>> {
        let name = organization.map(str::to_owned);
        self.core
            .read(move |reader| {
                let organization = name
                    .map(|name| find_organization(reader, &name))
                    .transpose()?;
                let mut found = Vec::new();
                for application in reader
                    .applications()
                    .list_page(organization, after, limit)?
                {
                    let name = name_of(reader, application.organization)?.unwrap_or_default();
                    found.push((application, name));
                }
                Ok(found)
            })
            .await
    }

    /// The sources of a flow, the oldest first, each with the name of its application.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such a flow.
    pub async fn sources(
        &self,
        organization: &str,
        flow: &str,
    ) -> Result<Vec<(Source, Option<String>)>> {
        let (organization, flow) = (organization.to_owned(), flow.to_owned());
        self.core
            .read(move |reader| {
                let room = find_flow(reader, &organization, &flow)?.ok_or_else(Error::not_found)?;
                let mut found = Vec::new();
                for source in reader.sources().list_of_rooms(&[room])? {
                    let application = match source.application {
                        Some(id) => reader
                            .applications()
                            .find(id)?
                            .map(|application| application.name),
                        None => None,
                    };
                    found.push((source, application));
                }
                Ok(found)
            })
            .await
    }
    /// Records of the audit log, of an organization that is named by its name in URLs, or of all and
    /// of the server.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn audit(
        &self,
        organization: Option<&str>,
        filter: AuditFilter,
        range: AuditRange,
    ) -> Result<Vec<NamedRecord>> {
        let name = organization.map(str::to_owned);
        self.core
            .read(move |reader| {
                let organization = match &name {
                    Some(name) => Some(find_organization(reader, name)?),
                    None => None,
                };
                let filter = AuditFilter {
                    organization,
                    ..filter
                };
                Ok(list(reader, &filter, range)?)
            })
            .await
    }
}

fn name_of(
    reader: &mut Reader<'_>,
    id: OrganizationId,
) -> eddyline_storage::Result<Option<String>> {
    Ok(reader
        .organizations()
        .find(id)?
        .map(|organization| organization.parameterized_name))
}
