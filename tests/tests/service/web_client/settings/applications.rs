//! Applications of an organization, and what its people have let them do.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Tenant, on_shared_servers};
use tokio::task::block_in_place;

use super::{secrets, then, visit};
use crate::receiver::Receiver;

on_shared_servers![
    an_application_is_registered_and_set_up_for_a_flow,
    what_a_member_let_an_application_do_is_ended,
];

async fn an_application_is_registered_and_set_up_for_a_flow(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let ledger = Receiver::start().await;
    visit(&browser, &tenant, &tenant.ben, "/developer");
    then(&browser, "Ledger is registered", |browser| {
        browser.fill_label("Name", "Ledger");
        browser.fill_label("Redirect URIs", &ledger.url("/back"));
        browser.fill_label("Setup URI", &ledger.url("/setup"));
        browser.press("Register it");
    });
    assert_eq!(secrets(&browser).len(), 2, "its id and its secret");
    let applications = format!("/app/{}/settings/applications", tenant.name);
    visit(&browser, &tenant, &tenant.ada, &applications);
    then(&browser, "Client id", |browser| browser.press("Ledger"));

    let sources = format!("/app/{}/settings/sources", tenant.main);
    visit(&browser, &tenant, &tenant.ada, &sources);
    block_in_place(|| browser.press("Ledger"));
    ledger.is_asked(1).await;
    let path = ledger.asked().remove(0).path;
    assert!(path.starts_with("/setup?flow="), "{path}");

    visit(&browser, &tenant, &tenant.ada, &applications);
    then(&browser, "The application has been removed.", |browser| {
        browser.press("Ledger");
        browser.press("Remove the application");
        browser.press("Remove Ledger");
    });
    visit(&browser, &tenant, &tenant.ben, &sources);
    assert_eq!(block_in_place(|| browser.count("main .apps a")), 0);
}

async fn what_a_member_let_an_application_do_is_ended(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let robot = tenant.server().robot(&tenant.name, &[]);
    let bens = robot.by_password(&tenant.ben, "flow").await;
    let adas = robot.by_password(&tenant.ada, "flow").await;
    let applications = format!("/app/{}/settings/applications", tenant.name);
    let done = "The application no longer has access.";
    visit(&browser, &tenant, &tenant.ada, &applications);
    then(&browser, done, |browser| {
        let revoke = format!("Revoke access: Robot by {} from ben @ben", tenant.name);
        browser.press(&revoke);
    });
    assert_eq!(robot.status(&bens["access_token"]).await, 401);
    assert_eq!(robot.status(&adas["access_token"]).await, 200);
    visit(&browser, &tenant, &tenant.ada, "/account/applications");
    then(&browser, done, |browser| {
        browser.press(&format!("Revoke access: Robot by {}", tenant.name));
    });
    assert_eq!(robot.status(&adas["access_token"]).await, 401);
}
