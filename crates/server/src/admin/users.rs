//! The operator's commands about users, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, NewPerson, UserDetails};
use eddyline_model::UserId;
use eddyline_model::names::{Email, Nick};
use eddyline_model::users::User;
use serde::Serialize;

use super::list::{self, ListRow, facts};
use super::{explain, in_organization, named, print};
use crate::cli::{CreateUserArgs, PasswordFrom, UserCommand};
use crate::output::{self, ActiveSet, PasswordSet, Token, TokenCreated, UserCreated};
use crate::{CommandError, prompt};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: UserCommand, json: bool) -> Result<(), CommandError> {
    match command {
        UserCommand::Create(new) => create(app, new, json).await,
        UserCommand::List { org } => list(app, org.as_deref(), json).await,
        UserCommand::Show { email } => {
            let address: Email = named("email", &email)?;
            let details = app
                .operator()
                .user(&address)
                .await
                .map_err(|error| explain(error, &email))?;
            print(&UserShown::of(details), json)
        }
        UserCommand::Token { email } => {
            let address: Email = named("email", &email)?;
            let (_, token) = app
                .operator()
                .create_user_token(&address)
                .await
                .map_err(|error| explain(error, &email))?;
            let token = Token::ApiToken(token.expose().to_owned());
            print(
                &TokenCreated {
                    holder: email,
                    token,
                },
                json,
            )
        }
        UserCommand::SetActive { email, active, yes } => {
            set_active(app, email, (active, yes), json).await
        }
        UserCommand::SetAdmin { org, email, admin } => {
            let address: Email = named("email", &email)?;
            let id = app
                .operator()
                .set_admin(&org, &address, admin)
                .await
                .map_err(|error| {
                    explain(error, &format!("organization {org} with the user {email}"))
                })?;
            print(
                &AdminSet {
                    id: id.0,
                    email,
                    organization: org,
                    admin,
                },
                json,
            )
        }
        UserCommand::SetPassword { email, password } => {
            set_password(app, email, password.source(), json).await
        }
        UserCommand::Remove { email, org } => {
            let address: Email = named("email", &email)?;
            let what = match &org {
                Some(org) => format!("organization {org} with the user {email}"),
                None => email.clone(),
            };
            let removed = app.operator().remove_user(org.as_deref(), &address).await;
            let id = removed.map_err(|error| explain(error, &what))?;
            print(
                &Removed {
                    id: id.0,
                    email,
                    organization: org,
                },
                json,
            )
        }
    }
}

async fn create(app: &App, new: CreateUserArgs, json: bool) -> Result<(), CommandError> {
    let email: Email = named("email", &new.email)?;
    let nick = named::<Nick>("nick", &new.nick)?;
    let password = prompt::optional_password(new.password.source()).await?;
    let person = NewPerson {
        id: new.user_id.map(UserId),
        organization: new.org.clone(),
        email,
        name: new.name.clone(),
        nick,
        password: password.clone(),
        admin: new.admin,
        bot: new.bot,
    };
    let (user, token) = app
        .operator()
        .create_user(person)
        .await
        .map_err(in_organization(&new.org))?;
    if let Some(password) = &password {
        prompt::warn_if_weak(password, &[&user.email, &user.name, &user.nick]);
    }
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

async fn set_password(
    app: &App,
    email: String,
    password: PasswordFrom,
    json: bool,
) -> Result<(), CommandError> {
    let address: Email = named("email", &email)?;
    let password = prompt::required_password(password).await?;
    let user = app
        .operator()
        .set_password(&address, &password)
        .await
        .map_err(|error| explain(error, &email))?;
    prompt::warn_if_weak(&password, &[&user.email, &user.name, &user.nick]);
    print(
        &PasswordSet {
            id: user.id.0,
            email,
        },
        json,
    )
}

async fn set_active(
    app: &App,
    email: String,
    (active, yes): (bool, bool),
    json: bool,
) -> Result<(), CommandError> {
    let address: Email = named("email", &email)?;
    if !active {
        let alone = app
            .operator()
            .administers_alone(&address)
            .await
            .map_err(|error| explain(error, &email))?;
        if !alone.is_empty() {
            output::warning(&format!(
                "{email} is the only administrator of {}",
                alone.join(", ")
            ));
            if !yes
                && !tokio::task::spawn_blocking(|| prompt::confirms("Make the user inactive?"))
                    .await??
            {
                return Err("nothing was changed".into());
            }
        }
    }
    let id = app
        .operator()
        .set_active(&address, active)
        .await
        .map_err(|error| explain(error, &email))?;
    print(
        &ActiveSet {
            id: id.0,
            email,
            active,
        },
        json,
    )
}

async fn list(app: &App, org: Option<&str>, json: bool) -> Result<(), CommandError> {
    list::write(json, async |last: Option<&Listed>| {
        let after = UserId(last.map_or(0, |last| last.id));
        let page = app.operator().users(org, after, list::PAGE).await;
        let page = page.map_err(in_organization(org.unwrap_or_default()))?;
        Ok(page.into_iter().map(Listed::of).collect())
    })
    .await
}

/// A user in a list.
#[derive(Serialize)]
struct Listed {
    id: i64,
    email: String,
    name: String,
    nick: String,
    /// Of the organization whose users are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    admin: Option<bool>,
    active: bool,
    bot: bool,
}

impl Listed {
    fn of((user, admin): (User, Option<bool>)) -> Self {
        let User {
            id,
            email,
            name,
            nick,
            active,
            bot,
            ..
        } = user;
        Self {
            id: id.0,
            email,
            name,
            nick,
            admin,
            active,
            bot,
        }
    }
}

impl ListRow for Listed {
    const NAME: &'static str = "users";
    const COLUMNS: &'static [&'static str] = &["ID", "NICK", "EMAIL", "STATE", "NAME"];
    const EMPTY: &'static str = "There are no users";

    fn cells(&self) -> Vec<String> {
        let mut state = vec![if self.active { "active" } else { "inactive" }];
        if self.admin == Some(true) {
            state.push("admin");
        }
        if self.bot {
            state.push("bot");
        }
        vec![
            self.id.to_string(),
            self.nick.clone(),
            self.email.clone(),
            state.join(","),
            self.name.clone(),
        ]
    }
}

/// An organization of a user.
#[derive(Serialize)]
struct Membership {
    organization: String,
    admin: bool,
}

/// What `user show` shows.
#[derive(Serialize)]
struct UserShown {
    id: i64,
    email: String,
    email_proved: bool,
    name: String,
    nick: String,
    active: bool,
    bot: bool,
    created_at: String,
    password: bool,
    organizations: Vec<Membership>,
    flows: usize,
    api_tokens: i64,
    sessions: i64,
    /// The organization whose identity provider knows the user.
    provided_by: Option<String>,
}

impl UserShown {
    fn of(details: UserDetails) -> Self {
        let UserDetails {
            user,
            has_password,
            organizations,
            flows,
            api_tokens,
            sessions,
            provided_by,
        } = details;
        let membership = |(organization, admin)| Membership {
            organization,
            admin,
        };
        Self {
            id: user.id.0,
            email: user.email,
            email_proved: user.email_proved,
            name: user.name,
            nick: user.nick,
            active: user.active,
            bot: user.bot,
            created_at: user.created_at.to_string(),
            password: has_password,
            organizations: organizations.into_iter().map(membership).collect(),
            flows,
            api_tokens,
            sessions,
            provided_by,
        }
    }
}

impl Display for UserShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = |admin| if admin { " (administrator)" } else { "" };
        let organizations: Vec<String> = self
            .organizations
            .iter()
            .map(|of| format!("{}{}", of.organization, mark(of.admin)))
            .collect();
        let yes = |is| if is { "yes" } else { "no" }.to_owned();
        let mut lines = vec![
            ("User", self.email.clone()),
            ("Name", self.name.clone()),
            ("Nick", self.nick.clone()),
            ("Number", self.id.to_string()),
            (
                "State",
                if self.active { "active" } else { "inactive" }.to_owned(),
            ),
            ("Made", self.created_at.clone()),
            ("Address proved", yes(self.email_proved)),
            ("Password", yes(self.password)),
            ("Program", yes(self.bot)),
            (
                "Organizations",
                if organizations.is_empty() {
                    "none".to_owned()
                } else {
                    organizations.join(", ")
                },
            ),
            ("Flows", self.flows.to_string()),
            ("API tokens", self.api_tokens.to_string()),
            ("Signed in", format!("with {} browsers", self.sessions)),
        ];
        lines.extend(
            self.provided_by
                .clone()
                .map(|organization| ("Provided by", organization)),
        );
        facts(f, &lines)
    }
}

/// `user set-admin` has been done.
#[derive(Serialize)]
struct AdminSet {
    id: i64,
    email: String,
    organization: String,
    admin: bool,
}

impl Display for AdminSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            email,
            organization,
            ..
        } = self;
        match self.admin {
            true => write!(f, "{email} administers {organization} now"),
            false => write!(f, "{email} does not administer {organization} any more"),
        }
    }
}

/// `user remove` has been done.
#[derive(Serialize)]
struct Removed {
    id: i64,
    email: String,
    /// `None` for all.
    organization: Option<String>,
}

impl Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.organization {
            Some(organization) => write!(f, "{} is out of {organization}", self.email),
            None => write!(
                f,
                "{} is out of all organizations and signed out everywhere",
                self.email
            ),
        }
    }
}
