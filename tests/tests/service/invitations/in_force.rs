//! Invitations end with what they rest on: the membership of the inviter, or the join link at which
//! they were requested.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

use super::{create, pending};
use crate::pages::path_of;

on_shared_servers![
    requested_invitations_end_with_the_join_link,
    a_closed_flow_ends_the_invitations_requested_before,
    an_invitation_of_a_removed_user_is_over,
    a_removal_leaves_the_invitations_of_others,
    a_user_who_loses_access_leaves_no_invitation_that_works,
    an_invitation_of_a_blocked_user_waits_for_the_end_of_the_block,
];

/// The path that the letter to an address leads to.
pub(super) async fn letter_path(tenant: &Tenant, email: &str) -> String {
    path_of(&tenant.server().letter(email, 1).await, tenant.server())
}

/// Has a member invite an address, and gives the path that the letter leads to.
async fn invited_by(tenant: &Tenant, inviter: &Caller, email: &str) -> String {
    inviter
        .does(
            Method::POST,
            &tenant.path("/invitations"),
            &json!({"email": email}),
        )
        .await;
    letter_path(tenant, email).await
}

async fn set_mode(tenant: &Tenant, mode: &str) -> Json {
    tenant
        .ada
        .send(Method::PUT, &tenant.path(""), &json!({"access_mode": mode}))
        .await
        .json()
}

/// Asks for an invitation on the page of the join link of the flow, and gives the path that the
/// letter leads to.
async fn requested(tenant: &Tenant, email: &str) -> String {
    let flow = tenant.ada.get(&tenant.path("")).await;
    let page = flow["join_url"]
        .as_str()
        .unwrap()
        .strip_prefix(tenant.server().base_url())
        .unwrap();
    let asked = tenant
        .server()
        .visitor()
        .post(page, &[("do", "mail"), ("email", email)])
        .await;
    assert_eq!(asked.status, 200, "{}", asked.text);
    letter_path(tenant, email).await
}

/// Signs up by the link of a letter, and gives the status of the answer.
pub(super) async fn sign_up(tenant: &Tenant, path: &str, nick: &str) -> u16 {
    let fields = [
        ("do", "sign-up"),
        ("name", nick),
        ("nick", nick),
        ("password", "violet umbrella on the tram"),
    ];
    tenant.server().visitor().post(path, &fields).await.status
}

pub(super) async fn remove(tenant: &Tenant, user: &Caller) {
    let path = format!("/organizations/{}/users/{}", tenant.name, user.id);
    tenant.ada.does(Method::DELETE, &path, &Json::Null).await;
}

async fn requested_invitations_end_with_the_join_link(tenant: Tenant) {
    let address = |name: &str| format!("{name}@{}.example", tenant.name);
    set_mode(&tenant, "link").await;
    let before = requested(&tenant, &address("first")).await;
    let by_ben = invited_by(&tenant, &tenant.ben, &address("second")).await;
    tenant
        .ada
        .does(Method::POST, &tenant.path("/join_url"), &Json::Null)
        .await;
    assert_eq!(sign_up(&tenant, &before, "first").await, 404);
    let after = requested(&tenant, &address("third")).await;
    assert_eq!(sign_up(&tenant, &after, "third").await, 303);
    assert_eq!(
        sign_up(&tenant, &by_ben, "second").await,
        303,
        "one that a member sent stays"
    );
    assert_eq!(pending(&tenant).await, json!([]));
}

async fn a_closed_flow_ends_the_invitations_requested_before(tenant: Tenant) {
    let email = format!("guest@{}.example", tenant.name);
    set_mode(&tenant, "organization").await;
    let path = requested(&tenant, &email).await;
    set_mode(&tenant, "invitation").await;
    assert_eq!(pending(&tenant).await, json!([]));
    assert_eq!(sign_up(&tenant, &path, "guest").await, 404);
    let mut zoe = tenant
        .server()
        .signed_in(
            &tenant.neighbour().user("zoe").email,
            eddyline_tests::PASSWORD,
        )
        .await;
    assert_eq!(zoe.post(&path, &[("do", "join")]).await.status, 404);
    create(&tenant, &json!({"email": email})).await;
    let letter = tenant.server().letter(&email, 2).await;
    assert_eq!(
        sign_up(&tenant, &path_of(&letter, tenant.server()), "guest").await,
        303
    );
}

async fn an_invitation_of_a_removed_user_is_over(tenant: Tenant) {
    let (mia, gus) = (tenant.member("mia"), tenant.neighbour().user("gus"));
    let second = format!("mia.too@{}.example", tenant.name);
    let path = invited_by(&tenant, &mia, &second).await;
    invited_by(&tenant, &mia, &gus.email).await;
    let invitation = pending(&tenant).await[1].clone();
    remove(&tenant, &mia).await;
    assert_eq!(pending(&tenant).await, json!([]));
    assert_eq!(sign_up(&tenant, &path, "mia2").await, 404);
    let accept = tenant.path(&format!("/invitations/{}", invitation["id"]));
    let answer = gus
        .send(Method::PUT, &accept, &json!({"state": "accepted"}))
        .await;
    assert_eq!(
        (answer.status.as_u16(), gus.get("/flows").await),
        (404, json!([]))
    );
    // A member who invites the same address later answers for it.
    create(&tenant, &json!({"email": second})).await;
    assert_eq!(sign_up(&tenant, &path, "mia2").await, 404);
    let letter = tenant.server().letter(&second, 2).await;
    assert_eq!(
        sign_up(&tenant, &path_of(&letter, tenant.server()), "mia2").await,
        303
    );
}

async fn a_removal_leaves_the_invitations_of_others(tenant: Tenant) {
    let (mia, neighbour) = (tenant.member("mia"), tenant.neighbour());
    let line = [
        "user",
        "create",
        "--org",
        &neighbour.name,
        "--email",
        &mia.email,
        "--name",
        "mia",
        "--nick",
        "mia",
    ];
    tenant.server().admin(&line);
    tenant.server().admin(&[
        "flow",
        "add-user",
        "--flow",
        &neighbour.main,
        "--email",
        &mia.email,
    ]);
    let address = |name: &str| format!("{name}@{}.example", tenant.name);
    let by_ben = invited_by(&tenant, &tenant.ben, &address("one")).await;
    let elsewhere = invited_by(&neighbour, &mia, &address("two")).await;
    remove(&tenant, &mia).await;
    assert_eq!(sign_up(&tenant, &by_ben, "one").await, 303);
    assert_eq!(
        sign_up(&tenant, &elsewhere, "two").await,
        303,
        "she is still a member of the other organization"
    );
}

async fn a_user_who_loses_access_leaves_no_invitation_that_works(tenant: Tenant) {
    let (server, provider) = (tenant.server(), tenant.server().provider(&tenant.name));
    let neighbour = tenant.neighbour();
    for nick in ["operator", "inactive", "suspended", "deleted"] {
        let user = tenant.member(nick);
        let path = invited_by(
            &tenant,
            &user,
            &format!("{nick}.too@{}.example", tenant.name),
        )
        .await;
        server
            .visitor()
            .get(&path)
            .await
            .says(200, &format!("{nick} invites you"));
        if nick == "operator" {
            server.admin(&[
                "user",
                "set-active",
                "--email",
                &user.email,
                "--active",
                "false",
            ]);
        } else {
            server.admin(&[
                "scim",
                "link",
                "--org",
                &tenant.name,
                "--email",
                &user.email,
            ]);
        }
        if nick == "suspended" {
            let line = [
                "user",
                "create",
                "--org",
                &neighbour.name,
                "--email",
                &user.email,
                "--name",
                nick,
            ];
            server.admin(&[&line[..], &["--nick", nick]].concat());
        }
        let resource = format!("/Users/{}", user.id);
        let change = json!({"Operations": [{"op": "replace", "path": "active", "value": false}]});
        let answer = match nick {
            "operator" => None,
            "deleted" => Some(provider.scim(Method::DELETE, &resource, None).await),
            _ => Some(provider.scim(Method::PATCH, &resource, Some(&change)).await),
        };
        assert!(
            answer.is_none_or(|answer| answer.status.is_success()),
            "{nick}"
        );
        assert_eq!(pending(&tenant).await, json!([]), "{nick}");
        assert_eq!(
            sign_up(&tenant, &path, &format!("{nick}2")).await,
            404,
            "{nick}"
        );
    }
}

async fn an_invitation_of_a_blocked_user_waits_for_the_end_of_the_block(tenant: Tenant) {
    let mia = tenant.member("mia");
    let path = invited_by(&tenant, &mia, &format!("mia.too@{}.example", tenant.name)).await;
    let place = tenant.path(&format!("/users/{}", mia.id));
    tenant
        .ada
        .does(Method::PUT, &place, &json!({"disabled": true}))
        .await;
    assert_eq!(sign_up(&tenant, &path, "mia2").await, 404);
    tenant
        .ada
        .does(Method::PUT, &place, &json!({"disabled": false}))
        .await;
    assert_eq!(
        sign_up(&tenant, &path, "mia2").await,
        303,
        "the block has ended"
    );
}
