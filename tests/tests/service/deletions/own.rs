//! Administrators delete their organization themselves: who may, what the others learn, and what is
//! left.

use eddyline_client::{Client, Json, Method, RawResponse};
use eddyline_tests::{
    Acme, Backend, CSRF, Caller, Listener, PASSWORD, Server, Visitor, on_both_databases, run,
};
use serde_json::json;

use super::{MAIN, MESSAGES, answer, is_closed, refusal, seen};
use crate::retention::run_sql;

on_both_databases![
    an_administrator_deletes_an_organization_and_restores_it,
    nothing_is_left_when_the_grace_time_is_over,
    what_an_operator_requested_only_operators_cancel,
    the_pages_delete_and_restore_an_organization,
    a_script_deletes_nothing_long_after_the_user_signed_in,
    a_provider_gives_no_nick_that_a_closed_organization_has,
];

const ACME: &str = "/organizations/acme";
const DELETION: &str = "/organizations/acme/deletion";

async fn send(client: &Client, method: Method, path: &str, body: &Json) -> RawResponse {
    let request = client.request(method, path);
    let request = match body.is_null() {
        true => request,
        false => request.json(body),
    };
    request.send().await.unwrap()
}

/// The endpoints, each with a request that an administrator could send.
fn requests() -> [(Method, &'static str, Json); 3] {
    [
        (Method::DELETE, ACME, json!({"name": "acme"})),
        (Method::GET, DELETION, Json::Null),
        (Method::DELETE, DELETION, Json::Null),
    ]
}

/// Callers without the permission, each with the status that all three endpoints answer.
async fn others(server: &Server, acme: &Acme) -> Vec<(&'static str, Client, [u16; 3])> {
    server.organization("other");
    let stranger = server.user("other", "eve");
    let foreign = server.administrator("other", "olga");
    let token = server.admin(&["flow", "token", "--flow", MAIN]);
    let token = token["flow_token"].as_str().unwrap().to_owned();
    let flow_token = server
        .client()
        .credentials(eddyline_client::Credentials::FlowToken(token));
    let robot = server.robot("acme", &[]);
    let narrow = robot.by_password(&acme.ada, "flow private profile").await;
    vec![
        ("member", acme.ben.client.clone(), [403; 3]),
        ("stranger", stranger.client, [404; 3]),
        ("foreign administrator", foreign.client, [404; 3]),
        (
            "narrow token",
            robot.with(&narrow["access_token"]),
            [403; 3],
        ),
        ("flow token", flow_token.build().unwrap(), [403; 3]),
        ("nobody", server.client().build().unwrap(), [401; 3]),
    ]
}

async fn are_refused(others: &[(&'static str, Client, [u16; 3])], when: &str) {
    for (who, client, statuses) in others {
        for ((method, path, body), status) in requests().into_iter().zip(statuses) {
            let found = send(client, method.clone(), path, &body).await;
            assert_eq!(
                found.status,
                *status,
                "{method} {path} by {who} {when}: {}",
                found.text()
            );
        }
    }
}

async fn wrong_names_are_refused(ada: &Caller) {
    for wrong in [json!({}), json!({"name": "Acme"}), json!({"name": "other"})] {
        let found = ada.send(Method::DELETE, ACME, &wrong).await;
        assert_eq!(found.status, 400, "{wrong}: {}", found.text());
        assert!(found.text().contains("\"name\""), "{}", found.text());
    }
}

async fn an_administrator_deletes_an_organization_and_restores_it(server: Server) {
    let acme = server.acme();
    let Acme { ada, ben } = &acme;
    let cara = server.administrator("acme", "cara");
    ada.say(MAIN, "before").await;
    let others = others(&server, &acme).await;
    are_refused(&others, "while it is open").await;
    for (method, path, _) in &requests()[1..] {
        let missing = ada.send(method.clone(), path, &Json::Null).await;
        assert_eq!(missing.status, 404, "{}", missing.text());
    }
    wrong_names_are_refused(ada).await;
    let before = (seen(ada).await, seen(ben).await);
    let stream = Listener::to(&ben.client, &[MAIN]).await;

    let requested = ada.client.delete_organization("acme").await.unwrap();
    assert_eq!(requested.requested_by, Some(ada.id));
    assert!(requested.cancellable);
    assert!(requested.due_at > requested.requested_at, "{requested:?}");
    stream.rest().await;
    for caller in [ada, ben, &cara] {
        for path in [ACME, "/flows/acme/main", MESSAGES] {
            is_closed(&caller.send(Method::GET, path, &Json::Null).await);
        }
        assert_eq!(caller.get("/flows").await, json!([]));
    }
    is_closed(
        &ada.send(Method::DELETE, ACME, &json!({"name": "acme"}))
            .await,
    );
    are_refused(&others, "while it is closed").await;
    is_closed(&ben.send(Method::GET, DELETION, &Json::Null).await);
    let by_cara = cara.client.organization_deletion("acme").await.unwrap();
    assert_eq!(by_cara, requested);
    for caller in [ada, &cara] {
        let letter = server.letter(&caller.email, 1).await;
        assert!(letter.text.contains("ada requested"), "{}", letter.text);
        assert!(
            letter.text.contains(&requested.due_at[..10]),
            "{}",
            letter.text
        );
        assert!(letter.link().ends_with("/app/acme/settings/deletion"));
    }
    assert_eq!(server.letters_to(&ben.email).len(), 0);

    cara.client
        .cancel_organization_deletion("acme")
        .await
        .unwrap();
    assert_eq!((seen(ada).await, seen(ben).await), before);
    let mut stream = Listener::to(&ben.client, &[MAIN]).await;
    ada.say(MAIN, "we are back").await;
    assert_eq!(stream.event("message").await["content"], "we are back");
    let letter = server.letter(&ada.email, 2).await;
    assert!(letter.text.contains("cara cancelled"), "{}", letter.text);
    are_refused(&others, "afterwards").await;
    let records = server.admin(&["audit", "--org", "acme"]);
    for (action, by) in [("deletion_request", ada), ("deletion_cancel", &cara)] {
        let records = records["records"].as_array().unwrap();
        let action = format!("organization.{action}");
        let record = records.iter().find(|record| record["action"] == action);
        assert_eq!(record.unwrap()["actor"], format!("user:{}", by.id));
    }
}

async fn nothing_is_left_when_the_grace_time_is_over(server: Server) {
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "a word that goes").await;
    server.admin(&["hold", "place", "--email", &ben.email]);
    let held = ada
        .send(Method::DELETE, ACME, &json!({"name": "acme"}))
        .await;
    assert_eq!(held.status, 409, "{}", held.text());
    assert!(!held.text().contains(&ben.email), "{}", held.text());
    server.admin(&["hold", "release", "--email", &ben.email]);

    // Also with the parameter in the query, as in other requests without a body.
    let path = format!("{ACME}?name=acme");
    let requested = ada.send(Method::DELETE, &path, &Json::Null).await;
    assert_eq!(requested.status, 202, "{}", requested.text());
    run_sql(&server, "update pending_deletions set due_at = 0");
    let done = answer(&server, &["delete", "run"]);
    assert_eq!(
        (&done["organizations"], &done["users"]),
        (&json!(1), &json!(2)),
        "{done}"
    );
    for gone in [&ada, &ben] {
        let refused = gone.send(Method::GET, "/user", &Json::Null).await;
        assert_eq!(refused.status, 401);
    }
    let records = server.admin(&["audit", "--action", "organization.delete"]);
    assert_eq!(
        records["records"][0]["detail"]["requested_by"],
        format!("user:{}", ada.id)
    );
    server.organization("acme");
}

async fn what_an_operator_requested_only_operators_cancel(server: Server) {
    let Acme { ada, .. } = server.acme();
    server.admin(&["delete", "organization", "acme", "--no-export"]);
    let seen = ada.client.organization_deletion("acme").await.unwrap();
    assert_eq!((seen.requested_by, seen.cancellable), (None, false));
    let refused = ada.send(Method::DELETE, DELETION, &Json::Null).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(
        refused.text().contains("only operators"),
        "{}",
        refused.text()
    );
    let letter = server.letter(&ada.email, 1).await;
    assert!(letter.text.contains("An operator of the server requested"));
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    let page = visitor.get(PAGE).await;
    page.says(200, "only operators can restore it");
    assert!(!page.text.contains("Restore organization"), "{}", page.text);

    // It may be opened again, and would have no administrator.
    let complaint = refusal(&server, &["erase", "--email", &ada.email, "--yes"]);
    assert!(complaint.contains("last administrator"), "{complaint}");
    server.admin(&["delete", "cancel", "organization", "acme"]);
    let letter = server.letter(&ada.email, 2).await;
    assert!(letter.text.contains("An operator of the server cancelled"));
    assert_eq!(ada.get(ACME).await["active"], true);
}

async fn ada_gets_two_mails_a_day(server: Server) {
    let Acme { ada, .. } = server.acme();
    ada.client.delete_organization("acme").await.unwrap();
    server.letter(&ada.email, 1).await;
    ada.client
        .cancel_organization_deletion("acme")
        .await
        .unwrap();
    let letter = server.letter(&ada.email, 2).await;
    assert!(letter.subject.contains("will not be deleted"));
    // Nothing is closed of which an administrator could not learn.
    let refused = send(&ada.client, Method::DELETE, ACME, &json!({"name": "acme"})).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(ada.get(ACME).await["active"], true);
    // Mail of another kind has a count of its own, and would come after a third one.
    let mut visitor = server.visitor();
    visitor.post("/password", &[("email", &ada.email)]).await;
    let letter = server.letter(&ada.email, 3).await;
    assert!(letter.subject.contains("password"), "{letter:?}");
}

#[test]
fn deletions_that_come_and_go_fill_no_mailbox() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let options = ["--mail-per-recipient-day", "2"];
        run(backend, &options, ada_gets_two_mails_a_day);
    }
}

async fn a_script_deletes_nothing_long_after_the_user_signed_in(server: Server) {
    let Acme { ada, .. } = server.acme();
    let mut script = server.signed_in(&ada.email, PASSWORD).await;
    run_sql(
        &server,
        "update sessions set created_at = created_at - 86400000",
    );
    let token = format!("X-CSRF-Token: {}", script.cookie(CSRF).unwrap());
    let path = "/app/-/api/organizations/acme?name=acme";
    let refused = script.send("DELETE", path, &[&token], "").await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(refused.text.contains("Sign in again"), "{}", refused.text);
    assert_eq!(ada.get(ACME).await["active"], true);
}

const PAGE: &str = "/app/acme/settings/deletion";

async fn asks_for_the_name(ada: &mut Visitor) {
    let settings = ada.get("/app/acme/settings").await;
    settings.says(200, &format!("href=\"{PAGE}\""));
    let page = ada.get(PAGE).await;
    page.says(200, "After 30 days it is deleted");
    page.says(200, "ask an operator of this server for an export first");
    page.is_named_throughout(PAGE);
    let wrong = ada.post(PAGE, &[("do", "delete"), ("name", "main")]).await;
    wrong.says(400, "must be the name in addresses, acme");
    assert_eq!(ada.post(PAGE, &[("do", "burn")]).await.status, 400);
}

async fn the_pages_delete_and_restore_an_organization(server: Server) {
    let Acme { ada, ben } = server.acme();
    let other = ["user", "create", "--org", "other", "--name", "Ben"];
    server.organization("other");
    server.admin(&[&other[..], &["--nick", "ben", "--email", &ben.email]].concat());
    server.flow("other", "main", &[&ben]);
    let mut ada = server.signed_in(&ada.email, PASSWORD).await;
    let mut member = server.signed_in(&ben.email, PASSWORD).await;
    let settings = member.get("/app/acme/settings").await;
    assert!(!settings.text.contains("Delete organization"));
    assert_eq!(member.get(PAGE).await.status, 403);
    asks_for_the_name(&mut ada).await;

    let sent = ada.post(PAGE, &[("do", "delete"), ("name", "acme")]).await;
    assert_eq!(sent.sent_on(), PAGE);
    let page = ada.get(PAGE).await;
    page.says(200, "acme is closed");
    page.says(200, "Restore organization");
    let page = member.get(PAGE).await;
    page.says(200, "It will be deleted on 20");
    page.says(200, "Its administrators can restore it until then.");
    assert!(!page.text.contains("Restore organization"), "{}", page.text);
    for path in [
        "/app/acme/main",
        "/app/acme/settings",
        "/app/acme/main/threads",
    ] {
        let page = member.get(path).await;
        page.says(403, "This organization is closed");
        page.says(403, &format!("href=\"{PAGE}\""));
    }
    let start = member.get("/app").await;
    start.says(200, &format!("href=\"{PAGE}\""));
    start.says(200, "href=\"/app/other/main\"");
    assert_eq!(member.get("/app/other/main").await.status, 200);
    let refused = member.post(PAGE, &[("do", "restore")]).await;
    refused.says(403, "This organization is closed");

    let restored = ada.post(PAGE, &[("do", "restore")]).await;
    let next = "/app/acme/settings?done=restored";
    assert_eq!(restored.sent_on(), next);
    ada.get(next)
        .await
        .says(200, "The organization is restored.");
    let again = ada.post(PAGE, &[("do", "restore")]).await;
    assert_eq!(again.sent_on(), "/app/acme/settings");
    assert_eq!(member.get("/app/acme/main").await.status, 200);
}

async fn a_provider_gives_no_nick_that_a_closed_organization_has(server: Server) {
    let Acme { ben, .. } = server.acme();
    server.organization("other");
    let into = ["user", "create", "--org", "other", "--name", "Ben"];
    server.admin(&[&into[..], &["--nick", "ben", "--email", &ben.email]].concat());
    let provider = server.provider("other");
    let linked = server.admin(&["scim", "link", "--org", "other", "--email", &ben.email]);
    server.admin(&["delete", "organization", "acme", "--no-export"]);
    let path = format!("/Users/{}", linked["id"]);
    let nick = json!({"nickName": "ada"});
    let refused = provider.scim(Method::PUT, &path, Some(&nick)).await;
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert!(refused.text().contains("uniqueness"), "{}", refused.text());
}
