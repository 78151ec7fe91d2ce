//! A text that was edited away or deleted is on no stream any more: not for listeners that go on
//! from an earlier event, not for those who came later, and not after a restart.

use eddyline_client::{Client, Json, Method, StreamEvent, StreamRequest};
use eddyline_tests::{Acme, Caller, Listener, Server, on_both_databases};
use serde_json::json;

use crate::integrations::{activity, push, update};

mod history;
mod texts;

on_both_databases![
    a_text_that_was_edited_away_or_deleted_is_in_no_replay,
    titles_and_quotes_are_replayed_as_they_are_now,
    a_removed_inbox_message_is_in_no_replay,
    a_state_that_a_newer_one_replaced_is_in_no_replay,
    a_state_goes_with_the_message_that_brought_it,
    a_state_stays_that_a_later_message_repeats,
    a_private_text_that_was_edited_away_or_deleted_is_in_no_replay,
    a_removed_tag_is_not_named_after_a_restart,
    a_listener_that_lags_does_not_hear_what_was_deleted_meanwhile,
    listeners_hear_each_edit_with_its_own_text,
    a_replay_has_everything_that_lists_show,
];

const MAIN: &str = "acme/main";
const MESSAGES: &str = "/flows/acme/main/messages";
/// The position before the first event.
const BEGINNING: &str = "0-00000000";

/// What a caller hears after a position, up to a message in `acme/main` that ends it.
async fn replay(caller: &Caller, request: &StreamRequest, after: &str) -> Vec<StreamEvent> {
    let mut stream = Listener::open(&caller.client, &request.clone().flow(MAIN).after(after)).await;
    let end = caller.say(MAIN, "this is the end").await["id"].clone();
    let mut heard = Vec::new();
    loop {
        let event = stream.next().await;
        // Messages of private conversations have numbers of their own.
        if event.json["id"] == end && event.json["event"] == "message" && event.json["to"].is_null()
        {
            return heard;
        }
        heard.push(event);
    }
}

/// Everything that a caller hears of `acme/main` from the beginning, as one text.
async fn replayed(caller: &Caller) -> String {
    let heard = replay(caller, &StreamRequest::new(), BEGINNING).await;
    heard
        .iter()
        .map(|event| format!("{}\n", event.json))
        .collect()
}

fn path(message: &Json) -> String {
    format!("{MESSAGES}/{}", message["id"])
}

async fn edit(by: &Caller, message: &Json, text: &str) {
    by.does(Method::PUT, &path(message), &json!({"content": text}))
        .await;
}

async fn delete(by: &Caller, message: &Json) {
    by.does(Method::DELETE, &path(message), &Json::Null).await;
}

async fn comment(by: &Caller, on: &Json, text: &str) -> Json {
    let request = by
        .client
        .request(Method::POST, &format!("{}/comments", path(on)));
    let request = request
        .json(&json!({"content": text}))
        .header("x-service-wait-for-message", "1");
    request.call().await.unwrap()
}

/// A member of `acme/main` who has heard nothing yet.
fn latecomer(server: &Server) -> Caller {
    let late = server.user("acme", "late");
    server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &late.email]);
    late
}

fn flow_client(server: &Server) -> Client {
    let token = server.admin(&["flow", "token", "--flow", MAIN])["flow_token"]
        .as_str()
        .unwrap()
        .to_owned();
    server.client().flow_token(&token).build().unwrap()
}

/// No replay of `acme/main` has one of these texts, now and after a restart.
async fn is_gone(server: &mut Server, by: &Caller, texts: &[&str]) {
    for when in ["at once", "after a restart"] {
        let heard = replayed(by).await;
        for text in texts {
            assert!(!heard.contains(text), "{text} {when}:\n{heard}");
        }
        server.terminate();
        server.restart();
    }
}

async fn a_text_that_was_edited_away_or_deleted_is_in_no_replay(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let deleted = ada.say(MAIN, "the vault code is periwinkle").await;
    delete(&ada, &deleted).await;
    let edited = ada.say(MAIN, "draft").await;
    edit(&ada, &edited, "my password is hunter2").await;
    edit(&ada, &edited, "never mind").await;
    let both = ben.say(MAIN, "first").await;
    edit(&ben, &both, "second word swordfish #tagfish").await;
    delete(&ben, &both).await;
    let late = latecomer(&server);
    is_gone(
        &mut server,
        &late,
        &["periwinkle", "hunter2", "draft", "swordfish", "tagfish"],
    )
    .await;
    let heard = replay(&late, &StreamRequest::new(), BEGINNING).await;
    let edits: Vec<_> = heard
        .iter()
        .map(|event| &event.json)
        .filter(|json| json["event"] == "message-edit")
        .collect();
    let now =
        |message: &Json, text: &str| json!({"message": message["id"], "updated_content": text});
    let expected = [
        now(&deleted, ""),
        now(&edited, "never mind"),
        now(&edited, "never mind"),
        now(&both, ""),
        now(&both, ""),
    ];
    assert!(
        edits.iter().map(|json| &json["content"]).eq(&expected),
        "{edits:?}"
    );
}

async fn titles_and_quotes_are_replayed_as_they_are_now(mut server: Server) {
    // More than are amended at once.
    const ANSWERS: usize = 70;
    let Acme { ada, ben } = server.acme();
    let first = ada.say(MAIN, "project swordfish begins").await;
    for number in 0..ANSWERS {
        comment(&ben, &first, &format!("answer {number}")).await;
    }
    let chat =
        json!({"event": "message", "content": "in the thread", "thread_id": first["thread_id"]});
    ben.post(MAIN, &chat).await;
    edit(&ada, &first, "project nameless begins").await;
    let late = latecomer(&server);
    is_gone(&mut server, &late, &["swordfish"]).await;
    let heard = replay(&late, &StreamRequest::new(), BEGINNING).await;
    let shown = |part: fn(&Json) -> &Json, text: &str| {
        heard
            .iter()
            .filter(|event| *part(&event.json) == *text)
            .count()
    };
    assert_eq!(
        shown(|json| &json["content"]["title"], "project nameless begins"),
        ANSWERS
    );
    assert_eq!(
        shown(|json| &json["thread"]["title"], "project nameless begins"),
        ANSWERS + 2
    );
}

async fn a_removed_inbox_message_is_in_no_replay(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let tool = flow_client(&server);
    let mut secret = activity("7", "changed");
    secret["body"] = json!("<p>the key is swordfish</p>");
    let pushed = push(&tool, &secret).await;
    let left = push(&tool, &activity("8", "nothing to hide")).await;
    comment(&ben, &pushed, "should this be here?").await;
    delete(&ada, &pushed).await;
    let late = latecomer(&server);
    is_gone(&mut server, &late, &["swordfish"]).await;
    let heard = replay(&late, &StreamRequest::new(), BEGINNING).await;
    let of = |kind: &str| {
        heard
            .iter()
            .map(|event| &event.json)
            .filter(move |json| json["event"] == kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("activity")
            .iter()
            .map(|json| &json["id"])
            .collect::<Vec<_>>(),
        [&left["id"]]
    );
    assert_eq!(
        of("comment")[0]["content"]["title"],
        "",
        "what it answers is gone"
    );
    assert_eq!(
        of("message-delete")[0]["content"],
        json!({"message": pushed["id"]})
    );
}

async fn a_state_that_a_newer_one_replaced_is_in_no_replay(mut server: Server) {
    let Acme { ben, .. } = server.acme();
    let tool = flow_client(&server);
    let state = |body: &str| json!({"title": "Ticket", "body": format!("<p>{body}</p>")});
    let opened = push(&tool, &update("7", "opened", &state("swordfish"))).await;
    let chat = json!({"event": "message", "content": "looking", "thread_id": opened["thread_id"]});
    ben.post(MAIN, &chat).await;
    push(&tool, &update("7", "changed", &state("redacted"))).await;
    let late = latecomer(&server);
    is_gone(&mut server, &late, &["swordfish"]).await;
    let heard = replayed(&late).await;
    assert_eq!(heard.matches("<p>redacted</p>").count(), 3, "{heard}");
}

/// Whether any list of a thread has a text.
async fn is_listed(by: &Caller, thread: &Json, text: &str) -> bool {
    let thread = format!("/flows/acme/main/threads/{}", thread.as_str().unwrap());
    let threads = "/flows/acme/main/threads?empty=1";
    let mut found = false;
    for path in [MESSAGES, threads, &thread, &format!("{thread}/messages")] {
        found |= by.get(path).await.to_string().contains(text);
    }
    found
}

async fn a_state_goes_with_the_message_that_brought_it(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let tool = flow_client(&server);
    let state = |title: &str| json!({"title": title, "body": format!("<p>{title}</p>")});
    let opened = push(&tool, &update("7", "opened", &state("harmless"))).await;
    let changed = push(&tool, &update("7", "changed", &state("swordfish"))).await;
    let chat = json!({"event": "message", "content": "looking", "thread_id": opened["thread_id"]});
    ben.post(MAIN, &chat).await;
    let lone = push(&tool, &update("8", "opened", &state("trout"))).await;
    let mut live = Listener::to(&ben.client, &[MAIN]).await;
    for (message, text) in [(&changed, "swordfish"), (&lone, "trout")] {
        assert!(is_listed(&ben, &message["thread_id"], text).await);
        delete(&ada, message).await;
        assert!(
            !is_listed(&ben, &message["thread_id"], text).await,
            "{text}"
        );
        let told = live.event("message-delete").await;
        assert_eq!(told["content"], json!({"message": message["id"]}));
        assert!(!told.to_string().contains(text), "{told}");
    }
    let thread = format!(
        "/flows/acme/main/threads/{}",
        opened["thread_id"].as_str().unwrap()
    );
    let kept = ben.get(&thread).await;
    assert_eq!(
        (&kept["title"], &kept["activities"]),
        (&json!("opened"), &json!(1)),
        "{kept}"
    );
    let late = latecomer(&server);
    is_gone(&mut server, &late, &["swordfish", "trout"]).await;
    push(&tool, &update("7", "changed again", &state("redacted"))).await;
    assert!(is_listed(&ben, &opened["thread_id"], "redacted").await);
}

async fn a_state_stays_that_a_later_message_repeats(server: Server) {
    let Acme { ada, ben } = server.acme();
    let tool = flow_client(&server);
    let state = json!({"title": "Ticket", "body": "<p>as before</p>"});
    let opened = push(&tool, &update("7", "opened", &state)).await;
    let again = push(&tool, &update("7", "looked at", &state)).await;
    delete(&ada, &opened).await;
    assert!(is_listed(&ben, &opened["thread_id"], "as before").await);
    delete(&ada, &again).await;
    assert!(!is_listed(&ben, &opened["thread_id"], "as before").await);
}

async fn a_private_text_that_was_edited_away_or_deleted_is_in_no_replay(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let talk = format!("/private/{}/messages", ben.id);
    for (number, text) in ["the code is swordfish", "draft of trout"]
        .iter()
        .enumerate()
    {
        let message = json!({"event": "message", "content": text});
        ada.does(Method::POST, &talk, &message).await;
        assert_eq!(ada.get(&talk).await.as_array().unwrap().len(), number + 1);
    }
    let id = |position: usize, list: &Json| list[position]["id"].clone();
    let list = ada.get(&talk).await;
    ada.does(
        Method::PUT,
        &format!("{talk}/{}", id(1, &list)),
        &json!({"content": "a pike"}),
    )
    .await;
    ada.does(
        Method::PUT,
        &format!("{talk}/{}", id(1, &list)),
        &json!({"content": "nothing"}),
    )
    .await;
    ada.does(
        Method::DELETE,
        &format!("{talk}/{}", id(0, &list)),
        &Json::Null,
    )
    .await;
    for _ in 0..2 {
        for who in [&ada, &ben] {
            let heard = replay(who, &StreamRequest::new().user(), BEGINNING).await;
            let heard: Vec<String> = heard.iter().map(|event| event.json.to_string()).collect();
            for text in ["swordfish", "trout", "pike"] {
                assert!(
                    !heard.iter().any(|event| event.contains(text)),
                    "{text}: {heard:#?}"
                );
            }
            assert_eq!(
                heard
                    .iter()
                    .filter(|event| event.contains("nothing"))
                    .count(),
                3,
                "{heard:#?}"
            );
        }
        server.terminate();
        server.restart();
    }
}

async fn a_removed_tag_is_not_named_after_a_restart(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut live = Listener::to(&ben.client, &[MAIN]).await;
    let message = ada.say(MAIN, "@ben look").await;
    let set_tags = async |tags: Json| {
        ada.does(Method::PUT, &path(&message), &json!({"tags": tags}))
            .await;
    };
    let unread = format!(":unread:{}", ben.id);
    set_tags(json!(["swordfish", "pike"])).await;
    // It is heard before the next change: a listener that lags does not hear of a removed tag either.
    let first = live.event("tag-change").await["content"].clone();
    assert_eq!(first["add"], json!(["swordfish", "pike"]));
    assert!(first["remove"].as_array().unwrap().contains(&json!(unread)));
    set_tags(json!(["pike"])).await;
    let second = live.event("tag-change").await["content"].clone();
    let expected = json!({"message": message["id"], "add": [], "remove": ["swordfish"]});
    assert_eq!(second, expected, "who listens takes it off");
    server.terminate();
    server.restart();
    let heard = replay(&ada, &StreamRequest::new(), BEGINNING).await;
    let changes: Vec<_> = heard
        .iter()
        .map(|event| &event.json)
        .filter(|json| json["event"] == "tag-change")
        .collect();
    assert_eq!(changes[0]["content"]["add"], json!(["pike"]));
    assert!(
        changes[0]["content"]["remove"]
            .as_array()
            .unwrap()
            .contains(&json!(unread))
    );
    let nothing = json!({"message": message["id"], "add": [], "remove": [], "tags": ["pike"]});
    assert_eq!(changes[1]["content"], nothing);
}

async fn a_listener_that_lags_does_not_hear_what_was_deleted_meanwhile(server: Server) {
    const FLOOD: usize = 1200;
    let Acme { ada, ben } = server.acme();
    let mut slow = Listener::to(&ben.client, &[MAIN]).await;
    let mut quick = Listener::to(&ada.client, &[MAIN]).await;
    // Together more than sockets hold.
    let long = "x".repeat(8000);
    ben.flood(MAIN, FLOOD, |number| format!("{number} {long}"))
        .await;
    let message = ada.say(MAIN, "the code is swordfish").await;
    delete(&ada, &message).await;
    quick.event("message-edit").await;
    for _ in 0..FLOOD {
        slow.event("message").await;
    }
    let heard = slow.event("message").await;
    assert_eq!(
        (&heard["id"], &heard["content"]),
        (&message["id"], &json!(""))
    );
}

async fn listeners_hear_each_edit_with_its_own_text(server: Server) {
    let Acme { ada, ben } = server.acme();
    let mut live = Listener::to(&ben.client, &[MAIN]).await;
    for round in 0..20 {
        let message = ada.say(MAIN, &format!("text {round}")).await;
        assert_eq!(live.json().await, message);
        for text in ["one", "two", "three"] {
            edit(&ada, &message, text).await;
            let told = live.json().await;
            assert_eq!(
                told["content"],
                json!({"message": message["id"], "updated_content": text})
            );
        }
        delete(&ada, &message).await;
        let told = live.json().await;
        assert_eq!(
            told["content"],
            json!({"message": message["id"], "updated_content": ""})
        );
    }
}

async fn a_replay_has_everything_that_lists_show(server: Server) {
    let Acme { ada, ben } = server.acme();
    for round in 0..20 {
        let message = ada.say(MAIN, &format!("text {round}")).await;
        comment(&ben, &message, "yes").await;
        match round % 3 {
            0 => edit(&ada, &message, &format!("other text {round}")).await,
            1 => delete(&ada, &message).await,
            _ => {
                ben.does(
                    Method::PUT,
                    &path(&message),
                    &json!({"tags": [format!("tag{round}")]}),
                )
                .await;
            }
        }
    }
    let listed = ada.get(&format!("{MESSAGES}?limit=100")).await;
    let heard = replay(&ben, &StreamRequest::new(), BEGINNING).await;
    let lists_show =
        |json: &&Json| ["message", "comment"].contains(&json["event"].as_str().unwrap());
    let shown: Vec<&Json> = heard
        .iter()
        .map(|event| &event.json)
        .filter(lists_show)
        .collect();
    let listed: Vec<&Json> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(lists_show)
        .collect();
    assert_eq!(shown.len(), listed.len());
    for (shown, listed) in shown.iter().zip(&listed) {
        for part in ["id", "content", "tags", "edited", "thread_id"] {
            assert_eq!(shown[part], listed[part], "{part} of {}", listed["id"]);
        }
        assert_eq!(shown["thread"]["title"], listed["thread"]["title"]);
    }
    // Every event is a place to go on from.
    for (number, event) in heard.iter().enumerate().step_by(7) {
        let rest = replay(&ben, &StreamRequest::new(), event.id.as_deref().unwrap()).await;
        let ids = |events: &[StreamEvent]| {
            events
                .iter()
                .map(|event| event.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            ids(&rest)[..heard.len() - number - 1],
            ids(&heard[number + 1..])
        );
    }
}
