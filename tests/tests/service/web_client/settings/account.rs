//! What people change of their own account.

use std::fs;

use eddyline_client::Client;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Caller, PASSWORD, Tenant, note_secret, on_shared_servers};
use serde_json::json;
use tokio::task::block_in_place;

use super::{secrets, then, visit};
use crate::avatars::png;

on_shared_servers![
    the_names_are_changed_for_all,
    a_picture_is_shown_to_all_until_it_is_removed,
    a_new_address_is_what_one_signs_in_with,
    a_new_password_ends_what_the_old_one_opened,
    an_api_token_is_made_renamed_and_ended,
    other_sessions_are_ended,
    what_one_is_notified_of_is_the_same_in_all_browsers,
];

const OTHER: &str = "an entirely different sentence";

/// Types an address and a password into the page that asks for them.
fn signs_in(browser: &Browser, email: &str, password: &str) {
    browser.fill_label("E-mail address", email);
    browser.fill_label("Password", password);
    browser.press("Sign in");
}

/// A user as others see them.
async fn seen(by: &Caller, who: &Caller) -> serde_json::Value {
    by.get(&format!("/users/{}", who.id)).await
}

async fn the_names_are_changed_for_all(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    visit(&browser, &tenant, &tenant.ben, "/account");
    then(&browser, "taken", |browser| {
        browser.fill_label("Nick", "ada");
        browser.press("Save");
    });
    then(&browser, "Your profile has been saved.", |browser| {
        browser.fill_label("Full name", "Benjamin");
        browser.fill_label("Nick", "benny");
        browser.press("Save");
    });
    let ben = seen(&tenant.ada, &tenant.ben).await;
    assert_eq!(
        (&ben["name"], &ben["nick"]),
        (&json!("Benjamin"), &json!("benny"))
    );
}

async fn a_picture_is_shown_to_all_until_it_is_removed(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("squares.png");
    fs::write(&file, png(300)).unwrap();
    let drawn = seen(&tenant.ada, &tenant.ben).await["avatar"].clone();
    visit(&browser, &tenant, &tenant.ben, "/account");
    then(&browser, "Your picture has been changed.", |browser| {
        browser.fill_label("New picture", file.to_str().unwrap());
        browser.press("Change the picture");
    });
    let sent = seen(&tenant.ada, &tenant.ben).await["avatar"].clone();
    assert_ne!(sent, drawn);
    then(&browser, "Your picture has been removed.", |browser| {
        browser.press("Remove the picture");
    });
    let now = seen(&tenant.ada, &tenant.ben).await["avatar"].clone();
    assert_ne!(now, sent);
}

async fn a_new_address_is_what_one_signs_in_with(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let new = format!("benny@{}.example", tenant.name);
    visit(&browser, &tenant, &tenant.ben, "/account");
    then(
        &browser,
        "Your e-mail address has been changed.",
        |browser| {
            browser.fill_label("E-mail address", &new);
            browser.press("Change address");
        },
    );
    let letter = tenant.server().letter(&tenant.ben.email, 1).await;
    assert!(letter.text.contains(&new), "{}", letter.text);
    then(
        &browser,
        "The e-mail address or the password is wrong.",
        |browser| {
            browser.press(&tenant.name);
            browser.press("Sign out");
            browser.wait_for("location.pathname === '/sign-in'");
            browser.open(&format!("{}/sign-in", tenant.server().base_url()));
            signs_in(browser, &tenant.ben.email, PASSWORD);
        },
    );
    then(&browser, "main", |browser| {
        signs_in(browser, &new, PASSWORD);
    });
}

async fn a_new_password_ends_what_the_old_one_opened(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    note_secret(OTHER);
    let mut elsewhere = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    visit(&browser, &tenant, &tenant.ben, "/account");
    then(&browser, "Your password has been changed", |browser| {
        browser.fill_label("Current password", PASSWORD);
        browser.fill_label("New password", OTHER);
        browser.press("Change password");
    });
    assert_eq!(elsewhere.get("/account").await.status, 303);
    tenant.server().signed_in(&tenant.ben.email, OTHER).await;
    let me = tenant.ben.by_password().me().await;
    let refused = me.err().and_then(|error| error.status());
    assert_eq!(refused.map(|status| status.as_u16()), Some(401));
}

async fn an_api_token_is_made_renamed_and_ended(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    visit(&browser, &tenant, &tenant.ben, "/account/tokens");
    then(&browser, "Your new API token", |browser| {
        browser.fill_label("Name", "Backup");
        browser.press("Create an API token");
    });
    let token = secrets(&browser).remove(0);
    let program: Client = tenant.server().client().api_token(&token).build().unwrap();
    assert_eq!(program.me().await.unwrap().id, tenant.ben.id);
    then(&browser, "The API token has been renamed.", |browser| {
        browser.press("All API tokens");
        browser.press("Backup");
        browser.fill_label("Name", "Weather");
        browser.press("Rename it");
    });
    then(&browser, "The API token has been ended.", |browser| {
        browser.open(&format!("{}/account/tokens", tenant.server().base_url()));
        browser.press("Weather");
        browser.press("End it");
    });
    let refused = program.me().await.err().and_then(|error| error.status());
    assert_eq!(refused.map(|status| status.as_u16()), Some(401));
}

async fn other_sessions_are_ended(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let mut others = Vec::new();
    for _ in 0..3 {
        let visitor = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
        others.push(visitor);
    }
    visit(&browser, &tenant, &tenant.ben, "/account/sessions");
    then(&browser, "The session has been ended.", |browser| {
        browser.press("End: 2. Unknown browser");
    });
    let mut open = 0;
    for visitor in &mut others {
        open += usize::from(visitor.get("/account").await.status == 200);
    }
    assert_eq!(open, 2);
    then(&browser, "You are signed out everywhere else.", |browser| {
        browser.press("Sign out everywhere else");
    });
    for visitor in &mut others {
        assert_eq!(visitor.get("/account").await.status, 303);
    }
    assert_eq!(block_in_place(|| browser.count("main ul.cards > li")), 1);
}

async fn what_one_is_notified_of_is_the_same_in_all_browsers(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    visit(&browser, &tenant, &tenant.ben, "/account/notifications");
    then(&browser, "Your notifications have been saved.", |browser| {
        browser.choose("Notify me of", "All messages");
        browser.tick("Quiet hours");
        browser.choose("Time zone", "Europe/Berlin");
        browser.press("Save");
    });
    let mut elsewhere = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
    let page = elsewhere.get("/account/notifications").await;
    page.says(200, "<option value=\"all\" selected>");
    page.says(200, "<option value=\"Europe/Berlin\" selected>");
    page.says(200, "name=\"quiet\" type=\"checkbox\" value=\"1\" checked");
}
