//! Inviting many at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eddyline_client::{Json, Method};
use eddyline_tests::{Acme, Caller, Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;
use tokio::time::timeout;

use super::{create, pending, told};

on_shared_servers![
    invitation_pending_import_of_an_organization_user_adds_them_at_once,
    each_entry_of_a_list_is_in_one_part_of_the_answer,
    a_list_that_was_imported_is_sent_again_and_nothing_is_told,
    an_import_is_told_once_and_names_the_first_fifty,
    a_list_has_entries,
    a_list_can_come_as_a_form,
];

/// For as many as a list may have.
const UNBOUNDED: &[&str] = &[
    "--max-pending-invitations",
    "0",
    "--mail-per-user-minute",
    "0",
    "--mail-per-user-day",
    "0",
    "--mail-per-organization-minute",
    "0",
];

on_both_databases![super::UNBOUNDED; five_thousand_mixed_addresses_are_each_accounted_for_once];

async fn import(tenant: &Tenant, list: &str) -> Json {
    let path = tenant.path("/invitations/import");
    let answer = tenant
        .ben
        .send(Method::POST, &path, &json!({"list": list}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn emails(list: &Json) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["email"].as_str().unwrap())
        .collect()
}

/// What is wrong with which entry.
fn errors(answer: &Json) -> BTreeMap<&str, &str> {
    let objects = answer["erroneous_emails"].as_array().unwrap();
    let entries = objects.iter().map(|object| {
        let entry = object.as_object().unwrap();
        assert_eq!(entry.len(), 1, "{object}");
        entry
            .iter()
            .next()
            .map(|(text, why)| (text.as_str(), why.as_str().unwrap()))
            .unwrap()
    });
    let errors: BTreeMap<_, _> = entries.collect();
    assert_eq!(errors.len(), objects.len(), "each once: {objects:?}");
    errors
}

/// Shows: 3.4
async fn invitation_pending_import_of_an_organization_user_adds_them_at_once(tenant: Tenant) {
    let olga = tenant.user("olga");
    let invitation = create(&tenant, &json!({"email": olga.email})).await;
    let answer = import(&tenant, &format!("Olga <{}>", olga.email.to_uppercase())).await;
    assert_eq!(
        (&answer["invitations"], &answer["erroneous_emails"]),
        (&json!([]), &json!([]))
    );
    let mut added = answer["added_users"][0].clone();
    let flow = tenant.ben.get(&tenant.path("")).await;
    let mut shown = flow["users"]
        .as_array()
        .unwrap()
        .iter()
        .find(|user| user["nick"] == "olga")
        .unwrap()
        .clone();
    for user in [&mut added, &mut shown] {
        // She has looked at the flow since.
        assert!(user["last_activity"].take().is_i64() && user["last_ping"].take().is_i64());
    }
    assert_eq!(added, shown);
    olga.say(&tenant.main, "hello").await;
    let told = told(&tenant).await.split_off(1);
    assert_eq!(
        told,
        [json!([tenant.ben.id.to_string(), {"type": "add_people", "description": "olga"}])]
    );
    assert_eq!(
        pending(&tenant).await,
        json!([]),
        "she needs no invitation any more"
    );
    let path = tenant.path(&format!("/invitations/{}", invitation["id"]));
    assert_eq!(tenant.ben.get(&path).await["state"], "accepted");
}

/// Shows: 4.35
async fn each_entry_of_a_list_is_in_one_part_of_the_answer(tenant: Tenant) {
    let (olga, cleo) = (tenant.user("olga"), tenant.member("cleo"));
    let block = tenant.path(&format!("/users/{}", cleo.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    let waiting = create(&tenant, &json!({"email": "waiting@x.example"})).await;
    let stranger = tenant.neighbour().user("sam");
    let list = [
        "new@x.example",
        "\"Lovelace, Ada\" <quoted@x.example>; NEW@x.example",
        &format!("{}, {}", olga.email, stranger.email),
        "broken@@x.example\tbroken@@x.example",
        "broken@@x.example, nobody",
        &format!("Ben <{}>", tenant.ben.email),
        &cleo.email,
        "Waiting <waiting@x.example>",
        "Jörg <jörg@bücher.example>, jörg@xn--bcher-kva.example",
    ];
    let answer = import(&tenant, &list.join("\r\n")).await;
    assert_eq!(
        emails(&answer["invitations"]),
        [
            "new@x.example",
            "quoted@x.example",
            &stranger.email,
            "waiting@x.example",
            "jörg@bücher.example"
        ],
        "in the order of the list"
    );
    assert_eq!(answer["invitations"][3], waiting);
    assert_eq!(emails(&answer["added_users"]), [&olga.email]);
    let errors = errors(&answer);
    let wrong: BTreeSet<&str> = errors.keys().copied().collect();
    let expected = [
        "broken@@x.example",
        "nobody",
        &tenant.ben.email,
        &cleo.email,
    ];
    assert_eq!(wrong, expected.into_iter().collect());
    assert_eq!(
        answer["erroneous_emails"][3],
        json!({&cleo.email: "is blocked from the flow"})
    );
    assert_eq!(errors["nobody"], "has no e-mail address in it");
    assert_eq!(errors[tenant.ben.email.as_str()], "is already in the flow");
    assert_eq!(errors[cleo.email.as_str()], "is blocked from the flow");
    assert_eq!(pending(&tenant).await.as_array().unwrap().len(), 5);
    for address in ["new@x.example", "quoted@x.example"] {
        tenant
            .ben
            .does(
                Method::POST,
                &tenant.path("/invitations"),
                &json!({"email": address}),
            )
            .await;
    }
}

async fn a_list_that_was_imported_is_sent_again_and_nothing_is_told(tenant: Tenant) {
    let address = format!("twice@{}.example", tenant.name);
    let first = import(&tenant, &address).await;
    tenant.server().letter(&address, 1).await;
    assert_eq!(import(&tenant, &address).await, first);
    // A letter that is still being sent is not queued again, and the first one may be: its file is
    // there before it leaves the queue.
    while timeout(Duration::from_secs(5), tenant.server().letter(&address, 2))
        .await
        .is_err()
    {
        assert_eq!(import(&tenant, &address).await, first);
    }
    assert_eq!(told(&tenant).await.len(), 1);
    import(&tenant, "nobody").await;
    assert_eq!(told(&tenant).await.len(), 1, "nothing happened");
}

/// Shows: 6.2
async fn an_import_is_told_once_and_names_the_first_fifty(tenant: Tenant) {
    let addresses: Vec<String> = (1..=52)
        .map(|n| format!("p{n}@{}.example", tenant.name))
        .collect();
    import(&tenant, &addresses.join(",")).await;
    let description = json!({"email": addresses[..50].join(","), "more": 2});
    let ben = tenant.ben.id.to_string();
    assert_eq!(
        told(&tenant).await,
        [json!([ben, {"type": "invite", "description": description}])]
    );

    let (olga, oscar) = (tenant.user("olga"), tenant.user("oscar"));
    import(
        &tenant,
        &format!(
            "{},{},more@{}.example",
            olga.email, oscar.email, tenant.name
        ),
    )
    .await;
    let told = told(&tenant).await.split_off(1);
    assert_eq!(
        told,
        [json!([ben, {"type": "add_people", "description": "olga,oscar"}])]
    );
}

async fn a_list_has_entries(tenant: Tenant) {
    let path = tenant.path("/invitations/import");
    let most = "a@x.org,".repeat(10_001);
    for (body, field) in [
        (json!({}), "list"),
        (json!({"list": ""}), "list"),
        (json!({"list": " ,\n;"}), "list"),
        (json!({"list": most}), "list"),
        (
            json!({"list": "a@x.org", "message": "a".repeat(1001)}),
            "message",
        ),
    ] {
        let answer = tenant.ben.send(Method::POST, &path, &body).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(
            answer.json()["errors"][field].is_array(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(pending(&tenant).await, json!([]));
}

async fn a_list_can_come_as_a_form(tenant: Tenant) {
    let path = tenant.path("/invitations/import");
    let body = "list=Ann+%3Cann%40x.org%3E%0D%0Abob%40x.org&message=Hello";
    let request = tenant.ben.client.request(Method::POST, &path);
    let answer = request
        .raw("application/x-www-form-urlencoded", body)
        .send()
        .await
        .unwrap();
    assert_eq!(
        emails(&answer.json()["invitations"]),
        ["ann@x.org", "bob@x.org"]
    );
}

/// What a list of many addresses is made of, in the order of the list.
struct Crowd {
    list: String,
    invited: BTreeSet<String>,
    added: BTreeSet<String>,
    erroneous: BTreeSet<String>,
}

/// Of ten entries in turn: five new addresses in several spellings, one of them again, two that are
/// broken, one that was invited before, and somebody known.
fn crowd(known: &[(String, bool)]) -> Crowd {
    let mut crowd = Crowd {
        list: String::new(),
        invited: BTreeSet::new(),
        added: BTreeSet::new(),
        erroneous: BTreeSet::new(),
    };
    for number in 0..500 {
        for (at, name) in ["plain", "named", "quoted", "odd"].into_iter().enumerate() {
            let address = format!("{name}{number}@crowd.example");
            crowd.list += &match at {
                0 => format!("{address},"),
                1 => format!("Somebody Else <{address}>\n"),
                2 => format!("\"Else, Somebody; {number}\" <{}>;", address.to_uppercase()),
                _ => format!("  <{address}> (on leave, {number})\r\n"),
            };
            crowd.invited.insert(address);
        }
        let international = format!("jörg{number}@bücher.example");
        crowd.list += &format!("{international}, JÖRG{number}@xn--bcher-kva.example\n");
        crowd.invited.insert(international);
        for broken in [
            format!("broken{number}@@crowd.example"),
            format!("nobody {number}"),
        ] {
            crowd.list += &format!("{broken}; ");
            crowd.erroneous.insert(broken);
        }
        let before = format!("before{number}@crowd.example");
        crowd.list += &format!("{before}\n");
        crowd.invited.insert(before);
        let (address, inside) = &known[number % known.len()];
        crowd.list += &format!("Known <{address}>\n");
        if *inside {
            crowd.erroneous.insert(address.clone())
        } else {
            crowd.added.insert(address.clone())
        };
    }
    crowd
}

/// Shows: 4.35
async fn five_thousand_mixed_addresses_are_each_accounted_for_once(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut known = vec![(ada.email.clone(), true), (ben.email.clone(), true)];
    for number in 0..8 {
        known.push((server.user("acme", &format!("olga{number}")).email, false));
    }
    let path = "/flows/acme/main/invitations/import";
    let before: Vec<String> = (0..500)
        .map(|number| format!("Before{number}@crowd.example"))
        .collect();
    let answer = ben
        .send(Method::POST, path, &json!({"list": before.join(" , ")}))
        .await
        .json();
    assert_eq!(answer["invitations"].as_array().unwrap().len(), 500);

    let crowd = crowd(&known);
    let answer = ben
        .send(Method::POST, path, &json!({"list": crowd.list}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    let lower = |list: &Json| -> Vec<String> {
        emails(list)
            .iter()
            .map(|email| email.to_lowercase())
            .collect()
    };
    let (invited, added) = (lower(&answer["invitations"]), lower(&answer["added_users"]));
    assert_eq!((invited.len(), added.len()), (3000, 8));
    assert_eq!(invited.into_iter().collect::<BTreeSet<_>>(), crowd.invited);
    assert_eq!(added.into_iter().collect::<BTreeSet<_>>(), crowd.added);
    let wrong: BTreeSet<String> = errors(&answer).into_keys().map(str::to_owned).collect();
    assert_eq!(wrong, crowd.erroneous);

    let mut page = "/flows/acme/main/invitations".to_owned();
    for _ in 0..3 {
        page = full_page(&ada, &page).await;
    }
    assert_eq!(ada.get(&page).await, json!([]));
    let users = ada.get("/flows/acme/main/users").await;
    assert_eq!(users.as_array().unwrap().len(), 10);
    let told = ada.get("/flows/acme/main/messages?event=action").await;
    assert_eq!(told.as_array().unwrap().len(), 2, "one for each import");
}

/// Checks that a page of invitations is full, and gives the path of the next one.
async fn full_page(caller: &Caller, path: &str) -> String {
    let page = caller.get(path).await;
    let page = page.as_array().unwrap();
    assert_eq!(page.len(), 1000);
    format!("/flows/acme/main/invitations?after={}", page[999]["id"])
}
