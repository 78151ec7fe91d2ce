//! What ends with a source, and what outlasts its maker (specification, sections 3 and 7).

use eddyline_client::{Credentials, Json, Method};
use eddyline_tests::{Acme, Backend, PASSWORD, Server, Tenant, on_shared_servers, run};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::integrations::{Source, activity, push, status, try_push};

on_shared_servers![
    source_active_removed_by_the_end_user_is_gone,
    its_application_removes_a_source,
    a_source_removes_itself,
    the_removal_is_told_in_the_flow,
    a_removed_application_takes_its_sources_along,
    what_ends_while_a_body_comes_is_worth_nothing_after_it,
    a_source_outlasts_the_removal_of_its_maker,
    what_a_removed_source_pushed_stays,
];

/// Every use of the token is answered by 410.
async fn is_gone(source: &Source) {
    for (method, path, body) in [
        (Method::POST, "/messages", activity("1", "too late")),
        (
            Method::POST,
            "/messages",
            json!({"event": "message", "content": "too late"}),
        ),
        (Method::GET, "/sources", Json::Null),
        (Method::PUT, "/sources", json!({"error_message": "x"})),
        (Method::DELETE, "/sources", Json::Null),
        (Method::GET, "/flows", Json::Null),
    ] {
        let request = source.client.request(method.clone(), path);
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status, 410, "{method} {path}: {}", answer.text());
        assert!(answer.json()["message"].is_string());
    }
    let mut in_body = activity("1", "too late");
    in_body["flow_token"] = json!(source.token);
    let request = source
        .client
        .request(Method::POST, "/messages")
        .anonymous()
        .json(&in_body);
    assert_eq!(
        request.send().await.unwrap().status,
        410,
        "with the token in the body"
    );
    let chat = json!({"content": "too late", "external_user_name": "x"});
    let mail =
        json!({"source": "x", "from_address": "x@x.example", "subject": "x", "content": "x"});
    for (kind, body) in [
        ("chat", chat),
        ("team_inbox", mail.clone()),
        ("influx", mail),
    ] {
        let path = format!("/v1/messages/{kind}/{}", source.token);
        assert_eq!(
            status(&source.client, Method::POST, &path, &body).await,
            410,
            "{kind}"
        );
    }
}

/// Shows: 3.12, 6.7, 7.10
async fn source_active_removed_by_the_end_user_is_gone(tenant: Tenant) {
    let (source, other) = (Source::new(&tenant).await, Source::new(&tenant).await);
    source.push(&activity("1", "in time")).await;
    let path = tenant.path(&format!("/sources/{}", source.id));
    // Any member may.
    let removed = tenant.ada.send(Method::DELETE, &path, &Json::Null).await;
    assert_eq!(
        (removed.status.as_u16(), removed.text().as_str()),
        (204, "")
    );
    is_gone(&source).await;
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        assert_eq!(
            status(&tenant.ada.client, method.clone(), &path, &json!({})).await,
            404,
            "{method}"
        );
    }
    let left = tenant.ada.get(&tenant.path("/sources")).await;
    assert_eq!(
        (left.as_array().unwrap().len(), &left[0]["id"]),
        (1, &json!(other.id))
    );
    other.push(&activity("1", "not concerned")).await;
}

/// Shows: 4.39
async fn its_application_removes_a_source(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    let path = tenant.path(&format!("/sources/{}", source.id));
    // With the consent of somebody else of the flow as well.
    let tokens = robot.by_password(&tenant.ada, "integration").await;
    assert_eq!(
        status(
            &robot.with(&tokens["access_token"]),
            Method::DELETE,
            &path,
            &Json::Null
        )
        .await,
        204
    );
    is_gone(&source).await;
}

/// Shows: 4.39
async fn a_source_removes_itself(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    assert_eq!(
        status(&source.client, Method::DELETE, "/sources", &Json::Null).await,
        204
    );
    is_gone(&source).await;
    let told = tenant.ada.get(&tenant.path("/messages?event=action")).await;
    let told = told.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&told["content"]["type"], &told["user"]),
        (&json!("source-remove"), &json!("0"))
    );
}

/// Shows: 6.2
async fn the_removal_is_told_in_the_flow(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let mut stream = eddyline_tests::Listener::to(&tenant.ada.client, &[&tenant.main]).await;
    let path = tenant.path(&format!("/sources/{}", source.id));
    tenant.ben.does(Method::DELETE, &path, &Json::Null).await;
    let told = stream.event("action").await;
    assert_eq!(
        told["content"],
        json!({"type": "source-remove", "description": "Tickets"})
    );
    assert_eq!(told["user"], tenant.ben.id.to_string());
    assert_eq!(tenant.ada.get(&tenant.message_path(&told)).await, told);
}

/// Shows: 3.12
async fn a_removed_application_takes_its_sources_along(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    let other = Source::new(&tenant).await;
    let second = Source::of(&robot, &tenant.ben, &tenant.main, "Bugs").await;
    let side = format!("{}/side", tenant.name);
    tenant.flow("side", &[&tenant.ben]);
    let aside = Source::of(&robot, &tenant.ben, &side, "Aside").await;
    let stranger = tenant.neighbour();
    let abroad = Source::of(&robot, &stranger.ben, &stranger.main, "Abroad").await;
    let pushed = source.push(&activity("1", "in time")).await;
    let mut streams = [
        (
            eddyline_tests::Listener::to(&tenant.ben.client, &[&tenant.main]).await,
            vec!["Tickets", "Bugs"],
        ),
        (
            eddyline_tests::Listener::to(&tenant.ben.client, &[&side]).await,
            vec!["Aside"],
        ),
    ];
    let mut elsewhere = eddyline_tests::Listener::to(&stranger.ben.client, &[&stranger.main]).await;
    let mut ada = tenant.server().signed_in(&tenant.ada.email, PASSWORD).await;
    let page = format!("/developer/{}/remove", robot.id);
    assert_eq!(
        ada.post(&page, &[]).await.sent_on(),
        "/developer?done=removed"
    );
    for (stream, names) in &mut streams {
        for name in names {
            let told = stream.event("action").await;
            assert_eq!(
                told["content"],
                json!({"type": "source-remove", "description": name})
            );
            assert_eq!(told["user"], tenant.ada.id.to_string());
        }
    }
    let told = elsewhere.event("action").await;
    assert_eq!(
        told["content"],
        json!({"type": "source-remove", "description": "Abroad"})
    );
    assert_eq!(told["user"], "0", "nobody there knows who it was");
    for gone in [&source, &second, &aside, &abroad] {
        is_gone(gone).await;
    }
    other.push(&activity("1", "not concerned")).await;
    // The thread stays, with the name of the source instead of the application's.
    let thread = tenant
        .ben
        .get(&tenant.path(&format!("/threads/{}", text(&pushed["thread_id"]))))
        .await;
    assert_eq!(
        thread["source"],
        json!({"id": source.id, "icon": null, "application": "Tickets"})
    );
}

/// Begins to send a message and does not end.
async fn begin(tenant: &Tenant, query: &str, token: &str) -> TcpStream {
    let host = tenant.server().base_url().split('/').nth(2).unwrap();
    let message = format!(
        r#"{{"event":"message","content":"late","flow":"{}"}}"#,
        tenant.main
    );
    let begun = format!(
        "POST /messages{query} HTTP/1.1\r\nHost: {host}\r\n{token}Content-Type: application/json\r\n\
         Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    let mut socket = TcpStream::connect(host).await.unwrap();
    socket.write_all(begun.as_bytes()).await.unwrap();
    // It is asked for when it is known who sends it.
    let mut go_on = [0; 25];
    socket.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    socket
        .write_all(format!("{:x}\r\n{message}\r\n", message.len()).as_bytes())
        .await
        .unwrap();
    socket
}

async fn end(mut socket: TcpStream) -> String {
    socket.write_all(b"0\r\n\r\n").await.unwrap();
    let mut status = [0; 12];
    socket.read_exact(&mut status).await.unwrap();
    String::from_utf8(status[9..].to_vec()).unwrap()
}

async fn what_ends_while_a_body_comes_is_worth_nothing_after_it(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    let by_source = format!("?flow_token={}", source.token);
    let tokens = robot.by_password(&tenant.ben, "flow").await;
    let bearer = format!(
        "Authorization: Bearer {}\r\n",
        text(&tokens["access_token"])
    );
    for (query, header, expected) in [
        (by_source.as_str(), "", "202"),
        ("", bearer.as_str(), "202"),
    ] {
        assert_eq!(end(begin(&tenant, query, header).await).await, expected);
    }
    let (pushing, posting) = (
        begin(&tenant, &by_source, "").await,
        begin(&tenant, "", &bearer).await,
    );
    assert_eq!(
        status(&source.client, Method::DELETE, "/sources", &Json::Null).await,
        204
    );
    robot.revoke(&tokens["access_token"]).await;
    assert_eq!(end(pushing).await, "410");
    assert_eq!(end(posting).await, "401");
}

/// Shows: 5.4
async fn a_source_outlasts_the_removal_of_its_maker(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let membership = format!("/organizations/{}/users/{}", tenant.name, tenant.ben.id);
    tenant
        .ada
        .does(Method::DELETE, &membership, &Json::Null)
        .await;
    source.push(&activity("1", "still at work")).await;
    let own: Json = source
        .client
        .request(Method::GET, "/sources")
        .call()
        .await
        .unwrap();
    assert_eq!(own[0]["creator"], tenant.ben.id);
}

async fn what_a_removed_source_pushed_stays(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let source = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    let pushed = source.push(&activity("1", "in time")).await;
    let thread = tenant.path(&format!("/threads/{}", text(&pushed["thread_id"])));
    let before = tenant.ada.get(&thread).await;
    assert_eq!(
        status(&source.client, Method::DELETE, "/sources", &Json::Null).await,
        204
    );
    assert_eq!(tenant.ada.get(&thread).await, before);
    assert_eq!(tenant.ada.get(&tenant.message_path(&pushed)).await, pushed);
    // Its thread is not that of the next source, which has ids of its own.
    let next = Source::of(&robot, &tenant.ben, &tenant.main, "Tickets").await;
    assert_ne!(
        next.push(&activity("1", "anew")).await["thread_id"],
        pushed["thread_id"]
    );
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap()
}

mod a_source_that_one_server_removes_is_gone_at_the_other {
    #[test]
    fn postgres() {
        super::run(super::Backend::Postgres, &[], async |one| {
            let other = one.another_node("node-2", &[]);
            super::a_source_that_one_server_removes_is_gone_at_the_other(one, other).await;
        });
    }
}

/// Shows: 3.12
async fn a_source_that_one_server_removes_is_gone_at_the_other(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let robot = one.robot("acme", &[]);
    let there = other.client().build().unwrap();
    for round in 0..5 {
        let mut source = Source::of(&robot, &ben, "acme/main", "Tickets").await;
        source.client = there.with_credentials(Credentials::FlowToken(source.token.clone()));
        // The other server knows the token now, without a look at the database.
        push(&source.client, &activity("1", "known")).await;
        let path = format!("/flows/acme/main/sources/{}", source.id);
        match round % 2 {
            0 => ada.does(Method::DELETE, &path, &Json::Null).await,
            _ => {
                let tokens = robot.by_password(&ada, "integration").await;
                robot
                    .with(&tokens["access_token"])
                    .request(Method::DELETE, &path)
                    .done()
                    .await
                    .unwrap();
            }
        }
        assert_eq!(
            try_push(&source.client, &activity("1", "too late"))
                .await
                .status,
            410
        );
        is_gone(&source).await;
    }
}
