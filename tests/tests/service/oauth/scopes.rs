//! What each scope is good for: every endpoint, with an access token of every set of scopes. One
//! table says it all ([`table::ROWS`]); an endpoint that has no row in it, or a row that has no
//! endpoint, fails.

use std::collections::{BTreeMap, BTreeSet};

use eddyline_client::{Client, Json, Method};
use eddyline_tests::{Caller, Robot, Tenant, on_shared_servers};

use self::table::{Needs, ROWS, Row};
use crate::permissions::{self, Answered, CALLERS, Stage, subject};

mod finer;
mod table;

on_shared_servers![
    every_endpoint_names_the_scopes_of_its_row,
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

/// What applications ask for, and what they get.
const ASKED: [(&str, &[&str]); 8] = [
    ("", &["flow", "private"]),
    ("flow", &["flow"]),
    ("private", &["private"]),
    ("manage", &["manage"]),
    ("profile", &["profile"]),
    ("offline_access", &["offline_access"]),
    ("integration", &["integration"]),
    (
        "flow private manage profile offline_access integration",
        &[
            "flow",
            "private",
            "manage",
            "profile",
            "offline_access",
            "integration",
        ],
    ),
];

/// The header of the answer to a token that lacks all of these scopes (RFC 6750, section 3).
fn challenge(scopes: &str) -> String {
    format!("Bearer realm=\"Eddyline\", error=\"insufficient_scope\", scope=\"{scopes}\"")
}

/// Whether an access token with `held` covers one of the scopes named in `wanted`.
fn covers(held: &[&str], wanted: &str) -> bool {
    wanted.split(' ').any(|scope| held.contains(&scope))
}

/// Shows: 5.11
async fn every_endpoint_names_the_scopes_of_its_row(tenant: Tenant) {
    let document: Json = tenant
        .ben
        .client
        .request(Method::GET, "/openapi.json")
        .anonymous()
        .call()
        .await
        .unwrap();
    // The descriptions do not describe themselves.
    let mut described = BTreeSet::from(
        ["/openapi.json", "/asyncapi.json"].map(|path| (format!("GET {path}"), None)),
    );
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert((
                format!("{} {path}", method.to_uppercase()),
                named(operation),
            ));
        }
    }
    let text = |row: &Row| match row.needs {
        Needs::NoToken => None,
        Needs::AnyToken | Needs::Provider => Some(String::new()),
        Needs::OneOf(scopes) => Some(scopes.to_owned()),
    };
    let expected: BTreeSet<_> = ROWS
        .iter()
        .map(|row| (row.endpoint.to_owned(), text(row)))
        .collect();
    assert_eq!(expected.len(), ROWS.len(), "one row for each endpoint");
    let wrong: Vec<_> = described.symmetric_difference(&expected).collect();
    assert!(
        wrong.is_empty(),
        "the description or the table only: {wrong:#?}"
    );
}

/// The scopes that an operation's description names; `None` where it wants no credentials.
fn named(operation: &Json) -> Option<String> {
    let ways = operation["security"]
        .as_array()
        .filter(|ways| !ways.is_empty())?;
    let scopes = ways
        .iter()
        .filter_map(|way| way["oauth"].as_array())
        .flatten();
    Some(
        scopes
            .map(|scope| scope.as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// A client of an application for each set of scopes of a user, in the order of [`ASKED`].
async fn clients(robot: &Robot, user: &Caller) -> Vec<Client> {
    let mut clients = Vec::new();
    for (asked, granted) in ASKED {
        let tokens = robot.by_password(user, asked).await;
        assert_eq!(tokens["scope"], granted.join(","), "{asked:?}");
        clients.push(robot.with(&tokens["access_token"]));
    }
    clients
}

async fn check(tenant: &Tenant, wanted: &str) {
    let stage = Stage::set(tenant).await;
    let robot = &stage.robot;
    let users = [
        ("owner", &tenant.ben),
        ("administrator", &tenant.ada),
        ("guest", &stage.guest),
    ];
    let mut known = BTreeMap::new();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for request in permissions::ROWS
        .iter()
        .filter(|row| subject(row) == wanted)
    {
        let row = ROWS
            .iter()
            .find(|row| row.endpoint == request.endpoint)
            .expect(request.endpoint);
        // The rights of the user must not be what stands in the way.
        let (name, user) = *users
            .iter()
            .find(|(name, _)| may(request, name))
            .unwrap_or(&users[0]);
        if !known.contains_key(name) {
            known.insert(name, clients(robot, user).await);
        }
        let allowed = match row.by_application {
            Some(status) => status,
            None => stage.try_it(request, name).await.status,
        };
        for ((asked, held), client) in ASKED.into_iter().zip(&known[name]) {
            let found = stage.try_with(request, name, client).await;
            if let Err(why) = judge(row, held, allowed, &found) {
                wrong.push(format!("{} with {asked:?}: {why}", row.endpoint));
            }
        }
        checked += 1;
    }
    assert!(checked > 0);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whether a caller with all rights of a user may do what the request asks for.
fn may(request: &permissions::Row, caller: &str) -> bool {
    let column = CALLERS.iter().position(|known| *known == caller).unwrap();
    request
        .expected
        .split_whitespace()
        .nth(column)
        .unwrap()
        .starts_with('2')
}

fn judge(row: &Row, held: &[&str], allowed: u16, found: &Answered) -> Result<(), String> {
    let missing = match row.needs {
        Needs::NoToken | Needs::AnyToken | Needs::Provider => None,
        Needs::OneOf(scopes) if !covers(held, scopes) => Some(scopes),
        Needs::OneOf(_) => row.as_asked.filter(|scopes| !covers(held, scopes)),
    };
    match missing {
        None if found.status == allowed => Ok(()),
        None => Err(format!("{} instead of {allowed}", found.status)),
        Some(scopes) => refused(found, scopes),
    }
}

/// Checks that the answer is a refusal that names these scopes, of which one would do.
fn refused(found: &Answered, scopes: &str) -> Result<(), String> {
    let refusal = serde_json::json!({"message": "Access denied"});
    if found.status != 403 || found.body != refusal {
        return Err(format!(
            "{} {} instead of a refusal",
            found.status, found.body
        ));
    }
    if found.challenge.as_deref() != Some(&challenge(scopes)) {
        return Err(format!(
            "{:?} instead of the scopes {scopes}",
            found.challenge
        ));
    }
    Ok(())
}

/// Shows: 5.11
async fn the_table_holds_for_flows(tenant: Tenant) {
    check(&tenant, "flows").await;
}

/// Shows: 4.11, 5.11
async fn the_table_holds_for_messages(tenant: Tenant) {
    check(&tenant, "messages").await;
}

/// Shows: 5.11
async fn the_table_holds_for_sources(tenant: Tenant) {
    check(&tenant, "sources").await;
}

/// Shows: 5.11
async fn the_table_holds_for_people(tenant: Tenant) {
    check(&tenant, "people").await;
}

/// Shows: 5.11
async fn the_table_holds_for_organizations(tenant: Tenant) {
    check(&tenant, "organizations").await;
}

/// Shows: 5.11
async fn the_table_holds_for_invitations(tenant: Tenant) {
    check(&tenant, "invitations").await;
}

/// Shows: 5.11
async fn the_table_holds_for_private_conversations(tenant: Tenant) {
    check(&tenant, "private").await;
}

async fn the_table_holds_for_identity_providers(tenant: Tenant) {
    check(&tenant, "providers").await;
}

/// Shows: 5.11
async fn the_table_holds_for_streams_and_the_rest(tenant: Tenant) {
    check(&tenant, "rest").await;
}
