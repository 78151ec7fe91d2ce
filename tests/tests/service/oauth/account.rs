//! What opens one's account beside the password, on the pages of the account: API tokens, sessions,
//! and what applications were allowed.

use eddyline_client::{Client, Method, StreamRequest};
use eddyline_tests::{
    Acme, Backend, CSRF, Listener, PASSWORD, Page, Robot, Server, Tenant, Visitor,
};
use eddyline_tests::{note_secret, on_shared_servers, run};
use serde_json::json;

use crate::pages::is_hardened;

on_shared_servers![
    every_page_of_an_account_leads_to_the_others,
    an_api_token_is_shown_once_renamed_and_ended,
    the_name_of_an_api_token_has_1_to_100_characters,
    nobody_makes_more_than_a_hundred_api_tokens,
    an_api_token_is_its_owners_alone,
    one_sees_and_takes_back_what_one_allowed,
    taking_back_ends_streams_and_what_would_have_followed,
    one_sees_and_ends_ones_sessions,
    undoing_a_change_of_address_shuts_applications_out,
];

const OFFLINE: &str = "flow private offline_access";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

pub(super) async fn signed_in(tenant: &Tenant, email: &str) -> Visitor {
    tenant.server().signed_in(email, PASSWORD).await
}

async fn status(client: &Client) -> u16 {
    client
        .request(Method::GET, "/user")
        .send()
        .await
        .unwrap()
        .status
        .as_u16()
}

/// Where the first link with this text leads.
#[track_caller]
fn link<'a>(page: &'a Page, text: &str) -> &'a str {
    let (before, _) = page
        .text
        .split_once(&format!("\">{text}</a>"))
        .expect("the link is there");
    before
        .rsplit("href=\"")
        .next()
        .expect("a link leads somewhere")
}

async fn every_page_of_an_account_leads_to_the_others(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    for user in [&tenant.ada, &tenant.ben] {
        robot.by_password(user, OFFLINE).await;
        signed_in(&tenant, &user.email).await;
        signed_in(&tenant, &user.email).await;
    }
    let mut ada = signed_in(&tenant, &tenant.ada.email).await;
    make(&mut ada, "Another").await;
    for path in [
        "/account",
        "/account/applications",
        "/account/tokens",
        "/account/sessions",
    ] {
        let page = ada.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        is_hardened(&page, path);
        page.is_named_throughout(path);
        for elsewhere in ["/app", "/developer", "/account"] {
            page.says(200, &format!("href=\"{elsewhere}\""));
        }
        page.says(200, &format!("<a href=\"{path}\" aria-current=\"page\">"));
    }
    let mut nobody = tenant.server().visitor();
    for path in [
        "/account/applications",
        "/account/tokens",
        "/account/tokens/1",
        "/account/sessions",
    ] {
        let next = path.replace('/', "%2F");
        assert_eq!(
            nobody.get(path).await.sent_on(),
            format!("/sign-in?next={next}")
        );
        assert_eq!(
            nobody.post(path, &[("name", "x")]).await.sent_on(),
            format!("/sign-in?next={next}")
        );
    }
}

/// Makes a token and gives its secret.
async fn make(visitor: &mut Visitor, name: &str) -> String {
    let page = visitor.post("/account/tokens", &[("name", name)]).await;
    page.says(200, "it is not shown again");
    is_hardened(&page, "a new token");
    page.is_named_throughout("a new token");
    let secret = page.between("<code class=\"secret\">", "</code>");
    note_secret(secret);
    secret.to_owned()
}

/// Shows: 5.3
async fn an_api_token_is_shown_once_renamed_and_ended(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let secret = make(&mut ben, " Build <server> ").await;
    let client = tenant.server().client().api_token(&secret).build().unwrap();
    assert_eq!(client.me().await.unwrap().id, tenant.ben.id);

    let list = ben.get("/account/tokens").await;
    let path = link(&list, "Build &#60;server&#62;").to_owned();
    let one = ben.get(&path).await;
    one.says(200, "value=\"Build &#60;server&#62;\"");
    one.is_named_throughout(&path);
    for page in [&list, &one] {
        assert!(!page.text.contains(&secret), "{}", page.text);
    }
    assert!(!path.contains(&secret), "{path}");

    let page = ben
        .post(&path, &[("do", "rename"), ("name", "Old build server")])
        .await;
    assert_eq!(page.sent_on(), "/account/tokens?done=renamed");
    let list = ben.get("/account/tokens?done=renamed").await;
    list.says(200, "role=\"status\"");
    assert_eq!(link(&list, "Old build server"), path);
    assert_eq!(status(&client).await, 200);

    let mut stream = Listener::to(&client, &[&tenant.main]).await;
    tenant.ada.say(&tenant.main, "heard").await;
    stream.texts_through("heard").await;
    assert_eq!(
        ben.post(&path, &[("do", "end")]).await.sent_on(),
        "/account/tokens?done=ended"
    );
    assert_eq!(status(&client).await, 401);
    tenant.ada.say(&tenant.main, "too late").await;
    assert!(
        stream
            .rest()
            .await
            .iter()
            .all(|event| event["content"] != "too late")
    );
    ben.get(&path).await.says(404, "Page not found");
    ben.post(&path, &[("do", "end")])
        .await
        .says(404, "Page not found");
    assert_eq!(status(&tenant.ben.client).await, 200, "others stay");
}

async fn the_name_of_an_api_token_has_1_to_100_characters(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let (longest, longer) = ("é".repeat(100), "é".repeat(101));
    make(&mut ben, &longest).await;
    let path = link(&ben.get("/account/tokens").await, &longest).to_owned();
    for (wrong, text) in [
        ("", "can&#39;t be blank"),
        (" ", "can&#39;t be blank"),
        (&longer, "is too long"),
    ] {
        for page in [
            ben.post("/account/tokens", &[("name", wrong)]).await,
            ben.post(&path, &[("do", "rename"), ("name", wrong)]).await,
        ] {
            page.says(400, text);
            page.says(400, "aria-describedby=");
            page.says(400, "<title>Problem: ");
            page.is_named_throughout(wrong);
        }
    }
    ben.post(&path, &[("do", "other")])
        .await
        .says(400, "couldn’t read this form");
    ben.post(&path, &[("do", "rename"), ("name", "x")])
        .await
        .sent_on();
    let page = ben.get("/account/tokens").await;
    assert_eq!(
        page.text.matches("/account/tokens/").count(),
        2,
        "the one of the command line and this"
    );
}

async fn nobody_makes_more_than_a_hundred_api_tokens(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    for number in 1..100 {
        make(&mut ben, &format!("number {number}")).await;
    }
    let page = ben.post("/account/tokens", &[("name", "one more")]).await;
    page.says(400, "You have 100 API tokens; end one of them first.");
    page.says(400, "value=\"one more\"");
    page.is_named_throughout("a hundred tokens");
    let path = link(&page, "number 50").to_owned();
    ben.post(&path, &[("do", "end")]).await.sent_on();
    make(&mut ben, "one more").await;
}

async fn an_api_token_is_its_owners_alone(tenant: Tenant) {
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let secret = make(&mut ben, "Ben's own").await;
    let path = link(&ben.get("/account/tokens").await, "Ben&#39;s own").to_owned();
    let neighbour = tenant.neighbour();
    for email in [&tenant.ada.email, &neighbour.ben.email] {
        let mut other = signed_in(&tenant, email).await;
        let tokens = other.get("/account/tokens").await;
        assert!(!tokens.main().contains("own"));
        other.get(&path).await.says(404, "Page not found");
        for fields in [&[("do", "end")][..], &[("do", "rename"), ("name", "mine")]] {
            other.post(&path, fields).await.says(404, "Page not found");
        }
    }
    let mut nobody = tenant.server().visitor();
    nobody.post(&path, &[("do", "end")]).await.sent_on();
    for bad in [
        "/account/tokens/0",
        "/account/tokens/-1",
        "/account/tokens/x",
        "/account/tokens/%00",
    ] {
        ben.get(bad).await.says(404, "Page not found");
    }
    let client = tenant.server().client().api_token(&secret).build().unwrap();
    assert_eq!(status(&client).await, 200);
    ben.get(&path).await.says(200, "Ben&#39;s own");
}

async fn one_sees_and_takes_back_what_one_allowed(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let neighbour = tenant.neighbour();
    let other = tenant.server().robot(&neighbour.name, &[]);
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    ben.get("/account/applications")
        .await
        .says(200, "No application has access to your account.");

    let first = robot.by_password(&tenant.ben, "flow").await;
    let second = robot.by_password(&tenant.ben, "private").await;
    let elsewhere = other.by_password(&tenant.ben, "profile").await;
    let adas = robot.by_password(&tenant.ada, "flow").await;
    let page = ben.get("/account/applications").await;
    page.is_named_throughout("applications");
    for part in [
        format!("By {}.", tenant.name),
        format!("By {}.", neighbour.name),
        "Read your flows, and write in them as you".to_owned(),
        "Read your private conversations, and write in them as you".to_owned(),
        "See and change your profile".to_owned(),
    ] {
        page.says(200, &part);
    }
    assert_eq!(
        page.text.matches("<h2>Robot</h2>").count(),
        2,
        "of two consents to one it is one"
    );

    let id = application_of(&page, &tenant.name);
    for wrong in ["", "0", "x"] {
        ben.post("/account/applications", &[("application", wrong)])
            .await
            .says(400, "couldn’t read this form");
    }
    let page = ben
        .post("/account/applications", &[("application", &id)])
        .await;
    assert_eq!(page.sent_on(), "/account/applications?done=ended");
    for (robot, tokens, expected) in [
        (&robot, &first, 401),
        (&robot, &second, 401),
        (&other, &elsewhere, 200),
        (&robot, &adas, 200),
    ] {
        assert_eq!(robot.status(&tokens["access_token"]).await, expected);
    }
    let page = ben.get("/account/applications?done=ended").await;
    page.says(200, "The application no longer has access.");
    assert_eq!(page.text.matches("<h2>Robot</h2>").count(), 1);
    ben.post("/account/applications", &[("application", &id)])
        .await
        .says(404, "Page not found");
}

/// The number of the first application of an organization on a page.
#[track_caller]
pub(super) fn application_of(page: &Page, organization: &str) -> String {
    let (_, rest) = page
        .text
        .split_once(&format!("By {organization}."))
        .expect("it is there");
    let (_, rest) = rest
        .split_once("name=\"application\" value=\"")
        .expect("it can be taken back");
    rest.split('"').next().expect("a value").to_owned()
}

async fn taking_back_ends_streams_and_what_would_have_followed(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    let renewed = robot.refresh(&tokens["refresh_token"]).await;
    let client = robot.with(&renewed["access_token"]);
    let mut stream = Listener::open(&client, &StreamRequest::new().user().flow(&tenant.main)).await;
    tenant.ada.say(&tenant.main, "heard").await;
    stream.texts_through("heard").await;

    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let id = application_of(&ben.get("/account/applications").await, &tenant.name);
    ben.post("/account/applications", &[("application", &id)])
        .await
        .sent_on();
    for token in [&tokens["access_token"], &renewed["access_token"]] {
        assert_eq!(robot.status(token).await, 401);
    }
    let refresh = renewed["refresh_token"].as_str().unwrap();
    robot
        .refused(
            &[("grant_type", "refresh_token"), ("refresh_token", refresh)],
            "invalid_grant",
        )
        .await;
    tenant.ada.say(&tenant.main, "too late").await;
    assert!(
        stream
            .rest()
            .await
            .iter()
            .all(|event| event["content"] != "too late")
    );
    assert_eq!(
        ben.get("/account").await.status,
        200,
        "the user is still in"
    );
}

/// Signs in with a browser that calls itself so.
async fn sign_in_as(server: &Server, email: &str, agent: &str) -> Visitor {
    let mut visitor = server.visitor();
    visitor.get("/sign-in").await;
    let token = visitor.cookie(CSRF).unwrap();
    let body = format!(
        "csrf={token}&email={email}&password={}",
        PASSWORD.replace(' ', "+")
    );
    let agent = format!("User-Agent: {agent}");
    visitor
        .send("POST", "/sign-in", &[FORM, &agent], &body)
        .await
        .sent_on();
    visitor
}

/// The number of the session of a browser that calls itself so.
#[track_caller]
fn session_of(page: &Page, agent: &str) -> String {
    let (_, rest) = page
        .text
        .split_once(&format!(". {agent}</h2>"))
        .expect("the session is there");
    let (_, rest) = rest
        .split_once("name=\"session\" value=\"")
        .expect("it can be ended");
    rest.split('"').next().expect("a value").to_owned()
}

async fn one_sees_and_ends_ones_sessions(tenant: Tenant) {
    let (server, email) = (tenant.server(), &tenant.ben.email);
    let mut this = sign_in_as(server, email, "This <b>\tone").await;
    let mut phone = sign_in_as(server, email, "Phone").await;
    let mut tablet = sign_in_as(server, email, &"é".repeat(300)).await;
    let fox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    sign_in_as(server, email, fox).await;
    let mut silent = server.signed_in(email, PASSWORD).await;
    let mut ada = sign_in_as(server, &tenant.ada.email, "Ada's").await;

    let page = this.get("/account/sessions").await;
    page.is_named_throughout("sessions");
    for part in [
        ". This &#60;b&#62;one</h2>",
        "<strong>This one.</strong> Began 20",
        &format!(". {}</h2>", "é".repeat(200)),
        ". Firefox on Linux</h2>",
        &format!("<p class=\"hint\">{fox}</p>"),
        ". Unknown browser</h2>",
        "Sign out everywhere else",
    ] {
        page.says(200, part);
    }
    assert_eq!(
        page.text.matches("name=\"session\"").count(),
        4,
        "one does not end the one that looks"
    );
    assert!(!page.text.contains("Ada"), "{}", page.text);

    let id = session_of(&page, "Phone");
    for stranger in [
        &mut ada,
        &mut signed_in(&tenant, &tenant.neighbour().ben.email).await,
    ] {
        stranger
            .post("/account/sessions", &[("do", "end"), ("session", &id)])
            .await
            .says(404, "not found");
    }
    assert_eq!(phone.get("/account").await.status, 200);
    for wrong in [
        &[("do", "end")][..],
        &[("do", "end"), ("session", "x")],
        &[("do", "what")],
        &[],
    ] {
        this.post("/account/sessions", wrong)
            .await
            .says(400, "couldn’t read this form");
    }
    let page = this
        .post("/account/sessions", &[("do", "end"), ("session", &id)])
        .await;
    assert_eq!(page.sent_on(), "/account/sessions?done=ended");
    assert_eq!(
        (
            phone.get("/account").await.status,
            tablet.get("/account").await.status
        ),
        (303, 200)
    );

    let page = this
        .post("/account/sessions", &[("do", "end-others")])
        .await;
    assert_eq!(page.sent_on(), "/account/sessions?done=others");
    for ended in [&mut tablet, &mut silent] {
        assert_eq!(ended.get("/account").await.status, 303);
    }
    let page = this.get("/account/sessions?done=others").await;
    page.says(200, "You are signed out everywhere else.");
    assert!(
        !page.text.contains("Sign out everywhere else"),
        "{}",
        page.text
    );
    assert_eq!(
        ada.get("/account").await.status,
        200,
        "those of others stay"
    );
}

async fn undoing_a_change_of_address_shuts_applications_out(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, OFFLINE).await;
    let mut ben = signed_in(&tenant, &tenant.ben.email).await;
    let thief = format!("thief@{}.example", tenant.name);
    ben.post("/account", &[("part", "email"), ("email", &thief)])
        .await
        .sent_on();
    let secret = make(&mut ben, "for ever").await;
    let client = tenant.server().client().api_token(&secret).build().unwrap();
    assert_eq!(
        (
            robot.status(&tokens["access_token"]).await,
            status(&client).await
        ),
        (200, 200)
    );

    let letter = tenant.server().letter(&tenant.ben.email, 1).await;
    let path = letter
        .link()
        .strip_prefix(tenant.server().base_url())
        .unwrap()
        .to_owned();
    let mut owner = tenant.server().visitor();
    owner
        .post(&path, &[])
        .await
        .says(200, "Your old address is restored");
    assert_eq!(
        (
            robot.status(&tokens["access_token"]).await,
            status(&client).await
        ),
        (401, 401)
    );
    let refresh = tokens["refresh_token"].as_str().unwrap();
    robot
        .refused(
            &[("grant_type", "refresh_token"), ("refresh_token", refresh)],
            "invalid_grant",
        )
        .await;
    assert_eq!(
        status(&tenant.ben.client).await,
        401,
        "the token from before may have made the change"
    );
}

/// The same client at another server.
fn at(
    server: &Server,
    credentials: impl FnOnce(eddyline_client::ClientBuilder) -> eddyline_client::ClientBuilder,
) -> Client {
    credentials(server.client()).build().unwrap()
}

#[test]
fn what_ends_on_one_server_is_dead_on_the_other() {
    run(Backend::Postgres, &[], async |one: Server| {
        let other = one.another_node("node-2", &[]);
        let Acme { ada, ben } = one.acme();
        let robot: Robot = one.robot("acme", &[]);
        let mut visitor = one.signed_in(&ben.email, PASSWORD).await;
        let mut there = other.visitor();
        for round in 0..3 {
            let secret = make(&mut visitor, &format!("round {round}")).await;
            let token = robot.by_password(&ben, OFFLINE).await["access_token"]
                .as_str()
                .unwrap()
                .to_owned();
            let by_token = at(&other, |client| client.api_token(&secret));
            let by_robot = at(&other, |client| client.bearer(&token));
            // Known there, without a look at the database.
            for client in [&by_token, &by_robot] {
                for _ in 0..2 {
                    assert_eq!(status(client).await, 200);
                }
            }
            let streams = [
                Listener::to(&by_token, &["acme/main"]).await,
                Listener::to(&by_robot, &["acme/main"]).await,
            ];
            let path = link(
                &visitor.get("/account/tokens").await,
                &format!("round {round}"),
            )
            .to_owned();
            visitor.post(&path, &[("do", "end")]).await.sent_on();
            assert_eq!(
                (status(&by_token).await, status(&by_robot).await),
                (401, 200)
            );
            let id = application_of(&visitor.get("/account/applications").await, "acme");
            visitor
                .post("/account/applications", &[("application", &id)])
                .await
                .sent_on();
            assert_eq!(
                (status(&by_token).await, status(&by_robot).await),
                (401, 401)
            );
            ada.say("acme/main", "secret").await;
            for stream in streams {
                assert!(
                    stream
                        .rest()
                        .await
                        .iter()
                        .all(|event| event["content"] != "secret")
                );
            }
        }
        there
            .post("/sign-in", &[("email", &ben.email), ("password", PASSWORD)])
            .await
            .sent_on();
        visitor
            .post("/account/sessions", &[("do", "end-others")])
            .await
            .sent_on();
        assert_eq!(there.get("/account").await.status, 303);
        ben.does(Method::PUT, "/user", &json!({"name": "Ben"}))
            .await;
    });
}
