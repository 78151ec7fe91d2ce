//! Tags in texts lead to the messages that have them.

use eddyline_model::applications::with_query;

const TAG: &str = "<b class=\"tag\">";
const END: &str = "</b>";

/// The HTML of a text with each tag as a link, but for those within a link. `search` is the path of
/// the search that tags lead to. The script does the same (`linkTags` in `row.js`).
pub(super) fn link_tags(html: &str, search: &str) -> String {
    let mut linked = String::with_capacity(html.len());
    let mut rest = html;
    let mut is_in_link = false;
    while let Some(at) = rest.find(TAG) {
        let (before, after) = rest.split_at(at);
        linked.push_str(before);
        is_in_link = is_in_link_after(before, is_in_link);
        let Some(end) = after.find(END) else { break };
        let name = &after[TAG.len()..end];
        rest = &after[end + END.len()..];
        if is_in_link {
            linked.push_str(&after[..end + END.len()]);
        } else {
            linked.push_str(&link(name, search));
        }
    }
    linked.push_str(rest);
    linked
}

/// A link to the messages with a tag.
pub(super) fn tag_path(tag: &str, search: &str) -> String {
    with_query(search, &[("tags", tag)])
}

fn link(name: &str, search: &str) -> String {
    let text = eddyline_markup::text(name);
    let tag = text.trim_start_matches(['#', '＃']).to_lowercase();
    let path = eddyline_markup::escape(&tag_path(&tag, search));
    format!("<a class=\"tag\" href=\"{path}\">{name}</a>")
}

/// Whether what follows a part stands in a link; `was` says it of the part itself.
fn is_in_link_after(part: &str, was: bool) -> bool {
    match (part.rfind("<a "), part.rfind("</a>")) {
        (Some(opened), Some(closed)) => closed < opened,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => was,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of this length would take hours if each tag had the text before it searched.
    #[test]
    fn many_tags_in_a_link_are_passed_over_in_one_go() {
        let tags = "<b class=\"tag\">#a</b> ".repeat(300_000);
        let html = format!("<a href=\"x\">{tags}</a><b class=\"tag\">#b</b>");
        let linked = link_tags(&html, "/s");
        assert_eq!(linked.matches(TAG).count(), 300_000);
        assert!(linked.ends_with("</a><a class=\"tag\" href=\"/s?tags=b\">#b</a>"));
    }

    #[test]
    fn a_tag_is_a_link_unless_it_stands_in_one() {
        for (html, linked) in [
            (
                "a <b class=\"tag\">#Tea</b> b",
                "a <a class=\"tag\" href=\"/s?tags=tea\">#Tea</a> b",
            ),
            (
                "<b class=\"tag\">#a</b><b class=\"tag\">#é</b>",
                "<a class=\"tag\" href=\"/s?tags=a\">#a</a><a class=\"tag\" href=\"/s?tags=%C3%A9\">#é</a>",
            ),
            (
                "<a href=\"x\"><b class=\"tag\">#a</b></a>",
                "<a href=\"x\"><b class=\"tag\">#a</b></a>",
            ),
            ("<b>#a</b>", "<b>#a</b>"),
            ("<b class=\"tag\">", "<b class=\"tag\">"),
        ] {
            assert_eq!(link_tags(html, "/s"), linked, "{html}");
        }
    }
}
