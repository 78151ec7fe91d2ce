//! The settings of an organization.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Provider, Tenant, on_shared_servers};
use serde_json::Value as Json;
use tokio::task::block_in_place;

use super::{secrets, status, then, visit};
use crate::web_client::ready;

on_shared_servers![
    an_organization_is_named_and_gets_another_flow,
    a_person_is_made_an_administrator_and_an_ordinary_member_again,
    a_person_is_removed_from_the_organization,
    an_identity_provider_is_connected_and_disconnected,
];

fn settings(tenant: &Tenant, rest: &str) -> String {
    format!("/app/{}/settings{rest}", tenant.name)
}

async fn organization(tenant: &Tenant) -> Json {
    let path = format!("/organizations/{}", tenant.name);
    tenant.ben.get(&path).await
}

async fn an_organization_is_named_and_gets_another_flow(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    visit(&browser, &tenant, &tenant.ada, &settings(&tenant, ""));
    then(&browser, "The name has been saved.", |browser| {
        browser.fill_label("Name", "Acme Works");
        browser.press("Save");
    });
    assert_eq!(organization(&tenant).await["name"], "Acme Works");
    then(&browser, "Support", |browser| {
        browser.press("New flow");
        browser.fill_label("Name", "Support");
        browser.press("Create flow");
        ready(browser);
    });
    let flow = tenant
        .ada
        .get(&format!("/flows/{}/support", tenant.name))
        .await;
    assert_eq!(flow["joined"], true);
}

/// Whether the organization lists Ben as an administrator.
async fn is_administrator(tenant: &Tenant) -> bool {
    let organization = organization(tenant).await;
    let users = organization["users"].as_array().unwrap();
    let ben = users.iter().find(|user| user["id"] == tenant.ben.id);
    ben.expect("he is in it")["admin"] == true
}

async fn a_person_is_made_an_administrator_and_an_ordinary_member_again(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let people = settings(&tenant, "/people");
    visit(&browser, &tenant, &tenant.ada, &people);
    then(&browser, "Make ben an administrator of", |browser| {
        browser.press("Make administrator: ben @ben");
    });
    assert!(!is_administrator(&tenant).await, "it was a question");
    then(&browser, "The person is an administrator now.", |browser| {
        browser.press("Make administrator");
    });
    assert!(is_administrator(&tenant).await);
    // Now he may do the same.
    visit(&browser, &tenant, &tenant.ben, &people);
    then(&browser, "You are no longer an administrator.", |browser| {
        browser.press("Stop administering: ben @ben");
        browser.press("Stop administering");
    });
    assert!(!is_administrator(&tenant).await);
    let offers = block_in_place(|| browser.count("main .acts a"));
    assert_eq!(offers, 0, "an ordinary member is offered nothing");
}

async fn a_person_is_removed_from_the_organization(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let messages = tenant.path("/messages");
    visit(
        &browser,
        &tenant,
        &tenant.ada,
        &settings(&tenant, "/people"),
    );
    then(&browser, "Remove ben from", |browser| {
        browser.press("Remove ben @ben");
    });
    assert_eq!(
        status(&tenant.ben, &messages).await,
        200,
        "it was a question"
    );
    then(
        &browser,
        "The person is out of the organization",
        |browser| browser.press("Remove"),
    );
    assert_ne!(status(&tenant.ben, &messages).await, 200);
}

/// An identity provider with the address and the token that the page shows.
fn provider(browser: &Browser, tenant: &Tenant) -> Provider {
    let [address, token]: [String; 2] = secrets(browser).try_into().unwrap();
    let uid = address.rsplit('/').next().unwrap().to_owned();
    tenant.server().provider_with(uid, token)
}

/// How an identity provider is answered.
async fn answer(provider: &Provider) -> u16 {
    let answer = provider.scim(Method::GET, "/Users", None).await;
    answer.status.as_u16()
}

async fn an_identity_provider_is_connected_and_disconnected(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    visit(&browser, &tenant, &tenant.ada, &settings(&tenant, ""));
    then(&browser, "Connect your identity provider", |browser| {
        browser.press("Identity provider");
        browser.press("Connect an identity provider");
    });
    let first = provider(&browser, &tenant);
    assert_eq!(answer(&first).await, 200);
    then(&browser, "Copy it now", |browser| {
        browser.press("Back to the settings");
        browser.press("Replace the token");
        browser.press("Replace the token");
    });
    let second = provider(&browser, &tenant);
    assert_eq!((answer(&first).await, answer(&second).await), (403, 200));
    then(
        &browser,
        "The identity provider is disconnected.",
        |browser| {
            browser.press("Back to the settings");
            browser.press("Disconnect");
            browser.press("Disconnect the identity provider");
        },
    );
    assert_eq!(answer(&second).await, 403);
}
