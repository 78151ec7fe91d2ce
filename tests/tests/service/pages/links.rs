//! The way back in without the password, by a mailed link.

use eddyline_client::Credentials;
use eddyline_tests::{Letter, Server, Tenant, on_shared_servers};

use super::{OTHER, PASSWORD};

on_shared_servers![
    a_forgotten_password_is_replaced_by_mail,
    nobody_learns_who_has_an_account,
    a_link_that_was_never_made_leads_nowhere,
];

/// The path of the page that a letter leads to.
pub(crate) fn path_of(letter: &Letter, server: &Server) -> String {
    let path = letter
        .link()
        .strip_prefix(server.base_url())
        .expect("a link leads to the server");
    path.to_owned()
}

async fn a_forgotten_password_is_replaced_by_mail(tenant: Tenant) {
    let server = tenant.server();
    let mut elsewhere = server.signed_in(&tenant.ben.email, PASSWORD).await;
    let mut ben = server.visitor();
    let page = ben
        .post("/password", &[("email", &tenant.ben.email.to_uppercase())])
        .await;
    page.says(200, "Check your e-mail");
    let letter = server.letter(&tenant.ben.email, 1).await;
    let link = path_of(&letter, server);
    assert_eq!(link.len(), "/password/".len() + 64, "{link}");

    // Mail programs look at links, and must not use them up.
    for _ in 0..3 {
        let page = ben.get(&link).await;
        page.says(200, "autocomplete=\"new-password\"");
        page.says(200, &tenant.ben.email);
    }
    assert_eq!(elsewhere.get("/app").await.status, 200);
    let weak = ben.post(&link, &[("password", "password1")]).await;
    weak.says(400, "easy to guess");
    assert!(!weak.text.contains("password1"), "{}", weak.text);

    assert_eq!(
        ben.post(&link, &[("password", OTHER)]).await.sent_on(),
        "/app"
    );
    ben.get("/app").await.says(200, &tenant.main);
    assert_eq!(
        elsewhere.get("/app").await.status,
        303,
        "other sessions have ended"
    );
    ben.get(&link).await.says(404, "This link doesn’t work");
    ben.post(&link, &[("password", OTHER)])
        .await
        .says(404, "This link doesn’t work");
    assert!(
        tenant.ben.by_password().me().await.is_err(),
        "the old password is over"
    );
    let credentials = Credentials::Basic {
        email: tenant.ben.email.clone(),
        password: OTHER.into(),
    };
    tenant.client(credentials).me().await.unwrap();
    // API tokens are not sessions.
    tenant.ben.client.me().await.unwrap();
}

async fn nobody_learns_who_has_an_account(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    let mut told = Vec::new();
    let nobody = format!("nobody@{}.example", tenant.name);
    for email in [tenant.ben.email.as_str(), &nobody] {
        let page = visitor.post("/password", &[("email", email)]).await;
        assert_eq!(page.status, 200);
        told.push(page.text.replace(email, ""));
    }
    assert_eq!(told[0], told[1]);
    tenant.server().letter(&tenant.ben.email, 1).await;
    assert_eq!(tenant.server().letters_to(&nobody), []);
    // Asked again at once, no second mail goes out, and nobody is told that either.
    visitor
        .post("/password", &[("email", &tenant.ben.email)])
        .await
        .says(200, "Check your e-mail");
    visitor
        .post("/password", &[("email", &tenant.ada.email)])
        .await
        .says(200, "Check your e-mail");
    tenant.server().letter(&tenant.ada.email, 1).await;
    assert_eq!(tenant.server().letters_to(&tenant.ben.email).len(), 1);
    visitor
        .post("/password", &[("email", "ben")])
        .await
        .says(400, "aria-invalid=\"true\"");
}

async fn a_link_that_was_never_made_leads_nowhere(tenant: Tenant) {
    let mut visitor = tenant.server().visitor();
    for kind in ["password", "email", "invitations"] {
        for secret in [
            "0".repeat(64),
            "0".repeat(63),
            "x".repeat(64),
            "A".repeat(64),
            "%00".repeat(64),
        ] {
            let path = format!("/{kind}/{secret}");
            visitor.get(&path).await.says(404, "This link doesn’t work");
            visitor
                .post(&path, &[("password", OTHER), ("do", "decline")])
                .await
                .says(404, "<h1>");
        }
    }
}
