//! Groups of an organization as identity providers see and change them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Provider, Tenant, on_shared_servers};
use serde_json::json;

use super::filters::encoded;
use super::{GROUP_SCHEMA, LIST_SCHEMA, at, is_refused, operations, patched};

on_shared_servers![
    a_group_is_made_shown_changed_and_removed,
    the_display_name_makes_the_name,
    a_name_that_is_taken_is_refused,
    a_mistake_names_the_attribute,
    groups_are_found_by_each_of_their_attributes,
    a_list_of_groups_has_pages,
    a_search_of_everything_finds_users_and_groups,
    only_users_of_the_provider_are_its_members,
    a_user_shows_the_groups,
    an_inactive_user_is_a_member_and_a_suspended_one_is_not,
    every_change_of_a_group_is_recorded,
    another_version_of_a_group_is_not_changed,
    a_group_is_mentioned_as_soon_as_it_is_made,
    an_inactive_organization_changes_no_groups,
];

pub(super) fn place(group: &Json) -> String {
    format!("/Groups/{}", group["id"].as_str().unwrap())
}

/// The ids of a group's members.
pub(super) fn members(group: &Json) -> Vec<&str> {
    let members = group["members"].as_array().unwrap().iter();
    members
        .map(|member| member["value"].as_str().unwrap())
        .collect()
}

pub(super) async fn make(provider: &Provider, name: &str, users: &[&str]) -> Json {
    let members: Vec<Json> = users.iter().map(|id| json!({"value": id})).collect();
    let body = json!({"schemas": [GROUP_SCHEMA], "displayName": name, "members": members});
    let answer = provider.scim(Method::POST, "/Groups", Some(&body)).await;
    assert_eq!(answer.status, 201, "{name}: {}", answer.text());
    answer.json()
}

/// Changes a group by PATCH, which must work.
pub(super) async fn patch(provider: &Provider, group: &Json, changes: Json) -> Json {
    let body = operations(&changes);
    let answer = provider
        .scim(Method::PATCH, &place(group), Some(&body))
        .await;
    assert_eq!(answer.status, 200, "{changes}: {}", answer.text());
    answer.json()
}

async fn found(provider: &Provider, filter: &str) -> Vec<String> {
    let path = format!("/Groups?filter={}", encoded(filter));
    let list = provider.get(&path).await;
    let resources = list["Resources"].as_array().unwrap();
    assert_eq!(list["totalResults"], resources.len());
    let name = |group: &Json| group["displayName"].as_str().unwrap().to_owned();
    resources.iter().map(name).collect()
}

/// Has the provider know somebody who was there before.
fn link(tenant: &Tenant, user: &Caller) -> String {
    let arguments = [
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &user.email,
    ];
    tenant.server().admin(&arguments);
    user.id.to_string()
}

/// The groups as the people of the organization see them.
async fn seen_by_people(tenant: &Tenant) -> Json {
    let path = format!("/organizations/{}/groups", tenant.name);
    tenant.ada.get(&path).await
}

async fn a_group_is_made_shown_changed_and_removed(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let ben = link(&tenant, &tenant.ben);
    let body = json!({
        "schemas": [GROUP_SCHEMA], "displayName": "Team", "externalId": "00g1",
        "members": [{"value": ben, "display": "Ben"}], "meta": {"resourceType": "Group"},
    });
    let answer = provider.scim(Method::POST, "/Groups", Some(&body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let group = answer.json();
    let base = format!("{}/scim/{}", tenant.server().base_url(), provider.uid);
    let location = format!("{base}{}", place(&group));
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(
        answer.header("content-type"),
        Some("application/scim+json; charset=utf-8")
    );
    let user = format!("{base}/Users/{ben}");
    let expected = json!({
        "schemas": [GROUP_SCHEMA], "id": group["id"], "externalId": "00g1", "displayName": "Team",
        "members": [{"value": ben, "$ref": user, "type": "User"}],
        "meta": {
            "resourceType": "Group", "location": location, "created": group["meta"]["created"],
            "version": answer.header("etag").unwrap(),
        },
    });
    assert_eq!(group, expected);
    assert_eq!(provider.get(&place(&group)).await, group);
    let plain = provider.plain(Method::GET, &place(&group), None).await;
    assert_eq!(
        plain.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(plain.json(), group, "in plain JSON too");
    let people = seen_by_people(&tenant).await;
    assert_eq!(
        (&people[0]["name"], &people[0]["users"]),
        (&json!("Team"), &json!([tenant.ben.id]))
    );
    let put = json!({"schemas": [GROUP_SCHEMA], "displayName": "Crew", "members": []});
    let put = provider.scim(Method::PUT, &place(&group), Some(&put)).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let changed = put.json();
    assert_eq!(
        (
            &changed["displayName"],
            &changed["members"],
            &changed["externalId"]
        ),
        (&json!("Crew"), &json!([]), &json!("00g1"))
    );
    let people = seen_by_people(&tenant).await;
    assert_eq!(
        (&people[0]["name"], &people[0]["users"]),
        (&json!("Crew"), &json!([]))
    );
    for status in [204, 404] {
        let removed = provider.scim(Method::DELETE, &place(&group), None).await;
        assert_eq!(removed.status, status);
    }
    is_refused(
        &provider.scim(Method::GET, &place(&group), None).await,
        404,
        None,
    );
    assert_eq!(seen_by_people(&tenant).await, json!([]));
}

async fn the_display_name_makes_the_name(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for (display_name, name) in [
        ("On Call: Europe", "On-Call-Europe"),
        ("Everyone", "group-Everyone"),
        ("2026", "group-2026"),
    ] {
        let group = make(&provider, display_name, &[]).await;
        assert_eq!(group["displayName"], display_name);
        let path = format!(
            "/organizations/{}/groups/{}",
            tenant.name,
            group["id"].as_str().unwrap()
        );
        assert_eq!(tenant.ada.get(&path).await["name"], name);
        // What is said again changes nothing.
        let again = json!([{"op": "replace", "path": "displayName", "value": display_name}]);
        assert_eq!(patch(&provider, &group, again).await, group);
        // The provider sees a name that people give, and gives its own again.
        let other = format!("{name}-2");
        tenant
            .ada
            .does(Method::PUT, &path, &json!({"name": other}))
            .await;
        assert_eq!(provider.get(&place(&group)).await["displayName"], other);
        let again = json!([{"op": "replace", "value": {"displayName": display_name}}]);
        assert_eq!(patch(&provider, &group, again).await, group);
        assert_eq!(tenant.ada.get(&path).await["name"], name);
    }
}

async fn a_name_that_is_taken_is_refused(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let (first, second) = (
        make(&provider, "First Group", &[]).await,
        make(&provider, "Second", &[]).await,
    );
    for taken in ["First Group", "first-group", "Ben"] {
        let body = json!({"displayName": taken});
        let patch = operations(&json!([{"op": "Replace", "path": "displayName", "value": taken}]));
        for (method, path, body) in [
            (Method::POST, "/Groups".to_owned(), &body),
            (Method::PUT, place(&second), &body),
            (Method::PATCH, place(&second), &patch),
        ] {
            let answer = provider.scim(method, &path, Some(body)).await;
            is_refused(&answer, 409, Some("uniqueness"));
        }
    }
    assert_eq!(provider.get(&place(&second)).await, second);
    let spelled = json!([{"op": "replace", "path": "displayName", "value": "FIRST GROUP"}]);
    assert_eq!(
        patch(&provider, &first, spelled).await["displayName"],
        "FIRST GROUP",
        "its own"
    );
}

async fn a_mistake_names_the_attribute(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let group = make(&provider, "Team", &[]).await;
    let many: Vec<Json> = (1..=1001)
        .map(|id| json!({"value": id.to_string()}))
        .collect();
    for (body, field) in [
        (json!({"displayName": " "}), "displayName"),
        (json!({"displayName": ":@"}), "displayName"),
        (json!({"displayName": "x".repeat(256)}), "displayName"),
        (json!({"displayName": 7}), "displayName"),
        (json!({"externalId": " "}), "externalId"),
        (json!({"members": [{"value": "zoe"}]}), "members.value"),
        (
            json!({"members": [{"value": "1", "type": "Group"}]}),
            "members.type",
        ),
        (json!({"members": many}), "members"),
    ] {
        let put = provider
            .scim(Method::PUT, &place(&group), Some(&body))
            .await;
        is_refused(&put, 400, Some("invalidValue"));
        assert!(
            put.json()["detail"].as_str().unwrap().contains(field),
            "{body}: {}",
            put.text()
        );
    }
    let nameless = json!({"members": []});
    let nameless = provider
        .scim(Method::POST, "/Groups", Some(&nameless))
        .await;
    is_refused(&nameless, 400, Some("invalidValue"));
    let unnamed = operations(&json!([{"op": "remove", "path": "displayName"}]));
    let unnamed = provider
        .scim(Method::PATCH, &place(&group), Some(&unnamed))
        .await;
    is_refused(&unnamed, 400, Some("mutability"));
    assert_eq!(provider.get(&place(&group)).await, group);
}

async fn groups_are_found_by_each_of_their_attributes(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let ben = link(&tenant, &tenant.ben);
    let team = make(&provider, "The Team", &[&ben]).await;
    make(&provider, "Others", &[]).await;
    let named = json!([{"op": "add", "path": "externalId", "value": "00g1"}]);
    patch(&provider, &team, named).await;
    for filter in [
        "displayName eq \"the team\"".to_owned(),
        "externalId eq \"00g1\"".to_owned(),
        format!("members.value eq \"{ben}\""),
        format!("members[value eq \"{ben}\"] and displayName eq \"The Team\""),
        format!("id eq {} and members eq \"{ben}\"", team["id"]),
    ] {
        assert_eq!(found(&provider, &filter).await, ["The Team"], "{filter}");
        let asked = json!({"filter": filter, "attributes": ["displayName"]});
        let list = provider
            .scim(Method::POST, "/Groups/.search", Some(&asked))
            .await
            .json();
        let shown = json!({
            "schemas": [GROUP_SCHEMA], "id": team["id"], "displayName": "The Team",
        });
        assert_eq!(list["Resources"], json!([shown]));
    }
    for filter in [
        "displayName eq \"The\"".to_owned(),
        "externalId eq \"00G1\"".to_owned(),
        format!("members.value eq \"{}\"", tenant.ada.id),
        format!("displayName eq \"Others\" and members.value eq \"{ben}\""),
    ] {
        assert!(found(&provider, &filter).await.is_empty(), "{filter}");
    }
    for filter in ["userName eq \"x\"", "displayName co \"x\"", "displayName"] {
        let path = format!("/Groups?filter={}", encoded(filter));
        let refused = provider.scim(Method::GET, &path, None).await;
        is_refused(&refused, 400, Some("invalidFilter"));
    }
}

async fn a_list_of_groups_has_pages(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for name in ["Zebra", "Ape", "Lion"] {
        make(&provider, name, &[]).await;
    }
    // Another organization's are not there.
    let neighbour = tenant.neighbour();
    let theirs = tenant.server().provider(&neighbour.name);
    let foreign = make(&theirs, "Zebra", &[]).await;
    for (query, total, start, names) in [
        ("", 3, 1, vec!["Zebra", "Ape", "Lion"]),
        ("?startIndex=2&count=1", 3, 2, vec!["Ape"]),
        ("?startIndex=0&count=2", 3, 1, vec!["Zebra", "Ape"]),
        ("?startIndex=4", 3, 4, vec![]),
        ("?count=0", 3, 1, vec![]),
        ("?count=-1", 3, 1, vec![]),
    ] {
        let list = provider.get(&format!("/Groups{query}")).await;
        assert_eq!(
            (&list["schemas"], &list["totalResults"], &list["startIndex"]),
            (&json!([LIST_SCHEMA]), &json!(total), &json!(start)),
            "{query}"
        );
        let resources = list["Resources"].as_array().unwrap();
        let shown: Vec<&str> = resources
            .iter()
            .map(|group| group["displayName"].as_str().unwrap())
            .collect();
        assert_eq!(shown, names, "{query}");
        assert_eq!(list["itemsPerPage"], names.len(), "{query}");
    }
    let list = provider.get("/Groups?excludedAttributes=members").await;
    let first = list["Resources"][0].as_object().unwrap();
    assert!(!first.contains_key("members") && first.contains_key("displayName"));
    for (method, body) in [
        (Method::GET, None),
        (Method::PUT, Some(json!({"displayName": "Mine"}))),
        (Method::DELETE, None),
    ] {
        let refused = provider.scim(method, &place(&foreign), body.as_ref()).await;
        is_refused(&refused, 404, None);
    }
}

async fn a_search_of_everything_finds_users_and_groups(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let zoe = provider.makes(&email, ("Zoe", "King")).await;
    for name in ["Ape", "Lion"] {
        make(&provider, name, &[zoe["id"].as_str().unwrap()]).await;
    }
    let named = json!([{"op": "add", "path": "externalId", "value": "00u1"}]);
    patched(&provider, &zoe, named).await;
    for (asked, total, names) in [
        (json!({}), 3, vec!["Zoe King", "Ape", "Lion"]),
        (json!({"count": 2}), 3, vec!["Zoe King", "Ape"]),
        (json!({"startIndex": 2, "count": 1}), 3, vec!["Ape"]),
        (json!({"startIndex": 3}), 3, vec!["Lion"]),
        (json!({"startIndex": 4}), 3, vec![]),
        (json!({"count": 0}), 3, vec![]),
        (
            json!({"filter": "displayName eq \"lion\""}),
            1,
            vec!["Lion"],
        ),
        (
            json!({"filter": format!("userName eq \"{email}\"")}),
            1,
            vec!["Zoe King"],
        ),
        (
            json!({"filter": "externalId eq \"00u1\""}),
            1,
            vec!["Zoe King"],
        ),
    ] {
        let answer = provider.scim(Method::POST, "/.search", Some(&asked)).await;
        let list = answer.json();
        let resources = list["Resources"].as_array().unwrap();
        let shown: Vec<&str> = resources
            .iter()
            .map(|found| found["displayName"].as_str().unwrap())
            .collect();
        assert_eq!(shown, names, "{asked}");
        assert_eq!(list["totalResults"], total, "{asked}");
    }
    let plain = provider
        .plain(Method::POST, "/.search", Some(&json!({})))
        .await
        .json();
    assert_eq!(
        plain["Resources"].as_array().unwrap().len(),
        1,
        "users alone"
    );
}

async fn only_users_of_the_provider_are_its_members(tenant: Tenant) {
    let (server, neighbour) = (tenant.server(), tenant.neighbour());
    let provider = server.provider(&tenant.name);
    let ben = link(&tenant, &tenant.ben);
    let (ada, foreign) = (tenant.ada.id.to_string(), neighbour.ben.id.to_string());
    let group = make(&provider, "Team", &[&ben]).await;
    for stranger in [ada.as_str(), &foreign, "999999999"] {
        let add = json!([{"op": "add", "path": "members", "value": [{"value": stranger}]}]);
        let put = json!({"members": [{"value": ben}, {"value": stranger}]});
        let new = json!({"displayName": "New", "members": [{"value": stranger}]});
        for (method, path, body) in [
            (Method::PATCH, place(&group), operations(&add)),
            (Method::PUT, place(&group), put),
            (Method::POST, "/Groups".to_owned(), new),
        ] {
            let refused = provider.scim(method, &path, Some(&body)).await;
            is_refused(&refused, 400, Some("invalidValue"));
            let detail = refused.json()["detail"].to_string();
            assert!(
                detail.contains("members") && detail.contains(stranger),
                "{detail}"
            );
        }
    }
    assert_eq!(provider.get("/Groups").await["Resources"], json!([group]));
    // Whom an administrator brings in is not seen, and stays.
    let path = format!(
        "/organizations/{}/groups/{}/users",
        tenant.name,
        group["id"].as_str().unwrap()
    );
    tenant
        .ada
        .does(Method::POST, &path, &json!({"id": tenant.ada.id}))
        .await;
    assert_eq!(provider.get(&place(&group)).await, group);
    let put = json!({"members": []});
    let put = provider.scim(Method::PUT, &place(&group), Some(&put)).await;
    assert_eq!(put.json()["members"], json!([]));
    let both = json!([{"op": "replace", "path": "members", "value": [{"value": ben}]}]);
    assert_eq!(members(&patch(&provider, &group, both).await), [&ben]);
    assert_eq!(
        seen_by_people(&tenant).await[0]["users"],
        json!([tenant.ada.id, tenant.ben.id])
    );
}

async fn a_user_shows_the_groups(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let zoe = provider.makes(&email, ("Zoe", "King")).await;
    assert!(zoe.get("groups").is_none());
    let id = zoe["id"].as_str().unwrap();
    let team = make(&provider, "The Team", &[id]).await;
    let crew = make(&provider, "Crew", &[id]).await;
    let shown = provider.get(&at(&zoe)).await;
    let group = |group: &Json, name: &str| {
        json!({
            "value": group["id"], "$ref": group["meta"]["location"], "display": name, "type": "direct",
        })
    };
    let both = json!([group(&team, "The Team"), group(&crew, "Crew")]);
    assert_eq!(shown["groups"], both);
    assert_ne!(
        shown["meta"]["version"], zoe["meta"]["version"],
        "another version"
    );
    assert_eq!(provider.get("/Users").await["Resources"], json!([shown]));
    let changed = json!([{"op": "replace", "path": "nickName", "value": "zozo"}]);
    assert_eq!(patched(&provider, &zoe, changed).await["groups"], both);
    // Only the groups themselves change it.
    let put = json!({"userName": email, "groups": []});
    let put = provider.scim(Method::PUT, &at(&zoe), Some(&put)).await;
    assert_eq!(put.json()["groups"], both);
    let removed = operations(&json!([{"op": "remove", "path": "groups"}]));
    let removed = provider
        .scim(Method::PATCH, &at(&zoe), Some(&removed))
        .await;
    is_refused(&removed, 400, Some("mutability"));
    let plain = provider.plain(Method::GET, &at(&zoe), None).await.json();
    assert!(plain.get("groups").is_none(), "the specification has none");
    let before = provider.get(&at(&zoe)).await["meta"]["version"].clone();
    let named = json!([{"op": "replace", "path": "displayName", "value": "Team Two"}]);
    patch(&provider, &team, named).await;
    provider.scim(Method::DELETE, &place(&crew), None).await;
    let after = provider.get(&at(&zoe)).await;
    assert_eq!(after["groups"], json!([group(&team, "Team Two")]));
    assert_ne!(after["meta"]["version"], before);
    provider.scim(Method::DELETE, &at(&zoe), None).await;
    assert_eq!(provider.get(&place(&team)).await["members"], json!([]));
}

async fn an_inactive_user_is_a_member_and_a_suspended_one_is_not(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("zoe@{}.example", tenant.name);
    let zoe = provider.makes(&email, ("Zoe", "King")).await;
    let id = zoe["id"].as_str().unwrap();
    let off = || json!([{"op": "replace", "path": "active", "value": false}]);
    patched(&provider, &zoe, off()).await;
    let group = make(&provider, "Team", &[id]).await;
    assert_eq!(members(&group), [id]);
    // As soon as another organization has the account, the membership ends with `active`.
    let neighbour = tenant.neighbour();
    let olga = tenant.user("olga");
    let join = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &olga.email,
        "--name",
        "olga",
        "--nick",
        "olga",
    ];
    tenant.server().admin(&join);
    let olga = link(&tenant, &olga);
    let add = json!([{"op": "add", "path": "members", "value": [{"value": olga}]}]);
    let both = patch(&provider, &group, add.clone()).await;
    assert_eq!(members(&both).len(), 2);
    patched(&provider, &json!({"id": olga}), off()).await;
    assert_eq!(provider.get(&place(&group)).await, group);
    let refused = provider
        .scim(Method::PATCH, &place(&group), Some(&operations(&add)))
        .await;
    is_refused(&refused, 400, Some("invalidValue"));
}

async fn every_change_of_a_group_is_recorded(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let ben = link(&tenant, &tenant.ben);
    let group = make(&provider, "The Team", &[&ben]).await;
    let named = json!({"displayName": "The Crew", "externalId": "00g1", "members": []});
    let again = json!([{"op": "remove", "path": "members"}]);
    provider
        .scim(Method::PUT, &place(&group), Some(&named))
        .await;
    // Neither a change that changes nothing, nor one that is refused.
    patch(&provider, &group, again).await;
    let refused = json!({"displayName": "ben"});
    provider
        .scim(Method::PUT, &place(&group), Some(&refused))
        .await;
    provider.scim(Method::DELETE, &place(&group), None).await;
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name]);
    let records = audit["records"].as_array().unwrap();
    let by_provider = format!("scim:{}", provider.uid);
    let records: Vec<&Json> = records
        .iter()
        .filter(|record| record["actor"] == *by_provider)
        .collect();
    let id: i64 = group["id"].as_str().unwrap().parse().unwrap();
    let deeds: Vec<(&str, &Json)> = records
        .iter()
        .map(|record| (record["action"].as_str().unwrap(), &record["detail"]))
        .collect();
    assert_eq!(
        deeds,
        [
            ("group.remove", &json!({"group": id, "name": "The-Crew"})),
            (
                "group.update",
                &json!({
                    "group": id, "name": ["The-Team", "The-Crew"],
                    "displayName": ["The Team", "The Crew"], "externalId": [null, "00g1"],
                    "removed": [tenant.ben.id],
                })
            ),
            (
                "group.create",
                &json!({
                    "group": id, "name": "The-Team", "displayName": "The Team",
                    "added": [tenant.ben.id],
                })
            ),
        ]
    );
}

async fn another_version_of_a_group_is_not_changed(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let ben = link(&tenant, &tenant.ben);
    let group = make(&provider, "Team", &[&ben]).await;
    let first = group["meta"]["version"].as_str().unwrap();
    let send = async |method: Method, tag: &str, name: &str| {
        let change = json!({"displayName": name});
        let operations = operations(&json!([{"op": "replace", "value": change}]));
        let body = if method == Method::PATCH {
            &operations
        } else {
            &change
        };
        provider
            .scim_with(method, &place(&group), Some(body), &[("If-Match", tag)])
            .await
    };
    for method in [Method::PUT, Method::PATCH, Method::DELETE] {
        is_refused(&send(method, "W/\"7\"", "Crew").await, 412, None);
    }
    let get = async |tag: &str| {
        let headers = [("If-None-Match", tag)];
        let path = place(&group);
        let answer = provider.scim_with(Method::GET, &path, None, &headers).await;
        (
            answer.status.as_u16(),
            answer.header("etag").unwrap().to_owned(),
        )
    };
    assert_eq!(get(first).await, (304, first.to_owned()));
    let crew = send(Method::PUT, first, "Crew").await;
    let second = crew.header("etag").unwrap();
    assert_ne!(second, first);
    // Also what people change is another version.
    let path = format!(
        "/organizations/{}/groups/{}",
        tenant.name,
        group["id"].as_str().unwrap()
    );
    tenant
        .ada
        .does(Method::PUT, &path, &json!({"users": []}))
        .await;
    is_refused(&send(Method::PATCH, second, "Team").await, 412, None);
    let (status, third) = get(second).await;
    assert_eq!((status, third == second), (200, false));
    assert_eq!(send(Method::DELETE, &third, "").await.status, 204);
}

async fn a_group_is_mentioned_as_soon_as_it_is_made(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let ben = link(&tenant, &tenant.ben);
    let unread = format!(":unread:{ben}");
    let group = make(&provider, "On Call", &[&ben]).await;
    let said = tenant.ada.say(&tenant.main, "@on-call look").await;
    assert_eq!(said["tags"], json!([":user:on-call", unread]));
    let out = json!([{"op": "remove", "path": format!("members[value eq \"{ben}\"]")}]);
    patch(&provider, &group, out).await;
    let said = tenant.ada.say(&tenant.main, "@on-call look").await;
    assert_eq!(said["tags"], json!([":user:on-call"]));
    provider.scim(Method::DELETE, &place(&group), None).await;
    let said = tenant.ada.say(&tenant.main, "@on-call look").await;
    assert_eq!(said["tags"], json!([]));
}

async fn an_inactive_organization_changes_no_groups(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let group = make(&provider, "Team", &[]).await;
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--active", "false"]);
    let body = json!({"displayName": "Crew"});
    for (method, path) in [
        (Method::POST, "/Groups".to_owned()),
        (Method::PUT, place(&group)),
        (Method::DELETE, place(&group)),
    ] {
        is_refused(&provider.scim(method, &path, Some(&body)).await, 403, None);
    }
    assert_eq!(provider.get(&place(&group)).await, group);
}
