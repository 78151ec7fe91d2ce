//! Texts that make a parser build a tree far larger than they are, or look through it at every tag.
//! On a parser that does, this takes minutes and gigabytes, or overflows the stack.

use eddyline_markup::{body, text, title};

use super::judge::faults_of_body;

const SIZE: usize = 64 * 1024;

fn filled(head: &str, rest: &str) -> String {
    let count = SIZE.saturating_sub(head.len()) / rest.len();
    head.to_owned() + &rest.repeat(count)
}

#[track_caller]
fn is_bounded(html: &str) {
    let cleaned = body(html, |_| None);
    let begin: String = html.chars().take(80).collect();
    assert!(
        cleaned.len() < 12 * SIZE,
        "{begin} became {} bytes",
        cleaned.len()
    );
    assert!(title(html).len() < 12 * SIZE, "{begin}");
    assert!(text(html).len() <= SIZE, "{begin}");
    assert_eq!(body(&cleaned, |_| None), cleaned, "{begin}");
    assert!(
        faults_of_body(&cleaned[..cleaned.floor_char_boundary(20_000)]).len() < 20_000,
        "{begin}"
    );
}

#[test]
fn deep_nesting_is_bounded() {
    for tag in [
        "<b>", "<table>", "<svg>", "<div>", "<p>", "<li>", "<dd>", "<h1>", "<a href>", "<math>",
        "<font>",
    ] {
        is_bounded(&filled("", tag));
        is_bounded(&filled("", &format!("{tag}x")));
    }
    for tags in [
        "<table><td>",
        "<ul><li>",
        "<a href><table><td>",
        "<b><p>",
        "<i></p>",
        "<svg><desc>",
        "<tr><td>",
    ] {
        is_bounded(&filled("", tags));
    }
}

#[test]
fn open_formatting_is_not_repeated_without_end() {
    let many: String = (0..4_000).map(|n| format!("<b {n}>")).collect();
    is_bounded(&filled(&format!("<p>{many}</p>"), "<p>x"));
    is_bounded(&filled(&format!("<p>{many}"), "<p>x</p>"));
    is_bounded(&filled("<p><b><i><u><s><code><em><strong>", "<p>x"));
    is_bounded(&filled("<a href><b><i>", "<a href>x"));
    is_bounded(&filled("<b><i><table>", "<b>x"));
}

#[test]
fn what_stands_wrongly_in_a_table_is_bounded() {
    for content in [
        "<br>",
        "<b>x</b>",
        "x<br>",
        "<tr>x",
        "<td>x",
        "<caption>",
        "<tbody>",
    ] {
        is_bounded(&filled("<table>", content));
    }
}

#[test]
fn many_attributes_and_long_tokens_are_bounded() {
    let names: String = (0..14_000).map(|n| format!("a{n} ")).collect();
    is_bounded(&format!("<b {names}>x"));
    is_bounded(&format!("</b {names}>x"));
    for (head, rest) in [
        ("<!--", "-"),
        ("", "<!--"),
        ("<!--", "--!"),
        ("", "<!-->"),
        ("<script>", "</"),
        ("", "<script>"),
        ("<", "b"),
        ("<b ", "a="),
        ("<b a='", "\""),
        ("", "<b a='"),
        ("", "<"),
        ("", "</"),
        ("", "&"),
        ("", "&amp;"),
        ("", "&lt"),
        ("", "<!"),
        ("<style>", "</style"),
        ("<pre>", "\n"),
        ("", "<pre>\n"),
        ("", "\u{a3}"),
        ("<b>", "\u{a0}&"),
        ("", "&nbsp;"),
        ("", "&#13;"),
        ("", ">"),
        ("", "<img alt='\"\"\"'>"),
        ("<a href='", "\""),
    ] {
        is_bounded(&filled(head, rest));
    }
    is_bounded(
        &format!(
            "<a href='http://x.example/' title='{}'>x</a>",
            "&".repeat(8_000)
        )
        .repeat(7),
    );
    is_bounded(&format!("<img alt='{}'>", "&".repeat(60_000)));
}
