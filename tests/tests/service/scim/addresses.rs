//! No changes of an address by a provider, in whatever order, give an account in use to the reader
//! of another mailbox.

use eddyline_client::Json;
use eddyline_tests::{Provider, Server, Tenant, on_both_databases, on_shared_servers};
use serde_json::json;

use super::domains::{choose_password, path_in};
use super::patched;

on_shared_servers![
    the_way_back_to_the_owners_address_does_not_give_the_account_away,
    an_undone_change_does_not_give_the_account_away,
];
on_both_databases![&["--password-attempts-per-address", "10000"];
    no_sequence_of_addresses_gives_an_account_away
];

/// An organization with a domain, and its provider.
struct Home {
    server: &'static Server,
    organization: String,
    provider: Provider,
}

impl Home {
    fn with_domain(server: &Server, organization: &str) -> (Provider, String) {
        let domain = format!("{organization}.example");
        server.admin(&[
            "org",
            "domain",
            "add",
            "--org",
            organization,
            "--domain",
            &domain,
        ]);
        (server.provider(organization), domain)
    }

    fn of(tenant: &Tenant) -> Self {
        let (provider, _) = Self::with_domain(tenant.server(), &tenant.name);
        Self {
            server: tenant.server(),
            organization: tenant.name.clone(),
            provider,
        }
    }

    /// An address of the organization's domain.
    fn address(&self, name: &str) -> String {
        format!("{name}@{}.example", self.organization)
    }

    fn private(&self) -> String {
        format!("nina@{}.home.example", self.organization)
    }
}

/// Makes an account with a proved address and without a password, which its owner uses by an API
/// token, and has the provider know it.
async fn nina(
    server: &Server,
    provider: &Provider,
    organization: &str,
    (email, nick): (&str, &str),
) -> (Json, String) {
    let arguments = [
        "user",
        "create",
        "--org",
        organization,
        "--email",
        email,
        "--name",
        "Nina",
        "--nick",
        nick,
    ];
    let made = server.admin(&arguments);
    server.admin(&["scim", "link", "--org", organization, "--email", email]);
    let user = provider.get(&format!("/Users/{}", made["id"])).await;
    (user, made["api_token"].as_str().unwrap().to_owned())
}

async fn move_to(provider: &Provider, user: &Json, email: &str) {
    let emails = json!([{"op": "replace", "path": "emails", "value": [{"value": email}]}]);
    assert_eq!(
        patched(provider, user, emails).await["emails"][0]["value"],
        email
    );
}

/// Has a link to a new password mailed: it goes to the owner, whose letter it is of so many,
/// whichever address is entered.
async fn is_recovered_by(server: &Server, owner: &str, present: &str, letter: usize) -> String {
    server
        .visitor()
        .post("/password", &[("email", present)])
        .await;
    let link = path_in(&server.letter(owner, letter).await, server);
    if present != owner {
        assert_eq!(server.letters_to(present), []);
    }
    link
}

async fn the_way_back_to_the_owners_address_does_not_give_the_account_away(tenant: Tenant) {
    let home = Home::of(&tenant);
    let (server, owner) = (home.server, home.private());
    let (user, _) = nina(server, &home.provider, &home.organization, (&owner, "nina")).await;
    for email in [&home.address("eve"), &owner, &home.address("eve2")] {
        move_to(&home.provider, &user, email).await;
    }
    is_recovered_by(server, &owner, &home.address("eve2"), 2).await;
    // Back again, the link proves the address, of whose next change the owner learns.
    move_to(&home.provider, &user, &owner).await;
    let link = is_recovered_by(server, &owner, &owner, 3).await;
    let page = server
        .visitor()
        .post(&link, &[("password", "seven quiet herons at dawn")])
        .await;
    assert_eq!(page.sent_on(), "/app");
    move_to(&home.provider, &user, &home.address("eve3")).await;
    assert!(
        server
            .letter(&owner, 4)
            .await
            .text
            .contains(&home.address("eve3"))
    );
}

async fn an_undone_change_does_not_give_the_account_away(tenant: Tenant) {
    let home = Home::of(&tenant);
    let (server, owner, eve) = (home.server, home.private(), home.address("eve"));
    let (user, _) = nina(server, &home.provider, &home.organization, (&owner, "nina")).await;
    let mut browser = server.visitor();
    choose_password(server, &mut browser, &owner, 1).await;
    move_to(&home.provider, &user, &eve).await;
    let undo = path_in(&server.letter(&owner, 2).await, server);
    browser.post(&undo, &[]).await;
    // The undoing took the password, and mailed a link to a new one.
    server.letter(&owner, 3).await;
    for email in [&eve, &owner, &home.address("eve2")] {
        move_to(&home.provider, &user, email).await;
    }
    server.letter(&owner, 4).await;
    let link = is_recovered_by(server, &owner, &home.address("eve2"), 5).await;
    let page = browser
        .post(&link, &[("password", "seven quiet herons at dawn")])
        .await;
    assert_eq!(page.sent_on(), "/app");
}

/// Ways through four addresses, which begin at the first: to each other one, and from there back
/// and on.
fn ways() -> Vec<Vec<usize>> {
    let on = |first: usize| {
        let further = (1..4).map(move |second| vec![first, 0, second]);
        [vec![first]].into_iter().chain(further)
    };
    (1..4)
        .flat_map(on)
        .chain([vec![1, 2], vec![1, 3, 2, 1]])
        .collect()
}

async fn no_sequence_of_addresses_gives_an_account_away(server: Server) {
    server.organization("acme");
    let (provider, domain) = Home::with_domain(&server, "acme");
    for (number, way) in ways().iter().enumerate() {
        let owner = format!("nina{number}@home.example");
        let addresses = [
            owner.clone(),
            format!("one{number}@{domain}"),
            format!("two{number}@{domain}"),
            format!("out{number}@elsewhere.example"),
        ];
        let (user, _) = nina(
            &server,
            &provider,
            "acme",
            (&owner, &format!("nina{number}")),
        )
        .await;
        for step in way {
            move_to(&provider, &user, &addresses[*step]).await;
        }
        // The first letter tells of the first change.
        let link = is_recovered_by(&server, &owner, &addresses[*way.last().unwrap()], 2).await;
        server.visitor().get(&link).await.says(200, "password");
        for other in &addresses[1..] {
            assert_eq!(server.letters_to(other), [], "{way:?}");
        }
    }
}
