//! The pages: what every one of them keeps to, signing in and out, and one's own account. They are
//! read here as bytes; that browsers and people get along with them is shown elsewhere.

use eddyline_client::{Credentials, Method};
use eddyline_tests::{
    Acme, Backend, CSRF, Page, SESSION, Server, Tenant, Visitor, on_shared_servers, run,
};
use serde_json::json;

mod audit_log;
mod coming_in;
mod forgery;
mod languages;
mod links;
mod organization;
mod people;
mod picture;
mod reference;
mod settings;

pub(crate) use self::links::path_of;

on_shared_servers![
    every_page_is_hardened_and_fit_for_screen_readers,
    reading_works_with_head_and_nothing_else,
    one_slash_too_many_at_the_end_is_forgiven_to_readers,
    one_signs_in_and_out,
    one_goes_on_to_where_one_wanted_but_never_elsewhere,
    a_wrong_password_is_told_without_saying_what_was_wrong,
    wrong_passwords_count_together_with_those_of_the_api,
    signing_in_begins_a_new_session_and_a_new_token,
    a_flow_is_shown_to_those_who_may_see_it,
    the_page_of_a_flow_runs_scripts_of_ours_and_nothing_else,
    ones_names_are_changed,
    ones_password_is_changed_and_other_sessions_end,
    ones_address_is_changed_and_the_old_one_can_take_it_back,
    the_style_is_kept_by_browsers,
];

const PASSWORD: &str = eddyline_tests::PASSWORD;
/// What nobody has as their password yet.
const OTHER: &str = "violet umbrella on the tram";

const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// That of a page of the client, whose scripts run. `base` is where pictures are handed out.
fn client_policy(base: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         worker-src 'self'; manifest-src 'self'; img-src 'self' {base}/; media-src 'self' {base}/; \
         form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
         require-trusted-types-for 'script'; trusted-types prose worker"
    )
}

#[track_caller]
pub(crate) fn is_hardened(page: &Page, path: &str) {
    let policy = page.header("content-security-policy");
    if page.text.contains("<body class=\"app\"") {
        let picture = page.between("data-avatar=\"", "/avatars/");
        assert_eq!(policy, client_policy(picture), "{path}");
    } else {
        assert_eq!(policy, POLICY, "{path}");
    }
    assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
    assert_eq!(page.header("x-frame-options"), "DENY", "{path}");
    assert_eq!(page.header("referrer-policy"), "same-origin", "{path}");
    assert_eq!(page.header("cache-control"), "no-store", "{path}");
    assert_eq!(page.header("x-request-id").len(), 32, "{path}");
    assert_eq!(page.header("access-control-allow-origin"), "", "{path}");
}

async fn every_page_is_hardened_and_fit_for_screen_readers(tenant: Tenant) {
    let zeros = "0".repeat(64);
    let mut stranger = tenant.server().visitor();
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    for path in [
        "/",
        "/sign-in",
        "/sign-in?next=/account",
        "/password",
        &format!("/password/{zeros}"),
        &format!("/email/{zeros}"),
        &format!("/invitations/{zeros}"),
        &format!("/invitations/{}-main", "0".repeat(40)),
        "/app",
        &format!("/app/{}/settings", tenant.main),
        &format!("/app/{}/settings/leave", tenant.main),
        &format!("/app/{}/settings/archive", tenant.main),
        &format!("/app/{}/settings/members", tenant.main),
        &format!("/app/{}/settings/invitations", tenant.main),
        &format!("/app/{}/settings/joining", tenant.main),
        &format!("/app/{}/settings/sources", tenant.main),
        &format!("/app/{}/settings/sources/new", tenant.main),
        &format!("/app/{}/settings/flows/new", tenant.name),
        &format!("/app/{}/settings", tenant.name),
        &format!("/app/{}/settings/applications", tenant.name),
        &format!("/app/{}/settings/identity-provider", tenant.name),
        &format!("/app/{}/settings/people", tenant.name),
        &format!("/app/{}/settings/people/999999/administrator", tenant.name),
        &format!("/app/{}/settings/people/999999", tenant.name),
        "/app/none/such",
        "/app/%00/%ff",
        "/account",
        "/account/applications",
        "/account/tokens",
        "/account/tokens/1",
        "/account/sessions",
        "/account/organizations/none",
        "/developer",
        "/developer/999999",
        "/developer/none",
        "/developer/999999/secret",
        "/developer/999999/remove",
        "/developer/999999/setup",
        "/sign-out",
        "/assets/none",
        "/app/no/such/page",
    ] {
        for visitor in [&mut stranger, &mut ben] {
            let page = visitor.get(path).await;
            is_hardened(&page, path);
            if matches!(page.status, 303 | 308) {
                continue;
            }
            assert_eq!(
                page.header("content-type"),
                "text/html; charset=utf-8",
                "{path}"
            );
            let text = &page.text;
            assert!(
                text.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"),
                "{path}: {text}"
            );
            let own_scripts = text
                .matches("<script type=\"module\" src=\"/assets/")
                .count();
            assert!(
                text.matches("<script").count() == own_scripts && !text.contains("style="),
                "{path}: {text}"
            );
            assert!(
                !text.contains(&zeros),
                "{path}: a secret that is none is not repeated"
            );
            page.is_named_throughout(path);
            let text = page.main();
            let switches = text.matches("type=\"checkbox\"").count();
            let files = text.matches("type=\"file\"").count();
            let typed = text.matches("<label for=").count() - switches - files;
            assert_eq!(
                typed,
                text.matches("autocomplete=").count(),
                "{path}: {text}"
            );
        }
    }
}

async fn reading_works_with_head_and_nothing_else(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    let head = visitor.send("HEAD", "/sign-in", &[], "").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert!(head.header("content-length").parse::<usize>().unwrap() > 500);
    let put = visitor
        .send("PUT", "/sign-in", &["Content-Length: 0"], "")
        .await;
    put.says(405, "<h1>");
    assert_eq!(put.header("allow"), "GET,HEAD,POST");
    let sign_out = visitor.get("/sign-out").await;
    assert_eq!((sign_out.status, sign_out.header("allow")), (405, "POST"));
    visitor.get("/app/none").await.says(404, "Page not found");
}

async fn one_slash_too_many_at_the_end_is_forgiven_to_readers(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let flow = format!("/app/{}", tenant.main);
    for path in ["/app", &flow, "/account", "/password"] {
        for query in ["", "?x=%2F&y"] {
            let moved = ben.get(&format!("{path}/{query}")).await;
            assert_eq!(
                (moved.status, moved.header("location")),
                (308, &*format!("{path}{query}"))
            );
            is_hardened(&moved, path);
        }
        assert_eq!(ben.get(path).await.status, 200, "{path}");
    }
    let head = ben.send("HEAD", "/app/", &[], "").await;
    assert_eq!((head.status, head.header("location")), (308, "/app"));
    ben.get("/app//").await.says(404, "Page not found");
    ben.post("/account/", &[("do", "profile")])
        .await
        .says(404, "Page not found");
}

async fn one_signs_in_and_out(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    assert_eq!(visitor.get("/").await.sent_on(), "/sign-in");
    assert_eq!(visitor.get("/app").await.sent_on(), "/sign-in?next=%2Fapp");
    visitor
        .get("/sign-in")
        .await
        .says(200, "autocomplete=\"current-password\"");
    let page = visitor
        .post(
            "/sign-in",
            &[("email", &tenant.ben.email), ("password", PASSWORD)],
        )
        .await;
    assert_eq!(page.sent_on(), "/");
    let session = page
        .headers("set-cookie")
        .into_iter()
        .find(|cookie| cookie.starts_with("eddyline-session=") && !cookie.contains("Max-Age=0"));
    let session = session.expect("a cookie of the session").to_owned();
    assert!(
        session.contains("; Path=/; HttpOnly; SameSite=Lax; Max-Age="),
        "{session}"
    );

    let flow = format!("/app/{}", tenant.main);
    assert_eq!(visitor.get("/").await.sent_on(), flow);
    assert_eq!(
        visitor.get("/sign-in?next=/account").await.sent_on(),
        "/account"
    );
    visitor
        .get("/app")
        .await
        .says(200, &format!("href=\"/app/{}\"", tenant.main));

    let mut kept = visitor.clone();
    assert_eq!(visitor.post("/sign-out", &[]).await.sent_on(), "/sign-in");
    assert_eq!(visitor.cookie(SESSION), None);
    assert_eq!(
        kept.get("/app").await.status,
        303,
        "the session itself has ended"
    );
}

async fn one_goes_on_to_where_one_wanted_but_never_elsewhere(tenant: Tenant) {
    let wanted = format!("/app/{}", tenant.main);
    for (next, expected) in [
        (wanted.as_str(), wanted.as_str()),
        ("/account?done=email", "/account?done=email"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("https:evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
    ] {
        let mut visitor = tenant.server().visitor();
        let fields = [
            ("email", tenant.ben.email.as_str()),
            ("password", PASSWORD),
            ("next", next),
        ];
        assert_eq!(
            visitor.post("/sign-in", &fields).await.sent_on(),
            expected,
            "{next:?}"
        );
    }
    let mut visitor = tenant.server().visitor();
    let page = visitor.get("/sign-in?next=%2F%2Fevil.example").await;
    assert!(
        page.status == 200 && !page.text.contains("evil"),
        "{}",
        page.text
    );
    let page = visitor.get("/sign-in?next=%2Faccount").await;
    page.says(200, "name=\"next\" value=\"/account\"");
}

async fn a_wrong_password_is_told_without_saying_what_was_wrong(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    let mut told = Vec::new();
    for email in [tenant.ben.email.as_str(), "nobody@nowhere.example"] {
        let page = visitor
            .post(
                "/sign-in",
                &[("email", email), ("password", "a wild guess")],
            )
            .await;
        page.says(400, "role=\"alert\"");
        assert!(!page.text.contains("a wild guess"), "{}", page.text);
        assert!(page.text.contains(email), "what was typed is still there");
        told.push(page.text.replace(email, ""));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(visitor.cookie(SESSION), None);
}

async fn wrong_passwords_count_together_with_those_of_the_api(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    let guess = [
        ("email", tenant.ben.email.as_str()),
        ("password", "a wild guess"),
    ];
    let credentials = Credentials::Basic {
        email: tenant.ben.email.clone(),
        password: "another".into(),
    };
    let api = tenant.client(credentials);
    for _ in 0..5 {
        visitor.post("/sign-in", &guess).await.says(400, "is wrong");
        assert_eq!(
            api.request(Method::GET, "/user")
                .send()
                .await
                .unwrap()
                .status
                .as_u16(),
            401
        );
    }
    let right = [("email", tenant.ben.email.as_str()), ("password", PASSWORD)];
    let page = visitor.post("/sign-in", &right).await;
    page.says(429, "Too many attempts");
    assert!((1..=60).contains(&page.header("retry-after").parse().unwrap()));
    assert_eq!(
        api.request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status
            .as_u16(),
        429
    );
}

async fn signing_in_begins_a_new_session_and_a_new_token(tenant: Tenant) {
    let mut visitor = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let (session, token) = (
        visitor.cookie(SESSION).unwrap().to_owned(),
        visitor.cookie(CSRF).unwrap().to_owned(),
    );
    let mut before = visitor.clone();
    visitor
        .post(
            "/sign-in",
            &[("email", &tenant.ada.email), ("password", PASSWORD)],
        )
        .await
        .sent_on();
    assert_ne!(visitor.cookie(SESSION).unwrap(), session);
    assert_ne!(visitor.cookie(CSRF).unwrap(), token);
    assert_eq!(
        before.get("/app").await.status,
        303,
        "a browser has one session at a time"
    );
}

async fn a_flow_is_shown_to_those_who_may_see_it(tenant: Tenant) {
    let path = format!("/app/{}", tenant.main);
    let blocked = tenant.member("bert");
    let block = tenant.path(&format!("/users/{}", blocked.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    let description = json!({"description": "<b>All of it</b>"});
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &description)
        .await;

    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let page = ben.get(&path).await;
    page.says(200, "&#60;b&#62;All of it");
    assert!(page.text.contains("data-nick=\"ada\"") && !page.text.contains("@bert"));
    let page = ben.get(&format!("{path}/settings")).await;
    page.says(200, "<h1>main</h1>");
    for part in ["&#60;b&#62;All of it", tenant.server().base_url()] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    assert_eq!(
        ben.get(&path.to_uppercase().replace("/APP", "/app"))
            .await
            .status,
        200
    );
    let mut bert = tenant.server().signed_in(&blocked.email, PASSWORD).await;
    bert.get(&path).await.says(403, "You can’t open this page");
    bert.get("/app")
        .await
        .says(200, "You aren’t in any flow yet");
    let neighbour = tenant.neighbour();
    let mut stranger = tenant
        .server()
        .signed_in(&neighbour.ben.email, PASSWORD)
        .await;
    for rest in ["", "/threads", "/files", "/people", "/search"] {
        let page = stranger.get(&format!("{path}{rest}")).await;
        page.says(404, "Page not found");
    }
}

async fn the_page_of_a_flow_runs_scripts_of_ours_and_nothing_else(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let path = format!("/app/{}", tenant.main);
    let root = tenant.ben.say(&tenant.main, "hello").await;
    let thread = format!("{path}/threads/{}", root["thread_id"].as_str().unwrap());
    let lists = ["", "/threads", "/files", "/people", "/search"];
    let lists = lists.map(|rest| format!("{path}{rest}"));
    for path in lists.into_iter().chain([thread]) {
        let page = ben.get(&path).await;
        page.says(200, "<h1 class=\"quietly\">main</h1>");
        let policy = client_policy(tenant.server().base_url());
        assert_eq!(page.header("content-security-policy"), policy);
        assert!(
            !page.text.contains("style=\"") && !page.text.contains("<style"),
            "{path}"
        );
        let script = page
            .between("<script type=\"module\" src=\"", "\"")
            .to_owned();
        assert_eq!(page.text.matches("<script").count(), 1, "{path}");
        let script = ben.get(&script).await;
        script.says(200, "import");
        assert_eq!(
            script.header("content-type"),
            "text/javascript; charset=utf-8"
        );
        assert_eq!(
            script.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
    }
    for missing in [
        "/threads/none",
        "/threads/AQAAAAEAAAAB5DLR4Z1NsSugRnE",
        "/none",
    ] {
        let page = ben.get(&format!("{path}{missing}")).await;
        page.says(404, "Page not found");
    }
    ben.get("/assets/0/none.js")
        .await
        .says(404, "Page not found");
    let old = ben.get("/assets/0/app.js").await;
    assert_eq!((old.status, old.header("cache-control")), (200, "no-cache"));
    let mut stranger = tenant.server().visitor();
    assert_eq!(
        stranger.get(&path).await.sent_on(),
        format!("/sign-in?next={}", path.replace('/', "%2F"))
    );
}

fn profile<'a>(name: &'a str, nick: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("part", "profile"),
        ("name", name),
        ("nick", nick),
        ("website", ""),
    ]
}

async fn ones_names_are_changed(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    ben.get("/account").await.says(200, "id=\"profile-nick\"");
    let taken = ben.post("/account", &profile("Ben", "ADA")).await;
    taken.says(400, "taken");
    let wrong = ben.post("/account", &profile("Ben", "two words")).await;
    wrong.says(
        400,
        "aria-describedby=\"profile-nick-hint profile-nick-error\" aria-invalid=\"true\"",
    );
    let page = ben.post("/account", &profile("Benjamin <3", "benny")).await;
    let page = { ben.get(page.sent_on()).await };
    page.says(200, "role=\"status\"");
    page.says(200, "Benjamin &#60;3");
    let me = tenant.ben.get("/user").await;
    assert_eq!(
        (&me["name"], &me["nick"]),
        (&json!("Benjamin <3"), &json!("benny"))
    );
}

async fn ones_password_is_changed_and_other_sessions_end(tenant: Tenant) {
    let mut here = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let mut there = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let change = |present: &'static str, new: &'static str| {
        [
            ("part", "password"),
            ("current_password", present),
            ("password", new),
        ]
    };
    here.post("/account", &change("a wild guess", OTHER))
        .await
        .says(400, "is not your present password");
    here.post("/account", &change(PASSWORD, "benbenben"))
        .await
        .says(400, "easy to guess");
    let page = here.post("/account", &change(PASSWORD, OTHER)).await;
    assert_eq!(page.sent_on(), "/account?done=password");
    assert_eq!(here.get("/app").await.status, 200);
    assert_eq!(there.get("/app").await.status, 303);
    let mut old = tenant.server().visitor();
    old.post(
        "/sign-in",
        &[("email", &tenant.ben.email), ("password", PASSWORD)],
    )
    .await
    .says(400, "is wrong");
    tenant.server().signed_in(&tenant.ben.email, OTHER).await;
}

async fn ones_address_is_changed_and_the_old_one_can_take_it_back(tenant: Tenant) {
    let new = format!("benny@{}.example", tenant.name);
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    ben.post("/account", &[("part", "email"), ("email", "nowhere")])
        .await
        .says(400, "aria-invalid");
    ben.post(
        "/account",
        &[("part", "email"), ("email", &tenant.ada.email)],
    )
    .await
    .says(400, "another account");
    let page = ben
        .post("/account", &[("part", "email"), ("email", &new)])
        .await;
    assert_eq!(page.sent_on(), "/account?done=email");
    assert_eq!(ben.get("/app").await.status, 200);
    tenant.server().signed_in(&new, PASSWORD).await;

    let letter = tenant.server().letter(&tenant.ben.email, 1).await;
    let link = links::path_of(&letter, tenant.server());
    let mut owner = tenant.server().visitor();
    for _ in 0..2 {
        let page = owner.get(&link).await;
        page.says(200, &tenant.ben.email);
        page.says(200, &new);
    }
    assert_eq!(
        tenant.ben.get("/user").await["email"],
        new.as_str(),
        "reading has changed nothing"
    );
    owner
        .post(&link, &[])
        .await
        .says(200, "to your old address");
    let seen = tenant.ada.get(&format!("/users/{}", tenant.ben.id)).await;
    assert_eq!(seen["email"], tenant.ben.email.as_str());
    let token = tenant
        .ben
        .client
        .me()
        .await
        .err()
        .and_then(|error| error.status());
    assert_eq!(
        token.map(|status| status.as_u16()),
        Some(401),
        "all API tokens have ended"
    );
    assert_eq!(ben.get("/app").await.status, 303, "all sessions have ended");
    owner
        .post(&link, &[])
        .await
        .says(404, "This link doesn’t work");
    let sign_in = [("email", tenant.ben.email.as_str()), ("password", PASSWORD)];
    owner.post("/sign-in", &sign_in).await.says(400, "is wrong");
    let letter = tenant.server().letter(&tenant.ben.email, 2).await;
    let link = links::path_of(&letter, tenant.server());
    assert_eq!(
        owner.post(&link, &[("password", OTHER)]).await.sent_on(),
        "/app"
    );
    tenant.server().signed_in(&tenant.ben.email, OTHER).await;
}

async fn the_style_is_kept_by_browsers(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    let page = visitor.get("/sign-in").await;
    let url = page
        .text
        .split('"')
        .find(|part| part.starts_with("/assets/style.css?v="))
        .unwrap();
    let style = visitor.get(url).await;
    assert_eq!(
        (style.status, style.header("content-type")),
        (200, "text/css; charset=utf-8")
    );
    assert_eq!(
        style.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let other = visitor.get("/assets/style.css?v=0").await;
    assert_eq!(
        (other.status, other.header("cache-control")),
        (200, "no-cache")
    );
    assert_eq!(
        visitor.get("/assets/icon.svg").await.header("content-type"),
        "image/svg+xml"
    );
}

#[test]
fn cookies_are_for_https_only_where_the_pages_are() {
    run(
        Backend::Sqlite,
        &["--web-url", "https://chat.example.org"],
        async |server: Server| {
            let Acme { ben, .. } = server.acme();
            let mut visitor: Visitor = server.visitor();
            let page = visitor.get("/sign-in").await;
            let cookie = page.header("set-cookie");
            assert!(cookie.starts_with("__Host-eddyline-csrf="), "{cookie}");
            assert!(
                cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"),
                "{cookie}"
            );
            let token = visitor.cookie("__Host-eddyline-csrf").unwrap().to_owned();
            let body = format!(
                "csrf={token}&email={}&password={}",
                ben.email,
                PASSWORD.replace(' ', "+")
            );
            let headers = [
                "Content-Type: application/x-www-form-urlencoded",
                "Origin: https://chat.example.org",
            ];
            let page = visitor.send("POST", "/sign-in", &headers, &body).await;
            assert_eq!(page.sent_on(), "/");
            let session = page.headers("set-cookie").into_iter().find(|cookie| {
                cookie.starts_with("__Host-eddyline-session=") && !cookie.contains("Max-Age=0")
            });
            assert!(
                session.is_some_and(|cookie| cookie.contains("; Secure")),
                "{page:?}"
            );
            assert_eq!(visitor.get("/app").await.status, 200);
        },
    );
}

#[test]
fn pages_can_be_served_under_a_path() {
    run(
        Backend::Sqlite,
        &["--web-url", "https://example.org/chat"],
        async |server: Server| {
            let mut visitor: Visitor = server.visitor();
            assert_eq!(
                visitor.get("/app").await.sent_on(),
                "/chat/sign-in?next=%2Fapp"
            );
            assert_eq!(visitor.get("/app/").await.header("location"), "/chat/app");
            let page = visitor.get("/sign-in?next=%2Fapp").await;
            for part in [
                "action=\"/chat/sign-in\"",
                "href=\"/chat/password\"",
                "href=\"/chat/assets/style.css?v=",
            ] {
                page.says(200, part);
            }
            page.says(200, "name=\"next\" value=\"/app\"");
        },
    );
}

#[test]
fn guesses_are_counted_for_the_client_behind_a_proxy() {
    let options = [
        "--password-attempts-per-account",
        "3",
        "--trusted-proxy",
        "127.0.0.0/8",
    ];
    run(Backend::Sqlite, &options, async |server: Server| {
        let Acme { ben, .. } = server.acme();
        let mut visitor = server.visitor();
        visitor.get("/sign-in").await;
        let token = visitor.cookie(CSRF).unwrap().to_owned();
        let body = format!("csrf={token}&email={}&password=guess", ben.email);
        for (client, expected) in [("1", 400), ("1", 400), ("1", 400), ("1", 429), ("2", 400)] {
            let client = format!("X-Forwarded-For: 192.0.2.{client}");
            let headers = [
                "Content-Type: application/x-www-form-urlencoded",
                client.as_str(),
            ];
            assert_eq!(
                visitor
                    .send("POST", "/sign-in", &headers, &body)
                    .await
                    .status,
                expected
            );
        }
    });
}
