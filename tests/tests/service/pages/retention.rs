//! For how long messages are kept, as administrators set it on its page.

use eddyline_client::Json;
use eddyline_tests::{PASSWORD, Tenant, Visitor, on_shared_servers};
use serde_json::json;

on_shared_servers![
    rules_are_set_after_a_question,
    a_wrong_period_is_told_at_its_field,
    no_rule_is_changed_under_a_legal_hold,
    rules_are_for_administrators_alone,
];

fn path(tenant: &Tenant, rest: &str) -> String {
    format!("/app/{}/settings/retention{rest}", tenant.name)
}

async fn ada(tenant: &Tenant) -> Visitor {
    tenant.server().signed_in(&tenant.ada.email, PASSWORD).await
}

/// The rules of the organization and of its flow `main`, as operators see them.
fn rules(tenant: &Tenant) -> Vec<Json> {
    let shown = tenant.server().admin(&["retention", "show"]);
    let own = |rule: &&Json| {
        let of = rule["of"].as_str().unwrap();
        of.ends_with(&format!(" {}", tenant.name)) || of.ends_with(&format!(" {}", tenant.main))
    };
    let rules = shown["rules"].as_array().unwrap().iter();
    rules.filter(own).cloned().collect()
}

async fn flow_id(tenant: &Tenant) -> String {
    let flow = tenant.ada.get(&format!("/flows/{}", tenant.main)).await;
    flow["id"].as_str().unwrap().to_owned()
}

async fn rules_are_set_after_a_question(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    let (change, flow) = (path(&tenant, "/change"), flow_id(&tenant).await);
    let page = ada.get(&path(&tenant, "")).await;
    page.says(200, "<p>Until they are deleted by hand</p>");
    page.says(200, "<p>As the organization says</p>");
    page.is_named_throughout("retention");

    let asked = ada.get(&format!("{change}?keep=days&days=30")).await;
    asked.says(200, "For 30 days</h1>");
    asked.says(200, "Messages older than 30 days are deleted");
    asked.is_named_throughout("the question");
    assert_eq!(rules(&tenant), Vec::<Json>::new(), "it was a question");
    let sent = ada.post(&change, &[("keep", "days"), ("days", "30")]).await;
    assert_eq!(sent.sent_on(), path(&tenant, "?done=saved"));
    let page = ada.get(sent.sent_on()).await;
    page.says(200, "The rule has been saved.");
    page.says(200, "<p>For 30 days</p>");
    let form = ada.get(&change).await;
    form.says(200, "<option value=\"days\" selected>");
    form.says(200, "value=\"30\"");

    let of_flow = |keep| [("keep", keep), ("days", "36500"), ("flow", flow.as_str())];
    for (keep, told) in [
        ("days", "<p>For 36500 days</p>"),
        ("forever", "<p>Until they are deleted by hand</p>"),
        ("inherited", "<p>As the organization says</p>"),
    ] {
        ada.post(&change, &of_flow(keep)).await.sent_on();
        ada.get(&path(&tenant, "")).await.says(200, told);
    }
    assert_eq!(rules(&tenant).len(), 1);
    ada.post(&change, &[("keep", "forever")]).await.sent_on();
    assert_eq!(rules(&tenant), Vec::<Json>::new());

    let audit = format!("/organizations/{}/audit?action=retention.set", tenant.name);
    let records = tenant.ada.get(&audit).await;
    let first = records.as_array().unwrap().last().unwrap().clone();
    assert_eq!(first["actor_name"], "ada");
    let of = format!("organization {}", tenant.name);
    assert_eq!(first["detail"], json!({"for": of, "days": 30}));
    assert_eq!(records.as_array().unwrap().len(), 5);
}

async fn a_wrong_period_is_told_at_its_field(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    let change = path(&tenant, "/change");
    for (keep, days, told) in [
        (
            "days",
            "0",
            "<a href=\"#days\">Days must be a number from 1 to 36500</a>",
        ),
        ("days", "36501", "<a href=\"#days\">Days must be"),
        ("days", "", "<a href=\"#days\">Days must be"),
        (
            "inherited",
            "",
            "<a href=\"#keep\">Messages are kept is not one",
        ),
        ("never", "1", "<a href=\"#keep\">"),
    ] {
        let fields = [("keep", keep), ("days", days)];
        let page = ada.post(&change, &fields).await;
        page.says(400, told);
        page.is_named_throughout(keep);
        let page = ada.get(&format!("{change}?keep={keep}&days={days}")).await;
        page.says(400, told);
    }
    let other = [("keep", "forever"), ("flow", "no-such-flow")];
    ada.post(&change, &other).await.says(404, "Page not found");
    assert_eq!(rules(&tenant), Vec::<Json>::new());
}

async fn no_rule_is_changed_under_a_legal_hold(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    let (server, change) = (tenant.server(), path(&tenant, "/change"));
    for hold in [
        ["--org", &*tenant.name],
        ["--flow", &*tenant.main],
        ["--email", &*tenant.ben.email],
    ] {
        let place = [&["hold", "place"], &hold[..], &["--reason", "a case"]].concat();
        server.admin(&place);
        let page = ada.get(&path(&tenant, "")).await;
        page.says(200, "A legal hold covers messages");
        assert!(!page.text.contains(&change), "{hold:?}: {}", page.text);
        assert!(!page.text.contains("a case"), "{hold:?}: {}", page.text);
        let page = ada.post(&change, &[("keep", "days"), ("days", "1")]).await;
        page.says(409, "A legal hold covers messages of the organization");
        server.admin(&[&["hold", "release"], &hold[..]].concat());
    }
    assert_eq!(rules(&tenant), Vec::<Json>::new());
    let page = ada.get(&path(&tenant, "")).await;
    page.says(200, &change);
}

async fn rules_are_for_administrators_alone(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let fields = [("keep", "days"), ("days", "1")];
    for (caller, status) in [(&tenant.ben, 403), (&neighbour.ada, 404)] {
        let server = tenant.server();
        let mut visitor = server.signed_in(&caller.email, PASSWORD).await;
        for page in [
            visitor.get(&path(&tenant, "/change")).await,
            visitor.post(&path(&tenant, "/change"), &fields).await,
        ] {
            assert_eq!(page.status, status, "{}", page.text);
        }
    }
    assert_eq!(rules(&tenant), Vec::<Json>::new());
}
