//! A form that is read at all stays within its bounds, and field by field makes the same object.

#![no_main]

use eddyline_wire::forms::{Bounds, Form, MAX_DEPTH, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|form: &[u8]| {
    match parse(form, Bounds::CHANGE) {
        Ok(object) => {
            let (mut values, mut containers) = (0, 0);
            object
                .values()
                .for_each(|value| count(value, 1, &mut values, &mut containers));
            let Bounds {
                values: most,
                containers: nested,
            } = Bounds::CHANGE;
            assert!(
                values <= most && containers <= nested,
                "{values} values, {containers} containers"
            );
        }
        Err(error) => assert!(error.field.chars().count() <= 100, "{error}"),
    }

    // Without escapes both ways of reading are the same.
    let plain = |byte: &u8| !matches!(byte, b'%' | b'+');
    if let Ok(text) = std::str::from_utf8(form)
        && form.iter().all(plain)
    {
        let mut by_field = Form::new(Bounds::CHANGE);
        let added = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .try_for_each(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                by_field.add(name, value.to_owned())
            });
        assert_eq!(
            added.map(|()| by_field.finish()),
            parse(form, Bounds::CHANGE)
        );
    }
});

/// Counts the values, and the lists and objects among them, and checks how deep they are.
fn count(value: &Value, depth: usize, values: &mut usize, containers: &mut usize) {
    assert!(depth <= MAX_DEPTH, "{depth} deep");
    *values += 1;
    let inner: Vec<&Value> = match value {
        Value::String(_) => return,
        Value::Array(list) => list.iter().collect(),
        Value::Object(object) => object.values().collect(),
        other => panic!("a form has no {other}"),
    };
    *containers += 1;
    inner
        .into_iter()
        .for_each(|value| count(value, depth + 1, values, containers));
}
