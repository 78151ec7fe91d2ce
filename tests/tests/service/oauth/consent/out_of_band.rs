//! Codes that users copy.

use eddyline_tests::{
    Backend, PASSWORD, Page, Robot, Tenant, Visitor, note_secret, on_shared_servers, run,
};

use super::{Consent, address, asks, ben, consent, is_hardened};

on_shared_servers![
    the_code_is_shown_on_a_page_whose_path_ends_in_it,
    a_code_is_shown_to_nobody_else,
    a_code_that_was_used_is_not_shown,
    a_code_that_was_sent_elsewhere_is_not_shown,
    whoever_says_no_is_shown_no_code,
    what_is_asked_wrongly_is_told_to_the_user,
    an_application_can_do_without,
];

const OOB: (&str, &str) = ("redirect_uri", "urn:ietf:wg:oauth:2.0:oob");
const GONE: &str = "This code doesn’t work any more";

/// The path of the page with the code.
async fn shown_at(robot: &Robot, visitor: &mut Visitor) -> String {
    let form = consent(visitor, &asks(robot, &[OOB])).await;
    form.send(visitor, "accept").await.sent_on().to_owned()
}

fn code_of(path: &str) -> &str {
    let code = path.strip_prefix("/oauth/authorize/").unwrap();
    note_secret(code);
    code
}

fn is_gone(page: &Page, code: &str) {
    page.says(404, GONE);
    assert!(!page.text.contains(code), "{}", page.text);
}

/// Shows: 5.5
async fn the_code_is_shown_on_a_page_whose_path_ends_in_it(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let page = ben.get(&asks(&robot, &[OOB, ("state", "s")])).await;
    page.says(200, "you’ll get a code to copy");
    is_hardened(&page, "");
    let answer = Consent::on(&page).send(&mut ben, "accept").await;
    let code = code_of(answer.sent_on());
    assert_eq!(code.len(), 43, "{code}");
    for _ in 0..2 {
        let page = ben.get(answer.sent_on()).await;
        page.says(200, &format!(">{code}</code>"));
        page.says(200, "Robot");
    }
    robot
        .tokens(&[("grant_type", "authorization_code"), ("code", code), OOB])
        .await;
}

async fn a_code_is_shown_to_nobody_else(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let path = shown_at(&robot, &mut ben).await;
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    is_gone(&ada.get(&path).await, code_of(&path));
    let mut stranger = tenant.server().visitor();
    let page = stranger.get(&path).await;
    let sign_in = page.sent_on().to_owned();
    assert!(
        sign_in.starts_with("/sign-in?next=%2Foauth%2Fauthorize%2F"),
        "{sign_in}"
    );
    let fields = [
        ("email", tenant.ben.email.as_str()),
        ("password", PASSWORD),
        ("next", &path),
    ];
    assert_eq!(stranger.post("/sign-in", &fields).await.sent_on(), path);
    stranger.get(&path).await.says(200, code_of(&path));
    for none in ["0", "%20", "%22%3E%3Cscript%3E", &"x".repeat(43)] {
        ben.get(&format!("/oauth/authorize/{none}"))
            .await
            .says(404, GONE);
    }
}

async fn a_code_that_was_used_is_not_shown(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let path = shown_at(&robot, &mut ben).await;
    robot
        .tokens(&[
            ("grant_type", "authorization_code"),
            ("code", code_of(&path)),
            OOB,
        ])
        .await;
    is_gone(&ben.get(&path).await, code_of(&path));
}

async fn a_code_that_was_sent_elsewhere_is_not_shown(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let code = robot.code(&mut ben, &[]).await;
    is_gone(&ben.get(&format!("/oauth/authorize/{code}")).await, &code);
}

async fn whoever_says_no_is_shown_no_code(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let form = consent(&mut ben, &asks(&robot, &[OOB])).await;
    let page = form.send(&mut ben, "deny").await;
    page.says(200, "You denied access");
    assert!(!page.text.contains("<code"), "{}", page.text);
}

async fn what_is_asked_wrongly_is_told_to_the_user(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let page = ben
        .get(&asks(&robot, &[OOB, ("scope", "everything")]))
        .await;
    page.says(400, "This application’s request isn’t valid");
    let page = ben
        .get(&address(&[("client_id", &robot.client_id), OOB]))
        .await;
    page.says(400, "Response_type is missing.");
}

async fn an_application_can_do_without(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &["--no-out-of-band"]);
    let mut ben = ben(&tenant).await;
    ben.get(&asks(&robot, &[OOB]))
        .await
        .says(400, "not registered");
}

#[test]
fn a_server_can_do_without() {
    run(
        Backend::Sqlite,
        &["--out-of-band-codes", "off"],
        async |server| {
            server.organization("acme");
            let ben = server.user("acme", "ben");
            let robot = server.robot("acme", &[]);
            let mut ben = server.signed_in(&ben.email, PASSWORD).await;
            ben.get(&asks(&robot, &[OOB]))
                .await
                .says(400, "not registered");
            Consent::on(&ben.get(&asks(&robot, &[])).await);
        },
    );
}
