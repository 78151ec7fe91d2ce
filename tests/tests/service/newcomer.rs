//! A newcomer, from the mail in their inbox to the first word in the flow: a real mail server, a
//! real browser, both databases.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_testing::smtp::SmtpServer;
use eddyline_tests::{Acme, Backend, Caller, Listener, Server};
use serde_json::json;

use crate::mail::with_mail;

const EMAIL: &str = "grace@hopper.example";
const PASSWORD: &str = "nanoseconds of wire on the desk";

#[test]
fn an_invitation_is_mailed_followed_and_brings_a_newcomer_into_the_flow_sqlite() {
    with_mail(Backend::Sqlite, async |server, mail| {
        follow(&server, &mail, Browser::start()).await;
    });
}

#[test]
fn an_invitation_is_mailed_followed_and_brings_a_newcomer_into_the_flow_postgres() {
    with_mail(Backend::Postgres, async |server, mail| {
        follow(&server, &mail, Browser::start()).await;
    });
}

#[test]
fn a_newcomer_needs_no_javascript() {
    with_mail(Backend::Sqlite, async |server, mail| {
        follow(&server, &mail, Browser::with_javascript_disabled()).await;
    });
}

async fn follow(server: &Server, mail: &SmtpServer, browser: Option<Browser>) {
    let Some(browser) = browser else { return };
    let Acme { ada, .. } = server.acme();
    let mut stream = Listener::to(&ada.client, &["acme/main"]).await;
    let wish = json!({"email": EMAIL, "message": "We need somebody who knows compilers."});
    ada.does(Method::POST, "/flows/acme/main/invitations", &wish)
        .await;
    assert_eq!(stream.event("action").await["content"]["type"], "invite");

    let letter = tokio::task::block_in_place(|| mail.wait_for(EMAIL));
    assert!(
        letter.tls && letter.user.as_deref() == Some("eddyline"),
        "{letter:?}"
    );
    assert!(
        letter
            .text
            .contains("We need somebody who knows compilers."),
        "{}",
        letter.text
    );
    assert!(
        letter.text.contains("ada") && letter.text.contains("main"),
        "{}",
        letter.text
    );

    tokio::task::block_in_place(|| sign_up(&browser, server, letter.link()));

    let join = stream.event("action").await;
    assert_eq!(
        join["content"],
        json!({"type": "join", "description": "grace"})
    );
    let grace = by_password(&ada).await;
    assert_eq!(grace["id"].to_string(), join["user"].as_str().unwrap());
    assert_eq!(
        (&grace["name"], &grace["email"]),
        (&json!("Grace Hopper"), &json!(EMAIL))
    );
    let invitations = ada.get("/flows/acme/main/invitations").await;
    assert_eq!(invitations, json!([]), "none is open any more");
    let users = ada.get("/flows/acme/main/users").await;
    assert!(
        users
            .as_array()
            .unwrap()
            .iter()
            .any(|user| user["nick"] == "grace"),
        "{users}"
    );
}

fn sign_up(browser: &Browser, server: &Server, link: &str) {
    assert!(
        link.starts_with(&format!("{}/invitations/", server.base_url())),
        "{link}"
    );
    browser.open(link);
    assert_eq!(browser.audit(), Vec::<String>::new());
    assert!(
        browser.text().contains("main") && browser.text().contains("acme"),
        "{}",
        browser.text()
    );
    // Too weak a password is explained, and nothing that was typed is lost but the password.
    browser.fill_label("Full name", "Grace Hopper");
    browser.fill_label("Nick", "grace");
    browser.fill_label("Password", "grace123");
    browser.press("Join main");
    assert_eq!(browser.url(), link);
    assert_eq!(browser.audit(), Vec::<String>::new());
    assert_eq!(
        browser.attribute("input[name=name]", "value").as_deref(),
        Some("Grace Hopper")
    );
    browser.fill_label("Password", PASSWORD);
    browser.press("Join main");
    assert_eq!(
        browser.url(),
        format!("{}/app/acme/main", server.base_url())
    );
    assert_eq!(browser.audit(), Vec::<String>::new());
    let session = browser
        .cookies()
        .into_iter()
        .find(|cookie| cookie.name.contains("session"))
        .unwrap();
    assert!(
        session.http_only && session.same_site.as_deref() == Some("Lax"),
        "{session:?}"
    );
    // The link is used up.
    browser.open(link);
    assert!(
        browser.count("form input[name=password]") == 0,
        "{}",
        browser.text()
    );
    // Refusals of this very page are no complaints.
    let complaints: Vec<_> = browser
        .log()
        .into_iter()
        .filter(|line| !line.contains(link))
        .collect();
    assert_eq!(
        complaints,
        Vec::<String>::new(),
        "nothing is asked of anybody else, and no policy is broken"
    );
}

async fn by_password(ada: &Caller) -> eddyline_client::Json {
    let credentials = eddyline_client::Credentials::Basic {
        email: EMAIL.to_owned(),
        password: PASSWORD.to_owned(),
    };
    ada.client
        .with_credentials(credentials)
        .request(Method::GET, "/user")
        .call()
        .await
        .unwrap()
}
