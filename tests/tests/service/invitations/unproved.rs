//! An address that an account merely entered is perhaps another's: its holder gets nothing that is
//! meant for the address, and takes nothing from its owner.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

use super::in_force::{letter_path, remove, sign_up};
use super::{create, pending, status, told};

on_shared_servers![
    an_import_invites_an_address_merely_entered_and_adds_no_user,
    an_import_adds_a_user_whom_the_identity_provider_made,
    joining_with_an_address_merely_entered_ends_no_invitation,
    a_removal_leaves_invitations_to_an_address_merely_entered,
    an_address_merely_entered_by_a_user_in_the_flow_is_invited,
    an_operator_adds_no_user_by_an_address_merely_entered,
];

/// A member of the organization, in no flow, who has entered an address.
async fn pretender(tenant: &Tenant, address: &str) -> Caller {
    let mal = tenant.user("mal");
    let wish = json!({"email": address, "current_password": PASSWORD});
    mal.does(Method::PUT, "/user", &wish).await;
    mal
}

async fn import(tenant: &Tenant, list: &str) -> Json {
    let path = tenant.path("/invitations/import");
    let answer = tenant
        .ben
        .send(Method::POST, &path, &json!({"list": list}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn nicks(tenant: &Tenant) -> Vec<String> {
    let users = tenant.ada.get(&tenant.path("/users")).await;
    users
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["nick"].as_str().unwrap().to_owned())
        .collect()
}

async fn an_import_invites_an_address_merely_entered_and_adds_no_user(tenant: Tenant) {
    let address = |name: &str| format!("{name}@{}.example", tenant.name);
    let (cfo, before) = (address("cfo"), tenant.user("mal.before").email);
    let mal = pretender(&tenant, &cfo).await;
    let waiting = create(&tenant, &json!({"email": cfo})).await;
    // Taken now: the import sends the invitation again if its first letter has left the queue.
    let path = letter_path(&tenant, &cfo).await;
    let answer = import(&tenant, &format!("{cfo}, {}, {before}", address("new"))).await;
    assert_eq!(
        answer["added_users"].as_array().unwrap().len(),
        1,
        "{answer}"
    );
    assert_eq!(
        (
            &answer["added_users"][0]["nick"],
            &answer["erroneous_emails"]
        ),
        (&json!("mal.before"), &json!([]))
    );
    assert_eq!(
        (
            &answer["invitations"][0],
            &answer["invitations"][1]["email"]
        ),
        (&waiting, &json!(address("new")))
    );
    assert_eq!(
        status(&mal, Method::GET, &tenant.path("/messages")).await,
        403
    );
    assert_eq!(
        pending(&tenant).await.as_array().unwrap().len(),
        2,
        "the invitation of the owner stays"
    );
    assert_eq!(sign_up(&tenant, &path, "cfo").await, 303);
    assert!(nicks(&tenant).await.contains(&"cfo".to_owned()));
    assert_eq!(
        mal.get("/user").await["email"],
        mal.email,
        "back at the address before"
    );
}

async fn an_import_adds_a_user_whom_the_identity_provider_made(tenant: Tenant) {
    let address = |name: &str| format!("{name}@{}.outside.example", tenant.name);
    let provider = tenant.server().provider(&tenant.name);
    provider.makes(&address("ivy"), ("Ivy", "Ames")).await;
    provider.makes(&address("jon"), ("Jon", "Ames")).await;
    let answer = import(&tenant, &address("ivy")).await;
    assert_eq!(
        answer["added_users"].as_array().unwrap().len(),
        1,
        "waits for a link to that address: {answer}"
    );
    tenant.server().admin(&[
        "flow",
        "add-user",
        "--flow",
        &tenant.main,
        "--email",
        &address("jon"),
    ]);
    assert_eq!(nicks(&tenant).await.len(), 4);
}

async fn joining_with_an_address_merely_entered_ends_no_invitation(tenant: Tenant) {
    let email = format!("hire@{}.example", tenant.name);
    create(&tenant, &json!({"email": email})).await;
    let mal = pretender(&tenant, &email).await;
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "organization"}),
        )
        .await;
    mal.does(Method::PUT, &tenant.path(""), &json!({"open": true}))
        .await;
    assert_eq!(pending(&tenant).await.as_array().unwrap().len(), 1);
    assert_eq!(
        sign_up(&tenant, &letter_path(&tenant, &email).await, "hire").await,
        303
    );
}

async fn a_removal_leaves_invitations_to_an_address_merely_entered(tenant: Tenant) {
    let email = format!("hire@{}.example", tenant.name);
    create(&tenant, &json!({"email": email})).await;
    let mal = pretender(&tenant, &email).await;
    remove(&tenant, &mal).await;
    assert_eq!(pending(&tenant).await.as_array().unwrap().len(), 1);
    assert_eq!(
        sign_up(&tenant, &letter_path(&tenant, &email).await, "hire").await,
        303
    );
}

async fn an_address_merely_entered_by_a_user_in_the_flow_is_invited(tenant: Tenant) {
    let email = format!("hire@{}.example", tenant.name);
    let mal = pretender(&tenant, &email).await;
    tenant
        .ada
        .does(Method::POST, &tenant.path("/users"), &json!({"id": mal.id}))
        .await;
    let made = create(&tenant, &json!({"email": email})).await;
    // Taken now: the import sends the invitation again if its first letter has left the queue.
    let path = letter_path(&tenant, &email).await;
    assert_eq!(import(&tenant, &email).await["invitations"], json!([made]));
    tenant
        .server()
        .visitor()
        .post(&path, &[("do", "decline")])
        .await
        .says(200, "You declined");
    let declined = told(&tenant).await.pop().unwrap();
    assert_eq!(
        declined[1],
        json!({"type": "decline", "description": {"email": email}})
    );
    assert_ne!(
        declined[0],
        mal.id.to_string(),
        "the owner of the address declined"
    );
}

async fn an_operator_adds_no_user_by_an_address_merely_entered(tenant: Tenant) {
    let email = format!("hire@{}.example", tenant.name);
    let mal = pretender(&tenant, &email).await;
    let add = [
        "flow",
        "add-user",
        "--flow",
        &tenant.main,
        "--email",
        &email,
    ];
    let refused = tenant.server().try_admin(&add).unwrap_err();
    assert!(refused.contains("without having proved it"), "{refused}");
    assert_eq!(
        status(&mal, Method::GET, &tenant.path("/messages")).await,
        403
    );
}
