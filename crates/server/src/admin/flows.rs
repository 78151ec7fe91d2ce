//! The operator's commands about flows, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, NewFlow};
use eddyline_model::RoomId;
use eddyline_model::flows::Flow;
use eddyline_model::names::{Email, FlowName};
use serde::Serialize;

use super::list::{self, ListRow};
use super::{explain, in_organization, named, print};
use crate::CommandError;
use crate::cli::{FlowCommand, FlowUser};
use crate::output::{FlowCreated, Token, TokenCreated, UserAdded};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: FlowCommand, json: bool) -> Result<(), CommandError> {
    match command {
        FlowCommand::Create(new) => {
            let name: FlowName = named("name", &new.name)?;
            let wanted = NewFlow {
                organization: new.org.clone(),
                name,
            };
            let (id, parameterized_name) = app
                .operator()
                .create_flow(wanted)
                .await
                .map_err(in_organization(&new.org))?;
            print(
                &FlowCreated {
                    id,
                    name: new.name,
                    organization: new.org,
                    parameterized_name,
                },
                json,
            )
        }
        FlowCommand::List { org } => {
            list::write(json, async |last: Option<&Listed>| {
                let after = RoomId(last.map_or(0, |last| last.room));
                let page = app.operator().flows(&org, after, list::PAGE).await;
                let page = page.map_err(in_organization(&org))?;
                Ok(page
                    .into_iter()
                    .map(|found| Listed::of(&org, found))
                    .collect())
            })
            .await
        }
        FlowCommand::AddUser(FlowUser { flow, email }) => {
            let address: Email = named("email", &email)?;
            let user = app
                .operator()
                .add_flow_user(&flow.organization, &flow.flow, &address)
                .await
                .map_err(|error| explain(error, "the flow or the address"))?;
            print(
                &UserAdded {
                    flow: flow.to_string(),
                    user: user.0,
                    email,
                },
                json,
            )
        }
        FlowCommand::RemoveUser(FlowUser { flow, email }) => {
            let address: Email = named("email", &email)?;
            let user = app
                .operator()
                .remove_flow_user(&flow.organization, &flow.flow, &address)
                .await
                .map_err(|error| explain(error, &format!("flow {flow} with the user {email}")))?;
            print(
                &UserRemoved {
                    flow: flow.to_string(),
                    user: user.0,
                    email,
                },
                json,
            )
        }
        FlowCommand::Archive { flow, undo } => {
            let archived = app
                .operator()
                .archive_flow(&flow.organization, &flow.flow, !undo)
                .await;
            let id = archived.map_err(|error| explain(error, &format!("flow {flow}")))?;
            print(
                &Archived {
                    id,
                    flow: flow.to_string(),
                    archived: !undo,
                },
                json,
            )
        }
        FlowCommand::Token { flow } => {
            let holder = flow.to_string();
            let token = app
                .operator()
                .create_flow_token(&flow.organization, &flow.flow)
                .await
                .map_err(|error| explain(error, &format!("flow {holder}")))?;
            let token = Token::FlowToken(token.expose().to_owned());
            print(&TokenCreated { holder, token }, json)
        }
    }
}

/// A flow in a list.
#[derive(Serialize)]
struct Listed {
    #[serde(skip)]
    room: i64,
    id: String,
    /// The names in its URL.
    flow: String,
    name: String,
    users: i64,
    access_mode: &'static str,
    archived: bool,
    created_at: String,
    last_message_at: Option<String>,
}

impl Listed {
    fn of(organization: &str, (flow, users): (Flow, i64)) -> Self {
        Self {
            room: flow.room.0,
            id: flow.id.0,
            flow: format!("{organization}/{}", flow.parameterized_name),
            name: flow.name,
            users,
            access_mode: flow.access_mode.as_str(),
            archived: flow.disabled,
            created_at: flow.created_at.to_string(),
            last_message_at: flow.last_message_at.map(|at| at.to_string()),
        }
    }
}

impl ListRow for Listed {
    const NAME: &'static str = "flows";
    const COLUMNS: &'static [&'static str] =
        &["FLOW", "PEOPLE", "ACCESS", "STATE", "LAST MESSAGE", "NAME"];
    const EMPTY: &'static str = "The organization has no flows";

    fn cells(&self) -> Vec<String> {
        vec![
            self.flow.clone(),
            self.users.to_string(),
            self.access_mode.to_owned(),
            if self.archived { "archived" } else { "open" }.to_owned(),
            self.last_message_at
                .clone()
                .unwrap_or_else(|| "-".to_owned()),
            self.name.clone(),
        ]
    }
}

/// `flow remove-user` has been done.
#[derive(Serialize)]
struct UserRemoved {
    flow: String,
    user: i64,
    email: String,
}

impl Display for UserRemoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is out of the flow {}", self.email, self.flow)
    }
}

/// `flow archive` has been done.
#[derive(Serialize)]
struct Archived {
    id: String,
    flow: String,
    archived: bool,
}

impl Display for Archived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.archived {
            "archived"
        } else {
            "open again"
        };
        write!(f, "The flow {} is {state}", self.flow)
    }
}
