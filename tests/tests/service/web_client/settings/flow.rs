//! The settings of a flow.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Tenant, on_shared_servers};
use serde_json::{Value as Json, json};
use tokio::task::block_in_place;

use super::{says, status, then, visit};
use crate::web_client::ready;

on_shared_servers![
    a_flow_is_named_and_described,
    a_person_is_added_blocked_and_let_back_in,
    addresses_are_invited_and_an_invitation_is_withdrawn,
    a_flow_takes_in_those_who_have_its_link,
    a_flow_is_archived_and_reopened,
    a_flow_has_notifications_of_its_own,
];

fn settings(tenant: &Tenant, rest: &str) -> String {
    format!("/app/{}/settings{rest}", tenant.main)
}

async fn a_flow_is_named_and_described(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let chat = format!("/app/{}", tenant.main);
    visit(&browser, &tenant, &tenant.ada, &chat);
    then(&browser, "Name can't be blank", |browser| {
        ready(browser);
        browser.press("Settings of main");
        browser.fill_label("Name", " ");
        browser.fill_label("Description", "For talks and tea");
        browser.press("Save");
    });
    then(
        &browser,
        "Name and description have been saved.",
        |browser| {
            // What was right is still there.
            browser.fill_label("Name", "Parlour");
            browser.press("Save");
        },
    );
    let flow = tenant.ben.get(&tenant.path("")).await;
    assert_eq!(
        (&flow["name"], &flow["description"]),
        (&json!("Parlour"), &json!("For talks and tea"))
    );
    visit(&browser, &tenant, &tenant.ben, &chat);
    let title = block_in_place(|| browser.title());
    assert!(title.contains("Parlour"), "{title}");
}

async fn a_person_is_added_blocked_and_let_back_in(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let eve = tenant.user("eve");
    let messages = tenant.path("/messages");
    assert_eq!(status(&eve, &messages).await, 403);
    visit(&browser, &tenant, &tenant.ben, &settings(&tenant, ""));
    then(&browser, "The person is in the flow now.", |browser| {
        browser.press("Members");
        browser.choose("Person", "eve (@eve)");
        browser.press("Add to the flow");
    });
    assert_eq!(status(&eve, &messages).await, 200);
    then(
        &browser,
        "The person is blocked from the flow.",
        |browser| {
            browser.press("Block: eve @eve");
            browser.press("Block");
        },
    );
    assert_eq!(status(&eve, &messages).await, 403);
    then(&browser, "The person is in the flow again.", |browser| {
        browser.press("Unblock: eve @eve");
    });
    assert_eq!(status(&eve, &messages).await, 200);
}

async fn addresses_are_invited_and_an_invitation_is_withdrawn(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let [gus, ida] = ["gus", "ida"].map(|name| format!("{name}@{}.guests.example", tenant.name));
    visit(&browser, &tenant, &tenant.ben, &settings(&tenant, ""));
    then(&browser, "The invitations are on their way.", |browser| {
        browser.press("Invitations");
        browser.fill_label("E-mail addresses", &format!("{gus}\n{ida}"));
        browser.fill_label("Message", "We have tea.");
        browser.press("Invite");
    });
    let letter = tenant.server().letter(&gus, 1).await;
    assert!(letter.text.contains("We have tea."), "{}", letter.text);
    let link = tenant.server().letter(&ida, 1).await.link().to_owned();
    then(&browser, "The invitation has been withdrawn.", |browser| {
        browser.press(&format!("Withdraw: {ida}"));
    });
    let pending = tenant.ada.get(&tenant.path("/invitations")).await;
    let pending: Vec<&Json> = pending.as_array().unwrap().iter().collect();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0]["email"], gus);
    then(&browser, "This link doesn’t work", |browser| {
        browser.open(&link);
    });
}

async fn a_flow_takes_in_those_who_have_its_link(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let neighbour = tenant.neighbour();
    let [zoe, max] = ["zoe", "max"].map(|nick| neighbour.user(nick));
    let messages = tenant.path("/messages");
    let joining = settings(&tenant, "/joining");
    let link = || {
        let read = "return document.querySelector('main p code').textContent";
        block_in_place(|| browser.execute(read).as_str().unwrap().to_owned())
    };
    visit(&browser, &tenant, &tenant.ada, &joining);
    then(&browser, "That has been changed.", |browser| {
        browser.choose("Who may join", "Anyone with the join link");
        browser.press("Save");
    });
    let first = link();
    then(&browser, "The flow has a new join link.", |browser| {
        browser.press("Replace the join link");
    });
    let second = link();
    assert_ne!(first, second);

    visit(&browser, &tenant, &zoe, "/app");
    then(&browser, "This link doesn’t work", |browser| {
        browser.open(&first);
    });
    assert_ne!(status(&zoe, &messages).await, 200);
    then(&browser, "main", |browser| {
        browser.open(&second);
        browser.press("Join as zoe");
        ready(browser);
    });
    assert_eq!(status(&zoe, &messages).await, 200);

    visit(&browser, &tenant, &tenant.ada, &joining);
    then(&browser, "That has been changed.", |browser| {
        browser.choose("Who may join", "Only people who are invited");
        browser.press("Save");
    });
    visit(&browser, &tenant, &max, "/app");
    then(&browser, "This link doesn’t work", |browser| {
        browser.open(&second);
    });
    assert_ne!(status(&max, &messages).await, 200);
    assert_eq!(status(&zoe, &messages).await, 200, "who is in stays");
}

async fn a_flow_is_archived_and_reopened(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    tenant.ben.say(&tenant.main, "kept").await;
    let messages = tenant.path("/messages");
    visit(&browser, &tenant, &tenant.ada, &settings(&tenant, ""));
    then(&browser, "Nothing can be read in it", |browser| {
        browser.press("Archive this flow");
    });
    assert_eq!(
        status(&tenant.ben, &messages).await,
        200,
        "it was a question"
    );
    then(&browser, "The flow is archived.", |browser| {
        browser.press("Archive main");
    });
    assert_eq!(status(&tenant.ben, &messages).await, 404);
    then(&browser, "The flow is open again.", |browser| {
        browser.press("Reopen this flow");
    });
    assert_eq!(tenant.ben.get(&messages).await[0]["content"], "kept");
}

async fn a_flow_has_notifications_of_its_own(tenant: Tenant) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let here = settings(&tenant, "/notifications");
    visit(&browser, &tenant, &tenant.ben, &here);
    then(&browser, "Your notifications have been saved.", |browser| {
        browser.choose("Notify me of", "Nothing");
        browser.press("Save");
    });
    let level = "return document.querySelector('main select').selectedOptions[0].text";
    for (who, chosen) in [
        (&tenant.ben, "Nothing"),
        (&tenant.ada, "As in your account"),
    ] {
        visit(&browser, &tenant, who, &here);
        assert_eq!(block_in_place(|| browser.execute(level)), chosen);
    }
    says(&browser, "Only for you.");
}
