//! The operator's commands, on the same database as the server, which may be running.

mod batch;

use std::fmt::Display;
use std::io::stdin;

use eddyline_app::{
    Addresses, App, ApplicationChanges, Error, FilesConfig, NewApplication, NewFlow, NewOrganization,
    NewPerson, NewSource, OrganizationChanges,
};
use eddyline_model::UserId;
use eddyline_model::names::{Email, FlowName, InvalidName, Nick};
use eddyline_model::organizations::Subscription;
use serde::Serialize;

use crate::cli::{
    self, AdminCommand, ApplicationCommand, BillingDate, FlowCommand, OneCommand, OrgCommand,
    OrganizationUpdate, SourceCommand, UserCommand,
};
use crate::config::Settings;
use crate::output::{
    self, ActiveSet, ApplicationCreated, FlowCreated, OrganizationCreated, OrganizationUpdated, PasswordSet,
    SourceCreated, Token, TokenCreated, UserAdded, UserCreated,
};
use crate::{Failure, domains, groups, scim, serve};

/// Carries out what was asked for and prints the answers.
pub(crate) async fn run(settings: Settings, command: AdminCommand, json: bool) -> Result<(), Failure> {
    // The server sends what mail waits.
    let app = serve::open_app(&settings, Addresses::default(), None, FilesConfig::default()).await?;
    let outcome = match command {
        AdminCommand::One(command) => carry_out(&app, command, json).await,
        AdminCommand::Batch => batch::run(&app, json).await,
    };
    app.close().await;
    outcome
}

async fn carry_out(app: &App, command: OneCommand, json: bool) -> Result<(), Failure> {
    match command {
        OneCommand::Org(OrgCommand::Create(new)) => create_organization(app, new, json).await,
        OneCommand::Org(OrgCommand::Update(update)) => update_organization(app, update, json).await,
        OneCommand::Org(OrgCommand::Domain(command)) => domains::run(app, command, json).await,
        OneCommand::User(command) => user(app, command, json).await,
        OneCommand::Flow(command) => flow(app, command, json).await,
        OneCommand::Group(command) => groups::run(app, command, json).await,
        OneCommand::App(ApplicationCommand::Create(new)) => create_application(app, new, json).await,
        OneCommand::Source(SourceCommand::Create(new)) => create_source(app, new, json).await,
        OneCommand::Scim(command) => scim::run(app, command, json).await,
    }
}

pub(crate) fn print(answer: &(impl Display + Serialize), json: bool) -> Result<(), Failure> {
    Ok(output::answer(answer, json)?)
}

/// What went wrong, in the words of the command line.
pub(crate) fn explain(error: Error, what: &str) -> Failure {
    match error {
        Error::Invalid(errors) => {
            let texts: Vec<String> =
                errors.into_iter().map(|(field, texts)| format!("{field} {}", texts.join(", "))).collect();
            texts.join("; ").into()
        }
        Error::NotFound => format!("{what} was not found").into(),
        other => other.to_string().into(),
    }
}

pub(crate) fn named<T: std::str::FromStr<Err = InvalidName>>(option: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| format!("--{option} {error}").into())
}

async fn create_organization(app: &App, new: cli::NewOrganization, json: bool) -> Result<(), Failure> {
    let wanted = NewOrganization {
        name: new.name,
        parameterized_name: new.parameterized_name,
        user_limit: i64::from(new.user_limit),
        parent: new.parent.clone(),
    };
    let made = app.operator_create_organization(wanted).await.map_err(|error| {
        explain(error, &format!("the organization {}", new.parent.as_deref().unwrap_or_default()))
    })?;
    print(
        &OrganizationCreated {
            id: made.id.0,
            name: made.name,
            parameterized_name: made.parameterized_name,
            user_limit: made.user_limit,
            parent: made.parent.map(|parent| parent.0),
        },
        json,
    )
}

async fn create_application(app: &App, new: cli::NewApplication, json: bool) -> Result<(), Failure> {
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
        .operator_create_application(&new.org, wanted)
        .await
        .map_err(|error| explain(error, &format!("organization {}", new.org)))?;
    print(&ApplicationCreated::of(application, secret), json)
}

async fn update_organization(app: &App, update: OrganizationUpdate, json: bool) -> Result<(), Failure> {
    let OrganizationUpdate { org, fields } = update;
    let trial = fields.trial_ends.map(|ends| Subscription::Trial { ends });
    let paid = fields.billing_date.map(|BillingDate(next_bill)| Subscription::Paid { next_bill });
    let changes = OrganizationChanges {
        name: fields.name,
        parameterized_name: fields.parameterized_name,
        user_limit: fields.user_limit.map(i64::from),
        subscription: trial.or(paid),
        active: fields.active,
    };
    let now = app
        .operator_update_organization(&org, changes)
        .await
        .map_err(|error| explain(error, &format!("organization {org}")))?;
    print(&OrganizationUpdated::of(now), json)
}

async fn user(app: &App, command: UserCommand, json: bool) -> Result<(), Failure> {
    match command {
        UserCommand::Create(new) => {
            let password = new.password.read(stdin().lock())?;
            let person = NewPerson {
                id: new.user_id.map(UserId),
                organization: new.org.clone(),
                email: named("email", &new.email)?,
                name: new.name.clone(),
                nick: named::<Nick>("nick", &new.nick)?,
                password,
                admin: new.admin,
                bot: new.bot,
            };
            let (user, token) = app
                .operator_create_user(person)
                .await
                .map_err(|error| explain(error, &format!("organization {}", new.org)))?;
            let api_token = token.expose().to_owned();
            print(
                &UserCreated {
                    id: user.id.0,
                    email: user.email,
                    name: user.name,
                    nick: user.nick,
                    api_token,
                },
                json,
            )
        }
        UserCommand::Token { email } => {
            let address: Email = named("email", &email)?;
            let (_, token) =
                app.operator_create_user_token(&address).await.map_err(|error| explain(error, &email))?;
            let token = Token::ApiToken(token.expose().to_owned());
            print(&TokenCreated { holder: email, token }, json)
        }
        UserCommand::SetActive { email, active } => {
            let address: Email = named("email", &email)?;
            let id =
                app.operator_set_active(&address, active).await.map_err(|error| explain(error, &email))?;
            print(&ActiveSet { id: id.0, email, active }, json)
        }
        UserCommand::SetPassword { email, password } => {
            let address: Email = named("email", &email)?;
            let password = password.read(stdin().lock())?;
            let id = app
                .operator_set_password(&address, &password)
                .await
                .map_err(|error| explain(error, &email))?;
            print(&PasswordSet { id: id.0, email }, json)
        }
    }
}

async fn create_source(app: &App, new: cli::NewSource, json: bool) -> Result<(), Failure> {
    let wanted = NewSource { name: new.name, external_url: None };
    let source = app
        .operator_create_source(&new.flow.organization, &new.flow.flow, &new.app, wanted)
        .await
        .map_err(|error| explain(error, "the flow or the application"))?;
    print(&SourceCreated::of(source), json)
}

async fn flow(app: &App, command: FlowCommand, json: bool) -> Result<(), Failure> {
    match command {
        FlowCommand::Create(new) => {
            let name: FlowName = named("name", &new.name)?;
            let wanted = NewFlow { organization: new.org.clone(), name };
            let (id, parameterized_name) = app
                .operator_create_flow(wanted)
                .await
                .map_err(|error| explain(error, &format!("organization {}", new.org)))?;
            print(&FlowCreated { id, name: new.name, organization: new.org, parameterized_name }, json)
        }
        FlowCommand::AddUser { flow, email } => {
            let address: Email = named("email", &email)?;
            let user = app
                .operator_add_flow_user(&flow.organization, &flow.flow, &address)
                .await
                .map_err(|error| explain(error, "the flow or the address"))?;
            print(
                &UserAdded { flow: format!("{}/{}", flow.organization, flow.flow), user: user.0, email },
                json,
            )
        }
        FlowCommand::Token { flow } => {
            let holder = format!("{}/{}", flow.organization, flow.flow);
            let token = app
                .operator_create_flow_token(&flow.organization, &flow.flow)
                .await
                .map_err(|error| explain(error, &format!("flow {holder}")))?;
            let token = Token::FlowToken(token.expose().to_owned());
            print(&TokenCreated { holder, token }, json)
        }
    }
}
