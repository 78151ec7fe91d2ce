//! Accounts that belong to another organization too: there the reach of a provider ends.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Listener, PASSWORD, Provider, Tenant, Visitor, on_shared_servers};
use serde_json::json;

use super::domains::{choose_password, path_in};
use super::{at, is_refused, operations, patched};

on_shared_servers![
    a_patch_of_the_address_does_not_give_the_account_away,
    a_put_of_the_address_does_not_give_the_account_away,
    suspending_first_does_not_give_the_account_away,
    active_false_ends_the_membership_and_all_access_but_not_the_account,
    active_true_restores_the_memberships,
    a_suspended_user_comes_back_by_no_invitation,
    a_suspended_users_account_is_the_owners,
    the_last_administrator_is_suspended_too,
    nobody_comes_back_where_there_is_no_place,
    delete_leaves_a_shared_account_alone,
    name_nick_and_address_are_the_owners,
    only_the_first_suspension_ends_all_access,
    an_operator_unlinks_a_user,
    an_unlinked_user_of_one_organization_is_made_anew,
    organizations_below_are_within_reach,
    organizations_above_are_not_within_reach,
    an_operator_brings_a_suspended_user_back,
];

/// Somebody whom the provider of one organization made, for an address that is not that
/// organization's, and who joined another by an invitation.
struct Nina {
    elsewhere: Tenant,
    provider: Provider,
    user: Json,
    email: String,
    browser: Visitor,
}

impl Nina {
    async fn joined(tenant: &Tenant) -> Self {
        let (server, elsewhere) = (tenant.server(), tenant.neighbour());
        let provider = server.provider(&tenant.name);
        let email = format!("nina@{}.example", elsewhere.name);
        // A userName that is an address stands for the address.
        let made = provider
            .scim(Method::POST, "/Users", Some(&json!({"userName": email})))
            .await;
        assert_eq!(made.status, 201, "{}", made.text());
        let mut browser = server.visitor();
        choose_password(server, &mut browser, &email, 1).await;
        let invitation = json!({"email": email});
        elsewhere
            .ada
            .does(Method::POST, &elsewhere.path("/invitations"), &invitation)
            .await;
        let link = path_in(&server.letter(&email, 2).await, server);
        let joined = browser.post(&link, &[("do", "join")]).await;
        assert_eq!(joined.sent_on(), format!("/app/{}", elsewhere.main));
        Self {
            elsewhere,
            provider,
            user: made.json(),
            email,
            browser,
        }
    }

    /// The provider has stated another address: the account keeps its own, and so does Nina.
    async fn keeps_the_account_against(mut self, eve: &str) {
        let server = self.elsewhere.server();
        assert_eq!(
            self.provider.get(&at(&self.user)).await["emails"][0]["value"],
            self.email
        );
        let mut other = server.visitor();
        for email in [eve, &self.email] {
            other.post("/password", &[("email", email)]).await;
        }
        let reset = path_in(&server.letter(&self.email, 3).await, server);
        assert_eq!(server.letters_to(eve), []);
        let page = self
            .browser
            .post(&reset, &[("password", "seven quiet herons at dawn")])
            .await;
        assert_eq!(page.sent_on(), "/app");
        self.browser
            .get("/app")
            .await
            .says(200, &format!("/app/{}", self.elsewhere.main));
    }
}

fn eve(tenant: &Tenant) -> String {
    format!("eve@{}.example", tenant.name)
}

/// Has the provider set an address by PUT.
async fn put_address(provider: &Provider, user: &Json, email: &str) {
    let body = json!({"userName": user["userName"], "emails": [{"value": email}]});
    let answer = provider.scim(Method::PUT, &at(user), Some(&body)).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["emails"]),
        (200, &user["emails"])
    );
}

async fn a_patch_of_the_address_does_not_give_the_account_away(tenant: Tenant) {
    // Not even within a domain of the organization.
    let domain = format!("{}.example", tenant.name);
    tenant.server().admin(&[
        "org",
        "domain",
        "add",
        "--org",
        &tenant.name,
        "--domain",
        &domain,
    ]);
    let (nina, eve) = (Nina::joined(&tenant).await, eve(&tenant));
    let emails = json!([{"op": "replace", "path": "emails", "value": [{"value": eve}]}]);
    patched(&nina.provider, &nina.user, emails).await;
    nina.keeps_the_account_against(&eve).await;
}

async fn a_put_of_the_address_does_not_give_the_account_away(tenant: Tenant) {
    let (nina, eve) = (Nina::joined(&tenant).await, eve(&tenant));
    // Another userName is no other address, even if it is one.
    let named = nina
        .provider
        .scim(
            Method::PUT,
            &at(&nina.user),
            Some(&json!({"userName": eve})),
        )
        .await
        .json();
    assert_eq!(
        (&named["userName"], &named["emails"][0]["value"]),
        (&json!(eve), &json!(nina.email))
    );
    put_address(&nina.provider, &nina.user, &eve).await;
    nina.keeps_the_account_against(&eve).await;
}

async fn suspending_first_does_not_give_the_account_away(tenant: Tenant) {
    let (nina, eve) = (Nina::joined(&tenant).await, eve(&tenant));
    set_active(&nina.provider, &nina.user, false).await;
    set_active(&nina.provider, &nina.user, true).await;
    put_address(&nina.provider, &nina.user, &eve).await;
    set_active(&nina.provider, &nina.user, false).await;
    nina.keeps_the_account_against(&eve).await;
}

async fn set_active(provider: &Provider, user: &Json, active: bool) -> Json {
    let changed = patched(
        provider,
        user,
        json!([{"op": "replace", "path": "active", "value": active}]),
    )
    .await;
    assert_eq!(changed["active"], active);
    assert_eq!(provider.get(&at(user)).await["active"], active);
    changed
}

/// Brings somebody into another organization, under this nick.
fn join(tenant: &Tenant, organization: &str, email: &str, more: &[&str]) {
    let arguments = [
        "user",
        "create",
        "--org",
        organization,
        "--email",
        email,
        "--name",
        "N",
        "--nick",
        "n",
    ];
    tenant.server().admin(&[&arguments[..], more].concat());
}

/// Ben, whom the provider of his organization knows, and who belongs to another one too.
async fn ben_of_two(tenant: &Tenant) -> (Tenant, Provider, Json) {
    let (server, elsewhere) = (tenant.server(), tenant.neighbour());
    let provider = server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    // There is a ben there already.
    let nick = format!("ben-of-{}", tenant.name);
    tenant
        .ben
        .does(Method::PUT, "/user", &json!({"nick": nick}))
        .await;
    join(tenant, &elsewhere.name, &tenant.ben.email, &[]);
    server.admin(&[
        "flow",
        "add-user",
        "--flow",
        &elsewhere.main,
        "--email",
        &tenant.ben.email,
    ]);
    let ben = provider.get(&format!("/Users/{}", tenant.ben.id)).await;
    (elsewhere, provider, ben)
}

async fn status(caller: &Caller, path: &str) -> u16 {
    caller
        .by_password()
        .request(Method::GET, path)
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

/// The names in URLs of the organizations that somebody belongs to.
async fn organizations(caller: &Caller) -> Vec<String> {
    let listed: Json = caller
        .by_password()
        .request(Method::GET, "/organizations")
        .call()
        .await
        .unwrap();
    let name = |organization: &Json| {
        organization["parameterized_name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    listed.as_array().unwrap().iter().map(name).collect()
}

/// Shows: 3.16
async fn active_false_ends_the_membership_and_all_access_but_not_the_account(tenant: Tenant) {
    let server = tenant.server();
    let (elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let robot = server.robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "flow offline_access").await;
    let mut browser = server.signed_in(&tenant.ben.email, PASSWORD).await;
    set_active(&provider, &ben, false).await;
    assert_eq!(
        tenant
            .ben
            .client
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status,
        401
    );
    assert_eq!(robot.status(&tokens["access_token"]).await, 401);
    assert!(
        browser
            .get("/account")
            .await
            .sent_on()
            .starts_with("/sign-in"),
        "the session has ended"
    );
    // The account is the owner's and the other organization's.
    let mut browser = server.signed_in(&tenant.ben.email, PASSWORD).await;
    assert_eq!(organizations(&tenant.ben).await, [elsewhere.name.as_str()]);
    assert_eq!(
        status(&tenant.ben, &format!("/flows/{}", tenant.main)).await,
        404
    );
    assert_eq!(
        status(&tenant.ben, &format!("/flows/{}", elsewhere.main)).await,
        200
    );
    let listed = tenant
        .ada
        .get(&format!("/organizations/{}/users", tenant.name))
        .await;
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .all(|user| user["id"] != tenant.ben.id)
    );
    // Said again, it ends nothing that the owner has begun since.
    set_active(&provider, &ben, false).await;
    browser.get("/account").await.says(200, "Sign out");
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name, "--limit", "1"]);
    assert_eq!(audit["records"][0]["action"], "user.update");
    assert_eq!(
        audit["records"][0]["detail"],
        json!({"active": [true, false], "member": [true, false]})
    );
}

async fn active_true_restores_the_memberships(tenant: Tenant) {
    let server = tenant.server();
    let (elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let child = format!("{}-child", tenant.name);
    let arguments = [
        "org",
        "create",
        "--name",
        &child,
        "--parameterized-name",
        &child,
        "--parent",
        &tenant.name,
    ];
    server.admin(&arguments);
    join(&tenant, &child, &tenant.ben.email, &["--admin"]);
    set_active(&provider, &ben, false).await;
    assert_eq!(organizations(&tenant.ben).await, [elsewhere.name.as_str()]);
    let shown = set_active(&provider, &ben, true).await;
    assert_eq!(shown["emails"][0]["value"], tenant.ben.email);
    let mut names = organizations(&tenant.ben).await;
    names.sort();
    let mut expected = vec![tenant.name.clone(), child.clone(), elsewhere.name.clone()];
    expected.sort();
    assert_eq!(names, expected);
    let people: Json = tenant
        .ben
        .by_password()
        .request(Method::GET, &format!("/organizations/{child}/users"))
        .call()
        .await
        .unwrap();
    assert_eq!(
        (&people[0]["id"], &people[0]["admin"]),
        (&json!(tenant.ben.id), &json!(true))
    );
    assert_eq!(
        status(&tenant.ben, &format!("/flows/{}", tenant.main)).await,
        403,
        "into no flow"
    );
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name, "--limit", "1"]);
    assert_eq!(
        audit["records"][0]["detail"],
        json!({"active": [false, true], "member": [false, true]})
    );
}

async fn a_suspended_user_comes_back_by_no_invitation(tenant: Tenant) {
    let (_elsewhere, provider, ben) = ben_of_two(&tenant).await;
    set_active(&provider, &ben, false).await;
    let invited = json!({"email": tenant.ben.email});
    let invited = tenant
        .ada
        .send(Method::POST, &tenant.path("/invitations"), &invited)
        .await;
    let invitation = tenant.path(&format!("/invitations/{}", invited.json()["id"]));
    let accepting = tenant.ben.by_password();
    let accepting = accepting
        .request(Method::PUT, &invitation)
        .json(&json!({"state": "accepted"}));
    assert_eq!(accepting.send().await.unwrap().status, 403);
    assert_eq!(provider.get(&at(&ben)).await["active"], false);
    set_active(&provider, &ben, true).await;
}

async fn a_suspended_users_account_is_the_owners(tenant: Tenant) {
    let (_elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let off = json!({
        "active": false, "name": {"givenName": "Not", "familyName": "Ben"}, "nickName": "notben",
        "emails": [{"value": eve(&tenant)}], "externalId": "x1",
    });
    let shown = provider
        .scim(Method::PUT, &at(&ben), Some(&off))
        .await
        .json();
    assert_eq!(
        (&shown["active"], &shown["externalId"]),
        (&json!(false), &json!("x1"))
    );
    for attribute in ["emails", "nickName", "displayName"] {
        assert_eq!(shown[attribute], ben[attribute], "{attribute}");
    }
    assert_eq!(provider.get(&at(&ben)).await, shown);
}

async fn the_last_administrator_is_suspended_too(tenant: Tenant) {
    let (server, elsewhere) = (tenant.server(), tenant.neighbour());
    let provider = server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ada.email,
    ]);
    tenant
        .ada
        .does(Method::PUT, "/user", &json!({"nick": "ada.of.two"}))
        .await;
    join(&tenant, &elsewhere.name, &tenant.ada.email, &[]);
    let ada = provider.get(&format!("/Users/{}", tenant.ada.id)).await;
    set_active(&provider, &ada, false).await;
    assert_eq!(organizations(&tenant.ada).await, [elsewhere.name.as_str()]);
    set_active(&provider, &ada, true).await;
    assert_eq!(
        status(
            &tenant.ada,
            &format!("/organizations/{}/users", tenant.name)
        )
        .await,
        200
    );
}

async fn nobody_comes_back_where_there_is_no_place(tenant: Tenant) {
    let server = tenant.server();
    let (_elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let limit = |count: &str| {
        server.admin(&[
            "org",
            "update",
            "--org",
            &tenant.name,
            "--user-limit",
            count,
        ]);
    };
    let on = operations(&json!([{"op": "replace", "path": "active", "value": true}]));
    set_active(&provider, &ben, false).await;
    limit("1");
    is_refused(
        &provider.scim(Method::PATCH, &at(&ben), Some(&on)).await,
        400,
        Some("invalidValue"),
    );
    assert_eq!(provider.get(&at(&ben)).await["active"], false);
    limit("9");
    // Somebody else there has the nick by now.
    tenant.user(ben["nickName"].as_str().unwrap());
    is_refused(
        &provider.scim(Method::PATCH, &at(&ben), Some(&on)).await,
        409,
        Some("uniqueness"),
    );
    // The nick of a shared account is for its owner to change.
    let nick = operations(&json!([
        {"op": "replace", "path": "active", "value": true},
        {"op": "replace", "path": "nickName", "value": "benjamin"},
    ]));
    is_refused(
        &provider.scim(Method::PATCH, &at(&ben), Some(&nick)).await,
        409,
        Some("uniqueness"),
    );
    let own = tenant
        .ben
        .by_password()
        .request(Method::PUT, "/user")
        .json(&json!({"nick": "benjamin"}));
    assert_eq!(own.send().await.unwrap().status, 200);
    assert_eq!(
        set_active(&provider, &ben, true).await["nickName"],
        "benjamin"
    );
}

async fn name_nick_and_address_are_the_owners(tenant: Tenant) {
    let (_elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let names = json!([
        {"op": "replace", "path": "displayName", "value": "Not Ben"},
        {"op": "replace", "path": "nickName", "value": "notben"},
        {"op": "replace", "path": "emails", "value": [{"value": eve(&tenant)}]},
        {"op": "replace", "path": "externalId", "value": "x1"},
    ]);
    let shown = patched(&provider, &ben, names).await;
    assert_eq!(shown["externalId"], "x1");
    for attribute in ["emails", "nickName", "displayName", "name"] {
        assert_eq!(shown[attribute], ben[attribute], "{attribute}");
    }
    assert_eq!(tenant.ben.get("/user").await["email"], tenant.ben.email);
}

async fn only_the_first_suspension_ends_all_access(tenant: Tenant) {
    let server = tenant.server();
    let (elsewhere, provider, ben) = ben_of_two(&tenant).await;
    set_active(&provider, &ben, false).await;
    assert_eq!(status(&tenant.ben, "/user").await, 200);
    let mut browser = server.signed_in(&tenant.ben.email, PASSWORD).await;
    let token = server.admin(&["user", "token", "--email", &tenant.ben.email]);
    let own = server
        .client()
        .api_token(token["api_token"].as_str().unwrap())
        .build()
        .unwrap();
    let mut stream = None;
    for round in 0..3 {
        set_active(&provider, &ben, true).await;
        server.admin(&[
            "flow",
            "add-user",
            "--flow",
            &tenant.main,
            "--email",
            &tenant.ben.email,
        ]);
        if stream.is_none() {
            stream = Some(Listener::to(&own, &[&tenant.main, &elsewhere.main]).await);
        }
        set_active(&provider, &ben, false).await;
        set_active(&provider, &ben, false).await;
        tenant.ada.say(&tenant.main, "secret").await;
        let mark = format!("round {round}");
        elsewhere.ada.say(&elsewhere.main, &mark).await;
        assert_eq!(stream.as_mut().unwrap().texts_through(&mark).await, [mark]);
        assert_eq!(
            own.request(Method::GET, "/user")
                .send()
                .await
                .unwrap()
                .status,
            200
        );
        browser.get("/account").await.says(200, "Sign out");
        assert_eq!(organizations(&tenant.ben).await, [elsewhere.name.as_str()]);
    }
}

async fn an_operator_unlinks_a_user(tenant: Tenant) {
    let server = tenant.server();
    let (elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let unlink = [
        "scim",
        "unlink",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ];
    set_active(&provider, &ben, false).await;
    assert_eq!(server.admin(&unlink)["id"], tenant.ben.id);
    let on = operations(&json!([{"op": "replace", "path": "active", "value": true}]));
    is_refused(
        &provider.scim(Method::PATCH, &at(&ben), Some(&on)).await,
        404,
        None,
    );
    let again = json!({"userName": tenant.ben.email});
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&again)).await,
        409,
        Some("uniqueness"),
    );
    assert_eq!(organizations(&tenant.ben).await, [elsewhere.name.as_str()]);
    let refused = server.try_admin(&unlink).unwrap_err();
    assert!(refused.contains("provider"), "{refused}");
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name, "--limit", "1"]);
    assert_eq!(
        (
            &audit["records"][0]["action"],
            &audit["records"][0]["actor"]
        ),
        (&json!("user.unlink"), &json!("operator"))
    );
}

async fn an_unlinked_user_of_one_organization_is_made_anew(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    server.admin(&[
        "scim",
        "unlink",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    is_refused(
        &provider
            .scim(Method::GET, &format!("/Users/{}", tenant.ben.id), None)
            .await,
        404,
        None,
    );
    assert_eq!(
        tenant.ben.get(&format!("/flows/{}", tenant.main)).await["parameterized_name"],
        "main"
    );
    let made = provider.makes(&tenant.ben.email, ("Ben", "King")).await;
    assert_eq!(made["id"], tenant.ben.id.to_string());
}

/// Shows: 3.17
async fn delete_leaves_a_shared_account_alone(tenant: Tenant) {
    let server = tenant.server();
    let (elsewhere, provider, ben) = ben_of_two(&tenant).await;
    let mut browser = server.signed_in(&tenant.ben.email, PASSWORD).await;
    set_active(&provider, &ben, false).await;
    let removed = provider.scim(Method::DELETE, &at(&ben), None).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    assert!(
        browser
            .get("/account")
            .await
            .sent_on()
            .starts_with("/sign-in"),
        "the session has ended"
    );
    is_refused(
        &provider.scim(Method::GET, &at(&ben), None).await,
        404,
        None,
    );
    assert_eq!(organizations(&tenant.ben).await, [elsewhere.name.as_str()]);
    assert_eq!(
        status(&tenant.ben, &format!("/flows/{}", elsewhere.main)).await,
        200
    );
    // The provider cannot make somebody of an account that is another organization's.
    let again = json!({"userName": tenant.ben.email});
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&again)).await,
        409,
        Some("uniqueness"),
    );
}

/// An organization with another below it, to both of which somebody belongs.
fn family(tenant: &Tenant) -> (String, Caller) {
    let child = format!("{}-below", tenant.name);
    let arguments = [
        "org",
        "create",
        "--name",
        &child,
        "--parameterized-name",
        &child,
        "--parent",
        &tenant.name,
    ];
    tenant.server().admin(&arguments);
    let zoe = tenant.user("zoe");
    join(tenant, &child, &zoe.email, &[]);
    (child, zoe)
}

async fn organizations_below_are_within_reach(tenant: Tenant) {
    let (child, zoe) = family(&tenant);
    let provider = tenant.server().provider(&tenant.name);
    tenant
        .server()
        .admin(&["scim", "link", "--org", &tenant.name, "--email", &zoe.email]);
    let user = provider.get(&format!("/Users/{}", zoe.id)).await;
    set_active(&provider, &user, false).await;
    assert_eq!(
        status(&zoe, "/user").await,
        401,
        "the whole account is inactive"
    );
    set_active(&provider, &user, true).await;
    assert_eq!(organizations(&zoe).await, [tenant.name.as_str(), &child]);
}

async fn organizations_above_are_not_within_reach(tenant: Tenant) {
    let (child, zoe) = family(&tenant);
    let provider = tenant.server().provider(&child);
    tenant
        .server()
        .admin(&["scim", "link", "--org", &child, "--email", &zoe.email]);
    let user = provider.get(&format!("/Users/{}", zoe.id)).await;
    set_active(&provider, &user, false).await;
    assert_eq!(organizations(&zoe).await, [tenant.name.as_str()]);
    set_active(&provider, &user, true).await;
    assert_eq!(organizations(&zoe).await, [tenant.name.as_str(), &child]);
}

async fn an_operator_brings_a_suspended_user_back(tenant: Tenant) {
    let (_elsewhere, provider, ben) = ben_of_two(&tenant).await;
    set_active(&provider, &ben, false).await;
    join(&tenant, &tenant.name, &tenant.ben.email, &[]);
    assert_eq!(
        provider.get(&at(&ben)).await["active"],
        true,
        "the provider sees it"
    );
    set_active(&provider, &ben, false).await;
    set_active(&provider, &ben, true).await;
}
