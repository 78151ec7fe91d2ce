//! Reactions to messages (docs/protocol.md, Reactions).

use eddyline_client::{
    Credentials, Error, Event, FlowClient, Json, MessageQuery, Method, NewMessage, ReactionChange,
    StatusCode, StreamRequest,
};
use eddyline_tests::{
    Acme, Caller, Listener, Server, Tenant, on_both_databases, on_shared_servers,
};
use serde_json::json;

on_shared_servers![
    a_message_shows_who_reacted_in_the_order_in_which_they_did,
    reacting_twice_is_reacting_once,
    an_emoji_is_one_in_all_its_forms,
    what_is_no_emoji_is_refused_by_name,
    a_message_has_at_most_twenty_different_emoji,
    who_may_post_may_react,
    an_application_needs_the_scope_of_the_room,
    every_kind_of_message_takes_reactions,
    a_message_that_is_not_there_takes_no_reaction,
    a_deleted_message_has_no_reactions,
    streams_are_told_of_reactions,
    private_messages_take_reactions,
    reactions_of_users_who_left_stay,
];

on_both_databases![a_replay_tells_of_reactions];

fn flow(tenant: &Tenant, caller: &Caller) -> FlowClient {
    caller.client.flow(&tenant.name, "main")
}

/// Posts a message and gives its number.
async fn say(tenant: &Tenant, text: &str) -> i64 {
    number(&tenant.ben.say(&tenant.main, text).await)
}

fn number(message: &Json) -> i64 {
    message["id"].as_i64().unwrap()
}

/// The reactions that a message shows, as JSON.
async fn reactions(tenant: &Tenant, id: i64) -> Json {
    let path = tenant.path(&format!("/messages/{id}"));
    tenant.ada.get(&path).await["emojiReactions"].clone()
}

fn status<T: std::fmt::Debug>(answer: Result<T, Error>) -> Option<StatusCode> {
    answer.unwrap_err().status()
}

async fn a_message_shows_who_reacted_in_the_order_in_which_they_did(tenant: Tenant) {
    let (ada, ben) = (flow(&tenant, &tenant.ada), flow(&tenant, &tenant.ben));
    let id = say(&tenant, "tea?").await;
    let other = say(&tenant, "cake?").await;
    assert_eq!(reactions(&tenant, id).await, json!({}));
    ben.react(id, "👍").await.unwrap();
    ada.react(id, "👍").await.unwrap();
    ada.react(id, "🎉").await.unwrap();
    let expected = json!({"👍": [tenant.ben.id, tenant.ada.id], "🎉": [tenant.ada.id]});
    assert_eq!(reactions(&tenant, id).await, expected);

    let listed = ada.messages(&MessageQuery::new()).await.unwrap();
    let listed: Vec<_> = listed
        .into_iter()
        .map(|message| (message.id, json!(message.emoji_reactions)))
        .collect();
    assert_eq!(listed, [(id, expected), (other, json!({}))]);

    ben.unreact(id, "👍").await.unwrap();
    ada.unreact(id, "🎉").await.unwrap();
    assert_eq!(reactions(&tenant, id).await, json!({"👍": [tenant.ada.id]}));
    ben.react(id, "👍").await.unwrap();
    assert_eq!(
        reactions(&tenant, id).await,
        json!({"👍": [tenant.ada.id, tenant.ben.id]})
    );
}

async fn reacting_twice_is_reacting_once(tenant: Tenant) {
    let id = say(&tenant, "tea?").await;
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let path = tenant.path(&format!("/messages/{id}/reactions/%F0%9F%91%8D"));
    for _ in 0..2 {
        let answer = tenant.ada.send(Method::PUT, &path, &Json::Null).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text().as_str()),
            (200, "{}")
        );
    }
    assert_eq!(reactions(&tenant, id).await, json!({"👍": [tenant.ada.id]}));
    for _ in 0..2 {
        let answer = tenant.ada.send(Method::DELETE, &path, &Json::Null).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (204, ""));
    }
    assert_eq!(reactions(&tenant, id).await, json!({}));
    tenant.ben.say(&tenant.main, "the end").await;
    let heard = [
        stream.json().await,
        stream.json().await,
        stream.json().await,
    ];
    assert_eq!(
        heard.map(|event| event["event"].clone()),
        ["emoji-reaction", "emoji-reaction", "message"],
        "only a change sends an event"
    );
}

async fn an_emoji_is_one_in_all_its_forms(tenant: Tenant) {
    let flow = flow(&tenant, &tenant.ada);
    let id = say(&tenant, "tea?").await;
    for form in ["❤", "❤\u{fe0f}", ":heart:", "heart"] {
        flow.react(id, form).await.unwrap();
        assert_eq!(
            reactions(&tenant, id).await,
            json!({"❤\u{fe0f}": [tenant.ada.id]}),
            "{form:?}"
        );
    }
    flow.unreact(id, "❤").await.unwrap();
    assert_eq!(reactions(&tenant, id).await, json!({}));
}

async fn what_is_no_emoji_is_refused_by_name(tenant: Tenant) {
    let id = say(&tenant, "tea?").await;
    for wrong in [
        "no_such_emoji",
        "1",
        "%F0%9F%91%8D%F0%9F%91%8D",
        "%20",
        "%3Cb%3E",
    ] {
        let path = tenant.path(&format!("/messages/{id}/reactions/{wrong}"));
        for method in [Method::PUT, Method::DELETE] {
            let answer = tenant.ada.send(method.clone(), &path, &Json::Null).await;
            assert_eq!(answer.status, 400, "{method} {wrong}");
            assert_eq!(
                answer.json(),
                json!({"message": "Validation error", "errors": {"emoji": ["is not an emoji"]}})
            );
        }
    }
}

async fn a_message_has_at_most_twenty_different_emoji(tenant: Tenant) {
    const EMOJI: [&str; 21] = [
        "👍", "👎", "😀", "🎉", "😕", "❤️", "🚀", "👀", "🔥", "💯", "🙏", "👏", "😂", "😮", "😢",
        "😡", "✅", "❌", "☕", "🍰", "🐟",
    ];
    let (ada, ben) = (flow(&tenant, &tenant.ada), flow(&tenant, &tenant.ben));
    let id = say(&tenant, "tea?").await;
    let (last, others) = EMOJI.split_last().unwrap();
    for emoji in others {
        ada.react(id, emoji).await.unwrap();
    }
    let refused = ben.react(id, last).await.unwrap_err();
    assert_eq!(refused.status(), Some(StatusCode::CONFLICT));
    assert_eq!(
        refused.api().unwrap().message,
        "a message has at most 20 different emoji"
    );
    ben.react(id, others[0]).await.unwrap();
    ada.unreact(id, others[1]).await.unwrap();
    ben.react(id, last).await.unwrap();
    assert_eq!(reactions(&tenant, id).await.as_object().unwrap().len(), 20);
}

/// The table of permissions has every kind of caller; here is what they leave behind.
async fn who_may_post_may_react(tenant: Tenant) {
    let id = say(&tenant, "tea?").await;
    let cleo = tenant.member("cleo");
    let hers = flow(&tenant, &cleo);
    hers.react(id, "👍").await.unwrap();
    flow(&tenant, &tenant.ada)
        .block_user(cleo.id)
        .await
        .unwrap();
    assert_eq!(
        status(hers.react(id, "🎉").await),
        Some(StatusCode::FORBIDDEN)
    );
    assert_eq!(
        status(hers.unreact(id, "👍").await),
        Some(StatusCode::FORBIDDEN)
    );
    let outsider = tenant.user("olga");
    assert_eq!(
        status(flow(&tenant, &outsider).react(id, "👍").await),
        Some(StatusCode::FORBIDDEN)
    );
    let token = tenant.client(Credentials::FlowToken(tenant.flow_token()));
    assert_eq!(
        status(token.flow(&tenant.name, "main").react(id, "👍").await),
        Some(StatusCode::FORBIDDEN)
    );
    assert_eq!(reactions(&tenant, id).await, json!({"👍": [cleo.id]}));
}

async fn an_application_needs_the_scope_of_the_room(tenant: Tenant) {
    let id = say(&tenant, "tea?").await;
    let robot = tenant.server().robot(&tenant.name, &[]);
    let with = async |scope: &str| {
        let token = robot.by_password(&tenant.ada, scope).await;
        robot
            .with(&token["access_token"])
            .flow(&tenant.name, "main")
    };
    for scope in ["private", "profile", "manage", "integration"] {
        assert_eq!(
            status(with(scope).await.react(id, "👍").await),
            Some(StatusCode::FORBIDDEN),
            "{scope}"
        );
    }
    with("flow").await.react(id, "👍").await.unwrap();
    assert_eq!(reactions(&tenant, id).await, json!({"👍": [tenant.ada.id]}));
}

async fn every_kind_of_message_takes_reactions(tenant: Tenant) {
    let flow = flow(&tenant, &tenant.ada);
    let parent = say(&tenant, "tea?").await;
    let comment = NewMessage::new("comment", "yes").wait();
    let comment = flow.comment(parent, &comment).await.unwrap();
    let status = NewMessage::new("status", "thinking").wait();
    let status = flow.post(&status).await.unwrap();
    tenant.member("cleo");
    let listed = flow.messages(&MessageQuery::new()).await.unwrap();
    let action = listed.iter().find(|message| message.event == "action");
    let posted = [comment, status].map(|posted| posted.into_message().unwrap().id);
    for id in posted.into_iter().chain(action.map(|message| message.id)) {
        flow.react(id, "👍").await.unwrap();
        assert_eq!(reactions(&tenant, id).await, json!({"👍": [tenant.ada.id]}));
    }
}

async fn a_message_that_is_not_there_takes_no_reaction(tenant: Tenant) {
    let flow = flow(&tenant, &tenant.ada);
    let id = say(&tenant, "tea?").await;
    flow.react(id, "👍").await.unwrap();
    // The event about it has a number, but is no message of a list.
    for absent in [id + 1, id + 2, 0, -1] {
        assert_eq!(
            status(flow.react(absent, "👍").await),
            Some(StatusCode::NOT_FOUND),
            "{absent}"
        );
        assert_eq!(
            status(flow.unreact(absent, "👍").await),
            Some(StatusCode::NOT_FOUND),
            "{absent}"
        );
    }
}

async fn a_deleted_message_has_no_reactions(tenant: Tenant) {
    let (ada, ben) = (flow(&tenant, &tenant.ada), flow(&tenant, &tenant.ben));
    let id = say(&tenant, "tea?").await;
    ada.react(id, "👍").await.unwrap();
    ben.delete(id).await.unwrap();
    assert_eq!(reactions(&tenant, id).await, json!({}));
    assert_eq!(
        status(ada.react(id, "👍").await),
        Some(StatusCode::FORBIDDEN)
    );
    ada.unreact(id, "👍").await.unwrap();
}

async fn streams_are_told_of_reactions(tenant: Tenant) {
    let (ada, ben) = (flow(&tenant, &tenant.ada), flow(&tenant, &tenant.ben));
    let mut stream = Listener::to(&tenant.ben.client, &[&tenant.main]).await;
    let id = say(&tenant, "tea?").await;
    assert_eq!(stream.json().await["emojiReactions"], json!({}));
    ada.react(id, "thumbsup").await.unwrap();
    ben.react(id, "👍").await.unwrap();
    ada.unreact(id, "👍").await.unwrap();
    for (by, change, kind) in [
        (&tenant.ada, ReactionChange::Add, "add"),
        (&tenant.ben, ReactionChange::Add, "add"),
        (&tenant.ada, ReactionChange::Remove, "remove"),
    ] {
        let told = stream.next().await;
        assert_eq!(
            told.event(),
            Event::EmojiReaction {
                message: id,
                emoji: "👍".into(),
                change
            }
        );
        assert_eq!(
            told.json["content"],
            json!({"message": id, "emoji": "👍", "type": kind})
        );
        assert_eq!(told.json["event"], "emoji-reaction");
        assert_eq!(told.json["user"], by.id.to_string());
        assert!(told.json["id"].as_i64() > Some(id), "it has a place");
    }
    let listed = ada.messages(&MessageQuery::new()).await.unwrap();
    assert_eq!(
        listed.iter().map(|message| message.id).collect::<Vec<_>>(),
        [id],
        "lists do not show them"
    );
}

async fn private_messages_take_reactions(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    let (with_ben, with_ada) = (ada.client.private(ben.id), ben.client.private(ada.id));
    let own = StreamRequest::new().user();
    with_ben.post(&NewMessage::chat("tea?")).await.unwrap();
    let id = with_ada.messages(&MessageQuery::new()).await.unwrap()[0].id;
    let mut streams = [
        Listener::open(&ada.client, &own).await,
        Listener::open(&ben.client, &own).await,
    ];
    let cleo = tenant.member("cleo");
    let mut third = Listener::open(&cleo.client, &own).await;
    with_ada.react(id, "👍").await.unwrap();
    with_ben.react(id, "👍").await.unwrap();
    for client in [&with_ben, &with_ada] {
        let shown = client.message(id).await.unwrap().emoji_reactions;
        assert_eq!(json!(shown), json!({"👍": [ben.id, ada.id]}));
    }
    for stream in &mut streams {
        for (from, to) in [(ben, ada), (ada, ben)] {
            let told = stream.event("emoji-reaction").await;
            assert_eq!(told["user"], from.id.to_string());
            assert_eq!(told["to"], to.id.to_string());
            assert_eq!(
                told["content"],
                json!({"message": id, "emoji": "👍", "type": "add"})
            );
        }
    }
    with_ada.unreact(id, "👍").await.unwrap();
    let shown = with_ben.message(id).await.unwrap().emoji_reactions;
    assert_eq!(json!(shown), json!({"👍": [ada.id]}));

    let wrong = with_ada.react(id, "nothing").await.unwrap_err();
    assert!(wrong.api().unwrap().errors.contains_key("emoji"));
    let stranger = tenant.neighbour().ada.client.private(ben.id);
    assert_eq!(
        status(stranger.react(id, "👍").await),
        Some(StatusCode::NOT_FOUND)
    );
    let with_cleo = ada.client.private(cleo.id);
    with_cleo.post(&NewMessage::chat("hello")).await.unwrap();
    assert_eq!(
        third.json().await["content"],
        "hello",
        "and nothing before it"
    );
}

async fn reactions_of_users_who_left_stay(tenant: Tenant) {
    let id = say(&tenant, "tea?").await;
    let cleo = tenant.member("cleo");
    flow(&tenant, &cleo).react(id, "👍").await.unwrap();
    tenant
        .ada
        .client
        .remove_from_organization(&tenant.name, cleo.id)
        .await
        .unwrap();
    assert_eq!(
        reactions(&tenant, id).await,
        json!({"👍": [cleo.id]}),
        "as what they wrote does"
    );
}

/// What a caller hears from the beginning of the log, up to a message that ends it.
async fn replay(caller: &Caller) -> Vec<Json> {
    let request = StreamRequest::new().flow("acme/main").after("0-00000000");
    let mut stream = Listener::open(&caller.client, &request).await;
    let end = caller.say("acme/main", "the end").await["id"].clone();
    let mut heard = Vec::new();
    loop {
        let event = stream.json().await;
        if event["id"] == end {
            return heard;
        }
        heard.push(event);
    }
}

async fn a_replay_tells_of_reactions(mut server: Server) {
    let Acme { ada, ben } = server.acme();
    let (adas, bens) = (
        ada.client.flow("acme", "main"),
        ben.client.flow("acme", "main"),
    );
    let kept = number(&ben.say("acme/main", "tea?").await);
    let file = eddyline_client::NewFile {
        name: "a.txt".into(),
        content_type: "text/plain".into(),
        data: vec![b'x'].into(),
    };
    bens.upload(&file).await.unwrap();
    let listed = bens.messages(&MessageQuery::new()).await.unwrap();
    let removed = listed
        .iter()
        .find(|message| message.event == "file")
        .unwrap()
        .id;
    adas.react(kept, "👍").await.unwrap();
    bens.react(kept, "🎉").await.unwrap();
    bens.unreact(kept, "🎉").await.unwrap();
    adas.react(removed, "👍").await.unwrap();
    bens.delete(removed).await.unwrap();

    let told = |heard: Vec<Json>| {
        let heard = heard.into_iter();
        let heard = heard.filter(|event| event["event"] == "emoji-reaction");
        heard
            .map(|event| event["content"].clone())
            .collect::<Vec<_>>()
    };
    let expected = [
        json!({"message": kept, "emoji": "👍", "type": "add"}),
        json!({"message": kept, "emoji": "🎉", "type": "add"}),
        json!({"message": kept, "emoji": "🎉", "type": "remove"}),
    ];
    assert_eq!(told(replay(&ada).await), expected, "from memory");
    server.terminate();
    server.restart();
    let ada = Caller {
        client: server.client().api_token(&ada.token).build().unwrap(),
        ..ada
    };
    let heard = replay(&ada).await;
    let message = heard.iter().find(|event| event["id"] == kept).unwrap();
    assert_eq!(
        message["emojiReactions"],
        json!({"👍": [ada.id]}),
        "a message that is heard late shows them as they are"
    );
    assert_eq!(told(heard), expected, "from the log");
}
