//! The audit log of an organization on its page: records in words, the filter, and files with them.

use eddyline_client::{Json, Method};
use eddyline_tests::{PASSWORD, Page, Tenant, Visitor, on_shared_servers};
use serde_json::json;

on_shared_servers![
    records_are_told_in_words_and_narrowed,
    a_wrong_filter_is_told_at_its_field,
    older_records_are_on_further_pages,
    records_are_downloaded_and_that_is_recorded,
    a_file_is_for_administrators_alone,
];

fn path(tenant: &Tenant, rest: &str) -> String {
    format!("/app/{}/settings/audit{rest}", tenant.name)
}

async fn ada(tenant: &Tenant) -> Visitor {
    tenant.server().signed_in(&tenant.ada.email, PASSWORD).await
}

async fn rename(tenant: &Tenant, name: &str) {
    let flow = format!("/flows/{}", tenant.main);
    let name = json!({ "name": name });
    tenant.ada.does(Method::PUT, &flow, &name).await;
}

/// The records that the API lists for this query.
async fn listed(tenant: &Tenant, query: &str) -> Vec<Json> {
    let path = format!("/organizations/{}/audit?{query}", tenant.name);
    tenant.ada.get(&path).await.as_array().unwrap().clone()
}

/// What the records of a page say was done, the first one first.
fn told(page: &Page) -> Vec<&str> {
    let rows = page.main().split("<li>\n<h3>").skip(1);
    rows.map(|row| row.split("</h3>").next().unwrap()).collect()
}

const CHANGED: &str = "A flow was changed, archived or brought back";
const CAME: &str = "A person came into the organization";

async fn records_are_told_in_words_and_narrowed(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    rename(&tenant, "<Other>").await;
    let id = tenant.ben.id.to_string();
    let server = tenant.server();
    server.admin(&["org", "update", "--org", &tenant.name, "--user-limit", "77"]);
    let page = ada.get(&path(&tenant, "")).await;
    page.says(200, "<h1>Audit log</h1>");
    page.is_named_throughout("the audit log");
    let all = told(&page);
    assert_eq!(all[0], "The settings of the organization were changed");
    assert_eq!(all[1], CHANGED);
    assert!(all.contains(&"A person signed in"), "{all:?}");
    for part in [
        "<dd>An operator of this server</dd>",
        "<dt>By</dt><dd>ada</dd>",
        "<dt>Target</dt><dd>Flow: &#60;Other&#62;</dd>",
        "<dt><code>name</code></dt><dd>main → &#60;Other&#62;</dd>",
        "<dt>IP address</dt><dd>127.0.0.1</dd>",
        "<time datetime=\"20",
    ] {
        page.says(200, part);
    }

    let narrowed = [
        ("?what=flow.change", vec![CHANGED]),
        ("?what=flow.change&user=&from=&until=", vec![CHANGED]),
        (
            "?from=2020-01-01&until=2200-01-01&what=flow.change",
            vec![CHANGED],
        ),
        ("?from=2200-01-01", vec![]),
        ("?until=2020-01-01", vec![]),
        (&format!("?what=member.add&user={id}"), vec![CAME]),
        ("?user=9223372036854775807", vec![]),
    ];
    for (query, wanted) in narrowed {
        let page = ada.get(&path(&tenant, query)).await;
        assert_eq!((page.status, told(&page)), (200, wanted), "{query}");
        page.says(200, "Show all records</a>");
        if told(&page).is_empty() {
            page.says(200, "No record matches.");
        }
    }
    // What was chosen stays chosen, also a user who has left.
    let member = format!("/organizations/{}/users/{id}", tenant.name);
    tenant.ada.does(Method::DELETE, &member, &Json::Null).await;
    let query = format!("?user={id}&what=member.remove&from=2020-01-01");
    let page = ada.get(&path(&tenant, &query)).await;
    for part in [
        &*format!("<option value=\"{id}\" selected>ben</option>"),
        "<option value=\"member.remove\" selected>",
        "value=\"2020-01-01\"",
        "<dt>Person</dt><dd>ben</dd>",
    ] {
        page.says(200, part);
    }
}

async fn a_wrong_filter_is_told_at_its_field(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    for (query, told) in [
        (
            "?what=no.such",
            "<a href=\"#what\">What was done is not one",
        ),
        ("?user=x", "<a href=\"#user\">By or about is not one"),
        ("?from=2026-02-30", "<a href=\"#from\">From must be a day"),
        ("?until=x", "<a href=\"#until\">Until must be a day"),
        (
            "?from=2026-02-02&until=2026-02-01",
            "<a href=\"#until\">Until must not be before the first day</a>",
        ),
    ] {
        let page = ada.get(&path(&tenant, query)).await;
        page.says(400, told);
        page.says(400, "<title>Problem: ");
        page.is_named_throughout(query);
        assert!(!page.text.contains("<h2>Records</h2>"), "{query}");
    }
    let page = ada.get(&path(&tenant, "?until_id=x")).await;
    page.says(400, "<h1>");
}

async fn older_records_are_on_further_pages(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    for number in 1..=51 {
        rename(&tenant, &format!("Name {number}")).await;
    }
    let first = ada.get(&path(&tenant, "?what=flow.change")).await;
    assert_eq!(told(&first).len(), 50);
    let older = first.between("rel=\"next\" href=\"", "\"");
    let older = older.replace("&#38;", "&");
    let last = ada.get(&older).await;
    assert_eq!(told(&last), [CHANGED]);
    last.says(200, "main → Name 1<");
    last.says(200, ">Newest records</a>");
    assert!(!last.text.contains("rel=\"next\""), "{}", last.text);
    let none = ada.get(&path(&tenant, "?until_id=1")).await;
    none.says(200, "There are no older records.");
}

async fn records_are_downloaded_and_that_is_recorded(tenant: Tenant) {
    let mut ada = ada(&tenant).await;
    rename(&tenant, "=1+1").await;
    rename(&tenant, "Say \"hi\", all").await;
    let here = path(&tenant, "/download");
    let filter = [("what", "flow.change"), ("from", "2020-01-01")];
    let csv = [&[("format", "csv")], &filter[..]].concat();
    let file = ada.post(&here, &csv).await;
    assert_eq!(file.status, 200, "{}", file.text);
    let disposition = format!("attachment; filename=\"audit-{}.csv\"", tenant.name);
    assert_eq!(file.header("content-disposition"), disposition);
    assert!(file.header("content-type").starts_with("text/csv;"));
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert_eq!(file.header("cache-control"), "no-store");
    let lines: Vec<&str> = file.text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 3, "{}", file.text);
    assert!(lines[0].starts_with("id,at,action,actor,"), "{}", lines[0]);
    assert!(
        lines[1].contains(",\"Say \"\"hi\"\", all\","),
        "{}",
        lines[1]
    );
    assert!(lines[2].contains(",'=1+1,"), "{}", lines[2]);

    let before = listed(&tenant, "limit=100").await;
    let export = &before[0];
    assert_eq!(export["action"], "audit.export");
    assert_eq!(export["actor_name"], "ada");
    assert_eq!(
        export["detail"],
        json!({"format": "csv", "what": "flow.change", "from": "2020-01-01"})
    );
    let file = ada.post(&here, &[("format", "jsonl")]).await;
    assert_eq!(file.status, 200, "{}", file.text);
    let lines = file
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(lines.collect::<Vec<Json>>(), before);
    assert!(before.len() < 100, "the list had all of them");

    for (fields, told) in [
        (
            vec![("format", "csv"), ("until", "x")],
            "<a href=\"#until\">",
        ),
        (vec![("format", "pdf")], "<h1>"),
    ] {
        ada.post(&here, &fields).await.says(400, told);
    }
    let exports = listed(&tenant, "action=audit.export").await;
    assert_eq!(exports.len(), 2, "{exports:?}");
    let page = ada.get(&path(&tenant, "?what=audit.export")).await;
    assert_eq!(told(&page), ["The audit log was downloaded"; 2]);
    page.says(200, "name=\"what\" value=\"audit.export\"");
}

async fn a_file_is_for_administrators_alone(tenant: Tenant) {
    let server = tenant.server();
    let neighbour = tenant.neighbour();
    for (caller, status) in [(&tenant.ben, 403), (&neighbour.ada, 404)] {
        let mut visitor = server.signed_in(&caller.email, PASSWORD).await;
        for fields in [
            &[("format", "csv")][..],
            &[("format", "csv"), ("until", "x")],
        ] {
            let page = visitor.post(&path(&tenant, "/download"), fields).await;
            assert_eq!(page.status, status, "{}", page.text);
        }
        let page = visitor.get(&path(&tenant, "?what=no.such")).await;
        assert_eq!(page.status, status, "{}", page.text);
    }
    let mut stranger = server.visitor();
    let page = stranger
        .post(&path(&tenant, "/download"), &[("format", "csv")])
        .await;
    assert!(page.sent_on().starts_with("/sign-in?next="));
    assert_eq!(
        listed(&tenant, "action=audit.export").await,
        Vec::<Json>::new()
    );
}
