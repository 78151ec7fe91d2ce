//! The sources of a flow: what posts into its inbox.

use eddyline_client::{Credentials, Method};
use eddyline_testing::browser::Browser;
use eddyline_tests::{Tenant, on_shared_servers};
use tokio::task::block_in_place;

use super::{secrets, then, visit};
use crate::integrations::{Source, activity, push, status};
use crate::receiver::Receiver;
use crate::web_client::ready;

on_shared_servers![
    a_script_posts_with_a_token_that_was_made_on_the_page,
    a_source_is_configured_at_its_application,
];

fn sources(tenant: &Tenant) -> String {
    format!("/app/{}/settings/sources", tenant.main)
}

async fn a_script_posts_with_a_token_that_was_made_on_the_page(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let make = "Make a token for a script";
    visit(&browser, &tenant, &tenant.ben, &sources(&tenant));
    then(&browser, "Token of Weather", |browser| {
        browser.press(make);
        browser.fill_label("Name", "Weather");
        browser.press(make);
    });
    let token = secrets(&browser).remove(0);
    let script = tenant.client(Credentials::FlowToken(token));
    let high = activity("gauge", "Water above 3 m");
    push(&script, &high).await;
    then(&browser, "Water above 3 m", |browser| {
        browser.open(&format!(
            "{}/app/{}",
            tenant.server().base_url(),
            tenant.main
        ));
        ready(browser);
    });
    visit(&browser, &tenant, &tenant.ben, &sources(&tenant));
    then(&browser, "Source removed.", |browser| {
        browser.press("Remove: Weather");
        browser.press("Remove");
    });
    assert_eq!(status(&script, Method::POST, "/messages", &high).await, 410);
}

async fn a_source_is_configured_at_its_application(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let ledger = Receiver::start().await;
    let options = ["--configuration-uri", &ledger.url("/configure")];
    let robot = tenant.server().robot(&tenant.name, &options);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Ledger").await;
    visit(&browser, &tenant, &tenant.ben, &sources(&tenant));
    block_in_place(|| browser.press("Configure Ledger"));
    ledger.is_asked(1).await;
    let path = ledger.asked().remove(0).path;
    assert!(path.starts_with("/configure?"), "{path}");
    let id = format!("integration_id={}", source.id);
    assert!(path.contains(&id), "{path}");
}
