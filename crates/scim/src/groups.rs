//! Groups as identity providers see and set them (RFC 7643, section 4.2).

pub mod filter;
pub mod patch;
pub mod show;

use std::collections::BTreeSet;

use eddyline_model::UserId;
use serde_json::{Map, Value};

use crate::values::{find, find_given, invalid, text};
use crate::{ScimError, shown};

/// The schema of groups (RFC 7643, section 4.2).
pub const GROUP_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";

/// A group as a provider sees and sets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupState {
    /// The name at the provider.
    pub display_name: String,
    /// The provider's own id of the group, as it was given.
    pub external_id: Option<String>,
    /// The members whom the provider sees.
    pub members: BTreeSet<UserId>,
}

/// What a whole resource says about a group. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedGroup {
    /// `displayName`.
    pub display_name: Option<String>,
    /// `externalId`.
    pub external_id: Option<String>,
    /// `members`.
    pub members: Option<BTreeSet<UserId>>,
}

impl RequestedGroup {
    /// Reads a resource, as [`RequestedUser::read`](crate::RequestedUser::read) does. `members` may
    /// be an array of objects with `value`, or of ids, or only one of these.
    ///
    /// # Errors
    ///
    /// As [`RequestedUser::read`](crate::RequestedUser::read), and
    /// [`InvalidValue`](crate::ScimType::InvalidValue) for a member that can be no user.
    pub fn read(body: &Map<String, Value>) -> Result<Self, ScimError> {
        let text_of = |name: &str| {
            find_given(body, name)?
                .map(|value| text(name, value))
                .transpose()
        };
        Ok(Self {
            display_name: text_of("displayName")?,
            external_id: text_of("externalId")?,
            members: find_given(body, "members")?.map(users).transpose()?,
        })
    }

    /// The state after a PUT of this resource: what is not said stays.
    #[must_use]
    pub fn onto(self, state: GroupState) -> GroupState {
        GroupState {
            display_name: self.display_name.unwrap_or(state.display_name),
            external_id: self.external_id.or(state.external_id),
            members: self.members.unwrap_or(state.members),
        }
    }
}

/// The users whom a list of members names.
fn users<C: FromIterator<UserId>>(members: &Value) -> Result<C, ScimError> {
    let user = |id: String| {
        id.parse().map_err(|_| {
            let detail = format!("{:?} is not the id of a user", shown(&id));
            invalid("members.value", &detail)
        })
    };
    ids(members)?.into_iter().map(user).collect()
}

/// The ids that a list of members names. In plain JSON they are numbers.
fn ids(members: &Value) -> Result<Vec<String>, ScimError> {
    match members {
        Value::Array(members) => members.iter().map(id).collect(),
        Value::Null => Ok(Vec::new()),
        one => id(one).map(|id| vec![id]),
    }
}

fn id(member: &Value) -> Result<String, ScimError> {
    let value = match member {
        Value::Object(parts) => {
            let kind = find(parts, "type")?.and_then(Value::as_str);
            if kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("User")) {
                return Err(invalid(
                    "members.type",
                    "must be User: groups hold no groups",
                ));
            }
            find_given(parts, "value")?.ok_or_else(|| invalid("members.value", "is required"))?
        }
        value => value,
    };
    match value {
        Value::Number(number) => Ok(number.to_string()),
        value => text("members.value", value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScimType;
    use serde_json::json;

    fn read(body: &Value) -> Result<RequestedGroup, ScimError> {
        RequestedGroup::read(body.as_object().unwrap())
    }

    #[test]
    fn members_are_read_in_each_of_their_forms() {
        for (members, users) in [
            (
                json!([{"value": "17", "display": "Ada"}, {"Value": 18}]),
                vec![17, 18],
            ),
            (
                json!([{"value": "17", "type": "User", "$ref": null}]),
                vec![17],
            ),
            (json!(["17", 18, "17"]), vec![17, 18]),
            (json!({"value": "17"}), vec![17]),
            (json!([]), vec![]),
        ] {
            let wanted = read(&json!({"members": members})).unwrap().members;
            let users: BTreeSet<UserId> = users.into_iter().map(UserId).collect();
            assert_eq!(wanted, Some(users), "{members}");
        }
        assert_eq!(
            read(&json!({"members": null})),
            Ok(RequestedGroup::default())
        );
    }

    #[test]
    fn a_member_who_can_be_no_user_is_refused() {
        for (member, field) in [
            (json!({"value": "ada"}), "members.value"),
            (json!({"value": null}), "members.value"),
            (json!({"display": "Ada"}), "members.value"),
            (json!({"value": "3", "type": "Group"}), "members.type"),
            (json!([[]]), "members.value"),
            (json!(true), "members.value"),
        ] {
            let error = read(&json!({"members": [member]})).unwrap_err();
            assert_eq!(error.scim_type, ScimType::InvalidValue, "{member}");
            assert_eq!(error.field.as_deref(), Some(field), "{member}");
        }
    }

    #[test]
    fn what_a_put_does_not_say_stays() {
        let state = GroupState {
            display_name: "Team".into(),
            external_id: Some("x".into()),
            members: [UserId(17)].into(),
        };
        assert_eq!(RequestedGroup::default().onto(state.clone()), state);
        let wanted = read(&json!({"DISPLAYNAME": "Ops", "members": []})).unwrap();
        let expected = GroupState {
            display_name: "Ops".into(),
            members: BTreeSet::new(),
            ..state.clone()
        };
        assert_eq!(wanted.onto(state), expected);
    }
}
