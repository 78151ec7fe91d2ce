//! Marking what was read (docs/protocol.md, Reading), and what is unread then.

use eddyline_client::{Credentials, Json, Method, RawResponse, StreamRequest};
use eddyline_tests::{Caller, Listener, Tenant, on_shared_servers};
use serde_json::{Value, json};

use crate::integrations::{Source, activity};

on_shared_servers![
    a_flow_is_read_up_to_a_message,
    a_private_conversation_is_read_up_to_a_message,
    a_marker_only_goes_forward,
    a_message_that_is_not_there_cannot_be_read,
    reading_is_told_to_ones_own_streams_only,
    a_stream_goes_on_with_the_reading_missed,
    tags_stay_as_they_were_sent,
    what_one_device_reads_the_other_has_read,
    a_deleted_message_is_not_unread,
    an_edit_changes_what_is_unread,
    everyone_reads_for_themselves,
    who_takes_off_their_own_mark_has_read,
    only_members_mark_a_flow_as_read,
    chat_and_inbox_are_read_apart,
    a_thread_is_read_on_its_own,
    reading_a_part_is_told_as_such,
];

async fn read(caller: &Caller, place: &str, message: impl Into<Json>) -> RawResponse {
    caller
        .send(
            Method::PUT,
            &format!("{place}/read"),
            &json!({"message": message.into()}),
        )
        .await
}

async fn unread(caller: &Caller, tenant: &Tenant) -> Value {
    let one = caller.get(&tenant.path("")).await["unread_mentions"].clone();
    let listed = caller.get("/flows").await[0]["unread_mentions"].clone();
    assert_eq!(one, listed);
    one
}

fn private(with: &Caller) -> String {
    format!("/private/{}", with.id)
}

async fn write(from: &Caller, to: &Caller, text: &str) {
    let body = json!({"event": "message", "content": text});
    from.does(Method::POST, &format!("{}/messages", private(to)), &body)
        .await;
}

/// Shows: 2.7
async fn a_flow_is_read_up_to_a_message(tenant: Tenant) {
    for text in ["@ada one", "two", "@ada three", "@everyone four"] {
        tenant.ben.say(&tenant.main, text).await;
    }
    assert_eq!(unread(&tenant.ada, &tenant).await, 3);
    let answer = read(&tenant.ada, &tenant.path(""), 1).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    assert_eq!(unread(&tenant.ada, &tenant).await, 2);
    // As text, and a message that mentions nobody.
    read(&tenant.ada, &tenant.path(""), "2")
        .await
        .success()
        .unwrap();
    assert_eq!(unread(&tenant.ada, &tenant).await, 2);
    read(&tenant.ada, &tenant.path(""), 4)
        .await
        .success()
        .unwrap();
    assert_eq!(unread(&tenant.ada, &tenant).await, 0);
    tenant.ben.say(&tenant.main, "@ada five").await;
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
}

async fn a_private_conversation_is_read_up_to_a_message(tenant: Tenant) {
    let unread = async || tenant.ada.get(&private(&tenant.ben)).await["activity"].clone();
    for text in ["one", "two", "three"] {
        write(&tenant.ben, &tenant.ada, text).await;
    }
    assert_eq!(
        unread().await,
        json!({"inbox": false, "mentions": 3, "chat": true})
    );
    let answer = read(&tenant.ada, &private(&tenant.ben), 2).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (200, "{}")
    );
    assert_eq!(
        unread().await,
        json!({"inbox": false, "mentions": 1, "chat": true})
    );
    read(&tenant.ada, &private(&tenant.ben), 3)
        .await
        .success()
        .unwrap();
    assert_eq!(
        unread().await,
        json!({"inbox": false, "mentions": 0, "chat": false})
    );
    assert_eq!(
        tenant.ada.get("/private").await[0]["activity"]["mentions"],
        0
    );
}

async fn a_marker_only_goes_forward(tenant: Tenant) {
    for text in ["@ada one", "@ada two", "@ada three"] {
        tenant.ben.say(&tenant.main, text).await;
        write(&tenant.ben, &tenant.ada, text).await;
    }
    let mut stream = Listener::open(&tenant.ada.client, &StreamRequest::new().user()).await;
    for place in [tenant.path(""), private(&tenant.ben)] {
        for message in [2, 1, 2] {
            assert_eq!(read(&tenant.ada, &place, message).await.status, 200);
        }
    }
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
    assert_eq!(
        tenant.ada.get(&private(&tenant.ben)).await["activity"]["mentions"],
        1
    );
    for _ in 0..2 {
        // What was said a moment before the stream began may come first.
        assert_eq!(stream.event("read").await["content"]["message"], 2);
    }
    read(&tenant.ada, &tenant.path(""), 3)
        .await
        .success()
        .unwrap();
    assert_eq!(
        stream.event("read").await["content"]["message"],
        3,
        "what changed nothing was not told"
    );
}

async fn a_message_that_is_not_there_cannot_be_read(tenant: Tenant) {
    tenant.ben.say(&tenant.main, "@ada one").await;
    write(&tenant.ben, &tenant.ada, "one").await;
    let untouched = private(&tenant.member("cleo"));
    for place in [tenant.path(""), private(&tenant.ben), untouched] {
        for message in [
            json!(2),
            json!(0),
            json!(-1),
            json!("x"),
            json!(null),
            json!(1.5),
            json!(i64::MAX),
        ] {
            let answer = read(&tenant.ada, &place, message.clone()).await;
            assert_eq!(answer.status, 400, "{place} {message}");
            assert!(
                answer.json()["errors"]["message"].is_array(),
                "{}",
                answer.text()
            );
        }
        assert_eq!(
            tenant
                .ada
                .send(Method::PUT, &format!("{place}/read"), &json!({}))
                .await
                .status,
            400
        );
    }
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
}

/// Shows: 6.8
async fn reading_is_told_to_ones_own_streams_only(tenant: Tenant) {
    tenant.ben.say(&tenant.main, "@ada one").await;
    write(&tenant.ben, &tenant.ada, "one").await;
    let flow = tenant.ada.get(&tenant.path("")).await["id"].clone();
    let both = StreamRequest::new().user().flow(&tenant.main);
    let mut ada_one = Listener::open(&tenant.ada.client, &both).await;
    let mut ada_two = Listener::open(&tenant.ada.client, &StreamRequest::new().user()).await;
    let mut ada_flow = Listener::to(&tenant.ada.client, &[&tenant.main]).await;
    let mut ben = Listener::open(&tenant.ben.client, &both).await;
    read(&tenant.ada, &tenant.path(""), 1)
        .await
        .success()
        .unwrap();
    read(&tenant.ada, &private(&tenant.ben), 1)
        .await
        .success()
        .unwrap();
    tenant.ben.say(&tenant.main, "end").await;
    let (ada, ben_id) = (tenant.ada.id.to_string(), tenant.ben.id.to_string());
    for stream in [&mut ada_one, &mut ada_two] {
        let of_flow =
            json!({"event": "read", "user": ada, "content": {"flow": flow, "message": 1}});
        assert_eq!(stream.json().await, of_flow);
        let in_private =
            json!({"event": "read", "user": ada, "content": {"to": ben_id, "message": 1}});
        assert_eq!(stream.json().await, in_private);
    }
    for stream in [&mut ada_one, &mut ada_flow, &mut ben] {
        assert_eq!(
            stream.json().await["content"],
            "end",
            "and nothing before it"
        );
    }
}

async fn a_stream_goes_on_with_the_reading_missed(tenant: Tenant) {
    write(&tenant.ben, &tenant.ada, "one").await;
    write(&tenant.ada, &tenant.ada, "note to self").await;
    let request = StreamRequest::new().user();
    let mut stream = Listener::open(&tenant.ada.client, &request).await;
    write(&tenant.ben, &tenant.ada, "two").await;
    stream.texts_through("two").await;
    let request = request.after(&stream.last_event_id());
    drop(stream);
    read(&tenant.ada, &private(&tenant.ben), 2)
        .await
        .success()
        .unwrap();
    read(&tenant.ada, &private(&tenant.ada), 1)
        .await
        .success()
        .unwrap();
    let mut stream = Listener::open(&tenant.ada.client, &request).await;
    for (to, message) in [(&tenant.ben, 2), (&tenant.ada, 1)] {
        let told = stream.json().await;
        assert_eq!(
            told["content"],
            json!({"to": to.id.to_string(), "message": message})
        );
    }
}

async fn tags_stay_as_they_were_sent(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "@ada one").await;
    read(&tenant.ada, &tenant.path(""), 1)
        .await
        .success()
        .unwrap();
    assert_eq!(
        tenant.ada.get(&tenant.message_path(&message)).await["tags"],
        message["tags"]
    );
}

/// Shows: 2.7
async fn what_one_device_reads_the_other_has_read(tenant: Tenant) {
    for text in ["@ada one", "@ada two", "@ada three"] {
        tenant.ben.say(&tenant.main, text).await;
    }
    // The other device signs in with the password.
    let other = Caller {
        client: tenant.ada.by_password(),
        ..copy(&tenant.ada)
    };
    read(&tenant.ada, &tenant.path(""), 2)
        .await
        .success()
        .unwrap();
    assert_eq!(unread(&other, &tenant).await, 1);
    // It lags behind, which takes nothing back.
    read(&other, &tenant.path(""), 1).await.success().unwrap();
    assert_eq!(
        (
            unread(&other, &tenant).await,
            unread(&tenant.ada, &tenant).await
        ),
        (json!(1), json!(1))
    );
    let marks: Vec<_> = (0..10)
        .map(|n| {
            let caller = if n % 2 == 0 { &tenant.ada } else { &other };
            let mark = json!({"message": 1 + n % 3});
            tokio::spawn(
                caller
                    .client
                    .request(Method::PUT, &tenant.path("/read"))
                    .json(&mark)
                    .done(),
            )
        })
        .collect();
    for mark in marks {
        mark.await.unwrap().unwrap();
    }
    assert_eq!(
        (
            unread(&other, &tenant).await,
            unread(&tenant.ada, &tenant).await
        ),
        (json!(0), json!(0))
    );
}

fn copy(caller: &Caller) -> Caller {
    Caller {
        id: caller.id,
        email: caller.email.clone(),
        token: caller.token.clone(),
        client: caller.client.clone(),
    }
}

/// Shows: 2.7
async fn a_deleted_message_is_not_unread(tenant: Tenant) {
    let named = tenant.ben.say(&tenant.main, "@ada one").await;
    let all = tenant.ben.say(&tenant.main, "@everyone two").await;
    tenant.ben.say(&tenant.main, "@ada three").await;
    assert_eq!(unread(&tenant.ada, &tenant).await, 3);
    tenant
        .ben
        .does(Method::DELETE, &tenant.message_path(&named), &Json::Null)
        .await;
    assert_eq!(unread(&tenant.ada, &tenant).await, 2);
    tenant
        .ben
        .does(Method::DELETE, &tenant.message_path(&all), &Json::Null)
        .await;
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
    // What is gone can still be read up to.
    read(&tenant.ada, &tenant.path(""), all["id"].clone())
        .await
        .success()
        .unwrap();
    assert_eq!(unread(&tenant.ada, &tenant).await, 1);
}

/// Shows: 2.7
async fn an_edit_changes_what_is_unread(tenant: Tenant) {
    let first = tenant.ben.say(&tenant.main, "one").await;
    let second = tenant.ben.say(&tenant.main, "@ada two").await;
    let edit = async |message: &Json, text: &str| {
        tenant
            .ben
            .does(
                Method::PUT,
                &tenant.message_path(message),
                &json!({"content": text}),
            )
            .await;
    };
    edit(&first, "@ada one").await;
    assert_eq!(
        unread(&tenant.ada, &tenant).await,
        2,
        "a mention that came later"
    );
    edit(&second, "two").await;
    assert_eq!(
        unread(&tenant.ada, &tenant).await,
        1,
        "one that was taken back"
    );
    read(&tenant.ada, &tenant.path(""), second["id"].clone())
        .await
        .success()
        .unwrap();
    edit(&second, "@ada two").await;
    assert_eq!(
        unread(&tenant.ada, &tenant).await,
        0,
        "the message was read"
    );
}

async fn everyone_reads_for_themselves(tenant: Tenant) {
    let cleo = tenant.member("cleo");
    tenant.ben.say(&tenant.main, "@everyone one").await;
    tenant.ben.say(&tenant.main, "@everyone and @ada two").await;
    assert_eq!(
        (
            unread(&tenant.ada, &tenant).await,
            unread(&cleo, &tenant).await
        ),
        (json!(2), json!(2))
    );
    assert_eq!(unread(&tenant.ben, &tenant).await, 0);
    read(&tenant.ada, &tenant.path(""), 1)
        .await
        .success()
        .unwrap();
    assert_eq!(
        (
            unread(&tenant.ada, &tenant).await,
            unread(&cleo, &tenant).await
        ),
        (json!(1), json!(2))
    );
}

async fn who_takes_off_their_own_mark_has_read(tenant: Tenant) {
    let message = tenant.ben.say(&tenant.main, "@ada one").await;
    let all = tenant.ben.say(&tenant.main, "@everyone two").await;
    let own = json!(format!(":unread:{}", tenant.ada.id));
    for (message, left) in [(&message, 1), (&all, 0)] {
        let mut tags = message["tags"].as_array().unwrap().clone();
        tags.retain(|tag| *tag != own);
        tenant
            .ada
            .does(
                Method::PUT,
                &tenant.message_path(message),
                &json!({"tags": tags}),
            )
            .await;
        assert_eq!(unread(&tenant.ada, &tenant).await, left);
    }
}

async fn only_members_mark_a_flow_as_read(tenant: Tenant) {
    tenant.ben.say(&tenant.main, "one").await;
    let outsider = tenant.user("olga");
    assert_eq!(read(&outsider, &tenant.path(""), 1).await.status, 403);
    assert_eq!(
        read(&tenant.neighbour().ada, &tenant.path(""), 1)
            .await
            .status,
        404
    );
    let client = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    let request = client
        .request(Method::PUT, &tenant.path("/read"))
        .json(&json!({"message": 1}));
    assert_eq!(request.send().await.unwrap().status, 403);
}

/// What is unread in the chat and in the inbox: how many messages, and the first.
async fn unread_parts(tenant: &Tenant) -> [Value; 2] {
    let flow = tenant.ada.get(&tenant.path("")).await;
    let of = |part: &Value| json!([part["unread"], part["first_unread"]]);
    [of(&flow), of(&flow["inbox"])]
}

async fn chat_and_inbox_are_read_apart(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    let first = tenant.ben.say(&tenant.main, "one").await;
    source.push(&activity("7", "Ticket")).await;
    let last = tenant.ben.say(&tenant.main, "three").await;
    let first = first["id"].clone();
    let item = unread_parts(&tenant).await[1][1].clone();
    assert_eq!(
        unread_parts(&tenant).await,
        [json!([2, first]), json!([1, item])]
    );
    let place = tenant.path("/read");
    let reads = async |marker: &str| {
        let body = json!({"message": last["id"], "marker": marker});
        tenant.ada.send(Method::PUT, &place, &body).await
    };
    assert_eq!(reads("chat").await.status, 200);
    assert_eq!(
        unread_parts(&tenant).await,
        [json!([0, null]), json!([1, item])]
    );
    let flow = tenant.ada.get(&tenant.path("")).await;
    assert_eq!(flow["read"], last["id"]);
    assert!(flow["inbox"]["read"].as_i64() < last["id"].as_i64());
    assert_eq!(reads("inbox").await.status, 200);
    assert_eq!(
        unread_parts(&tenant).await,
        [json!([0, null]), json!([0, null])]
    );
    let refused = reads("both").await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.json()["errors"]["marker"].is_array(),
        "{}",
        refused.text()
    );
}

async fn a_thread_is_read_on_its_own(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    for ticket in ["7", "8"] {
        source.push(&activity(ticket, "Ticket")).await;
    }
    let path = tenant.path("/threads?application=inbox&last_message=1");
    let unread = async || {
        let threads = tenant.ada.get(&path).await;
        let each = threads.as_array().unwrap().iter();
        each.map(|thread| thread["unread"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(unread().await, [true, true]);
    let threads = tenant.ada.get(&path).await;
    let (newer, older) = (&threads[0], &threads[1]);
    let mut counts = Vec::new();
    for thread in [newer, older] {
        let place = tenant.path(&format!("/threads/{}/read", thread["id"].as_str().unwrap()));
        let body = json!({"message": thread["last_message"]["id"]});
        let flow = tenant.ada.send(Method::PUT, &place, &body).await.json();
        assert_eq!(flow["id"], tenant.ada.get(&tenant.path("")).await["id"]);
        counts.push((flow["inbox"]["unread"].clone(), unread().await));
    }
    assert_eq!(
        counts,
        [
            (json!(1), vec![json!(false), json!(true)]),
            (json!(0), vec![json!(false), json!(false)])
        ]
    );
    let flow = tenant.ada.get(&tenant.path("")).await;
    assert_eq!(flow["inbox"]["read"], newer["last_message"]["id"]);
    let missing = tenant.path("/threads/AAAAAAAAAAAAAAAAAAAAAAAAAAA/read");
    let known = tenant.path(&format!("/threads/{}/read", newer["id"].as_str().unwrap()));
    for (place, message, refusal) in [(missing, 1, 404), (known, 1_000_000, 400)] {
        let body = json!({"message": message});
        let answer = tenant.ada.send(Method::PUT, &place, &body).await;
        assert_eq!(answer.status, refusal, "{place}");
    }
}

async fn reading_a_part_is_told_as_such(tenant: Tenant) {
    let source = Source::new(&tenant).await;
    source.push(&activity("7", "Ticket")).await;
    let path = tenant.path("/threads?application=inbox&last_message=1");
    let thread = tenant.ada.get(&path).await[0].take();
    let flow = tenant.ada.get(&tenant.path("")).await["id"].clone();
    let last = thread["last_message"]["id"].clone();
    let mut stream = Listener::open(&tenant.ada.client, &StreamRequest::new().user()).await;
    for marker in ["chat", "inbox"] {
        let body = json!({"message": last, "marker": marker});
        tenant
            .ada
            .does(Method::PUT, &tenant.path("/read"), &body)
            .await;
        assert_eq!(
            stream.event("read").await["content"],
            json!({"flow": flow, "message": last, "marker": marker})
        );
    }
    source.push(&activity("7", "Ticket")).await;
    let last = tenant.ada.get(&path).await[0]["last_message"]["id"].clone();
    let place = tenant.path(&format!("/threads/{}/read", thread["id"].as_str().unwrap()));
    tenant
        .ada
        .does(Method::PUT, &place, &json!({"message": last}))
        .await;
    assert_eq!(
        stream.event("read").await["content"],
        json!({"flow": flow, "thread_id": thread["id"], "message": last})
    );
    // The event names the message that was read, also where the marker of the inbox moves further.
    source.push(&activity("7", "Ticket")).await;
    let answers = tenant.path(&format!(
        "/threads/{}/messages",
        thread["id"].as_str().unwrap()
    ));
    let answer = json!({"event": "message", "content": "Why?"});
    tenant.ben.does(Method::POST, &answers, &answer).await;
    let first = tenant.ada.get(&path).await[0]["last_message"]["id"].clone();
    let body = json!({"message": first, "marker": "chat"});
    tenant
        .ada
        .does(Method::PUT, &tenant.path("/read"), &body)
        .await;
    stream.event("read").await;
    tenant.ben.does(Method::POST, &answers, &answer).await;
    tenant
        .ada
        .does(Method::PUT, &place, &json!({"message": first}))
        .await;
    assert_eq!(
        stream.event("read").await["content"],
        json!({"flow": flow, "thread_id": thread["id"], "message": first})
    );
}
