use crate::NUMBER_TOO_LARGE;
use eddyline_model::{MessageId, UserId};
use serde_json::json;

use super::*;

fn params(body: Value) -> Params {
    match body {
        Value::Object(map) => Params::merge(Map::new(), map),
        other => panic!("not an object: {other}"),
    }
}

/// What a getter answers, and the mistakes it noted for the parameter `x`.
fn read<T>(value: Value, get: impl FnOnce(&mut ParamReader<'_>) -> T) -> (T, Vec<String>) {
    let params = Params(Map::from_iter([("x".to_owned(), value)]));
    let mut reader = params.reader();
    let answer = get(&mut reader);
    let mistakes = reader
        .finish()
        .err()
        .and_then(|mut invalid| invalid.errors.remove("x"));
    (answer, mistakes.unwrap_or_default())
}

fn mistake<T>(value: Value, get: impl FnOnce(&mut ParamReader<'_>) -> T) -> String {
    read(value, get).1.join("; ")
}

#[test]
fn the_body_wins_over_the_query() {
    let map = |value: Value| value.as_object().cloned().unwrap_or_default();
    let params = Params::merge(
        map(json!({"a": "1", "b": "2"})),
        map(json!({"b": "3", "c": null})),
    );
    let mut reader = params.reader();
    assert_eq!(reader.number_in("a", 0..=9, 0), 1);
    assert_eq!(reader.number_in("b", 0..=9, 0), 3);
    assert!(params.has("a") && !params.has("c") && !params.has("d"));
}

#[test]
fn all_mistakes_are_told_at_once() {
    let params = params(json!({"limit": 0, "open": "yes"}));
    let mut reader = params.reader();
    reader.required_text("content", 1..=8096);
    reader.opt_bool("open");
    reader.number_in("limit", 1..=100, 30);
    reader.error("flow", "is archived");
    let invalid = reader.finish().expect_err("mistakes");
    assert_eq!(
        serde_json::to_value(&invalid).expect("JSON"),
        json!({"errors": {
            "content": ["is required"],
            "flow": ["is archived"],
            "limit": ["must be a whole number from 1 to 100"],
            "open": ["must be true or false"],
        }})
    );
}

#[test]
fn an_absent_or_null_parameter_is_no_mistake_unless_required() {
    for params in [params(json!({})), params(json!({"x": null}))] {
        let mut reader = params.reader();
        assert_eq!(reader.opt_text("x", 1..=5), None);
        assert_eq!(reader.opt_bool("x"), None);
        assert_eq!(reader.number_in("x", 1..=100, 30), 30);
        assert_eq!(reader.opt_id::<UserId>("x"), None);
        assert_eq!(reader.list_of_text("x"), None);
        assert_eq!(reader.finish(), Ok(()));

        assert_eq!(reader.required_text("x", 1..=5), "");
        assert_eq!(reader.finish(), Err(Invalid::one("x", "is required")));
    }
}

#[test]
fn a_text_is_measured_in_characters() {
    let get = |p: &mut ParamReader<'_>| p.opt_text("x", 2..=3);
    assert_eq!(read(json!("äöü"), get), (Some("äöü".to_owned()), vec![]));
    assert_eq!(
        mistake(json!("äöüß"), get),
        "is too long (maximum is 3 characters)"
    );
    assert_eq!(
        mistake(json!("a"), get),
        "is too short (minimum is 2 characters)"
    );
    assert_eq!(mistake(json!(""), get), "can't be blank");
    assert_eq!(
        read(json!(""), |p| p.opt_text("x", 0..=3)),
        (Some(String::new()), vec![])
    );
}

#[test]
fn a_number_will_do_for_a_text_but_nothing_else() {
    let get = |p: &mut ParamReader<'_>| p.opt_text("x", 1..=30);
    assert_eq!(read(json!(17), get).0.as_deref(), Some("17"));
    for value in [json!(true), json!([]), json!({"a": 1})] {
        assert_eq!(mistake(value, get), "must be a text");
    }
    let large = || json!(2e30);
    assert_eq!(mistake(large(), get), NUMBER_TOO_LARGE);
    assert_eq!(
        mistake(json!([1, large()]), |p| p.list_of_text("x")),
        NUMBER_TOO_LARGE
    );
    assert_eq!(
        mistake(large(), |p| p.opt_id::<MessageId>("x")),
        "is not a valid id"
    );
    assert_eq!(
        mistake(large(), |p| p.opt_bool("x")),
        "must be true or false"
    );
}

#[test]
fn a_nul_is_refused_wherever_it_hides() {
    let nul = "must not contain NUL characters";
    assert_eq!(mistake(json!("a\0b"), |p| p.required_text("x", 1..=5)), nul);
    assert_eq!(mistake(json!(["a", "\0"]), |p| p.list_of_text("x")), nul);
    assert_eq!(
        mistake(json!({"a": [{"b": "\0"}]}), |p| p.value("x").is_some()),
        nul
    );
    assert_eq!(mistake(json!({"\0": 1}), |p| p.value("x").is_some()), nul);
    assert_eq!(mistake(json!("1\0"), |p| p.opt_id::<MessageId>("x")), nul);
}

#[test]
fn truth_has_three_forms() {
    for (value, truth) in [
        (json!(true), true),
        (json!(1), true),
        (json!("1"), true),
        (json!("true"), true),
        (json!(false), false),
        (json!(0), false),
        (json!("0"), false),
        (json!("false"), false),
    ] {
        assert_eq!(read(value, |p| p.opt_bool("x")), (Some(truth), vec![]));
    }
    for value in [
        json!("yes"),
        json!(2),
        json!("TRUE"),
        json!(""),
        json!([]),
        json!(1.0),
    ] {
        assert_eq!(mistake(value, |p| p.opt_bool("x")), "must be true or false");
    }
}

#[test]
fn a_number_out_of_range_is_never_clamped() {
    let get = |p: &mut ParamReader<'_>| p.number_in("x", 1..=100, 30);
    for (value, number) in [(json!(1), 1), (json!("100"), 100), (json!("07"), 7)] {
        assert_eq!(read(value, get), (number, vec![]));
    }
    for value in [
        json!(0),
        json!(101),
        json!("-1"),
        json!("+1"),
        json!(" 1"),
        json!("ten"),
        json!(""),
        json!(1.5),
        json!(true),
        json!("99999999999999999999"),
        json!(u64::MAX),
    ] {
        assert_eq!(mistake(value, get), "must be a whole number from 1 to 100");
    }
    assert_eq!(
        mistake(json!(-1), |p| p.opt_number_in("x", 0..=i64::MAX)),
        "must be a whole number, 0 or more"
    );
}

#[test]
fn an_id_is_read_by_its_type() {
    assert_eq!(
        read(json!("12"), |p| p.required_id("x")).0,
        Ok(MessageId(12))
    );
    assert_eq!(read(json!(12), |p| p.opt_id("x")).0, Some(UserId(12)));
    for value in [
        json!(0),
        json!(-1),
        json!("a"),
        json!(1.5),
        json!([]),
        json!("99999999999999999999"),
    ] {
        let refused = Err(Invalid::one("x", "is not a valid id"));
        assert_eq!(read(value, |p| p.required_id::<MessageId>("x")).0, refused);
    }
}

#[test]
fn a_required_id_tells_the_earlier_mistakes_too() {
    let params = params(json!({}));
    let mut reader = params.reader();
    reader.required_text("content", 1..=10);
    let invalid = reader
        .required_id::<MessageId>("message")
        .expect_err("mistakes");
    assert_eq!(
        invalid.errors.keys().collect::<Vec<_>>(),
        ["content", "message"]
    );
}

#[test]
fn a_list_is_an_array_or_a_text_with_commas() {
    let get = |p: &mut ParamReader<'_>| p.list_of_text("x");
    let of = |texts: &[&str]| {
        Some(
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(read(json!("a, b,,c "), get), (of(&["a", "b", "c"]), vec![]));
    assert_eq!(read(json!(["a,b", 16]), get), (of(&["a,b", "16"]), vec![]));
    assert_eq!(read(json!(16), get), (of(&["16"]), vec![]));
    assert_eq!(read(json!(""), get), (of(&[]), vec![]));
    assert_eq!(read(json!([]), get), (of(&[]), vec![]));
    for value in [
        json!({"a": "b"}),
        json!([["a"]]),
        json!([null]),
        json!(true),
    ] {
        assert_eq!(mistake(value, get), "must be a list of texts");
    }
}

#[test]
fn a_choice_is_one_of_its_words() {
    let get = |p: &mut ParamReader<'_>| p.opt_choice("x", &[("asc", 1), ("desc", -1)]);
    assert_eq!(read(json!("desc"), get), (Some(-1), vec![]));
    assert_eq!(mistake(json!("up"), get), "must be one of: asc, desc");
}
