//! Forms of the consent that are not as they were shown.

use eddyline_tests::{CALLBACK, CSRF, Tenant, on_shared_servers};

use super::{Consent, asks, ben, brought, consent, told};

on_shared_servers![
    the_fields_of_the_form_are_judged_anew,
    a_decision_is_made_by_a_button_only,
    a_form_without_its_token_does_nothing,
    a_form_from_another_site_does_nothing,
];

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

async fn the_fields_of_the_form_are_judged_anew(tenant: Tenant) {
    let server = tenant.server();
    let robot = server.robot(&tenant.name, &[]);
    let other = server.robot(
        &tenant.name,
        &["--redirect-uri", "https://other.example/back"],
    );
    let mut ben = ben(&tenant).await;
    let asked = [
        ("redirect_uri", CALLBACK),
        ("scope", "flow"),
        ("state", "s"),
    ];
    let form = consent(&mut ben, &asks(&robot, &asked)).await;
    for (name, value) in [
        ("redirect_uri", Some("https://evil.example/")),
        ("redirect_uri", Some("https://other.example/back")),
        ("client_id", Some("nobody")),
        ("client_id", Some(other.client_id.as_str())),
        ("client_id", None),
    ] {
        for decision in ["accept", "deny"] {
            let page = form.with(name, value).send(&mut ben, decision).await;
            page.says(400, "This application’s request isn’t valid");
            assert_eq!(page.header("location"), "", "{name} {value:?}");
        }
    }
    for (name, value, error) in [
        ("scope", Some("everything"), "invalid_scope"),
        ("response_type", Some("token"), "unsupported_response_type"),
        ("response_type", None, "invalid_request"),
        ("code_challenge", Some("short"), "invalid_request"),
    ] {
        let page = form.with(name, value).send(&mut ben, "accept").await;
        told(&page, &format!("{CALLBACK}?error="), error, Some("s"));
    }
    let mut twice = form.with("none", None);
    twice.fields.push(("scope".into(), "manage".into()));
    told(
        &twice.send(&mut ben, "accept").await,
        CALLBACK,
        "invalid_request",
        Some("s"),
    );
    // What is in the address counts together with what is in the form.
    let mut both = form.with("none", None);
    both.action += "?redirect_uri=https://evil.example/";
    both.send(&mut ben, "accept")
        .await
        .says(400, "more than one place");
}

async fn a_decision_is_made_by_a_button_only(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let zeros = "0".repeat(64);
    let asked = [
        ("decision", "accept"),
        ("csrf", zeros.as_str()),
        ("state", "s"),
    ];
    let form = consent(&mut ben, &asks(&robot, &asked)).await;
    assert_eq!(form.get("decision"), "");
    assert_eq!(form.get("csrf"), ben.cookie(CSRF).unwrap());
    told(
        &form.send(&mut ben, "deny").await,
        CALLBACK,
        "access_denied",
        Some("s"),
    );
    for none in ["", "yes", "ACCEPT", "accept "] {
        let page = form.send(&mut ben, &none.replace(' ', "+")).await;
        page.says(400, "couldn’t read this form");
    }
    let mut by_address = form.with("none", None);
    by_address.action += "?decision=accept";
    told(
        &by_address.send(&mut ben, "deny").await,
        CALLBACK,
        "access_denied",
        Some("s"),
    );
}

async fn a_form_without_its_token_does_nothing(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let form = consent(&mut ben, &asks(&robot, &[])).await;
    let (zeros, right) = ("0".repeat(64), form.get("csrf"));
    let longer = format!("{right}0");
    for token in [None, Some(""), Some(zeros.as_str()), Some(longer.as_str())] {
        for decision in ["accept", "deny"] {
            let page = form.with("csrf", token).send(&mut ben, decision).await;
            page.says(403, "We couldn’t accept this form");
        }
    }
    let in_address = Consent {
        action: format!("{}?csrf={right}", form.action),
        fields: form.with("csrf", None).fields,
    };
    in_address
        .send(&mut ben, "accept")
        .await
        .says(403, "We couldn’t accept this form");
    assert!(brought(form.send(&mut ben, "accept").await.sent_on(), "code").is_some());
}

async fn a_form_from_another_site_does_nothing(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let form = consent(&mut ben, &asks(&robot, &[])).await;
    let client = &robot.client_id;
    let body = format!(
        "csrf={}&client_id={client}&response_type=code&decision=accept",
        form.get("csrf")
    );
    for foreign in [
        "Origin: https://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
    ] {
        let page = ben
            .send("POST", "/oauth/authorize", &[FORM, foreign], &body)
            .await;
        page.says(403, "We couldn’t accept this form");
    }
    let json = ["Content-Type: application/json"];
    ben.send("POST", "/oauth/authorize", &json, "{}")
        .await
        .says(415, "couldn’t read this form");
    let own = format!("Origin: {}", tenant.server().base_url());
    let page = ben
        .send("POST", "/oauth/authorize", &[FORM, &own], &body)
        .await;
    assert!(brought(page.sent_on(), "code").is_some());
}
