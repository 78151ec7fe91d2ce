//! The operator's commands about legal holds, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, HeldItem, HoldName};
use serde::Serialize;

use super::list::{self, ListRow};
use super::{explain, named, print};
use crate::CommandError;
use crate::cli::{HoldCommand, HoldTargetArgs};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: HoldCommand, json: bool) -> Result<(), CommandError> {
    match command {
        HoldCommand::Place { target, reason } => {
            let name = name_of(target)?;
            let held = name.to_string();
            app.operator()
                .place_hold(name, reason)
                .await
                .map_err(|error| explain(error, &held))?;
            let placed = true;
            print(&HoldSet { held, placed }, json)
        }
        HoldCommand::Release { target } => {
            let name = name_of(target)?;
            let held = name.to_string();
            app.operator()
                .release_hold(name)
                .await
                .map_err(|error| explain(error, &format!("a legal hold on {held}")))?;
            let placed = false;
            print(&HoldSet { held, placed }, json)
        }
        HoldCommand::List => {
            let holds = app.operator().holds().await?;
            let holds: Vec<Hold> = holds.into_iter().map(Hold::of).collect();
            list::write_whole(json, &holds)
        }
    }
}

fn name_of(target: HoldTargetArgs) -> Result<HoldName, CommandError> {
    match target {
        HoldTargetArgs { org: Some(org), .. } => Ok(HoldName::Organization(org)),
        HoldTargetArgs {
            flow: Some(flow), ..
        } => Ok(HoldName::Flow(flow.organization, flow.flow)),
        HoldTargetArgs { email, .. } => {
            Ok(HoldName::User(named("email", &email.unwrap_or_default())?))
        }
    }
}

/// `hold place` or `hold release` has been done.
#[derive(Serialize)]
struct HoldSet {
    held: String,
    placed: bool,
}

impl Display for HoldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.placed {
            true => write!(f, "A legal hold on {} is placed", self.held),
            false => write!(f, "The legal hold on {} is released", self.held),
        }
    }
}

/// A hold in the list.
#[derive(Serialize)]
struct Hold {
    held: String,
    placed_at: String,
    reason: String,
}

impl Hold {
    fn of(item: HeldItem) -> Self {
        Self {
            held: item.held,
            placed_at: item.placed_at.to_string(),
            reason: item.reason,
        }
    }
}

impl ListRow for Hold {
    const NAME: &'static str = "holds";
    const COLUMNS: &'static [&'static str] = &["HELD", "SINCE", "REASON"];
    const EMPTY: &'static str = "There are no legal holds";

    fn cells(&self) -> Vec<String> {
        vec![
            self.held.clone(),
            self.placed_at.clone(),
            self.reason.clone(),
        ]
    }
}
