use super::chat;

mod sound;

#[track_caller]
fn shows(table: &[(&str, &str)]) {
    for (text, html) in table {
        assert_eq!(chat(text), *html, "{text:?}");
    }
}

fn link(address: &str, text: &str) -> String {
    format!(
        "<a href=\"{address}\" rel=\"nofollow noopener noreferrer\" target=\"_blank\">{text}</a>"
    )
}

#[track_caller]
fn stays(texts: &[&str]) {
    for text in texts {
        assert_eq!(chat(text), crate::escape(text), "{text:?}");
    }
}

#[test]
fn plain_text_is_escaped_and_keeps_its_lines() {
    shows(&[
        ("", ""),
        ("a\n\nb\n", "a\n\nb\n"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("<b>\"&amp;'", "&lt;b&gt;&quot;&amp;amp;&#39;"),
        (
            "<script>*a*</script>",
            "&lt;script&gt;<i>a</i>&lt;/script&gt;",
        ),
    ]);
    stays(&[
        "#",
        "1.one\n-two\n*three\n+ four\n2024. was a year",
        "- ",
        "a | b\n--|--|--",
        "a\n--",
        "---",
        "&#39; &copy;",
        "\\*a",
        "![alt]",
    ]);
}

#[test]
fn names_of_emoji_become_emoji() {
    shows(&[
        (":tada:", "🎉"),
        ("done :+1:, (:Wave:)!", "done 👍, (👋)!"),
        ("**:tada: shipped**", "<b>🎉 shipped</b>"),
        ("`:tada:` is :tada:", "<code>:tada:</code> is 🎉"),
        ("at 10:30:15 :100:", "at 10:30:15 💯"),
    ]);
    let long = format!(":{}:", "a".repeat(65));
    stays(&[
        ":no_such_name:",
        ":tada",
        "a:tada:",
        ":tada:b",
        "::tada::",
        ":::",
        ":ta da:",
        &long,
    ]);
}

#[test]
fn delimiters_at_the_boundaries_of_words_make_elements() {
    shows(&[
        ("**bold**", "<b>bold</b>"),
        ("*italic* _italic_", "<i>italic</i> <i>italic</i>"),
        ("~~gone~~ un~~done~~", "<s>gone</s> un<s>done</s>"),
        ("**two words**, (*one*)!", "<b>two words</b>, (<i>one</i>)!"),
        ("**a *b* c**", "<b>a <i>b</i> c</b>"),
        ("*a **b** c*", "<i>a <b>b</b> c</i>"),
        ("_a ~~**b**~~_", "<i>a <s><b>b</b></s></i>"),
        ("***a***", "<i><b>a</b></i>"),
        ("***a** b*", "<i><b>a</b> b</i>"),
        ("***a* b**", "<b><i>a</i> b</b>"),
        ("**a *b***", "<b>a <i>b</i></b>"),
        ("***a**", "*<b>a</b>"),
        ("**a***", "<b>a</b>*"),
        ("**a *b** c*", "<b>a *b</b> c*"),
        ("*a *b* c*", "*a <i>b</i> c*"),
        ("これは**太字**です", "これは<b>太字</b>です"),
        ("**\"quoted\"**", "<b>&quot;quoted&quot;</b>"),
        ("_snake_case_", "<i>snake_case</i>"),
        ("*a\nb* *c*", "*a\nb* <i>c</i>"),
    ]);
    stays(&[
        "snake_case and more_snake_case",
        "2*3*4 2**3**4",
        "2 * 3 * 4",
        "*.rs and *.md",
        "__init__ ****a**** ~a~ ~~~a~~~",
        "a * a* ** a** ~~ a~~",
        "*a **b ~~c _d",
        "a* b** c~~ d_",
        "** ** ** **",
        "^_^ >_< ^_^ >_< -_- -_-",
        "¯\\_(ツ)_/¯ ¯\\_(ツ)_/¯",
    ]);
}

#[test]
fn code_within_a_line_is_not_interpreted() {
    shows(&[
        ("`*a* <b> @x`", "<code>*a* &lt;b&gt; @x</code>"),
        ("``a`b``", "<code>a`b</code>"),
        ("`` `a` ``", "<code>`a`</code>"),
        ("` `", "<code> </code>"),
        ("*a `b* c` d*", "<i>a <code>b* c</code> d</i>"),
        ("`a``b` c", "<code>a``b</code> c"),
        ("``a` `b`", "``a<code> </code>b`"),
        ("`https://x.org`", "<code>https://x.org</code>"),
    ]);
    shows(&[("a ```b *c*``` d", "a <code>b *c*</code> d")]);
    stays(&["`a", "``", "`a\nb`", "``a`"]);
}

#[test]
fn fences_enclose_blocks_of_code() {
    shows(&[
        ("```\n*a*\n  b\n```", "<pre><code>*a*\n  b</code></pre>"),
        (
            "```rust\nlet a = 1 < 2;\n```",
            "<pre><code data-language=\"rust\"><b class=\"k\">let</b> a = <span class=\"n\">1</span> \
             &lt; <span class=\"n\">2</span>;</code></pre>",
        ),
        (
            "```C++\na\n\n",
            "<pre><code data-language=\"C++\">a</code></pre>",
        ),
        ("```one line```", "<pre><code>one line</code></pre>"),
        ("``` `a` ```", "<pre><code>`a`</code></pre>"),
        ("a\n```\nb\n```\nc", "a<pre><code>b</code></pre>c"),
        (
            "```\n> a\n``` \n```\nb",
            "<pre><code>&gt; a</code></pre><pre><code>b</code></pre>",
        ),
        (
            "```fn main() {\n}\n```",
            "<pre><code>fn main() {\n}</code></pre>",
        ),
        (
            "```a-language-with-a-very-long-name\nb\n```",
            "<pre><code>a-language-with-a-very-long-name\nb</code></pre>",
        ),
        ("```\"x\"\nb\n```", "<pre><code>\"x\"\nb</code></pre>"),
        ("```\na\nb```\nc", "<pre><code>a\nb</code></pre>c"),
        ("a ```\nb\n``` c", "a<pre><code>b</code></pre>c"),
        (
            "a ```b\nc``` *d*",
            "a<pre><code data-language=\"b\">c</code></pre><i>d</i>",
        ),
        (
            "````\n```\na\n```\n````",
            "<pre><code>```\na\n```</code></pre>",
        ),
        ("~~~\n*a*\n~~~", "<pre><code>*a*</code></pre>"),
        (
            "```\na\n``` and *b*",
            "<pre><code>a</code></pre>and <i>b</i>",
        ),
        ("```\n```", "<pre><code></code></pre>"),
    ]);
    shows(&[("```a``` and ```b```", "<code>a</code> and <code>b</code>")]);
    stays(&[
        "```",
        "```rust",
        "``` is a fence\nand b",
        "````",
        "~~~ a b\nc",
    ]);
}

#[test]
fn indented_lines_are_code() {
    shows(&[
        ("    *a*\n      b", "<pre><code>*a*\n  b</code></pre>"),
        ("\ta\n\n\t\tb\n", "<pre><code>a\n\n\tb</code></pre>"),
        (
            "    a *b*\nb *c*",
            "<pre><code>a *b*</code></pre>b <i>c</i>",
        ),
        (
            "a\n    @foo #define\n\n@foo",
            "a<pre><code>@foo #define</code></pre>\n<b class=\"at\">@foo</b>",
        ),
    ]);
    stays(&["    ", "\n\t\n", "   three"]);
}

#[test]
fn quoted_lines_are_one_quote() {
    shows(&[
        ("> a\n> *b*\nc", "<blockquote>a\n<i>b</i></blockquote>c"),
        ("a\n> b\n>\n> c\n\nd", "a<blockquote>b\n\nc</blockquote>\nd"),
        (
            ">     @a",
            "<blockquote><pre><code>@a</code></pre></blockquote>",
        ),
        (
            "> > a\n>> b",
            "<blockquote><blockquote>a\nb</blockquote></blockquote>",
        ),
        ("> *a\n> b*", "<blockquote>*a\nb*</blockquote>"),
        (
            "> ```\n> *a*\n> ```\n> b\nc",
            "<blockquote><pre><code>*a*</code></pre>b</blockquote>c",
        ),
        (
            "> - a\n> - b",
            "<blockquote><ul><li>a</li><li>b</li></ul></blockquote>",
        ),
    ]);
    stays(&[">_<", ">a", " > a", "a > b"]);
}

#[test]
fn lines_with_signs_are_lists() {
    let task = |state: &str, text: &str| {
        format!(
            "<li class=\"task\"><label><input type=\"checkbox\" disabled{state}> {text}</label></li>"
        )
    };
    shows(&[
        (
            "a:\n- *b*\n- c\nd",
            "a:<ul><li><i>b</i></li><li>c</li></ul>d",
        ),
        ("* a\n* b", "<ul><li>a</li><li>b</li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("1) a\n1) b", "<ol><li>a</li><li value=\"1\">b</li></ol>"),
        ("7. a\n8. b", "<ol><li value=\"7\">a</li><li>b</li></ol>"),
        (
            "- a\n  - b\n  - c\n- d",
            "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>",
        ),
        (
            "1. a\n   ```\n   b\n   ```\n2. c",
            "<ol><li>a<pre><code>b</code></pre></li><li>c</li></ol>",
        ),
        ("- a\n  more\n\n- b", "<ul><li>a\nmore</li><li>b</li></ul>"),
        ("- a\n1. b", "<ul><li>a</li></ul><ol><li>b</li></ol>"),
        ("- a\n\nb", "<ul><li>a</li></ul>\nb"),
        (
            "- [ ] a\n- [x] @b",
            &format!(
                "<ul>{}{}</ul>",
                task("", "a"),
                task(" checked", "<b class=\"at\">@b</b>")
            ),
        ),
    ]);
    stays(&["-a", "- ", "+ a", "1.a", "1986. A year", "a - b"]);
}

#[test]
fn signs_before_a_line_make_a_heading() {
    shows(&[
        ("# A *b*\nc", "<h1>A <i>b</i></h1>c"),
        ("a\n### b ###", "a<h3>b</h3>"),
        ("###### a#", "<h6>a#</h6>"),
    ]);
    stays(&["####### a", "# ", "#️⃣ a"]);
}

#[test]
fn rows_below_a_line_of_dashes_are_a_table() {
    shows(&[
        (
            "a | b\n--|--:\n1 | *2*\nc",
            "<table><tr><th>a</th><th class=\"end\">b</th></tr>\
             <tr><td>1</td><td class=\"end\"><i>2</i></td></tr></table>c",
        ),
        (
            "|a|b|\n|:-:|---|\n|`x|y`|z|w|\n|1|",
            "<table><tr><th class=\"center\">a</th><th>b</th></tr>\
             <tr><td class=\"center\"><code>x|y</code></td><td>z|w</td></tr>\
             <tr><td class=\"center\">1</td></tr></table>",
        ),
    ]);
    stays(&["a | b", "a | b\nc | d", "a | b\n--", "a\n-|-"]);
}

#[test]
fn addresses_become_links() {
    for (text, address, around) in [
        ("http://example.org", "http://example.org", ("", "")),
        ("HTTPS://x.org/A", "HTTPS://x.org/A", ("", "")),
        ("mailto:a@x.org", "mailto:a@x.org", ("", "")),
        (
            "see https://x.org/a#b, c",
            "https://x.org/a#b",
            ("see ", ", c"),
        ),
        ("https://x.org/?!.", "https://x.org/", ("", "?!.")),
        ("'https://x.org'", "https://x.org", ("&#39;", "&#39;")),
        ("\"https://x.org\"", "https://x.org", ("&quot;", "&quot;")),
        ("<https://x.org>", "https://x.org", ("&lt;", "&gt;")),
        ("(https://x.org/a_(b))", "https://x.org/a_(b)", ("(", ")")),
        ("[https://x.org/a[b]]", "https://x.org/a[b]", ("[", "]")),
        ("**https://x.org**", "https://x.org", ("<b>", "</b>")),
        (
            "_https://x.org/a_b_.",
            "https://x.org/a_b",
            ("<i>", "</i>."),
        ),
        ("https://x.org/a_*", "https://x.org/a_*", ("", "")),
        ("看http://x.org/看。看", "http://x.org/看", ("看", "。看")),
        ("https://x.org/5を見て", "https://x.org/5", ("", "を見て")),
        ("https://x.org/ok？ 好", "https://x.org/ok", ("", "？ 好")),
        ("https://x.org/w；对", "https://x.org/w", ("", "；对")),
        ("„https://x.org/a“", "https://x.org/a", ("„", "“")),
        ("«https://x.org/a»…", "https://x.org/a", ("«", "»…")),
        (
            "https://x.org/\u{202e}fdp",
            "https://x.org/",
            ("", "\u{202e}fdp"),
        ),
        (
            "https://x.org/a\u{200b}b",
            "https://x.org/a",
            ("", "\u{200b}b"),
        ),
        ("http://[::1]:80/", "http://[::1]:80/", ("", "")),
        (
            "> https://x.org",
            "https://x.org",
            ("<blockquote>", "</blockquote>"),
        ),
    ] {
        let (before, after) = around;
        let html = format!("{before}{}{after}", link(address, address));
        assert_eq!(chat(text), html, "{text:?}");
    }
    assert_eq!(
        chat("http://x.org/?a='&b=*c*"),
        link(
            "http://x.org/?a=&#39;&amp;b=*c*",
            "http://x.org/?a=&#39;&amp;b=*c*"
        )
    );
    stays(&[
        "http:// https://. mailto: mailto:,",
        "javascript:alert(1) data:text/html,x vbscript:x",
        "ftp://host/#part ssh://foo@host/*x* xhttp://y.z",
        &format!("https://x.org/{}", "a*b*_@c/".repeat(250)),
    ]);
    let www = "www.example.org/#a/@b";
    let html = link(&format!("http://{www}"), www);
    assert_eq!(chat(&format!("({www}).")), format!("({html})."));
    stays(&["www. www.a wwww.a.b a.www.b.c"]);
    let long = format!("https://x.org/{}", "a".repeat(2_000 - 14));
    assert_eq!(chat(&long), link(&long, &long));
}

#[test]
fn a_link_can_have_a_text() {
    let address = "https://x.org/a_(b)";
    for (text, shown) in [
        ("[a](https://x.org/a_(b))", "a"),
        (
            "[**a** @foo <](https://x.org/a_(b))",
            "<b>a</b> <b class=\"at\">@foo</b> &lt;",
        ),
        ("[a [b] c](https://x.org/a_(b))", "a [b] c"),
        ("[http://y.org](https://x.org/a_(b))", "http://y.org"),
        (
            "[[y](http://y.org)](https://x.org/a_(b))",
            "[y](http://y.org)",
        ),
        ("[a *b](https://x.org/a_(b))", "a *b"),
    ] {
        assert_eq!(chat(text), link(address, shown), "{text:?}");
    }
    assert_eq!(
        chat("*a [b* c](MAILTO:x@y.org) d*"),
        format!("<i>a {} d</i>", link("MAILTO:x@y.org", "b* c"))
    );
    assert_eq!(
        chat("[a](https://x.org/?q='\u{300c})"),
        link("https://x.org/?q=&#39;\u{300c}", "a")
    );
    stays(&[
        "[a](javascript:alert(1))",
        "[a](JavaScript:alert) [a](data:x) [a](//x.org) [a](/x) [a](x)",
        "[a]( https)",
        "[a] (b)",
        "[a](",
        "[a",
        "[[[[[[a]]]]]]",
    ]);
    assert_eq!(
        chat("[a](https://x.org/my report.pdf) [b](<https://x.org/b c>)"),
        format!(
            "{} {}",
            link("https://x.org/my%20report.pdf", "a"),
            link("https://x.org/b%20c", "b")
        )
    );
    assert_eq!(
        chat("[a `](https://x.org)` b"),
        "[a <code>](https://x.org)</code> b"
    );
    assert_eq!(
        chat("[](https://x.org)"),
        format!("[]({})", link("https://x.org", "https://x.org"))
    );
    stays(&[&format!("[a](https://x.org/{})", "b".repeat(2_000))]);
}

#[test]
fn mentions_and_tags_stand_out() {
    for (text, before, word, after) in [
        ("@foo", "", "@foo", ""),
        ("hello @foo-bar_baz.", "hello ", "@foo-bar_baz", "."),
        ("@J.Ä.", "", "@J.Ä", "."),
        ("(@foo)", "(", "@foo", ")"),
        ("@foo's", "", "@foo", "&#39;s"),
        ("@foo, ", "", "@foo", ", "),
        ("@田中 ", "", "@田中", " "),
        ("＠foo", "", "＠foo", ""),
        ("*@foo*", "<i>", "@foo", "</i>"),
        ("_hello @foo_", "<i>hello ", "@foo", "</i>"),
        ("@foo_", "", "@foo_", ""),
        ("@1", "", "@1", ""),
        ("_@foo_", "<i>", "@foo", "</i>"),
    ] {
        let html = format!("{before}<b class=\"at\">{word}</b>{after}");
        assert_eq!(chat(text), html, "{text:?}");
    }
    for (text, before, word, after) in [
        ("#tag", "", "#tag", ""),
        ("a #foo-bar_2-- b", "a ", "#foo-bar_2", "-- b"),
        ("#v1.2", "", "#v1", ".2"),
        ("#2nd", "", "#2nd", ""),
        ("(#tag)", "(", "#tag", ")"),
        ("**#tag**", "<b>", "#tag", "</b>"),
        ("＃ｈａｓｈ", "", "＃ｈａｓｈ", ""),
        ("#日本語。", "", "#日本語", "。"),
        ("#हिन्दी", "", "#हिन्दी", ""),
        ("#می‌خواهم", "", "#می‌خواهم", ""),
        ("#e\u{301}t", "", "#e\u{301}t", ""),
    ] {
        let html = format!("{before}<b class=\"tag\">{word}</b>{after}");
        assert_eq!(chat(text), html, "{text:?}");
    }
    stays(&[
        "me@foo.org a@b é@foo",
        "@ @@ @. @- @_ @http://",
        &format!("@{}", "x".repeat(81)),
        "C# a#b é#b 日本#日本 _#x",
        "a # ## #16 #- #_ #http://",
        "it&#39;s example.com/#part",
        "#️⃣",
        &format!("#{}", "x".repeat(101)),
    ]);
}
