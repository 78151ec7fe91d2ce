//! The reference of the API: it has everything of the documents, and its commands can be copied.

use std::collections::BTreeSet;

use eddyline_client::{Json, Method};
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Backend, Server, Tenant, note_secret, on_shared_servers, run};
use serde_json::json;
use tokio::process::Command;
use tokio::task::block_in_place;

on_shared_servers![the_page_has_every_operation_and_every_event];

async fn the_page_has_every_operation_and_every_event(tenant: Tenant) {
    let mut stranger = tenant.server().visitor();
    let page = stranger.get("/api").await;
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    let ids: Vec<&str> = page
        .text
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), ids.len(), "an id is there twice");
    let api = tenant.ben.get("/openapi.json").await;
    let streams = tenant.ben.get("/asyncapi.json").await;
    let paths = api["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|item| item.as_object().unwrap().values());
    let mut named: Vec<String> = operations
        .map(|one| one["operationId"].as_str().unwrap().to_owned())
        .collect();
    let messages = streams["components"]["messages"].as_object().unwrap();
    named.extend(messages.keys().map(|name| format!("event-{name}")));
    for id in &named {
        assert!(distinct.contains(id.as_str()), "{id} is missing");
    }
    let links = page
        .text
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    for link in links.filter(|link| *link != "main") {
        assert!(distinct.contains(link), "nothing is at #{link}");
    }
    assert_eq!(stranger.get("/api").await.text, page.text);
}

/// Operations whose commands are not run here, and why.
const NOT_RUN: [(&str, &str); 22] = [
    ("streamFlow", "the answer has no end"),
    ("streamFlows", "the answer has no end"),
    ("showPresence", "it needs an open stream"),
    (
        "triggerThreadAction",
        "it needs an application that answers",
    ),
    ("createSource", "it needs an application"),
    ("getSource", "it needs an application"),
    ("updateSource", "it needs an application"),
    ("deleteSource", "it needs an application"),
    ("updateOwnSource", "it needs an application"),
    ("deleteOwnSource", "it needs an application"),
    ("issueToken", "it needs an application"),
    ("introspectToken", "it needs an application"),
    ("revokeToken", "it needs an application"),
    ("uploadAvatar", "it needs a picture"),
    ("deleteAvatar", "it is for the own number only"),
    ("getAvatar", "it needs the address of a picture"),
    ("getScaledAvatar", "it needs the address of a picture"),
    ("locateFile", "it needs a file"),
    ("locateThumbnail", "it needs a file"),
    ("downloadFile", "it needs a file"),
    ("acceptInvitation", "it is for the invited user"),
    ("updateSelfById", "it is for the own number only"),
];

/// A command of the page, with the operation that it calls.
fn commands(page: &str) -> Vec<(String, String)> {
    let articles = page.split("<h3 id=\"").skip(1);
    let each = articles.filter_map(|article| {
        let id = article.split('"').next()?;
        let (_, rest) = article.split_once("<code>curl ")?;
        let (command, _) = rest.split_once("</code>")?;
        let command = command
            .replace("&#39;", "'")
            .replace("&#34;", "\"")
            .replace("&#38;", "&")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&amp;", "&");
        Some((id.to_owned(), format!("curl {command}")))
    });
    each.collect()
}

#[test]
fn the_commands_of_the_page_are_granted() {
    run(Backend::Sqlite, &[], async |server| {
        let scene = Scene::new(&server).await;
        let page = server.visitor().get("/api").await;
        let mut commands = commands(&page.text);
        commands.retain(|(id, _)| NOT_RUN.iter().all(|(other, _)| other != id));
        // What is removed is needed before.
        commands.sort_by_key(|(_, command)| command.contains("-X DELETE"));
        let mut refused = Vec::new();
        for (number, (id, command)) in commands.iter().enumerate() {
            let command = match about_deletion(&server, command, number).await {
                Some(command) => command,
                None => scene.filled(&server, command, number).await,
            };
            let shell =
                format!("{command} --silent --output /dev/null --write-out '%{{http_code}}'");
            let output = Command::new("sh")
                .args(["-c", &shell])
                .output()
                .await
                .unwrap();
            let status = String::from_utf8(output.stdout).unwrap();
            if !status.starts_with('2') {
                refused.push(format!("{id}: {status} {command}"));
            }
        }
        assert!(refused.is_empty(), "{}", refused.join("\n"));
        assert!(
            commands.len() > 80,
            "only {} commands were run",
            commands.len()
        );
    });
}

/// A command about the deletion of an organization, with one that is made for it.
async fn about_deletion(server: &Server, command: &str, number: usize) -> Option<String> {
    let is_requested = command.contains("/organizations/acme/deletion");
    if !is_requested && !command.contains("/organizations/acme?name=acme") {
        return None;
    }
    let name = format!("gone{number}");
    server.organization(&name);
    let owner = server.administrator(&name, "ada");
    if is_requested {
        owner.client.delete_organization(&name).await.unwrap();
    }
    let command = command
        .replace("TOKEN", &owner.token)
        .replace("/organizations/acme", &format!("/organizations/{name}"));
    Some(command.replace("?name=acme", &format!("?name={name}")))
}

/// What the examples of the page stand for on a server.
struct Scene {
    acme: Acme,
    flow_id: String,
    flow_token: String,
    scim: (String, String),
}

impl Scene {
    async fn new(server: &Server) -> Self {
        let acme = server.acme();
        server.flow("acme", "design", &[&acme.ada]);
        let flow_id = acme.ada.get("/flows/acme/main").await["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let token = |answer: Json, name: &str| answer[name].as_str().unwrap().to_owned();
        let flow_token = token(
            server.admin(&["flow", "token", "--flow", "acme/main"]),
            "flow_token",
        );
        let provider = server.admin(&["scim", "enable", "--org", "acme"]);
        let url = token(provider.clone(), "url");
        let uid = url.rsplit('/').next().unwrap().to_owned();
        let scim = (uid, token(provider, "token"));
        note_secret(&scim.1);
        Self {
            acme,
            flow_id,
            flow_token,
            scim,
        }
    }

    /// A command with names and numbers that are there. What a command may use up is made for it.
    async fn filled(&self, server: &Server, command: &str, number: usize) -> String {
        let Acme { ada, ben } = &self.acme;
        let token = match command.contains("/scim/") {
            true => &self.scim.1,
            false => &ada.token,
        };
        let message = match command.contains("/private/") {
            true => {
                ada.send(
                    Method::POST,
                    &format!("/private/{}/messages", ben.id),
                    &json!({"event": "message", "content": "tea?"}),
                )
                .await
            }
            false => {
                ada.send(
                    Method::POST,
                    "/flows/acme/main/messages",
                    &json!({"event": "message", "content": "tea?"}),
                )
                .await
            }
        };
        assert!(message.status.is_success());
        let list = match command.contains("/private/") {
            true => format!("/private/{}/messages?limit=1", ben.id),
            false => "/flows/acme/main/messages?limit=1".to_owned(),
        };
        let newest = ada.get(&list).await[0].clone();
        let mut command = command
            .replace("TOKEN", token)
            .replace("a1b2c3", &self.scim.0)
            .replace("6b1f0c7a", &self.flow_token)
            .replace("a176c7c7-2ac7-4bc5-9be9-c9c461d448e3", &self.flow_id)
            .replace("4711", &newest["id"].to_string());
        if let Some(thread) = newest["thread_id"].as_str() {
            command = command.replace("AQAAAAEAAAAB5DLR4Z1NsSugRnE", thread);
        }
        let name = format!("user{number}");
        // Users leave flows by themselves.
        if command.contains("-X DELETE") {
            let own = format!("/flows/acme/design/users/{}", ada.id);
            command = command.replace("/flows/acme/main/users/17", &own);
        }
        if command.contains("/users/17")
            || command.contains("\"id\":17")
            || command.contains("/Users/17")
        {
            let user = server.user("acme", &name);
            server.admin(&[
                "flow",
                "add-user",
                "--flow",
                "acme/main",
                "--email",
                &user.email,
            ]);
            if command.contains("/scim/") {
                server.admin(&["scim", "link", "--org", "acme", "--email", &user.email]);
            }
            command = command
                .replace("sers/17", &format!("sers/{}", user.id))
                .replace("\"id\":17", &format!("\"id\":{}", user.id));
        }
        command = command.replace("/private/17", &format!("/private/{}", ben.id));
        if command.contains("/groups/2") {
            let group: Json = ada
                .client
                .request(Method::POST, "/organizations/acme/groups")
                .json(&json!({"name": format!("team{number}")}))
                .call()
                .await
                .unwrap();
            let renamed = format!("{{\"name\":\"renamed{number}\"}}");
            command = command
                .replace("/groups/2", &format!("/groups/{}", group["id"]))
                .replace("{\"name\":\"team\"}", &renamed);
        }
        if command.contains("/invitations/5") {
            let invited = json!({"email": format!("{name}@example.org")});
            let made: Json = ada
                .client
                .request(Method::POST, "/flows/acme/main/invitations")
                .json(&invited)
                .call()
                .await
                .unwrap();
            command = command.replace("/invitations/5", &format!("/invitations/{}", made["id"]));
        }
        let organization = ada.get("/organizations/acme").await["id"].to_string();
        command
            .replace("find?id=3", &format!("find?id={organization}"))
            .replace("ada@acme.example", &format!("{name}@example.org"))
            .replace("{\"nick\":\"Ada\"}", &format!("{{\"nick\":\"{name}\"}}"))
    }
}

#[test]
fn the_filter_hides_what_does_not_have_the_words() {
    run(Backend::Sqlite, &[], async |server| {
        let Some(browser) = Browser::start() else {
            return;
        };
        let url = format!("{}/api#postFlowMessage", server.base_url());
        block_in_place(|| {
            browser.open(&url);
            let named = "#postFlowMessage";
            browser.wait_for(&format!(
                "document.querySelector('{named}').closest('article').querySelector('details').open"
            ));
            browser.fill("#filter", "{emoji}");
            browser.wait_for("document.querySelectorAll('article:not([hidden])').length === 4");
            assert_eq!(browser.count("section:not([hidden])"), 2);
            assert_eq!(browser.log(), [""; 0]);
        });
    });
}
