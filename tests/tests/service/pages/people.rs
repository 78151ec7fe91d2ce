//! The people of an organization on its page, removing one of them, and who administers it.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, PASSWORD, Tenant, Visitor, on_shared_servers};
use serde_json::json;

on_shared_servers![
    people_are_shown_to_those_who_belong_to_the_organization,
    an_administrator_removes_people_after_a_question,
    the_last_administrator_stays,
    a_member_is_made_an_administrator_after_a_question,
    an_administrator_is_made_an_ordinary_member_after_a_question,
    who_administers_is_for_administrators_alone,
    the_last_administrator_goes_on_administering,
    two_who_take_each_others_rights_at_once_leave_one_administrator,
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
        let right = format!("href=\"{here}/{}/administrator\"", eve.id);
        for link in [removal, right] {
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

fn right_of(tenant: &Tenant, user: &Caller) -> String {
    format!("{}/{}/administrator", people(tenant), user.id)
}

const GIVE: [(&str, &str); 1] = [("role", "administrator")];
const TAKE: [(&str, &str); 1] = [("role", "member")];

/// Who administers the organization, in the order of their numbers.
async fn administrators(tenant: &Tenant, asked_by: &Caller) -> Vec<i64> {
    let path = format!("/organizations/{}", tenant.name);
    let shown: Json = asked_by.get(&path).await;
    let users = shown["users"].as_array().unwrap().iter();
    let mut found: Vec<i64> = users
        .filter(|user| user["admin"] == true)
        .map(|user| user["id"].as_i64().unwrap())
        .collect();
    found.sort_unstable();
    found
}

async fn a_member_is_made_an_administrator_after_a_question(tenant: Tenant) {
    let right = right_of(&tenant, &tenant.ben);
    let applications = format!("/app/{}/settings/applications", tenant.name);
    let (mut ada, mut ben) = (
        signed_in(&tenant, &tenant.ada).await,
        signed_in(&tenant, &tenant.ben).await,
    );
    ada.get(&people(&tenant))
        .await
        .says(200, "aria-label=\"Make administrator: ben @ben\"");
    let asked = ada.get(&right).await;
    asked.says(200, "Make ben an administrator of");
    asked.is_named_throughout(&right);
    ben.get(&applications).await.says(403, "You can’t do that");
    for wrong in [&[][..], &[("role", "")], &[("role", "owner")]] {
        ada.post(&right, wrong)
            .await
            .says(400, "couldn’t read this form");
    }
    assert_eq!(administrators(&tenant, &tenant.ben).await, [tenant.ada.id]);

    for _ in 0..2 {
        let sent = ada.post(&right, &GIVE).await;
        assert_eq!(
            sent.sent_on(),
            format!("{}?done=appointed", people(&tenant))
        );
        let page = ada.get(sent.sent_on()).await;
        page.says(200, "The person is an administrator now.");
    }
    assert_eq!(ben.get(&applications).await.status, 200);
    let audit = tenant
        .server()
        .admin(&["scim", "audit", "--org", &tenant.name]);
    assert_eq!(
        audit["records"].as_array().map(Vec::len),
        Some(1),
        "{audit}"
    );
    let record = &audit["records"][0];
    assert_eq!(record["actor"], format!("user:{}", tenant.ada.id));
    assert_eq!(record["action"], "user.update");
    assert_eq!(record["user"], tenant.ben.id);
    assert_eq!(record["detail"], json!({"admin": [false, true]}));
}

async fn an_administrator_is_made_an_ordinary_member_after_a_question(tenant: Tenant) {
    let root = tenant.administrator("root");
    let (right, own) = (right_of(&tenant, &root), right_of(&tenant, &tenant.ada));
    let (mut ada, mut other) = (
        signed_in(&tenant, &tenant.ada).await,
        signed_in(&tenant, &root).await,
    );
    let asked = ada.get(&right).await;
    asked.says(200, "Make root an ordinary member of");
    let sent = ada.post(&right, &TAKE).await;
    assert_eq!(
        sent.sent_on(),
        format!("{}?done=dismissed", people(&tenant))
    );
    ada.get(sent.sent_on())
        .await
        .says(200, "The person is no longer an administrator.");
    // The right is gone, also in a browser that was signed in before.
    other.get(&own).await.says(403, "You can’t do that");
    other.post(&own, &TAKE).await.says(403, "You can’t do that");
    other.get(&people(&tenant)).await.says(200, "3 people in");

    ada.post(&right, &GIVE).await.sent_on();
    let asked = ada.get(&own).await;
    asked.says(200, "Stop administering");
    asked.says(200, "Only another administrator can make you one again.");
    let sent = ada.post(&own, &TAKE).await;
    assert_eq!(sent.sent_on(), format!("{}?done=resigned", people(&tenant)));
    let page = ada.get(sent.sent_on()).await;
    page.says(200, "You are no longer an administrator.");
    assert!(!page.text.contains(&right), "{}", page.text);
    assert_eq!(administrators(&tenant, &tenant.ada).await, [root.id]);
    ada.post(&own, &GIVE).await.says(403, "You can’t do that");
}

async fn who_administers_is_for_administrators_alone(tenant: Tenant) {
    let eve = tenant.user("eve");
    let neighbour = tenant.neighbour();
    for (caller, status, text) in [
        (&tenant.ben, 403, "You can’t do that"),
        (&eve, 403, "You can’t do that"),
        (&neighbour.ada, 404, "Page not found"),
        (&neighbour.ben, 404, "Page not found"),
    ] {
        let mut visitor = signed_in(&tenant, caller).await;
        for user in [&tenant.ada, &tenant.ben, &eve] {
            let right = right_of(&tenant, user);
            visitor.get(&right).await.says(status, text);
            visitor.post(&right, &GIVE).await.says(status, text);
            visitor.post(&right, &TAKE).await.says(status, text);
        }
    }
    let mut visitor = tenant.server().visitor();
    let right = right_of(&tenant, &eve);
    for page in [visitor.get(&right).await, visitor.post(&right, &GIVE).await] {
        assert!(page.sent_on().starts_with("/sign-in?next="));
    }
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    for wrong in ["none", "0", "999999999", &neighbour.ben.id.to_string()] {
        let path = format!("{}/{wrong}/administrator", people(&tenant));
        ada.get(&path).await.says(404, "Page not found");
        ada.post(&path, &GIVE).await.says(404, "Page not found");
    }
    assert_eq!(administrators(&tenant, &eve).await, [tenant.ada.id]);
    let theirs = administrators(&neighbour, &neighbour.ben).await;
    assert_eq!(theirs, [neighbour.ada.id]);
}

async fn the_last_administrator_goes_on_administering(tenant: Tenant) {
    let own = right_of(&tenant, &tenant.ada);
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    // One who is inactive administers nothing.
    let root = tenant.administrator("root");
    let line = ["user", "set-active", "--active", "false", "--email"];
    tenant.server().admin(&[&line[..], &[&root.email]].concat());
    let page = ada.post(&own, &TAKE).await;
    page.says(400, "role=\"alert\"");
    page.says(400, "This is the last administrator of the organization");
    page.is_named_throughout(&own);
    let left = administrators(&tenant, &tenant.ada).await;
    assert!(left.contains(&tenant.ada.id), "{left:?}");
}

async fn two_who_take_each_others_rights_at_once_leave_one_administrator(tenant: Tenant) {
    let root = tenant.administrator("root");
    let (mut ada, mut other) = (
        signed_in(&tenant, &tenant.ada).await,
        signed_in(&tenant, &root).await,
    );
    let (of_root, of_ada) = (right_of(&tenant, &root), right_of(&tenant, &tenant.ada));
    for _ in 0..5 {
        let (one, two) = tokio::join!(ada.post(&of_root, &TAKE), other.post(&of_ada, &TAKE));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 403], "{} {}", one.text, two.text);
        let left = administrators(&tenant, &tenant.ben).await;
        assert_eq!(left.len(), 1, "{left:?}");
        let (winner, path) = match left == [tenant.ada.id] {
            true => (&mut ada, &of_root),
            false => (&mut other, &of_ada),
        };
        winner.post(path, &GIVE).await.sent_on();
    }
}
