//! The operator's commands about retention, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, AppliedRetention, RetentionName};
use eddyline_model::retention::RetentionPeriod;
use serde::Serialize;

use super::list::{self, ListRow};
use super::{explain, print};
use crate::CommandError;
use crate::cli::{PeriodArgs, RetentionCommand, RetentionScopeArgs};

/// Carries out one command and prints its answer.
pub(super) async fn run(
    app: &App,
    command: RetentionCommand,
    json: bool,
) -> Result<(), CommandError> {
    match command {
        RetentionCommand::Set { scope, period } => {
            set(app, scope, Some(period_of(&period)?), json).await
        }
        RetentionCommand::Clear { scope } => set(app, scope, None, json).await,
        RetentionCommand::Show => {
            let rules = app.operator().retention_rules().await?;
            let rules: Vec<Rule> = rules.into_iter().map(Rule::of).collect();
            list::write_whole(json, &rules)
        }
        RetentionCommand::Run => {
            let AppliedRetention { deleted, held } = app.retention().apply().await?;
            print(&Applied { deleted, held }, json)
        }
    }
}

async fn set(
    app: &App,
    scope: RetentionScopeArgs,
    period: Option<RetentionPeriod>,
    json: bool,
) -> Result<(), CommandError> {
    let name = match scope {
        RetentionScopeArgs { org: Some(org), .. } => RetentionName::Organization(org),
        RetentionScopeArgs {
            flow: Some(flow), ..
        } => RetentionName::Flow(flow.organization, flow.flow),
        _ => RetentionName::Private,
    };
    let what = name.to_string();
    app.operator()
        .set_retention(name, period)
        .await
        .map_err(|error| explain(error, &what))?;
    print(
        &RetentionSet {
            of: what,
            days: period.map(days),
        },
        json,
    )
}

fn period_of(period: &PeriodArgs) -> Result<RetentionPeriod, CommandError> {
    match period.days {
        Some(days) => RetentionPeriod::days(days).map_err(|error| format!("--days {error}").into()),
        None => Ok(RetentionPeriod::Forever),
    }
}

/// The days of a period; `None` for ever.
fn days(period: RetentionPeriod) -> Option<u32> {
    match period {
        RetentionPeriod::Forever => None,
        RetentionPeriod::Days(days) => Some(days),
    }
}

fn in_words(days: Option<u32>) -> String {
    match days {
        None => "for ever".to_owned(),
        Some(1) => "for a day".to_owned(),
        Some(days) => format!("for {days} days"),
    }
}

/// `retention set` or `retention clear` has been done.
#[derive(Serialize)]
struct RetentionSet {
    of: String,
    /// Absent without a rule, `null` for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    days: Option<Option<u32>>,
}

impl Display for RetentionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.days {
            Some(days) => write!(f, "Messages of {} are kept {}", self.of, in_words(days)),
            None => write!(f, "There is no rule of retention for {}", self.of),
        }
    }
}

/// A rule in the list.
#[derive(Serialize)]
struct Rule {
    of: String,
    /// `null` for ever.
    days: Option<u32>,
}

impl Rule {
    fn of((of, period): (String, RetentionPeriod)) -> Self {
        Self {
            of,
            days: days(period),
        }
    }
}

impl ListRow for Rule {
    const NAME: &'static str = "rules";
    const COLUMNS: &'static [&'static str] = &["MESSAGES OF", "KEPT"];
    const EMPTY: &'static str = "There are no rules: messages are kept for ever";

    fn cells(&self) -> Vec<String> {
        vec![self.of.clone(), in_words(self.days)]
    }
}

/// `retention run` has been done.
#[derive(Serialize)]
struct Applied {
    deleted: u64,
    held: u64,
}

impl Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deleted, held } = self;
        write!(f, "Messages deleted: {deleted}")?;
        if *held > 0 {
            write!(f, "; kept by legal holds: {held}")?;
        }
        Ok(())
    }
}
