//! Who cannot trigger what. None of it reaches the integration.

use eddyline_client::{Client, Credentials, Json, Method};
use eddyline_tests::{Acme, PASSWORD, Server, on_both_databases};
use serde_json::json;

use super::{Stage, close, is_done, path, push, source, trigger, update, with_flow_token};

on_both_databases![crate::actions::OPTIONS;
    only_people_of_the_flow_trigger_actions,
    an_application_triggers_actions_with_the_scope_for_flows,
    only_what_a_thread_offers_is_triggered,
    an_action_nobody_signs_for_is_not_triggered,
    after_its_source_or_its_application_is_gone_an_action_is_not_triggered,
];

async fn status(client: &Client, thread: &str, position: &str) -> u16 {
    trigger(client, thread, position, &Json::Null)
        .await
        .status
        .as_u16()
}

async fn only_people_of_the_flow_trigger_actions(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let Stage {
        server,
        acme: Acme { ada, ben },
        ..
    } = &stage;
    let blocked = server.user("acme", "bert");
    server.admin(&[
        "flow",
        "add-user",
        "--flow",
        "acme/main",
        "--email",
        &blocked.email,
    ]);
    let block = format!("/flows/acme/main/users/{}", blocked.id);
    ada.does(Method::PUT, &block, &json!({"disabled": true}))
        .await;
    server.organization("other");
    let own = with_flow_token(
        server,
        &server.admin(&["flow", "token", "--flow", "acme/main"]),
    );
    server.flow("acme", "second", &[]);
    let foreign = with_flow_token(
        server,
        &server.admin(&["flow", "token", "--flow", "acme/second"]),
    );
    let nobody = server.client().build().unwrap();
    for (who, client, expected) in [
        ("outsider", &server.user("acme", "olga").client, 403),
        (
            "outside administrator",
            &server.administrator("acme", "otto").client,
            403,
        ),
        ("blocked", &blocked.client, 403),
        (
            "stranger",
            &server.administrator("other", "sven").client,
            404,
        ),
        ("the source itself", &stage.source, 403),
        ("the flow's token", &own, 403),
        ("another flow's token", &foreign, 404),
        ("nobody", &nobody, 401),
        (
            "a wrong token",
            &nobody.with_credentials(Credentials::Bearer("wrong".into())),
            401,
        ),
    ] {
        assert_eq!(status(client, &thread, "0").await, expected, "{who}");
    }
    assert!(stage.receiver.asked().is_empty());
    for client in [&ada.client, &ben.client, &ben.by_password()] {
        assert_eq!(status(client, &thread, "0").await, 200);
    }
    assert_eq!(stage.receiver.asked().len(), 3);
}

async fn an_application_triggers_actions_with_the_scope_for_flows(server: Server) {
    let stage = Stage::set(server).await;
    let thread = stage.thread().await;
    let other = stage.server.robot("acme", &[]);
    for (scope, expected) in [
        ("flow", 200),
        ("private manage profile integration", 403),
        ("integration", 403),
        ("", 200),
    ] {
        let tokens = other.by_password(&stage.acme.ben, scope).await;
        let client = other.with(&tokens["access_token"]);
        assert_eq!(status(&client, &thread, "0").await, expected, "{scope:?}");
    }
    // No matter who triggers it, it is signed for the application that offers it.
    let asked = stage.receiver.asked();
    assert_eq!(asked.len(), 2);
    for request in asked {
        assert_eq!(request.claims()["aud"], stage.robot.client_id);
        assert_eq!(request.claims()["sub"], stage.acme.ben.id.to_string());
    }
}

/// Shows: 2.32
async fn only_what_a_thread_offers_is_triggered(server: Server) {
    let stage = Stage::set(server).await;
    let ben = &stage.acme.ben;
    let url = stage.receiver.url("/close");
    let view = json!({"@type": "ViewAction", "name": "Look", "url": url});
    let thread = push(&stage.source, "1", &[view, close(&url)]).await;
    for position in [
        "2",
        "20",
        "-1",
        "x",
        "1.0",
        "01",
        "+1",
        "%2B1",
        "18446744073709551616",
    ] {
        assert_eq!(
            status(&ben.client, &thread, position).await,
            404,
            "{position}"
        );
    }
    let link = stage.trigger(ben, &thread, "0").await;
    let text = "is that of a link, which there is nothing to be asked for";
    let expected = json!({"message": "Validation error", "errors": {"position": [text]}});
    assert_eq!((link.status.as_u16(), link.json()), (400, expected));
    for (name, expected) in [("Open", 409), ("close", 409), ("", 409)] {
        let answer = trigger(&ben.client, &thread, "1", &json!({"name": name})).await;
        assert_eq!(answer.status, expected, "{name:?}: {}", answer.text());
    }
    let wrong = trigger(&ben.client, &thread, "1", &json!({"name": ["Close"]})).await;
    assert_eq!(wrong.status, 400);

    let plain = ben.say("acme/main", "hello").await;
    let nothing = push(&stage.source, "2", &[]).await;
    stage.server.flow("acme", "second", &[ben]);
    let elsewhere = ben.say("acme/second", "hello").await;
    for other in [
        plain["thread_id"].as_str(),
        Some(&nothing),
        elsewhere["thread_id"].as_str(),
        Some("x"),
    ] {
        assert_eq!(
            status(&ben.client, other.unwrap(), "0").await,
            404,
            "{other:?}"
        );
    }
    let second = path(&thread, "1").replace("/main/", "/second/");
    assert_eq!(
        ben.send(Method::POST, &second, &Json::Null).await.status,
        404
    );
    assert_eq!(
        ben.send(Method::GET, &path(&thread, "1"), &Json::Null)
            .await
            .status,
        405
    );
    assert!(stage.receiver.asked().is_empty());
    is_done(&stage.trigger(ben, &thread, "1").await);
}

async fn an_action_nobody_signs_for_is_not_triggered(server: Server) {
    let stage = Stage::set(server).await;
    let url = stage.receiver.url("/close");
    let flow = with_flow_token(
        &stage.server,
        &stage
            .server
            .admin(&["flow", "token", "--flow", "acme/main"]),
    );
    let public = stage.server.robot("acme", &["--public"]);
    let (public, _) = source(&stage.server, &public);
    for (source, message) in [
        (
            flow,
            "No application keeps this thread, so its requests cannot be signed",
        ),
        (
            public,
            "The application that keeps this thread has no secret, so its requests cannot be signed",
        ),
    ] {
        let thread = push(&source, "1", &[update("Close", "GET", &url)]).await;
        let answer = stage.trigger(&stage.acme.ben, &thread, "0").await;
        assert_eq!(answer.status, 424);
        assert_eq!(answer.json(), json!({"message": message, "status": null}));
    }
    assert!(stage.receiver.asked().is_empty());
}

async fn after_its_source_or_its_application_is_gone_an_action_is_not_triggered(server: Server) {
    let stage = Stage::set(server).await;
    let Stage {
        server,
        acme: Acme { ada, ben },
        ..
    } = &stage;
    let url = stage.receiver.url("/close");
    let thread = stage.thread().await;
    ada.does(
        Method::DELETE,
        &format!("/flows/acme/main/sources/{}", stage.source_id),
        &Json::Null,
    )
    .await;
    let gone = json!({"message": "This source was removed"});
    let answer = stage.trigger(ben, &thread, "0").await;
    assert_eq!((answer.status.as_u16(), answer.json()), (410, gone.clone()));

    let robot = server.robot("acme", &[]);
    let (own, _) = source(server, &robot);
    let thread = push(&own, "1", &[close(&url)]).await;
    // What an application posts for a user belongs to no source once it has several.
    source(server, &robot);
    let tokens = robot.by_password(ben, "flow").await;
    let thread_of_none = {
        let message = json!({
            "event": "activity", "title": "x", "thread_id": thread,
            "thread": {"title": "A ticket", "actions": [close(&url)]},
        });
        let request = robot
            .with(&tokens["access_token"])
            .request(Method::POST, "/flows/acme/main/messages");
        request.json(&message).send().await.unwrap().status.as_u16()
    };
    assert_eq!(thread_of_none, 202);
    is_done(&stage.trigger(ben, &thread, "0").await);
    stage.receiver.asked();

    let mut page = server.signed_in(&ada.email, PASSWORD).await;
    assert_eq!(
        page.post(&format!("/developer/{}/remove", robot.id), &[])
            .await
            .sent_on(),
        "/developer?done=removed"
    );
    let answer = stage.trigger(ben, &thread, "0").await;
    assert_eq!((answer.status.as_u16(), answer.json()), (410, gone));
    assert!(stage.receiver.asked().is_empty());
}
