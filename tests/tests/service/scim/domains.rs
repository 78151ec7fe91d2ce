//! For which addresses the word of a provider is enough: those of the domains that an operator gave
//! to its organization. Elsewhere a mailed link proves them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Letter, PASSWORD, Provider, Server, Tenant, Visitor, on_shared_servers};
use serde_json::json;

use super::{at, is_refused, patched};

on_shared_servers![
    a_provider_makes_proved_accounts_within_its_domains_only,
    whoever_signs_up_by_an_invitation_displaces_an_account_that_nobody_used,
    an_account_that_its_owner_uses_is_not_displaced,
    an_invitation_into_the_own_organization_leads_to_the_account,
    a_provider_displaces_a_squatter_within_its_domains_only,
    a_domain_counts_for_accounts_that_were_there_and_ceases_to,
    a_domain_proves_no_address_that_its_user_entered,
    a_domain_of_the_organization_above_counts_below,
    a_change_within_the_domains_is_the_organizations,
    a_change_of_a_proved_address_can_be_undone,
    a_former_user_comes_back_by_no_address_that_they_entered,
];

/// Not easy to guess for anybody.
pub(super) const NEW_PASSWORD: &str = "violet umbrella on the tram";

/// The path of the link in a letter.
pub(super) fn path_in(letter: &Letter, server: &Server) -> String {
    letter
        .link()
        .strip_prefix(server.base_url())
        .expect("a link leads to the server")
        .to_owned()
}

/// Has a link to a new password mailed, which is this letter to the address, and follows it.
pub(super) async fn choose_password(
    server: &Server,
    browser: &mut Visitor,
    email: &str,
    letter: usize,
) {
    browser.post("/password", &[("email", email)]).await;
    let link = path_in(&server.letter(email, letter).await, server);
    assert_eq!(
        browser
            .post(&link, &[("password", NEW_PASSWORD)])
            .await
            .sent_on(),
        "/app"
    );
}

/// Gives a domain to an organization, or takes it away, and gives the answer.
fn domain(tenant: &Tenant, command: &str, organization: &str, domain: &str) -> Json {
    tenant.server().admin(&[
        "org",
        "domain",
        command,
        "--org",
        organization,
        "--domain",
        domain,
    ])
}

/// The domain of the people of an organization.
fn own_domain(tenant: &Tenant) -> String {
    format!("{}.example", tenant.name)
}

/// Invites an address, and gives the path of the page, of which this letter tells.
async fn invited(by: &Tenant, email: &str, letter: usize) -> String {
    by.ada
        .does(
            Method::POST,
            &by.path("/invitations"),
            &json!({"email": email}),
        )
        .await;
    path_in(&by.server().letter(email, letter).await, by.server())
}

/// Whether the page of an invitation finds that the address has an account that keeps it.
async fn finds_account(tenant: &Tenant, invitation: &str) -> bool {
    let page = tenant.server().visitor().get(invitation).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let (sign_in, sign_up) = (
        "autocomplete=\"current-password\"",
        "autocomplete=\"nickname\"",
    );
    assert_ne!(
        page.text.contains(sign_in),
        page.text.contains(sign_up),
        "{}",
        page.text
    );
    page.text.contains(sign_in)
}

async fn sign_up(tenant: &Tenant, invitation: &str, nick: &str) {
    let mut browser = tenant.server().visitor();
    let fields = [
        ("do", "sign-up"),
        ("name", "Grace Hopper"),
        ("nick", nick),
        ("password", NEW_PASSWORD),
    ];
    let page = browser.post(invitation, &fields).await;
    assert!(page.sent_on().starts_with("/app/"), "{}", page.sent_on());
}

async fn address(provider: &Provider, user: &Json) -> String {
    provider.get(&at(user)).await["emails"][0]["value"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn a_provider_makes_proved_accounts_within_its_domains_only(tenant: Tenant) {
    let elsewhere = tenant.neighbour();
    let provider = tenant.server().provider(&tenant.name);
    domain(&tenant, "add", &tenant.name, &own_domain(&tenant));
    for (email, is_proved) in [
        (format!("in@{}", own_domain(&tenant)), true),
        (format!("In2@{}", own_domain(&tenant).to_uppercase()), true),
        (format!("below@mail.{}", own_domain(&tenant)), false),
        (format!("longer@not{}", own_domain(&tenant)), false),
        (format!("out@{}", own_domain(&elsewhere)), false),
    ] {
        let user = provider.makes(&email, ("New", "User")).await;
        let (local, host) = email.split_once('@').unwrap();
        // A letter names the host in small letters.
        let invitation = invited(&elsewhere, &format!("{local}@{}", host.to_lowercase()), 1).await;
        assert_eq!(
            finds_account(&tenant, &invitation).await,
            is_proved,
            "{email}"
        );
        let audit =
            tenant
                .server()
                .admin(&["scim", "audit", "--org", &tenant.name, "--limit", "1"]);
        assert_eq!(
            audit["records"][0]["detail"]["proved"], is_proved,
            "{email}"
        );
        assert_eq!(
            audit["records"][0]["user"].to_string(),
            user["id"].as_str().unwrap()
        );
    }
}

async fn whoever_signs_up_by_an_invitation_displaces_an_account_that_nobody_used(tenant: Tenant) {
    let elsewhere = tenant.neighbour();
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("grace@{}", own_domain(&elsewhere));
    let user = provider.makes(&email, ("Not", "Grace")).await;
    let invitation = invited(&elsewhere, &email, 1).await;
    sign_up(&tenant, &invitation, "grace").await;
    let listed = elsewhere
        .ada
        .get(&format!("/organizations/{}/users", elsewhere.name))
        .await;
    let grace = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["email"] == *email)
        .unwrap();
    assert_ne!(grace["id"].to_string(), user["id"].as_str().unwrap());
    // What the provider is shown is true, and it cannot take the address back.
    assert!(
        address(&provider, &user)
            .await
            .ends_with("@unproved.invalid")
    );
    let body = json!({"emails": [{"value": email}]});
    is_refused(
        &provider.scim(Method::PUT, &at(&user), Some(&body)).await,
        409,
        Some("uniqueness"),
    );
}

async fn an_account_that_its_owner_uses_is_not_displaced(tenant: Tenant) {
    let elsewhere = tenant.neighbour();
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("grace@{}", own_domain(&elsewhere));
    provider.makes(&email, ("Grace", "Hopper")).await;
    let mut browser = tenant.server().visitor();
    choose_password(tenant.server(), &mut browser, &email, 1).await;
    let invitation = invited(&elsewhere, &email, 2).await;
    assert!(finds_account(&tenant, &invitation).await);
    let fields = [
        ("do", "sign-up"),
        ("name", "Grace"),
        ("nick", "grace"),
        ("password", NEW_PASSWORD),
    ];
    tenant
        .server()
        .visitor()
        .post(&invitation, &fields)
        .await
        .says(409, "This address has an account by now");
}

async fn an_invitation_into_the_own_organization_leads_to_the_account(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let email = format!("grace@{}", own_domain(&tenant));
    let user = provider.makes(&email, ("Grace", "Hopper")).await;
    let invitation = invited(&tenant, &email, 1).await;
    assert!(
        finds_account(&tenant, &invitation).await,
        "it was made for this organization"
    );
    let mut browser = server.visitor();
    choose_password(server, &mut browser, &email, 2).await;
    assert_eq!(
        browser.post(&invitation, &[("do", "join")]).await.sent_on(),
        format!("/app/{}", tenant.main)
    );
    let people = tenant.ada.get(&tenant.path("/users")).await;
    assert!(
        people
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["id"] == user["id"].as_str().unwrap().parse::<i64>().unwrap())
    );
}

async fn a_provider_displaces_a_squatter_within_its_domains_only(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    let email = format!("ceo@{}", own_domain(&tenant));
    let squatter = tenant.neighbour().user("squatter");
    let change = json!({"email": email, "current_password": PASSWORD});
    squatter.does(Method::PUT, "/user", &change).await;
    let body = json!({"userName": email});
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        409,
        Some("uniqueness"),
    );
    let ceo = provider
        .makes(&format!("boss@{}", own_domain(&tenant)), ("The", "Boss"))
        .await;
    let change = json!({"emails": [{"value": email}]});
    is_refused(
        &provider.scim(Method::PUT, &at(&ceo), Some(&change)).await,
        409,
        Some("uniqueness"),
    );
    assert_eq!(squatter.get("/user").await["email"], email);
    domain(&tenant, "add", &tenant.name, &own_domain(&tenant));
    assert_eq!(
        provider
            .scim(Method::PUT, &at(&ceo), Some(&change))
            .await
            .status,
        200
    );
    assert_eq!(squatter.get("/user").await["email"], squatter.email);
}

async fn a_domain_counts_for_accounts_that_were_there_and_ceases_to(tenant: Tenant) {
    let (server, elsewhere) = (tenant.server(), tenant.neighbour());
    let provider = server.provider(&tenant.name);
    let email = |name: &str| format!("{name}@{}", own_domain(&tenant));
    let (unused, used) = (email("unused"), email("used"));
    for one in [&unused, &used] {
        provider.makes(one, ("A", "User")).await;
    }
    let mut browser = server.visitor();
    choose_password(server, &mut browser, &used, 1).await;
    let (of_unused, of_used) = (
        invited(&elsewhere, &unused, 1).await,
        invited(&elsewhere, &used, 2).await,
    );
    assert!(!finds_account(&tenant, &of_unused).await && finds_account(&tenant, &of_used).await);
    assert_eq!(
        domain(&tenant, "add", &tenant.name, &own_domain(&tenant))["proved"],
        1
    );
    assert!(finds_account(&tenant, &of_unused).await && finds_account(&tenant, &of_used).await);
    assert_eq!(
        domain(&tenant, "remove", &tenant.name, &own_domain(&tenant))["unproved"],
        1
    );
    assert!(!finds_account(&tenant, &of_unused).await);
    assert!(
        finds_account(&tenant, &of_used).await,
        "a mailed link has proved it"
    );
    let audit = server.admin(&["scim", "audit", "--org", &tenant.name, "--limit", "2"]);
    let deeds = [
        &audit["records"][1]["action"],
        &audit["records"][0]["action"],
    ];
    assert_eq!(deeds, [&json!("domain.add"), &json!("domain.remove")]);
    assert_eq!(
        audit["records"][1]["detail"],
        json!({"domain": own_domain(&tenant), "proved": 1})
    );
}

async fn a_domain_proves_no_address_that_its_user_entered(tenant: Tenant) {
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
    let email = format!("ceo@{}", own_domain(&tenant));
    let change = json!({"email": email, "current_password": PASSWORD});
    tenant.ben.does(Method::PUT, "/user", &change).await;
    // A provider that sends back what it read does not state it.
    let ben = provider.get(&format!("/Users/{}", tenant.ben.id)).await;
    assert_eq!(
        provider
            .scim(Method::PUT, &at(&ben), Some(&ben))
            .await
            .status,
        200
    );
    let invitation = invited(&elsewhere, &email, 1).await;
    assert_eq!(
        domain(&tenant, "add", &tenant.name, &own_domain(&tenant))["proved"],
        0
    );
    assert!(!finds_account(&tenant, &invitation).await);
}

async fn a_domain_of_the_organization_above_counts_below(tenant: Tenant) {
    let (server, elsewhere) = (tenant.server(), tenant.neighbour());
    let child = format!("{}-labs", tenant.name);
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
    let (above, below) = (own_domain(&tenant), format!("labs.{}", own_domain(&tenant)));
    domain(&tenant, "add", &tenant.name, &above);
    domain(&tenant, "add", &child, &below);
    let (of_parent, of_child) = (server.provider(&tenant.name), server.provider(&child));
    for (provider, email, is_proved) in [
        (&of_child, format!("one@{above}"), true),
        (&of_child, format!("two@{below}"), true),
        (&of_parent, format!("three@{below}"), false),
    ] {
        provider.makes(&email, ("A", "User")).await;
        let invitation = invited(&elsewhere, &email, 1).await;
        assert_eq!(
            finds_account(&tenant, &invitation).await,
            is_proved,
            "{email}"
        );
    }
    // One organization has it, so that no other tree does.
    for organization in [&child, &elsewhere.name] {
        let line = [
            "org",
            "domain",
            "add",
            "--org",
            organization,
            "--domain",
            &above,
        ];
        let refused = server.try_admin(&line).unwrap_err();
        assert!(
            refused.contains(&format!("belongs to the organization {}", tenant.name)),
            "{refused}"
        );
    }
}

async fn a_change_within_the_domains_is_the_organizations(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    domain(&tenant, "add", &tenant.name, &own_domain(&tenant));
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let ben = provider.get(&format!("/Users/{}", tenant.ben.id)).await;
    let email = format!("ben.jones@{}", own_domain(&tenant));
    patched(
        &provider,
        &ben,
        json!([{"op": "replace", "path": "emails", "value": [{"value": email}]}]),
    )
    .await;
    assert!(
        server
            .letter(&tenant.ben.email, 1)
            .await
            .text
            .contains(&email)
    );
    let mut browser = server.visitor();
    choose_password(server, &mut browser, &email, 1).await;
}

async fn a_change_of_a_proved_address_can_be_undone(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    // A domain does not stretch to an account with an address outside of it.
    domain(
        &tenant,
        "add",
        &tenant.name,
        &format!("other.{}", own_domain(&tenant)),
    );
    server.admin(&[
        "scim",
        "link",
        "--org",
        &tenant.name,
        "--email",
        &tenant.ben.email,
    ]);
    let ben = provider.get(&format!("/Users/{}", tenant.ben.id)).await;
    let email = format!("ben@other.{}", own_domain(&tenant));
    patched(
        &provider,
        &ben,
        json!([{"op": "replace", "path": "emails", "value": [{"value": email}]}]),
    )
    .await;
    let undo = path_in(&server.letter(&tenant.ben.email, 1).await, server);
    let mut browser = server.visitor();
    // Whichever address is entered, the link goes to the one that is the owner's.
    browser.post("/password", &[("email", &email)]).await;
    server.letter(&tenant.ben.email, 2).await;
    assert_eq!(server.letters_to(&email), []);
    let etag = provider.get(&at(&ben)).await["meta"]["version"].clone();
    browser.post(&undo, &[]).await;
    let shown = provider.get(&at(&ben)).await;
    assert_eq!(shown["emails"][0]["value"], tenant.ben.email);
    assert_ne!(shown["meta"]["version"], etag);
}

async fn a_former_user_comes_back_by_no_address_that_they_entered(tenant: Tenant) {
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
    let path = format!("/Users/{}", tenant.ben.id);
    assert_eq!(provider.scim(Method::DELETE, &path, None).await.status, 204);
    let email = format!("ceo@{}", own_domain(&tenant));
    let entering = tenant.ben.by_password();
    let entering = entering
        .request(Method::PUT, "/user")
        .json(&json!({"email": email}));
    assert_eq!(entering.send().await.unwrap().status, 200);
    let body = json!({"userName": email});
    is_refused(
        &provider.scim(Method::POST, "/Users", Some(&body)).await,
        409,
        Some("uniqueness"),
    );
    domain(&tenant, "add", &tenant.name, &own_domain(&tenant));
    let made = provider.makes(&email, ("The", "Boss")).await;
    assert_ne!(made["id"].as_str().unwrap(), tenant.ben.id.to_string());
}
