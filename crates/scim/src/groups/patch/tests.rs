//! The changes that providers ask for, and those that are refused.

use serde_json::json;

use super::*;

fn team() -> GroupState {
    GroupState {
        display_name: "Team".into(),
        external_id: Some("x".into()),
        members: [UserId(1), UserId(2)].into(),
    }
}

fn read(operations: &Value) -> Result<GroupPatch, ScimError> {
    let body = json!({"Operations": operations});
    GroupPatch::read(body.as_object().unwrap())
}

#[track_caller]
fn patched(operations: &Value) -> GroupState {
    read(operations).expect("a patch").apply(team())
}

#[track_caller]
fn leads_to(operations: &Value, members: &[i64]) {
    let members = members.iter().copied().map(UserId).collect();
    let expected = GroupState { members, ..team() };
    assert_eq!(patched(operations), expected, "{operations}");
}

#[test]
fn members_are_added_in_each_of_the_forms() {
    for operation in [
        json!({"op": "add", "path": "members", "value": [{"value": "3", "display": "Ada"}]}),
        json!({"op": "Add", "path": "members", "value": [{"$ref": null, "value": "3"}]}),
        json!({"op": "add", "path": "members", "value": {"value": "3"}}),
        json!({"op": "add", "path": "members", "value": ["1", "3"]}),
        json!({"op": "Add", "value": {"members": [{"value": "3"}]}}),
        json!({"op": "add", "path": "urn:ietf:params:scim:schemas:core:2.0:Group:Members", "value": [{"value": 3}]}),
    ] {
        leads_to(&json!([operation]), &[1, 2, 3]);
    }
}

#[test]
fn members_are_removed_in_each_of_the_forms() {
    for operation in [
        json!({"op": "remove", "path": "members[value eq \"2\"]"}),
        json!({"op": "Remove", "path": "members[Value eq \"2\"]"}),
        json!({"op": "Remove", "path": "members", "value": [{"$ref": null, "value": "2"}]}),
        json!({"op": "remove", "path": "members", "value": {"value": "2"}}),
        json!({"op": "remove", "path": "members", "value": ["2", "7", "ada"]}),
    ] {
        leads_to(&json!([operation]), &[1]);
    }
    for operation in [
        json!({"op": "remove", "path": "members"}),
        json!({"op": "remove", "path": "members", "value": null}),
        json!({"op": "replace", "path": "members", "value": []}),
        json!({"op": "replace", "path": "members", "value": null}),
    ] {
        leads_to(&json!([operation]), &[]);
    }
    for operation in [
        json!({"op": "remove", "path": "members[value eq \"7\"]"}),
        json!({"op": "remove", "path": "members[value eq \"ada\"]"}),
        json!({"op": "remove", "path": "members", "value": []}),
        json!({"op": "add", "path": "members", "value": []}),
    ] {
        leads_to(&json!([operation]), &[1, 2]);
    }
}

#[test]
fn members_are_replaced_as_a_whole() {
    for operation in [
        json!({"op": "replace", "path": "members", "value": [{"value": "2"}, {"value": "3"}]}),
        json!({"op": "Replace", "value": {"members": [{"value": "3"}, {"value": "2"}]}}),
    ] {
        leads_to(&json!([operation]), &[2, 3]);
    }
}

#[test]
fn operations_apply_in_their_order() {
    let operations = json!([
        {"op": "replace", "path": "members", "value": [{"value": "5"}]},
        {"op": "add", "path": "members", "value": [{"value": "6"}]},
        {"op": "remove", "path": "members[value eq \"5\"]"},
    ]);
    leads_to(&operations, &[6]);
}

#[test]
fn names_are_replaced_with_a_path_and_without() {
    for operation in [
        json!({"op": "Replace", "path": "displayName", "value": "Ops"}),
        json!({"op": "replace", "value": {"id": "3", "displayName": "Ops"}}),
        json!({"op": "add", "value": {"DisplayName": "Ops", "meta": {}, "title": 7, "": 1}}),
    ] {
        let expected = GroupState {
            display_name: "Ops".into(),
            ..team()
        };
        assert_eq!(patched(&json!([operation])), expected, "{operation}");
    }
    for (operation, external_id) in [
        (
            json!({"op": "Add", "path": "externalId", "value": "y"}),
            Some("y"),
        ),
        (json!({"op": "remove", "path": "externalId"}), None),
        (
            json!({"op": "replace", "path": "externalId", "value": null}),
            None,
        ),
    ] {
        let changed = patched(&json!([operation]));
        assert_eq!(changed.external_id.as_deref(), external_id, "{operation}");
    }
}

#[test]
fn what_is_not_kept_is_passed_over() {
    for operation in [
        json!({"op": "add", "path": "members[value eq \"1\"].display", "value": "Ada"}),
        json!({"op": "replace", "path": "urn:example:Extra:owner", "value": "1"}),
        json!({"op": "replace", "value": {"id": "9"}}),
    ] {
        assert_eq!(patched(&json!([operation])), team(), "{operation}");
    }
    let beside = json!([
        {"op": "replace", "path": "title", "value": "x"},
        {"op": "remove", "path": "members[value eq \"1\"]"},
    ]);
    leads_to(&beside, &[2]);
}

#[test]
fn what_cannot_be_is_refused() {
    for (operation, scim_type) in [
        (
            json!({"op": "move", "path": "members"}),
            ScimType::InvalidSyntax,
        ),
        (
            json!({"op": "add", "path": "members"}),
            ScimType::InvalidValue,
        ),
        (json!({"op": "add"}), ScimType::InvalidValue),
        (json!({"op": "add", "value": "Ops"}), ScimType::InvalidValue),
        (
            json!({"op": "add", "path": "members", "value": [{"value": "ada"}]}),
            ScimType::InvalidValue,
        ),
        (
            json!({"op": "add", "path": "members", "value": [{"value": "3", "type": "Group"}]}),
            ScimType::InvalidValue,
        ),
        (json!({"op": "remove"}), ScimType::NoTarget),
        (
            json!({"op": "remove", "path": "displayName"}),
            ScimType::Mutability,
        ),
        (
            json!({"op": "replace", "path": "displayName", "value": null}),
            ScimType::Mutability,
        ),
        (
            json!({"op": "replace", "path": "displayName", "value": 7}),
            ScimType::InvalidValue,
        ),
        (
            json!({"op": "replace", "path": "id", "value": "9"}),
            ScimType::Mutability,
        ),
        (
            json!({"op": "replace", "path": "title", "value": "x"}),
            ScimType::InvalidPath,
        ),
        (
            json!({"op": "replace", "path": "members.value", "value": "1"}),
            ScimType::InvalidPath,
        ),
        (
            json!({"op": "replace", "path": "members[value eq \"1\"]", "value": {"value": "2"}}),
            ScimType::Mutability,
        ),
        (
            json!({"op": "remove", "path": "members[type eq \"User\"]"}),
            ScimType::InvalidFilter,
        ),
        (
            json!({"op": "remove", "path": "members[value eq true]"}),
            ScimType::InvalidFilter,
        ),
        (
            json!({"op": "replace", "value": {"displayName": "a", "displayname": "b"}}),
            ScimType::InvalidSyntax,
        ),
    ] {
        let error = read(&json!([operation])).expect_err(&operation.to_string());
        assert_eq!(error.scim_type, scim_type, "{operation}");
    }
    let many = |count: usize| {
        let one = json!({"op": "remove", "path": "members[value eq \"9\"]"});
        read(&Value::from(vec![one; count]))
    };
    assert!(many(MAX_GROUP_OPERATIONS).is_ok());
    assert!(many(MAX_GROUP_OPERATIONS + 1).is_err());
    assert!(many(0).is_err());
}
