//! The pages for developers: registering an application, changing it, its secret, and setting it
//! up.

use eddyline_client::Method;
use eddyline_tests::{
    CALLBACK, PASSWORD, Page, Tenant, Visitor, basic, note_secret, on_shared_servers,
};
use serde_json::{Value, json};

use crate::pages::is_hardened;

mod rights;

on_shared_servers![
    an_application_is_registered_and_its_secret_shown_once,
    a_public_application_has_no_secret,
    everything_that_is_wrong_is_told_at_once,
    an_application_has_1_to_10_redirect_uris,
    an_application_belongs_to_one_of_ones_organizations,
    an_inactive_organization_registers_nothing,
    an_application_is_changed,
    another_secret_ends_the_one_before_and_no_token,
    a_removed_application_is_shut_out,
    an_application_is_set_up_for_a_flow,
];

async fn signed_in(tenant: &Tenant, email: &str) -> Visitor {
    tenant.server().signed_in(email, PASSWORD).await
}

/// What is sent to register an application that may do everything.
fn form(organization: &str) -> Vec<(&'static str, String)> {
    vec![
        ("organization", organization.to_owned()),
        ("name", "Robot <3".to_owned()),
        ("redirect_uri", CALLBACK.to_owned()),
        ("password_grant", "1".to_owned()),
    ]
}

fn with(
    mut form: Vec<(&'static str, String)>,
    name: &'static str,
    value: &str,
) -> Vec<(&'static str, String)> {
    form.retain(|(key, _)| *key != name);
    form.push((name, value.to_owned()));
    form
}

async fn send(visitor: &mut Visitor, path: &str, form: &[(&'static str, String)]) -> Page {
    let fields: Vec<(&str, &str)> = form
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    visitor.post(path, &fields).await
}

/// The number of the only organization of a visitor.
async fn organization(visitor: &mut Visitor) -> String {
    visitor
        .get("/developer")
        .await
        .between("name=\"organization\" value=\"", "\"")
        .to_owned()
}

/// What a developer was told.
struct Told {
    path: String,
    client_id: String,
    secret: String,
}

async fn register(visitor: &mut Visitor, form: &[(&'static str, String)]) -> Told {
    let page = send(visitor, "/developer", form).await;
    page.says(200, "it is not shown again");
    is_hardened(&page, "/developer");
    page.is_named_throughout("a new application");
    let secrets: Vec<_> = page.text.split("<code class=\"secret\">").skip(1).collect();
    let shown = |text: &str| text.split('<').next().unwrap().to_owned();
    let path = page.between("<p><a href=\"/developer/", "\"");
    note_secret(&shown(secrets[1]));
    Told {
        path: format!("/developer/{path}"),
        client_id: shown(secrets[0]),
        secret: shown(secrets[1]),
    }
}

/// Registers an application for the only organization of a visitor.
async fn registered(visitor: &mut Visitor) -> Told {
    let form = form(&organization(visitor).await);
    register(visitor, &form).await
}

/// What the token endpoint answers to the application, which asks with Ben's password.
async fn ask(tenant: &Tenant, told: &Told, secret: &str) -> (u16, Value) {
    let client = tenant.server().client().build().unwrap();
    let form = [
        ("grant_type", "password"),
        ("username", tenant.ben.email.as_str()),
        ("password", PASSWORD),
    ];
    let request = client.request(Method::POST, "/oauth/token").form(&form);
    let request = request.header("Accept", "application/json");
    let basic = format!("Basic {}", basic(&told.client_id, secret));
    let answer = request
        .header("Authorization", &basic)
        .send()
        .await
        .unwrap();
    let (status, answer) = (answer.status.as_u16(), answer.json());
    note_secret(answer["access_token"].as_str().unwrap_or_default());
    (status, answer)
}

async fn status(tenant: &Tenant, token: &Value) -> u16 {
    let client = tenant
        .server()
        .client()
        .bearer(token.as_str().unwrap())
        .build()
        .unwrap();
    client
        .request(Method::GET, "/user")
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

async fn an_application_is_registered_and_its_secret_shown_once(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let page = ben.get("/developer").await;
    page.says(200, &format!("<h2>{}</h2>", tenant.name));
    page.says(200, "No applications yet.");
    page.is_named_throughout("/developer");
    let told = registered(&mut ben).await;
    let (answered, tokens) = ask(&tenant, &told, &told.secret).await;
    assert_eq!(answered, 200, "{tokens}");
    assert_eq!(status(&tenant, &tokens["access_token"]).await, 200);

    for path in ["/developer", &told.path, &format!("{}/secret", told.path)] {
        let page = ben.get(path).await;
        page.says(200, "Robot &#60;3");
        assert!(!page.text.contains(&told.secret), "{path}: {}", page.text);
        is_hardened(&page, path);
        page.is_named_throughout(path);
    }
    let page = ben.get(&told.path).await;
    for part in [
        &*told.client_id,
        &tenant.name,
        "which was shown once",
        CALLBACK,
    ] {
        page.says(200, part);
    }
    page.says(
        200,
        "name=\"password_grant\" type=\"checkbox\" value=\"1\" checked",
    );
}

async fn a_public_application_has_no_secret(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let form = with(form(&organization(&mut ben).await), "public", "1");
    let page = send(&mut ben, "/developer", &form).await;
    let path = page.sent_on().to_owned();
    let page = ben.get(&path).await;
    page.says(200, "The application has been registered.");
    page.says(200, "it has no secret, and must use PKCE");
    let path = path.strip_suffix("?done=registered").unwrap();
    assert!(
        !page.text.contains(&format!("{path}/secret")),
        "{}",
        page.text
    );
    ben.get(&format!("{path}/secret"))
        .await
        .says(404, "Page not found");
    ben.post(&format!("{path}/secret"), &[])
        .await
        .says(409, "The application has no secret.");
}

async fn everything_that_is_wrong_is_told_at_once(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let good = form(&organization(&mut ben).await);
    let told = register(&mut ben, &good).await;
    let mut wrong = good.clone();
    for (name, value) in [
        ("name", " "),
        (
            "redirect_uri",
            "https://a.example/\r\n\r\njavascript:alert(1)\nhttps://a.example/#b\nnone",
        ),
        ("setup_uri", "ftp://a.example"),
        ("configuration_uri", "\"><b>"),
        ("icon_url", "https://u:p@a.example"),
        ("out_of_band", "1"),
    ] {
        wrong = with(wrong, name, value);
    }
    for path in ["/developer", &told.path] {
        let page = send(&mut ben, path, &wrong).await;
        page.is_named_throughout(path);
        for part in [
            "<title>Problem: ",
            "Name can&#39;t be blank",
            "Redirect URIs in line 3 must begin with https://, or with a scheme with a dot in it",
            "Redirect URIs in line 4 must not have a fragment",
            "Redirect URIs in line 5 must be an absolute URI",
            "Setup URI must begin with http",
            "Configuration URI must be an absolute URI",
            "Icon URL must not have a user name or password",
            "value=\"&#34;&#62;&#60;b&#62;\"",
            "javascript:alert(1)\n",
            "name=\"out_of_band\" type=\"checkbox\" value=\"1\" checked",
        ] {
            page.says(400, part);
        }
        assert!(!page.main().contains("<b>"), "{}", page.text);
    }
    for (name, value, text) in [
        ("redirect_uri", " \n ", "Redirect URIs can&#39;t be blank"),
        ("name", &*"x".repeat(101), "Name is too long"),
        ("organization", "x", "organization must be one of yours"),
        (
            "setup_uri",
            &*format!("https://a.example/{}", "x".repeat(2000)),
            "Setup URI is too long",
        ),
    ] {
        send(&mut ben, "/developer", &with(good.clone(), name, value))
            .await
            .says(400, text);
    }
    assert_eq!(
        ben.get("/developer")
            .await
            .text
            .matches("/developer/")
            .count(),
        1,
        "nothing was registered"
    );
    ben.get(&told.path).await.says(200, "<h1>Robot &#60;3</h1>");
}

async fn an_application_has_1_to_10_redirect_uris(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let good = form(&organization(&mut ben).await);
    let uris = |count: usize| {
        (1..=count)
            .map(|n| format!("https://a.example/{n}\r\n"))
            .collect::<String>()
    };
    let page = send(
        &mut ben,
        "/developer",
        &with(good.clone(), "redirect_uri", &uris(11)),
    )
    .await;
    page.says(400, "Redirect URIs can&#39;t be more than 10 addresses");
    let twice = format!("{}\r\n  \r\n {}", uris(10), uris(10));
    let told = register(&mut ben, &with(good, "redirect_uri", &twice)).await;
    let kept = ben.get(&told.path).await;
    assert_eq!(
        kept.text.matches("https://a.example/").count(),
        10,
        "{}",
        kept.text
    );
}

async fn an_application_belongs_to_one_of_ones_organizations(tenant: Tenant) {
    let neighbour = tenant.neighbour();
    let cyd = neighbour.user("cyd");
    let mut single = signed_in(&tenant, &cyd.email).await;
    let theirs = organization(&mut single).await;
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let own = organization(&mut ben).await;
    send(&mut ben, "/developer", &form(&theirs))
        .await
        .says(404, "Page not found");
    send(&mut ben, "/developer", &form("999999"))
        .await
        .says(404, "Page not found");

    let both = [
        "user",
        "create",
        "--org",
        &tenant.name,
        "--email",
        &cyd.email,
        "--name",
        "x",
        "--nick",
        "cyd",
    ];
    tenant.server().admin(&both);
    let page = single.get("/developer").await;
    page.is_named_throughout("/developer");
    for (id, name) in [(&own, &tenant.name), (&theirs, &neighbour.name)] {
        page.says(200, &format!("<option value=\"{id}\">{name}</option>"));
    }
    let wrong = with(form(&own), "name", "");
    send(&mut single, "/developer", &wrong)
        .await
        .says(400, &format!("<option value=\"{own}\" selected>"));
    let told = register(&mut single, &form(&own)).await;
    ben.get("/developer")
        .await
        .says(200, &format!("href=\"{}\"", told.path));
    ben.get(&told.path)
        .await
        .says(200, &format!("<dd>{}</dd>", tenant.name));

    for name in [&tenant.name, &neighbour.name] {
        let ada = if *name == tenant.name {
            &tenant.ada
        } else {
            &neighbour.ada
        };
        ada.does(
            Method::DELETE,
            &format!("/organizations/{name}/users/{}", cyd.id),
            &Value::Null,
        )
        .await;
    }
    let page = single.get("/developer").await;
    page.says(200, "you aren’t in an organization");
    assert!(!page.text.contains("Robot"), "{}", page.text);
    single.get(&told.path).await.says(404, "Page not found");
    send(&mut single, "/developer", &form(&own))
        .await
        .says(404, "Page not found");
}

async fn an_inactive_organization_registers_nothing(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let form = form(&organization(&mut ben).await);
    tenant
        .server()
        .admin(&["org", "update", "--org", &tenant.name, "--active", "false"]);
    send(&mut ben, "/developer", &form)
        .await
        .says(403, "You can’t do that");
    ben.get("/developer")
        .await
        .says(200, "No applications yet.");
}

async fn an_application_is_changed(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let told = registered(&mut ben).await;
    let changed = [
        ("name", "Android".to_owned()),
        (
            "redirect_uri",
            "https://a.example/one\r\nandroid.example:/two".to_owned(),
        ),
        (
            "configuration_uri",
            " https://a.example/configure ".to_owned(),
        ),
        ("setup_uri", "https://a.example/{flow_id}".to_owned()),
        ("icon_url", "https://a.example/icon.png".to_owned()),
        ("out_of_band", "1".to_owned()),
        // What it is stays as it was registered.
        ("public", "1".to_owned()),
        ("client_id", "mine".to_owned()),
    ];
    let page = send(&mut ben, &told.path, &changed).await;
    assert_eq!(page.sent_on(), format!("{}?done=changed", told.path));
    let page = ben.get(page.sent_on()).await;
    for part in [
        "The application has been changed.",
        "<h1>Android</h1>",
        &*told.client_id,
        "which was shown once",
        "https://a.example/one\nandroid.example:/two</textarea>",
        "value=\"https://a.example/configure\"",
        "value=\"https://a.example/{flow_id}\"",
        "value=\"https://a.example/icon.png\"",
        "name=\"out_of_band\" type=\"checkbox\" value=\"1\" checked",
        "name=\"password_grant\" type=\"checkbox\" value=\"1\" aria-describedby",
    ] {
        page.says(200, part);
    }
    let (answered, refusal) = ask(&tenant, &told, &told.secret).await;
    assert_eq!(
        (answered, &refusal["error"]),
        (400, &json!("unauthorized_client")),
        "the switch is off"
    );
    let bare = [
        ("name", "Android".to_owned()),
        ("redirect_uri", CALLBACK.to_owned()),
    ];
    send(&mut ben, &told.path, &bare).await.sent_on();
    let page = ben.get(&told.path).await;
    assert!(
        !page.text.contains("a.example"),
        "what is left out is gone: {}",
        page.text
    );
}

async fn another_secret_ends_the_one_before_and_no_token(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let told = registered(&mut ben).await;
    let (_, tokens) = ask(&tenant, &told, &told.secret).await;
    let path = format!("{}/secret", told.path);
    ben.get(&path).await.says(200, "refused at once");
    assert_eq!(
        ask(&tenant, &told, &told.secret).await.0,
        200,
        "reading changes nothing"
    );

    let page = ben.post(&path, &[]).await;
    page.says(200, "it is not shown again");
    is_hardened(&page, &path);
    page.is_named_throughout(&path);
    let new = page
        .between("<code class=\"secret\">", "</code>")
        .to_owned();
    note_secret(&new);
    assert_ne!(new, told.secret);
    let (answered, refusal) = ask(&tenant, &told, &told.secret).await;
    assert_eq!(
        (answered, &refusal["error"]),
        (401, &json!("invalid_client"))
    );
    assert_eq!(ask(&tenant, &told, &new).await.0, 200);
    assert_eq!(status(&tenant, &tokens["access_token"]).await, 200);
    assert!(!ben.get(&told.path).await.text.contains(&new));
}

async fn a_removed_application_is_shut_out(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let told = registered(&mut ben).await;
    let (_, tokens) = ask(&tenant, &told, &told.secret).await;
    let path = format!("{}/remove", told.path);
    ben.get(&path).await.says(200, "It cannot be brought back.");
    assert_eq!(
        status(&tenant, &tokens["access_token"]).await,
        200,
        "reading changes nothing"
    );
    assert_eq!(
        ben.post(&path, &[]).await.sent_on(),
        "/developer?done=removed"
    );
    assert_eq!(status(&tenant, &tokens["access_token"]).await, 401);
    assert_eq!(ask(&tenant, &told, &told.secret).await.0, 401);
    let page = ben.get("/developer?done=removed").await;
    page.says(200, "The application has been removed.");
    assert!(!page.text.contains("Robot"), "{}", page.text);
    for path in [&told.path, &path] {
        ben.get(path).await.says(404, "Page not found");
        ben.post(path, &[("name", "x"), ("redirect_uri", CALLBACK)])
            .await
            .says(404, "Page not found");
    }
}

/// Shows: 4.40
async fn an_application_is_set_up_for_a_flow(tenant: Tenant) {
    let side = tenant.flow("side", &[&tenant.ben]);
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let good = form(&organization(&mut ben).await);
    let plain = register(&mut ben, &good).await;
    ben.get(&format!("{}/setup", plain.path))
        .await
        .says(404, "Page not found");
    assert!(!ben.get(&plain.path).await.text.contains("/setup"));

    let uri = "https://a.example/in/{flow_id}?x=1";
    let told = register(&mut ben, &with(good, "setup_uri", uri)).await;
    let path = format!("{}/setup", told.path);
    ben.get(&told.path)
        .await
        .says(200, &format!("href=\"{path}\""));
    let page = ben.get(&path).await;
    is_hardened(&page, &path);
    page.is_named_throughout(&path);
    let url = tenant
        .ben
        .get("/flows")
        .await
        .as_array()
        .unwrap()
        .iter()
        .find(|flow| flow["id"] == *side)
        .unwrap()["url"]
        .as_str()
        .unwrap()
        .replace(':', "%3A")
        .replace('/', "%2F");
    // As it stands in an attribute.
    let link = format!("https://a.example/in/{side}?x=1&#38;flow={side}&#38;flow_url={url}");
    page.says(
        200,
        &format!("<a href=\"{link}\" rel=\"noreferrer\">side</a>"),
    );
    page.says(200, ">main</a>");

    let cyd = tenant.user("cyd");
    let mut cyd = signed_in(&tenant, &cyd.email).await;
    cyd.get(&path).await.says(200, "You are in no flow.");
}
