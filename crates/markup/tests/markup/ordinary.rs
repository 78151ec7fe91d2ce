//! What honest tools write, and how it comes back.

use eddyline_markup::{body, escape, text, title};

#[track_caller]
fn stays(html: &str) {
    assert_eq!(body(html, |_| None), html);
}

#[test]
fn a_title_keeps_links_and_text() {
    assert_eq!(
        title(
            "<b>Bug</b> <a class=x href='https://x.example/1?a=1&amp;b=2' target=_blank>#1</a> & more"
        ),
        "Bug <a href=\"https://x.example/1?a=1&amp;b=2\" rel=\"nofollow noopener noreferrer\">#1</a> &amp; more"
    );
    assert_eq!(title("<p>one</p><p>two<br>three</p>"), "one two three");
    assert_eq!(title("1 < 2 <script>alert(1)</script>"), "1 &lt; 2 ");
}

#[test]
fn a_body_keeps_what_a_mail_program_shows() {
    stays("<h1>Title</h1><p>A <b>bold</b> <i>word</i><br>and <code>code</code>.</p><hr>");
    stays("<ul><li>one</li><li>two<ol start=\"3\"><li>three</li></ol></li></ul>");
    stays("<blockquote><p>said</p></blockquote><pre>a\n  b</pre>");
    stays(
        "<table><tbody><tr><th colspan=\"2\">a</th></tr><tr><td>b</td><td>c</td></tr></tbody></table>",
    );
    stays("<img src=\"https://x.example/a.png\" alt=\"A\" width=\"10\">");
    stays("<a href=\"mailto:a@x.example\" rel=\"nofollow noopener noreferrer\">mail</a>");
    stays("");
}

#[test]
fn what_is_left_open_is_closed() {
    let cleaned = |html| body(html, |_| None);
    assert_eq!(cleaned("<p>a<p>b<div>c"), "<p>a</p><p>b</p><div>c</div>");
    assert_eq!(
        cleaned("<ul><li>a<li>b</ul>c"),
        "<ul><li>a</li><li>b</li></ul>c"
    );
    assert_eq!(
        cleaned("<table><tr><td>a<td>b<tr><td>c"),
        "<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></tbody></table>"
    );
    assert_eq!(cleaned("<b>a<i>b</b>c"), "<b>a<i>b</i></b>c");
}

#[test]
fn text_in_a_table_stands_in_a_cell() {
    assert_eq!(
        body("<table>a<tr>b</table>", |_| None),
        "<table><tbody><tr><td>a</td></tr><tr><td>b</td></tr></tbody></table>"
    );
    assert_eq!(body("<tr><td>no table</td></tr>", |_| None), "no table");
}

#[test]
fn references_to_attachments_become_their_addresses() {
    let cid = |id: &str| (id == "pic 1&2").then(|| "/files/7/a\"b.png".to_owned());
    for reference in [
        "cid:pic 1&amp;2",
        "CID:pic%201%262",
        "&#99;id:pic 1&2",
        "cid:pic%201&2",
    ] {
        assert_eq!(
            body(&format!("<img src='{reference}' alt=x>"), cid),
            "<img src=\"/files/7/a&quot;b.png\" alt=\"x\">",
            "{reference}"
        );
    }
    assert_eq!(
        body("<a href=cid:pic%201%262>it</a>", cid),
        "<a href=\"/files/7/a&quot;b.png\" rel=\"nofollow noopener noreferrer\">it</a>"
    );
    assert_eq!(
        body("<img src=cid:other alt=x> src=\"cid:pic 1&2\"", cid),
        "<img alt=\"x\"> src=\"cid:pic 1&amp;2\""
    );
    let absolute = body("<img src=cid:x>", |_| {
        Some("https://x.example/?a='\"&lt;\u{a0}>".to_owned())
    });
    assert_eq!(body(&absolute, |_| None), absolute);
    assert_eq!(title("<a href=cid:x>y</a>"), "y");
    assert_eq!(
        body(
            "<p><a href=cid:other>x</a> <a href=cid:pic%201%262>it</a></p>",
            cid
        )
        .matches("</a>")
        .count(),
        1
    );
}

#[test]
fn the_text_is_what_one_reads() {
    assert_eq!(
        text("<p>Fish &amp; <b>chips</b></p>\n<p>1&nbsp;&lt;&#32;2 &amp;lt;</p>"),
        "Fish & chips\n1 < 2 &lt;"
    );
    assert_eq!(
        text("<table><tr><td>a<td>b</table><ul><li>c<li>d"),
        "a\nb\nc\nd"
    );
    assert_eq!(
        text("x<style>p {}</style><!-- y --><script>z</script>"),
        "x"
    );
    assert_eq!(text(" \n "), "");
}

#[test]
fn escaped_text_shows_itself() {
    let shown = "<b title=\"x\" lang='y'>&amp;</b>";
    assert_eq!(
        escape(shown),
        "&lt;b title=&quot;x&quot; lang=&#39;y&#39;&gt;&amp;amp;&lt;/b&gt;"
    );
    assert_eq!(text(&escape(shown)), shown);
}
