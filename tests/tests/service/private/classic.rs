//! Private messages as clients of the original service know them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{listed, messages, own_stream, status, unread, write, write_all};

on_both_databases![&["--profile", "classic"];
    an_old_client_gets_the_whole_private_message,
    old_private_messages_bear_tags_as_in_a_flow,
    old_private_tags_are_edited_by_both,
    an_old_search_in_private_adds_the_tags,
];

async fn an_old_client_gets_the_whole_private_message(server: Server) {
    let Acme { ada, ben } = server.acme();
    let answer = write(&ada, &ben, "hello").await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.json(), ben.get(&format!("{}/1", messages(&ada))).await);
    let repeat = json!({"event": "message", "content": "again", "uuid": "2f1c"});
    for _ in 0..2 {
        let answer = ada.send(Method::POST, &messages(&ben), &repeat).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["id"]), (201, &json!(2)));
    }
}

async fn old_private_messages_bear_tags_as_in_a_flow(server: Server) {
    let Acme { ada, ben } = server.acme();
    let tags = async |text: &str, given: Json| {
        let body = json!({"event": "message", "content": text, "tags": given});
        ada.send(Method::POST, &messages(&ben), &body).await.success().unwrap().json()["tags"].clone()
    };
    let (user, unread) = (format!(":user:{}", ben.id), format!(":unread:{}", ben.id));
    assert_eq!(tags("hello", json!([])).await, json!([]));
    assert_eq!(tags("#Tea", json!(["given", "#tea"])).await, json!(["given", "tea"]));
    assert_eq!(tags("@ben #tea http://example.org", json!([])).await, json!([user, unread, "tea", ":url"]));
    assert_eq!(tags("@everyone", json!([])).await, json!([":user:everyone", unread]));
    assert_eq!(tags("ben?", json!([])).await, json!([format!(":highlight:{}", ben.id)]));
    assert_eq!(tags("@ada @cleo", json!([])).await, json!([format!(":user:{}", ada.id)]));
    let many: Vec<String> = (0..51).map(|n| format!("t{n}")).collect();
    let body = json!({"event": "message", "content": "hello", "tags": many});
    assert_eq!(status(&ada, Method::POST, &messages(&ben), body).await, 400);
    assert_eq!(listed(&ben, &ada, "?tags=tea").await, [2, 3]);
    assert_eq!(listed(&ben, &ada, "?tags=tea,given").await, [2]);
    assert_eq!(listed(&ben, &ada, "?tags=@everyone,given&tag_mode=or").await, [2, 4]);
    assert_eq!(listed(&ben, &ada, &format!("?tags={unread}")).await, [3, 4]);
    assert_eq!(listed(&ben, &ada, "?tags=@nobody").await, Vec::<i64>::new());
    server.admin(&["group", "create", "--org", "acme", "--name", "team"]);
    let of = ["--org", "acme", "--group", "team", "--email", &ben.email];
    server.admin(&[&["group", "add-user"], &of[..]].concat());
    assert_eq!(
        tags("@team", json!(["@team", ":user:team"])).await,
        json!([]),
        "groups belong to organizations"
    );
    assert_eq!(ada.say("acme/main", "@team").await["tags"], json!([":user:team", unread]));
}

async fn old_private_tags_are_edited_by_both(server: Server) {
    let Acme { ada, ben } = server.acme();
    write_all(&ada, &ben, &["@ben #tea", "@ben again"]).await;
    let mut streams = [own_stream(&ada).await, own_stream(&ben).await];
    let seen = format!("{}/1", messages(&ada));
    let user = format!(":user:{}", ben.id);
    assert_eq!(unread(&ben, &ada).await, 2);
    ben.does(Method::PUT, &seen, &json!({"tags": [user, "tea", "milk"]})).await;
    assert_eq!(ada.get(&format!("{}/1", messages(&ben))).await["tags"], json!([user, "tea", "milk"]));
    assert_eq!(unread(&ben, &ada).await, 1, "who takes off their own mark has read the message");
    for stream in &mut streams {
        let told = stream.event("tag-change").await;
        let change = json!({"message": 1, "add": ["milk"], "remove": [format!(":unread:{}", ben.id)]});
        assert_eq!((&told["content"], &told["user"]), (&change, &json!(ben.id.to_string())));
    }
    let own = format!("{}/1", messages(&ben));
    ada.does(Method::PUT, &own, &json!({"content": "@ben #coffee"})).await;
    assert_eq!(ben.get(&seen).await["tags"], json!(["milk", user, "coffee"]));
}

async fn an_old_search_in_private_adds_the_tags(server: Server) {
    let Acme { ada, ben } = server.acme();
    write_all(&ada, &ben, &["tea please", "#tea", "#tea #milk", "milk", "nothing"]).await;
    let list = async |query: &str| listed(&ben, &ada, query).await;
    assert_eq!(list("?search=please&tags=tea").await, [1, 2, 3]);
    assert_eq!(list("?search=please&tags=tea,milk").await, [1, 3]);
    assert_eq!(list("?search=please&tags=tea,milk&tag_mode=or&limit=2").await, [2, 3]);
    assert_eq!(list("?search=please&tags=@nobody").await, [1]);
    assert_eq!(list("?search=!!!&tags=milk").await, [3]);
    assert_eq!(list("?search=milk").await, [3, 4]);
}
