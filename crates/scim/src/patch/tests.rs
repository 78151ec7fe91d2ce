//! What providers send, and what becomes of it.

mod properties;

use serde_json::json;

use super::*;

fn ada() -> State {
    State {
        user_name: "ada@example.org".into(),
        external_id: Some("00u1".into()),
        name: "Ada King Lovelace".into(),
        email: "ada@example.org".into(),
        nick: "ada".into(),
        active: true,
    }
}

fn read(operations: &Value) -> Result<Patch, ScimError> {
    Patch::read(json!({ "Operations": operations }).as_object().unwrap())
}

/// What becomes of Ada.
fn patched(operations: &Value) -> Result<State, ScimError> {
    read(operations)?.apply(ada())
}

fn set(path: &str, value: &Value) -> Result<State, ScimError> {
    let [added, replaced] =
        ["add", "replace"].map(|op| patched(&json!([{"op": op, "path": path, "value": value}])));
    assert_eq!(added, replaced, "{path}: {value}");
    replaced
}

fn removed(path: &str) -> Result<State, ScimError> {
    patched(&json!([{"op": "remove", "path": path}]))
}

/// What is wrong with a PATCH, and with which attribute.
fn wrong(result: Result<State, ScimError>) -> (ScimType, String) {
    let error = result.expect_err("this should have been refused");
    (error.scim_type, error.field.unwrap_or_default())
}

#[test]
fn single_values_are_added_and_replaced_alike() {
    for (path, value, expected) in [
        (
            "userName",
            json!("a@b"),
            State {
                user_name: "a@b".into(),
                ..ada()
            },
        ),
        (
            "externalId",
            json!("x"),
            State {
                external_id: Some("x".into()),
                ..ada()
            },
        ),
        (
            "nickName",
            json!("countess"),
            State {
                nick: "countess".into(),
                ..ada()
            },
        ),
        (
            "displayName",
            json!(" Ada L "),
            State {
                name: "Ada L".into(),
                ..ada()
            },
        ),
        (
            "name.formatted",
            json!("Ada L"),
            State {
                name: "Ada L".into(),
                ..ada()
            },
        ),
        (
            "name.givenName",
            json!("Eve"),
            State {
                name: "Eve King Lovelace".into(),
                ..ada()
            },
        ),
        (
            "name.familyName",
            json!("Byron"),
            State {
                name: "Ada Byron".into(),
                ..ada()
            },
        ),
        (
            "active",
            json!(false),
            State {
                active: false,
                ..ada()
            },
        ),
        (
            "active",
            json!("False"),
            State {
                active: false,
                ..ada()
            },
        ),
        ("active", json!("TRUE"), ada()),
        (
            "emails.value",
            json!("a@b"),
            State {
                email: "a@b".into(),
                ..ada()
            },
        ),
    ] {
        let urn = format!("{USER_SCHEMA}:{path}");
        for path in [
            path.to_owned(),
            path.to_uppercase(),
            path.to_lowercase(),
            urn,
        ] {
            assert_eq!(
                set(&path, &value).as_ref(),
                Ok(&expected),
                "{path}: {value}"
            );
        }
    }
}

#[test]
fn an_email_is_set_in_each_form() {
    let expected = State {
        email: "a@b".into(),
        ..ada()
    };
    for (path, value) in [
        (
            "emails",
            json!([{"value": "x@y", "type": "home"}, {"value": "a@b", "primary": true}]),
        ),
        (
            "emails",
            json!([{"value": "x@y", "type": "work"}, {"value": "a@b", "primary": true}]),
        ),
        ("emails", json!(["a@b", "c@d"])),
        ("emails", json!({"VALUE": "a@b"})),
        ("emails", json!("a@b")),
        (
            r#"emails[type eq "work"]"#,
            json!({"value": "a@b", "primary": true}),
        ),
        (r#"emails[type eq "work"]"#, json!([{"value": "a@b"}])),
        (r#"emails[type eq "work"].value"#, json!("a@b")),
        (r#"emails[primary eq true].value"#, json!("a@b")),
        (r#"emails[primary eq "True"].value"#, json!("a@b")),
        (
            r#"emails[TYPE eq "Work" and primary eq true].Value"#,
            json!("a@b"),
        ),
        (r#"emails[value eq "ADA@example.org"].value"#, json!("a@b")),
    ] {
        assert_eq!(set(path, &value).as_ref(), Ok(&expected), "{path}: {value}");
    }
}

#[test]
fn a_filter_that_does_not_match_the_one_address_has_no_target() {
    for path in [
        r#"emails[type eq "home"]"#,
        r#"emails[primary eq false]"#,
        r#"emails[primary eq "False"]"#,
        r#"emails[value eq "eve@example.org"]"#,
        r#"emails[type eq "work" and value eq "eve@example.org"]"#,
        r#"emails[display eq "Ada"]"#,
        r#"emails[type eq true]"#,
    ] {
        assert_eq!(
            wrong(set(path, &json!({"value": "a@b"}))).0,
            ScimType::NoTarget,
            "{path}"
        );
        assert_eq!(wrong(removed(path)).0, ScimType::NoTarget, "{path}");
        let path = format!("{path}.value");
        assert_eq!(
            wrong(set(&path, &json!("a@b"))).0,
            ScimType::NoTarget,
            "{path}"
        );
    }
}

#[test]
fn parts_of_a_name_change_only_themselves() {
    let name = |operations: Value| patched(&operations).map(|state| state.name);
    let set = |part: &str, value: &str| {
        name(json!([{"op": "replace", "path": format!("name.{part}"), "value": value}]))
    };
    assert_eq!(
        set("givenName", "Mary Ann").as_deref(),
        Ok("Mary Ann King Lovelace")
    );
    assert_eq!(
        set("givenName", "Ada King").as_deref(),
        Ok("Ada King Lovelace")
    );
    assert_eq!(set("familyName", "").as_deref(), Ok("Ada"));
    assert_eq!(set("givenName", " ").as_deref(), Ok("King Lovelace"));

    let both =
        json!([{"op": "add", "path": "name", "value": {"GivenName": "Eve", "familyName": "B"}}]);
    assert_eq!(name(both).as_deref(), Ok("Eve B"));
    let one =
        json!([{"op": "replace", "path": "name", "value": {"familyName": "B", "middleName": "X"}}]);
    assert_eq!(name(one).as_deref(), Ok("Ada B"));
    let apart = json!([
        {"op": "replace", "path": "name.givenName", "value": "Mary Ann"},
        {"op": "replace", "path": "name.familyName", "value": "Smith"},
    ]);
    assert_eq!(name(apart).as_deref(), Ok("Mary Ann Smith"));
}

#[test]
fn parts_of_a_name_win_over_its_whole_in_any_order() {
    let display = json!({"op": "replace", "path": "displayName", "value": "Byron, Eve (Poets)"});
    let formatted = json!({"op": "replace", "path": "name.formatted", "value": "Dr. Eve Byron"});
    let given = json!({"op": "replace", "path": "name.givenName", "value": "Eve"});
    let family = json!({"op": "replace", "path": "name.familyName", "value": "Byron"});
    for (operations, expected) in [
        (json!([display, given, family]), "Eve Byron"),
        (json!([given, display, family, formatted]), "Eve Byron"),
        (json!([given, display]), "Eve King Lovelace"),
        (json!([family, formatted]), "Ada Byron"),
        (json!([formatted, display]), "Dr. Eve Byron"),
        (json!([display, formatted]), "Dr. Eve Byron"),
        (json!([display]), "Byron, Eve (Poets)"),
    ] {
        assert_eq!(patched(&operations).unwrap().name, expected, "{operations}");
    }
}

#[test]
fn what_is_optional_can_be_removed() {
    for (path, expected) in [
        (
            "externalId",
            State {
                external_id: None,
                ..ada()
            },
        ),
        (
            "nickName",
            State {
                nick: String::new(),
                ..ada()
            },
        ),
        (
            "name.familyName",
            State {
                name: "Ada".into(),
                ..ada()
            },
        ),
        (
            "name.givenName",
            State {
                name: "King Lovelace".into(),
                ..ada()
            },
        ),
    ] {
        assert_eq!(removed(path).as_ref(), Ok(&expected), "{path}");
        assert_eq!(set(path, &Value::Null).as_ref(), Ok(&expected), "{path}");
    }
}

#[test]
fn what_is_required_cannot_be_removed() {
    for (path, field) in [
        ("userName", "userName"),
        ("active", "active"),
        ("displayName", "displayName"),
        ("name", "name"),
        ("name.formatted", "name.formatted"),
        ("emails", "emails"),
        ("emails.value", "emails"),
        (r#"emails[type eq "work"]"#, "emails"),
        (r#"emails[type eq "work"].value"#, "emails"),
    ] {
        let expected = (ScimType::Mutability, field.to_owned());
        assert_eq!(wrong(removed(path)), expected, "{path}");
        assert_eq!(wrong(set(path, &Value::Null)), expected, "{path}");
    }
    assert_eq!(
        wrong(set("emails", &json!([]))),
        (ScimType::Mutability, "emails".into())
    );
    let both = json!([
        {"op": "remove", "path": "name.givenName"},
        {"op": "remove", "path": "name.familyName"},
    ]);
    assert_eq!(
        wrong(patched(&both)),
        (ScimType::InvalidValue, "name".into())
    );
    assert_eq!(
        wrong(set("displayName", &json!(" "))),
        (ScimType::InvalidValue, "name".into())
    );
}

#[test]
fn a_wrong_value_names_its_attribute() {
    for (path, value, field) in [
        ("userName", json!(7), "userName"),
        ("userName", json!("a\0"), "userName"),
        ("externalId", json!([]), "externalId"),
        ("nickName", json!({}), "nickName"),
        ("displayName", json!(true), "displayName"),
        ("active", json!("yes"), "active"),
        ("active", json!(0), "active"),
        ("name", json!("Ada"), "name"),
        ("name", json!({"familyName": 7}), "name.familyName"),
        ("name.givenName", json!(7), "name.givenName"),
        ("emails", json!(7), "emails"),
        ("emails", json!([{"value": 7}]), "emails.value"),
        ("emails.value", json!([]), "emails.value"),
    ] {
        let expected = (ScimType::InvalidValue, field.to_owned());
        assert_eq!(wrong(set(path, &value)), expected, "{path}: {value}");
        if !path.contains('.') {
            let pathless = json!([{"op": "replace", "value": {path: value}}]);
            assert_eq!(wrong(patched(&pathless)), expected, "{pathless}");
        }
    }
}

#[test]
fn without_a_path_each_key_is_one() {
    let enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
    let value = json!({
        "schemas": [USER_SCHEMA],
        "id": "7",
        "meta": {"version": "x"},
        "USERNAME": "eve",
        "name.givenName": "Eve",
        "name": {"familyName": "Byron"},
        "displayName": "E. B.",
        "emails[type eq \"work\"].value": "eve@b",
        format!("{USER_SCHEMA}:nickName"): "eve",
        "active": "False",
        "title": "Poet",
        "no such thing": 1,
        "nosuch": {"thing": 1},
        enterprise: {"department": "Poems"},
        format!("{enterprise}:manager"): {"value": "1"},
        "password": "secret",
        "groups": [],
    });
    let expected = State {
        user_name: "eve".into(),
        name: "Eve Byron".into(),
        email: "eve@b".into(),
        nick: "eve".into(),
        active: false,
        ..ada()
    };
    for op in ["add", "replace", "Replace"] {
        assert_eq!(
            patched(&json!([{"op": op, "value": value}])).as_ref(),
            Ok(&expected)
        );
        assert_eq!(
            patched(&json!([{"op": op, "path": "", "value": value}])).as_ref(),
            Ok(&expected)
        );
        let nested = json!([{"op": op, "value": {USER_SCHEMA: value}}]);
        assert_eq!(patched(&nested).as_ref(), Ok(&expected));
    }
    for (value, kind) in [
        (json!("a"), ScimType::InvalidValue),
        (json!([{}]), ScimType::InvalidValue),
        (json!(null), ScimType::InvalidValue),
        (
            json!({"active": true, "Active": true}),
            ScimType::InvalidSyntax,
        ),
        (
            json!({"name": {"givenName": "a", "givenname": "b"}}),
            ScimType::InvalidSyntax,
        ),
        (
            json!({"emails[type ne \"work\"].value": "a@b", "active": true}),
            ScimType::InvalidFilter,
        ),
        (
            json!({USER_SCHEMA: {USER_SCHEMA: {"active": true}}}),
            ScimType::InvalidSyntax,
        ),
    ] {
        let operations = json!([{"op": "replace", "value": value}]);
        assert_eq!(wrong(patched(&operations)).0, kind, "{value}");
    }
}

#[test]
fn what_is_not_kept_changes_nothing() {
    let unkept = [
        "title",
        "userType",
        "preferredLanguage",
        "locale",
        "timezone",
        "department",
        "password",
        "schemas",
        "name.middleName",
        "emails.type",
        "emails[type eq \"work\"].primary",
        "phoneNumbers[type eq \"mobile\"].value",
        "addresses[type eq \"work\"].streetAddress",
        "roles[primary eq \"True\"].value",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value",
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
        "urn:example:our:1.0:User:shoeSize",
    ];
    for path in unkept {
        for operation in [
            json!({"op": "replace", "path": path, "value": "x"}),
            json!({"op": "remove", "path": path}),
            json!({"op": "add", "value": {path: "x"}}),
        ] {
            assert_eq!(patched(&json!([operation])), Ok(ada()), "{operation}");
            let active = json!({"op": "replace", "path": "active", "value": true});
            assert_eq!(
                patched(&json!([operation, active])),
                Ok(ada()),
                "{operation}"
            );
        }
    }
    for nothing in [
        json!({}),
        json!({"nosuch": 1}),
        json!({"id": "1"}),
        json!({"name": {}}),
    ] {
        let operations = json!([{"op": "replace", "value": nothing}]);
        assert_eq!(patched(&operations), Ok(ada()), "{nothing}");
    }
    let only_a_type = json!([{"op": "add", "path": "emails", "value": [{"type": "work"}]}]);
    assert_eq!(patched(&only_a_type), Ok(ada()));
}

#[test]
fn a_path_that_names_nothing_is_ignored_beside_others_and_refused_alone() {
    for path in [
        "nosuch",
        "name.nosuch",
        "emails.nosuch",
        "userName.value",
        "active[value eq \"x\"]",
        "urn:ietf:params:scim:schemas:core:2.0:User:nosuch",
        "urn:ietf:params:scim:schemas:core:2.0:User:department",
    ] {
        let operation = json!({"op": "replace", "path": path, "value": "x"});
        assert_eq!(
            wrong(patched(&json!([operation]))).0,
            ScimType::InvalidPath,
            "{path}"
        );
        let active = json!({"op": "replace", "path": "active", "value": false});
        assert!(
            !patched(&json!([operation, active])).unwrap().active,
            "{path}"
        );
    }
    let home = json!({"op": "replace", "path": "emails[type eq \"home\"].value", "value": "x@y"});
    let private = set("emails", &json!([{"type": "home", "value": "x@y"}]));
    assert_eq!(private, Ok(ada()), "a private address is no other");
    let nick = json!({"op": "replace", "path": "nickName", "value": "countess"});
    let both = patched(&json!([home, nick])).unwrap();
    assert_eq!((both.nick.as_str(), both.email), ("countess", ada().email));
}

#[test]
fn a_path_that_cannot_be_read_or_set_is_refused_whatever_stands_beside_it() {
    for (path, kind) in [
        ("no such", ScimType::InvalidPath),
        ("emails[type ne \"work\"].value", ScimType::InvalidFilter),
        ("id", ScimType::Mutability),
        ("meta.created", ScimType::Mutability),
        ("groups", ScimType::Mutability),
        ("groups[value eq \"1\"]", ScimType::Mutability),
    ] {
        for operation in [
            json!({"op": "replace", "path": path, "value": "x"}),
            json!({"op": "remove", "path": path}),
        ] {
            let active = json!({"op": "replace", "path": "active", "value": false});
            assert_eq!(
                wrong(patched(&json!([active, operation]))).0,
                kind,
                "{operation}"
            );
        }
    }
}

#[test]
fn operations_apply_in_their_order() {
    let operations = json!([
        {"op": "replace", "path": "emails", "value": "a@b"},
        {"op": "replace", "path": "emails[value eq \"a@b\"].value", "value": "c@d"},
        {"op": "remove", "path": "externalId"},
        {"op": "add", "path": "externalId", "value": "x"},
        {"op": "add", "value": {"active": false}},
        {"op": "add", "value": {"active": true}},
    ]);
    let expected = State {
        email: "c@d".into(),
        external_id: Some("x".into()),
        ..ada()
    };
    assert_eq!(patched(&operations), Ok(expected));
}

#[test]
fn a_body_that_is_no_patch_is_refused() {
    let active = json!({"op": "replace", "path": "active", "value": true});
    for body in [
        json!({}),
        json!({"Operations": null}),
        json!({"Operations": {}}),
        json!({"Operations": []}),
        json!({"Operations": vec![active.clone(); MAX_OPERATIONS + 1]}),
        json!({"Operations": [active], "operations": [active]}),
        json!({"Operations": ["replace"]}),
        json!({"Operations": [{}]}),
        json!({"Operations": [{"op": "move", "path": "active", "value": true}]}),
        json!({"Operations": [{"op": 7, "path": "active", "value": true}]}),
        json!({"Operations": [{"op": "add", "Op": "add", "path": "active", "value": true}]}),
    ] {
        let error = Patch::read(body.as_object().unwrap()).unwrap_err();
        assert_eq!(error.scim_type, ScimType::InvalidSyntax, "{body}");
    }
    let refused = |operation: Value| wrong(patched(&json!([operation]))).0;
    assert_eq!(refused(json!({"op": "remove"})), ScimType::NoTarget);
    assert_eq!(
        refused(json!({"op": "remove", "path": ""})),
        ScimType::NoTarget
    );
    assert_eq!(
        refused(json!({"op": "add", "path": "active"})),
        ScimType::InvalidValue
    );
    assert_eq!(refused(json!({"op": "add"})), ScimType::InvalidValue);
    assert_eq!(
        refused(json!({"op": "add", "path": 7, "value": 1})),
        ScimType::InvalidValue
    );
}

#[test]
fn names_in_the_body_have_any_case_and_schemas_may_be_missing() {
    let body = json!({
        "SCHEMAS": "anything",
        "OPERATIONS": [{"OP": "Replace", "Path": "ACTIVE", "VALUE": "False"}],
    });
    let patch = Patch::read(body.as_object().unwrap()).unwrap();
    assert_eq!(
        patch.apply(ada()),
        Ok(State {
            active: false,
            ..ada()
        })
    );
    let most = vec![json!({"op": "add", "path": "active", "value": false}); MAX_OPERATIONS];
    assert!(read(&json!(most)).is_ok());
}
