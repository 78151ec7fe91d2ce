//! The operator's commands about domains of organizations, and their answers.

use std::fmt::{self, Display};

use eddyline_app::App;
use eddyline_model::names::Domain;
use serde::Serialize;

use super::{explain, in_organization, named, print};
use crate::CommandError;
use crate::cli::{DomainCommand, OrganizationDomain};

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: DomainCommand, json: bool) -> Result<(), CommandError> {
    match command {
        DomainCommand::Add(OrganizationDomain { org, domain }) => {
            let domain: Domain = named("domain", &domain)?;
            let proved = app
                .operator()
                .add_domain(&org, &domain)
                .await
                .map_err(in_organization(&org))?;
            print(
                &Added {
                    organization: org,
                    domain: domain.into_string(),
                    proved,
                },
                json,
            )
        }
        DomainCommand::Remove(OrganizationDomain { org, domain }) => {
            let domain: Domain = named("domain", &domain)?;
            let unproved = app
                .operator()
                .remove_domain(&org, &domain)
                .await
                .map_err(|error| {
                    explain(
                        error,
                        &format!("organization {org} with the domain {domain}"),
                    )
                })?;
            print(
                &Removed {
                    organization: org,
                    domain: domain.into_string(),
                    unproved,
                },
                json,
            )
        }
        DomainCommand::List { org } => {
            let domains = app
                .operator()
                .domains(&org)
                .await
                .map_err(in_organization(&org))?;
            print(
                &Domains {
                    organization: org,
                    domains,
                },
                json,
            )
        }
    }
}

/// `org domain add` has been done.
#[derive(Serialize)]
struct Added {
    organization: String,
    domain: String,
    /// How many addresses are proved by that.
    proved: usize,
}

impl Display for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            organization,
            domain,
            proved,
        } = self;
        write!(
            f,
            "{domain} belongs to {organization}; addresses proved by that: {proved}"
        )
    }
}

/// `org domain remove` has been done.
#[derive(Serialize)]
struct Removed {
    organization: String,
    domain: String,
    /// How many addresses are no longer proved.
    unproved: usize,
}

impl Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            organization,
            domain,
            unproved,
        } = self;
        write!(
            f,
            "{domain} no longer belongs to {organization}; addresses no longer proved: {unproved}"
        )
    }
}

/// What `org domain list` shows.
#[derive(Serialize)]
struct Domains {
    organization: String,
    domains: Vec<String>,
}

impl Display for Domains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.domains[..] {
            [] => write!(f, "{} has no domains", self.organization),
            domains => f.write_str(&domains.join("\n")),
        }
    }
}
