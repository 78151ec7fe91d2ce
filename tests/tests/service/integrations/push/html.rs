//! HTML of strangers comes back harmless, wherever it was put.

use eddyline_client::Json;
use eddyline_tests::{Listener, Tenant, on_shared_servers};
use serde_json::json;

use crate::integrations::Source;

on_shared_servers![
    bodies_keep_what_mail_programs_show,
    titles_and_values_keep_links_and_nothing_else,
    hostile_html_comes_back_harmless,
    what_is_no_html_is_shown_as_it_was_written,
];

const REL: &str = "rel=\"nofollow noopener noreferrer\"";

/// Shows: 2.29
async fn bodies_keep_what_mail_programs_show(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let kept = "<h1>A</h1><p>b <b>c</b> <i>d</i> <code>e</code></p><ul><li>f</li></ul><blockquote>g</blockquote><pre>h</pre>";
    let pushed = source
        .push(&json!({
            "event": "discussion", "external_thread_id": "7", "title": "x", "body": kept,
            "thread": {"title": "x", "body": kept},
        }))
        .await;
    assert_eq!(
        (&pushed["body"], &pushed["thread"]["body"]),
        (&json!(kept), &json!(kept))
    );
    let links = r#"<a href="https://x.example/?a=1&amp;b=2" onclick="x()" target="_blank">one</a>"#;
    let pushed = source
        .push(&json!({"event": "discussion", "external_thread_id": "7", "body": links}))
        .await;
    let expected = format!(r#"<a href="https://x.example/?a=1&amp;b=2" {REL}>one</a>"#);
    assert_eq!(pushed["body"], expected);
}

/// Shows: 2.29
async fn titles_and_values_keep_links_and_nothing_else(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let written =
        r#"<b>closed</b> <a href="mailto:x@x.example">#7</a><img src="https://x.example/i">"#;
    let kept = format!(r#"closed <a href="mailto:x@x.example" {REL}>#7</a>"#);
    let pushed = source
        .push(&json!({
            "event": "activity", "external_thread_id": "7", "title": written,
            "thread": {"title": written, "fields": [{"label": "<b>By</b>", "value": written}]},
        }))
        .await;
    let thread = &pushed["thread"];
    for shown in [
        &pushed["title"],
        &thread["title"],
        &thread["fields"][0]["value"],
    ] {
        assert_eq!(shown.as_str().unwrap().trim(), kept);
    }
    // Labels, statuses and names are text, and stay what they are.
    assert_eq!(thread["fields"][0]["label"], "<b>By</b>");
}

/// None of these may come back in a form that does anything.
pub(crate) const HOSTILE: [&str; 16] = [
    "<script>alert(1)</script>x",
    "<img src=x onerror=alert(1)>x",
    "<svg onload=alert(1)>x</svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>x",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>x",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href=\" java\tscript:alert(1)\">x</a>",
    "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
    "<iframe src=\"https://x.example\"></iframe>x",
    "<form action=\"https://x.example\"><input name=q><button>x</button></form>",
    "<style>*{background:url(https://x.example)}</style>x",
    "<p style=\"position:fixed;top:0\" class=\"btn\" id=\"main\">x</p>",
    "<base href=\"https://x.example\">x<meta http-equiv=refresh content=0>",
    "<object data=\"https://x.example\"></object><embed src=x>x",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">x",
    "<!--><img src=x onerror=alert(1)>-->x<![CDATA[<script>alert(1)</script>]]>",
];

/// Whether anything is left that a browser would run, load, or be led astray by.
fn is_harmless(html: &str) -> bool {
    let lower = html.to_ascii_lowercase();
    let tags = [
        "script", "svg", "math", "iframe", "form", "input", "button", "style", "base", "meta",
        "object", "embed", "noscript",
    ];
    let inside_tags = lower
        .split('<')
        .skip(1)
        .map(|tag| tag.split('>').next().unwrap_or_default());
    !inside_tags.into_iter().any(|tag| {
        let name = tag
            .trim_start_matches('/')
            .split(' ')
            .next()
            .unwrap_or_default();
        tags.contains(&name)
            || [" on", "javascript:", "data:", " style=", " class=", " id="]
                .iter()
                .any(|bad| tag.contains(bad))
    }) && !lower.contains("<!--")
}

/// Shows: 2.29
async fn hostile_html_comes_back_harmless(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    for (number, html) in HOSTILE.into_iter().enumerate() {
        let pushed = source.push(&json!({
            "event": "discussion", "external_thread_id": number, "title": format!("x {html}"), "body": html,
            "thread": {
                "title": format!("x {html}"), "body": html, "fields": [{"label": "x", "value": html}],
            },
        })).await;
        let thread = &pushed["thread"];
        let shown = [
            &pushed["title"],
            &pushed["body"],
            &thread["title"],
            &thread["body"],
            &thread["fields"][0]["value"],
        ];
        for shown in shown {
            assert!(
                is_harmless(shown.as_str().unwrap()),
                "{html} became {shown}"
            );
        }
        assert_eq!(stream.json().await, pushed);
    }
    for html in [
        "javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//x.example",
        "file:///etc/passwd",
    ] {
        for thread in [
            json!({"title": "x", "external_url": html}),
            json!({"title": "x", "actions": [{"@type": "ViewAction", "name": "x", "url": html}]}),
        ] {
            let message = json!({"event": "activity", "title": "x", "external_thread_id": "7", "thread": thread});
            let refused = crate::integrations::try_push(&source.client, &message).await;
            assert_eq!(refused.status, 400, "{thread}");
        }
        let author = json!({"name": "x", "avatar": html});
        let message =
            json!({"event": "activity", "title": "x", "external_thread_id": "7", "author": author});
        assert_eq!(
            crate::integrations::try_push(&source.client, &message)
                .await
                .status,
            400,
            "{author}"
        );
    }
}

async fn what_is_no_html_is_shown_as_it_was_written(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let pushed: Json = source
        .push(&json!({
            "event": "activity", "external_thread_id": "7", "title": "1 < 2 && 3 > 2",
            "body": "a < b", "author": {"name": "<Zoë>"},
        }))
        .await;
    assert_eq!(pushed["title"], "1 &lt; 2 &amp;&amp; 3 &gt; 2");
    assert_eq!(
        (&pushed["body"], &pushed["author"]["name"]),
        (&json!("a &lt; b"), &json!("<Zoë>"))
    );
}
