//! What applications ask wrongly: they are told themselves where that is safe, otherwise the user
//! is.

use eddyline_tests::{CALLBACK, Page, Tenant, on_shared_servers};

use super::{CHALLENGE, address, asks, ben, told};

on_shared_servers![
    an_application_is_told_what_it_asks_wrongly,
    nobody_is_sent_where_an_application_may_not_be,
    an_address_that_cannot_be_read_leads_nowhere,
    an_address_may_be_long_but_not_endless,
];

/// Shows: 5.5
async fn an_application_is_told_what_it_asks_wrongly(tenant: Tenant) {
    let server = tenant.server();
    let (robot, public) = (
        server.robot(&tenant.name, &[]),
        server.robot(&tenant.name, &["--public"]),
    );
    let mut ben = ben(&tenant).await;
    let id = ("client_id", robot.client_id.as_str());
    let (kind, state) = (("response_type", "code"), ("state", "s"));
    let long = "x".repeat(2001);
    for (parameters, error, state) in [
        (vec![id, state], "invalid_request", Some("s")),
        (vec![id, kind, kind, state], "invalid_request", Some("s")),
        (vec![id, kind, state, state], "invalid_request", None),
        (vec![id, kind, ("state", &long)], "invalid_request", None),
        (
            vec![id, ("response_type", "token"), state],
            "unsupported_response_type",
            Some("s"),
        ),
        (
            vec![id, kind, state, ("response_mode", "form_post")],
            "invalid_request",
            Some("s"),
        ),
        (
            vec![id, kind, state, ("scope", "flow everything")],
            "invalid_scope",
            Some("s"),
        ),
        (
            vec![id, kind, state, ("scope", "flow"), ("scope", "flow")],
            "invalid_request",
            Some("s"),
        ),
        (
            vec![id, kind, state, ("code_challenge", CHALLENGE)],
            "invalid_request",
            Some("s"),
        ),
        (
            vec![id, kind, state, ("code_challenge_method", "S256")],
            "invalid_request",
            Some("s"),
        ),
        (
            vec![("client_id", &public.client_id), kind, state],
            "invalid_request",
            Some("s"),
        ),
    ] {
        let page = ben.get(&address(&parameters)).await;
        told(&page, &format!("{CALLBACK}?error="), error, state);
    }
}

#[track_caller]
fn goes_nowhere(page: &Page, why: &str) {
    page.says(400, "This application’s request isn’t valid");
    page.says(400, why);
    assert_eq!(page.header("location"), "");
    assert!(!page.text.contains("evil"), "{}", page.text);
}

/// Shows: 5.5
async fn nobody_is_sent_where_an_application_may_not_be(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let (mut ben, mut stranger) = (ben(&tenant).await, tenant.server().visitor());
    let id = ("client_id", robot.client_id.as_str());
    let place = |uri| ("redirect_uri", uri);
    let not_registered = "not registered";
    for (parameters, why) in [
        (vec![], "does not say which application"),
        (vec![("client_id", "")], "does not say which application"),
        (
            vec![("client_id", "nobody"), place("https://evil.example/")],
            "no such application",
        ),
        (vec![id, id], "more than one application"),
        (vec![id, place("https://evil.example/")], not_registered),
        (vec![id, place("http://127.0.0.1:9/back/")], not_registered),
        (
            vec![id, place("http://127.0.0.1:9/back?evil")],
            not_registered,
        ),
        (
            vec![id, place("http://127.0.0.1:9/back#evil")],
            not_registered,
        ),
        (
            vec![id, place("http://127.0.0.1:9/evil/../back")],
            not_registered,
        ),
        (vec![id, place("HTTP://127.0.0.1:9/back")], not_registered),
        (vec![id, place("http://127.0.0.1:99/back")], not_registered),
        (
            vec![id, place("http://127.0.0.1:9@evil.example/back")],
            not_registered,
        ),
        (vec![id, place("/back")], not_registered),
        (vec![id, place("javascript:evil()")], not_registered),
        (
            vec![id, place(CALLBACK), place("https://evil.example/")],
            "more than one place",
        ),
    ] {
        let address = address(
            &[
                &parameters[..],
                &[("response_type", "code"), ("state", "s")],
            ]
            .concat(),
        );
        goes_nowhere(&ben.get(&address).await, why);
        goes_nowhere(&stranger.get(&address).await, why);
    }
}

async fn an_address_that_cannot_be_read_leads_nowhere(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    for state in ["%ff", "%00", "%c3"] {
        let page = ben
            .get(&format!("{}&state={state}", asks(&robot, &[])))
            .await;
        page.says(400, "We can’t read this address");
    }
}

async fn an_address_may_be_long_but_not_endless(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let (mut ben, mut stranger) = (ben(&tenant).await, tenant.server().visitor());
    let usual = asks(&robot, &[("more", "")]);
    // Signs that are written as letters and digits only take no more room on their way.
    let (client, digits) = (robot.client_id.len(), usual.len() + "%5F".len() * 2 - 2);
    assert!(
        robot
            .client_id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric()),
        "{client}"
    );
    let longest = format!("{usual}{}", "x".repeat(16 * 1024 - digits));
    super::Consent::on(&ben.get(&longest).await);
    let sign_in = stranger.get(&longest).await.sent_on().to_owned();
    stranger
        .get(&sign_in)
        .await
        .says(200, "name=\"next\" value=\"/oauth/authorize?");
    for visitor in [&mut ben, &mut stranger] {
        goes_nowhere(
            &visitor.get(&format!("{longest}x")).await,
            "The address is too long.",
        );
    }
}
