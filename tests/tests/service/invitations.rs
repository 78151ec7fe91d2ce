//! Invitations (specification, sections 2 to 4): one at a time, and what becomes of them.

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::{Caller, Tenant, on_shared_servers};
use serde_json::json;

mod bounds;
mod by_operator;
mod import;
mod in_force;
mod unproved;

on_shared_servers![
    invitation_none_post_create_makes_it_pending,
    inviting_again_sends_the_same_invitation_again,
    invitation_pending_delete_removes_it,
    invitation_pending_delete_by_the_guest_declines_it,
    invitation_pending_put_accepted_by_the_guest_makes_it_accepted,
    invitation_accepted_delete_is_refused,
    an_accepted_invitation_lets_nobody_in_again,
    who_is_removed_does_not_come_back_by_an_old_invitation,
    only_the_guest_accepts,
    whoever_may_not_know_of_invitations_cannot_probe_their_numbers,
    who_is_in_the_flow_or_blocked_is_not_invited,
    what_is_no_invitation_is_refused,
    who_came_in_another_way_is_invited_no_more,
    an_archived_flow_has_no_invitations,
    an_inactive_organization_changes_no_invitations,
    a_full_organization_takes_no_guest,
    a_guest_whose_nick_is_taken_must_choose_another_first,
    an_address_is_the_same_in_any_case_and_spelling,
    a_flow_names_what_may_be_done_with_its_invitations,
];

impl Stranger {
    /// Somebody of another organization whom Ben has invited.
    async fn invited(tenant: &Tenant) -> Self {
        let caller = tenant.neighbour().user("gus");
        let invitation = create(tenant, &json!({"email": caller.email})).await;
        let path = tenant.path(&format!("/invitations/{}", invitation["id"]));
        Self {
            caller,
            invitation,
            path,
        }
    }

    async fn accept(&self) -> RawResponse {
        self.caller
            .send(Method::PUT, &self.path, &json!({"state": "accepted"}))
            .await
    }
}

struct Stranger {
    caller: Caller,
    invitation: Json,
    path: String,
}

async fn create(tenant: &Tenant, body: &Json) -> Json {
    let answer = tenant
        .ben
        .send(Method::POST, &tenant.path("/invitations"), body)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

async fn status(caller: &Caller, method: Method, path: &str) -> u16 {
    caller.send(method, path, &Json::Null).await.status.as_u16()
}

async fn pending(tenant: &Tenant) -> Json {
    tenant.ben.get(&tenant.path("/invitations")).await
}

/// What the flow was told, as author and content.
async fn told(tenant: &Tenant) -> Vec<Json> {
    let actions = tenant.ben.get(&tenant.path("/messages?event=action")).await;
    actions
        .as_array()
        .unwrap()
        .iter()
        .map(|action| json!([action["user"], action["content"]]))
        .collect()
}

/// Shows: 2.27, 3.1, 4.35, 7.2
async fn invitation_none_post_create_makes_it_pending(tenant: Tenant) {
    let email = format!("new@{}.example", tenant.name);
    let made = create(
        &tenant,
        &json!({"email": email, "message": "Welcome aboard."}),
    )
    .await;
    let path = tenant.path(&format!("/invitations/{}", made["id"]));
    let flow = tenant.ben.get(&tenant.path("")).await;
    let expected = json!({
        "id": made["id"].as_i64().unwrap(),
        "state": "pending",
        "email": email,
        "flow": flow["id"],
        "url": format!("{}{path}", tenant.server().base_url()),
    });
    assert_eq!(made, expected);
    assert_eq!(pending(&tenant).await, json!([expected]));
    assert_eq!(tenant.ada.get(&path).await, expected);
    let ben = tenant.ben.id.to_string();
    assert_eq!(
        told(&tenant).await,
        [json!([ben, {"type": "invite", "description": {"email": email}}])]
    );

    let letter = tenant.server().letter(&email, 1).await;
    assert_eq!(letter.subject, "ben invites you to main");
    assert!(letter.text.contains("> Welcome aboard."), "{}", letter.text);
    let secret = letter
        .link()
        .strip_prefix(&format!("{}/invitations/", tenant.server().base_url()))
        .unwrap();
    assert!(
        secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit()),
        "{secret}"
    );
}

/// Shows: 3.1, 4.35
async fn inviting_again_sends_the_same_invitation_again(tenant: Tenant) {
    let email = format!("again@{}.example", tenant.name);
    let first = create(&tenant, &json!({"email": email})).await;
    let first_letter = tenant.server().letter(&email, 1).await;
    let again = json!({"email": email.to_uppercase(), "message": "Are you there?"});
    let answer = tenant
        .ada
        .send(Method::POST, &tenant.path("/invitations"), &again)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (201, first.clone())
    );
    let letter = tenant.server().letter(&email, 2).await;
    assert!(
        letter.text.contains("ada writes:\n\n> Are you there?"),
        "{}",
        letter.text
    );
    assert_ne!(letter.link(), first_letter.link());
    assert_eq!(pending(&tenant).await, json!([first]));
    assert_eq!(told(&tenant).await.len(), 1);
}

/// Shows: 3.2, 4.35, 7.4
async fn invitation_pending_delete_removes_it(tenant: Tenant) {
    let email = format!("gone@{}.example", tenant.name);
    let made = create(&tenant, &json!({"email": email})).await;
    let path = tenant.path(&format!("/invitations/{}", made["id"]));
    let answer = tenant.ada.send(Method::DELETE, &path, &Json::Null).await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (204, ""));
    assert_eq!(pending(&tenant).await, json!([]));
    assert_eq!(status(&tenant.ben, Method::GET, &path).await, 404);
    assert_eq!(status(&tenant.ben, Method::DELETE, &path).await, 404);
    let ada = tenant.ada.id.to_string();
    let uninvited = json!([ada, {"type": "uninvite", "description": {"email": email}}]);
    assert_eq!(told(&tenant).await.split_off(1), [uninvited]);
    let anew = create(&tenant, &json!({"email": email})).await;
    assert_ne!(anew["id"], made["id"]);
}

/// Shows: 3.2, 6.2
async fn invitation_pending_delete_by_the_guest_declines_it(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    assert_eq!(guest.caller.get(&guest.path).await, guest.invitation);
    assert_eq!(
        status(&guest.caller, Method::DELETE, &guest.path).await,
        204
    );
    assert_eq!(status(&guest.caller, Method::GET, &guest.path).await, 404);
    let (id, email) = (guest.caller.id.to_string(), &guest.caller.email);
    let declined = json!([id, {"type": "decline", "description": {"email": email}}]);
    assert_eq!(told(&tenant).await.split_off(1), [declined]);
    assert_eq!(
        status(&guest.caller, Method::GET, &tenant.path("")).await,
        404
    );
}

/// Shows: 3.1
async fn invitation_pending_put_accepted_by_the_guest_makes_it_accepted(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    assert_eq!(
        status(&guest.caller, Method::GET, &tenant.path("")).await,
        404,
        "a stranger until then"
    );
    let answer = guest.accept().await;
    let mut expected = guest.invitation.clone();
    expected["state"] = json!("accepted");
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (200, expected.clone())
    );
    guest.caller.say(&tenant.main, "hello").await;
    let join = json!([guest.caller.id.to_string(), {"type": "join", "description": "gus"}]);
    assert_eq!(told(&tenant).await.split_off(1), [join]);
    assert_eq!(pending(&tenant).await, json!([]), "it is not open any more");
    assert_eq!(tenant.ben.get(&guest.path).await, expected);
    let users = tenant.ada.get(&tenant.path("/users")).await;
    assert!(
        users
            .as_array()
            .unwrap()
            .iter()
            .any(|user| user["nick"] == "gus")
    );
    assert_eq!(guest.accept().await.json(), expected, "twice is once");
    assert_eq!(told(&tenant).await.len(), 2);
}

/// Shows: 3.3
async fn invitation_accepted_delete_is_refused(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    assert_eq!(guest.accept().await.status, 200);
    for caller in [&tenant.ben, &guest.caller] {
        let answer = caller.send(Method::DELETE, &guest.path, &Json::Null).await;
        assert_eq!(answer.status, 409);
        assert_eq!(
            answer.json()["message"],
            "the invitation was accepted already"
        );
    }
    assert_eq!(tenant.ben.get(&guest.path).await["state"], "accepted");
}

async fn who_is_removed_does_not_come_back_by_an_old_invitation(tenant: Tenant) {
    tenant.flow("side", &[&tenant.ada]);
    let mia = tenant.member("mia");
    let side = format!("/flows/{}/side/invitations", tenant.name);
    let invitation = tenant
        .ada
        .send(Method::POST, &side, &json!({"email": mia.email}))
        .await
        .success()
        .unwrap();
    let path = format!("{side}/{}", invitation.json()["id"]);
    assert_eq!(mia.get(&path).await["state"], "pending");
    let membership = format!("/organizations/{}/users/{}", tenant.name, mia.id);
    tenant
        .ada
        .does(Method::DELETE, &membership, &Json::Null)
        .await;
    assert_eq!(tenant.ada.get(&side).await, json!([]));
    let accepted = mia
        .send(Method::PUT, &path, &json!({"state": "accepted"}))
        .await;
    assert_eq!(accepted.status, 404);
}

/// Shows: 3.1
async fn an_accepted_invitation_lets_nobody_in_again(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    assert_eq!(guest.accept().await.status, 200);
    let leave = tenant.path(&format!("/users/{}", guest.caller.id));
    assert_eq!(status(&guest.caller, Method::DELETE, &leave).await, 204);
    assert_eq!(guest.accept().await.status, 200);
    assert_eq!(
        status(&guest.caller, Method::GET, &tenant.path("/messages")).await,
        403
    );
}

/// Shows: 1.8
async fn only_the_guest_accepts(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    let accepted = json!({"state": "accepted"});
    let (olga, stranger) = (
        tenant.user("olga"),
        tenant.neighbour().administrator("stella"),
    );
    for (caller, expected) in [
        (&tenant.ben, 403),
        (&tenant.ada, 403),
        (&olga, 403),
        (&stranger, 404),
    ] {
        assert_eq!(
            caller
                .send(Method::PUT, &guest.path, &accepted)
                .await
                .status,
            expected
        );
    }
    for body in [
        json!({}),
        json!({"state": null}),
        json!({"state": "pending"}),
        json!({"state": 1}),
    ] {
        let answer = guest.caller.send(Method::PUT, &guest.path, &body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.json()["errors"]["state"].is_array(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(guest.caller.get(&guest.path).await["state"], "pending");
}

/// Shows: 4.35
async fn whoever_may_not_know_of_invitations_cannot_probe_their_numbers(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    let (olga, stranger) = (
        tenant.user("olga"),
        tenant.neighbour().administrator("stella"),
    );
    for number in [
        "0",
        "-1",
        "x",
        "999999999",
        "9223372036854775808",
        &guest.invitation["id"].to_string(),
    ] {
        let path = tenant.path(&format!("/invitations/{number}"));
        for method in [Method::GET, Method::DELETE] {
            assert_eq!(status(&olga, method.clone(), &path).await, 403, "{number}");
            assert_eq!(status(&stranger, method, &path).await, 404, "{number}");
        }
    }
    let lobby = tenant.flow("lobby", &[&tenant.ben]);
    assert!(!lobby.is_empty());
    let elsewhere = format!(
        "/flows/{}/lobby/invitations/{}",
        tenant.name, guest.invitation["id"]
    );
    assert_eq!(
        status(&tenant.ben, Method::GET, &elsewhere).await,
        404,
        "it belongs to the other flow"
    );
    assert_eq!(status(&tenant.ben, Method::DELETE, &elsewhere).await, 404);
}

async fn who_is_in_the_flow_or_blocked_is_not_invited(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    let block = tenant.path(&format!("/users/{}", cleo.id));
    tenant
        .ada
        .does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    for (email, why) in [
        (&tenant.ada.email, "is in the flow already"),
        (&cleo.email, "is blocked from the flow"),
    ] {
        let answer = tenant
            .ben
            .send(
                Method::POST,
                &tenant.path("/invitations"),
                &json!({"email": email}),
            )
            .await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["message"]),
            (409, &json!(format!("{email} {why}")))
        );
    }
    assert_eq!(pending(&tenant).await, json!([]));
    let olga = tenant.user("olga");
    let made = create(&tenant, &json!({"email": olga.email})).await;
    assert_eq!(
        made["state"], "pending",
        "somebody of the organization is asked as well"
    );
}

/// Shows: 4.35
async fn what_is_no_invitation_is_refused(tenant: Tenant) {
    let email = "new@example.org";
    for (body, field) in [
        (json!({}), "email"),
        (json!({"email": null}), "email"),
        (json!({"email": ""}), "email"),
        (json!({"email": "nobody"}), "email"),
        (json!({"email": "a@x.org, b@x.org"}), "email"),
        (json!({"email": ["a@x.org"]}), "email"),
        (
            json!({"email": email, "message": "a".repeat(1001)}),
            "message",
        ),
        (
            json!({"email": email, "message": {"text": "hello"}}),
            "message",
        ),
    ] {
        let answer = tenant
            .ben
            .send(Method::POST, &tenant.path("/invitations"), &body)
            .await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.json()["errors"][field].is_array(),
            "{body}: {}",
            answer.text()
        );
    }
    assert_eq!(pending(&tenant).await, json!([]));
    assert_eq!(told(&tenant).await, Vec::<Json>::new());
    create(
        &tenant,
        &json!({"email": email, "message": "ä".repeat(1000)}),
    )
    .await;
}

async fn who_came_in_another_way_is_invited_no_more(tenant: Tenant) {
    let olga = tenant.user("olga");
    let made = create(&tenant, &json!({"email": olga.email})).await;
    tenant
        .ada
        .does(
            Method::POST,
            &tenant.path("/users"),
            &json!({"id": olga.id}),
        )
        .await;
    assert_eq!(pending(&tenant).await, json!([]));
    let path = tenant.path(&format!("/invitations/{}", made["id"]));
    assert_eq!(olga.get(&path).await["state"], "accepted");
}

async fn an_archived_flow_has_no_invitations(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": true}))
        .await;
    assert_eq!(guest.accept().await.status, 404);
    for caller in [&guest.caller, &tenant.ben] {
        assert_eq!(status(caller, Method::GET, &guest.path).await, 404);
        assert_eq!(status(caller, Method::DELETE, &guest.path).await, 404);
    }
    assert_eq!(
        status(&tenant.ben, Method::GET, &tenant.path("/invitations")).await,
        404
    );
    tenant
        .ada
        .does(Method::PUT, &tenant.path(""), &json!({"disabled": false}))
        .await;
    assert_eq!(guest.accept().await.status, 200, "it was only waiting");
}

async fn an_inactive_organization_changes_no_invitations(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--active", "false"]);
    let invitations = tenant.path("/invitations");
    let body = json!({"email": "new@example.org", "list": "new@example.org"});
    assert_eq!(
        tenant
            .ben
            .send(Method::POST, &invitations, &body)
            .await
            .status,
        403
    );
    assert_eq!(
        tenant
            .ben
            .send(Method::POST, &format!("{invitations}/import"), &body)
            .await
            .status,
        403
    );
    assert_eq!(guest.accept().await.status, 403);
    for caller in [&guest.caller, &tenant.ben] {
        assert_eq!(status(caller, Method::DELETE, &guest.path).await, 403);
        assert_eq!(
            caller.get(&guest.path).await["state"],
            "pending",
            "it can be read"
        );
    }
}

/// Shows: 8.4
async fn a_full_organization_takes_no_guest(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--user-limit", "2"]);
    let answer = guest.accept().await;
    assert_eq!(answer.status, 409, "{}", answer.text());
    assert_eq!(guest.caller.get(&guest.path).await["state"], "pending");
    assert_eq!(
        status(&guest.caller, Method::GET, &tenant.path("")).await,
        404
    );
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--user-limit", "3"]);
    assert_eq!(guest.accept().await.status, 200);
}

async fn a_guest_whose_nick_is_taken_must_choose_another_first(tenant: Tenant) {
    let guest = Stranger::invited(&tenant).await;
    tenant.user("gus");
    let answer = guest.accept().await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.json()["errors"]["nick"].is_array());
    assert_eq!(guest.caller.get(&guest.path).await["state"], "pending");
}

async fn an_address_is_the_same_in_any_case_and_spelling(tenant: Tenant) {
    let made = create(&tenant, &json!({"email": " Jörg@bücher.example "})).await;
    assert_eq!(made["email"], "Jörg@bücher.example");
    let same = create(&tenant, &json!({"email": "jörg@xn--bcher-kva.example"})).await;
    assert_eq!(same["id"], made["id"]);
    assert_eq!(pending(&tenant).await, json!([made]));
}

async fn a_flow_names_what_may_be_done_with_its_invitations(tenant: Tenant) {
    tenant
        .ada
        .does(
            Method::PUT,
            &tenant.path(""),
            &json!({"access_mode": "organization"}),
        )
        .await;
    let olga = tenant.user("olga");
    let methods = async |caller: &Caller| -> Json {
        caller.get(&tenant.path("")).await["links"]["invitations"]["methods"].clone()
    };
    assert_eq!(methods(&tenant.ben).await, json!(["GET", "POST"]));
    assert_eq!(methods(&olga).await, json!([]));
}
