//! Where users are sent back to.

use eddyline_tests::{Backend, CALLBACK, PASSWORD, Tenant, on_shared_servers, run};

use super::{Consent, asks, ben, brought, consent, is_hardened, told};

on_shared_servers![
    a_query_of_its_own_stays_in_a_redirect_uri,
    a_program_is_called_by_its_scheme,
    one_of_several_places_is_named,
    only_the_consent_is_a_page,
];

async fn a_query_of_its_own_stays_in_a_redirect_uri(tenant: Tenant) {
    let uri = "https://robot.example/back?tenant=a%20b&x=1";
    let robot = tenant
        .server()
        .robot(&tenant.name, &["--redirect-uri", uri]);
    let mut ben = ben(&tenant).await;
    let page = ben
        .get(&asks(&robot, &[("redirect_uri", uri), ("state", "s")]))
        .await;
    is_hardened(&page, " https:");
    let form = Consent::on(&page);
    let answer = form.send(&mut ben, "accept").await;
    assert!(
        answer.sent_on().starts_with(&format!("{uri}&code=")),
        "{}",
        answer.sent_on()
    );
    assert_eq!(brought(answer.sent_on(), "tenant").as_deref(), Some("a b"));
    told(
        &form.send(&mut ben, "deny").await,
        &format!("{uri}&error="),
        "access_denied",
        Some("s"),
    );
}

async fn a_program_is_called_by_its_scheme(tenant: Tenant) {
    let uri = "com.example.robot:/back";
    let robot = tenant
        .server()
        .robot(&tenant.name, &["--redirect-uri", uri]);
    let mut ben = ben(&tenant).await;
    let page = ben.get(&asks(&robot, &[])).await;
    page.says(200, "<strong>com.example.robot</strong>");
    is_hardened(&page, " com.example.robot:");
    let answer = Consent::on(&page).send(&mut ben, "accept").await;
    assert!(
        answer.sent_on().starts_with(&format!("{uri}?code=")),
        "{}",
        answer.sent_on()
    );
}

async fn one_of_several_places_is_named(tenant: Tenant) {
    let other = "https://robot.example/back";
    let options = ["--redirect-uri", CALLBACK, "--redirect-uri", other];
    let robot = tenant.server().robot(&tenant.name, &options);
    let mut ben = ben(&tenant).await;
    for uri in [CALLBACK, other] {
        let form = consent(&mut ben, &asks(&robot, &[("redirect_uri", uri)])).await;
        let answer = form.send(&mut ben, "accept").await;
        assert!(
            answer.sent_on().starts_with(&format!("{uri}?code=")),
            "{}",
            answer.sent_on()
        );
    }
    ben.get(&asks(&robot, &[]))
        .await
        .says(400, "This application’s request isn’t valid");
}

async fn only_the_consent_is_a_page(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let mut ben = ben(&tenant).await;
    let address = asks(&robot, &[("state", "a b")]);
    let moved = ben
        .get(&address.replacen("authorize", "authorize/", 1))
        .await;
    assert_eq!(
        (moved.status, moved.header("location")),
        (308, address.as_str())
    );
    let put = ben.send("PUT", &address, &["Content-Length: 0"], "").await;
    put.says(405, "<h1>");
    for path in [
        "/oauth/authorized",
        "/oauth/authorize.json",
        "/oauth",
        "/oauth/token",
    ] {
        let page = ben.get(path).await;
        assert!(matches!(page.status, 404 | 405), "{path}: {}", page.status);
        assert!(
            page.header("content-type").starts_with("application/json"),
            "{path}"
        );
    }
}

#[test]
fn an_application_is_where_it_is_also_when_the_pages_are_under_a_path() {
    run(
        Backend::Sqlite,
        &["--web-url", "http://chat.example/team"],
        async |server| {
            server.organization("acme");
            let ben = server.user("acme", "ben");
            let robot = server.robot("acme", &[]);
            let mut visitor = server.visitor();
            let address = asks(&robot, &[]);
            let page = visitor.get(&address).await;
            let next = page.sent_on().strip_prefix("/team/sign-in?next=").unwrap();
            assert!(next.starts_with("%2Foauth%2Fauthorize%3F"), "{next}");
            let fields = [
                ("email", ben.email.as_str()),
                ("password", PASSWORD),
                ("next", &address),
            ];
            let page = visitor.post("/sign-in", &fields).await;
            assert_eq!(page.sent_on(), format!("/team{address}"));
            let mut form = consent(&mut visitor, &address).await;
            assert_eq!(form.action, "/team/oauth/authorize");
            "/oauth/authorize".clone_into(&mut form.action);
            let answer = form.send(&mut visitor, "accept").await;
            assert!(
                answer.sent_on().starts_with(&format!("{CALLBACK}?code=")),
                "{}",
                answer.sent_on()
            );
        },
    );
}
