//! What operators change about people and tokens holds for the running server at once.

use eddyline_client::{Credentials, Json, Method, StreamRequest};
use eddyline_tests::{Caller, Listener, PASSWORD, Tenant, on_shared_servers};
use serde_json::json;

on_shared_servers![
    an_administrator_is_made_and_unmade,
    the_last_administrator_stays_one,
    who_is_removed_from_an_organization_is_out_of_all_of_it,
    who_is_removed_from_all_organizations_is_signed_out_everywhere,
    who_is_taken_out_of_a_flow_hears_nothing_of_it_any_more,
    an_archived_flow_ends_its_streams_and_comes_back,
    a_revoked_api_token_ends_with_its_streams,
    a_revoked_flow_token_is_refused,
    making_the_last_administrator_inactive_is_warned_of,
];

/// The status of a request for the flow `main`.
async fn status(tenant: &Tenant, caller: &Caller) -> u16 {
    caller
        .send(Method::GET, &tenant.path(""), &Json::Null)
        .await
        .status
        .as_u16()
}

async fn an_administrator_is_made_and_unmade(tenant: Tenant) {
    let server = tenant.server();
    let path = format!("/organizations/{}", tenant.name);
    let rename = async |name: &str| {
        tenant
            .ben
            .send(Method::PUT, &path, &json!({"name": name}))
            .await
            .status
            .as_u16()
    };
    let set = |admin: &str| {
        let line = [
            "user",
            "set-admin",
            "--org",
            &tenant.name,
            "--email",
            &tenant.ben.email,
            "--admin",
            admin,
        ];
        server.admin(&line)
    };
    assert_eq!(rename("By Ben").await, 403);
    let answer = set("true");
    assert_eq!(
        answer,
        json!({
            "id": tenant.ben.id, "email": tenant.ben.email, "organization": tenant.name, "admin": true,
        })
    );
    assert_eq!(rename("By Ben").await, 200);
    assert_eq!(set("true"), answer, "it is so already");
    set("false");
    assert_eq!(rename("By Ben again").await, 403);
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name]);
    let details: Vec<&Json> = audit["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| &record["detail"])
        .collect();
    assert_eq!(
        details,
        [
            &json!({"admin": [true, false]}),
            &json!({"admin": [false, true]})
        ]
    );
}

async fn the_last_administrator_stays_one(tenant: Tenant) {
    let server = tenant.server();
    for line in [
        &[
            "user",
            "set-admin",
            "--org",
            &tenant.name,
            "--email",
            &tenant.ada.email,
            "--admin",
            "false",
        ][..],
        &[
            "user",
            "remove",
            "--org",
            &tenant.name,
            "--email",
            &tenant.ada.email,
        ],
        &["user", "remove", "--email", &tenant.ada.email],
    ] {
        let said = server.try_admin(line).unwrap_err();
        assert!(said.contains("last administrator"), "{line:?}: {said}");
    }
    assert_eq!(status(&tenant, &tenant.ada).await, 200);
    // Inactive users do not count.
    let line = [
        "user",
        "set-admin",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
        "--admin",
        "true",
    ];
    server.admin(&line);
    server.admin(&[
        "user",
        "set-active",
        "--email",
        &tenant.ben.email,
        "--active",
        "false",
    ]);
    let line = [
        "user",
        "remove",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ada.email,
    ];
    assert!(
        server
            .try_admin(&line)
            .unwrap_err()
            .contains("last administrator")
    );
}

async fn who_is_removed_from_an_organization_is_out_of_all_of_it(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let server = tenant.server();
    let mia = tenant.member("mia");
    let email = &mia.email;
    server.admin(&[
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        email,
        "--name",
        "B",
        "--nick",
        "mia",
    ]);
    server.admin(&[
        "flow",
        "add-user",
        "--flow",
        &neighbour.main,
        "--email",
        email,
    ]);
    let stream = Listener::to(&mia.client, &[&tenant.main]).await;
    let removed = server.admin(&["user", "remove", "--org", &tenant.name, "--email", email]);
    assert_eq!(
        removed,
        json!({"id": mia.id, "email": email, "organization": tenant.name})
    );
    assert_eq!(status(&tenant, &mia).await, 404);
    stream.rest().await;
    assert_eq!(
        mia.get(&neighbour.path("/messages")).await,
        json!([]),
        "the account stays elsewhere"
    );
    assert_eq!(
        tenant.ada.get(&tenant.path("/messages")).await,
        json!([]),
        "no command posts anything"
    );
    let again = server
        .try_admin(&["user", "remove", "--org", &tenant.name, "--email", email])
        .unwrap_err();
    assert!(again.contains("was not found"), "{again}");
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name]);
    assert_eq!(
        (&audit["records"][0]["action"], &audit["records"][0]["user"]),
        (&json!("user.remove"), &json!(mia.id))
    );
}

async fn who_is_removed_from_all_organizations_is_signed_out_everywhere(tenant: Tenant) {
    let server = tenant.server();
    let neighbour = tenant.neighbour();
    let mia = tenant.member("mia");
    let email = &mia.email;
    server.admin(&[
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        email,
        "--name",
        "B",
        "--nick",
        "mia",
    ]);
    let robot = server.robot(&tenant.name, &[]);
    let tokens = robot.by_password(&mia, "flow").await;
    let stream = Listener::open(&mia.client, &StreamRequest::new().user()).await;
    server.admin(&["user", "remove", "--email", email]);
    stream.rest().await;
    for (what, credentials) in [
        ("token", Credentials::ApiToken(mia.token.clone())),
        (
            "grant",
            Credentials::Bearer(tokens["access_token"].as_str().unwrap().to_owned()),
        ),
    ] {
        let answer = tenant
            .client(credentials)
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status, 401, "{what}");
    }
    let shown = server.admin(&["user", "show", "--email", email]);
    assert_eq!(
        (&shown["organizations"], &shown["api_tokens"]),
        (&json!([]), &json!(0))
    );
}

async fn who_is_taken_out_of_a_flow_hears_nothing_of_it_any_more(tenant: Tenant) {
    let server = tenant.server();
    let line = [
        "flow",
        "remove-user",
        "--flow",
        &tenant.main,
        "--email",
        &tenant.ben.email,
    ];
    let stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    assert_eq!(server.admin(&line)["user"], tenant.ben.id);
    stream.rest().await;
    assert_eq!(status(&tenant, &tenant.ben).await, 403);
    assert_eq!(
        tenant.ada.get(&tenant.path("/messages")).await,
        json!([]),
        "no command posts anything"
    );
    assert!(
        server
            .try_admin(&line)
            .unwrap_err()
            .contains("was not found")
    );
    // A block is not lifted by it.
    server.admin(&[
        "flow",
        "add-user",
        "--flow",
        &tenant.main,
        "--email",
        &tenant.ben.email,
    ]);
    let block = tenant.path(&format!("/users/{}", tenant.ben.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    let said = server.try_admin(&line).unwrap_err();
    assert!(said.contains("blocked"), "{said}");
}

async fn an_archived_flow_ends_its_streams_and_comes_back(tenant: Tenant) {
    let server = tenant.server();
    let stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let archived = server.admin(&["flow", "archive", "--flow", &tenant.main]);
    assert_eq!(archived["archived"], true);
    stream.rest().await;
    assert_eq!(status(&tenant, &tenant.ben).await, 404);
    server.admin(&["flow", "archive", "--flow", &tenant.main, "--undo"]);
    assert_eq!(status(&tenant, &tenant.ben).await, 200);
    tenant.ben.say(&tenant.main, "back again").await;
}

async fn a_revoked_api_token_ends_with_its_streams(tenant: Tenant) {
    let server = tenant.server();
    let email = &tenant.ben.email;
    let second = server.admin(&["user", "token", "--email", email])["api_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let list = || {
        server.admin(&["token", "list", "--email", email])["tokens"]
            .as_array()
            .unwrap()
            .clone()
    };
    let first = list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(list().len(), 2);
    let stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    server.admin(&["token", "revoke", "--email", email, "--id", &first]);
    stream.rest().await;
    assert_eq!(status(&tenant, &tenant.ben).await, 401);
    let other = tenant.client(Credentials::ApiToken(second));
    assert_eq!(
        other
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        200,
        "the other one stays"
    );
    assert_eq!(list().len(), 1);
    let again = server
        .try_admin(&["token", "revoke", "--email", email, "--id", &first])
        .unwrap_err();
    assert!(again.contains("was not found"), "{again}");
    // Not a token of somebody else, whatever its number.
    let id = list()[0]["id"].as_str().unwrap().to_owned();
    let said = server
        .try_admin(&["token", "revoke", "--email", &tenant.ada.email, "--id", &id])
        .unwrap_err();
    assert!(said.contains("was not found"), "{said}");
}

async fn a_revoked_flow_token_is_refused(tenant: Tenant) {
    let server = tenant.server();
    let (one, other) = (tenant.flow_token(), tenant.flow_token());
    let push = async |token: &str| {
        let message = json!({"flow_token": token, "event": "message", "content": "x", "external_user_name": "ci"});
        let client = tenant.server().client().build().unwrap();
        let answer = client
            .request(Method::POST, "/messages")
            .json(&message)
            .send()
            .await
            .unwrap();
        answer.status.as_u16()
    };
    assert_eq!((push(&one).await, push(&other).await), (202, 202));
    let list = server.admin(&["token", "list", "--flow", &tenant.main]);
    let id = list["tokens"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (
            list["tokens"].as_array().unwrap().len(),
            &list["tokens"][0]["source"]
        ),
        (2, &Json::Null)
    );
    server.admin(&["token", "revoke", "--flow", &tenant.main, "--id", &id]);
    let mut answers = [push(&one).await, push(&other).await];
    answers.sort_unstable();
    assert_eq!(answers, [202, 401]);

    let robot = server.robot(&tenant.name, &[]);
    let source = server.admin(&[
        "source",
        "create",
        "--flow",
        &tenant.main,
        "--app",
        &robot.id,
        "--name",
        "CI",
    ]);
    let list = server.admin(&["token", "list", "--flow", &tenant.main]);
    let token = list["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .find(|token| token["source"] == source["id"])
        .unwrap();
    server.admin(&[
        "token",
        "revoke",
        "--flow",
        &tenant.main,
        "--id",
        token["id"].as_str().unwrap(),
    ]);
    assert_eq!(push(source["flow_token"].as_str().unwrap()).await, 401);
}

async fn making_the_last_administrator_inactive_is_warned_of(tenant: Tenant) {
    let set = |email: &str, active: &str| {
        let line = ["user", "set-active", "--email", email, "--active", active];
        let output = tenant.server().admin_command(&line).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(set(&tenant.ben.email, "false"), "");
    let said = set(&tenant.ada.email, "false");
    assert!(
        said.starts_with("warning: ") && said.contains(&tenant.name),
        "{said}"
    );
    assert_eq!(set(&tenant.ada.email, "true"), "");
    assert_eq!(
        tenant.ada.by_password().me().await.unwrap().email,
        tenant.ada.email,
        "{PASSWORD}"
    );
}
