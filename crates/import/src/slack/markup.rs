//! Text of Slack as text of Eddyline: references in angle brackets, emphasis and entities.

use std::collections::{HashMap, HashSet};

use crate::foreign::{GrowingText, mention};

/// What references lead to.
#[derive(Default)]
pub(super) struct Names {
    /// The ids of people.
    pub(super) people: HashSet<String>,
    /// Names of channels, by id.
    pub(super) channels: HashMap<String, String>,
}

impl Names {
    /// The text as it is written here, as much of it as messages say.
    pub(super) fn text(&self, slack: &str) -> GrowingText {
        let mut text = GrowingText::default();
        // Code stays as it is, but for its entities.
        for (place, block) in slack.split("```").enumerate() {
            if place > 0 {
                text.push_str("```");
            }
            if place % 2 == 1 {
                text.push_str(&unescaped(block));
                continue;
            }
            for (place, piece) in block.split('`').enumerate() {
                if place > 0 {
                    text.push_str("`");
                }
                match place % 2 {
                    1 => text.push_str(&unescaped(piece)),
                    _ => self.prose(piece, &mut text),
                }
            }
        }
        text
    }

    fn prose(&self, piece: &str, text: &mut GrowingText) {
        let mut rest = piece;
        // Behind the last end no reference is looked for, which would take a pass for each bracket.
        let mut has_end = true;
        while let Some(start) = rest.find('<').filter(|_| !text.is_cut) {
            text.push_str(&unescaped(&emphasis(&rest[..start])));
            rest = &rest[start + 1..];
            let end = has_end.then(|| rest.find('>')).flatten();
            has_end = end.is_some();
            match end {
                Some(end) => {
                    text.push_str(&self.reference(&rest[..end]));
                    rest = &rest[end + 1..];
                }
                None => text.push_str("<"),
            }
        }
        text.push_str(&unescaped(&emphasis(rest)));
    }

    /// What stands between angle brackets.
    fn reference(&self, inner: &str) -> String {
        let (target, label) = match inner.split_once('|') {
            Some((target, label)) => (target, Some(unescaped(label))),
            None => (inner, None),
        };
        let label = label.filter(|label| !label.trim().is_empty());
        match target.split_at_checked(1) {
            Some(("@", id)) if self.people.contains(id) => mention(id),
            Some(("@", id)) => label.unwrap_or_else(|| id.to_owned()),
            Some(("#", id)) => {
                let name = self.channels.get(id).cloned().or(label);
                format!("#{}", name.unwrap_or_else(|| id.to_owned()))
            }
            Some(("!", command)) => special(command, label),
            _ => {
                let address = unescaped(target);
                match label {
                    Some(label) if label != address && address.starts_with("http") => {
                        format!("[{}]({address})", label.replace(['[', ']'], " "))
                    }
                    Some(label) => label,
                    None => address
                        .strip_prefix("mailto:")
                        .unwrap_or(&address)
                        .to_owned(),
                }
            }
        }
    }
}

/// A mention of many, or a date.
fn special(command: &str, label: Option<String>) -> String {
    match command.split('^').next().unwrap_or_default() {
        "here" | "channel" | "everyone" | "group" => "@everyone".to_owned(),
        other => label.unwrap_or_else(|| other.to_owned()),
    }
}

/// `*bold*` and `~struck~` with the delimiters that they have here. `_` means the same.
fn emphasis(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (place, line) in text.split('\n').enumerate() {
        if place > 0 {
            out.push('\n');
        }
        let bold = doubled(line, '*');
        out.push_str(&doubled(&bold, '~'));
    }
    out
}

/// Doubles a delimiter where it stands around words of one line.
fn doubled(line: &str, delimiter: char) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    let mut before = None;
    while let Some(start) = rest.find(delimiter) {
        let behind = &rest[start + 1..];
        let opens = rest[..start]
            .chars()
            .next_back()
            .or(before)
            .is_none_or(|c| !c.is_alphanumeric())
            && behind
                .chars()
                .next()
                .is_some_and(|c| !c.is_whitespace() && c != delimiter);
        let end = behind.find(delimiter).filter(|end| {
            let inner = &behind[..*end];
            let after = behind[end + 1..].chars().next();
            opens
                && inner
                    .chars()
                    .next_back()
                    .is_some_and(|c| !c.is_whitespace())
                && after.is_none_or(|c| !c.is_alphanumeric() && c != delimiter)
        });
        out.push_str(&rest[..start]);
        match end {
            Some(end) => {
                for part in [&behind[..end], ""] {
                    out.extend([delimiter, delimiter]);
                    out.push_str(part);
                }
                rest = &behind[end + 1..];
            }
            None => {
                out.push(delimiter);
                rest = behind;
            }
        }
        before = Some(delimiter);
    }
    out.push_str(rest);
    out
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_as_it_is_here() {
        let names = Names {
            people: HashSet::from(["U1".to_owned()]),
            channels: HashMap::from([("C1".to_owned(), "general".to_owned())]),
        };
        let ada = mention("U1");
        for (slack, expected) in [
            ("hi <@U1>!", format!("hi {ada}!").as_str()),
            ("<@U1|ada> and <@U9|bob>", format!("{ada} and bob").as_str()),
            ("see <#C1> and <#C2|old>", "see #general and #old"),
            ("<!here> <!channel|@channel>", "@everyone @everyone"),
            ("<!subteam^S1|@crew>", "@crew"),
            ("<!date^1^{date}|today>", "today"),
            (
                "<https://a.example/?a=1&amp;b=2>",
                "https://a.example/?a=1&b=2",
            ),
            (
                "<https://a.example|the page>",
                "[the page](https://a.example)",
            ),
            ("<mailto:a@b.example|a@b.example>", "a@b.example"),
            (
                "*bold* and ~gone~ and _soft_",
                "**bold** and ~~gone~~ and _soft_",
            ),
            ("2 * 3 * 4, a*b*c", "2 * 3 * 4, a*b*c"),
            ("`*a* &lt;b&gt;` *c*", "`*a* <b>` **c**"),
            ("```<@U1> *x* &amp;```", "```<@U1> *x* &```"),
            ("a &lt;script&gt; &amp;amp;", "a <script> &amp;"),
            ("open < end", "open < end"),
            ("<", "<"),
            ("<>", ""),
            ("<@", "<@"),
        ] {
            assert_eq!(names.text(slack).text, expected, "{slack}");
        }
    }

    #[test]
    fn a_text_of_references_has_a_bound() {
        let names = Names {
            people: HashSet::from(["U1".repeat(100)]),
            channels: HashMap::from([("C".to_owned(), "n".repeat(500))]),
        };
        assert!(!names.text(&"<#C>".repeat(3000)).is_cut);
        for reference in ["<#C>", "`a` <#C>", "```b``` <#C>"] {
            let expanded = names.text(&reference.repeat(20_000));
            assert!(
                expanded.is_cut && expanded.text.len() <= 4 << 20,
                "{reference}"
            );
        }
    }

    #[test]
    fn brackets_without_an_end_take_no_pass_for_each() {
        for start in ["", "<#C>", "> "] {
            let many = format!("{start}{}", "<".repeat(400_000));
            assert!(
                Names::default().text(&many).text.ends_with("<<<"),
                "{start}"
            );
        }
    }
}
