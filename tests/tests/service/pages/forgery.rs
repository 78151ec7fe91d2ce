//! Forms that somebody else has a browser send, and forms that are none.

use eddyline_tests::{CSRF, Tenant, Visitor, on_shared_servers};

use super::PASSWORD;

on_shared_servers![
    a_form_without_its_token_is_refused,
    a_form_from_another_site_is_refused,
    a_form_has_its_type_and_its_bounds,
];

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

fn token(visitor: &Visitor) -> String {
    visitor.cookie(CSRF).unwrap().to_owned()
}

async fn a_form_without_its_token_is_refused(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let (right, zeros) = (token(&ben), "0".repeat(64));
    let other = {
        let mut other = tenant.server().visitor();
        other.get("/sign-in").await;
        token(&other)
    };
    for path in [
        "/sign-in",
        "/sign-out",
        "/password",
        "/account",
        "/account/applications",
        "/account/tokens",
        "/account/tokens/1",
        "/account/sessions",
        "/account/organizations/none",
        "/developer",
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
        &format!("/app/{}/settings/identity-provider/token", tenant.name),
        &format!("/app/{}/settings/identity-provider/disconnect", tenant.name),
        &format!("/app/{}/settings/people/999999", tenant.name),
        &format!("/app/{}/settings/people/999999/administrator", tenant.name),
        "/developer/1",
        "/developer/1/secret",
        "/developer/1/remove",
        &format!("/password/{zeros}"),
        &format!("/email/{zeros}"),
        &format!("/invitations/{zeros}"),
    ] {
        for body in [
            "",
            "csrf=",
            &format!("csrf={zeros}"),
            &format!("csrf={other}"),
            &format!("csrf={right}0"),
        ] {
            let page = ben.send("POST", path, &[FORM], body).await;
            page.says(403, "We couldn’t accept this form");
        }
    }
    assert_eq!(ben.get("/app").await.status, 200, "nothing was done");
    let mut fresh = tenant.server().visitor();
    let page = fresh
        .send(
            "POST",
            "/password",
            &[FORM],
            &format!("csrf={right}&email=x%40y.example"),
        )
        .await;
    assert_eq!(page.status, 403, "there must be a cookie as well");
}

async fn a_form_from_another_site_is_refused(tenant: Tenant) {
    let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let body = format!("csrf={}", token(&ben));
    for foreign in [
        "Origin: https://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        let page = ben.send("POST", "/sign-out", &[FORM, foreign], &body).await;
        page.says(403, "We couldn’t accept this form");
    }
    let own = format!("Origin: {}", tenant.server().base_url());
    let page = ben
        .send(
            "POST",
            "/sign-out",
            &[FORM, &own, "Sec-Fetch-Site: same-origin"],
            &body,
        )
        .await;
    assert_eq!(page.sent_on(), "/sign-in");
}

async fn a_form_has_its_type_and_its_bounds(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    visitor.get("/sign-in").await;
    let body = format!("csrf={}&email=a", token(&visitor));
    for kind in [
        "Content-Type: application/json",
        "Content-Type: text/plain",
        "X-Nothing: 1",
    ] {
        visitor
            .send("POST", "/password", &[kind], &body)
            .await
            .says(415, "couldn’t read this form");
    }
    let large = format!("{body}{}", "x".repeat(64 * 1024));
    visitor
        .send("POST", "/password", &[FORM], &large)
        .await
        .says(413, "That’s too large");
    for bad in ["&email=%ff", "&email=%00", "&%00=1"] {
        visitor
            .send("POST", "/password", &[FORM], &format!("{body}{bad}"))
            .await
            .says(400, "couldn’t read this form");
    }
    for path in [
        "/account",
        "/invitations/0000000000000000000000000000000000000000-main",
    ] {
        let page = visitor
            .send("POST", path, &[FORM], &format!("{body}&do=none&part=none"))
            .await;
        assert!(
            matches!(page.status, 303 | 400 | 404),
            "{path}: {}",
            page.status
        );
    }
}
