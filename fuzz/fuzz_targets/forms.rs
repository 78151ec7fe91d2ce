//! A form that is read at all stays within its bounds, and field by field makes the same object.

#![no_main]

use eddyline_wire::forms::{Form, MAX_DEPTH, MAX_PAIRS, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|form: &[u8]| {
    match parse(form) {
        Ok(object) => {
            let mut values = 0;
            count(&Value::Object(object), 0, &mut values);
            assert!(values <= MAX_PAIRS, "{values} values");
        }
        Err(error) => assert!(error.field.chars().count() <= 100, "{error}"),
    }

    // Without escapes both ways of reading are the same.
    let plain = |byte: &u8| !matches!(byte, b'%' | b'+');
    if let Ok(text) = std::str::from_utf8(form)
        && form.iter().all(plain)
    {
        let mut by_field = Form::new();
        let added = text.split('&').filter(|pair| !pair.is_empty()).try_for_each(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            by_field.add(name, value.to_owned())
        });
        assert_eq!(added.map(|()| by_field.finish()), parse(form));
    }
});

/// Counts the texts, and checks how deep they are.
fn count(value: &Value, depth: usize, values: &mut usize) {
    assert!(depth <= MAX_DEPTH, "{depth} deep");
    match value {
        Value::String(_) => *values += 1,
        Value::Array(list) => list.iter().for_each(|value| count(value, depth + 1, values)),
        Value::Object(object) => object.values().for_each(|value| count(value, depth + 1, values)),
        other => panic!("a form has no {other}"),
    }
}
