//! The operator's commands about applications and sources, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, ApplicationChanges, NewApplication, NewSource, Secret};
use eddyline_model::ApplicationId;
use eddyline_model::applications::{Application, PageUri};
use eddyline_model::sources::Source;
use eddyline_wire::Source as WireSource;
use serde::Serialize;

use super::list::{self, ListRow};
use super::{explain, in_organization, print};
use crate::CommandError;
use crate::cli::{self, ApplicationCommand, SourceCommand};

/// Carries out one command about applications and prints its answer.
pub(super) async fn run(
    app: &App,
    command: ApplicationCommand,
    json: bool,
) -> Result<(), CommandError> {
    match command {
        ApplicationCommand::Create(new) => create_application(app, new, json).await,
        ApplicationCommand::List { org } => {
            list::write(json, async |last: Option<&Registered>| {
                let after = ApplicationId(last.map_or(0, |last| last.number));
                let page = app
                    .operator()
                    .applications(org.as_deref(), after, list::PAGE)
                    .await;
                let page = page.map_err(in_organization(org.as_deref().unwrap_or_default()))?;
                Ok(page.into_iter().map(Registered::of).collect())
            })
            .await
        }
    }
}

/// Carries out one command about sources and prints its answer.
pub(super) async fn run_source(
    app: &App,
    command: SourceCommand,
    json: bool,
) -> Result<(), CommandError> {
    match command {
        SourceCommand::Create(new) => create_source(app, new, json).await,
        SourceCommand::List { flow } => {
            let found = app.operator().sources(&flow.organization, &flow.flow).await;
            let sources = found.map_err(|error| explain(error, &format!("flow {flow}")))?;
            let sources: Vec<Listed> = sources.into_iter().map(Listed::of).collect();
            list::write_whole(json, &sources)
        }
    }
}

async fn create_application(
    app: &App,
    new: cli::CreateApplicationArgs,
    json: bool,
) -> Result<(), CommandError> {
    let wanted = NewApplication {
        public: new.public,
        about: ApplicationChanges {
            name: new.name,
            redirect_uris: new.redirect_uri,
            configuration_uri: new.configuration_uri,
            setup_uri: new.setup_uri,
            icon_url: new.icon,
            password_grant: !new.no_password_grant && !new.public,
            out_of_band: !new.no_out_of_band,
        },
    };
    let (application, secret) = app
        .operator()
        .create_application(&new.org, wanted)
        .await
        .map_err(in_organization(&new.org))?;
    print(&ApplicationCreated::of(application, secret), json)
}

async fn create_source(
    app: &App,
    new: cli::CreateSourceArgs,
    json: bool,
) -> Result<(), CommandError> {
    let wanted = NewSource {
        name: new.name,
        external_url: None,
    };
    let source = app
        .operator()
        .create_source(&new.flow.organization, &new.flow.flow, &new.app, wanted)
        .await
        .map_err(|error| explain(error, "the flow or the application"))?;
    print(&SourceCreated::of(source), json)
}

/// An application in a list.
#[derive(Serialize)]
struct Registered {
    #[serde(skip)]
    number: i64,
    /// The number as text, as it stands in resources.
    id: String,
    client_id: String,
    name: String,
    organization: String,
    public: bool,
    redirect_uris: Vec<String>,
    created_at: String,
}

impl Registered {
    fn of((application, organization): (Application, String)) -> Self {
        Self {
            number: application.id.0,
            id: application.id.to_string(),
            client_id: application.client_id,
            name: application.name,
            organization,
            public: application.public,
            redirect_uris: application
                .redirect_uris
                .iter()
                .map(ToString::to_string)
                .collect(),
            created_at: application.created_at.to_string(),
        }
    }
}

impl ListRow for Registered {
    const NAME: &'static str = "applications";
    const COLUMNS: &'static [&'static str] = &["ID", "CLIENT ID", "ORG", "KIND", "NAME"];
    const EMPTY: &'static str = "There are no applications";

    fn cells(&self) -> Vec<String> {
        let kind = if self.public { "public" } else { "with secret" };
        vec![
            self.id.clone(),
            self.client_id.clone(),
            self.organization.clone(),
            kind.to_owned(),
            self.name.clone(),
        ]
    }
}

/// A source in a list.
#[derive(Serialize)]
struct Listed {
    id: i64,
    name: String,
    /// The name of its application.
    application: Option<String>,
    external_url: Option<String>,
    error_message: Option<String>,
    created_at: String,
}

impl Listed {
    fn of((source, application): (Source, Option<String>)) -> Self {
        Self {
            id: source.id.0,
            name: source.name,
            application,
            external_url: source.external_url,
            error_message: source.error_message,
            created_at: source.created_at.to_string(),
        }
    }
}

impl ListRow for Listed {
    const NAME: &'static str = "sources";
    const COLUMNS: &'static [&'static str] = &["ID", "MADE", "APPLICATION", "NAME"];
    const EMPTY: &'static str = "The flow has no sources";

    fn cells(&self) -> Vec<String> {
        let application = self.application.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            self.id.to_string(),
            self.created_at.clone(),
            application,
            self.name.clone(),
        ]
    }
}

/// `app create` has been done.
#[derive(Debug, Serialize)]
struct ApplicationCreated {
    /// Number of the application, as text, as it stands in resources.
    id: String,
    name: String,
    client_id: String,
    /// Shown here only.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    public: bool,
    redirect_uris: Vec<String>,
    configuration_uri: Option<String>,
    setup_uri: Option<String>,
    icon_url: Option<String>,
}

impl ApplicationCreated {
    fn of(application: Application, secret: Option<Secret>) -> Self {
        let text = |uri: Option<PageUri>| uri.map(|uri| uri.to_string());
        Self {
            id: application.id.to_string(),
            name: application.name,
            client_id: application.client_id,
            client_secret: secret.map(|secret| secret.expose().to_owned()),
            public: application.public,
            redirect_uris: application
                .redirect_uris
                .iter()
                .map(ToString::to_string)
                .collect(),
            configuration_uri: text(application.configuration_uri),
            setup_uri: text(application.setup_uri),
            icon_url: text(application.icon_url),
        }
    }
}

impl Display for ApplicationCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Application {} has been registered\nClient id: {}",
            self.name, self.client_id
        )?;
        match &self.client_secret {
            Some(secret) => write!(f, "\nClient secret, which is not shown again: {secret}"),
            None => write!(f, "\nIt has no secret, and must use PKCE"),
        }
    }
}

/// `source create` has been done.
#[derive(Serialize)]
struct SourceCreated {
    /// Number of the source.
    id: i64,
    name: String,
    /// The flow's id.
    flow: String,
    /// Number of the application, as text.
    application: Option<String>,
    /// Shown here only.
    flow_token: Option<String>,
}

impl SourceCreated {
    fn of(source: WireSource) -> Self {
        Self {
            id: source.id,
            name: source.name,
            flow: source.flow,
            application: source.application.map(|application| application.id),
            flow_token: source.flow_token,
        }
    }
}

impl Display for SourceCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.flow_token.as_deref().unwrap_or_default();
        write!(f, "Source {} has been made: {}", self.id, self.name)?;
        write!(f, "\nFlow token, which is not shown again: {token}")
    }
}
