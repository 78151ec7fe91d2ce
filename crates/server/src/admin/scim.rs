//! The operator's commands about identity providers, and their answers.

use std::fmt::{self, Display};

use eddyline_app::{App, AuditAction, AuditFilter, AuditRange, ScimDetails};
use eddyline_model::names::Email;
use eddyline_wire::NamedRecord;
use serde::Serialize;

use super::list::facts;
use super::{explain, in_organization, named, print};
use crate::CommandError;
use crate::cli::ScimCommand;

/// Carries out one command and prints its answer.
pub(super) async fn run(app: &App, command: ScimCommand, json: bool) -> Result<(), CommandError> {
    match command {
        ScimCommand::Enable { org, rotate } => {
            let (uid, url, token) = app
                .provisioning()
                .enable(&org, rotate)
                .await
                .map_err(in_organization(&org))?;
            print(
                &Enabled {
                    uid,
                    url,
                    token: token.expose().to_owned(),
                },
                json,
            )
        }
        ScimCommand::Show { org } => {
            let found = app
                .provisioning()
                .get(&org)
                .await
                .map_err(in_organization(&org))?;
            print(&ProviderShown::of(org, found.as_ref()), json)
        }
        ScimCommand::Disable { org } => {
            let uid = app
                .provisioning()
                .disable(&org)
                .await
                .map_err(in_organization(&org))?;
            print(
                &Disabled {
                    organization: org,
                    uid,
                },
                json,
            )
        }
        ScimCommand::Link { org, email } => {
            let address: Email = named("email", &email)?;
            let id = app
                .provisioning()
                .link_identity(&org, &address)
                .await
                .map_err(|error| explain(error, "the organization, or the address in it,"))?;
            print(
                &Linked {
                    id: id.0,
                    email,
                    organization: org,
                },
                json,
            )
        }
        ScimCommand::Unlink { org, email } => {
            let address: Email = named("email", &email)?;
            let id = app
                .provisioning()
                .unlink_identity(&org, &address)
                .await
                .map_err(|error| {
                    explain(
                        error,
                        "the organization, or a user with the address whom its provider knows,",
                    )
                })?;
            print(
                &Unlinked {
                    id: id.0,
                    email,
                    organization: org,
                },
                json,
            )
        }
        ScimCommand::Audit { org, before, limit } => {
            let all = AuditAction::ALL.iter();
            let filter = AuditFilter {
                actions: all
                    .filter(|action| action.is_provisioning())
                    .map(ToString::to_string)
                    .collect(),
                ..AuditFilter::default()
            };
            let records = app
                .operator()
                .audit(
                    Some(&org),
                    filter,
                    AuditRange::newest(before, i64::from(limit)),
                )
                .await
                .map_err(in_organization(&org))?;
            print(
                &Audit {
                    records: records.into_iter().map(Record::of).collect(),
                },
                json,
            )
        }
    }
}

/// `scim enable` has been done.
#[derive(Serialize)]
struct Enabled {
    uid: String,
    /// The address that the provider is given.
    url: String,
    /// Shown here only.
    token: String,
}

impl Display for Enabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The identity provider finds the organization at {}",
            self.url
        )?;
        if !self.url.starts_with("https://") {
            write!(
                f,
                "\n(this is no https address: set base_url to the address that the provider can reach)"
            )?;
        }
        write!(
            f,
            "\nToken, which is not shown again and replaces any before: {}",
            self.token
        )
    }
}

/// What `scim show` shows.
#[derive(Serialize)]
struct ProviderShown {
    organization: String,
    enabled: bool,
    uid: Option<String>,
    url: Option<String>,
    created_at: Option<String>,
    rotated_at: Option<String>,
    used_at: Option<String>,
    /// The user who made the token; absent where an operator did.
    made_by: Option<String>,
    /// How many users it sees.
    users: i64,
}

impl ProviderShown {
    fn of(organization: String, known: Option<&ScimDetails>) -> Self {
        let (enabled, users) = known.map_or((false, 0), |known| (known.enabled, known.users));
        let of = |text: fn(&ScimDetails) -> String| known.map(text);
        Self {
            organization,
            enabled,
            uid: of(|known| known.uid.clone()),
            url: of(|known| known.url.clone()),
            created_at: of(|known| known.created_at.to_string()),
            rotated_at: of(|known| known.rotated_at.to_string()),
            used_at: known.and_then(|known| known.used_at.map(|at| at.to_string())),
            made_by: known.and_then(|known| known.made_by.clone().map(|(_, name)| name)),
            users,
        }
    }
}

impl Display for ProviderShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.enabled { "let in" } else { "not let in" };
        let mut lines = vec![
            ("Organization", self.organization.clone()),
            ("Provider", state.to_owned()),
        ];
        lines.extend(self.url.clone().map(|url| ("Address", url)));
        lines.extend(self.created_at.clone().map(|at| ("Let in first", at)));
        lines.extend(self.rotated_at.clone().map(|at| ("Token changed", at)));
        lines.extend(self.made_by.clone().map(|name| ("Token made by", name)));
        lines.extend(self.used_at.clone().map(|at| ("Token last used", at)));
        lines.push(("Users it sees", self.users.to_string()));
        facts(f, &lines)
    }
}

/// `scim disable` has been done.
#[derive(Serialize)]
struct Disabled {
    organization: String,
    uid: String,
}

impl Display for Disabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The identity provider of {} is let in no longer; its users stay as they are",
            self.organization
        )
    }
}

/// `scim link` has been done.
#[derive(Serialize)]
struct Linked {
    id: i64,
    email: String,
    organization: String,
}

impl Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The identity provider of {} knows user {} by {}",
            self.organization, self.id, self.email
        )
    }
}

/// `scim unlink` has been done.
#[derive(Serialize)]
struct Unlinked {
    id: i64,
    email: String,
    organization: String,
}

impl Display for Unlinked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            email,
            organization,
        } = self;
        write!(
            f,
            "The identity provider of {organization} does not know user {id} ({email}) any more"
        )
    }
}

/// What `scim audit` shows.
#[derive(Serialize)]
struct Audit {
    records: Vec<Record>,
}

#[derive(Serialize)]
struct Record {
    id: i64,
    at: String,
    actor: String,
    action: String,
    user: Option<i64>,
    detail: serde_json::Value,
}

impl Record {
    fn of(record: NamedRecord) -> Self {
        Self {
            id: record.id,
            at: record.at,
            actor: record.actor,
            action: record.action,
            user: record.user,
            detail: record.detail,
        }
    }
}

impl Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            number,
            Record {
                id,
                at,
                actor,
                action,
                user,
                detail,
            },
        ) in self.records.iter().enumerate()
        {
            let end = if number == 0 { "" } else { "\n" };
            let user = user.map(|user| format!(" user {user}")).unwrap_or_default();
            write!(f, "{end}{id} {at} {actor} {action}{user} {detail}")?;
        }
        if self.records.is_empty() {
            f.write_str("Nothing is recorded")
        } else {
            Ok(())
        }
    }
}
