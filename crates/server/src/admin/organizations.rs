//! The operator's commands about organizations, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, NewOrganization, OrganizationChanges, OrganizationDetails};
use eddyline_model::OrganizationId;
use eddyline_model::organizations::{Organization, OrganizationSubscription};
use serde::Serialize;

use super::list::{self, ListRow, facts};
use super::{domains, explain, in_organization, print};
use crate::CommandError;
use crate::cli::{self, BillingDate, OrgCommand, OrganizationUpdate};
use crate::output::{OrganizationCreated, OrganizationUpdated};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: OrgCommand, json: bool) -> Result<(), CommandError> {
    match command {
        OrgCommand::Create(new) => create_organization(app, new, json).await,
        OrgCommand::List => {
            list::write(json, async |last: Option<&Organized>| {
                let after = OrganizationId(last.map_or(0, |last| last.id));
                let page = app.operator().organizations(after, list::PAGE).await;
                let page = page.map_err(|error| explain(error, "the list"))?;
                Ok(page.into_iter().map(Organized::of).collect())
            })
            .await
        }
        OrgCommand::Show { org } => {
            let found = app.operator().organization(&org).await;
            let details = found.map_err(in_organization(&org))?;
            print(&OrganizationShown::of(details), json)
        }
        OrgCommand::Update(update) => update_organization(app, update, json).await,
        OrgCommand::Domain(command) => domains::run(app, command, json).await,
    }
}

async fn create_organization(
    app: &App,
    new: cli::CreateOrganizationArgs,
    json: bool,
) -> Result<(), CommandError> {
    let wanted = NewOrganization {
        name: new.name,
        parameterized_name: new.parameterized_name,
        user_limit: i64::from(new.user_limit),
        parent: new.parent.clone(),
    };
    let made = app
        .operator()
        .create_organization(wanted)
        .await
        .map_err(in_organization(new.parent.as_deref().unwrap_or_default()))?;
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

async fn update_organization(
    app: &App,
    update: OrganizationUpdate,
    json: bool,
) -> Result<(), CommandError> {
    let OrganizationUpdate { org, fields } = update;
    let trial = fields
        .trial_ends
        .map(|ends| OrganizationSubscription::Trial { ends });
    let paid = fields
        .billing_date
        .map(|BillingDate(next_bill)| OrganizationSubscription::Paid { next_bill });
    let changes = OrganizationChanges {
        name: fields.name,
        parameterized_name: fields.parameterized_name,
        user_limit: fields.user_limit.map(i64::from),
        subscription: trial.or(paid),
        active: fields.active,
    };
    let now = app
        .operator()
        .update_organization(&org, changes)
        .await
        .map_err(in_organization(&org))?;
    print(&OrganizationUpdated::of(now), json)
}

/// An organization in a list.
#[derive(Serialize)]
struct Organized {
    id: i64,
    name: String,
    parameterized_name: String,
    user_count: i64,
    user_limit: i64,
    active: bool,
    parent: Option<i64>,
}

impl Organized {
    fn of(organization: Organization) -> Self {
        Self {
            id: organization.id.0,
            name: organization.name,
            parameterized_name: organization.parameterized_name,
            user_count: organization.user_count,
            user_limit: organization.user_limit,
            active: organization.active,
            parent: organization.parent.map(|parent| parent.0),
        }
    }
}

impl ListRow for Organized {
    const NAME: &'static str = "organizations";
    const COLUMNS: &'static [&'static str] = &["ID", "ORG", "PEOPLE", "STATE", "NAME"];
    const EMPTY: &'static str = "There are no organizations";

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.parameterized_name.clone(),
            format!("{} of {}", self.user_count, self.user_limit),
            state(self.active).to_owned(),
            self.name.clone(),
        ]
    }
}

fn state(active: bool) -> &'static str {
    if active { "active" } else { "read-only" }
}

/// What `org show` shows.
#[derive(Serialize)]
struct OrganizationShown {
    id: i64,
    name: String,
    parameterized_name: String,
    /// Those before lead to it as well.
    former_names: Vec<String>,
    user_count: i64,
    user_limit: i64,
    active: bool,
    created_at: String,
    parent: Option<String>,
    trial_ends: Option<String>,
    billing_date: Option<String>,
    /// Addresses.
    administrators: Vec<String>,
    domains: Vec<String>,
    /// The uid of the identity provider that is let in.
    provider: Option<String>,
}

impl OrganizationShown {
    fn of(details: OrganizationDetails) -> Self {
        let OrganizationDetails {
            organization,
            parent,
            mut names,
            administrators,
            domains,
            provider,
        } = details;
        names.retain(|name| *name != organization.parameterized_name);
        let (trial_ends, billing_date) = match organization.subscription {
            OrganizationSubscription::Trial { ends } => (Some(ends.to_string()), None),
            OrganizationSubscription::Paid { next_bill } => {
                (None, next_bill.map(|day| day.to_string()))
            }
        };
        Self {
            id: organization.id.0,
            name: organization.name,
            parameterized_name: organization.parameterized_name,
            former_names: names,
            user_count: organization.user_count,
            user_limit: organization.user_limit,
            active: organization.active,
            created_at: organization.created_at.to_string(),
            parent,
            trial_ends,
            billing_date,
            administrators,
            domains,
            provider,
        }
    }
}

impl Display for OrganizationShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = |texts: &[String]| {
            if texts.is_empty() {
                "none".to_owned()
            } else {
                texts.join(", ")
            }
        };
        let mut lines = vec![
            ("Organization", self.parameterized_name.clone()),
            ("Name", self.name.clone()),
            ("Number", self.id.to_string()),
            ("State", state(self.active).to_owned()),
            ("Made", self.created_at.clone()),
            (
                "People",
                format!("{} of up to {}", self.user_count, self.user_limit),
            ),
            ("Administrators", several(&self.administrators)),
            ("Domains", several(&self.domains)),
            (
                "Identity provider",
                self.provider.clone().unwrap_or_else(|| "none".to_owned()),
            ),
        ];
        lines.extend(self.parent.clone().map(|parent| ("Belongs to", parent)));
        lines.extend(self.trial_ends.clone().map(|day| ("On trial until", day)));
        lines.extend(self.billing_date.clone().map(|day| ("Next bill", day)));
        if !self.former_names.is_empty() {
            lines.push(("Former names", self.former_names.join(", ")));
        }
        facts(f, &lines)
    }
}
