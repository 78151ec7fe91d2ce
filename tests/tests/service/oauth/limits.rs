//! Guessing is stopped for a while, by address; nobody can lock a client out from elsewhere.

use eddyline_client::{Method, RawResponse};
use eddyline_tests::{PASSWORD, Robot, Server, on_both_databases};

on_both_databases![
    &["--trusted-proxy", "127.0.0.1"];
    a_hundred_wrong_secrets_stop_an_address,
    codes_and_refresh_tokens_count_together,
    a_wrong_password_counts_as_everywhere,
    access_tokens_count_nowhere
];
on_both_databases![&["--oauth-attempts-per-address", "2"]; the_number_can_be_set];

/// Asks from an address, as a proxy tells it.
async fn ask(server: &Server, address: &str, fields: &[(&str, &str)]) -> RawResponse {
    let client = server.client().build().unwrap();
    let request = client
        .request(Method::POST, "/oauth/token")
        .header("X-Forwarded-For", address);
    request
        .header("Accept", "application/json")
        .form(fields)
        .send()
        .await
        .unwrap()
}

fn refresh<'a>(robot: &'a Robot, secret: &'a str, token: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("grant_type", "refresh_token"),
        ("client_id", &robot.client_id),
        ("client_secret", secret),
        ("refresh_token", token),
    ]
}

fn must_wait(answer: &RawResponse) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}

async fn a_hundred_wrong_secrets_stop_an_address(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    let secret = robot.client_secret.clone().unwrap();
    let tokens = robot.by_password(&ben, "offline_access").await;
    let token = tokens["refresh_token"].as_str().unwrap();
    for number in 0..100 {
        let wrong = format!("{secret}{number}");
        assert_eq!(
            ask(&server, "192.0.2.1", &refresh(&robot, &wrong, token))
                .await
                .status,
            401
        );
    }
    must_wait(&ask(&server, "192.0.2.1", &refresh(&robot, &secret, token)).await);
    let elsewhere = ask(&server, "192.0.2.2", &refresh(&robot, &secret, token)).await;
    assert_eq!(elsewhere.status, 200, "{}", elsewhere.text());
}

async fn codes_and_refresh_tokens_count_together(server: Server) {
    server.organization("acme");
    let robot = server.robot("acme", &[]);
    let secret = robot.client_secret.clone().unwrap();
    for number in 0..50 {
        let guess = format!("guess {number}");
        let code = [
            ("grant_type", "authorization_code"),
            ("client_id", &*robot.client_id),
            ("client_secret", &*secret),
            ("code", &*guess),
        ];
        assert_eq!(ask(&server, "192.0.2.1", &code).await.status, 400);
        assert_eq!(
            ask(&server, "192.0.2.1", &refresh(&robot, &secret, &guess))
                .await
                .status,
            400
        );
    }
    must_wait(&ask(&server, "192.0.2.1", &refresh(&robot, &secret, "another")).await);
    // A visitor who shows an application wrong codes does not keep the application from ending
    // tokens.
    let client = server.client().build().unwrap();
    let request = client
        .request(Method::POST, "/oauth/revoke")
        .header("X-Forwarded-For", "192.0.2.1");
    let fields = [
        ("client_id", &*robot.client_id),
        ("client_secret", &*secret),
        ("token", "any"),
    ];
    assert_eq!(request.form(&fields).send().await.unwrap().status, 200);
    // What is plainly wrong is no guess.
    for _ in 0..150 {
        let unreadable = [
            ("client_id", &*robot.client_id),
            ("client_secret", &*secret),
        ];
        assert_eq!(ask(&server, "192.0.2.2", &unreadable).await.status, 400);
    }
}

async fn a_wrong_password_counts_as_everywhere(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    let secret = robot.client_secret.clone().unwrap();
    let with = |password: &'static str| {
        let fields = [
            ("grant_type", "password"),
            ("client_id", robot.client_id.as_str()),
            ("client_secret", secret.as_str()),
            ("username", ben.email.as_str()),
            ("password", password),
        ];
        let server = &server;
        async move { ask(server, "192.0.2.1", &fields).await }
    };
    for _ in 0..10 {
        assert_eq!(with("wrong").await.json()["error"], "invalid_grant");
    }
    must_wait(&with(PASSWORD).await);
    let basic = format!("Basic {}", eddyline_tests::basic(&ben.email, PASSWORD));
    let request = ben
        .client
        .request(Method::GET, "/user")
        .anonymous()
        .header("Authorization", basic);
    let answer = request
        .header("X-Forwarded-For", "192.0.2.1")
        .send()
        .await
        .unwrap();
    assert_eq!(
        answer.status, 429,
        "the limit is one for all ways of showing a password"
    );
}

async fn access_tokens_count_nowhere(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    for number in 0..150 {
        assert_eq!(robot.status(&format!("wrong {number}").into()).await, 401);
    }
    let tokens = robot.by_password(&ben, "flow").await;
    assert_eq!(robot.status(&tokens["access_token"]).await, 200);
}

async fn the_number_can_be_set(server: Server) {
    server.organization("acme");
    let robot = server.robot("acme", &[]);
    for _ in 0..2 {
        robot
            .refused(
                &[("grant_type", "refresh_token"), ("refresh_token", "wrong")],
                "invalid_grant",
            )
            .await;
    }
    let fields = [("grant_type", "refresh_token"), ("refresh_token", "wrong")];
    must_wait(&robot.ask("/oauth/token", &fields).await);
}
