//! The people of an organization on its page, and removing one of them.

use eddyline_client::Method;
use eddyline_tests::{Caller, PASSWORD, Tenant, Visitor, on_shared_servers};
use serde_json::json;

on_shared_servers![
    people_are_shown_to_those_who_belong_to_the_organization,
    an_administrator_removes_people_after_a_question,
    the_last_administrator_stays,
];

async fn signed_in(tenant: &Tenant, caller: &Caller) -> Visitor {
    tenant.server().signed_in(&caller.email, PASSWORD).await
}

fn people(tenant: &Tenant) -> String {
    format!("/app/{}/settings/people", tenant.name)
}

async fn people_are_shown_to_those_who_belong_to_the_organization(tenant: Tenant) {
    let (here, eve) = (people(&tenant), tenant.user("eve"));
    for (who, caller, administers) in [
        ("ada", &tenant.ada, true),
        ("ben", &tenant.ben, false),
        ("eve", &eve, false),
    ] {
        let page = signed_in(&tenant, caller).await.get(&here).await;
        page.says(200, "3 people in");
        page.is_named_throughout(&here);
        for part in [
            "@ada",
            "@ben",
            "@eve",
            " · Administrator",
            " · You",
            &eve.email,
        ] {
            assert!(page.text.contains(part), "{part} for {who}: {}", page.text);
        }
        let removal = format!("href=\"{here}/{}\"", eve.id);
        let applications = format!("href=\"/account/organizations/{}\"", tenant.name);
        for link in [removal, applications] {
            assert_eq!(page.text.contains(&link), administers, "{link} for {who}");
        }
    }
    let mut stranger = signed_in(&tenant, &tenant.neighbour().ben).await;
    stranger.get(&here).await.says(404, "Page not found");
    let mut visitor = tenant.server().visitor();
    let next = format!("/sign-in?next={}", here.replace('/', "%2F"));
    assert_eq!(visitor.get(&here).await.sent_on(), next);
}

async fn an_administrator_removes_people_after_a_question(tenant: Tenant) {
    let eve = tenant.member("eve");
    let removal = format!("{}/{}", people(&tenant), eve.id);
    let is_member = async || {
        let user = format!("/organizations/{}/users/{}", tenant.name, eve.id);
        let answer = tenant.ada.send(Method::GET, &user, &json!(null)).await;
        answer.status == 200
    };
    let mut visitor = tenant.server().visitor();
    let sent = visitor.post(&removal, &[]).await;
    assert!(sent.sent_on().starts_with("/sign-in?next="));
    let neighbour = tenant.neighbour();
    for (caller, status, text) in [
        (&tenant.ben, 403, "You can’t do that"),
        (&eve, 403, "You can’t do that"),
        (&neighbour.ada, 404, "Page not found"),
    ] {
        let mut visitor = signed_in(&tenant, caller).await;
        visitor.get(&removal).await.says(status, text);
        visitor.post(&removal, &[]).await.says(status, text);
    }
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let asked = ada.get(&removal).await;
    asked.says(200, "@eve loses all access to");
    asked.is_named_throughout(&removal);
    assert!(is_member().await, "reading changes nothing");
    for wrong in ["none", "0", "999999999", &neighbour.ben.id.to_string()] {
        let path = format!("{}/{wrong}", people(&tenant));
        ada.get(&path).await.says(404, "Page not found");
        ada.post(&path, &[]).await.says(404, "Page not found");
    }

    let sent = ada.post(&removal, &[]).await;
    assert_eq!(sent.sent_on(), format!("{}?done=removed", people(&tenant)));
    let page = ada.get(sent.sent_on()).await;
    page.says(
        200,
        "The person is out of the organization and all of its flows.",
    );
    assert!(!page.text.contains("@eve"), "{}", page.text);
    assert!(!is_member().await);
    ada.post(&removal, &[]).await.says(404, "Page not found");
}

async fn the_last_administrator_stays(tenant: Tenant) {
    let removal = format!("{}/{}", people(&tenant), tenant.ada.id);
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let page = ada.post(&removal, &[]).await;
    page.says(400, "role=\"alert\"");
    page.says(400, "administrator");
    page.is_named_throughout(&removal);
    let root = tenant.administrator("root");
    assert_eq!(ada.post(&removal, &[]).await.sent_on(), "/app");
    let user = format!("/organizations/{}/users/{}", tenant.name, tenant.ada.id);
    let answer = root.send(Method::GET, &user, &json!(null)).await;
    assert_eq!(answer.status, 404);
}
