//! Who may do what: every endpoint, with every kind of caller. One table says it all
//! ([`table::ROWS`]); an endpoint that has no row in it, or a row that has no endpoint, fails.

use std::collections::BTreeSet;

use eddyline_client::{Json, Method};
use eddyline_tests::{Tenant, on_shared_servers};

// The same endpoints are tried with access tokens.
pub(crate) use self::cast::{Answered, CALLERS, Stage};
pub(crate) use self::table::{ROWS, Row};

mod cast;
mod table;

on_shared_servers![
    every_endpoint_has_a_row,
    the_document_offers_the_credentials_that_are_let_in,
    the_table_holds_for_flows,
    the_table_holds_for_messages,
    the_table_holds_for_sources,
    the_table_holds_for_people,
    the_table_holds_for_organizations,
    the_table_holds_for_invitations,
    the_table_holds_for_private_conversations,
    the_table_holds_for_identity_providers,
    the_table_holds_for_streams_and_the_rest,
];

async fn every_endpoint_has_a_row(tenant: Tenant) {
    let document: Json = tenant
        .ben
        .client
        .request(Method::GET, "/openapi.json")
        .anonymous()
        .call()
        .await
        .unwrap();
    // The descriptions do not describe themselves.
    let mut served =
        BTreeSet::from(["/openapi.json", "/asyncapi.json"].map(|path| format!("GET {path}")));
    for (path, methods) in document["paths"].as_object().unwrap() {
        served.extend(
            methods
                .as_object()
                .unwrap()
                .keys()
                .map(|m| format!("{} {path}", m.to_uppercase())),
        );
    }
    let described: BTreeSet<String> = ROWS.iter().map(|row| row.endpoint.to_owned()).collect();
    assert_eq!(described.len(), ROWS.len(), "one row for each endpoint");
    let missing: Vec<_> = served.difference(&described).collect();
    let obsolete: Vec<_> = described.difference(&served).collect();
    assert!(
        missing.is_empty() && obsolete.is_empty(),
        "without a row: {missing:#?}\ngone: {obsolete:#?}"
    );
}

/// What lets in nobody of the table is offered to nobody. Sources have tokens of their own, and
/// applications make them.
async fn the_document_offers_the_credentials_that_are_let_in(tenant: Tenant) {
    let document = tenant.ben.get("/openapi.json").await;
    let own = ["PUT /sources", "DELETE /sources"];
    let made_by_applications = "POST /flows/{organization}/{flow}/sources";
    let mut wrong = Vec::new();
    for row in ROWS {
        let (method, path) = row.endpoint.split_once(' ').unwrap();
        let security = &document["paths"][path][method.to_ascii_lowercase()]["security"];
        let Some(ways) = security.as_array().filter(|ways| !ways.is_empty()) else {
            continue;
        };
        let offers = |scheme: &str| ways.iter().any(|way| way[scheme].is_array());
        let is_let_in = |caller: &str| {
            let column = CALLERS.iter().position(|known| *known == caller).unwrap();
            let status = row.expected.split_whitespace().nth(column).unwrap();
            status.starts_with(['2', '3'])
        };
        let flow_token = is_let_in("flow token") || own.contains(&row.endpoint);
        let users = CALLERS.iter().any(|caller| *caller != "flow token" && is_let_in(caller))
            // These need what the stage does not have.
            || path.ends_with("/actions/{position}")
            || path.ends_with("/deletion")
            || row.endpoint == "DELETE /organizations/{organization}"
            || path == "/streams/{stream}";
        let application = users || row.endpoint == made_by_applications;
        let expected = [
            ("flow_token", flow_token),
            ("basic", users),
            ("oauth", application),
        ];
        wrong.extend(
            expected
                .into_iter()
                .filter(|(scheme, expected)| offers(scheme) != *expected)
                .map(|(scheme, _)| format!("{} and {scheme}", row.endpoint)),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whose test a row is in. Several tests share the table, so that they run side by side.
pub(crate) fn subject(row: &Row) -> &'static str {
    let path = row.endpoint.split_once(' ').unwrap().1;
    let subjects = [
        ("/scim", "providers"),
        ("/private", "private"),
        ("/invitations", "invitations"),
        ("/organizations", "organizations"),
        ("/sources", "sources"),
        ("/messages", "messages"),
        ("/comments", "messages"),
        ("/search", "messages"),
        ("/mentions", "messages"),
        ("/user", "people"),
        ("/avatars", "people"),
        ("/stream", "rest"),
        ("/flows", "flows"),
    ];
    subjects
        .into_iter()
        .find(|(part, _)| path.contains(part))
        .map_or("rest", |(_, subject)| subject)
}

async fn check(tenant: &Tenant, wanted: &str) {
    let stage = Stage::set(tenant).await;
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in ROWS.iter().filter(|row| subject(row) == wanted) {
        let expected: Vec<u16> = row
            .expected
            .split_whitespace()
            .map(|code| code.parse().unwrap())
            .collect();
        assert_eq!(expected.len(), CALLERS.len(), "{}", row.endpoint);
        for (caller, expected) in CALLERS.into_iter().zip(expected) {
            let found = stage.try_it(row, caller).await.status;
            if found != expected {
                wrong.push(format!(
                    "{} by {caller}: {found} instead of {expected}",
                    row.endpoint
                ));
            }
        }
        checked += 1;
    }
    assert!(checked > 0);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

async fn the_table_holds_for_flows(tenant: Tenant) {
    check(&tenant, "flows").await;
}

async fn the_table_holds_for_messages(tenant: Tenant) {
    check(&tenant, "messages").await;
}

/// Shows: 4.39
async fn the_table_holds_for_sources(tenant: Tenant) {
    check(&tenant, "sources").await;
}

async fn the_table_holds_for_people(tenant: Tenant) {
    check(&tenant, "people").await;
}

async fn the_table_holds_for_organizations(tenant: Tenant) {
    check(&tenant, "organizations").await;
}

/// Shows: 1.8
async fn the_table_holds_for_invitations(tenant: Tenant) {
    check(&tenant, "invitations").await;
}

async fn the_table_holds_for_private_conversations(tenant: Tenant) {
    check(&tenant, "private").await;
}

/// Shows: 5.12
async fn the_table_holds_for_identity_providers(tenant: Tenant) {
    check(&tenant, "providers").await;
}

async fn the_table_holds_for_streams_and_the_rest(tenant: Tenant) {
    check(&tenant, "rest").await;
}
