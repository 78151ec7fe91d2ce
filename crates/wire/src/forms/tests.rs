use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parsed(text: &str) -> Value {
    match parse(text.as_bytes(), Bounds::CHANGE) {
        Ok(map) => Value::Object(map),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn refused(text: impl AsRef<[u8]>) -> (String, FormProblem) {
    let error = parse(text.as_ref(), Bounds::CHANGE).expect_err("an error");
    (error.field, error.problem)
}

#[test]
fn plain_names_hold_texts() {
    assert_eq!(parsed("a=1&b=two"), json!({"a": "1", "b": "two"}));
    assert_eq!(parsed(""), json!({}));
    assert_eq!(parsed("&&a=1&"), json!({"a": "1"}));
    assert_eq!(
        parsed("a&b=&=c&d=e=f"),
        json!({"a": "", "b": "", "d": "e=f"})
    );
}

#[test]
fn a_repeated_plain_name_gathers_a_list() {
    assert_eq!(
        parsed("a=1&b=two&a=3&a=4"),
        json!({"a": ["1", "3", "4"], "b": "two"})
    );
    assert_eq!(
        parsed("a=1,2&a=3, ,4&a="),
        json!({"a": ["1", "2", "3", "4"]})
    );
    assert_eq!(parsed("a=1&a[]=2,3&a=4"), json!({"a": ["1", "2,3", "4"]}));
    assert_eq!(parsed("a[b]=1&a[b]=2"), json!({"a": {"b": ["1", "2"]}}));
}

#[test]
fn names_and_values_are_decoded() {
    assert_eq!(parsed("a+b=c%20d%26%3D+%2B"), json!({"a b": "c d&= +"}));
    assert_eq!(
        parsed("tags%5B%5D=%C3%A4&x=ä"),
        json!({"tags": ["ä"], "x": "ä"})
    );
}

#[test]
fn empty_brackets_make_a_list() {
    assert_eq!(parsed("a[]=1"), json!({"a": ["1"]}));
    assert_eq!(parsed("a[]=1&a[]=2&a[]="), json!({"a": ["1", "2", ""]}));
    assert_eq!(parsed("a[][]=1&a[][]=2"), json!({"a": [["1"], ["2"]]}));
}

#[test]
fn named_brackets_make_an_object() {
    assert_eq!(
        parsed("thread[title]=t&thread[status][color]=red&thread[status][value]=open"),
        json!({"thread": {"title": "t", "status": {"color": "red", "value": "open"}}})
    );
    assert_eq!(
        parsed("a[b][]=1&a[b][]=2&a[0]=3"),
        json!({"a": {"b": ["1", "2"], "0": "3"}})
    );
}

/// Shows: 4.23
#[test]
fn a_repeated_name_starts_the_next_object_of_a_list() {
    assert_eq!(
        parsed("fields[][label]=x&fields[][value]=y&fields[][label]=z"),
        json!({"fields": [{"label": "x", "value": "y"}, {"label": "z"}]})
    );
    assert_eq!(
        parsed("a[][b][c]=1&a[][b][d]=2&a[][b][c]=3"),
        json!({"a": [{"b": {"c": "1", "d": "2"}}, {"b": {"c": "3"}}]})
    );
    assert_eq!(
        parsed("a[][n]=1&a[][t][]=x&a[][t][]=y&a[][n]=2&a[][t][]=z"),
        json!({"a": [{"n": "1", "t": ["x", "y"]}, {"n": "2", "t": ["z"]}]})
    );
}

/// Shows: 4.23
#[test]
fn an_action_of_a_thread_can_be_written_as_a_form() {
    assert_eq!(
        parsed(
            "thread[actions][][@type]=UpdateAction&thread[actions][][name]=Close\
             &thread[actions][][target][urlTemplate]=u&thread[actions][][target][httpMethod]=POST\
             &thread[actions][][@type]=ViewAction&thread[actions][][url]=v"
        ),
        json!({"thread": {"actions": [
            {"@type": "UpdateAction", "name": "Close", "target": {"urlTemplate": "u", "httpMethod": "POST"}},
            {"@type": "ViewAction", "url": "v"},
        ]}})
    );
}

#[test]
fn malformed_brackets_are_part_of_a_plain_name() {
    for name in [
        "a[", "a[b", "a]", "a[b]c", "a[b][", "[]", "[a]", "[", "]", "a[]b", "a[b]]",
    ] {
        assert_eq!(parsed(&format!("{name}=1")), json!({name: "1"}), "{name}");
    }
    assert_eq!(parsed("[a][b]=1"), json!({"[a]": {"b": "1"}}));
}

#[test]
fn forms_that_exclude_each_other_name_the_field() {
    for (text, field) in [
        ("a=1&a[b]=2", "a[b]"),
        ("a[b]=2&a=1", "a"),
        ("a=1&a[][b]=2", "a[][b]"),
        ("a[]=1&a[b]=2", "a[b]"),
        ("a[b]=1&a[]=2", "a[]"),
        ("a[b]=1&a[b][c]=2", "a[b][c]"),
    ] {
        assert_eq!(
            refused(text),
            (field.to_owned(), FormProblem::Clash),
            "{text}"
        );
    }
}

#[test]
fn what_cannot_be_decoded_names_the_field() {
    for text in ["a=%", "a=%4", "a=%zz", "a=1%"] {
        assert_eq!(
            refused(text),
            ("a".to_owned(), FormProblem::Escape),
            "{text}"
        );
    }
    assert_eq!(refused("a%=1"), ("a%".to_owned(), FormProblem::Escape));
    assert_eq!(refused("a=%ff"), ("a".to_owned(), FormProblem::Utf8));
    assert_eq!(refused(b"a=\xff"), ("a".to_owned(), FormProblem::Utf8));
    assert_eq!(
        refused("a%ff=1"),
        ("a\u{fffd}".to_owned(), FormProblem::Utf8)
    );
}

#[test]
fn depth_and_number_are_bounded() {
    let nested = |depth: usize| format!("a{}=1", "[b]".repeat(depth - 1));
    assert!(parse(nested(32).as_bytes(), Bounds::CHANGE).is_ok());
    assert_eq!(refused(nested(33)).1, FormProblem::Depth);
    assert_eq!(refused(nested(100_000)).1, FormProblem::Depth);

    let bounds = Bounds::STRANGER;
    let many = |pair: &str, count: usize| parse(vec![pair; count].join("&").as_bytes(), bounds);
    // The list is a value too.
    assert!(many("a[]=1", 99).is_ok());
    let error = FormError {
        field: "a[]".to_owned(),
        problem: FormProblem::Count(bounds),
    };
    assert_eq!(many("a[]=1", 100), Err(error));
    assert!(many("a=1", 99).is_ok());
    assert!(many("a=1", 100).is_err());
    assert!(many("a=,", 1000).is_ok(), "nothing is added");
}

#[test]
fn every_list_and_object_of_a_name_counts() {
    let bounds = Bounds {
        values: 100,
        containers: 10,
    };
    let nested = |count: usize| {
        (0..count)
            .map(|at| format!("{at}[b][]=1"))
            .collect::<Vec<_>>()
            .join("&")
    };
    assert!(parse(nested(5).as_bytes(), bounds).is_ok());
    assert_eq!(
        parse(nested(6).as_bytes(), bounds).unwrap_err().problem,
        FormProblem::Count(bounds)
    );
    let shared = vec!["a[b][c][]=1"; 50].join("&");
    assert!(
        parse(shared.as_bytes(), bounds).is_ok(),
        "what is there already does not count again"
    );
}

#[test]
fn a_form_is_as_it_was_after_a_field_too_many() {
    let mut form = Form::new(Bounds {
        values: 3,
        containers: 1,
    });
    form.add("a[b]", "1".to_owned()).unwrap();
    for name in ["c[d]", "a[e][f]", "a[]"] {
        assert!(form.add(name, String::new()).is_err(), "{name}");
    }
    form.add("a[e]", "2".to_owned()).unwrap();
    assert!(form.add("g", String::new()).is_err());
    assert_eq!(
        Value::Object(form.finish()),
        json!({"a": {"b": "1", "e": "2"}})
    );
}

#[test]
fn only_the_wanted_parameters_are_read() {
    let text = format!(
        "{}&flow_token=a&%&x=%ff&event[a]=1&flow_token=b",
        "q[a][a]=1&".repeat(1000)
    );
    let found = parse_only(text.as_bytes(), &["flow_token", "event"]).unwrap();
    assert_eq!(
        Value::Object(found),
        json!({"flow_token": ["a", "b"], "event": {"a": "1"}})
    );
    assert!(parse_only(b"flow_token=%ff", &["flow_token"]).is_err());
}

#[test]
fn plain_pairs_are_bounded() {
    assert_eq!(
        pairs("a&".repeat(100).as_bytes()).map(|pairs| pairs.len()),
        Some(100)
    );
    assert_eq!(pairs("a&".repeat(101).as_bytes()), None);
}

#[test]
fn fields_can_be_added_one_by_one() {
    let mut form = Form::new(Bounds::CHANGE);
    for (name, value) in [("a[][b]", "1%20+"), ("a[][b]", "2"), ("", "nobody")] {
        form.add(name, value.to_owned()).unwrap();
    }
    let error = form.add("a[b]", "3".to_owned()).unwrap_err();
    assert_eq!(
        error,
        FormError {
            field: "a[b]".to_owned(),
            problem: FormProblem::Clash
        }
    );
    assert_eq!(
        Value::Object(form.finish()),
        json!({"a": [{"b": "1%20+"}, {"b": "2"}]})
    );
}

/// Writes a value under a name, as the clients do.
fn write(name: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                write(&format!("{name}[{key}]"), inner, out);
            }
        }
        Value::Array(list) => {
            for inner in list {
                write(&format!("{name}[]"), inner, out);
            }
        }
        Value::String(text) => {
            let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            out.push(format!("{}={}", encode(name), encode(text)));
        }
        other => unreachable!("a form has no {other}"),
    }
}

fn any_form_value() -> impl Strategy<Value = Value> {
    let text = any::<String>().prop_map(Value::String);
    text.prop_recursive(4, 32, 5, |inner| {
        let texts = vec(any::<String>().prop_map(Value::String), 1..5).prop_map(Value::Array);
        // Objects of a list can be told apart when all have their first name.
        let objects = vec(any::<String>(), 1..5).prop_map(|texts| {
            texts
                .into_iter()
                .map(|text| json!({"label": text.as_str(), "value": text}))
                .collect()
        });
        let object = btree_map("[^\\[\\]]{1,8}", inner, 1..5)
            .prop_map(|map| Value::Object(map.into_iter().collect()));
        prop_oneof![texts, objects, object]
    })
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(bytes: Vec<u8>, text in "[ab%5BD&=+\\[\\]]{0,60}") {
        let _ = parse(&bytes, Bounds::CHANGE);
        let _ = parse(text.as_bytes(), Bounds::CHANGE);
    }

    /// Shows: 4.23
    #[test]
    fn an_object_written_as_a_form_comes_back(
        map in btree_map("[^\\[\\]]{1,8}", any_form_value(), 0..6),
    ) {
        let mut pairs = Vec::new();
        for (key, value) in &map {
            write(key, value, &mut pairs);
        }
        let object = Value::Object(map.into_iter().collect());
        prop_assert_eq!(parsed(&pairs.join("&")), object);
    }
}
