//! What differs for clients of the original service that cannot be changed.

use eddyline_client::{Json, Method, StatusCode};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;

on_both_databases![&["--profile", "classic"];
    an_old_client_finds_its_number_in_the_old_header,
    an_old_client_gets_the_whole_message_for_every_post,
    a_flow_token_gets_the_whole_message_when_it_waits,
    a_comment_has_the_old_tag,
    a_search_with_tags_finds_what_has_either,
    an_api_token_is_taken_as_an_access_token,
];

on_both_databases![
    the_specification_names_its_own_headers,
    the_old_header_does_not_make_a_post_wait,
    a_comment_has_the_tag_of_the_specification,
    a_search_is_narrowed_by_tags,
    an_api_token_is_no_access_token,
];

const MESSAGES: &str = "/flows/acme/main/messages";

fn chat(text: &str) -> Json {
    json!({"event": "message", "content": text})
}

async fn an_old_client_finds_its_number_in_the_old_header(server: Server) {
    let Acme { ada, .. } = server.acme();
    for path in ["/flows", "/flows/acme/main", "/flows/acme/nowhere"] {
        let answer = ada.send(Method::GET, path, &Json::Null).await;
        assert_eq!(
            answer.header("flowdock-user"),
            Some(ada.id.to_string().as_str()),
            "{path}"
        );
        assert_eq!(answer.header("service-user"), None, "{path}");
    }
}

async fn an_old_client_gets_the_whole_message_for_every_post(server: Server) {
    let Acme { ada, .. } = server.acme();
    for header in [
        "x-flowdock-wait-for-message",
        "x-service-wait-for-message",
        "x-none",
    ] {
        let request = ada
            .client
            .request(Method::POST, MESSAGES)
            .header(header, "true");
        let answer = request.json(&chat(header)).send().await.unwrap();
        assert_eq!(answer.status, StatusCode::CREATED, "{header}");
        let message = answer.json();
        assert_eq!(message["content"], header);
        let comments = format!("{}{MESSAGES}/{}/comments", server.base_url(), message["id"]);
        assert_eq!(
            answer.header("link"),
            Some(format!("<{comments}>; rel=\"comments\"").as_str())
        );
    }
    let parent = ada.get(MESSAGES).await[0]["id"].clone();
    let comment = json!({"flow": "acme/main", "message": parent, "content": "yes"});
    assert_eq!(
        ada.send(Method::POST, "/comments", &comment).await.status,
        StatusCode::CREATED
    );
}

async fn a_flow_token_gets_the_whole_message_when_it_waits(server: Server) {
    server.acme();
    let token = server.admin(&["flow", "token", "--flow", "acme/main"])["flow_token"].clone();
    let client = server
        .client()
        .flow_token(token.as_str().unwrap())
        .build()
        .unwrap();
    let post = || {
        client
            .request(Method::POST, "/messages")
            .json(&chat("pushed"))
    };
    let accepted = post().send().await.unwrap();
    assert_eq!(
        (accepted.status, accepted.text()),
        (StatusCode::ACCEPTED, "{}".to_owned())
    );
    for header in ["x-flowdock-wait-for-message", "x-service-wait-for-message"] {
        let created = post().header(header, "1").send().await.unwrap();
        assert_eq!(
            (created.status, &created.json()["content"]),
            (StatusCode::CREATED, &json!("pushed"))
        );
        assert_eq!(
            created.header("flowdock-user"),
            None,
            "nobody in particular has posted it"
        );
    }
}

async fn a_comment_has_the_old_tag(server: Server) {
    let (ada, comment) = comment_on(&server, "influx").await;
    // As it is shown, and as the specification has it.
    for form in ["influx", ":influx"] {
        let found = ada.get(&format!("{MESSAGES}?tags={form}:1")).await;
        assert_eq!(found, json!([comment]), "{form}");
    }
    // A client that adds a tag sends back those it has seen.
    let path = format!("{MESSAGES}/{}", comment["id"]);
    ada.does(
        Method::PUT,
        &path,
        &json!({"tags": ["influx:1", "tea", "sugar"]}),
    )
    .await;
    assert_eq!(
        ada.get(&path).await["tags"],
        json!(["influx:1", "tea", "sugar"])
    );
}

async fn a_comment_has_the_tag_of_the_specification(server: Server) {
    let (ada, comment) = comment_on(&server, ":influx").await;
    assert_eq!(
        ada.get(&format!("{MESSAGES}?tags=:influx:1")).await,
        json!([comment])
    );
    assert_eq!(
        ada.get(&format!("{MESSAGES}?tags=influx:1")).await,
        json!([])
    );
}

/// A comment on the first message of the flow, with its writer.
async fn comment_on(server: &Server, tag: &str) -> (Caller, Json) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ben.client, &["acme/main"]).await;
    let parent = ada.say("acme/main", "a question").await;
    assert_eq!(parent["id"], 1);
    ada.does(
        Method::POST,
        &format!("{MESSAGES}/1/comments"),
        &json!({"content": "an answer #tea"}),
    )
    .await;
    let told = stream.event("comment").await;
    assert_eq!(told["tags"], json!([format!("{tag}:1"), "tea"]));
    assert_eq!(ada.get(&format!("{MESSAGES}/{}", told["id"])).await, told);
    (ada, told)
}

/// Shows: 4.3
async fn the_specification_names_its_own_headers(server: Server) {
    let Acme { ada, .. } = server.acme();
    let answer = ada.send(Method::GET, "/flows", &Json::Null).await;
    assert_eq!(
        answer.header("service-user"),
        Some(ada.id.to_string().as_str())
    );
    assert_eq!(answer.header("flowdock-user"), None);
}

async fn the_old_header_does_not_make_a_post_wait(server: Server) {
    let Acme { ada, .. } = server.acme();
    for (header, expected) in [
        ("x-flowdock-wait-for-message", StatusCode::ACCEPTED),
        ("x-service-wait-for-message", StatusCode::OK),
    ] {
        let request = ada
            .client
            .request(Method::POST, MESSAGES)
            .header(header, "true");
        assert_eq!(
            request.json(&chat("hello")).send().await.unwrap().status,
            expected,
            "{header}"
        );
    }
}

/// The numbers of the messages that a list of the flow has.
async fn listed(caller: &Caller, query: &str) -> Vec<i64> {
    let found = caller.get(&format!("{MESSAGES}?{query}")).await;
    found
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["id"].as_i64().unwrap())
        .collect()
}

async fn a_search_with_tags_finds_what_has_either(server: Server) {
    let Acme { ada, .. } = server.acme();
    for text in ["tea please", "#tea", "#tea #milk", "milk", "nothing"] {
        ada.say("acme/main", text).await;
    }
    ada.post(
        "acme/main",
        &json!({"event": "status", "content": "please"}),
    )
    .await;
    ada.does(
        Method::POST,
        &format!("{MESSAGES}/4/comments"),
        &json!({"content": "please #tea"}),
    )
    .await;
    for (query, found) in [
        ("search=please&tags=tea", &[1, 2, 3, 6, 7][..]),
        ("search=please&tags=tea,milk", &[1, 3, 6, 7]),
        ("search=please&tags=tea,milk&tag_mode=or&limit=2", &[6, 7]),
        ("search=please&tags=tea&sort=asc&limit=2&skip=1", &[2, 3]),
        ("search=please&tags=tea&event=message", &[1, 2, 3]),
        ("search=please&tags=tea&beyond_id=3", &[1, 2]),
        // Of a search, its bounds do not count, also where no word of it can be searched for.
        ("search=please&tags=tea&since_id=2", &[1, 2, 3, 6, 7]),
        ("search=!!!&tags=milk&since_id=3", &[3]),
        ("search=please&tags=@nobody", &[1, 6, 7]),
        ("search=milk", &[3, 4]),
        ("tags=tea&since_id=2", &[3, 7]),
    ] {
        assert_eq!(listed(&ada, query).await, found, "{query}");
    }
    let comments = ada
        .get(&format!("{MESSAGES}/4/comments?search=nothing&tags=tea"))
        .await;
    assert_eq!(comments[0]["id"], 7);
}

async fn a_search_is_narrowed_by_tags(server: Server) {
    let Acme { ada, .. } = server.acme();
    for text in ["tea please", "#tea", "#tea please"] {
        ada.say("acme/main", text).await;
    }
    assert_eq!(listed(&ada, "search=please&tags=tea").await, [3]);
}

async fn an_api_token_is_taken_as_an_access_token(server: Server) {
    let Acme { ada, ben } = server.acme();
    let anonymous = |method, path| ada.client.request(method, path).anonymous();
    for _ in 0..2 {
        let me: Json = anonymous(Method::GET, "/user")
            .query("access_token", &ada.token)
            .call()
            .await
            .unwrap();
        assert_eq!(me["id"], ada.id);
    }
    let said = json!({"event": "message", "content": "hello", "access_token": ben.token});
    let said: Json = anonymous(Method::POST, MESSAGES)
        .json(&said)
        .call()
        .await
        .unwrap();
    assert_eq!(said["user"], ben.id.to_string());
    let unknown = anonymous(Method::GET, "/user")
        .query("access_token", "not-a-token")
        .send()
        .await
        .unwrap();
    assert_eq!(unknown.status, StatusCode::UNAUTHORIZED);
    let challenge = unknown.header("www-authenticate").unwrap();
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");

    let robot = server.robot("acme", &[]);
    let tokens = robot.by_password(&ben, "flow").await;
    let access = tokens["access_token"].as_str().unwrap();
    let flows = anonymous(Method::GET, "/flows")
        .query("access_token", access)
        .send()
        .await
        .unwrap();
    assert_eq!(flows.status, StatusCode::OK);
    let private = anonymous(Method::GET, "/private")
        .query("access_token", access)
        .send()
        .await
        .unwrap();
    assert_eq!(
        private.status,
        StatusCode::FORBIDDEN,
        "an access token is good for its scopes only"
    );
}

async fn an_api_token_is_no_access_token(server: Server) {
    let Acme { ada, .. } = server.acme();
    let request = ada
        .client
        .request(Method::GET, "/user")
        .anonymous()
        .query("access_token", &ada.token);
    assert_eq!(
        request.send().await.unwrap().status,
        StatusCode::UNAUTHORIZED
    );
}
