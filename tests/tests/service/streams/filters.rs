//! What a stream listens to.

use eddyline_client::{Client, Method, StatusCode, StreamRequest};
use eddyline_tests::{Acme, Listener, Server, on_both_databases};
use serde_json::json;

on_both_databases![
    a_flow_is_named_by_its_id_or_by_its_path,
    a_stream_holds_the_flows_it_names_and_no_other,
    one_port_serves_both_the_api_and_the_stream,
    a_stream_of_nothing_is_refused,
    a_flow_that_cannot_be_read_is_refused_by_name,
    a_stream_needs_credentials,
    a_stream_of_oneself_is_there_before_the_first_flow,
];

/// Shows: 4.43, 4.45
async fn a_flow_is_named_by_its_id_or_by_its_path(server: Server) {
    let Acme { ada, ben } = server.acme();
    let id = ada.get("/flows/acme/main").await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for name in [id.as_str(), "acme/main", "acme:main"] {
        let mut stream = Listener::to(&ada.client, &[name]).await;
        let message = ben.say("acme/main", name).await;
        assert_eq!(stream.json().await, message);
    }
    let mut stream = Listener::open(&ada.client, &StreamRequest::new().path("acme/main")).await;
    let message = ben.say("acme/main", "by its own address").await;
    assert_eq!(stream.json().await, message);
}

/// Shows: 4.43
async fn a_stream_holds_the_flows_it_names_and_no_other(server: Server) {
    let Acme { ada, ben } = server.acme();
    for name in ["lab", "pub"] {
        server.flow("acme", name, &[&ada, &ben]);
    }
    let mut two = Listener::to(&ada.client, &["acme/main", "acme/lab"]).await;
    let mut one = Listener::to(&ada.client, &["acme/pub"]).await;
    for (flow, text) in [
        ("acme/pub", "1"),
        ("acme/lab", "2"),
        ("acme/main", "3"),
        ("acme/pub", "4"),
    ] {
        ben.say(flow, text).await;
    }
    assert_eq!(two.texts_through("3").await, ["2", "3"]);
    assert_eq!(one.texts_through("4").await, ["1", "4"]);
}

/// Shows: 1.9
async fn one_port_serves_both_the_api_and_the_stream(server: Server) {
    let Acme { ada, ben } = server.acme();
    let one_port = format!("{}/stream", server.base_url());
    let client = server
        .client()
        .stream_url(one_port)
        .api_token(&ada.token)
        .build()
        .unwrap();
    let by_path = StreamRequest::new().path("acme/main");
    let by_filter = StreamRequest::new().flow("acme/main").json();
    let mut streams = [
        Listener::open(&client, &by_path).await,
        Listener::open(&client, &by_filter).await,
    ];
    let message = ben.say("acme/main", "hello").await;
    for stream in &mut streams {
        assert_eq!(stream.json().await, message);
    }
}

/// Shows: 4.44
async fn a_stream_of_nothing_is_refused(server: Server) {
    let Acme { ada, .. } = server.acme();
    for request in [StreamRequest::new(), StreamRequest::new().json()] {
        let error = ada.client.stream(&request).await.unwrap_err();
        let refusal = error.api().expect("the server refuses");
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        assert!(refusal.errors.contains_key("filter"), "{refusal:?}");
    }
}

async fn a_flow_that_cannot_be_read_is_refused_by_name(server: Server) {
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "closed", &[&ben]);
    server.organization("other");
    let eve = server.user("other", "eve");
    server.flow("other", "secret", &[&eve]);
    for (flow, expected) in [
        ("acme/closed", StatusCode::FORBIDDEN),
        ("acme/nowhere", StatusCode::NOT_FOUND),
        ("other/secret", StatusCode::NOT_FOUND),
        (
            "00000000-0000-0000-0000-000000000000",
            StatusCode::NOT_FOUND,
        ),
    ] {
        // The readable flow beside it does not help.
        let (status, message) = refused(
            &ada.client,
            &StreamRequest::new().flow("acme/main").flow(flow),
        )
        .await;
        assert_eq!(status, expected, "{flow}");
        assert!(message.contains(flow), "{flow}: {message}");
    }
    let (status, message) = refused(&ada.client, &StreamRequest::new().path("acme/closed")).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(message.contains("acme/closed"), "{message}");
}

async fn a_stream_needs_credentials(server: Server) {
    server.acme();
    let anonymous = server.client().build().unwrap();
    let wrong = server.client().api_token("no-such-token").build().unwrap();
    for client in [anonymous, wrong] {
        let (status, _) = refused(&client, &StreamRequest::new().flow("acme/main")).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    let token = server.admin(&["flow", "token", "--flow", "acme/main"])["flow_token"].clone();
    let flow = server
        .client()
        .flow_token(token.as_str().unwrap())
        .build()
        .unwrap();
    let (status, _) = refused(&flow, &StreamRequest::new().flow("acme/main")).await;
    assert_eq!(
        status,
        StatusCode::FORBIDDEN,
        "a flow token posts, and reads nothing"
    );
}

/// Shows: 4.43, 4.44, 6.8
async fn a_stream_of_oneself_is_there_before_the_first_flow(server: Server) {
    let Acme { ada, ben } = server.acme();
    let new = server.user("acme", "cyd");
    let mut stream = Listener::open(&new.client, &StreamRequest::new().user()).await;
    let path = "/flows/acme/main/users";
    ada.does(Method::POST, path, &json!({"id": new.id})).await;
    let added = stream.event("flow-add").await;
    assert_eq!(added["content"]["parameterized_name"], "main");
    assert_eq!(added["content"]["joined"], true);

    ada.does(
        Method::PUT,
        &format!("{path}/{}", new.id),
        &json!({"disabled": true}),
    )
    .await;
    let removed = stream.event("flow-remove").await;
    assert_eq!(removed["content"], json!({"id": added["content"]["id"]}));
    drop(ben);
}

async fn refused(client: &Client, request: &StreamRequest) -> (StatusCode, String) {
    let error = client
        .stream(request)
        .await
        .expect_err("the stream is refused");
    let refusal = error.api().expect("the server says why");
    (refusal.status, refusal.message.clone())
}
