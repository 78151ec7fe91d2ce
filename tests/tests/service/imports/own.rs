//! Archives of Eddyline itself.

use super::{Backend, Method, Site, block_in_place, json};
use crate::exports::{entries, fill};
use crate::integrations::{Source, push, update};
use eddyline_client::Credentials;
use eddyline_tests::{Acme, Server};

/// Adds what few flows have: a source with an item, the flow's own token, an edit, reactions, a
/// group, a former member, and names that the organization had.
pub(super) async fn enrich(server: &Server, acme: &Acme) {
    let (ada, ben) = (&acme.ada, &acme.ben);
    let robot = block_in_place(|| server.robot("acme", &[]));
    let source = Source::of(&robot, ben, "acme/main", "Tickets").await;
    let thread = json!({
        "title": "A <b>bad</b> bug", "body": "<p>It fails</p><script>x</script>", "external_url": "https://example.org/1",
        "status": {"value": "open < late", "color": "red"}, "fields": [{"label": "a < b", "value": "<a href=\"https://example.org/\">1</a>"}],
    });
    source.push(&update("T-1", "opened", &thread)).await;
    source.push(&update("T-1", "closed", &thread)).await;
    let token = block_in_place(|| server.admin(&["flow", "token", "--flow", "acme/main"]));
    let token = Credentials::FlowToken(token["flow_token"].as_str().unwrap().to_owned());
    let own = ada.client.with_credentials(token);
    push(
        &own,
        &json!({"event": "activity", "title": "from a script", "external_thread_id": "x"}),
    )
    .await;
    let said = ada.say("acme/main", "to be edited #draft @everyone").await;
    let id = said["id"].as_i64().unwrap();
    let path = format!("/flows/acme/main/messages/{id}");
    let edit = ada
        .client
        .request(Method::PUT, &path)
        .json(&json!({"content": "edited #final @ben"}));
    assert!(edit.send().await.unwrap().status.is_success());
    for (who, emoji) in [(ben, "\u{1f44d}"), (ada, "\u{1f389}"), (ada, "\u{1f44d}")] {
        who.client
            .flow("acme", "main")
            .react(id, emoji)
            .await
            .unwrap();
    }
    block_in_place(|| {
        let dan = server.user("acme", "dan");
        server.flow("acme", "second", &[ada, &dan]);
        server.admin(&["group", "create", "--org", "acme", "--name", "Crew"]);
        let member = ["--group", "Crew", "--email", &ada.email];
        server.admin(&[&["group", "add-user", "--org", "acme"], &member[..]].concat());
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organization_is_the_same_in_another_server_byte_for_byte() {
    for (from, to, is_in_store) in [
        (Backend::Sqlite, Backend::Postgres, true),
        (Backend::Postgres, Backend::Sqlite, false),
    ] {
        let (Some(one), Some(other)) = (Site::new(from, false), Site::new(to, is_in_store)) else {
            continue;
        };
        let server = one.serve();
        let (acme, _) = fill(&server).await;
        enrich(&server, &acme).await;
        drop(server);
        let export = ["organization", "acme", "--private"];
        let (archive, answer) = one.export("one.tar", &export);

        let server = other.serve();
        let report = other.import(&archive, &[]);
        assert_eq!(report["messages"], answer["messages"]);
        assert_eq!(report["new_people"], answer["people"]);
        assert_eq!(report["left_out"], json!([]));
        let again = other.import(&archive, &[]);
        assert_eq!(again["messages"], 0);
        assert_eq!(again["known_messages"], answer["messages"]);
        block_in_place(|| other.prove_addresses());
        drop(server);

        let (copy, _) = other.export("other.tar", &export);
        let (mut before, mut after) = (entries(&archive), entries(&copy));
        for found in [&mut before, &mut after] {
            // The one entry that depends on the key of the server.
            assert!(found.remove("manifest.sig").is_some());
        }
        for (path, bytes) in &before {
            let again = after.get(path).map(|bytes| String::from_utf8_lossy(bytes));
            assert!(
                again.as_deref() == Some(&*String::from_utf8_lossy(bytes)),
                "{path}: {} and {again:?}",
                String::from_utf8_lossy(bytes)
            );
        }
        assert_eq!(before.len(), after.len());
        other.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_makes_no_administrators_of_an_organization_that_is_there() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let (Some(one), Some(other)) = (Site::new(backend, false), Site::new(backend, false))
        else {
            continue;
        };
        let server = one.serve();
        let zoe = block_in_place(|| {
            server.acme();
            server.administrator("acme", "zoe")
        });
        drop(server);
        let (archive, _) = one.export("one.tar", &["organization", "acme"]);
        let server = other.serve();
        block_in_place(|| server.acme());
        other.import(&archive, &[]);
        let shown = block_in_place(|| server.admin(&["user", "list", "--org", "acme"]));
        let users = shown["users"].as_array().unwrap();
        let found = users
            .iter()
            .find(|user| user["email"] == zoe.email.as_str());
        assert_eq!(found.unwrap()["admin"], false, "{shown:#}");
        let recorded = block_in_place(|| server.admin(&["audit", "--org", "acme"]));
        assert!(recorded.to_string().contains("member.add"), "{recorded:#}");
    }
}
