//! What an integration may answer, and what becomes of that.

use eddyline_client::Json;
use eddyline_tests::{Server, note_secret, on_both_databases};
use serde_json::json;

use super::{Stage, close, is_done, push};
use crate::receiver::{Answer, status, with_headers};

on_both_databases![crate::actions::OPTIONS;
    an_integration_may_want_the_user_to_sign_in_first,
    a_challenge_that_leads_nowhere_is_not_passed_on,
    an_answer_other_than_200_is_told_with_its_status,
    a_redirect_is_not_followed,
    an_integration_that_does_not_answer_well_is_told,
];

/// What the trigger of an action answers when the integration answers this.
async fn failure(stage: &Stage, thread: &str, answer: String) -> Json {
    stage.receiver.answers(Answer::Text(answer));
    let answered = stage.trigger(&stage.acme.ben, thread, "0").await;
    assert_eq!(answered.status, 424, "{}", answered.text());
    assert_eq!(stage.receiver.asked().len(), 1);
    answered.json()
}

/// Shows: 5.14, 7.7
async fn an_integration_may_want_the_user_to_sign_in_first(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let claim = "eyJhbGciOiJIUzI1NiJ9-eyJzdWIiOiIxIn0";
    note_secret(claim);
    let url = format!("https://tracker.example/sign-in?claim={claim}&to=a,b");
    for challenge in [
        format!("Service-Token url={url}"),
        format!("service-token url=\"{url}\""),
        format!("Flowdock-Token url={url}"),
        format!("Basic realm=\"tickets\", Service-Token url={url}"),
        format!("Basic realm=x\r\nWWW-Authenticate: Service-Token url=\"{url}\", error=\"login\""),
    ] {
        let headers = format!("www-authenticate: {challenge}\r\n");
        let told = failure(&stage, &thread, with_headers("401 Unauthorized", &headers)).await;
        let message = "The integration wants you to sign in there first";
        let expected = json!({"message": message, "status": 401, "authentication_url": url});
        assert_eq!(told, expected, "{challenge}");
    }
    // Having done so, the user tries again.
    stage.receiver.answers(Answer::Text(status("200 OK")));
    is_done(&stage.trigger(&stage.acme.ben, &thread, "0").await);
}

/// Shows: 5.14
async fn a_challenge_that_leads_nowhere_is_not_passed_on(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    for challenge in [
        "Service-Token".to_owned(),
        "Service-Token url=".to_owned(),
        "Service-Token url=/sign-in".to_owned(),
        "Service-Token url=javascript:alert(1)".to_owned(),
        "Service-Token url=data:text/html,hello".to_owned(),
        "Basic url=https://tracker.example/".to_owned(),
        format!(
            "Service-Token url=https://tracker.example/{}",
            "x".repeat(5000)
        ),
    ] {
        let headers = format!("www-authenticate: {challenge}\r\n");
        let told = failure(&stage, &thread, with_headers("401 Unauthorized", &headers)).await;
        let expected =
            json!({"message": "The integration answered with status 401", "status": 401});
        assert_eq!(told, expected, "{challenge}");
    }
}

/// Shows: 6.6
async fn an_answer_other_than_200_is_told_with_its_status(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    for code in [201, 202, 204, 400, 401, 403, 404, 410, 500, 503] {
        let told = failure(
            &stage,
            &thread,
            format!("HTTP/1.1 {code} X\r\nConnection: close\r\n\r\n"),
        )
        .await;
        let message = format!("The integration answered with status {code}");
        assert_eq!(told, json!({"message": message, "status": code}));
    }
    let log = stage.server.log();
    let line = log
        .lines()
        .find(|line| line.contains("an action was not done"))
        .expect("it is logged");
    assert!(
        line.contains("INFO") && line.contains(&thread) && line.contains("201"),
        "{line}"
    );
    assert!(!line.contains("/close"), "{line}");
}

/// Shows: 6.6
async fn a_redirect_is_not_followed(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    for code in [301, 302, 303, 307, 308] {
        let location = format!("Location: {}\r\n", stage.receiver.url("/elsewhere"));
        let told = failure(
            &stage,
            &thread,
            with_headers(&format!("{code} Over there"), &location),
        )
        .await;
        assert_eq!(
            told,
            json!({"message": "The integration answered with a redirect", "status": code})
        );
    }
}

/// Shows: 6.6
async fn an_integration_that_does_not_answer_well_is_told(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    for answer in ["nonsense\r\n\r\n", ""] {
        let told = failure(&stage, &thread, answer.to_owned()).await;
        let message = "The integration's answer cannot be read";
        assert_eq!(told, json!({"message": message, "status": null}));
    }
    // The status says that it is done, whatever follows.
    let large = 65 * 1024;
    let body = "x".repeat(large);
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".to_owned(),
        format!("HTTP/1.1 200 OK\r\nContent-Length: {large}\r\n\r\n{body}"),
        format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{large:x}\r\n{body}\r\n0\r\n\r\n"
        ),
    ] {
        stage.receiver.answers(Answer::Text(answer));
        is_done(&stage.trigger(&stage.acme.ben, &thread, "0").await);
        assert_eq!(stage.receiver.asked().len(), 1);
    }

    stage.receiver.answers(Answer::Silence);
    let told = stage.trigger(&stage.acme.ben, &thread, "0").await;
    let expected = json!({"message": "The integration did not answer in time", "status": null});
    assert_eq!((told.status.as_u16(), told.json()), (424, expected));

    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let thread = push(
        &stage.source,
        "2",
        &[close(&format!("http://127.0.0.1:{port}/"))],
    )
    .await;
    let told = stage.trigger(&stage.acme.ben, &thread, "0").await;
    let expected = json!({"message": "The integration could not be reached", "status": null});
    assert_eq!((told.status.as_u16(), told.json()), (424, expected));
}
