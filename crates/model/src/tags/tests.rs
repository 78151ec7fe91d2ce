use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::names::nick_key;

mod edits;
mod groups;
mod list;

#[derive(Default)]
struct Flow(HashMap<String, UserId>, HashMap<String, Vec<UserId>>);

impl Roster for Flow {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        self.0.get(key).copied()
    }

    fn contains(&self, user: UserId) -> bool {
        self.0.values().any(|id| *id == user)
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        self.0.values().copied()
    }

    fn group(&self, key: &str) -> Option<&[UserId]> {
        self.1.get(key).map(Vec::as_slice)
    }
}

/// A flow with Anna (1), who sends, Foo (2), foo-bar (3) and J.Ä (4).
fn flow() -> Flow {
    let nicks = ["Anna", "Foo", "foo-bar", "J.Ä"];
    let people = nicks
        .iter()
        .zip(1..)
        .map(|(nick, id)| (nick_key(nick), UserId(id)))
        .collect();
    Flow(people, HashMap::new())
}

fn context(flow: &Flow) -> Context<'_, Flow> {
    Context {
        roster: flow,
        sender: Some(UserId(1)),
        has_attachments: false,
    }
}

fn list(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|&tag| tag.to_owned()).collect()
}

fn of_text(content: &str) -> Vec<String> {
    extract(&[], content, &context(&flow())).tags.to_vec()
}

fn of_tags(explicit: &[&str]) -> Vec<String> {
    extract(&list(explicit), "", &context(&flow()))
        .tags
        .to_vec()
}

const NONE: [&str; 0] = [];

/// Shows: 2.23
#[test]
fn a_tag_has_one_form() {
    for (tag, form) in [
        ("Bug", Some("bug")),
        (" #Bug ", Some("bug")),
        ("##bug", Some("bug")),
        ("ÄRGER", Some("ärger")),
        ("A\u{308}rger", Some("ärger")),
        ("Two Words", Some("two words")),
        (":USER:5", Some(":user:5")),
        ("@Foo", Some("@foo")),
        ("a\0b", Some("ab")),
        ("", None),
        (" # ", None),
        ("\0", None),
    ] {
        assert_eq!(normalize(tag).as_deref(), form, "{tag:?}");
    }
}

/// Shows: 4.14
#[test]
fn the_comma_form_is_a_list() {
    assert_eq!(parse_list("a, #b ,,c d,"), ["a", "#b", "c d"]);
    assert_eq!(parse_list(" , "), NONE);
}

#[test]
fn a_client_gives_up_to_50_tags_of_100_characters() {
    let many = |count| (0..count).map(|n| format!("t{n}")).collect::<Vec<_>>();
    assert_eq!(validate(&many(50)), Ok(()));
    assert_eq!(validate(&many(51)), Err(TagError::TooMany));
    assert_eq!(validate(&vec!["same".to_owned(); 60]), Ok(()));
    let made_by_server = (1..100)
        .map(|n| unread_tag(UserId(n)))
        .chain(many(50))
        .collect::<Vec<_>>();
    assert_eq!(validate(&made_by_server), Ok(()));
    assert_eq!(validate(&["é".repeat(100)]), Ok(()));
    assert_eq!(validate(&["é".repeat(101)]), Err(TagError::TooLong));
    assert_eq!(validate(&list(&["a\0b"])), Err(TagError::ControlCharacter));
}

#[test]
fn tags_of_users_can_be_read_back() {
    assert_eq!(parse_unread(&unread_tag(UserId(7))), Some(UserId(7)));
    assert_eq!(parse_unread(":user:7"), None);
    assert_eq!(parse_unread(":unread:x"), None);
    assert_eq!(parse_user(":user:7"), Some(UserId(7)));
    assert_eq!(parse_user(USER_EVERYONE), None);
}

#[test]
fn hashtags_are_found_in_any_script() {
    for (text, expected) in [
        ("a #Hashtag here", vec!["hashtag"]),
        ("On the #16 bus", vec!["16"]),
        ("#0", vec!["0"]),
        ("hello #foo-bar_baz", vec!["foo-bar_baz"]),
        (
            "#1 (#two )#three [#four ’#five’#six",
            vec!["1", "two", "three", "four", "five", "six"],
        ),
        (
            "#a: #b; #c, #d. #e! #f?",
            vec!["a", "b", "c", "d", "e", "f"],
        ),
        ("#one\n#two\r\n#three", vec!["one", "two", "three"]),
        ("#mañana #CAFÉ #münchen", vec!["mañana", "café", "münchen"]),
        (
            "#日本語ハッシュタグ。#サッカー",
            vec!["日本語ハッシュタグ", "サッカー"],
        ),
        ("What is #트위터 or #русский?", vec!["트위터", "русский"]),
        ("#हिन्दी #می‌خواهم", vec!["हिन्दी", "می‌خواهم"]),
        ("＃ｈａｓｈ", vec!["ｈａｓｈ"]),
        ("❤️#love", vec!["love"]),
        ("#e\u{301}t\u{e9}", vec!["été"]),
        ("#bug-- and #bug", vec!["bug"]),
        ("#Bug #bug", vec!["bug"]),
    ] {
        assert_eq!(of_text(text), expected, "{text}");
    }
}

#[test]
fn not_every_number_sign_makes_a_hashtag() {
    for text in [
        "C# a#b é#b 日本#日本 _#x",
        "# heading ## #",
        "#️⃣ #- #_",
        "it&#39;s",
        "example.com/#part",
        "    #define X\n\t#include",
        &format!("#{}", "x".repeat(101)),
    ] {
        assert_eq!(of_text(text), NONE, "{text}");
    }
    assert_eq!(of_text("   #three spaces"), ["three"]);
    assert_eq!(of_text("text\n    #code\n#tag"), ["tag"]);
}

#[test]
fn code_makes_no_tags_and_a_quote_mentions_nobody() {
    for text in [
        "the command `@foo` and `#define X`",
        "```\n@foo #tag http://example.org\n```",
        "```@foo #tag```",
        "run ```@foo``` twice",
        "> ```\n> @foo #tag\n> ```",
        "- ```\n  @foo\n  ```",
        "````\n```\n@foo\n```\n````",
        "> @foo and foo",
    ] {
        assert_eq!(of_text(text), NONE, "{text}");
    }
    for text in [
        "> @foo said #tea\n@foo-bar #tag",
        "`code` @foo-bar #tea ```x``` #tag",
        "- #tea\n- _@foo-bar_ #tag",
    ] {
        let tags = of_text(text);
        assert!(
            tags.iter().any(|tag| tag == ":user:3"),
            "{tags:?} of {text}"
        );
        assert!(
            !tags.iter().any(|tag| tag == ":user:2"),
            "{tags:?} of {text}"
        );
        let words: Vec<&String> = tags.iter().filter(|tag| !tag.starts_with(':')).collect();
        assert_eq!(words, ["tea", "tag"], "{text}");
    }
}

#[test]
fn a_text_makes_no_more_hashtags_than_a_client_may_give() {
    let text: String = (0..80).map(|n| format!("#t{n} ")).collect();
    assert_eq!(of_text(&text).len(), MAX_TAGS);
}

#[test]
fn links_are_noted_and_not_looked_into() {
    for text in [
        "see http://example.org/#models and HTTPS://example.org/@foo#bar",
        "(https://en.wikipedia.org/wiki/Primer_(film)#foo)",
        "www.example.org/#foo",
        "看http://example.org/foo",
        "http://例え.jp/#x",
        "http://[::1]:80/#x",
        "http://a.example http://b.example",
    ] {
        assert_eq!(of_text(text), [URL], "{text}");
    }
    for text in [
        "http://",
        "http:// x",
        "://x",
        "www.",
        "www. x",
        "awww.x",
        "ftp://host/#part",
        "ssh://foo@host/#x",
    ] {
        assert_eq!(of_text(text), NONE, "{text}");
    }
    assert_eq!(of_text("http://例え.jp。#タグ"), [URL, "タグ"]);
    assert_eq!(of_text("<http://example.org>#tag"), [URL, "tag"]);
}

#[test]
fn a_mention_tells_the_user() {
    for (text, id) in [
        ("Hello @foo", 2),
        ("@FOO: look", 2),
        ("@foo, look", 2),
        ("(@foo)", 2),
        ("look @foo.", 2),
        ("@foo's idea", 2),
        ("*@foo*", 2),
        ("＠foo", 2),
        ("@foo你好", 2),
        ("hello @foo-bar", 3),
        ("hello @Foo-Bar.", 3),
        ("@j.ä", 4),
        ("@J.A\u{308}.", 4),
    ] {
        assert_eq!(
            of_text(text),
            [user_tag(UserId(id)), unread_tag(UserId(id))],
            "{text}"
        );
    }
    assert_eq!(
        of_text("@foo-bar, and @foo"),
        [":user:3", ":unread:3", ":user:2", ":unread:2"]
    );
    assert_eq!(of_text("@foo @Foo"), [":user:2", ":unread:2"]);
}

#[test]
fn not_every_at_sign_makes_a_mention() {
    for text in [
        "a@foo me@foo.org é@foo",
        "@nobody @foobar @foo-baz @foo.org",
        "@ x",
        "@http://",
        "    @foo in code",
        "@@",
        "@",
    ] {
        assert_eq!(of_text(text), NONE, "{text}");
    }
}

#[test]
fn whoever_mentions_himself_is_not_told() {
    let extracted = extract(&[], "@anna", &context(&flow()));
    assert_eq!(extracted.tags, [":user:1"]);
}

#[test]
fn everyone_is_everybody_but_the_sender() {
    for word in [
        "everyone",
        "everybody",
        "all",
        "anyone",
        "anybody",
        "EVERYONE",
    ] {
        let extracted = extract(
            &[],
            &format!("MANAGERIAL RAGE FOR @{word}!"),
            &context(&flow()),
        );
        assert_eq!(
            extracted.tags,
            [":user:everyone", ":unread:2", ":unread:3", ":unread:4"]
        );
    }
    assert_eq!(of_tags(&["@all"]), of_text("@everyone"));
    assert_eq!(of_tags(&[":User:Everyone"]), of_text("@everyone"));
    assert_eq!(of_text("everyone, all-hands @all-hands all"), NONE);
}

#[test]
fn an_anonymous_sender_tells_really_everyone() {
    let flow = flow();
    let anonymous = Context {
        sender: None,
        ..context(&flow)
    };
    let extracted = extract(&[], "@all @foo", &anonymous);
    assert_eq!(
        extracted.tags,
        [
            ":user:everyone",
            ":user:2",
            ":unread:2",
            ":unread:1",
            ":unread:3",
            ":unread:4"
        ]
    );
}

#[test]
fn a_bare_nick_is_highlighted() {
    for (text, id) in [
        ("hello Foo", 2),
        ("foo?", 2),
        ("'foo'", 2),
        ("ask foo, he knows foo", 2),
        ("foo: hi", 2),
        ("foo's", 2),
        ("src/foo", 2),
        ("foo-bar!", 3),
        ("ask j.ä.", 4),
    ] {
        assert_eq!(of_text(text), [highlight_tag(UserId(id))], "{text}");
    }
    for text in [
        "food",
        "foo-baz",
        "x-foo",
        "x.foo.y",
        "foo@example.org",
        "foo+x@foo.org",
        "x@foo",
        "anna",
        "    foo",
    ] {
        assert_eq!(of_text(text), NONE, "{text}");
    }
    assert_eq!(of_text("#foo"), ["foo"]);
}

#[test]
fn given_tags_come_first_and_none_comes_twice() {
    let flow = flow();
    let given = list(&["Zeta", "#alpha", "@foo", "zeta", ":user:2", " "]);
    let with_file = Context {
        has_attachments: true,
        ..context(&flow)
    };
    let extracted = extract(
        &given,
        "#alpha #beta @foo @foo-bar http://x.org foo",
        &with_file,
    );
    assert_eq!(
        extracted.tags,
        [
            "zeta",
            "alpha",
            ":user:2",
            ":unread:2",
            "beta",
            ":user:3",
            ":unread:3",
            ":url",
            ":highlight:2",
            ":file"
        ]
    );
    assert_eq!(extracted.explicit, ["zeta", "alpha", ":user:2"]);
}

#[test]
fn what_only_the_server_makes_cannot_be_given() {
    assert_eq!(
        of_tags(&[
            ":unread:2",
            ":Unread:3",
            ":highlight:2",
            ":unread:x",
            "#:unread:4"
        ]),
        NONE
    );
    assert_eq!(of_tags(&["@nobody", ":user:99", ":user:x", "@"]), NONE);
    assert_eq!(
        of_tags(&[":url", ":file", ":influx:5", ":other"]),
        [":url", ":other"]
    );
    assert_eq!(of_tags(&[":user:2", ":user:02"]), [":user:2", ":unread:2"]);
}

#[test]
fn a_filter_asks_for_what_is_kept() {
    assert_eq!(resolve("#Bug", &flow()).as_deref(), Some("bug"));
    assert_eq!(resolve("@Foo", &flow()).as_deref(), Some(":user:2"));
    assert_eq!(resolve("@all", &flow()).as_deref(), Some(":user:everyone"));
    assert_eq!(resolve("@nobody", &flow()), None);
}

/// Texts in which everything the rules speak of is likely to meet.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[@#:./ \\-_'!,\n\t]{1,3}",
        "(foo|foo-bar|J\\.Ä|everyone|all|anna|nobody)",
        "(http://|https://|www\\.|://|    )",
        "[日本\u{301}\u{fe0f}＃＠é]",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Texts that would take minutes here if work grew faster than they do.
#[test]
fn hostile_texts_come_to_an_end() {
    for piece in [
        "://", "://é", "!://a", "a://", "://𝔘", "＠", "@", "@é!", "é!", "ﷺ!", "！a", "#", "#a",
        "&#", "@_", "_@", "a.", "-a", "www.", "mailto:", "@anna!", "foo-", "@株",
    ] {
        let text = piece.repeat(64 * 1024 / piece.len());
        assert!(of_text(&text).len() < 1_000, "{piece}");
    }
}

#[test]
fn a_full_width_at_sign_ends_a_nick() {
    assert_eq!(of_text("＠foo＠anna")[..2], [":user:2", ":unread:2"]);
}

proptest! {
    #[test]
    fn the_form_of_a_form_is_the_form(tag: String) {
        if let Some(form) = normalize(&tag) {
            prop_assert_eq!(normalize(&form), Some(form.clone()));
            prop_assert!(!form.contains(char::is_control));
        }
    }

    #[test]
    fn tags_are_distinct_and_in_their_form(
        given in proptest::collection::vec(texts(), 0..6),
        text in prop_oneof![texts(), any::<String>()],
    ) {
        let flow = flow();
        let extracted = extract(&given, &text, &context(&flow));
        let tags = extracted.tags.to_vec();
        let distinct: HashSet<&String> = tags.iter().collect();
        prop_assert_eq!(distinct.len(), tags.len(), "{:?}", tags);
        for tag in &tags {
            prop_assert_eq!(normalize(tag), Some(tag.clone()));
            prop_assert!(!tag.starts_with('@'));
        }
        for tag in &extracted.explicit {
            prop_assert!(extracted.tags.contains(tag));
        }
        prop_assert!(!extracted.tags.contains(&unread_tag(UserId(1))));
    }

    #[test]
    fn a_hashtag_anywhere_among_words_is_found(before in "[a-z ]{0,10}", tag in "[a-z0-9]{1,8}", after in "[ .,!?)]") {
        let text = format!("{before} #{tag}{after}");
        // The first four spaces of a line would make it code.
        let text = text.trim_start();
        prop_assert!(of_text(text).contains(&tag), "{text:?}");
    }
}
