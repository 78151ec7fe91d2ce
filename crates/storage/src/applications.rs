//! Applications that act for users by OAuth.

use diesel::prelude::*;
use eddyline_model::applications::Application;
use eddyline_model::{ApplicationId, OrganizationId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::Applications;
use crate::reader::Access;
use crate::schema::applications;
use crate::transaction::Tx;
use crate::{Error, Result};

/// Between the redirect URIs of an application; no URI has it.
const BETWEEN: char = '\n';

#[derive(Queryable, Selectable)]
#[diesel(table_name = applications)]
pub(crate) struct Row {
    id: i64,
    client_id: String,
    organization_id: i64,
    name: String,
    public: bool,
    redirect_uris: String,
    configuration_uri: Option<String>,
    setup_uri: Option<String>,
    icon_url: Option<String>,
    password_grant: bool,
    out_of_band: bool,
    creator_id: Option<i64>,
    created_at: i64,
}

pub(crate) fn to_application(row: Row) -> Result<Application> {
    let uris = row
        .redirect_uris
        .split(BETWEEN)
        .filter(|uri| !uri.is_empty());
    let page = |text: Option<String>| {
        text.map(|text| text.parse())
            .transpose()
            .map_err(|_| broken())
    };
    Ok(Application {
        id: ApplicationId(row.id),
        client_id: row.client_id,
        organization: OrganizationId(row.organization_id),
        name: row.name,
        public: row.public,
        redirect_uris: uris
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| broken())?,
        configuration_uri: page(row.configuration_uri)?,
        setup_uri: page(row.setup_uri)?,
        icon_url: page(row.icon_url)?,
        password_grant: row.password_grant,
        out_of_band: row.out_of_band,
        creator: row.creator_id.map(UserId),
        created_at: Timestamp(row.created_at),
    })
}

fn broken() -> Error {
    Error::Corrupt("address of an application")
}

#[derive(AsChangeset)]
#[diesel(table_name = applications, treat_none_as_null = true)]
struct Changes<'a> {
    name: &'a str,
    redirect_uris: String,
    configuration_uri: Option<&'a str>,
    setup_uri: Option<&'a str>,
    icon_url: Option<&'a str>,
    password_grant: bool,
    out_of_band: bool,
}

impl<'a> Changes<'a> {
    fn of(application: &'a Application) -> Self {
        let uris: Vec<&str> = application
            .redirect_uris
            .iter()
            .map(eddyline_model::applications::RedirectUri::as_str)
            .collect();
        Self {
            name: &application.name,
            redirect_uris: uris.join(&BETWEEN.to_string()),
            configuration_uri: application
                .configuration_uri
                .as_ref()
                .map(eddyline_model::applications::PageUri::as_str),
            setup_uri: application
                .setup_uri
                .as_ref()
                .map(eddyline_model::applications::PageUri::as_str),
            icon_url: application
                .icon_url
                .as_ref()
                .map(eddyline_model::applications::PageUri::as_str),
            password_grant: application.password_grant,
            out_of_band: application.out_of_band,
        }
    }
}

#[portable]
impl<C: Access> Applications<'_, C> {
    /// An application.
    pub fn find(c: &mut Connection, id: ApplicationId) -> Result<Option<Application>> {
        let row = applications::table
            .find(id.0)
            .select(Row::as_select())
            .first(c)
            .optional()?;
        row.map(to_application).transpose()
    }

    /// The application that calls itself so, and its sealed secret, if it has one.
    pub fn find_by_client_id(
        c: &mut Connection,
        client_id: &str,
    ) -> Result<Option<(Application, Option<Vec<u8>>)>> {
        let row = applications::table
            .filter(applications::client_id.eq(client_id))
            .select((Row::as_select(), applications::secret))
            .first::<(Row, Option<Vec<u8>>)>(c)
            .optional()?;
        row.map(|(row, secret)| Ok((to_application(row)?, secret)))
            .transpose()
    }

    /// The sealed secret of an application, if it has one.
    pub fn find_secret(c: &mut Connection, id: ApplicationId) -> Result<Option<Vec<u8>>> {
        let secret = applications::table
            .find(id.0)
            .select(applications::secret)
            .first(c)
            .optional()?;
        Ok(secret.flatten())
    }

    /// The applications of an organization, the oldest first.
    pub fn list_of_organization(
        c: &mut Connection,
        organization: OrganizationId,
    ) -> Result<Vec<Application>> {
        let rows = applications::table
            .filter(applications::organization_id.eq(organization.0))
            .order(applications::id)
            .select(Row::as_select())
            .load(c)?;
        rows.into_iter().map(to_application).collect()
    }
}

#[portable]
impl Applications<'_, Tx<'_>> {
    /// Registers an application and gives its number; the one it bears is not looked at. `secret`
    /// is sealed.
    pub fn insert(
        c: &mut Connection,
        application: &Application,
        secret: Option<&[u8]>,
    ) -> Result<ApplicationId> {
        let changes = Changes::of(application);
        let id = diesel::insert_into(applications::table)
            .values((
                applications::client_id.eq(&application.client_id),
                applications::organization_id.eq(application.organization.0),
                applications::name.eq(changes.name),
                applications::public.eq(application.public),
                applications::secret.eq(secret),
                applications::redirect_uris.eq(&changes.redirect_uris),
                applications::configuration_uri.eq(changes.configuration_uri),
                applications::setup_uri.eq(changes.setup_uri),
                applications::icon_url.eq(changes.icon_url),
                applications::password_grant.eq(changes.password_grant),
                applications::out_of_band.eq(changes.out_of_band),
                applications::creator_id.eq(application.creator.map(|id| id.0)),
                applications::created_at.eq(application.created_at.0),
            ))
            .returning(applications::id)
            .get_result::<i64>(c)?;
        Ok(ApplicationId(id))
    }

    /// Changes what can be changed about an application: its name, its addresses and its switches.
    pub fn update(c: &mut Connection, application: &Application) -> Result<()> {
        diesel::update(applications::table.find(application.id.0))
            .set(Changes::of(application))
            .execute(c)?;
        Ok(())
    }

    /// Gives an application another secret, sealed.
    pub fn set_secret(c: &mut Connection, id: ApplicationId, secret: &[u8]) -> Result<()> {
        diesel::update(applications::table.find(id.0))
            .set(applications::secret.eq(secret))
            .execute(c)?;
        Ok(())
    }

    /// Removes an application that nobody has allowed anything any more.
    pub fn delete(c: &mut Connection, id: ApplicationId) -> Result<()> {
        diesel::delete(applications::table.find(id.0)).execute(c)?;
        Ok(())
    }
}

impl Applications<'_, Tx<'_>> {
    /// Holds an application against everybody else until the transaction ends, so that it can be
    /// changed as it was read, or be removed with all that came of it.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, id: ApplicationId) -> Result<Option<Application>> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = applications::table
                .find(id.0)
                .select(Row::as_select())
                .for_update();
            return row.first(c).optional()?.map(to_application).transpose();
        }
        self.find(id)
    }

    /// Makes sure that an application is there until the transaction ends, and tells whether it is.
    /// Others may do the same meanwhile.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_shared(&mut self, id: ApplicationId) -> Result<bool> {
        #[cfg(feature = "postgres")]
        if let Some(c) = self.0.postgres() {
            let row = applications::table
                .find(id.0)
                .select(applications::id)
                .for_key_share();
            return Ok(row.first::<i64>(c).optional()?.is_some());
        }
        Ok(self.find(id)?.is_some())
    }
}
