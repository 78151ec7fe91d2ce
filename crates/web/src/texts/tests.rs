use std::collections::BTreeSet;

use super::*;

/// Each language with its file.
fn files() -> impl Iterator<Item = (Language, &'static str)> {
    Language::ALL
        .into_iter()
        .map(|language| (language, file(language)))
}

/// The texts of a file by their keys, such as `row.edited`. A plural has one for each form.
fn leaves(file: &str) -> Vec<(String, String)> {
    fn walk(key: &str, value: &Value, found: &mut Vec<(String, String)>) {
        let below = |name: &str| match key {
            "" => name.to_owned(),
            _ => format!("{key}.{name}"),
        };
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    walk(&below(name), value, found);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    walk(&below(&at.to_string()), item, found);
                }
            }
            Value::String(text) => found.push((key.to_owned(), text.clone())),
            other => panic!("{key}: {other} is no text"),
        }
    }
    let mut found = Vec::new();
    walk("", &serde_json::from_str(file).unwrap(), &mut found);
    found
}

/// The names of placeholders in a text.
fn placeholders(text: &str) -> BTreeSet<&str> {
    let parts = text.split('{').skip(1);
    parts
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name)
        .collect()
}

/// The key without the form of a plural.
fn text_key(key: &str) -> &str {
    let forms = ["zero", "one", "two", "few", "many", "other"];
    match key.rsplit_once('.') {
        Some((text, form)) if forms.contains(&form) => text,
        _ => key,
    }
}

#[test]
fn every_language_has_the_same_texts_with_the_same_placeholders() {
    let of = |file| {
        let leaves = leaves(file);
        let texts = leaves.iter().map(|(key, text)| {
            let names: BTreeSet<String> =
                placeholders(text).into_iter().map(String::from).collect();
            // A form may say its number in words.
            let names = names
                .into_iter()
                .filter(|name| text_key(key) == key || name != "n");
            (text_key(key).to_owned(), names.collect())
        });
        texts.collect::<BTreeSet<(String, Vec<String>)>>()
    };
    let english = of(file(Language::English));
    for (language, other) in files() {
        assert_eq!(of(other), english, "{language:?}");
    }
}

#[test]
fn every_language_has_the_forms_that_its_numbers_take() {
    for (language, file) in files() {
        let rules = rules(language.tag()).unwrap();
        let needed: BTreeSet<String> = (0..1000)
            .map(|n: usize| format!("{:?}", rules.select(n).unwrap()).to_lowercase())
            .collect();
        let leaves = leaves(file);
        let plurals: BTreeSet<&str> = leaves
            .iter()
            .map(|(key, _)| key.as_str())
            .filter(|key| text_key(key) != *key)
            .map(text_key)
            .collect();
        assert!(!plurals.is_empty());
        for plural in plurals {
            let forms: BTreeSet<String> = leaves
                .iter()
                .filter_map(|(key, _)| key.strip_prefix(plural)?.strip_prefix('.'))
                .map(str::to_owned)
                .collect();
            assert_eq!(forms, needed, "{plural} in {language:?}");
        }
    }
}

#[test]
fn every_file_is_read_and_has_no_empty_text() {
    for (language, file) in files() {
        assert_eq!(Texts::in_language(language).language, language);
        for (key, text) in leaves(file) {
            assert!(!text.trim().is_empty(), "{key} in {language:?}");
            assert!(!text.contains('<'), "{key} in {language:?} has markup");
        }
    }
}

#[test]
fn a_language_with_other_texts_is_refused() {
    let (language, file) = (Language::English, file(Language::English));
    let change = |change: &dyn Fn(&mut Value)| {
        let mut all: Value = serde_json::from_str(file).unwrap();
        change(&mut all);
        Texts::parse(language, &all.to_string()).map(|_| ())
    };
    assert_eq!(change(&|_| ()), Ok(()));
    assert!(change(&|all| all["tools"]["else"] = "x".into()).is_err());
    assert!(change(&|all| all["tools"]["edit"] = Value::Null).is_err());
    assert!(
        change(&|all| {
            all.as_object_mut().unwrap().remove("tools");
        })
        .is_err()
    );
    assert!(
        change(&|all| {
            all.as_object_mut().unwrap().remove("script");
        })
        .is_err()
    );
}

/// What a module of the script calls between `begin` and the next `'`.
fn keys_in(text: &str, begin: &str) -> BTreeSet<String> {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_$.".contains(letter);
    let calls = text
        .match_indices(begin)
        .filter(|(at, _)| !text[..*at].ends_with(is_letter));
    calls
        .map(|(at, _)| &text[at + begin.len()..])
        .filter_map(|rest| rest.split_once('\''))
        .map(|(key, _)| key.to_owned())
        .collect()
}

/// The texts that the modules of the script name: by `t('row.edited')`, and in the service worker
/// by `TEXTS.sent_file`.
fn used_by_script() -> BTreeSet<String> {
    let scripts = crate::pages::assets::SCRIPTS.iter().map(|(_, text)| *text);
    let mut used: BTreeSet<String> = scripts
        .flat_map(|text| {
            keys_in(text, "t('")
                .into_iter()
                .chain(keys_in(text, "list('"))
        })
        .collect();
    let worker = include_str!("../../assets/app/service-worker.js");
    for (at, begin) in worker.match_indices("TEXTS.") {
        let name = worker[at + begin.len()..]
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        used.extend(name.take(1).map(|name| format!("script.notice.{name}")));
    }
    used
}

#[test]
fn the_script_uses_the_texts_that_it_has() {
    let has: BTreeSet<String> = leaves(file(Language::English))
        .iter()
        .map(|(key, _)| text_key(key))
        // A list is one text.
        .map(|key| key.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
        .map(str::to_owned)
        .collect();
    let used = used_by_script();
    let is_shared = |key: &&String| {
        ["script.", "both.", "locale."]
            .iter()
            .any(|area| key.starts_with(area))
    };
    let missing: Vec<_> = used
        .iter()
        .filter(|key| !has.contains(*key) || !is_shared(key))
        .collect();
    assert!(
        missing.is_empty(),
        "the script uses texts that do not exist: {missing:?}"
    );
    let spare: Vec<_> = has
        .iter()
        .filter(is_shared)
        .filter(|key| !used.contains(*key))
        .collect();
    assert!(spare.is_empty(), "no module of the script uses {spare:?}");
}

#[test]
fn keys_are_found_in_calls_only() {
    let text = "t('a.b', { n }) + at('c') + x.t('d') + [t('e')]";
    assert_eq!(
        keys_in(text, "t('").into_iter().collect::<Vec<_>>(),
        ["a.b", "e"]
    );
}
