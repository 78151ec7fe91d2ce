//! Signing in on the way to the consent, or back to it.

use eddyline_tests::{CALLBACK, CSRF, PASSWORD, SESSION, Tenant, Visitor, on_shared_servers};

use super::{Consent, asks, attribute, ben, brought, consent, is_hardened, told};

on_shared_servers![
    one_signs_in_on_the_way_and_nothing_is_lost,
    a_form_whose_session_has_ended_leads_to_it_again_after_signing_in,
    one_can_sign_in_as_somebody_else,
    a_form_that_was_shown_to_somebody_else_is_refused,
    nobody_is_sent_to_another_site_before_signing_in,
];

const STATE: (&str, &str) = ("state", "a b\n\"ø\"%2F&x=y");

/// Follows to the page for signing in, signs in there, and gives where that leads.
async fn sign_in(visitor: &mut Visitor, location: &str, email: &str) -> String {
    let page = visitor.get(location).await;
    page.says(200, "<h1>Sign in</h1>");
    let hidden = page
        .text
        .split("<input type=\"hidden\" name=\"next\" ")
        .nth(1)
        .unwrap();
    let next = attribute(hidden, "value");
    let wrong = [
        ("email", email),
        ("password", "a wild guess"),
        ("next", &next),
    ];
    let page = visitor.post("/sign-in", &wrong).await;
    page.says(400, "is wrong");
    let hidden = page
        .text
        .split("<input type=\"hidden\" name=\"next\" ")
        .nth(1)
        .unwrap();
    assert_eq!(attribute(hidden, "value"), next);
    let right = [("email", email), ("password", PASSWORD), ("next", &next)];
    visitor.post("/sign-in", &right).await.sent_on().to_owned()
}

async fn one_signs_in_on_the_way_and_nothing_is_lost(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut visitor = tenant.server().visitor();
    let asked = [
        ("scope", "profile manage"),
        ("redirect_uri", CALLBACK),
        STATE,
        ("more", "1"),
    ];
    let address = asks(&robot, &asked);
    let location = visitor.get(&address).await.sent_on().to_owned();
    let back = sign_in(&mut visitor, &location, &tenant.ben.email).await;
    assert!(back.starts_with("/oauth/authorize?"), "{back}");
    let page = visitor.get(&back).await;
    assert_eq!(page.text.matches("<li>").count(), 2, "{}", page.text);
    let form = Consent::on(&page);
    assert_eq!(
        (form.get("scope"), form.get("more")),
        ("profile manage", "1")
    );
    let answer = form.send(&mut visitor, "accept").await;
    assert_eq!(brought(answer.sent_on(), "state").as_deref(), Some(STATE.1));
}

async fn a_form_whose_session_has_ended_leads_to_it_again_after_signing_in(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    for decision in ["accept", "deny"] {
        let mut ben = ben(&tenant).await;
        let form = consent(&mut ben, &asks(&robot, &[STATE, ("scope", "flow")])).await;
        // The browser still shows the page, and knows nothing of it.
        ben.clone().post("/sign-out", &[]).await.sent_on();
        assert!(ben.cookie(SESSION).is_some() && ben.cookie(CSRF) == Some(form.get("csrf")));
        let location = form.send(&mut ben, decision).await.sent_on().to_owned();
        assert!(
            location.starts_with("/sign-in?next=%2Foauth%2Fauthorize%3F"),
            "{location}"
        );
        let back = sign_in(&mut ben, &location, &tenant.ben.email).await;
        let again = consent(&mut ben, &back).await;
        assert_eq!((&again.action, again.get("scope")), (&form.action, "flow"));
        let answer = again.send(&mut ben, decision).await;
        assert_eq!(brought(answer.sent_on(), "state").as_deref(), Some(STATE.1));
    }
}

async fn one_can_sign_in_as_somebody_else(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut visitor = ben(&tenant).await;
    let page = visitor.get(&asks(&robot, &[STATE])).await;
    page.says(200, "Sign in with another account");
    let form = page.text.split("action=\"/sign-out\"").nth(1).unwrap();
    let next = attribute(form.split("name=\"next\"").nth(1).unwrap(), "value");
    let location = visitor
        .post("/sign-out", &[("next", &next)])
        .await
        .sent_on()
        .to_owned();
    assert_eq!(visitor.cookie(SESSION), None);
    let back = sign_in(&mut visitor, &location, &tenant.ada.email).await;
    let page = visitor.get(&back).await;
    page.says(200, &tenant.ada.email);
    let answer = Consent::on(&page).send(&mut visitor, "accept").await;
    assert_eq!(brought(answer.sent_on(), "state").as_deref(), Some(STATE.1));
    let code = brought(answer.sent_on(), "code").unwrap();
    let tokens = robot
        .tokens(&[("grant_type", "authorization_code"), ("code", &code)])
        .await;
    assert_eq!(
        robot.introspect(&tokens["access_token"]).await["sub"],
        tenant.ada.id.to_string()
    );
    for evil in ["//evil.example", "https://evil.example", ""] {
        let page = visitor.clone().post("/sign-out", &[("next", evil)]).await;
        assert_eq!(page.sent_on(), "/sign-in");
    }
}

async fn a_form_that_was_shown_to_somebody_else_is_refused(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut visitor = ben(&tenant).await;
    let form = consent(&mut visitor, &asks(&robot, &[])).await;
    let fields = [("email", tenant.ada.email.as_str()), ("password", PASSWORD)];
    visitor.post("/sign-in", &fields).await.sent_on();
    form.send(&mut visitor, "accept")
        .await
        .says(403, "We couldn’t accept this form");
}

async fn nobody_is_sent_to_another_site_before_signing_in(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut visitor = tenant.server().visitor();
    let location = visitor
        .get(&asks(&robot, &[("scope", "none"), STATE]))
        .await
        .sent_on()
        .to_owned();
    assert!(location.starts_with("/sign-in?next="), "{location}");
    // Browsers hold the policy of the form also against where signing in leads at last.
    is_hardened(&visitor.get(&location).await, " http://127.0.0.1:9 https:");
    let back = sign_in(&mut visitor, &location, &tenant.ben.email).await;
    told(
        &visitor.get(&back).await,
        &format!("{CALLBACK}?error="),
        "invalid_scope",
        Some(STATE.1),
    );
    let mut other = tenant.server().visitor();
    let location = other.get(&asks(&robot, &[])).await.sent_on().to_owned();
    is_hardened(&other.get(&location).await, "");
}
