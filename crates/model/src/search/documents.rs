//! The words of messages that are documents: what integrations push, files, mails.

use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "snake_case")]
struct Document {
    title: String,
    body: String,
    file_name: String,
    subject: String,
    content: String,
}

/// What can be read in a document.
pub(super) fn text_of(json: &str) -> String {
    let document: Document = serde_json::from_str(json).unwrap_or_default();
    let mut text = document.file_name + "\n" + &document.subject;
    for html in [document.title, document.body, document.content] {
        text.push('\n');
        push_text(&html, &mut text);
    }
    text
}

/// The first line that can be read in a document.
pub(crate) fn heading(json: &str) -> String {
    let text = text_of(json);
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

/// The first line that can be read in the body of a document.
pub(crate) fn discussed(json: &str) -> Option<String> {
    let document: Document = serde_json::from_str(json).unwrap_or_default();
    let mut text = String::new();
    push_text(&document.body, &mut text);
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

/// The name of who did what a document tells of.
pub(crate) fn document_author(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Authored {
        author: Option<Named>,
    }
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let authored: Authored = serde_json::from_str(json).ok()?;
    authored.author.map(|author| author.name)
}

/// What can be read in HTML that was sanitised.
pub(crate) fn text_of_html(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    push_text(html, &mut text);
    text
}

/// Adds what can be read in HTML that was sanitised, so that each `<` in it begins a tag.
fn push_text(html: &str, text: &mut String) {
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with('<') {
            push_tag(rest, text)
        } else {
            push_entity(rest, text)
        };
        rest = &rest[length..];
    }
    text.push_str(rest);
}

/// Passes over a tag. What lies on both sides of one may be two words.
fn push_tag(rest: &str, text: &mut String) -> usize {
    let inline = [
        "a", "b", "i", "u", "s", "em", "strong", "code", "span", "small", "sub", "sup", "del",
        "ins",
    ];
    let name = rest[1..].trim_start_matches('/');
    let name = &name[..name
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(name.len())];
    if !inline.contains(&name) {
        text.push('\n');
    }
    let mut quoted = false;
    let end = rest.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b'>' && !quoted
    });
    end.map_or(rest.len(), |end| end + 1)
}

fn push_entity(rest: &str, text: &mut String) -> usize {
    let known = [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&#39;", '\''),
        ("&nbsp;", ' '),
    ];
    match known.iter().find(|(entity, _)| rest.starts_with(entity)) {
        Some((entity, meaning)) => {
            text.push(*meaning);
            entity.len()
        }
        None => {
            text.push('&');
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::events::MessageKind;
    use crate::search::of_message;

    fn filed(event: MessageKind, json: &str) -> Vec<String> {
        of_message(event, json).iter().map(str::to_owned).collect()
    }

    #[test]
    fn inbox_messages_are_found_by_what_can_be_read_in_them() {
        let json = r#"{"author":null,"title":"<a href=\"http://x/hidden>\">Crash</a> &amp; burn",
            "body":"<p>one</p><p>t<b>w</b>o</p>","attachments":[]}"#;
        assert_eq!(
            filed(MessageKind::Activity, json),
            ["burn", "crash", "one", "two"]
        );
        assert_eq!(filed(MessageKind::Action, json), Vec::<String>::new());
    }

    #[test]
    fn files_are_found_by_their_names_and_mails_by_what_they_say() {
        assert_eq!(
            filed(
                MessageKind::File,
                r#"{"file_name":"Plan B.pdf","path":"/files/x"}"#
            ),
            ["b", "pdf", "plan"]
        );
        let mail = r#"{"subject":"Hello","content":"<br>you","contentType":"text/html"}"#;
        assert_eq!(filed(MessageKind::Mail, mail), ["hello", "you"]);
        assert_eq!(
            filed(MessageKind::Mail, "no document"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_document_is_headed_by_its_name_its_title_or_its_first_line() {
        for (json, heading) in [
            (
                r#"{"file_name":"Plan B.pdf","path":"/files/x"}"#,
                "Plan B.pdf",
            ),
            (
                r#"{"title":"closed <a href=\"x\">#7</a>","body":"<p>x</p>"}"#,
                "closed #7",
            ),
            (r#"{"title":"","body":"<p>a &lt; b</p><p>c</p>"}"#, "a < b"),
            (r#"{"subject":"Hello <you>","content":"x"}"#, "Hello <you>"),
            ("no document", ""),
        ] {
            assert_eq!(super::heading(json), heading);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(html in "[<>&a-z;\"/ä]{0,40}") {
            push_text(&html, &mut String::new());
        }
    }
}
