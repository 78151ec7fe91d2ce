//! How groups are shown.

use eddyline_model::{GroupId, Timestamp};
use serde_json::{Map, Value, json};

use super::{GROUP_SCHEMA, GroupState};
use crate::show::{etag, members};

/// What is shown of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupResource {
    /// The group's id.
    pub id: GroupId,
    /// What providers set.
    pub state: GroupState,
    /// When the group was made.
    pub created_at: Timestamp,
    /// A number that each change makes another.
    pub version: i64,
    /// The provider's address, above `/Groups` and `/Users`.
    pub base: String,
}

impl GroupResource {
    /// The address of the resource.
    #[must_use]
    pub fn location(&self) -> String {
        format!("{}/Groups/{}", self.base, self.id)
    }
}

/// A group in the shape of RFC 7643, section 4.2. `externalId` is left out when there is none.
#[must_use]
pub fn group_resource(group: &GroupResource) -> Map<String, Value> {
    let (state, base) = (&group.state, &group.base);
    let member = |user| {
        let user = format!("{user}");
        json!({"value": user, "$ref": format!("{base}/Users/{user}"), "type": "User"})
    };
    let mut resource = members(json!({
        "schemas": [GROUP_SCHEMA],
        "id": group.id.to_string(),
        "displayName": state.display_name,
        "members": state.members.iter().map(member).collect::<Vec<_>>(),
        "meta": {
            "resourceType": "Group",
            "created": group.created_at.to_string(),
            "location": group.location(),
            "version": etag(group.version),
        },
    }));
    if let Some(external_id) = &state.external_id {
        resource.insert("externalId".into(), external_id.as_str().into());
    }
    resource
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use eddyline_model::UserId;

    pub(crate) fn team() -> GroupResource {
        GroupResource {
            id: GroupId(3),
            state: GroupState {
                display_name: "The Team".into(),
                external_id: Some("00g1".into()),
                members: [UserId(17)].into(),
            },
            created_at: Timestamp(1_700_000_000_007),
            version: 5,
            base: "https://chat.example/scim/u1".into(),
        }
    }

    #[test]
    fn a_group_has_the_shape_of_the_standard() {
        let mut team = team();
        let mut expected = json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"],
            "id": "3",
            "externalId": "00g1",
            "displayName": "The Team",
            "members": [
                {"value": "17", "$ref": "https://chat.example/scim/u1/Users/17", "type": "User"},
            ],
            "meta": {
                "resourceType": "Group",
                "created": "2023-11-14T22:13:20.007Z",
                "location": "https://chat.example/scim/u1/Groups/3",
                "version": "W/\"5\"",
            },
        });
        assert_eq!(Value::Object(group_resource(&team)), expected);
        team.state.external_id = None;
        team.state.members.clear();
        expected.as_object_mut().unwrap().remove("externalId");
        expected["members"] = json!([]);
        assert_eq!(Value::Object(group_resource(&team)), expected);
    }
}
