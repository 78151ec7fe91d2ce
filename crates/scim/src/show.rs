//! How users are shown: to those who speak plain JSON, and to those who speak SCIM.

use eddyline_model::{GroupId, Timestamp, UserId};
use serde_json::{Map, Value, json};

use crate::names::split;
use crate::{State, USER_SCHEMA};

/// What is shown of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserResource {
    /// The user's id.
    pub id: UserId,
    /// What providers set.
    pub state: State,
    /// The groups that the user is in.
    pub groups: Vec<GroupOfUser>,
    /// When the user was made.
    pub created_at: Timestamp,
    /// When they were changed last.
    pub updated_at: Timestamp,
    /// A number that grows with each change.
    pub version: i64,
    /// The address of the resource.
    pub location: String,
}

/// A group, as its members show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOfUser {
    /// The group's id.
    pub id: GroupId,
    /// The name at the provider.
    pub display_name: String,
    /// The address of the resource.
    pub location: String,
}

/// A user in the shape of the specification (section 2, SCIM user): its fields and no more. The id
/// is a number, and `externalId` the same as `userName`.
#[must_use]
pub fn plain(user: &UserResource) -> Map<String, Value> {
    let state = &user.state;
    let (given, family) = split(&state.name);
    members(json!({
        "id": user.id.0,
        "externalId": state.user_name,
        "userName": state.user_name,
        "name": {"givenName": given, "familyName": family},
        "meta": {
            "location": user.location,
            "created": user.created_at.to_string(),
            "lastModified": user.updated_at.to_string(),
        },
        "emails": [{"value": state.email}],
        "nickName": state.nick,
    }))
}

/// A user in the shape of RFC 7643, section 4.1. The id is a text, `externalId` is what the
/// provider gave and is left out like an empty family name when there is none, and so are `groups`.
#[must_use]
pub fn resource(user: &UserResource) -> Map<String, Value> {
    let state = &user.state;
    let (given, family) = split(&state.name);
    let mut name = members(json!({"givenName": given}));
    if !family.is_empty() {
        name.insert("familyName".into(), family.into());
    }
    let mut resource = members(json!({
        "schemas": [USER_SCHEMA],
        "id": user.id.to_string(),
        "userName": state.user_name,
        "name": name,
        "displayName": state.name,
        "nickName": state.nick,
        "emails": [{"value": state.email, "type": "work", "primary": true}],
        "active": state.active,
        "meta": {
            "resourceType": "User",
            "created": user.created_at.to_string(),
            "lastModified": user.updated_at.to_string(),
            "location": user.location,
            "version": etag(user.version),
        },
    }));
    if let Some(external_id) = &state.external_id {
        resource.insert("externalId".into(), external_id.as_str().into());
    }
    if !user.groups.is_empty() {
        let group = |group: &GroupOfUser| {
            json!({
                "value": group.id.to_string(),
                "$ref": group.location,
                "display": group.display_name,
                "type": "direct",
            })
        };
        resource.insert("groups".into(), user.groups.iter().map(group).collect());
    }
    resource
}

/// The version of a resource as an entity tag, for example `W/"3"` (RFC 7644, section 3.14).
#[must_use]
pub fn etag(version: i64) -> String {
    format!("W/\"{version}\"")
}

/// One page of a list (RFC 7644, section 3.4.2). `total` counts what all pages have together, and
/// `start_index` the place of the first resource, from 1.
#[must_use]
pub fn list(resources: Vec<Value>, total: i64, start_index: i64) -> Value {
    let mut list = members(json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
        "totalResults": total,
        "startIndex": start_index,
        "itemsPerPage": resources.len(),
    }));
    list.insert("Resources".into(), Value::Array(resources));
    Value::Object(list)
}

pub(crate) fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn ada() -> UserResource {
        UserResource {
            id: UserId(17),
            state: State {
                user_name: "ada@example.org".into(),
                external_id: Some("00u1".into()),
                name: "Ada King Lovelace".into(),
                email: "ada.lovelace@example.org".into(),
                nick: "ada".into(),
                active: true,
            },
            groups: vec![GroupOfUser {
                id: GroupId(3),
                display_name: "The Team".into(),
                location: "https://chat.example/scim/u1/Groups/3".into(),
            }],
            created_at: Timestamp(1_700_000_000_007),
            updated_at: Timestamp(1_700_000_001_000),
            version: 3,
            location: "https://chat.example/scim/u1/Users/17".into(),
        }
    }

    #[test]
    fn the_plain_shape_has_the_fields_of_the_specification() {
        assert_eq!(
            Value::Object(plain(&ada())),
            json!({
                "id": 17,
                "externalId": "ada@example.org",
                "userName": "ada@example.org",
                "name": {"givenName": "Ada", "familyName": "King Lovelace"},
                "meta": {
                    "location": "https://chat.example/scim/u1/Users/17",
                    "created": "2023-11-14T22:13:20.007Z",
                    "lastModified": "2023-11-14T22:13:21.000Z",
                },
                "emails": [{"value": "ada.lovelace@example.org"}],
                "nickName": "ada",
            })
        );
    }

    #[test]
    fn the_shape_of_the_standard_has_schemas_and_a_version() {
        assert_eq!(
            Value::Object(resource(&ada())),
            json!({
                "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
                "id": "17",
                "externalId": "00u1",
                "userName": "ada@example.org",
                "name": {
                    "givenName": "Ada",
                    "familyName": "King Lovelace",
                },
                "displayName": "Ada King Lovelace",
                "nickName": "ada",
                "emails": [{"value": "ada.lovelace@example.org", "type": "work", "primary": true}],
                "active": true,
                "groups": [{
                    "value": "3",
                    "$ref": "https://chat.example/scim/u1/Groups/3",
                    "display": "The Team",
                    "type": "direct",
                }],
                "meta": {
                    "resourceType": "User",
                    "created": "2023-11-14T22:13:20.007Z",
                    "lastModified": "2023-11-14T22:13:21.000Z",
                    "location": "https://chat.example/scim/u1/Users/17",
                    "version": "W/\"3\"",
                },
            })
        );
    }

    #[test]
    fn what_is_empty_is_left_out_of_the_shape_of_the_standard_only() {
        let mut user = ada();
        user.state.name = "Ada".into();
        user.state.external_id = None;
        user.groups.clear();
        let standard = resource(&user);
        assert!(!standard.contains_key("groups"));
        assert!(!standard.contains_key("externalId"));
        assert_eq!(standard["name"], json!({"givenName": "Ada"}));
        assert_eq!(
            plain(&user)["name"],
            json!({"givenName": "Ada", "familyName": ""})
        );
        assert_eq!(plain(&user)["externalId"], "ada@example.org");
    }

    #[test]
    fn a_page_tells_how_much_there_is() {
        assert_eq!(
            list(vec![json!({"id": "17"})], 41, 11),
            json!({
                "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
                "totalResults": 41,
                "startIndex": 11,
                "itemsPerPage": 1,
                "Resources": [{"id": "17"}],
            })
        );
    }
}
