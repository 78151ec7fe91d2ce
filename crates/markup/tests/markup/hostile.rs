//! Texts that were made to run something in the reader's browser.

use eddyline_markup::{body, text, title};
use proptest::prelude::*;

use super::judge::{faults_of_body, faults_of_title};

#[track_caller]
fn comes_back_harmless(html: &str) {
    let cleaned = body(html, |_| None);
    assert_eq!(
        faults_of_body(&cleaned),
        <Vec<String>>::new(),
        "the body {html:?}\nbecame {cleaned:?}"
    );
    assert_eq!(
        body(&cleaned, |_| None),
        cleaned,
        "the body {html:?}, cleaned twice"
    );
    let cleaned = title(html);
    assert_eq!(
        faults_of_title(&cleaned),
        <Vec<String>>::new(),
        "the title {html:?}\nbecame {cleaned:?}"
    );
    assert_eq!(
        title(&cleaned),
        cleaned,
        "the title {html:?}, cleaned twice"
    );
    let _ = text(html);
}

#[test]
fn scripts_and_event_handlers_come_back_harmless() {
    for html in [
        "<script>alert(1)</script>",
        "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
        "<scr<script>ipt>alert(1)</scr</script>ipt>",
        "<script><!--<script></script>--></script><b onclick=alert(1)>x",
        "<b onclick=alert(1) ONMOUSEOVER='alert(2)'>x</b>",
        "<img src=x onerror=alert(1)>",
        "<img src=\"http://x.example/\"onerror=\"alert(1)\">",
        "<img/src='http://x.example/'/onerror=alert(1)//>",
        "<img src=`x` onerror=alert(1)>",
        "<a href=\"http://x.example/\" on\u{0}click=alert(1)>x</a>",
        "<body onload=alert(1)><html onfocus=alert(1)><b>x",
        "<p style=\"background:url(javascript:alert(1))\" class=a id=b>x</p>",
        "<p style=\"position:fixed;top:0;left:0;width:9999px\">x</p>",
        "<details open ontoggle=alert(1)><summary>x</summary></details>",
        "<marquee onstart=alert(1)>x</marquee><blink>y</blink>",
        "<video><source onerror=alert(1)></video><audio src=x onerror=alert(1)>",
        "<a is=x-evil slot=y popovertarget=z href=https://x.example/>x</a>",
        "<div contenteditable tabindex=1 onfocus=alert(1) autofocus>x</div>",
        "\"><script>alert(1)</script>",
        "'-alert(1)-'",
        "<b title='&quot;><script>alert(1)</script>'>x</b>",
        "<img alt='&quot; onerror=&quot;alert(1)' title='`\"' src=http://x.example/>",
    ] {
        comes_back_harmless(html);
    }
}

#[test]
fn links_to_scripts_and_data_come_back_harmless() {
    let schemes = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "\u{feff}javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "java\u{0}script:alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A&#x61vascript:alert(1)",
        "&#0000106;avascript:alert(1)",
        "javascript&colon;alert(1)",
        "java&Tab;script&NewLine;:alert(1)",
        "javascript&#58;alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "vbscript:msgbox(1)",
        "view-source:javascript:alert(1)",
        "feed:javascript:alert(1)",
        "blob:https://x.example/1",
        "filesystem:https://x.example/1",
        "file:///etc/passwd",
        "ms-settings:privacy",
        "cid:unknown",
        "//evil.example/x",
        "/logout",
        "\\\\evil.example\\x",
        "?delete=1",
        "#top",
        "http:",
        "https:///",
        "http://[::1",
        "",
    ];
    for scheme in schemes {
        for quote in ["\"", "'", ""] {
            comes_back_harmless(&format!("<a href={quote}{scheme}{quote}>x</a>"));
            comes_back_harmless(&format!("<img src={quote}{scheme}{quote} alt=x>"));
            comes_back_harmless(&format!(
                "<A title=x HREF={quote}{scheme}{quote} href=http://x.example/>x</A>"
            ));
        }
    }
    comes_back_harmless("<img src=mailto:a@x.example>");
    comes_back_harmless(
        "<img srcset='javascript:alert(1) 1x' lowsrc=javascript:1 dynsrc=javascript:1>",
    );
    comes_back_harmless(
        "<a xlink:href=javascript:alert(1) ping=https://x.example/ target=_self download>x</a>",
    );
}

#[test]
fn tricks_of_mutation_come_back_harmless() {
    for html in [
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
        "<style><p title=\"</style><img src=x onerror=alert(1)>\">",
        "<textarea><p title=\"</textarea><img src=x onerror=alert(1)>\">",
        "<title><p title=\"</title><img src=x onerror=alert(1)>\">",
        "<xmp><p title=\"</xmp><img src=x onerror=alert(1)>\">",
        "<iframe><p title=\"</iframe><img src=x onerror=alert(1)>\">",
        "<noembed><p title=\"</noembed><img src=x onerror=alert(1)>\">",
        "<noframes><p title=\"</noframes><img src=x onerror=alert(1)>\">",
        "<plaintext><b onclick=alert(1)>x</plaintext>",
        "<template><img src=x onerror=alert(1)></template>",
        "<template><style><!--</style></template><a title=\"--><img src=x onerror=alert(1)>\">",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
        "<svg><p><style><!--</style><img src=x onerror=alert(1)>--></style>",
        "<svg><script>alert&lpar;1&rpar;</script></svg>",
        "<svg/onload=alert(1)><svg><animate attributeName=href values=javascript:alert(1) />",
        "<svg><foreignObject><p><style><img src=x onerror=alert(1)></style></foreignObject></svg>",
        "<svg><a xlink:href=\"javascript:alert(1)\"><text y=20>x</text></a></svg>",
        "<svg><desc><table><style><![CDATA[</style><img src=x onerror=alert(1)>]]>",
        "<svg><title><style><a id='</style><img src=x onerror=alert(1)>'></style></title></svg>",
        "<svg><use href=\"data:image/svg+xml,<svg id=x><script>alert(1)</script></svg>#x\">",
        "<math><mtext><table><mglyph><style><math><img src=x onerror=alert(1)></style>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<math><annotation-xml encoding=\"text/html\"><style><img src=x onerror=alert(1)></style>",
        "<math><annotation-xml encoding=\"text/html\"><p><style></math><img src=x onerror=alert(1)>",
        "<math><mi xlink:href=\"javascript:alert(1)\">x</mi></math>",
        "<math><a href=\"javascript:alert(1)\">x</a></math>",
        "<math><mtext><option><FAKEFAKE><option></option><mglyph><svg><mtext><style><a title=\"</style><img src onerror=alert(1)>\">",
        "<select><style></select><img src=x onerror=alert(1)></style></select>",
        "<select><template><style><!--</style><a rel=\"--></style></template></select><img src=x onerror=alert(1)>\">",
        "<table><a href=javascript:alert(1)><tr><a href=javascript:alert(2)></table>",
        "<table><td><table><td></td><a href='http://a.example/'><a href=javascript:1>",
        "<a href=http://a.example/><table><a href=http://b.example/><td><a href=http://c.example/>x",
        "<b><p><i></b><table><b></p></i></table>x",
        "<p><table><p></table><li><p></li></p>",
        "<h1><b><h2></h1></b></h2>x",
        "<ul><b><li><ul></b><li></ul></li></ul>",
        "<dl><dt><dd><dl><dd></dl><dt>x",
        "<nobr><b><nobr><i></b><nobr>x",
        "<frameset><frame src=javascript:alert(1)></frameset>",
        "<pre>\n\n\n&#10;\n&#10;x</pre><pre><b>\n\nx</b></pre>",
        "<listing>\n\nx</listing>",
    ] {
        comes_back_harmless(html);
    }
}

#[test]
fn frames_forms_and_what_changes_the_page_come_back_harmless() {
    for html in [
        "<base href=javascript:alert(1)//><a href=x>x</a>",
        "<meta http-equiv=refresh content=\"0;url=javascript:alert(1)\">",
        "<link rel=stylesheet href=https://x.example/x.css><link rel=import href=x>",
        "<form action=https://x.example/><input name=password><button formaction=javascript:1>x</form>",
        "<isindex action=javascript:alert(1) type=image>",
        "<iframe src=javascript:alert(1)></iframe><iframe srcdoc='<script>alert(1)</script>'>",
        "<object data=javascript:alert(1)></object><embed src=x><applet code=x>",
        "<input type=image src=x onerror=alert(1)><keygen autofocus onfocus=alert(1)>",
        "<map name=m><area href=javascript:alert(1)></map><img usemap=#m>",
        "<portal src=x></portal><dialog open>x</dialog><slot name=x></slot>",
        "<bgsound src=x><layer src=x></layer><ilayer src=x></ilayer><xml src=x id=y></xml>",
    ] {
        comes_back_harmless(html);
    }
}

#[test]
fn broken_text_comes_back_harmless() {
    for html in [
        "<",
        "</",
        "<!",
        "<!-",
        "<!--",
        "<!-->",
        "<!--->",
        "<?",
        "<a",
        "<a ",
        "<a href",
        "<a href=",
        "<a href='x",
        "</a",
        "<>",
        "</>",
        "< b>",
        "<b<i>",
        "<b/<i>",
        "<b\0>",
        "<\0b>",
        "\0",
        "&#0;",
        "&#13;\r\n\r",
        "&",
        "&lt",
        "&amp;lt;",
        "&nbsp;\u{a0}",
        "&#xD800;",
        "&#x110000;",
        "&zwj;&NotEqualTilde;",
        "\u{feff}<b>",
        "<!--[if IE]><script>alert(1)</script><![endif]-->",
        "<![if !IE]><b>x</b><![endif]>",
        "<!--[if gte mso 9]><xml><o:p>x</o:p></xml><![endif]--><o:p>y</o:p>",
        "<!-- --!><img src=x onerror=alert(1)> -->",
        "<!--><img src=x onerror=alert(1)>-->",
        "<![CDATA[<img src=x onerror=alert(1)>]]>",
        "<?xml ?><?php echo 1 ?>",
        "<!ENTITY x 'y'>&x;",
        "<b><i><u><a href=http://x.example/>never closed",
        "</b></i></table></td></p></br></html></body>x",
        "<td>x</td><tr><th>y",
        "<caption>x<col><colgroup>",
        "<table>x<tr>y<td>z</table>w",
        "<b =x ='y' \"z\" '>'>x</b>",
        "<a href=http://x.example/ href=javascript:1>x",
        "<A\u{c}HREF=http://x.example/\u{c}>x",
        "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
        "\u{ff1c}script\u{ff1e}",
        "<ſcript>x</ſcript>",
        "<İ>x",
    ] {
        comes_back_harmless(html);
    }
}

/// Tags in any order, which is what mutation is made of.
fn any_tags() -> impl Strategy<Value = String> {
    let names = [
        "a href=http://x.example/",
        "b",
        "i",
        "p",
        "div",
        "pre",
        "table",
        "tr",
        "td",
        "th",
        "tbody",
        "caption",
        "ul",
        "li",
        "dl",
        "dt",
        "h1",
        "h2",
        "br",
        "hr",
        "img src=http://x.example/",
        "svg",
        "math",
        "mtext",
        "mglyph",
        "foreignObject",
        "desc",
        "annotation-xml encoding=text/html",
        "style",
        "title",
        "noscript",
        "template",
        "select",
        "option",
        "form",
        "script",
        "textarea",
        "nobr",
        "plaintext",
        "blockquote",
        "col",
        "button",
        "frameset",
        "body",
        "html",
        "head",
        "selectedcontent",
        "a",
        "span title=x onclick=y",
    ];
    let piece =
        (prop::sample::select(names.to_vec()), 0..8).prop_map(|(name, shape)| match shape {
            0..4 => format!("<{name}>"),
            4..6 => format!("</{}>", name.split(' ').next().unwrap_or(name)),
            6 => format!("<{name}/>x"),
            _ => [
                "x",
                " ",
                "\n",
                "&#10;",
                "<!--",
                "-->",
                "&nbsp;",
                "<![CDATA[",
            ][name.len() % 8]
                .to_owned(),
        });
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// A text without markup is not parsed, and is what a parser makes of it.
    #[test]
    fn a_plain_text_is_what_it_is_after_an_empty_element(plain in "[^<&\u{0}\r]{0,60}") {
        prop_assert_eq!(text(&plain), text(&format!("<b></b>{plain}")));
    }

    #[test]
    fn tags_in_any_order_come_back_harmless(html in any_tags()) {
        comes_back_harmless(&html);
    }

    #[test]
    fn any_text_comes_back_harmless(html in any::<String>(), marks in "[<>/!ab p=\"'&;#x0\\-\u{0}\n]{0,60}") {
        comes_back_harmless(&html);
        comes_back_harmless(&marks);
    }
}
