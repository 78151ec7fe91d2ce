//! Coming into a flow by the link of an invitation, or by the flow's own join link.

use eddyline_client::{Json, Method};
use eddyline_tests::{Page, SESSION, Tenant, on_shared_servers};
use serde_json::json;

use super::links::path_of;
use super::{OTHER, PASSWORD};

on_shared_servers![
    a_newcomer_signs_up_by_an_invitation,
    a_newcomer_is_told_what_is_wrong,
    whoever_is_signed_in_joins_with_one_click,
    somebody_with_an_account_signs_in_first,
    an_invitation_is_declined,
    a_full_organization_takes_nobody_in,
    a_member_of_another_organization_joins_by_the_flows_link,
    a_newcomer_proves_an_address_at_the_flows_link,
    a_join_link_leads_nowhere_unless_the_flow_takes_people_by_it,
];

async fn invite(tenant: &Tenant, email: &str) -> String {
    let wish = json!({"email": email, "message": "Come & see\nhow it flows"});
    tenant
        .ben
        .does(Method::POST, &tenant.path("/invitations"), &wish)
        .await;
    path_of(&tenant.server().letter(email, 1).await, tenant.server())
}

/// The path of the page where one joins the flow, after setting who may.
async fn join_link(tenant: &Tenant, mode: &str) -> String {
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"access_mode": mode}))
        .await;
    let url = tenant.ada.get(&tenant.path("")).await["join_url"]
        .as_str()
        .unwrap()
        .to_owned();
    url.strip_prefix(tenant.server().base_url())
        .unwrap()
        .to_owned()
}

async fn last_action(tenant: &Tenant) -> Json {
    tenant
        .ada
        .get(&tenant.path("/messages?event=action&limit=1"))
        .await[0]["content"]
        .clone()
}

fn sign_up<'a>(nick: &'a str, password: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("do", "sign-up"),
        ("name", "Grace Hopper"),
        ("nick", nick),
        ("password", password),
    ]
}

fn flow_page(tenant: &Tenant) -> String {
    format!("/app/{}", tenant.main)
}

/// Shows: 3.1
async fn a_newcomer_signs_up_by_an_invitation(tenant: Tenant) {
    let email = format!("grace@{}.example", tenant.name);
    let link = invite(&tenant, &email).await;
    let mut grace = tenant.server().visitor();
    let page: Page = grace.get(&link).await;
    for part in [
        "ben invites you to the flow main of",
        &email,
        "Come &#38; see<br>how it flows",
        "autocomplete=\"nickname\"",
    ] {
        page.says(200, part);
    }
    let page = grace.post(&link, &sign_up("grace", OTHER)).await;
    assert_eq!(page.sent_on(), flow_page(&tenant));
    grace
        .get(&flow_page(&tenant))
        .await
        .says(200, "Grace Hopper");

    assert_eq!(
        last_action(&tenant).await,
        json!({"type": "join", "description": "grace"})
    );
    assert_eq!(
        tenant.ada.get(&tenant.path("/invitations")).await,
        json!([])
    );
    grace.get(&link).await.says(404, "This link doesn’t work");
    let mut other = tenant.server().visitor();
    other
        .post(&link, &sign_up("other", OTHER))
        .await
        .says(404, "This link doesn’t work");
    tenant.server().signed_in(&email, OTHER).await;
}

async fn a_newcomer_is_told_what_is_wrong(tenant: Tenant) {
    let email = format!("grace@{}.example", tenant.name);
    let link = invite(&tenant, &email).await;
    let mut grace = tenant.server().visitor();
    let page = grace.post(&link, &sign_up("ada", "grace123")).await;
    page.says(400, "<a href=\"#password\">Password is easy to guess");
    page.says(400, "value=\"Grace Hopper\"");
    assert!(!page.text.contains("grace123"), "{}", page.text);
    let page = grace.post(&link, &sign_up("ada", OTHER)).await;
    page.says(
        400,
        "<a href=\"#nick\">Nick is taken in this organization</a>",
    );
    assert_eq!(grace.cookie(SESSION), None);
    assert_eq!(
        grace.post(&link, &sign_up("grace", OTHER)).await.sent_on(),
        flow_page(&tenant)
    );
}

/// Shows: 3.1
async fn whoever_is_signed_in_joins_with_one_click(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let zoe = neighbour.user("zoe");
    // The link is the proof, whatever address it was sent to.
    let link = invite(&tenant, &format!("another@{}.example", tenant.name)).await;
    let mut browser = tenant.server().signed_in(&zoe.email, PASSWORD).await;
    browser.get(&link).await.says(200, "Join as zoe");
    assert_eq!(zoe.get("/flows").await, json!([]), "a look changes nothing");
    assert_eq!(
        browser.post(&link, &[("do", "join")]).await.sent_on(),
        flow_page(&tenant)
    );
    assert_eq!(
        last_action(&tenant).await,
        json!({"type": "join", "description": "zoe"})
    );
    zoe.say(&tenant.main, "hello").await;
    browser
        .post(&link, &[("do", "join")])
        .await
        .says(404, "This link doesn’t work");
}

async fn somebody_with_an_account_signs_in_first(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let zoe = neighbour.user("zoe");
    let link = invite(&tenant, &zoe.email).await;
    let mut browser = tenant.server().visitor();
    let page = browser.get(&link).await;
    page.says(200, &format!("name=\"next\" value=\"{link}\""));
    page.says(200, "autocomplete=\"current-password\"");
    let elsewhere = browser.post(&link, &[("do", "join")]).await;
    assert!(
        elsewhere.sent_on().starts_with("/sign-in?next="),
        "{}",
        elsewhere.sent_on()
    );
    browser
        .post(&link, &sign_up("zoe2", OTHER))
        .await
        .says(409, "This address has an account by now");
    let fields = [
        ("email", zoe.email.as_str()),
        ("password", PASSWORD),
        ("next", &link),
    ];
    assert_eq!(browser.post("/sign-in", &fields).await.sent_on(), link);
    assert_eq!(
        browser.post(&link, &[("do", "join")]).await.sent_on(),
        flow_page(&tenant)
    );
}

/// Shows: 3.2
async fn an_invitation_is_declined(tenant: Tenant) {
    let email = format!("grace@{}.example", tenant.name);
    let link = invite(&tenant, &email).await;
    let mut grace = tenant.server().visitor();
    grace.get(&link).await.says(200, "Decline");
    grace
        .post(&link, &[("do", "decline")])
        .await
        .says(200, "You declined");
    assert_eq!(
        last_action(&tenant).await,
        json!({"type": "decline", "description": {"email": email}})
    );
    assert_eq!(
        tenant.ada.get(&tenant.path("/invitations")).await,
        json!([])
    );
    grace.get(&link).await.says(404, "This link doesn’t work");
}

/// Shows: 8.4
async fn a_full_organization_takes_nobody_in(tenant: Tenant) {
    let email = format!("grace@{}.example", tenant.name);
    let link = invite(&tenant, &email).await;
    let limit = |count: &str| {
        tenant.server().admin(&[
            "org",
            "update",
            "--org",
            &tenant.name,
            "--user-limit",
            count,
        ]);
    };
    limit("2");
    let mut grace = tenant.server().visitor();
    grace
        .post(&link, &sign_up("grace", OTHER))
        .await
        .says(409, "user limit is reached");
    let neighbour = tenant.neighbour();
    let mut zoe = tenant
        .server()
        .signed_in(&neighbour.user("zoe").email, PASSWORD)
        .await;
    zoe.post(&link, &[("do", "join")])
        .await
        .says(409, "user limit is reached");
    limit("3");
    assert_eq!(
        grace.post(&link, &sign_up("grace", OTHER)).await.sent_on(),
        flow_page(&tenant)
    );
}

/// Shows: 2.12
async fn a_member_of_another_organization_joins_by_the_flows_link(tenant: Tenant) {
    let link = join_link(&tenant, "link").await;
    let neighbour = tenant.neighbour();
    let zoe = neighbour.user("zoe");
    let mut browser = tenant.server().visitor();
    let page = browser.get(&link).await;
    page.says(200, "Send me an invitation");
    page.says(200, "/sign-in?next=%2Finvitations%2F");
    let mut browser = tenant.server().signed_in(&zoe.email, PASSWORD).await;
    browser.get(&link).await.says(200, "Join as zoe");
    assert_eq!(
        browser.post(&link, &[("do", "join")]).await.sent_on(),
        flow_page(&tenant)
    );
    assert_eq!(
        last_action(&tenant).await,
        json!({"type": "join", "description": "zoe"})
    );
    assert_eq!(
        browser.get(&link).await.sent_on(),
        flow_page(&tenant),
        "who is in is let through"
    );
    // Somebody with a nick that is taken there must choose another first.
    let mut ben = tenant
        .server()
        .signed_in(&neighbour.ben.email, PASSWORD)
        .await;
    ben.post(&link, &[("do", "join")])
        .await
        .says(400, "choose another nick first");
}

/// Shows: 2.12
async fn a_newcomer_proves_an_address_at_the_flows_link(tenant: Tenant) {
    let link = join_link(&tenant, "organization").await;
    let email = format!("grace@{}.example", tenant.name);
    let mut grace = tenant.server().visitor();
    grace
        .post(&link, &[("do", "mail"), ("email", "grace")])
        .await
        .says(400, "aria-invalid=\"true\"");
    let mut told = Vec::new();
    for email in [email.as_str(), &tenant.ben.email] {
        let page = grace.post(&link, &[("do", "mail"), ("email", email)]).await;
        assert_eq!(page.status, 200, "{}", page.text);
        told.push(page.text.replace(email, ""));
    }
    assert_eq!(told[0], told[1], "nobody learns who is in the flow");
    let invitation = path_of(&tenant.server().letter(&email, 1).await, tenant.server());
    grace
        .get(&invitation)
        .await
        .says(200, "wants to join the flow main");
    assert_eq!(
        grace
            .post(&invitation, &sign_up("grace", OTHER))
            .await
            .sent_on(),
        flow_page(&tenant)
    );
    assert_eq!(
        last_action(&tenant).await,
        json!({"type": "join", "description": "grace"})
    );
    assert_eq!(
        tenant.server().letters_to(&tenant.ben.email),
        [],
        "ben is in the flow already"
    );
}

/// Shows: 2.12
async fn a_join_link_leads_nowhere_unless_the_flow_takes_people_by_it(tenant: Tenant) {
    let link = join_link(&tenant, "link").await;
    let neighbour = tenant.neighbour();
    let zoe = neighbour.user("zoe");
    let mut browser = tenant.server().signed_in(&zoe.email, PASSWORD).await;
    let (secret, _) = link.rsplit_once('-').unwrap();
    for other in [
        format!("{secret}-other"),
        format!("{secret}-"),
        secret.to_owned(),
    ] {
        browser
            .get(&other)
            .await
            .says(404, "This link doesn’t work");
    }
    let bert = tenant.member("bert");
    let block = tenant.path(&format!("/users/{}", bert.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    let mut blocked = tenant.server().signed_in(&bert.email, PASSWORD).await;
    blocked
        .get(&link)
        .await
        .says(403, "You can’t join this flow");
    blocked
        .post(&link, &[("do", "join")])
        .await
        .says(403, "You can’t join this flow");

    for change in [
        json!({"access_mode": "invitation"}),
        json!({"access_mode": "link", "disabled": true}),
    ] {
        tenant
            .ada
            .does(Method::PUT, &tenant.path(""), &change)
            .await;
        browser.get(&link).await.says(404, "This link doesn’t work");
        browser
            .post(&link, &[("do", "join")])
            .await
            .says(404, "This link doesn’t work");
    }
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": false}))
        .await;
    browser.get(&link).await.says(404, "This link doesn’t work");
    let link = join_link(&tenant, "link").await;
    browser.get(&link).await.says(200, "Join as zoe");
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": true}))
        .await;
    browser.get(&link).await.says(404, "This link doesn’t work");
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": false}))
        .await;
    let active = |active: &str| {
        tenant
            .server()
            .admin(&["org", "update", "--org", &tenant.name, "--active", active]);
    };
    active("false");
    browser
        .post(&link, &[("do", "join")])
        .await
        .says(403, "You can’t join this flow");
    active("true");
    assert_eq!(
        browser.post(&link, &[("do", "join")]).await.sent_on(),
        flow_page(&tenant)
    );
}
