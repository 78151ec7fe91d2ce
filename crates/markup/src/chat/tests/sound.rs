//! Whatever the text is, the HTML is safe, says the same, and is not much longer.

use proptest::prelude::*;

use super::chat;

/// The start tags that `chat` may write, apart from links and blocks with a language.
const TAGS: &[(&str, &str)] = &[
    ("<b>", "</b>"),
    ("<i>", "</i>"),
    ("<s>", "</s>"),
    ("<code>", "</code>"),
    ("<pre>", "</pre>"),
    ("<blockquote>", "</blockquote>"),
    ("<b class=\"at\">", "</b>"),
    ("<b class=\"tag\">", "</b>"),
    ("<i class=\"c\">", "</i>"),
    ("<b class=\"k\">", "</b>"),
    ("<span class=\"s\">", "</span>"),
    ("<span class=\"n\">", "</span>"),
    ("<span class=\"a\">", "</span>"),
    ("<span class=\"add\">", "</span>"),
    ("<span class=\"del\">", "</span>"),
    ("<ul>", "</ul>"),
    ("<ol>", "</ol>"),
    ("<li>", "</li>"),
    ("<li class=\"task\">", "</li>"),
    ("<label>", "</label>"),
    ("<table>", "</table>"),
    ("<tr>", "</tr>"),
    ("<th>", "</th>"),
    ("<th class=\"center\">", "</th>"),
    ("<th class=\"end\">", "</th>"),
    ("<td>", "</td>"),
    ("<td class=\"center\">", "</td>"),
    ("<td class=\"end\">", "</td>"),
    ("<h1>", "</h1>"),
    ("<h2>", "</h2>"),
    ("<h3>", "</h3>"),
    ("<h4>", "</h4>"),
    ("<h5>", "</h5>"),
    ("<h6>", "</h6>"),
];

/// An attribute at the beginning of `html`, and its value.
fn attribute<'a>(html: &'a str, begin: &str, end: &str) -> Option<(&'a str, &'a str)> {
    let (value, rest) = html.strip_prefix(begin)?.split_once('"')?;
    assert!(!value.contains(['<', '>', '\'']), "{value:?}");
    Some((value, rest.strip_prefix(end).expect(html)))
}

fn unescaped(html: &str) -> String {
    let mut text = String::new();
    let mut parts = html.split('&');
    text.push_str(parts.next().unwrap());
    for part in parts {
        let (name, rest) = part.split_once(';').expect(html);
        text.push_str(match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#39" => "'",
            other => panic!("the entity {other}"),
        });
        text.push_str(rest);
    }
    text
}

/// Checks that there are no tags but those that may be written, each ended within the one around
/// it, and gives what the HTML says, with the addresses behind the texts of links.
fn words(html: &str) -> String {
    let mut text = String::new();
    // The end tags that are missing; with them the address of a link, and where its text begins.
    let mut open: Vec<(&str, String, usize)> = Vec::new();
    let mut rest = html;
    // The number of the next item of each list.
    let mut lists: Vec<Option<u32>> = Vec::new();
    // Only in code do quotation marks stand as they are.
    let next = |rest: &str, open: &[(&str, String, usize)]| {
        let is_code = open.iter().any(|(end, ..)| *end == "</code>");
        rest.find(|c| matches!(c, '<' | '>') || (!is_code && matches!(c, '"' | '\'')))
    };
    while let Some(at) = next(rest, &open) {
        text.push_str(&unescaped(&rest[..at]));
        rest = &rest[at..];
        let last = open.last().map_or("</", |(end, ..)| *end);
        if let Some(behind) = rest.strip_prefix(last).filter(|_| !open.is_empty()) {
            let (end, address, begin) = open.pop().unwrap();
            if matches!(end, "</ul>" | "</ol>") {
                lists.pop();
            }
            let shown = &text[begin..];
            if shown != address && address.strip_prefix("http://") != Some(shown) {
                text.push_str(&address.replace("%20", " "));
            }
            rest = behind;
            continue;
        }
        if let Some(behind) = rest.strip_prefix("<input type=\"checkbox\" disabled") {
            let checked = behind.strip_prefix(" checked");
            text.push_str(checked.map_or("", |_| "x"));
            rest = checked.unwrap_or(behind).strip_prefix('>').expect(html);
            continue;
        }
        if let Some((number, behind)) = attribute(rest, "<li value=\"", ">") {
            text.push_str(number);
            *lists.last_mut().unwrap() = Some(number.parse::<u32>().unwrap() + 1);
            open.push(("</li>", String::new(), text.len()));
            rest = behind;
            continue;
        }
        match () {
            () if rest.starts_with("<ul>") => lists.push(None),
            () if rest.starts_with("<ol>") => lists.push(Some(1)),
            () if rest.starts_with("<li>") => {
                if let Some(next) = lists.last_mut().unwrap() {
                    text.push_str(&next.to_string());
                    *next += 1;
                }
            }
            () => {}
        }
        let nothing = text.len();
        let found = TAGS
            .iter()
            .find_map(|(start, end)| Some((*end, rest.strip_prefix(start)?)));
        if let Some((end, behind)) = found {
            open.push((end, String::new(), nothing));
            rest = behind;
        } else if let Some((language, behind)) = attribute(rest, "<code data-language=\"", ">") {
            assert!((1..=20).contains(&language.len()), "{language}");
            text.push_str(language);
            open.push(("</code>", String::new(), text.len()));
            rest = behind;
        } else if let Some((address, behind)) = attribute(
            rest,
            "<a href=\"",
            " rel=\"nofollow noopener noreferrer\" target=\"_blank\">",
        ) {
            let lower = address.to_lowercase();
            let schemes = ["http://", "https://", "mailto:"];
            assert!(
                schemes.iter().any(|scheme| lower.starts_with(scheme)),
                "{address}"
            );
            assert!(address.len() <= 2_000 * 5, "{address}");
            assert!(open.iter().all(|(end, ..)| *end != "</a>"), "{html}");
            open.push(("</a>", unescaped(address), nothing));
            rest = behind;
        } else {
            panic!("{rest:?} in {html:?}");
        }
        assert!(open.len() <= 32, "{html}");
    }
    text.push_str(&unescaped(rest));
    assert!(open.is_empty(), "{html}");
    text
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The HTML of a text, which is not much longer.
#[track_caller]
fn bounded(text: &str) -> String {
    let html = chat(text);
    let begin: String = text.chars().take(80).collect();
    assert!(html.len() <= 12 * text.len() + 32, "{begin:?}");
    html
}

#[track_caller]
fn is_sound(text: &str) {
    let html = bounded(text);
    assert_eq!(
        letters(&words(&html)),
        letters(text),
        "{text:?} became {html:?}"
    );
}

/// Whether there is an emoji by its name, such as `:a:`, whose letters give way to it.
fn has_shortcode(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let between = parts.get(1..parts.len() - 1).unwrap_or_default();
    between
        .iter()
        .any(|part| emojis::get_by_shortcode(&part.to_ascii_lowercase()).is_some())
}

/// Texts in which everything the rules speak of is likely to meet.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[*_~`\\[\\]()>]{1,3}",
        "(\n|\n> |\n```|```|````|~~~|\n    |\t| |\r\n)",
        "\n(- |\\* |1\\. |3\\) |  - |- \\[x\\] |- \\[ \\] |# |### |> - |\\||--\\|--|a\\|b)",
        "\n```(rust|js|python|sql|json|css|toml|html|diff|lua)\n",
        "(fn|let|if|SELECT|true|1\\.5|a: |b = |//|/\\*|\\*/|<!--|-->|--|\"\"\"|\\\\|\\+|r#\")",
        "(foo|a|snake_case|rust|日本|é|\u{301})",
        "(http://a.b|mailto:c@d|www\\.e|ftp://f|://|javascript:)",
        "(\\]\\(https://e\\.org\\)|\\]\\(|\\]\\(javascript:g\\))",
        "[@#＠＃][a-z.-]{0,3}",
        "[<>&\"'.,;!?/#-]{1,2}",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..32).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text_becomes_allowed_tags_and_keeps_its_letters(
        text in prop_oneof![3 => texts(), 1 => any::<String>()],
    ) {
        prop_assume!(!has_shortcode(&text));
        is_sound(&text);
    }
}

#[test]
fn hostile_texts_of_a_mebibyte_come_to_an_end() {
    for piece in [
        "*", "_", "~", "`", "[", "]", "(", ">", "<", "&", "@", "#", ":", "h", "-", "\n", "\t",
        "\r", "é",
    ] {
        bounded(&piece.repeat(1024 * 1024 / piece.len()));
    }
}

#[test]
fn hostile_mixtures_come_to_an_end() {
    const SIZE: usize = 128 * 1024;
    for piece in [
        "**",
        "~~",
        "***",
        "*a ",
        "**a ",
        "_a ",
        "~~a ",
        "*a* ",
        "***a* ",
        "*a **a ~~a _a ",
        "` `` ",
        "`a``",
        "```",
        "```\n",
        "> ",
        ">\n",
        "> a\nb\n",
        "    a\n",
        "[]",
        "[](",
        "[a](",
        "[a](http://b",
        "[a](http://b)",
        "[a](http://(",
        "[a](http://b ",
        "[]]",
        "http://",
        "http://a",
        "http://a ",
        "http://a)",
        "http://a''",
        "www.a",
        "a://b",
        "mailto:a ",
        "@a",
        "@a ",
        "@-",
        "#a ",
        "#-",
        "\u{301}",
        "- a\n",
        "- ",
        "  - a\n",
        "1. a\n",
        "- [ ] a\n",
        "# a\n",
        "a|b\n-|-\n",
        "|",
        "a|b\n-|-\n1|2\n",
        "a ```\n",
        "```(\n",
        "> ```(\n",
        "- ```(\n",
        "a ````(\n```\n",
        "> - ",
        "[a](http://b)`x`",
    ] {
        bounded(&piece.repeat(SIZE / piece.len()));
    }
    for language in [
        "rust", "js", "python", "json", "css", "toml", "html", "diff", "lua",
    ] {
        for piece in [
            "\"", "'", "\"\"\"", "\\", "\\\"", "\\'", "'\\", "/*", "<!--", "--[[", "r#\"", "1-",
            "1.", "a-", "a-: ", "a ", "<", "<a", "<a b=\"", "+\n", "é'", "// \n",
        ] {
            let begin = format!("```{language}\n");
            bounded(&(begin + &piece.repeat(SIZE / 4 / piece.len())));
        }
    }
    for (begin, rest) in [
        ("[", "[]"),
        ("[a](http://b", "()"),
        ("`", "``"),
        ("*a", "~~b~~ "),
        ("http://a", "(!"),
        ("@a", "-"),
    ] {
        bounded(&(begin.to_owned() + &rest.repeat(SIZE / rest.len())));
    }
}
