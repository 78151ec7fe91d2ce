//! The settings of an organization: what each page shows to each kind of visitor, and what its
//! forms change. Its people are beside this (`people`), and what applications may do in
//! `oauth::administrators`.

use eddyline_client::Method;
use eddyline_tests::{
    Caller, PASSWORD, Page, Provider, Tenant, Visitor, note_secret, on_shared_servers,
};
use serde_json::{Value as Json, json};

on_shared_servers![
    each_page_is_for_those_who_may_see_it,
    the_name_is_changed_by_administrators,
    what_cannot_be_a_name_is_told_at_the_field,
    the_flows_that_one_may_see_are_listed,
    a_member_makes_a_flow,
    the_older_address_of_the_applications_leads_on,
    an_identity_provider_is_connected_replaced_and_disconnected,
    an_identity_provider_is_for_administrators_alone,
    an_identity_provider_that_an_operator_let_in_is_the_same,
    an_inactive_organization_only_takes_rights_back,
];

/// The pages by the ends of their paths, as the list beside them has them, and whether members see
/// them who are no administrators.
const PAGES: [(&str, &str, bool); 5] = [
    ("", "General", true),
    ("/people", "People", true),
    ("/applications", "Applications", false),
    ("/identity-provider", "Identity provider", false),
    ("/audit", "Audit log", false),
];

fn path(tenant: &Tenant, rest: &str) -> String {
    format!("/app/{}/settings{rest}", tenant.name)
}

async fn signed_in(tenant: &Tenant, caller: &Caller) -> Visitor {
    tenant.server().signed_in(&caller.email, PASSWORD).await
}

/// The browsers of those who administer something else or nothing, each with the status of what is
/// refused: a member, an administrator and a member of another organization, and a visitor who is
/// signed out.
async fn others(tenant: &Tenant) -> [(&'static str, Visitor, u16); 4] {
    let neighbour = tenant.neighbour();
    [
        ("member", signed_in(tenant, &tenant.ben).await, 403),
        (
            "foreign administrator",
            signed_in(tenant, &neighbour.ada).await,
            404,
        ),
        ("stranger", signed_in(tenant, &neighbour.ben).await, 404),
        ("signed out", tenant.server().visitor(), 303),
    ]
}

#[track_caller]
fn is_refused(page: &Page, status: u16, what: &str) {
    assert_eq!(page.status, status, "{what}: {}", page.text);
    if status == 303 {
        assert!(page.sent_on().starts_with("/sign-in?next="), "{what}");
    }
}

#[track_caller]
fn lacks(page: &Page, text: &str) {
    assert!(!page.text.contains(text), "{text} in {}", page.text);
}

async fn organization(tenant: &Tenant) -> Json {
    tenant
        .ada
        .get(&format!("/organizations/{}", tenant.name))
        .await
}

/// The newest records of what was done, each with who did it and what, as far as it is about these
/// actions.
fn records(tenant: &Tenant, kind: &str) -> Vec<(String, String)> {
    let audit = tenant
        .server()
        .admin(&["scim", "audit", "--org", &tenant.name]);
    let records = audit["records"].as_array().unwrap().iter();
    let text = |record: &Json, name: &str| record[name].as_str().unwrap().to_owned();
    records
        .map(|record| (text(record, "actor"), text(record, "action")))
        .filter(|(_, action)| action.starts_with(kind))
        .collect()
}

async fn each_page_is_for_those_who_may_see_it(tenant: Tenant) {
    for (who, caller, administers) in [("ada", &tenant.ada, true), ("ben", &tenant.ben, false)] {
        let mut visitor = signed_in(&tenant, caller).await;
        for (rest, label, for_all) in PAGES {
            let page = visitor.get(&path(&tenant, rest)).await;
            if !(administers || for_all) {
                page.says(403, "You can’t do that");
                continue;
            }
            assert_eq!(page.status, 200, "{who} at {rest}: {}", page.text);
            page.is_named_throughout(rest);
            super::is_hardened(&page, rest);
            let current = format!("aria-current=\"page\">{label}</a>");
            assert_eq!(
                page.text.matches(&current).count(),
                1,
                "{rest}: {}",
                page.text
            );
            for (rest, label, for_all) in PAGES {
                let link = format!("<a href=\"{}\"", path(&tenant, rest));
                let listed = page.text.contains(&link);
                assert_eq!(listed, administers || for_all, "{label} for {who}");
            }
        }
        let account = visitor.get("/account").await;
        account.says(200, &format!("href=\"{}\"", path(&tenant, "")));
        let flow = visitor
            .get(&format!("/app/{}/settings/members", tenant.main))
            .await;
        let link = format!("<a href=\"{}\">Organization</a>", path(&tenant, ""));
        flow.says(200, &link);
    }
    for (who, visitor, status) in &mut others(&tenant).await[1..] {
        for (rest, ..) in PAGES {
            let page = visitor.get(&path(&tenant, rest)).await;
            is_refused(&page, *status, &format!("{who} at {rest}"));
        }
    }
}

async fn the_name_is_changed_by_administrators(tenant: Tenant) {
    let here = path(&tenant, "");
    let before = organization(&tenant).await;
    for (who, visitor, status) in &mut others(&tenant).await {
        let page = visitor.post(&here, &[("name", "Taken Over")]).await;
        is_refused(&page, *status, who);
    }
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    lacks(&ben.get(&here).await, "name=\"name\"");
    assert_eq!(organization(&tenant).await["name"], before["name"]);

    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let page = ada.get(&here).await;
    page.says(200, "name=\"name\"");
    page.says(200, &format!("<code>{}</code>", tenant.name));
    page.says(200, "2 people</a>");
    let sent = ada.post(&here, &[("name", "Acme <& Sons>")]).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=saved"));
    let page = ada.get(sent.sent_on()).await;
    page.says(200, "<h1>Acme &#60;&#38; Sons&#62;</h1>");
    page.says(200, "The name has been saved.");
    let after = organization(&tenant).await;
    assert_eq!(after["name"], "Acme <& Sons>");
    assert_eq!(after["parameterized_name"], before["parameterized_name"]);
}

async fn what_cannot_be_a_name_is_told_at_the_field(tenant: Tenant) {
    let here = path(&tenant, "");
    let before = organization(&tenant).await;
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let long = "n".repeat(101);
    for (name, told) in [
        ("", "<a href=\"#name\">Name can&#39;t be blank</a>"),
        (" ", "<a href=\"#name\">Name can&#39;t be blank</a>"),
        (&long, "<a href=\"#name\">Name is too long"),
    ] {
        let page = ada.post(&here, &[("name", name)]).await;
        page.says(400, told);
        page.says(400, "<title>Problem: ");
        page.is_named_throughout(&here);
        super::is_hardened(&page, &here);
    }
    assert_eq!(organization(&tenant).await, before);
}

async fn the_flows_that_one_may_see_are_listed(tenant: Tenant) {
    let eve = tenant.user("eve");
    for name in ["side", "open"] {
        tenant.flow(name, &[&tenant.ada]);
    }
    let [side, open] = ["side", "open"].map(|name| format!("{}/{name}", tenant.name));
    let change = json!({"access_mode": "organization"});
    let path_of_open = format!("/flows/{open}");
    tenant.ada.does(Method::PUT, &path_of_open, &change).await;
    let link = |flow: &str| format!("<li><a href=\"/app/{flow}\">");
    for (who, caller, listed) in [
        ("ada", &tenant.ada, [true, true, true]),
        ("ben", &tenant.ben, [true, false, true]),
        ("eve", &eve, [false, false, true]),
    ] {
        let page = signed_in(&tenant, caller)
            .await
            .get(&path(&tenant, ""))
            .await;
        for (flow, listed) in [&tenant.main, &side, &open].into_iter().zip(listed) {
            assert_eq!(
                page.text.contains(&link(flow)),
                listed,
                "{flow} for {who}: {}",
                page.text
            );
        }
        let theirs = tenant.neighbour();
        lacks(&page, &link(&theirs.main));
    }
}

async fn a_member_makes_a_flow(tenant: Tenant) {
    let here = path(&tenant, "/flows/new");
    for (who, mut visitor, status) in others(&tenant).await {
        if who == "member" {
            continue;
        }
        is_refused(&visitor.get(&here).await, status, who);
        let sent = visitor.post(&here, &[("name", "Theirs")]).await;
        is_refused(&sent, status, who);
    }
    let mut ben = signed_in(&tenant, &tenant.ben).await;
    let link = format!("href=\"{here}\"");
    ben.get("/app").await.says(200, &link);
    ben.get(&path(&tenant, "")).await.says(200, &link);
    let page = ben.get(&here).await;
    page.says(200, "You are in it at once");
    page.is_named_throughout(&here);
    for name in ["", " ", &"x".repeat(200)] {
        let page = ben.post(&here, &[("name", name)]).await;
        page.says(400, "aria-invalid=\"true\"");
    }
    let made = ben.post(&here, &[("name", "Help desk")]).await;
    let flow = format!("{}/help-desk", tenant.name);
    assert_eq!(made.sent_on(), format!("/app/{flow}"));
    ben.get(made.sent_on()).await.says(200, "Help desk");
    let flow = tenant.ben.get(&format!("/flows/{flow}")).await;
    assert_eq!(flow["joined"], true);
    assert_eq!(flow["name"], "Help desk");
}

async fn the_older_address_of_the_applications_leads_on(tenant: Tenant) {
    let older = format!("/account/organizations/{}", tenant.name);
    let newer = path(&tenant, "/applications");
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    for page in [
        ada.get(&older).await,
        ada.post(&older, &[("user", "1"), ("application", "1")])
            .await,
    ] {
        // The method stays, and so does the form.
        assert_eq!(page.status, 308, "{}", page.text);
        assert_eq!(page.header("location"), newer);
        super::is_hardened(&page, &older);
    }
}

/// The provider that a page with a new token has let in.
fn shown_provider(tenant: &Tenant, page: &Page) -> Provider {
    page.says(200, "Copy it now: it is not shown again.");
    super::is_hardened(page, "the token");
    let secret = |label: &str| {
        let before = format!("{label}</dt>\n<dd><code class=\"secret\">");
        page.between(&before, "<").to_owned()
    };
    let (address, token) = (secret("SCIM address"), secret("Token"));
    note_secret(&token);
    let uid = address
        .strip_prefix(&format!("{}/scim/", tenant.server().base_url()))
        .unwrap_or_else(|| panic!("{address}"));
    tenant.server().provider_with(uid.to_owned(), token)
}

async fn users(provider: &Provider) -> u16 {
    let answer = provider.scim(Method::GET, "/Users", None).await;
    answer.status.as_u16()
}

async fn an_identity_provider_is_connected_replaced_and_disconnected(tenant: Tenant) {
    let here = path(&tenant, "/identity-provider");
    let (replacement, end) = (format!("{here}/token"), format!("{here}/disconnect"));
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    ada.get(&here).await.says(200, "None is connected yet.");
    for path in [&replacement, &end] {
        ada.get(path).await.says(404, "Page not found");
        ada.post(path, &[])
            .await
            .says(409, "No identity provider is let in.");
    }
    let first = shown_provider(&tenant, &ada.post(&here, &[]).await);
    let page = ada.get(&here).await;
    page.says(200, "<dd>Connected</dd>");
    page.says(200, "<dd>Not yet</dd>");
    page.says(200, &format!("/scim/{}</code>", first.uid));
    lacks(&page, &first.token);
    first
        .makes(&format!("zoe@{}.example", tenant.name), ("Zoe", "King"))
        .await;
    let page = ada.get(&here).await;
    page.says(200, "<dt>People it manages</dt>\n<dd>1</dd>");
    page.says(200, ", or up to an hour later</dd>");
    let again = ada.post(&here, &[]).await;
    again.says(409, "An identity provider is let in already.");

    let asked = ada.get(&replacement).await;
    asked.says(200, "The present token is refused at once.");
    asked.is_named_throughout(&replacement);
    assert_eq!(users(&first).await, 200, "reading changes nothing");
    let second = shown_provider(&tenant, &ada.post(&replacement, &[]).await);
    assert_eq!(second.uid, first.uid);
    assert_eq!((users(&first).await, users(&second).await), (403, 200));

    let asked = ada.get(&end).await;
    asked.says(200, "Its token is refused at once.");
    asked.is_named_throughout(&end);
    assert_eq!(users(&second).await, 200, "reading changes nothing");
    let sent = ada.post(&end, &[]).await;
    assert_eq!(sent.sent_on(), format!("{here}?done=disconnected"));
    assert_eq!((users(&first).await, users(&second).await), (403, 403));
    let page = ada.get(sent.sent_on()).await;
    page.says(200, "<dd>Not connected</dd>");
    page.says(200, ">Connect it again</button>");
    let third = shown_provider(&tenant, &ada.post(&here, &[]).await);
    assert_eq!(third.uid, first.uid);
    assert_eq!((users(&second).await, users(&third).await), (403, 200));

    let actor = format!("user:{}", tenant.ada.id);
    let expected = ["scim.enable", "scim.disable", "scim.rotate", "scim.enable"];
    let expected = expected.map(|action| (actor.clone(), action.to_owned()));
    assert_eq!(records(&tenant, "scim."), expected);
}

async fn an_identity_provider_is_for_administrators_alone(tenant: Tenant) {
    let provider = tenant.server().provider(&tenant.name);
    for (who, visitor, status) in &mut others(&tenant).await {
        for rest in ["", "/token", "/disconnect"] {
            let path = path(&tenant, &format!("/identity-provider{rest}"));
            let page = visitor.get(&path).await;
            is_refused(&page, *status, &format!("{who} reads {rest}"));
            lacks(&page, &provider.uid);
            let page = visitor.post(&path, &[]).await;
            is_refused(&page, *status, &format!("{who} at {rest}"));
        }
    }
    assert_eq!(
        users(&provider).await,
        200,
        "the token is still the one that was shown"
    );
    // A right that was taken back lets in no longer, in a browser that was signed in before.
    let mut root = signed_in(&tenant, &tenant.administrator("root")).await;
    let here = path(&tenant, "/identity-provider");
    root.get(&here).await.says(200, &provider.uid);
    let line = [
        "user",
        "set-admin",
        "--org",
        &tenant.name,
        "--admin",
        "false",
    ];
    let root_email = format!("root@{}.example", tenant.name);
    tenant
        .server()
        .admin(&[&line[..], &["--email", &root_email]].concat());
    root.get(&here).await.says(403, "You can’t do that");
    root.post(&format!("{here}/token"), &[])
        .await
        .says(403, "You can’t do that");
    assert_eq!(users(&provider).await, 200);
}

async fn an_identity_provider_that_an_operator_let_in_is_the_same(tenant: Tenant) {
    let here = path(&tenant, "/identity-provider");
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let domain = format!("{}.example", tenant.name);
    server.admin(&[
        "org",
        "domain",
        "add",
        "--org",
        &tenant.name,
        "--domain",
        &domain,
    ]);
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    let page = ada.get(&here).await;
    page.says(200, &format!("/scim/{}</code>", provider.uid));
    page.says(200, &format!("<dd>{domain}</dd>"));
    let shown = || server.admin(&["scim", "show", "--org", &tenant.name]);
    assert_eq!(shown()["used_at"], Json::Null);
    assert_eq!(users(&provider).await, 200);
    assert!(shown()["used_at"].is_string(), "{}", shown());
    let replaced = ada.post(&format!("{here}/token"), &[]).await;
    let replaced = shown_provider(&tenant, &replaced);
    assert_eq!((users(&provider).await, users(&replaced).await), (403, 200));
    server.admin(&["scim", "disable", "--org", &tenant.name]);
    ada.get(&here).await.says(200, "<dd>Not connected</dd>");
    assert_eq!(users(&replaced).await, 403);
}

async fn an_inactive_organization_only_takes_rights_back(tenant: Tenant) {
    let server = tenant.server();
    let provider = server.provider(&tenant.name);
    let root = tenant.administrator("root");
    let line = ["org", "update", "--org", &tenant.name, "--active", "false"];
    server.admin(&line);
    let mut ada = signed_in(&tenant, &tenant.ada).await;
    for (rest, ..) in PAGES {
        let page = ada.get(&path(&tenant, rest)).await;
        assert_eq!(page.status, 200, "{rest}: {}", page.text);
        // The one that signs out, and those that change nothing.
        let reading = page.text.matches("/settings/audit/download\"").count();
        assert_eq!(
            page.text.matches("<form method=\"post\"").count(),
            1 + reading,
            "{rest}: {}",
            page.text
        );
    }
    let right_of = |user: &Caller| path(&tenant, &format!("/people/{}/administrator", user.id));
    let end = path(&tenant, "/identity-provider/disconnect");
    for (path, fields) in [
        (path(&tenant, ""), &[("name", "Other")][..]),
        (path(&tenant, "/identity-provider/token"), &[]),
        (right_of(&tenant.ben), &[("role", "administrator")]),
    ] {
        let page = ada.post(&path, fields).await;
        assert_eq!(page.status, 403, "{path}: {}", page.text);
    }
    assert_eq!(users(&provider).await, 200);
    ada.post(&end, &[]).await.sent_on();
    ada.post(&path(&tenant, "/identity-provider"), &[])
        .await
        .says(403, "You can’t do that");
    assert_eq!(users(&provider).await, 403);
    let fields = [("role", "member")];
    ada.post(&right_of(&root), &fields).await.sent_on();
    let shown = organization(&tenant).await;
    let admins = shown["users"].as_array().unwrap().iter();
    assert_eq!(admins.filter(|user| user["admin"] == true).count(), 1);
}
