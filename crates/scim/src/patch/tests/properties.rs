//! What holds for all patches.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ada, read};
use crate::State;

fn a_word() -> impl Strategy<Value = Value> {
    "([A-Za-zéß王🦩]{1,5}|[ ]){0,4}".prop_map(Value::from)
}

fn a_name() -> impl Strategy<Value = String> {
    "[A-Zé王]{1,2}([ ]{1,2}[A-Zé王]{1,2}){0,3}"
}

/// Operations whose outcome depends on nothing that they change themselves: no filter by value, and
/// no given name taken away, which uncovers another.
fn an_operation() -> impl Strategy<Value = Value> {
    let setting = prop::sample::select(vec![
        "userName",
        "externalId",
        "nickName",
        "displayName",
        "name.formatted",
        "name.familyName",
        "emails",
        "emails[type eq \"work\"].value",
        "title",
    ]);
    let removal = prop::sample::select(vec!["externalId", "nickName", "name.familyName", "title"]);
    prop_oneof![
        (setting.clone(), a_word())
            .prop_map(|(path, value)| json!({"op": "add", "path": path, "value": value})),
        (setting, a_word()).prop_map(|(path, value)| json!({"op": "replace", "value": {path: value}})),
        a_name().prop_map(|given| json!({"op": "replace", "path": "name.givenName", "value": given})),
        (a_name(), a_word()).prop_map(|(given, family)| {
            json!({"op": "replace", "path": "name", "value": {"givenName": given, "familyName": family}})
        }),
        any::<bool>().prop_map(|flag| json!({"op": "replace", "path": "active", "value": flag})),
        removal.prop_map(|path| json!({"op": "remove", "path": path})),
    ]
}

proptest! {
    #[test]
    fn a_patch_applied_twice_changes_nothing_more(
        operations in prop::collection::vec(an_operation(), 1..6),
        name in a_name(),
    ) {
        if let Ok(patch) = read(&json!(operations))
            && let Ok(once) = patch.apply(State { name, ..ada() })
        {
            prop_assert_eq!(patch.apply(once.clone()), Ok(once));
        }
    }

    #[test]
    fn a_given_name_that_was_set_is_what_the_name_begins_with(name in a_name(), given in a_name()) {
        let operations = json!([{"op": "replace", "path": "name.givenName", "value": given}]);
        let state = read(&operations)?.apply(State { name, ..ada() })?;
        prop_assert!(state.name.starts_with(&given));
    }
}
