//! Yes and no, and how the application hears of it.

use eddyline_tests::{CALLBACK, Tenant, on_shared_servers};

use super::{asks, ben, brought, consent, told};

on_shared_servers![
    saying_yes_brings_the_application_a_code,
    saying_no_brings_it_an_error,
    the_state_comes_back_byte_for_byte,
    without_a_state_none_comes_back,
    whoever_says_yes_or_no_is_sent_on_to_be_read_with_get,
];

/// What tests have clients send, and what clients do send.
const STATES: [&str; 11] = [
    "xyz",
    "a b+c%20d",
    "a&b=c#d?e/f;g",
    " leading and trailing ",
    "\"'<b>&amp;&#38;",
    "\\//\u{7f}\t",
    "Zgn5 3øæ \u{1f916} \u{202e}",
    "YmFzZTY0IGFzIHNvbWUgd3JpdGUgaXQ=\n",
    "\r\n\n\r",
    "code=none&error=none&iss=none",
    "{\"next\":\"https://robot.example/?a=1\"}",
];

async fn saying_yes_brings_the_application_a_code(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let asked = [
        ("scope", "profile offline_access"),
        ("redirect_uri", CALLBACK),
        ("state", "xyz"),
    ];
    let form = consent(&mut ben, &asks(&robot, &asked)).await;
    let answer = form.send(&mut ben, "accept").await;
    let location = answer.sent_on();
    assert!(
        location.starts_with(&format!("{CALLBACK}?code=")),
        "{location}"
    );
    assert_eq!(brought(location, "state").as_deref(), Some("xyz"));
    assert_eq!(
        brought(location, "iss").as_deref(),
        Some(tenant.server().base_url())
    );
    let code = brought(location, "code").unwrap();
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", CALLBACK),
    ];
    let tokens = robot.tokens(&fields).await;
    assert_eq!(tokens["scope"], "profile,offline_access");
    assert_eq!(
        robot.introspect(&tokens["access_token"]).await["sub"],
        tenant.ben.id.to_string()
    );
}

/// Shows: 5.5
async fn saying_no_brings_it_an_error(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let form = consent(&mut ben, &asks(&robot, &[("state", "x y")])).await;
    let answer = form.send(&mut ben, "deny").await;
    told(
        &answer,
        &format!("{CALLBACK}?error="),
        "access_denied",
        Some("x y"),
    );
    assert_eq!(
        brought(answer.sent_on(), "iss").as_deref(),
        Some(tenant.server().base_url())
    );
}

/// Shows: 5.5
async fn the_state_comes_back_byte_for_byte(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let longest = "ø".repeat(1000);
    for state in STATES.into_iter().chain([longest.as_str()]) {
        let mut form = consent(&mut ben, &asks(&robot, &[("state", state)])).await;
        // Browsers end each line of a field with both.
        for (_, value) in &mut form.fields {
            *value = value
                .replace("\r\n", "\n")
                .replace('\r', "\n")
                .replace('\n', "\r\n");
        }
        for decision in ["accept", "deny"] {
            let answer = form.send(&mut ben, decision).await;
            assert_eq!(
                brought(answer.sent_on(), "state").as_deref(),
                Some(state),
                "{decision}"
            );
        }
    }
}

async fn without_a_state_none_comes_back(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    for asked in [&[][..], &[("state", "")]] {
        let form = consent(&mut ben, &asks(&robot, asked)).await;
        let answer = form.send(&mut ben, "accept").await;
        assert_eq!(brought(answer.sent_on(), "state"), None);
    }
}

async fn whoever_says_yes_or_no_is_sent_on_to_be_read_with_get(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    for decision in ["accept", "deny"] {
        let form = consent(&mut ben, &asks(&robot, &[])).await;
        let answer = form.send(&mut ben, decision).await;
        assert_eq!((answer.status, answer.text.as_str()), (303, ""));
    }
}
