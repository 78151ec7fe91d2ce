//! `eddyline admin invite`: the people of a file, in the name of a member.

use std::fs;
use std::process::Command;

use eddyline_client::Json;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use crate::backup::last_line;

on_both_databases![
    each_line_of_a_file_is_answered,
    nothing_is_sent_while_a_line_is_wrong,
];

fn invite(server: &Server, people: &str, more: &[&str]) -> Command {
    let file = server.data_directory().join("people.csv");
    fs::write(&file, people).unwrap();
    let arguments = ["admin", "--json", "invite", "--org", "acme", "--file"];
    server.command(&[&arguments[..], &[file.to_str().unwrap()], more].concat())
}

/// The results of an answer, as `line result`.
fn results(answer: &Json) -> Vec<String> {
    let addresses = answer["addresses"].as_array().unwrap().iter();
    addresses
        .map(|one| format!("{} {}", one["line"], one["result"].as_str().unwrap()))
        .collect()
}

async fn each_line_of_a_file_is_answered(server: Server) {
    let Acme { ada, ben } = server.acme();
    let eve = server.user("acme", "eve");
    server.flow("acme", "dev", &[&ada]);
    let people = format!(
        "email,name\nnew@example.org,\"New, the first\"\n{}\n{},,main;dev\nNEW@example.org\n",
        ben.email, eve.email
    );
    let by = ["--by", &ada.email, "--flow", "main"];
    let rehearsed = last_line(invite(&server, &people, &by).arg("--dry-run"));
    let expected = ["2 invited", "3 present", "4 added", "4 added"];
    assert_eq!(results(&rehearsed), expected, "{rehearsed}");
    let pending = "/flows/acme/main/invitations";
    assert_eq!(ada.get(pending).await, json!([]), "nothing was sent");

    let done = last_line(&mut invite(&server, &people, &by));
    assert_eq!(results(&done), expected, "{done}");
    let listed = ada.get(pending).await;
    assert_eq!(listed[0]["email"], "new@example.org");
    let people_of_dev = eve.get("/flows/acme/dev/users").await;
    assert_eq!(people_of_dev.as_array().map(Vec::len), Some(2));
    let again = last_line(&mut invite(&server, &people, &by));
    assert_eq!(
        results(&again),
        ["2 pending", "3 present", "4 present", "4 present"]
    );
    let records = server.admin(&["audit", "--action", "invitation.create"]);
    assert_eq!(records["records"][0]["actor"], "operator", "{records}");
}

async fn nothing_is_sent_while_a_line_is_wrong(server: Server) {
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "closed-circle", &[&ada]);
    let people = "good@example.org\nno address\nother@example.org,Other,nowhere\n";
    let by = ["--by", &ada.email, "--flow", "main"];
    let output = invite(&server, people, &by).output().unwrap();
    assert!(!output.status.success());
    let complaint = String::from_utf8(output.stderr).unwrap();
    for part in [
        "no invitation was sent",
        "line 2 \"no address\"",
        "line 3 names the flow nowhere, which acme does not have",
        "--skip-bad",
    ] {
        assert!(complaint.contains(part), "{part}: {complaint}");
    }
    assert_eq!(ada.get("/flows/acme/main/invitations").await, json!([]));
    let done = last_line(invite(&server, people, &by).arg("--skip-bad"));
    assert_eq!(results(&done), ["1 invited"]);
    assert_eq!(done["skipped"], json!([2, 3]));

    let outsider = ["--by", &ben.email, "--flow", "closed-circle"];
    let output = invite(&server, "x@example.org\n", &outsider).output();
    let complaint = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(
        complaint.contains("flow acme/closed-circle: the inviter is no member"),
        "{complaint}"
    );
}
