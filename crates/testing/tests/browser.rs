//! How the browser of the tests is used, on pages of a server on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use serde_json::json;

use eddyline_testing::browser::{Browser, Cookie};

/// Serves pages by their paths until the test process ends, and gives the address. A form that is
/// sent is answered with what was in it.
fn serve(pages: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The browser opens connections ahead, which it may never use.
            thread::spawn(move || answer(stream, pages));
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream, pages: &[(&str, &str)]) -> Option<()> {
    let mut request = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    request.read_line(&mut line).ok()?;
    let (method, path) = (
        line.split(' ').next()?.to_owned(),
        line.split(' ').nth(1)?.to_owned(),
    );
    let mut length = 0;
    while line.trim() != "" {
        line.clear();
        request.read_line(&mut line).ok()?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut form = vec![0; length];
    request.read_exact(&mut form).ok()?;
    let page = pages
        .iter()
        .find(|(name, _)| *name == path)
        .map(|(_, page)| (*page).to_owned());
    let (status, page) = match page {
        _ if method == "POST" => (
            "200 OK",
            format!("{THANKS}{}", String::from_utf8_lossy(&form)),
        ),
        Some(page) => ("200 OK", page),
        None => ("404 Not Found", String::new()),
    };
    let length = page.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/html; charset=utf-8\r\n\
         Content-Security-Policy: frame-src 'none'\r\nContent-Length: {length}\r\n\
         Set-Cookie: session=abc; HttpOnly; SameSite=Strict; Path=/\r\nSet-Cookie: plain=1\r\n\r\n{page}"
    )
    .ok()
}

/// The icon keeps the browser from asking for one.
const THANKS: &str = "<!doctype html><title>Thanks</title><link rel=icon href=data:,>";
const FORM: &str = r#"<!doctype html><html lang="en"><title>Invite</title>
<link rel="icon" href="data:,">
<h1>Invite people</h1>
<script>document.title += ", with scripts"</script>
<form method="post">
  <label for="mail">Email  address <b aria-hidden="true">*</b></label>
  <input id="mail" name="mail" value="old">
  <label>Role <select name="role"><option>Guest</option><option value="m">Member</option></select></label>
  <label><input type="checkbox" name="admin"> Administrator</label>
  <p hidden><label>Email address <input name="other"></label> <button>Send invitation</button></p>
  <button>Send invitation</button> <button aria-label="Remove Ada">✕</button>
  <button>Twin</button> <button>Twin</button>
</form>
<a href="/next">Go on</a> <a href="/next"><b>Go</b> on</a>"#;

const PAGES: &[(&str, &str)] = &[
    ("/", FORM),
    (
        "/next",
        "<title>Next</title><p style='display:none'>No<p>Yes",
    ),
];

#[test]
fn a_form_is_filled_in_and_sent_by_what_can_be_read() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let base = serve(PAGES);
    browser.open(&base);
    assert_eq!(browser.title(), "Invite, with scripts");
    assert_eq!(browser.attribute("#mail", "value").as_deref(), Some("old"));
    assert_eq!(browser.attribute("#mail", "required"), None);

    browser.fill_label("Email address", "ada@acme.example");
    browser.choose("Role", "Member");
    browser.tick("Administrator");
    browser.press("Send invitation");
    assert_eq!(browser.title(), "Thanks");
    assert_eq!(
        browser.text(),
        "mail=ada%40acme.example&role=m&admin=on&other="
    );
    assert_eq!(browser.log(), [""; 0]);
}

#[test]
fn links_and_keys_lead_to_other_pages() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let base = serve(PAGES);
    browser.open(&base);
    browser.press("Go on");
    assert_eq!(browser.url(), format!("{base}/next"));
    assert_eq!((browser.text().as_str(), browser.count("p")), ("Yes", 2));
    assert!(browser.source().contains(">No<"));

    browser.open(&base);
    browser.fill("[name=mail]", "new");
    browser.press_key_enter("[name=mail]");
    assert_eq!(browser.text(), "mail=new&role=Guest&other=");
}

#[test]
fn pages_work_without_their_scripts() {
    let Some(browser) = Browser::with_javascript_disabled() else {
        return;
    };
    browser.open(&serve(PAGES));
    assert_eq!(browser.title(), "Invite");
    assert_eq!(
        browser.execute("return document.querySelector('h1').textContent"),
        "Invite people"
    );
    browser.fill_label("Email address", "ada");
    browser.press("Send invitation");
    assert_eq!(browser.text(), "mail=ada&role=Guest&other=");
}

#[test]
fn what_leads_nowhere_is_not_waited_for() {
    const PAGE: &str = r##"<!doctype html><link rel="icon" href="data:,"><h1 id="top">Here</h1>
        <form id="kept" onsubmit="event.preventDefault(); entitle('kept')"><button>Keep</button></form>
        <form><input required name="q"><button>Refuse</button></form>
        <a href="#top">Top</a> <a href="/x" onclick="event.preventDefault(); entitle('caught')">Catch</a>
        <dialog open><form method="dialog"><button>Close</button></form></dialog>
        <details><summary>More</summary><p>Details</details> <textarea name="text"></textarea>
        <script>function entitle(text) { document.title = text }</script>"##;
    let base = serve(&[("/", PAGE)]);
    for (browser, scripts) in [
        (Browser::start(), true),
        (Browser::with_javascript_disabled(), false),
    ] {
        let Some(browser) = browser else { return };
        browser.open(&base);
        for name in ["Refuse", "Top", "Close", "More"] {
            browser.press(name);
        }
        browser.press_key_enter("[name=q]");
        browser.press_key_enter("textarea");
        if scripts {
            browser.press("Keep");
            assert_eq!(browser.title(), "kept");
            browser.press("Catch");
            assert_eq!(browser.title(), "caught");
        }
        assert_eq!(browser.url(), format!("{base}/#top"));
        assert!(browser.text().contains("Details") && !browser.text().contains("Close"));
    }
}

#[test]
fn cookies_are_told_as_the_server_set_them() {
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.open(&serve(PAGES));
    let mut cookies = browser.cookies();
    cookies.sort_by(|a, b| a.name.cmp(&b.name));
    let cookie = |name: &str, value: &str, http_only, same_site: Option<&str>| Cookie {
        name: name.into(),
        value: value.into(),
        http_only,
        secure: false,
        same_site: same_site.map(Into::into),
    };
    let wanted = [
        cookie("plain", "1", false, None),
        cookie("session", "abc", true, Some("Strict")),
    ];
    assert_eq!(cookies, wanted);
}

#[test]
fn what_a_page_asks_of_others_fails_and_is_in_the_log() {
    const PAGE: &str = r#"<!doctype html><link rel="icon" href="data:,">
        <script src="https://cdn.example/x.js"></script><img src="http://192.0.2.1/x.png">
        <img src="/missing.png"><iframe src="/frame"></iframe><script>console.warn("hm"); nothing()</script>"#;
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.open(&serve(&[("/", PAGE)]));
    let log = browser.log();
    for part in [
        "SEVERE network: https://cdn.example/x.js - Failed to load resource: net::ERR_NAME_NOT_RESOLVED",
        "SEVERE network: http://192.0.2.1/x.png - Failed to load resource: net::ERR_NAME_NOT_RESOLVED",
        "/missing.png - Failed to load resource: the server responded with a status of 404",
        "violates the following Content Security Policy directive: \"frame-src 'none'\"",
        "WARNING console-api: ",
        "nothing is not defined",
    ] {
        assert!(
            log.iter().any(|line| line.contains(part)),
            "{part} in {log:#?}"
        );
    }
    assert_eq!(log.len(), 6, "{log:#?}");
    assert_eq!(browser.log(), [""; 0], "only what is new");
}

#[test]
fn a_page_may_have_little_room() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let base = serve(PAGES);
    browser.set_window_size(320, 640);
    browser.open(&base);
    assert_eq!(
        browser.execute("return `${innerWidth} ${innerHeight}`"),
        "320 640"
    );
}

#[test]
fn a_failure_tells_of_the_page() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let base = serve(PAGES);
    browser.open(&format!("{base}/next"));
    let failure = |call: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("it cannot work");
        panic
            .downcast_ref::<String>()
            .expect("a formatted message")
            .clone()
    };
    let page = format!(
        "\n--- on {base}/next, titled \"Next\", with the text:\nYes\n--- the focus is on <body></body>\n---"
    );
    assert_eq!(
        failure(&|| browser.press("Nowhere")),
        format!("0 buttons or links \"Nowhere\"{page}")
    );
    assert_eq!(
        failure(&|| browser.fill("#none", "")),
        format!("nothing matches \"#none\"{page}")
    );
    assert!(
        failure(&|| drop(browser.execute("return nothing"))).contains("nothing is not defined")
    );

    browser.open(&base);
    assert!(failure(&|| browser.press("Twin")).starts_with("2 buttons or links \"Twin\""));
    assert!(failure(&|| browser.open("http://third.example/")).contains("ERR_NAME_NOT_RESOLVED"));
}

#[test]
fn an_audit_names_every_fault() {
    const PAGE: &str = r##"<!doctype html><link rel="icon" href="data:,"><style>
        .cue::after { content: "new"; color: #999 } .old { opacity: 0.5 } .veil { background: #000a }
        ::placeholder { color: #ccc }</style><h1>One</h1><h1>Two</h1>
        <p id="x"><b id="x">same</b> <input placeholder="Your name">
        <label><select><option>One</option></select></label><label for="t"></label><textarea id="t"></textarea>
        <img src="data:,"> <svg role="img"></svg> <button><svg></svg></button> <a href="/"></a>
        <button tabindex="2">Late</button> <input type="submit" value=""><iframe></iframe>
        <p style="color: #777">grey <p style="color: oklch(0.7 0 0)">modern <p class="cue"> <p class="old">faded
        <p class="veil">veiled <p style="background: linear-gradient(red, blue)">shaded"##;
    let Some(browser) = Browser::start() else {
        return;
    };
    browser.open(&serve(&[("/", PAGE)]));
    let wanted = [
        "no language: <html> has no lang",
        "no title",
        "2 first headings (h1)",
        "2 elements with the id x",
        "not judged, a frame: <iframe>",
        r#"no label: <input placeholder="Your name">"#,
        "no label: <select> One",
        r#"no label: <textarea id="t">"#,
        r#"no alternative: <img src="data:,">"#,
        r#"no alternative: <svg role="img">"#,
        "no text: <button>",
        r#"no text: <a href="/">"#,
        r#"no text: <input type="submit" value="">"#,
        r#"against the order of focus: <button tabindex="2"> Late"#,
        r#"contrast 4.47: <p style="color: #777"> grey"#,
        r#"contrast 2.67: <p style="color: oklch(0.7 0 0)"> modern"#,
        r#"contrast 3.97: <p class="old"> faded"#,
        r#"contrast 2.81: <p class="veil"> veiled"#,
        r#"not judged, text on a picture: <p style="background: linear-gradient(red, blue)"> shaded"#,
        r#"contrast 1.60: <input placeholder="Your name">"#,
        r#"contrast 2.84: <p class="cue">"#,
    ];
    assert_eq!(browser.audit(), wanted);
}

#[test]
fn an_audit_has_nothing_to_say_of_a_good_page() {
    const PAGE: &str = r##"<!doctype html><html lang="en"><title>Good</title><style>
        body { color: #222; background: #fff } .night { background: #123; color: #eee }
        .glass { background: #ffffff20 } .cue::before { content: "→ " } .away { opacity: 0; color: #fff }
        .inner { display: contents; background: #222 }</style>
        <h1>People</h1><p class="cue">All <b>well</b></p><img src="data:," alt="">
        <form><label for="a">Name</label><input id="a" placeholder="Ada"><label>Note <textarea></textarea></label>
        <span id="when">When</span><input aria-labelledby="when"><input type="hidden" name="h">
        <fieldset><legend>Kind</legend><label><input type="radio"> Open</label></fieldset>
        <button>Send</button><input type="submit"><button disabled>Later</button>
        <button aria-label="Close"><svg></svg></button><a href="/"><img src="data:," alt="Home"></a></form>
        <div class="night"><p class="glass">On glass</p></div><p class="away">Gone</p>
        <div class="inner">Through</div><p hidden id="b"><input></p><div tabindex="0" id="c">Focus</div>"##;
    for browser in [Browser::start(), Browser::with_javascript_disabled()] {
        let Some(browser) = browser else { return };
        browser.open(&serve(&[("/", PAGE)]));
        assert_eq!(browser.audit(), [""; 0]);
    }
}

#[test]
fn a_browser_that_was_used_is_given_out_empty() {
    let state = "return Promise.all([
        'caches' in window ? caches.keys() : [],
        navigator.permissions.query({ name: 'notifications' }),
    ]).then(([caches, notifications]) => [
        document.cookie, localStorage.length, sessionStorage.length, caches.length,
        notifications.state, matchMedia('(prefers-color-scheme: dark)').matches,
        innerWidth === 320, document.visibilityState, document.hasFocus(), typeof window.added,
    ].join(' '))";
    let base = serve(PAGES);
    // Another test may take the browser in between, so this one is tried with several.
    for _ in 0..3 {
        let Some(browser) = Browser::start() else {
            return;
        };
        browser.open("about:blank");
        assert_eq!(browser.log(), [""; 0]);
        browser.open(&base);
        browser.execute("document.cookie = 'plain=; max-age=0'");
        assert_eq!(
            browser.execute(state),
            " 0 0 0 prompt false false visible true undefined"
        );
        browser.execute(
            "localStorage.a = '1';
            sessionStorage.b = '1';
            document.cookie = 'c=1; max-age=1000';
            console.warn('d');
            return caches.open('e').then(() => null)",
        );
        browser.add_script("window.added = 1");
        browser.set_window_size(320, 640);
        let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
        browser.command("Emulation.setEmulatedMedia", &dark);
        let granted = json!({"origin": base, "permissions": ["notifications"]});
        browser.command("Browser.grantPermissions", &granted);
        assert_eq!(
            browser.execute(state),
            "c=1 1 1 1 granted true true visible true number"
        );
    }
}
