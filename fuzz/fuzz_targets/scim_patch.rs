//! Whatever JSON is read as a PATCH or as a whole resource, the outcome is a state that can be
//! kept, and the same when it is done twice.

#![no_main]

use eddyline_scim::names::{join, split};
use eddyline_scim::path::{Path, ValueFilter};
use eddyline_scim::{
    GroupPatch, GroupState, Patch, RequestedGroup, RequestedUser, ScimError, ScimType, State,
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|text: &str| {
    let Ok(Value::Object(body)) = serde_json::from_str::<Value>(text) else {
        return;
    };
    match Patch::read(&body) {
        Ok(patch) => patched(&patch, &body),
        Err(error) => check_error(&error),
    }
    match RequestedUser::read(&body) {
        Ok(wanted) => {
            let once = wanted.clone().onto(ada());
            check_state(&once);
            assert_eq!(wanted.onto(once.clone()), once);
        }
        Err(error) => check_error(&error),
    }
    match GroupPatch::read(&body) {
        Ok(patch) => {
            let once = patch.apply(team());
            assert_eq!(patch.apply(once.clone()), once);
        }
        Err(error) => check_error(&error),
    }
    match RequestedGroup::read(&body) {
        Ok(wanted) => {
            let once = wanted.clone().onto(team());
            assert_eq!(wanted.onto(once.clone()), once);
        }
        Err(error) => check_error(&error),
    }
});

fn team() -> GroupState {
    GroupState {
        display_name: "Team".to_owned(),
        external_id: None,
        members: Default::default(),
    }
}

fn patched(patch: &Patch, body: &Map<String, Value>) {
    match patch.apply(ada()) {
        Ok(once) => {
            check_state(&once);
            match patch.apply(once.clone()) {
                Ok(twice) => assert!(
                    twice == once || takes_given_name(&once, body),
                    "{once:?} {twice:?}"
                ),
                Err(error) if error.scim_type == ScimType::NoTarget => {
                    assert!(body.values().any(asks_for_value), "{error:?}");
                }
                Err(error) => assert!(takes_given_name(&once, body), "{error:?}"),
            }
        }
        Err(error) => check_error(&error),
    }
}

fn ada() -> State {
    State {
        user_name: "ada@example.org".to_owned(),
        external_id: Some("00u1".to_owned()),
        name: "Ada King Lovelace".to_owned(),
        email: "ada@example.org".to_owned(),
        nick: "ada".to_owned(),
        active: true,
    }
}

/// Taking the given name away uncovers another, so that it is not the same when it is done twice.
fn takes_given_name(once: &State, body: &Map<String, Value>) -> bool {
    let body = serde_json::to_string(body)
        .unwrap_or_default()
        .to_ascii_lowercase();
    once.name == split("Ada King Lovelace").1 && body.contains("givenname")
}

/// An address that is found by its value is not found again when it has another.
fn asks_for_value(value: &Value) -> bool {
    match value {
        Value::String(text) => is_value_path(text),
        Value::Array(values) => values.iter().any(asks_for_value),
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| is_value_path(key) || asks_for_value(value)),
        _ => false,
    }
}

fn is_value_path(text: &str) -> bool {
    let path = text.parse::<Path>().ok();
    let conditions = path
        .as_ref()
        .and_then(Path::filter)
        .map(ValueFilter::conditions)
        .unwrap_or_default();
    conditions
        .iter()
        .any(|condition| condition.attribute().eq_ignore_ascii_case("value"))
}

fn check_state(state: &State) {
    let (given, family) = split(&state.name);
    assert!(!given.is_empty());
    let name = join(given, family);
    assert_eq!(split(&name), (given, family));
    for text in [&state.user_name, &state.name, &state.email, &state.nick] {
        assert!(!text.contains('\0'));
    }
    assert!(
        !state
            .external_id
            .as_deref()
            .unwrap_or_default()
            .contains('\0')
    );
}

fn check_error(error: &ScimError) {
    assert!(!error.detail.is_empty(), "{error:?}");
}
