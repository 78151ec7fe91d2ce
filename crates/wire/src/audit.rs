//! Records of the audit log.

use eddyline_model::audit::AuditRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A record of the audit log: who did what to whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditRecord)]
pub struct NamedRecord {
    /// Its number. Later records have higher ones.
    pub id: i64,
    /// When it was done (ISO 8601, UTC).
    pub at: String,
    /// The id of the organization; `null` for what concerns the whole server.
    pub organization: Option<i64>,
    /// Who acted: `user:` and an id, `scim:` and the uid of an identity provider, `source:` or
    /// `application:` and an id, `flow_token`, `operator`, `server`, or `unknown` for a client that
    /// has not shown who it is.
    pub actor: String,
    /// The name of the user who acted, as it is now; `null` for other actors.
    pub actor_name: Option<String>,
    /// The id of the application through which the user acted.
    pub application: Option<i64>,
    /// The address that the request came from.
    pub address: Option<String>,
    /// What was done, such as `token.create`.
    pub action: String,
    /// The id of the user to whom it was done.
    pub user: Option<i64>,
    /// The name of that user, as it is now.
    pub user_name: Option<String>,
    /// To what it was done, if not to a user alone.
    pub target: Option<RecordTarget>,
    /// What changed; of a changed field, its value before and its value after.
    #[schema(value_type = Object)]
    pub detail: Value,
}

/// To what something was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AuditTarget)]
pub struct RecordTarget {
    /// Of what kind it is, such as `flow`.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// What it was called then.
    pub name: String,
}

impl NamedRecord {
    /// A record with the names of its actor and of its user.
    #[must_use]
    pub fn of(record: AuditRecord, actor_name: Option<String>, user_name: Option<String>) -> Self {
        Self {
            id: record.id,
            at: record.at.to_string(),
            organization: record.organization.map(|id| id.0),
            actor: record.actor,
            actor_name,
            application: record.application.map(|id| id.0),
            address: record.address,
            action: record.action,
            user: record.user.map(|id| id.0),
            user_name,
            target: record.target.map(|target| RecordTarget {
                kind: target.kind,
                id: target.id,
                name: target.name,
            }),
            detail: serde_json::from_str(&record.detail).unwrap_or_default(),
        }
    }
}
