//! Private messages as clients of the original service know them.

use eddyline_client::{Json, Method};
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{listed, messages, own_stream, status, unread, write, write_all};

on_both_databases![&["--profile", "classic"];
    an_old_client_gets_the_whole_private_message,
    old_private_messages_bear_tags_as_in_a_flow,
    old_private_tags_are_edited_by_both,
    the_old_form_of_a_comments_tag_is_known_in_private,
    the_unread_mark_of_a_private_message_is_kept_or_dropped,
    a_conversation_with_oneself_marks_nothing_as_unread,
    an_old_conversation_is_called_by_the_nick,
    an_old_search_in_private_adds_the_tags,
];

async fn an_old_client_gets_the_whole_private_message(server: Server) {
    let Acme { ada, ben } = server.acme();
    let answer = write(&ada, &ben, "hello").await;
    assert_eq!(answer.status, 201);
    assert_eq!(
        answer.json(),
        ben.get(&format!("{}/1", messages(&ada))).await
    );
    let repeat = json!({"event": "message", "content": "again", "uuid": "2f1c"});
    for _ in 0..2 {
        let answer = ada.send(Method::POST, &messages(&ben), &repeat).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["id"]),
            (201, &json!(2))
        );
    }
}

async fn old_private_messages_bear_tags_as_in_a_flow(server: Server) {
    let Acme { ada, ben } = server.acme();
    let tags = async |text: &str, given: Json| {
        let body = json!({"event": "message", "content": text, "tags": given});
        ada.send(Method::POST, &messages(&ben), &body)
            .await
            .success()
            .unwrap()
            .json()["tags"]
            .clone()
    };
    let (user, unread) = (format!(":user:{}", ben.id), format!(":unread:{}", ben.id));
    assert_eq!(tags("hello", json!([])).await, json!([unread]));
    assert_eq!(
        tags("#Tea", json!(["given", "#tea"])).await,
        json!([unread, "given", "tea"])
    );
    assert_eq!(
        tags("@ben #tea http://example.org", json!([])).await,
        json!([unread, user, "tea", ":url"])
    );
    assert_eq!(
        tags("@everyone", json!([])).await,
        json!([unread, ":user:everyone"])
    );
    assert_eq!(
        tags("ben?", json!(["milk"])).await,
        json!([unread, "milk", format!(":highlight:{}", ben.id)])
    );
    assert_eq!(
        tags("@ada @cleo", json!([])).await,
        json!([unread, format!(":user:{}", ada.id)])
    );
    let many: Vec<String> = (0..51).map(|n| format!("t{n}")).collect();
    let body = json!({"event": "message", "content": "hello", "tags": many});
    assert_eq!(status(&ada, Method::POST, &messages(&ben), body).await, 400);
    assert_eq!(listed(&ben, &ada, "?tags=tea").await, [2, 3]);
    assert_eq!(listed(&ben, &ada, "?tags=tea,given").await, [2]);
    assert_eq!(
        listed(&ben, &ada, "?tags=@everyone,given&tag_mode=or").await,
        [2, 4]
    );
    assert_eq!(
        listed(&ben, &ada, &format!("?tags={unread}")).await,
        [1, 2, 3, 4, 5, 6]
    );
    assert_eq!(listed(&ben, &ada, "?tags=@nobody").await, Vec::<i64>::new());
    server.admin(&["group", "create", "--org", "acme", "--name", "team"]);
    let of = ["--org", "acme", "--group", "team", "--email", &ben.email];
    server.admin(&[&["group", "add-user"], &of[..]].concat());
    assert_eq!(
        tags("@team", json!(["@team", ":user:team"])).await,
        json!([unread]),
        "groups belong to organizations"
    );
    assert_eq!(
        ada.say("acme/main", "@team").await["tags"],
        json!([":user:team", unread])
    );
}

async fn old_private_tags_are_edited_by_both(server: Server) {
    let Acme { ada, ben } = server.acme();
    write_all(&ada, &ben, &["@ben #tea", "@ben again"]).await;
    let mut streams = [own_stream(&ada).await, own_stream(&ben).await];
    let seen = format!("{}/1", messages(&ada));
    let user = format!(":user:{}", ben.id);
    assert_eq!(unread(&ben, &ada).await, 2);
    ben.does(Method::PUT, &seen, &json!({"tags": [user, "tea", "milk"]}))
        .await;
    assert_eq!(
        ada.get(&format!("{}/1", messages(&ben))).await["tags"],
        json!([user, "tea", "milk"])
    );
    assert_eq!(
        unread(&ben, &ada).await,
        1,
        "who takes off their own mark has read the message"
    );
    for stream in &mut streams {
        let told = stream.event("tag-change").await;
        let change =
            json!({"message": 1, "add": ["milk"], "remove": [format!(":unread:{}", ben.id)]});
        assert_eq!(
            (&told["content"], &told["user"]),
            (&change, &json!(ben.id.to_string()))
        );
    }
    let own = format!("{}/1", messages(&ben));
    ada.does(Method::PUT, &own, &json!({"content": "@ben #coffee"}))
        .await;
    assert_eq!(
        ben.get(&seen).await["tags"],
        json!(["milk", user, "coffee"])
    );
}

async fn an_old_search_in_private_adds_the_tags(server: Server) {
    let Acme { ada, ben } = server.acme();
    write_all(
        &ada,
        &ben,
        &["tea please", "#tea", "#tea #milk", "milk", "nothing"],
    )
    .await;
    let list = async |query: &str| listed(&ben, &ada, query).await;
    assert_eq!(list("?search=please&tags=tea").await, [1, 2, 3]);
    assert_eq!(list("?search=please&tags=tea,milk").await, [1, 3]);
    assert_eq!(
        list("?search=please&tags=tea,milk&tag_mode=or&limit=2").await,
        [2, 3]
    );
    assert_eq!(list("?search=please&tags=@nobody").await, [1]);
    assert_eq!(list("?search=!!!&tags=milk").await, [3]);
    assert_eq!(list("?search=milk").await, [3, 4]);
}

async fn the_old_form_of_a_comments_tag_is_known_in_private(server: Server) {
    let Acme { ada, ben } = server.acme();
    // Only the server makes this tag, in either form.
    let tags = json!(["influx:5", ":influx:5", "tea"]);
    let body = json!({"event": "message", "content": "hello", "tags": tags});
    let sent = ada.send(Method::POST, &messages(&ben), &body).await;
    let unread = format!(":unread:{}", ben.id);
    assert_eq!(sent.json()["tags"], json!([unread, "tea"]));
    let path = format!("{}/1", messages(&ben));
    let edit = json!({"tags": ["influx:5", "green"]});
    ada.does(Method::PUT, &path, &edit).await;
    assert_eq!(ada.get(&path).await["tags"], json!(["green"]));
}

async fn the_unread_mark_of_a_private_message_is_kept_or_dropped(server: Server) {
    let Acme { ada, ben } = server.acme();
    write_all(&ada, &ben, &["hello", "again"]).await;
    let mark = format!(":unread:{}", ben.id);
    let (first, second) = (
        format!("{}/1", messages(&ben)),
        format!("{}/2", messages(&ben)),
    );
    let seen = format!("{}/1", messages(&ada));
    let tags = async |path: &str| ada.get(path).await["tags"].clone();
    let mut stream = own_stream(&ada).await;

    ada.does(Method::PUT, &first, &json!({"tags": [mark, "tea"]}))
        .await;
    assert_eq!(
        (tags(&first).await, unread(&ben, &ada).await),
        (json!([mark, "tea"]), json!(2))
    );
    stream.event("tag-change").await;
    ben.does(Method::PUT, &seen, &json!({"tags": ["tea"]}))
        .await;
    assert_eq!(
        (tags(&first).await, unread(&ben, &ada).await),
        (json!(["tea"]), json!(1))
    );
    let change = json!({"message": 1, "add": [], "remove": [mark]});
    assert_eq!(stream.event("tag-change").await["content"], change);

    // What was read is news to nobody, whatever becomes of it.
    let user = format!(":user:{}", ben.id);
    ada.does(Method::PUT, &first, &json!({"tags": [mark, user]}))
        .await;
    assert_eq!(tags(&first).await, json!([user]));
    ada.does(Method::PUT, &first, &json!({"content": "@ben #milk"}))
        .await;
    assert_eq!(
        (tags(&first).await, unread(&ben, &ada).await),
        (json!([user, "milk"]), json!(1))
    );

    ada.does(
        Method::PUT,
        &second,
        &json!({"content": "again #milk http://example.org"}),
    )
    .await;
    assert_eq!(tags(&second).await, json!([mark, "milk", ":url"]));
    assert_eq!(listed(&ben, &ada, &format!("?tags={mark}")).await, [2]);
}

async fn a_conversation_with_oneself_marks_nothing_as_unread(server: Server) {
    let Acme { ada, .. } = server.acme();
    write_all(&ada, &ada, &["a note", "@ada #tea"]).await;
    assert_eq!(
        ada.get(&format!("{}/1", messages(&ada))).await["tags"],
        json!([])
    );
    assert_eq!(
        ada.get(&format!("{}/2", messages(&ada))).await["tags"],
        json!([format!(":user:{}", ada.id), "tea"])
    );
    assert_eq!(ada.get(&super::path(&ada)).await["name"], "ada");
}

async fn an_old_conversation_is_called_by_the_nick(server: Server) {
    let Acme { ada, ben } = server.acme();
    ben.does(
        Method::PUT,
        "/user",
        &json!({"nick": "Benny", "name": "Ben King"}),
    )
    .await;
    assert_eq!(ada.get(&super::path(&ben)).await["name"], "@Benny");
    ada.does(Method::PUT, &super::path(&ben), &json!({"open": true}))
        .await;
    let listed = ada.get("/private").await;
    assert_eq!(
        (&listed[0]["name"], &listed[0]["users"][1]["name"]),
        (&json!("@Benny"), &json!("Ben King"))
    );
}
