//! Deleting organizations and users: they are closed at once, can be restored until their day, and
//! leave nothing behind.

mod own;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use eddyline_client::{Credentials, Json, Method, RawResponse};
use eddyline_tests::{
    Acme, Backend, Caller, Listener, Patience, Server, eddyline, on_both_databases,
};
use serde_json::json;
use tokio::task::block_in_place;

use crate::backup::{Site, last_line};
use crate::erasure::{MARK, marked};
use crate::files::in_json;
use crate::retention::run_sql;

on_both_databases![
    a_closed_organization_lets_nobody_in_and_comes_back_as_it_was,
    a_legal_hold_stops_a_deletion,
    a_user_is_shut_out_until_the_deletion_is_cancelled,
    a_user_who_is_deactivated_meanwhile_stays_inactive_after_a_cancellation,
    the_last_administrator_of_a_closed_organization_is_not_deleted,
];

const MAIN: &str = "acme/main";
const MESSAGES: &str = "/flows/acme/main/messages";

/// What a command complains of that must fail.
fn complaint(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{command:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

/// Carries a command out that tells how far it is, and gives its answer.
fn answer(server: &Server, arguments: &[&str]) -> Json {
    last_line(&mut server.command(&[&["admin", "--json"], arguments].concat()))
}

fn refusal(server: &Server, arguments: &[&str]) -> String {
    complaint(server.command(&[&["admin"], arguments].concat()))
}

/// What members see of their organization, its flow and each other.
async fn seen(by: &Caller) -> Vec<Json> {
    let mut seen = Vec::new();
    for path in [
        "/flows?users=1",
        "/organizations",
        "/organizations/acme/users",
        "/users",
        "/private",
        "/flows/acme/main/messages?limit=100",
        "/flows/acme/main/users",
    ] {
        seen.push(by.get(path).await);
    }
    seen
}

fn is_closed(answer: &RawResponse) {
    let text = answer.text();
    assert_eq!(answer.status, 403, "{text}");
    assert!(text.contains("This organization is closed"), "{text}");
    assert!(text.contains("will be deleted on 20"), "{text}");
}

async fn a_closed_organization_lets_nobody_in_and_comes_back_as_it_was(server: Server) {
    let Acme { ada, ben } = server.acme();
    server.organization("other");
    let stranger = server.user("other", "eve");
    ada.say(MAIN, "@ben, have you read this?").await;
    let path = format!("/private/{}/messages", ada.id);
    let private = json!({"event": "message", "content": "a word between us"});
    ben.does(Method::POST, &path, &private).await;
    let token = server.admin(&["flow", "token", "--flow", MAIN]);
    let token = token["flow_token"].as_str().unwrap().to_owned();
    let client = server.client().credentials(Credentials::FlowToken(token));
    let by_token = Caller {
        client: client.build().unwrap(),
        id: 0,
        email: String::new(),
        token: String::new(),
    };
    let provider = server.provider("acme");
    let before = (seen(&ada).await, seen(&ben).await);
    let stream = Listener::to(&ben.client, &[MAIN]).await;

    let archive = server.data_directory().join("acme.tar");
    let archive = archive.to_str().unwrap();
    let requested = answer(
        &server,
        &["delete", "organization", "acme", "--export", archive],
    );
    assert_eq!(requested["what"], "organization acme");
    last_line(eddyline().args(["verify", "--json", archive]));
    assert!(
        stream
            .rest()
            .await
            .iter()
            .all(|told| told["event"] != "message"),
        "the stream ends"
    );
    let message = json!({"event": "message", "content": "too late"});
    for caller in [&ada, &ben] {
        is_closed(
            &caller
                .send(Method::GET, "/organizations/acme", &Json::Null)
                .await,
        );
        is_closed(
            &caller
                .send(Method::GET, "/flows/acme/main", &Json::Null)
                .await,
        );
        is_closed(&caller.send(Method::GET, MESSAGES, &Json::Null).await);
        is_closed(&caller.send(Method::POST, MESSAGES, &message).await);
        assert_eq!(caller.get("/flows").await, json!([]));
        assert_eq!(caller.get("/organizations").await, json!([]));
    }
    let refused = ben.send(Method::POST, &path, &private).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    is_closed(&by_token.send(Method::POST, MESSAGES, &message).await);
    is_closed(&provider.scim(Method::GET, "/Users", None).await);
    let unknown = stranger
        .send(Method::GET, "/flows/acme/main", &Json::Null)
        .await;
    assert_eq!(unknown.status, 404, "strangers do not learn of it");
    for (arguments, reason) in [
        (
            &["delete", "organization", "acme", "--no-export"][..],
            "requested already",
        ),
        (
            &["org", "update", "--org", "acme", "--active", "true"],
            "to be deleted",
        ),
        (
            &[
                "user",
                "create",
                "--org",
                "acme",
                "--email",
                "new@example.org",
                "--name",
                "New",
                "--nick",
                "new",
            ],
            "closed",
        ),
        (
            &[
                "flow",
                "add-user",
                "--flow",
                MAIN,
                "--email",
                &stranger.email,
            ],
            "",
        ),
    ] {
        let complaint = refusal(&server, arguments);
        assert!(complaint.contains(reason), "{arguments:?}: {complaint}");
    }
    let listed = server.admin(&["delete", "list"]);
    assert_eq!(listed["deletions"][0]["what"], "organization acme");
    assert_eq!(listed["deletions"][0]["requested_by"], "operator");

    let cancelled = server.admin(&["delete", "cancel", "organization", "acme"]);
    assert_eq!(cancelled["cancelled"], true);
    assert_eq!((seen(&ada).await, seen(&ben).await), before);
    let mut stream = Listener::to(&ben.client, &[MAIN]).await;
    ada.say(MAIN, "we are back").await;
    assert_eq!(stream.event("message").await["content"], "we are back");
    by_token
        .does(
            Method::POST,
            MESSAGES,
            &json!({"event": "message", "content": "me too", "external_user_name": "Bot"}),
        )
        .await;
    provider.get("/Users").await;
    let complaint = refusal(&server, &["delete", "cancel", "organization", "acme"]);
    assert!(
        complaint.contains("a deletion of organization acme was not found"),
        "{complaint}"
    );
    let records = server.admin(&["audit", "--org", "acme"]);
    for action in [
        "organization.deletion_request",
        "organization.deletion_cancel",
    ] {
        assert!(records.to_string().contains(action), "{records}");
    }
}

async fn a_legal_hold_stops_a_deletion(server: Server) {
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "a word that is held").await;
    server.admin(&["hold", "place", "--email", &ben.email, "--reason", "a case"]);
    let complaint = refusal(&server, &["delete", "organization", "acme", "--no-export"]);
    assert!(
        complaint.contains("legal hold on the user ben@"),
        "{complaint}"
    );
    server.admin(&["hold", "release", "--email", &ben.email]);

    server.admin(&["delete", "organization", "acme", "--no-export"]);
    server.admin(&["hold", "place", "--flow", MAIN]);
    run_sql(&server, "update pending_deletions set due_at = 0");
    let complaint = refusal(&server, &["delete", "run"]);
    assert!(
        complaint.contains("1 deletion waits for a legal hold"),
        "{complaint}"
    );
    let listed = server.admin(&["delete", "list"]);
    assert_eq!(listed["deletions"][0]["held_by"], "flow acme/main");
    assert_eq!(listed["deletions"][0]["begun"], false);
    server.admin(&["delete", "cancel", "organization", "acme"]);
    let found = ada.get(&format!("{MESSAGES}?search=held")).await;
    assert_eq!(found[0]["content"], "a word that is held");
    server.admin(&["hold", "release", "--flow", MAIN]);
    answer(
        &server,
        &[
            "delete",
            "organization",
            "acme",
            "--no-export",
            "--grace",
            "0d",
            "--yes",
        ],
    );
    assert_eq!(server.admin(&["delete", "list"])["deletions"], json!([]));
}

async fn a_user_is_shut_out_until_the_deletion_is_cancelled(server: Server) {
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "of ben").await;
    let complaint = refusal(&server, &["delete", "user", &ada.email, "--no-export"]);
    assert!(complaint.contains("last administrator"), "{complaint}");
    let complaint = refusal(&server, &["delete", "user", &ben.email]);
    assert!(complaint.contains("--export"), "{complaint}");
    server.admin(&["delete", "user", &ben.email, "--no-export", "--grace", "7d"]);
    let refused = ben.by_password().request(Method::GET, "/user").send().await;
    assert_eq!(refused.unwrap().status, 401);
    let complaint = refusal(
        &server,
        &[
            "user",
            "set-active",
            "--email",
            &ben.email,
            "--active",
            "true",
        ],
    );
    assert!(complaint.contains("is to be deleted"), "{complaint}");
    server.admin(&["delete", "cancel", "user", &ben.email]);
    let signed_in = ben.by_password().request(Method::GET, "/user").send().await;
    assert_eq!(signed_in.unwrap().status, 200);
    assert_eq!(ada.get(MESSAGES).await.as_array().unwrap().len(), 1);

    let at_once = ["delete", "user", &ben.email, "--no-export", "--grace", "0d"];
    let complaint = refusal(&server, &at_once);
    assert!(complaint.contains("confirm it with --yes"), "{complaint}");
    answer(&server, &[&at_once[..], &["--yes"]].concat());
    let kept = ada.get(MESSAGES).await;
    assert_eq!(kept[0]["content"], "");
    let records = server.admin(&["audit", "--org", "acme"]);
    for action in [
        "user.deletion_request",
        "user.deletion_cancel",
        "user.erase",
    ] {
        assert!(records.to_string().contains(action), "{records}");
    }
}

async fn a_user_who_is_deactivated_meanwhile_stays_inactive_after_a_cancellation(server: Server) {
    let Acme { ben, .. } = server.acme();
    server.admin(&["delete", "user", &ben.email, "--no-export", "--grace", "7d"]);
    let to = |active| {
        [
            "user",
            "set-active",
            "--email",
            &ben.email,
            "--active",
            active,
        ]
    };
    server.admin(&to("false"));
    server.admin(&["delete", "cancel", "user", &ben.email]);
    let refused = ben.by_password().request(Method::GET, "/user").send().await;
    assert_eq!(refused.unwrap().status, 401);
    server.admin(&to("true"));
    let signed_in = ben.by_password().request(Method::GET, "/user").send().await;
    assert_eq!(signed_in.unwrap().status, 200);

    server.admin(&["delete", "organization", "acme", "--no-export"]);
    server.admin(&["org", "update", "--org", "acme", "--active", "false"]);
    server.admin(&["delete", "cancel", "organization", "acme"]);
    let listed = server.admin(&["org", "list"]);
    let acme = &listed["organizations"][0];
    assert_eq!(acme["active"], false, "{listed:#}");
}

async fn the_last_administrator_of_a_closed_organization_is_not_deleted(server: Server) {
    let Acme { ada, ben } = server.acme();
    server.admin(&["delete", "organization", "acme", "--no-export"]);
    let complaint = refusal(&server, &["delete", "user", &ada.email, "--no-export"]);
    assert!(complaint.contains("last administrator"), "{complaint}");
    server.admin(&["delete", "user", &ben.email, "--no-export"]);
}

/// Leaves a word wherever an organization has words.
async fn leave_words(server: &Server, eve: &Caller, ada: &Caller) {
    let root = eve.say(MAIN, "zyxommaroot #zyxommatag @everyone").await;
    let path = format!("{MESSAGES}/{}/comments", root["id"]);
    ada.does(Method::POST, &path, &json!({"content": "zyxommacomment"}))
        .await;
    for _ in 0..60 {
        ada.say(MAIN, "zyxommamany").await;
    }
    let path = format!("{MESSAGES}/{}", root["id"]);
    eve.does(Method::PUT, &path, &json!({"content": "zyxommaedited"}))
        .await;
    let bytes = b"a file with zyxommabytes";
    eve.post(MAIN, &in_json("zyxommafile.txt", "text/plain", bytes))
        .await;
    let invitation = json!({"email": "zyxomma@example.org", "message": "zyxommainvite"});
    ada.does(Method::POST, "/flows/acme/main/invitations", &invitation)
        .await;
    let flow = json!({"name": "Zyxomma flow"});
    ada.does(Method::POST, "/flows/acme", &flow).await;
    block_in_place(|| {
        for arguments in [
            &["group", "create", "--org", "acme", "--name", "zyxommagroup"][..],
            &[
                "group",
                "add-user",
                "--org",
                "acme",
                "--group",
                "zyxommagroup",
                "--email",
                &eve.email,
            ],
            &[
                "app",
                "create",
                "--org",
                "acme",
                "--name",
                "zyxommaapp",
                "--redirect-uri",
                "https://zyxomma.example/",
            ],
            &[
                "org",
                "domain",
                "add",
                "--org",
                "acme",
                "--domain",
                "zyxomma.example",
            ],
            &["retention", "set", "--org", "acme", "--days", "999"],
        ] {
            server.admin(arguments);
        }
    });
    let provider = block_in_place(|| server.provider("acme"));
    provider
        .makes("made@zyxomma.example", ("Zyxomma", "Made"))
        .await;
}

async fn nothing_is_left(backend: Backend, is_in_store: bool) {
    let Some(site) = Site::new(backend, is_in_store) else {
        return;
    };
    let mut server = site.serve();
    let Acme { ada, ben } = block_in_place(|| server.acme());
    let eve = block_in_place(|| server.user("acme", "zyxommaeve"));
    block_in_place(|| {
        server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &eve.email]);
        server.organization("other");
        let into = [
            "user", "create", "--org", "other", "--name", "Ada", "--nick", "ada", "--email",
        ];
        server.admin(&[&into[..], &[&ada.email, "--admin"]].concat());
        server.flow("other", "main", &[&ada]);
    });
    leave_words(&server, &eve, &ada).await;
    // The same bytes in both organizations are one object.
    let shared = in_json("shared.txt", "text/plain", b"bytes of both");
    ada.post(MAIN, &shared).await;
    let kept = ada.post("other/main", &shared).await;
    ada.say("other/main", "a word that stays").await;
    assert!(!marked(site.kept(&server)).is_empty());

    let arguments = [
        "delete",
        "--json",
        "organization",
        "acme",
        "--yes",
        "--grace",
        "0d",
        "--no-export",
    ];
    let done = block_in_place(|| last_line(&mut site.admin_command(&arguments)));
    assert_eq!(
        (&done["organizations"], &done["files_left"]),
        (&json!(1), &json!(0)),
        "{done}"
    );
    assert_eq!(marked(site.kept(&server)), [""; 0], "with {MARK}");
    if is_in_store {
        assert_eq!(site.objects().len(), 1, "{:?}", site.objects());
    }
    let checked = block_in_place(|| last_line(&mut site.command(&["check", "--json"])));
    assert_eq!(
        (&checked["defects"], &checked["missing_files"]),
        (&json!([]), &json!([]))
    );

    for gone in [&eve, &ben] {
        let refused = gone.send(Method::GET, "/user", &Json::Null).await;
        assert_eq!(refused.status, 401);
    }
    let missing = ada.send(Method::GET, "/flows/acme/main", &Json::Null).await;
    assert_eq!(missing.status, 404);
    // It starts with the log of before.
    block_in_place(|| {
        server.terminate();
        server.restart();
    });
    let found = ada.get("/flows/other/main/messages?search=stays").await;
    assert_eq!(found[0]["content"], "a word that stays");
    let path = kept["content"]["path"].as_str().unwrap();
    let file = ada.send(Method::GET, path, &Json::Null).await;
    assert!(!file.status.is_client_error(), "{}", file.status);
    let records = block_in_place(|| server.admin(&["audit", "--action", "organization.delete"]));
    assert_eq!(
        records["records"][0]["detail"]["requested_by"], "operator",
        "{records}"
    );
    block_in_place(|| server.organization("acme"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_word_of_a_deleted_organization_is_left_on_sqlite() {
    nothing_is_left(Backend::Sqlite, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_word_of_a_deleted_organization_is_left_on_postgres() {
    nothing_is_left(Backend::Postgres, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_of_a_deleted_organization_is_left_in_a_store() {
    nothing_is_left(Backend::Sqlite, true).await;
}

/// More than a process deletes before it is killed.
const MANY: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_completes_a_deletion_that_was_interrupted() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let Some(site) = Site::new(backend, false) else {
            continue;
        };
        let mut server = site.serve();
        let Acme { ada, .. } = block_in_place(|| server.acme());
        ada.flood(MAIN, MANY, |number| format!("word {number}"))
            .await;
        let arguments = [
            "delete",
            "--json",
            "organization",
            "acme",
            "--yes",
            "--no-export",
            "--grace",
            "0d",
        ];
        let mut process = site.admin_command(&arguments);
        let mut process = process.stdout(Stdio::piped()).spawn().unwrap();
        block_in_place(|| {
            let mut first = String::new();
            let stdout = process.stdout.take().unwrap();
            BufReader::new(stdout).read_line(&mut first).unwrap();
            assert!(first.contains("messages"), "{first}");
            process.kill().unwrap();
            process.wait().unwrap();
            let listed = server.admin(&["delete", "list"]);
            assert_eq!(
                listed["deletions"][0]["begun"], true,
                "it was not interrupted"
            );
            let complaint = refusal(&server, &["delete", "cancel", "organization", "acme"]);
            assert!(complaint.contains("has begun"), "{complaint}");
            server.terminate();
            server.restart();
        });
        let patience = Patience::until("the server completes the deletion");
        while block_in_place(|| server.admin(&["delete", "list"])["deletions"] != json!([])) {
            patience.goes_on().await;
        }
        let records =
            block_in_place(|| server.admin(&["audit", "--action", "organization.delete"]));
        assert_eq!(
            records["records"].as_array().map(Vec::len),
            Some(1),
            "{records}"
        );
    }
}
