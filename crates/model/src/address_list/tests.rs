use proptest::prelude::*;

use super::*;
use crate::names::email_key;

/// Name and address of an item, or what is wrong.
type Told = (Option<String>, Result<String, AddressError>);

fn read(list: &str) -> Vec<Told> {
    parse(list)
        .into_iter()
        .map(|item| (item.name, item.address.map(Email::into_string)))
        .collect()
}

fn addresses(list: &str) -> Vec<String> {
    read(list)
        .into_iter()
        .map(|(_, address)| address.expect(list))
        .collect()
}

/// The only item of a list, which is an address.
fn one(list: &str) -> (Option<String>, String) {
    let items = read(list);
    assert_eq!(items.len(), 1, "{list:?}");
    let (name, address) = items.into_iter().next().unwrap();
    (name, address.expect(list))
}

fn named(name: &str, address: &str) -> (Option<String>, String) {
    (Some(name.to_owned()), address.to_owned())
}

/// The problem of the only item of a list.
fn problem(list: &str) -> AddressError {
    let items = parse(list);
    assert_eq!(items.len(), 1, "{list:?}");
    items[0].address.clone().expect_err(list)
}

#[test]
fn commas_semicolons_and_line_ends_separate() {
    for list in [
        "a@x.org,b@x.org,c@x.org",
        "a@x.org; b@x.org ;c@x.org;",
        "a@x.org\nb@x.org\r\n\r\nc@x.org\r\n",
        ",;\n a@x.org,,;,b@x.org\n;c@x.org , ;\n,",
        "\u{feff}a@x.org\u{2028}\u{a0}b@x.org\u{a0},\u{200b}c@x.org\u{200b}",
        "<a@x.org>, <b@x.org>\tc@x.org",
        "a@x.org\tb@x.org\t\tc@x.org\t",
        "'a@x.org', \"b@x.org\", <mailto:c@x.org>",
    ] {
        assert_eq!(
            addresses(list),
            ["a@x.org", "b@x.org", "c@x.org"],
            "{list:?}"
        );
    }
}

#[test]
fn nothing_between_separators_is_no_item() {
    for list in [
        "",
        " ",
        ",",
        "\r\n;, \t;\n",
        "\u{feff}",
        "\u{200b},\u{a0}\u{2003};",
    ] {
        assert_eq!(parse(list), [], "{list:?}");
    }
}

#[test]
fn a_name_may_stand_in_front_of_brackets() {
    for (list, name) in [
        ("Bob <bob@x.org>", "Bob"),
        ("Bob<bob@x.org>", "Bob"),
        ("  Bob   van\tDijk  < bob@x.org > ", "Bob van Dijk"),
        ("\"Doe, John; Mr\" <bob@x.org>", "Doe, John; Mr"),
        ("\"John \\\"Joe\\\" Doe\" <bob@x.org>", "John \"Joe\" Doe"),
        ("\"C:\\\\\" <bob@x.org>", "C:\\"),
        ("John \"Joe\" Doe <bob@x.org>", "John Joe Doe"),
        ("山田 太郎 <bob@x.org>", "山田 太郎"),
        ("Иван Петров <bob@x.org>", "Иван Петров"),
        ("עברית <bob@x.org>", "עברית"),
        ("J.R. O'Neil 🚀 <bob@x.org>", "J.R. O'Neil 🚀"),
        ("Bob @ work <bob@x.org>", "Bob @ work"),
        (
            "Bob (his friends say Rob, too) <bob@x.org> (at work)",
            "Bob",
        ),
        ("\"ann@x.org\" <bob@x.org>", "ann@x.org"),
        ("Bob <MAILTO:bob@x.org>", "Bob"),
    ] {
        assert_eq!(one(list), named(name, "bob@x.org"), "{list:?}");
    }
}

#[test]
fn a_comment_names_who_has_no_other_name() {
    assert_eq!(one("bob@x.org (Bob)"), named("Bob", "bob@x.org"));
    assert_eq!(
        one("(Smith, Bob (jr.)) bob@x.org"),
        named("Smith, Bob (jr.)", "bob@x.org")
    );
    assert_eq!(
        one("<bob@x.org> (Bob \\) ;)"),
        named("Bob ) ;", "bob@x.org")
    );
    assert_eq!(one("bob@x.org ()"), (None, "bob@x.org".to_owned()));
}

#[test]
fn an_address_in_the_place_of_a_name_is_no_name() {
    for list in [
        "bob@x.org <bob@x.org>",
        "'Bob@X.org' <bob@x.org>",
        "\"bob@x.org\" <bob@x.org>",
    ] {
        assert_eq!(one(list), (None, "bob@x.org".to_owned()), "{list:?}");
    }
}

#[test]
fn columns_of_a_spreadsheet_may_be_names() {
    assert_eq!(one("Bob\tbob@x.org"), named("Bob", "bob@x.org"));
    assert_eq!(
        one("Bob\tSmith\tbob@x.org\tBerlin"),
        named("Bob Smith", "bob@x.org")
    );
    assert_eq!(one("bob@x.org\tBob\tBerlin"), named("Bob", "bob@x.org"));
    assert_eq!(
        one("\"Smith, Bob\"\t\"bob@x.org\""),
        named("Smith, Bob", "bob@x.org")
    );
    assert_eq!(one("7\tBob <bob@x.org>\tBerlin"), named("Bob", "bob@x.org"));
    assert_eq!(parse("Bob \t bob@x.org")[0].text, "Bob \t bob@x.org");
    assert_eq!(problem("Name\tE-mail"), AddressError::NoAddress);
}

#[test]
fn links_are_taken_apart() {
    for (list, address) in [
        ("mailto:bob@x.org", "bob@x.org"),
        ("MailTo: bob@x.org", "bob@x.org"),
        (
            "mailto:bob%2Bflows@x.org?subject=Hi%20Bob",
            "bob+flows@x.org",
        ),
        ("mailto:jos%C3%A9@x.org", "josé@x.org"),
    ] {
        assert_eq!(one(list).1, address, "{list:?}");
    }
    assert_eq!(
        problem("mailto:a%0Db@x.org"),
        AddressError::Invalid(InvalidName::ControlCharacter)
    );
    assert_eq!(
        problem("mailto:a%40b@x.org"),
        AddressError::Invalid(InvalidName::NotAnAddress)
    );
    assert_eq!(
        one("50%25@x.org").1,
        "50%25@x.org",
        "only links are escaped"
    );
}

#[test]
fn the_name_of_a_group_is_left_out() {
    assert_eq!(
        addresses("Friends: a@x.org, B <b@x.org>; c@x.org"),
        ["a@x.org", "b@x.org", "c@x.org"]
    );
    assert_eq!(
        addresses("\"My, friends\": a@x.org, b@x.org;"),
        ["a@x.org", "b@x.org"]
    );
    assert_eq!(addresses("To: mailto:a@x.org"), ["a@x.org"]);
    assert_eq!(one("Friends: B <b@x.org>"), named("B", "b@x.org"));
    assert_eq!(problem("undisclosed-recipients:;"), AddressError::NoAddress);
    assert_eq!(problem("a@x.org: b@x.org"), AddressError::SeveralAddresses);
}

#[test]
fn international_hosts_compare_equal_in_both_spellings() {
    let keys: Vec<String> = addresses("Bob <bob@bücher.example>, BOB@xn--bcher-kva.example")
        .iter()
        .map(|a| email_key(a))
        .collect();
    assert_eq!(keys[0], keys[1]);
}

#[test]
fn each_problem_is_told() {
    let invalid = AddressError::Invalid(InvalidName::NotAnAddress);
    for (list, expected) in [
        ("bob", AddressError::NoAddress),
        ("Bob <>", AddressError::NoAddress),
        ("\"\"", AddressError::NoAddress),
        ("(bob@x.org)", AddressError::NoAddress),
        ("Bob <bob>", AddressError::NoAddress),
        ("bob@", invalid),
        ("a@b..c", invalid),
        ("Bob <.bob@x.org>", invalid),
        ("Bob bob@x.org", invalid),
        ("\"Bob\" bob@x.org", invalid),
        ("bo(b)b@x.org", invalid),
        ("bob@x.org.", invalid),
        ("a@x.org b@x.org", AddressError::SeveralAddresses),
        ("a@x.org (a) b@x.org", AddressError::SeveralAddresses),
        ("A <a@x.org> B <b@x.org>", AddressError::SeveralAddresses),
        ("a@x.org B <b@x.org>", AddressError::SeveralAddresses),
        ("B <b@x.org> a@x.org", AddressError::SeveralAddresses),
        ("<a@x.org b@x.org>", AddressError::SeveralAddresses),
        ("<b@x.org> Bob", AddressError::Surplus),
        ("\"odd local\"@x.org", AddressError::QuotedLocalPart),
        ("Odd <\"odd, local\"@x.org>", AddressError::QuotedLocalPart),
        ("\"Bob <bob@x.org>", AddressError::UnclosedQuote),
        ("Bob\" <bob@x.org>", AddressError::UnclosedQuote),
        ("\"Bob\\\" <bob@x.org>", AddressError::UnclosedQuote),
        ("(Bob <bob@x.org>", AddressError::UnclosedComment),
        ("Bob <bob@x.org", AddressError::Brackets),
        ("Bob bob@x.org>", AddressError::Brackets),
        ("Bob <<bob@x.org>>", AddressError::Brackets),
        (">bob@x.org<", AddressError::Brackets),
    ] {
        assert_eq!(problem(list), expected, "{list:?}");
    }
    let long = format!("{} <bob@x.org>", "é".repeat(MAX_ITEM));
    assert_eq!(problem(&long), AddressError::TooLong);
    assert_eq!(parse(&long)[0].text, "é".repeat(MAX_TEXT));
    assert_eq!(problem(&format!("{long}\tBob")), AddressError::TooLong);
    assert_eq!(
        problem(&format!("b@{}", "x".repeat(254))),
        AddressError::Invalid(InvalidName::TooLong(254))
    );
}

#[test]
fn the_longest_name_can_be_printed_and_read_again() {
    let name = "\\\"".repeat(MAX_TEXT);
    let item = &parse(&format!(
        "\"{}\" <bob@x.org>",
        "\\\\\\\"".repeat(MAX_TEXT / 2)
    ))[0];
    assert_eq!(item.name.as_deref(), Some(&name[..MAX_TEXT]));
    assert_eq!(parse(&item.to_string())[0].name, item.name);
    let item = &parse(&format!("{} <bob@x.org>", "é".repeat(900)))[0];
    assert_eq!(item.name, Some("é".repeat(MAX_TEXT)));
}

#[test]
fn a_problem_reads_well_after_what_was_written() {
    let item = &parse("a@b..c")[0];
    let problem = item.address.clone().unwrap_err();
    assert_eq!(
        format!("{item} {problem}"),
        "a@b..c is not a valid e-mail address"
    );
    assert_eq!(
        AddressError::NoAddress.to_string(),
        "has no e-mail address in it"
    );
}

#[test]
fn what_is_unbalanced_spoils_one_line_at_most() {
    for spoilt in [
        "\"Doe, John <j@x.org>",
        "j@x.org (John, Doe",
        "\"Doe\\",
        "(John \" ( \\",
    ] {
        let items = read(&format!(
            "a@x.org, {spoilt}\r\n\"Roe, Ann\" <ann@x.org>, b@x.org"
        ));
        assert_eq!(items.len(), 4, "{items:?}");
        assert!(items[1].1.is_err(), "{items:?}");
        assert_eq!(
            items[2],
            (Some("Roe, Ann".to_owned()), Ok("ann@x.org".to_owned()))
        );
        assert_eq!(items[3].1, Ok("b@x.org".to_owned()));
    }
    let items = read("Bob <bob@x.org, ann@x.org");
    assert_eq!(items[0].1, Err(AddressError::Brackets));
    assert_eq!(
        items[1].1,
        Ok("ann@x.org".to_owned()),
        "a comma is not for angle brackets to hide"
    );
}

#[test]
fn hostile_lists_of_a_mebibyte_are_read_in_one_pass() {
    const MIB: usize = 1 << 20;
    let of = |unit: &str| unit.repeat(MIB / unit.len());
    for unit in ["\"", "(", "<", "\"\\", "(\"", "\"\"", "é@ "] {
        let items = parse(&of(unit));
        assert_eq!(items.len(), 1, "{unit:?}");
        assert_eq!(items[0].address, Err(AddressError::TooLong), "{unit:?}");
        assert_eq!(items[0].text.chars().count(), MAX_TEXT, "{unit:?}");
    }
    for unit in [",", "\t", "\n"] {
        assert_eq!(parse(&of(unit)), [], "{unit:?}");
    }
    assert_eq!(parse(&of("a\t")).len(), 1);
}

#[test]
fn a_list_may_have_very_many_items() {
    for unit in ["\"\n", "(,\n", "a,", "@\t", "<;"] {
        assert_eq!(parse(&unit.repeat(100_000)).len(), 100_000, "{unit:?}");
    }
}

/// Texts full of what means something in a list.
fn syntax() -> impl Strategy<Value = String> {
    "[ab@.,;:<>\"()\\\\' \\t\\n\\r\u{feff}é-]{0,60}"
}

/// A name, an address in some form, or something broken, with everything closed that was opened.
fn entry() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}@[a-z]{1,4}\\.org",
        "[A-Za-zé. ]{0,8}<[a-z]{1,4}@bü[a-z]{1,4}\\.org>",
        "\"([a-z,;\t ]|\\\\[\"\\\\]){0,8}\" ?<[a-z]{1,4}@x\\.org>",
        "[a-z]{1,4}@x\\.org \\([a-z,;\" ]{0,8}\\)",
        "[a-z]{1,4}\\t[a-z]{1,4}@x\\.org",
        "[a-z]{0,4}[ :<>@.\u{200b}]{0,4}[a-z]{0,4}",
    ]
}

fn list() -> impl Strategy<Value = String> {
    prop::collection::vec((entry(), "[,;\n]{1,2}"), 0..6).prop_map(|entries| {
        entries
            .into_iter()
            .map(|(entry, end)| entry + &end)
            .collect()
    })
}

/// Everything in a text that is neither a separator nor invisible.
fn substance(text: &str) -> String {
    text.chars()
        .filter(|&c| !is_unseen(c) && !matches!(c, ',' | ';'))
        .collect()
}

proptest! {
    #[test]
    fn everything_written_is_accounted_for(text in prop_oneof![syntax(), "\\PC{0,100}", any::<String>(), list()]) {
        let items = parse(&text);
        let told: String = items.iter().map(|item| item.text.as_str()).collect();
        prop_assert_eq!(substance(&told), substance(&text));
        for item in &items {
            prop_assert!(!item.text.is_empty());
            prop_assert_eq!(trim_unseen(&item.text), &item.text);
            if let Some(name) = &item.name {
                prop_assert!(!name.is_empty() && !name.contains(char::is_control));
            }
        }
    }

    #[test]
    fn without_quotes_and_comments_there_is_an_item_between_any_two_separators(text in "[ab@.,;:<>\\\\' \n\r-]{0,60}") {
        let written = text.split([',', ';', '\n', '\r']).filter(|part| !part.trim().is_empty()).count();
        prop_assert_eq!(parse(&text).len(), written);
    }

    #[test]
    fn a_printed_item_is_parsed_to_the_same_one(text in prop_oneof![list(), syntax()]) {
        for item in parse(&text) {
            if item.address.is_ok() {
                let again = parse(&item.to_string());
                prop_assert_eq!(again.len(), 1);
                prop_assert_eq!((&again[0].name, &again[0].address), (&item.name, &item.address));
            }
        }
    }

    #[test]
    fn an_address_is_a_list_of_one(text in "[a'é+=\\PC]{1,5}@[a-zé.\\PC]{1,8}") {
        if let Ok(email) = text.parse::<Email>() {
            let item = AddressEntry { text: email.to_string(), name: None, address: Ok(email) };
            prop_assert_eq!(parse(&text), vec![item]);
        }
    }

    #[test]
    fn lists_in_a_row_are_one_list(first in list(), second in list(), separator in "[,;\n]{1,2}") {
        let mut both = parse(&first);
        both.extend(parse(&second));
        prop_assert_eq!(parse(&format!("{first}{separator}{second}")), both);
    }

    #[test]
    fn nothing_reaches_beyond_its_line(first in syntax(), second in syntax()) {
        let mut both = parse(&first);
        both.extend(parse(&second));
        prop_assert_eq!(parse(&format!("{first}\n{second}")), both);
    }
}
