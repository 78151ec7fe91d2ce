//! The operator's commands about tokens, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{ApiToken, App, FlowToken};
use eddyline_model::CredentialId;
use eddyline_model::names::Email;
use serde::Serialize;

use super::list::{self, ListRow};
use super::{explain, named, print};
use crate::CommandError;
use crate::cli::{FlowPath, TokenCommand, TokenHolder};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: TokenCommand, json: bool) -> Result<(), CommandError> {
    match command {
        TokenCommand::List(holder) => match Holder::of(holder)? {
            Holder::User(email) => {
                let found = app.operator().user_tokens(&email).await;
                let tokens = found.map_err(|error| explain(error, email.as_str()))?;
                list::write_whole(
                    json,
                    &tokens.into_iter().map(OfUser::of).collect::<Vec<_>>(),
                )
            }
            Holder::Flow(flow) => {
                let found = app
                    .operator()
                    .flow_tokens(&flow.organization, &flow.flow)
                    .await;
                let tokens = found.map_err(|error| explain(error, &format!("flow {flow}")))?;
                list::write_whole(
                    json,
                    &tokens.into_iter().map(OfFlow::of).collect::<Vec<_>>(),
                )
            }
        },
        TokenCommand::Revoke { holder, id } => {
            let holder = Holder::of(holder)?;
            let token = CredentialId(id);
            let ended = match &holder {
                Holder::User(email) => app.operator().end_user_token(email, token).await,
                Holder::Flow(flow) => {
                    app.operator()
                        .end_flow_token(&flow.organization, &flow.flow, token)
                        .await
                }
            };
            ended.map_err(|error| explain(error, &format!("the token {id} of {holder}")))?;
            print(
                &Revoked {
                    id: id.to_string(),
                    holder: holder.to_string(),
                },
                json,
            )
        }
    }
}

/// Whose tokens.
enum Holder {
    User(Email),
    Flow(FlowPath),
}

impl Holder {
    fn of(holder: TokenHolder) -> Result<Self, CommandError> {
        match (holder.email, holder.flow) {
            (Some(email), _) => named("email", &email).map(Self::User),
            (None, Some(flow)) => Ok(Self::Flow(flow)),
            (None, None) => Err("--email or --flow is needed".into()),
        }
    }
}

impl Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(email) => f.write_str(email.as_str()),
            Self::Flow(flow) => flow.fmt(f),
        }
    }
}

/// An API token in a list.
#[derive(Serialize)]
struct OfUser {
    /// A text: numbers of 63 bits lose digits in JavaScript.
    id: String,
    name: String,
    created_at: String,
}

impl OfUser {
    fn of(token: ApiToken) -> Self {
        Self {
            id: token.id.0.to_string(),
            name: token.name,
            created_at: token.created_at.to_string(),
        }
    }
}

impl ListRow for OfUser {
    const NAME: &'static str = "tokens";
    const COLUMNS: &'static [&'static str] = &["ID", "MADE", "NAME"];
    const EMPTY: &'static str = "The user has no API tokens";

    fn cells(&self) -> Vec<String> {
        vec![self.id.clone(), self.created_at.clone(), self.name.clone()]
    }
}

/// A token of a flow in a list.
#[derive(Serialize)]
struct OfFlow {
    id: String,
    /// The number of the source that it is of.
    source: Option<i64>,
    source_name: Option<String>,
    created_at: String,
}

impl OfFlow {
    fn of(token: FlowToken) -> Self {
        let (source, source_name) = token.source.map(|(id, name)| (id.0, name)).unzip();
        Self {
            id: token.id.0.to_string(),
            source,
            source_name,
            created_at: token.created_at.to_string(),
        }
    }
}

impl ListRow for OfFlow {
    const NAME: &'static str = "tokens";
    const COLUMNS: &'static [&'static str] = &["ID", "MADE", "SOURCE"];
    const EMPTY: &'static str = "The flow has no tokens";

    fn cells(&self) -> Vec<String> {
        let source = match (&self.source, &self.source_name) {
            (Some(id), Some(name)) => format!("{id} {name}"),
            _ => "-".to_owned(),
        };
        vec![self.id.clone(), self.created_at.clone(), source]
    }
}

/// `token revoke` has been done.
#[derive(Serialize)]
struct Revoked {
    id: String,
    holder: String,
}

impl Display for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The token {} of {} is revoked", self.id, self.holder)
    }
}
