//! A record of the audit log in words.

use eddyline_app::{AuditAction, ExplainedRecords};
use eddyline_model::Timestamp;
use eddyline_wire::{NamedRecord, RecordTarget};
use serde_json::Value;

use crate::action_words;
use crate::moment;
use crate::texts::Texts;

/// The fields of details that list things, where two values are not one before and one after.
const LISTS: [&str; 3] = ["added", "removed", "applications"];

/// What a row of the page shows.
pub(super) struct RecordRow {
    pub(super) id: i64,
    /// When it was done, for programs and for people.
    pub(super) at: String,
    pub(super) when: String,
    /// What was done.
    pub(super) what: String,
    /// Labels and texts: the actor, the person, the target, and from where.
    pub(super) facts: Vec<(&'static str, String)>,
    /// What changed: the names of fields, and their values.
    pub(super) detail: Vec<(String, String)>,
}

impl RecordRow {
    /// The rows of these records.
    pub(super) fn all(found: &ExplainedRecords, t: &'static Texts) -> Vec<Self> {
        let records = found.records.iter();
        records.map(|record| Self::of(record, found, t)).collect()
    }

    fn of(record: &NamedRecord, names: &ExplainedRecords, t: &'static Texts) -> Self {
        let a = &t.audit;
        let through = record
            .application
            .map(|id| named(names.applications.get(&id), id));
        // What one does to oneself has one name.
        let user = record
            .user
            .filter(|id| record.actor != format!("user:{id}"));
        let facts = [
            (&a.by, Some(actor(record, names, t))),
            (
                &a.about,
                user.map(|id| person(record.user_name.as_deref(), id, t)),
            ),
            (
                &a.target,
                record.target.as_ref().map(|target| target_words(target, t)),
            ),
            (&a.application, through),
            (&a.address, record.address.clone()),
        ];
        let facts = facts.into_iter();
        let what = match AuditAction::named(&record.action) {
            Some(action) => action_words::words(action, t).to_owned(),
            None => a.other_action.with("action", &record.action).to_string(),
        };
        let at = Timestamp::parse_iso8601(&record.at);
        Self {
            id: record.id,
            at: record.at.clone(),
            when: at.map_or_else(|| record.at.clone(), |at| moment::minute(&at, t)),
            what,
            facts: facts
                .filter_map(|(label, text)| Some((label.as_str(), text?)))
                .collect(),
            detail: detail(&record.detail, t),
        }
    }
}

/// What acted.
fn actor(record: &NamedRecord, names: &ExplainedRecords, t: &Texts) -> String {
    let a = &t.audit;
    let (kind, id) = record.actor.split_once(':').unwrap_or((&record.actor, ""));
    let number = id.parse::<i64>();
    match (kind, number) {
        ("user", Ok(id)) => person(record.actor_name.as_deref(), id, t),
        ("source", Ok(id)) => {
            let name = named(names.sources.get(&id), id);
            a.of_source.with("name", name).to_string()
        }
        ("application", Ok(id)) => {
            let name = named(names.applications.get(&id), id);
            a.of_application.with("name", name).to_string()
        }
        ("scim", _) => a.provider.clone(),
        ("operator", _) => a.operator.clone(),
        ("server", _) => a.server.clone(),
        ("unknown", _) => a.unknown.clone(),
        ("flow_token", _) => a.flow_token.clone(),
        _ => record.actor.clone(),
    }
}

/// A user by name, or by number where the name is known no more.
pub(super) fn person(name: Option<&str>, id: i64, t: &Texts) -> String {
    match name {
        Some(name) => name.to_owned(),
        None => t.audit.person.with("id", id).to_string(),
    }
}

fn named(name: Option<&String>, id: i64) -> String {
    name.map_or_else(|| id.to_string(), Clone::clone)
}

fn target_words(target: &RecordTarget, t: &Texts) -> String {
    let a = &t.audit;
    let kind = match target.kind.as_str() {
        "flow" => &a.flow,
        "source" => &a.source,
        "session" => &a.session,
        "api_token" => &a.api_token,
        "application" => &a.of_kind_application,
        "organization" => &a.of_kind_organization,
        other => other,
    };
    let name = match target.name.is_empty() {
        true => &target.id,
        false => &target.name,
    };
    a.of_target
        .with("kind", kind)
        .with("name", name)
        .to_string()
}

fn detail(detail: &Value, t: &Texts) -> Vec<(String, String)> {
    let fields = detail.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| {
            let value = match value.as_array().map(Vec::as_slice) {
                Some([before, after]) if !LISTS.contains(&name.as_str()) => {
                    let change = t.audit.changed.with("before", readable(before, t));
                    change.with("after", readable(after, t)).to_string()
                }
                _ => readable(value, t),
            };
            (name.clone(), value)
        })
        .collect()
}

fn readable(value: &Value, t: &Texts) -> String {
    let a = &t.audit;
    match value {
        Value::Null => a.nothing.clone(),
        Value::Bool(true) => a.yes.clone(),
        Value::Bool(false) => a.no.clone(),
        Value::String(text) if text.is_empty() => a.nothing.clone(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => a.nothing.clone(),
        Value::Array(values) => {
            let values = values.iter().map(|value| readable(value, t));
            values.collect::<Vec<_>>().join(", ")
        }
        Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::language::Language;

    #[test]
    fn details_are_told_by_their_fields() {
        let t = Texts::in_language(Language::English);
        let told = detail(
            &json!({"active": [true, false], "added": [7, 9], "email": ["a@b", null],
                    "name": ["", "New"], "token": 3, "days": null}),
            t,
        );
        let told: Vec<_> = told.iter().map(|(name, text)| (&**name, &**text)).collect();
        assert_eq!(
            told,
            [
                ("active", "yes → no"),
                ("added", "7, 9"),
                ("days", "nothing"),
                ("email", "a@b → nothing"),
                ("name", "nothing → New"),
                ("token", "3"),
            ]
        );
        assert!(detail(&json!({}), t).is_empty() && detail(&Value::Null, t).is_empty());
    }
}
