//! Access tokens end by themselves: on REST, and on the stream.

use eddyline_client::{Client, Json, Method, RawResponse, StreamRequest};
use eddyline_tests::{Acme, Listener, Robot, Server, on_both_databases};

on_both_databases![
    &["--access-token-ttl", "4s"];
    an_access_token_that_has_ended_is_refused_wherever_it_is_shown,
    a_stream_ends_with_the_access_token_that_opened_it,
    a_new_token_goes_on_where_the_stream_of_the_last_one_ended,
];

struct Scene {
    acme: Acme,
    robot: Robot,
}

impl Scene {
    fn set(server: &Server) -> Self {
        Self {
            acme: server.acme(),
            robot: server.robot("acme", &[]),
        }
    }

    /// Tokens of Ben's.
    async fn tokens(&self) -> Json {
        self.robot
            .by_password(&self.acme.ben, "flow private offline_access")
            .await
    }
}

/// Asks until the answer is a refusal.
async fn refusal(client: &Client, path: &str) -> RawResponse {
    loop {
        let answer = client.request(Method::GET, path).send().await.unwrap();
        if !answer.status.is_success() {
            return answer;
        }
    }
}

fn check_ended(answer: &RawResponse) {
    assert_eq!(answer.status, 401, "{}", answer.text());
    assert_eq!(answer.json()["message"], "The access token is not valid");
    let challenge = answer.header("www-authenticate");
    assert_eq!(
        challenge,
        Some("Bearer realm=\"Eddyline\", error=\"invalid_token\"")
    );
    assert_eq!(answer.header("service-user"), None, "nobody is known by it");
}

/// Shows: 3.15, 5.10
async fn an_access_token_that_has_ended_is_refused_wherever_it_is_shown(server: Server) {
    let scene = Scene::set(&server);
    let tokens = scene.tokens().await;
    assert_eq!(tokens["expires_in"], 4);
    let client = scene.robot.with(&tokens["access_token"]);
    check_ended(&refusal(&client, "/user").await);

    let token = tokens["access_token"].as_str().unwrap();
    let request = |method, path: &str| client.request(method, path).anonymous();
    let stream = "/stream/flows?user=1";
    for shown in [
        request(Method::GET, "/user").query("access_token", token),
        request(Method::POST, "/flows/acme/main/messages").form(&[("access_token", token)]),
        request(Method::GET, stream).header("authorization", format!("Bearer {token}")),
        request(Method::GET, stream).query("access_token", token),
    ] {
        check_ended(&shown.send().await.unwrap());
    }
}

/// Streams with one token that holds when they open, and the token. On a busy machine it may have
/// ended until then.
async fn open(scene: &Scene, requests: &[StreamRequest]) -> (Vec<Listener>, Json) {
    loop {
        let tokens = scene.tokens().await;
        let client = scene.robot.with(&tokens["access_token"]);
        let mut streams = Vec::new();
        for request in requests {
            streams.extend(client.stream(request).await.ok().map(Listener::from));
        }
        if streams.len() == requests.len() {
            return (streams, tokens);
        }
    }
}

/// Shows: 5.10
async fn a_stream_ends_with_the_access_token_that_opened_it(server: Server) {
    let scene = Scene::set(&server);
    let mut lasting = Listener::to(&scene.acme.ben.client, &["acme/main"]).await;
    let requests = [
        StreamRequest::new().flow("acme/main").user(),
        StreamRequest::new().path("acme/main").json(),
        StreamRequest::new().user(),
    ];
    let (streams, tokens) = open(&scene, &requests).await;
    for stream in streams {
        stream.rest().await;
        let client = scene.robot.with(&tokens["access_token"]);
        check_ended(&client.request(Method::GET, "/user").send().await.unwrap());
    }
    scene.acme.ada.say("acme/main", "still there?").await;
    assert_eq!(
        lasting.texts_through("still there?").await.len(),
        1,
        "an API token has no end"
    );
}

/// Shows: 3.15
async fn a_new_token_goes_on_where_the_stream_of_the_last_one_ended(server: Server) {
    let scene = Scene::set(&server);
    let mut lasting = Listener::to(&scene.acme.ben.client, &["acme/main"]).await;
    scene.acme.ada.say("acme/main", "zero").await;
    lasting.texts_through("zero").await;
    let begin = lasting.last_event_id();

    let request = StreamRequest::new().flow("acme/main");
    let (mut streams, tokens) = open(&scene, &[request.clone().after(&begin)]).await;
    scene.acme.ada.say("acme/main", "one").await;
    let heard = streams.remove(0).rest_with_ids().await;
    scene.acme.ada.say("acme/main", "two").await;

    let tokens = scene.robot.refresh(&tokens["refresh_token"]).await;
    let last = heard
        .last()
        .map_or(&begin, |event| event.id.as_ref().expect("events have ids"));
    let mut stream = Listener::open(
        &scene.robot.with(&tokens["access_token"]),
        &request.after(last),
    )
    .await;
    let mut texts: Vec<String> = heard
        .iter()
        .map(|event| event.json["content"].as_str().unwrap().to_owned())
        .collect();
    texts.extend(stream.texts_through("two").await);
    assert_eq!(
        texts,
        ["one", "two"],
        "nothing is lost between, and nothing told twice"
    );
}
