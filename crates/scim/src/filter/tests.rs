//! What is read as a filter, and what is not.

use proptest::prelude::*;

use super::*;

/// The terms as they are written, or what is wrong.
fn read(text: &str) -> Result<String, String> {
    let filter = text.parse::<Filter>().map_err(|error| {
        assert_eq!(error.scim_type, ScimType::InvalidFilter, "{text}");
        error.detail
    })?;
    Ok(filter.to_string())
}

#[test]
fn the_filters_of_the_specification_and_their_relatives_are_read() {
    let urn = "urn:ietf:params:scim:schemas:core:2.0:User:";
    for (text, expected) in [
        (r#"userName eq "a@b""#, r#"userName eq "a@b""#),
        (r#"emails eq "a@b""#, r#"emails eq "a@b""#),
        (r#"externalId eq "00u1""#, r#"externalId eq "00u1""#),
        (r#"emails.value eq "a@b""#, r#"emails eq "a@b""#),
        (
            r#"emails[type eq "work"].value eq "a@b""#,
            r#"emails eq "a@b""#,
        ),
        (
            r#"emails[type eq "work" and value eq "a@b"]"#,
            r#"emails eq "a@b""#,
        ),
        (
            r#"emails[value eq "a@b" and type eq "work"]"#,
            r#"emails eq "a@b""#,
        ),
        (r#"emails[value eq "a@b"]"#, r#"emails eq "a@b""#),
        (r#"USERNAME EQ "A""#, r#"userName eq "A""#),
        (
            r#"Emails[Type Eq "Work"].VALUE eQ "a@b""#,
            r#"emails eq "a@b""#,
        ),
        (r#"userName eq """#, r#"userName eq """#),
        ("  userName \t eq   \"a\"  ", r#"userName eq "a""#),
        (
            r#"emails[ type  eq  "work" ].value eq "a@b""#,
            r#"emails eq "a@b""#,
        ),
        (r#"(userName eq "a")"#, r#"userName eq "a""#),
        (
            r#"( ( userName eq "a" ) and (emails eq "b") )"#,
            r#"userName eq "a" and emails eq "b""#,
        ),
        (
            r#"userName eq "a" AND externalId eq "b" and emails eq "c""#,
            r#"userName eq "a" and externalId eq "b" and emails eq "c""#,
        ),
        (
            r#"userName eq "and or ( [ ] )""#,
            r#"userName eq "and or ( [ ] )""#,
        ),
    ] {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        if text.starts_with(|first: char| first.is_alphabetic()) {
            let prefixed = format!("{urn}{text}");
            assert_eq!(read(&prefixed).as_deref(), Ok(expected), "{prefixed}");
            let prefixed = format!("{}{text}", urn.to_uppercase());
            assert_eq!(read(&prefixed).as_deref(), Ok(expected), "{prefixed}");
        }
    }
}

#[test]
fn a_value_is_a_json_string_with_all_its_escapes() {
    let filter: Filter =
        r#"userName eq "\"\\\/\b\f\n\r\t\u00e9\uD83E\udda9 é🦩" and emails eq "x\\""#
            .parse()
            .unwrap();
    let values: Vec<_> = filter
        .terms()
        .iter()
        .map(|term| term.value.as_str())
        .collect();
    assert_eq!(values, ["\"\\/\u{8}\u{c}\n\r\té🦩 é🦩", "x\\"]);
    for value in [
        "7",
        "true",
        "null",
        "'a'",
        "a",
        "",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\uD83E\"",
        "\"\n\"",
        "[\"a\"]",
        "“a”",
    ] {
        let detail = read(&format!("userName eq {value}")).unwrap_err();
        let expected = "A value must be a JSON string in double quotes";
        if !value.is_empty() {
            assert_eq!(detail, expected, "{value}");
        }
    }
    for nul in ["\\u0000", "\0"] {
        assert!(
            read(&format!("userName eq \"a{nul}b\"")).is_err(),
            "{nul:?}"
        );
    }
}

#[test]
fn everything_else_is_refused_in_plain_words() {
    for (text, words) in [
        ("", "must begin with an attribute"),
        ("  ", "must begin with an attribute"),
        (r#"eq "a""#, "is not supported in a filter"),
        (
            r#"displayName eq "a""#,
            "displayName is not supported in a filter",
        ),
        (
            r#"userName.value eq "a""#,
            "userName.value is not supported",
        ),
        (r#"emails.type eq "work""#, "emails.type is not supported"),
        (r#"id eq "1""#, "id is not supported"),
        (r#"meta.created gt "2026""#, "meta.created is not supported"),
        ("userName", "followed by eq"),
        ("userName eq", "followed by eq"),
        (r#"userName"a""#, "followed by eq"),
        (r#"userName eq"a""#, "followed by eq"),
        (r#"userName == "a""#, "followed by eq"),
        ("userName pr", "The operator pr is not supported"),
        (r#"userName co "a""#, "The operator co is not supported"),
        (r#"userName SW "a""#, "The operator SW is not supported"),
        (
            r#"userName eq "a" or userName eq "b""#,
            "or is not supported",
        ),
        (r#"not (userName eq "a")"#, "not is not supported"),
        (r#"not(userName eq "a")"#, "not is not supported"),
        (r#"userName eq "a" x"#, "followed by and"),
        (r#"userName eq "a" "b""#, "followed by and"),
        (r#"userName eq "a"and userName eq "b""#, "followed by and"),
        (r#"userName eq "a" and"#, "and must be followed"),
        (r#"userName eq "a" and "#, "must begin with an attribute"),
        (r#"(userName eq "a""#, "A parenthesis is not closed"),
        (r#"userName eq "a")"#, "closed that was not opened"),
        ("()", "must begin with an attribute"),
        (
            r#"emails[type eq "home"].value eq "a""#,
            "Only addresses of the type work",
        ),
        (
            r#"emails[type eq "home" and value eq "a"]"#,
            "Only addresses of the type work",
        ),
        (r#"emails[type eq "work"]"#, "by one value"),
        (r#"emails[type eq "work"].display eq "a""#, "by one value"),
        (
            r#"emails[type eq "work" and value eq "a" and value eq "b"]"#,
            "by one value",
        ),
        (r#"emails[value eq "a"].value eq "b""#, "by one value"),
        (
            r#"emails[type eq "work" or value eq "a"]"#,
            "or is not supported",
        ),
        (r#"emails[not (type eq "work")]"#, "not is not supported"),
        (
            r#"emails[type ne "work"].value eq "a""#,
            "The operator ne is not supported",
        ),
        (
            r#"emails[primary eq true].value eq "a""#,
            "emails.primary is not supported",
        ),
        (
            r#"emails[display eq "x"].value eq "a""#,
            "emails.display is not supported",
        ),
        (
            r#"emails[type eq "work".value eq "a""#,
            "followed by and or by ]",
        ),
        (r#"emails[].value eq "a""#, "must begin with an attribute"),
        (r#"emails.value[value eq "a"]"#, "followed by eq"),
        (r#"userName[type eq "work"] eq "a""#, "followed by eq"),
        (
            r#"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:userName eq "a""#,
            "is not supported",
        ),
        (
            r#"urn:ietf:params:scim:schemas:core:2.0:UseruserName eq "a""#,
            "is not supported",
        ),
    ] {
        let detail = read(text).expect_err(text);
        assert!(detail.contains(words), "{text}: {detail}");
    }
}

#[test]
fn the_bounds_hold() {
    let terms = |count: usize| vec![r#"userName eq "a""#; count].join(" and ");
    assert_eq!(
        terms(MAX_TERMS).parse::<Filter>().unwrap().terms().len(),
        MAX_TERMS
    );
    assert!(
        read(&terms(MAX_TERMS + 1))
            .unwrap_err()
            .contains("10 terms")
    );

    let long = |bytes: usize| format!(r#"userName eq "{}""#, "x".repeat(bytes - 14));
    assert!(read(&long(MAX_FILTER)).is_ok());
    assert!(
        read(&long(MAX_FILTER + 1))
            .unwrap_err()
            .contains("2000 bytes")
    );

    let deep = |depth| {
        format!(
            r#"{}userName eq "a"{}"#,
            "(".repeat(depth),
            ")".repeat(depth)
        )
    };
    assert!(read(&deep(MAX_DEPTH)).is_ok());
    assert!(read(&deep(MAX_DEPTH + 1)).unwrap_err().contains("10 deep"));
    assert!(read(&deep(900)).is_err());
}

#[test]
fn a_long_name_is_not_repeated_whole() {
    let detail = read(&format!(r#"{} eq "a""#, "é".repeat(900))).unwrap_err();
    assert!(detail.chars().count() < 200, "{detail}");
}

fn a_term() -> impl Strategy<Value = String> {
    let attribute = prop::sample::select(vec![
        "userName",
        "externalId",
        "emails",
        "Emails.Value",
        "emails[ type eq \"work\"].value",
        "urn:ietf:params:scim:schemas:core:2.0:User:userName",
    ]);
    (attribute, "[^\0]{0,20}", "[ \t]{1,3}").prop_map(|(attribute, value, blanks)| {
        format!(
            "{attribute}{blanks}eq{blanks}{}",
            serde_json::Value::from(value)
        )
    })
}

proptest! {
    #[test]
    fn a_filter_is_read_again_as_it_was_written(
        terms in prop::collection::vec(a_term(), 1..=MAX_TERMS),
        joint in "[ ]{1,2}(and|AND)[ ]{1,2}",
    ) {
        let text = terms.join(&joint);
        prop_assume!(text.len() <= MAX_FILTER);
        let filter: Filter = text.parse().unwrap();
        prop_assert_eq!(filter.terms().len(), terms.len());
        let written = filter.to_string();
        prop_assert!(written.len() <= text.len());
        prop_assert_eq!(written.parse::<Filter>().unwrap(), filter);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([a-zA-Z:.]{1,9}|[ \\[\\]()\"\\\\]|eq|and|\"work\"|\\PC){0,30}") {
        if let Ok(filter) = text.parse::<Filter>() {
            prop_assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter));
        }
    }
}
