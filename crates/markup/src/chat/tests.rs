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
        "# heading",
        "1. one\n- two\n* three",
        "    four spaces\nand none",
        "a | b\n--|--",
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
        "* a* ** a** ~~ a~~",
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
    stays(&["`a", "``", "`a\nb`", "a ```b``` c", "``a`"]);
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
            "```a-language-with-a-very-long-name\nb",
            "<pre><code>a-language-with-a-very-long-name\nb</code></pre>",
        ),
        ("```\"x\"\nb", "<pre><code>\"x\"\nb</code></pre>"),
        ("```\n```", "<pre><code></code></pre>"),
    ]);
    stays(&[
        "```",
        "```rust",
        "a ```\nb\n```",
        "```a``` and ```b```",
        "````",
    ]);
}

#[test]
fn a_message_of_indented_lines_is_code() {
    shows(&[
        ("    *a*\n      b", "<pre><code>*a*\n  b</code></pre>"),
        ("\ta\n\n\t\tb\n", "<pre><code>a\n\n\tb</code></pre>"),
        ("    a\nb *c*", "    a\nb <i>c</i>"),
        (
            "    @foo #define\n@foo",
            "    @foo #define\n<b class=\"at\">@foo</b>",
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
            "<blockquote>    <b class=\"at\">@a</b></blockquote>",
        ),
        ("> > a", "<blockquote>&gt; a</blockquote>"),
        ("> *a\n> b*", "<blockquote>*a\nb*</blockquote>"),
        ("> ```\n> a", "<blockquote>```\na</blockquote>"),
    ]);
    stays(&[">_<", ">a", " > a", "a > b"]);
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
        "www.example.org/#a/@b",
        "ftp://host/#part ssh://foo@host/*x* xhttp://y.z",
        &format!("https://x.org/{}", "a*b*_@c/".repeat(250)),
    ]);
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
        chat("[a](https://x.org b)"),
        format!("[a]({} b)", link("https://x.org", "https://x.org"))
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
        "# ## #16 #- #_ #http://",
        "it&#39;s example.com/#part",
        "#️⃣",
        &format!("#{}", "x".repeat(101)),
    ]);
}
