//! The typed client, as a program uses it: its types are the server's answers.

use std::sync::{Arc, Mutex};

use eddyline_client::requests::{CreateGroup, EditMessage, ListThreads, UpdateFlow, UpdateGroup};
use eddyline_client::{
    Credentials, Error, Event, Json, MessageKind, MessageQuery, Method, NewFile, NewMessage,
    OAuthApplication, OAuthSession, OAuthTokens, Source, StatusCode, StreamRequest, UserId,
};
use eddyline_tests::{Tenant, note_secret, on_shared_servers};
use eddyline_wire::{Parameters, Request};
use serde_json::json;

on_shared_servers![
    flows_are_managed,
    a_bound_is_the_same_in_the_document_the_server_and_the_client,
    messages_are_posted_and_found,
    people_come_and_go,
    organizations_are_shown_and_changed,
    groups_are_made_changed_and_removed,
    an_integration_makes_a_source_and_posts_through_it,
    two_talk_in_private,
    a_file_is_uploaded_and_downloaded,
    events_of_a_stream_have_types,
    tokens_that_have_expired_are_renewed,
];

async fn flows_are_managed(tenant: Tenant) {
    let client = &tenant.ben.client;
    let made = client
        .create_flow(&tenant.name, "Tea Room".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        (
            made.parameterized_name.as_str(),
            made.joined,
            made.flow_admin
        ),
        ("tea-room", true, true)
    );
    let flow = client.flow(&tenant.name, "tea-room");
    assert_eq!(flow.get().await.unwrap(), made);
    assert_eq!(client.find_flow(&made.id).await.unwrap(), made);
    let change = UpdateFlow {
        name: Some("Salon".parse().unwrap()),
        open: Some(false),
        ..UpdateFlow::default()
    };
    let changed = flow.update(&change).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.open), ("Salon", false));
    for flows in [
        client.flows(true).await.unwrap(),
        client.all_flows(true).await.unwrap(),
    ] {
        assert!(flows.contains(&changed));
        assert_eq!(flows.len(), 2);
    }
    assert!(
        client
            .flows(false)
            .await
            .unwrap()
            .iter()
            .all(|flow| flow.users.is_none())
    );
    let missing = client.flow(&tenant.name, "none").get().await.unwrap_err();
    assert_eq!(missing.status(), Some(StatusCode::NOT_FOUND));
}

async fn a_bound_is_the_same_in_the_document_the_server_and_the_client(tenant: Tenant) {
    let client = &tenant.ada.client;
    let declared = UpdateFlow::fields()
        .into_iter()
        .find(|field| field.name == "description")
        .unwrap();
    let most = usize::try_from(declared.schema["maxLength"].as_u64().unwrap()).unwrap();
    let document = client.request(Method::GET, "/openapi.json").anonymous();
    let document: Json = document.call().await.unwrap();
    let described =
        &document["components"]["schemas"]["UpdateFlowRequest"]["properties"]["description"];
    assert_eq!(described["maxLength"], most);

    let flow = client.flow(&tenant.name, "main");
    let change = |characters: usize| UpdateFlow {
        description: Some("a".repeat(characters)),
        ..UpdateFlow::default()
    };
    flow.update(&change(most)).await.unwrap();
    let told = [format!("is too long (maximum is {most} characters)")];
    let Err(Error::Invalid(unsent)) = flow.update(&change(most + 1)).await else {
        panic!("the client sends {most} characters and one");
    };
    assert_eq!(unsent.errors["description"], told);
    let sent = flow
        .request(Method::PUT, "")
        .json(&change(most + 1).to_json())
        .call::<Json>()
        .await;
    assert_eq!(sent.unwrap_err().api().unwrap().errors["description"], told);
}

/// Shows: 1.3
async fn messages_are_posted_and_found(tenant: Tenant) {
    let flow = tenant.ben.client.flow(&tenant.name, "main");
    let post = NewMessage::chat("Lunch? #food")
        .tag("noon")
        .uuid("u-1")
        .wait();
    let message = flow.post(&post).await.unwrap().into_message().unwrap();
    assert_eq!(message.tags, ["noon", "food"]);
    assert_eq!(flow.message(message.id).await.unwrap(), message);
    let answer = NewMessage::chat("Pizza").wait();
    let thread = message.thread_id.clone().unwrap();
    let answer = flow
        .post_to_thread(&thread, &answer)
        .await
        .unwrap()
        .into_message()
        .unwrap();
    let comment = NewMessage::new("comment", "Yes").wait();
    let comment = flow
        .comment(message.id, &comment)
        .await
        .unwrap()
        .into_message()
        .unwrap();
    assert_eq!(
        comment.content,
        json!({"title": "Lunch? #food", "text": "Yes"})
    );
    assert_eq!(
        flow.comments(message.id).await.unwrap(),
        std::slice::from_ref(&comment)
    );
    let ids =
        |messages: Vec<eddyline_client::Message>| messages.iter().map(|m| m.id).collect::<Vec<_>>();
    let everything = flow
        .thread_messages(&thread, &MessageQuery::new())
        .await
        .unwrap();
    assert_eq!(ids(everything), [message.id, answer.id, comment.id]);
    let query = MessageQuery::new()
        .event(MessageKind::Message)
        .search("pizza")
        .limit(1);
    assert_eq!(ids(flow.messages(&query).await.unwrap()), [answer.id]);
    let query = MessageQuery::new()
        .tag("food")
        .tag("none")
        .any_tag()
        .oldest();
    assert_eq!(ids(flow.messages(&query).await.unwrap()), [message.id]);
    let change = EditMessage {
        content: Some("Dinner?".into()),
        ..EditMessage::default()
    };
    flow.edit(message.id, &change).await.unwrap();
    assert!(flow.message(message.id).await.unwrap().edited.is_some());
    flow.delete(answer.id).await.unwrap();
    assert_eq!(flow.message(answer.id).await.unwrap().content, "");
    let refused = flow.post(&NewMessage::chat("")).await.unwrap_err();
    assert!(refused.api().unwrap().errors.contains_key("content"));
}

async fn people_come_and_go(tenant: Tenant) {
    let olga = tenant.user("olga");
    let flow = tenant.ben.client.flow(&tenant.name, "main");
    flow.add_user(olga.id).await.unwrap();
    let users = flow.users().await.unwrap();
    assert!(users.contains(&olga.client.me().await.unwrap()));
    assert_eq!(tenant.ben.client.user(olga.id).await.unwrap().nick, "olga");
    flow.block_user(olga.id).await.unwrap();
    let hers = olga.client.flow(&tenant.name, "main");
    assert_eq!(
        hers.get().await.unwrap_err().status(),
        Some(StatusCode::FORBIDDEN)
    );
    flow.unblock_user(olga.id).await.unwrap();
    hers.leave(olga.id).await.unwrap();
    assert_eq!(flow.users().await.unwrap().len(), 2);
}

async fn organizations_are_shown_and_changed(tenant: Tenant) {
    let client = &tenant.ada.client;
    let organization = client.organization(&tenant.name).await.unwrap();
    assert_eq!(
        client.organizations().await.unwrap(),
        std::slice::from_ref(&organization)
    );
    assert_eq!(
        client.find_organization(organization.id).await.unwrap(),
        organization
    );
    assert_eq!(
        client
            .rename_organization(&tenant.name, "Acme")
            .await
            .unwrap()
            .name,
        "Acme"
    );
    let olga = tenant.user("olga");
    let users = client.organization_users(&tenant.name).await.unwrap();
    assert_eq!(
        users.iter().map(|user| user.admin).collect::<Vec<_>>(),
        [Some(true), Some(false), Some(false)]
    );
    client
        .remove_from_organization(&tenant.name, olga.id)
        .await
        .unwrap();
    assert_eq!(client.users().await.unwrap().len(), 2);
}

fn new_group(name: &str, users: &[i64]) -> CreateGroup {
    CreateGroup {
        name: name.parse().unwrap(),
        users: Some(users.iter().copied().map(UserId).collect()),
    }
}

async fn groups_are_made_changed_and_removed(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    let client = &ada.client;
    let made = client
        .create_group(&tenant.name, &new_group("backend", &[ada.id]))
        .await
        .unwrap();
    assert_eq!(
        (made.name.as_str(), made.tag.as_str(), &made.users),
        ("backend", ":user:backend", &vec![ada.id])
    );
    assert_eq!(ben.client.group(&tenant.name, made.id).await.unwrap(), made);
    client
        .add_to_group(&tenant.name, made.id, ben.id)
        .await
        .unwrap();
    client
        .remove_from_group(&tenant.name, made.id, ada.id)
        .await
        .unwrap();
    let changed = ben.client.group(&tenant.name, made.id).await.unwrap();
    assert_eq!(changed.users, [ben.id]);
    assert_eq!(
        ben.client.groups(&tenant.name).await.unwrap(),
        std::slice::from_ref(&changed)
    );
    let rename = UpdateGroup {
        name: Some("server".parse().unwrap()),
        ..UpdateGroup::default()
    };
    let renamed = client
        .change_group(&tenant.name, made.id, &rename)
        .await
        .unwrap();
    assert_eq!(
        (renamed.name.as_str(), &renamed.users),
        ("server", &changed.users)
    );
    let replace = UpdateGroup {
        users: Some(vec![UserId(ada.id), UserId(ben.id)]),
        ..UpdateGroup::default()
    };
    let mut users = client
        .change_group(&tenant.name, made.id, &replace)
        .await
        .unwrap()
        .users;
    users.sort_unstable();
    assert_eq!(users, [ada.id, ben.id]);
    let refused = ben
        .client
        .remove_group(&tenant.name, made.id)
        .await
        .unwrap_err();
    assert_eq!(refused.status(), Some(StatusCode::FORBIDDEN));
    let taken = client
        .create_group(&tenant.name, &new_group("server", &[]))
        .await
        .unwrap_err();
    assert_eq!(taken.status(), Some(StatusCode::CONFLICT));
    client.remove_group(&tenant.name, made.id).await.unwrap();
    assert!(client.groups(&tenant.name).await.unwrap().is_empty());
}

async fn an_integration_makes_a_source_and_posts_through_it(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let token = robot.by_password(&tenant.ben, "integration").await;
    let flow = robot
        .with(&token["access_token"])
        .flow(&tenant.name, "main");
    let source = flow.create_source("Tickets").await.unwrap();
    let token = source
        .flow_token
        .clone()
        .expect("a new source shows its token");
    note_secret(&token);
    let shown = flow.sources().await.unwrap();
    assert_eq!(
        shown,
        [Source {
            flow_token: None,
            ..source.clone()
        }]
    );

    let integration = tenant.client(Credentials::FlowToken(token));
    let state = json!({"title": "Crash", "status": {"value": "open", "color": "red"}});
    integration
        .post(&NewMessage::activity("1", "opened").thread_state(state))
        .await
        .unwrap();
    integration
        .post(&NewMessage::discussion("1", "<p>It crashes.</p>"))
        .await
        .unwrap();
    let ours = tenant.ben.client.flow(&tenant.name, "main");
    let threads = ours.threads(30).await.unwrap();
    let wanted = ListThreads {
        search: Some("no such title".to_owned()),
        ..ListThreads::default()
    };
    assert_eq!(ours.list_threads(&wanted).await.unwrap(), []);
    assert_eq!(threads.len(), 1);
    let thread = ours.thread(&threads[0].id).await.unwrap();
    assert_eq!(thread, threads[0]);
    assert_eq!(
        (
            thread.title.as_str(),
            thread.activities,
            thread.external_comments
        ),
        ("Crash", 1, 1)
    );

    let broken = integration
        .set_source_error("The tracker does not answer")
        .await
        .unwrap();
    assert_eq!(
        broken.error_message.as_deref(),
        Some("The tracker does not answer")
    );
    ours.remove_source(source.id).await.unwrap();
    let gone = integration
        .post(&NewMessage::activity("1", "closed"))
        .await
        .unwrap_err();
    assert_eq!(gone.status(), Some(StatusCode::GONE));
}

async fn two_talk_in_private(tenant: Tenant) {
    let (ada, ben) = (&tenant.ada, &tenant.ben);
    let (to_ben, to_ada) = (ada.client.private(ben.id), ben.client.private(ada.id));
    to_ben.post(&NewMessage::chat("Psst")).await.unwrap();
    let messages = to_ada.messages(&MessageQuery::new()).await.unwrap();
    let [message] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert_eq!(message.content, "Psst");
    let unread = ben.client.private_conversations().await.unwrap();
    assert_eq!((unread[0].id, unread[0].activity.mentions), (ada.id, 1));
    to_ada.mark_read(message.id).await.unwrap();
    assert_eq!(to_ada.get().await.unwrap().activity.mentions, 0);
    to_ben
        .edit(
            message.id,
            &EditMessage {
                content: Some("Hello".into()),
                ..EditMessage::default()
            },
        )
        .await
        .unwrap();
    assert_eq!(to_ada.message(message.id).await.unwrap().content, "Hello");
    to_ben.delete(message.id).await.unwrap();
    assert_eq!(to_ada.message(message.id).await.unwrap().content, "");
}

async fn a_file_is_uploaded_and_downloaded(tenant: Tenant) {
    let flow = tenant.ben.client.flow(&tenant.name, "main");
    let file = NewFile {
        name: "a \"plan\".txt".into(),
        content_type: "text/plain".into(),
        data: "one\r\ntwo".into(),
    };
    let message = flow.upload(&file).await.unwrap().into_message().unwrap();
    let attachment = &message.attachments[0];
    assert_eq!(
        (attachment.content_type.as_str(), attachment.file_size),
        ("text/plain", 8)
    );
    assert!(
        attachment.file_name.contains("plan"),
        "{}",
        attachment.file_name
    );
    assert_eq!(
        tenant.ada.client.download(&attachment.path).await.unwrap(),
        file.data
    );
}

async fn events_of_a_stream_have_types(tenant: Tenant) {
    let flow = tenant.ben.client.flow(&tenant.name, "main");
    let mut stream = tenant
        .ben
        .client
        .follow(&StreamRequest::new().flow(&tenant.main).user());
    let first = async {
        // Nothing says when the stream is open, and it tells only what is posted from then on.
        loop {
            flow.post(&NewMessage::chat("Is this on?")).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let heard = tokio::select! {
        event = stream.next() => event.unwrap().message(),
        () = first => None,
    };
    assert_eq!(heard.unwrap().content, "Is this on?");
    let message = flow
        .post(&NewMessage::chat("Tea").tag("old").wait())
        .await
        .unwrap()
        .into_message()
        .unwrap();
    let change = EditMessage {
        content: Some("Coffee".into()),
        ..EditMessage::default()
    };
    flow.edit(message.id, &change).await.unwrap();
    let change = EditMessage {
        tags: Some(vec!["new".into()]),
        ..EditMessage::default()
    };
    flow.edit(message.id, &change).await.unwrap();
    flow.mark_read(message.id).await.unwrap();
    flow.delete(message.id).await.unwrap();
    let mut heard = Vec::new();
    while heard.last()
        != Some(&Event::MessageEdit {
            message: message.id,
            content: String::new(),
        })
    {
        match stream.next().await.unwrap().event() {
            Event::Message(other) if other.id != message.id => {}
            Event::Other => {}
            event => heard.push(event),
        }
    }
    let edit = Event::MessageEdit {
        message: message.id,
        content: "Coffee".into(),
    };
    for event in [
        edit,
        Event::Read {
            message: message.id,
            marker: None,
            thread: None,
        },
    ] {
        assert!(heard.contains(&event), "{event:?} in {heard:?}");
    }
    let is_change = |event: &Event| match event {
        Event::TagChange { add, remove, .. } => add == &["new"] && remove == &["old"],
        _ => false,
    };
    assert!(heard.iter().any(is_change), "{heard:?}");
}

async fn tokens_that_have_expired_are_renewed(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot
        .by_password(&tenant.ben, "flow profile offline_access")
        .await;
    let refresh_token = tokens["refresh_token"].as_str().unwrap().to_owned();
    let application = OAuthApplication {
        client_id: robot.client_id.clone(),
        client_secret: robot.client_secret.clone().unwrap(),
    };
    let stored = Arc::new(Mutex::new(Vec::new()));
    let store = {
        let stored = stored.clone();
        move |tokens: &OAuthTokens| {
            note_secret(&tokens.access_token);
            note_secret(&tokens.refresh_token);
            stored.lock().unwrap().push(tokens.clone());
        }
    };
    let expired = OAuthTokens {
        access_token: "expired".into(),
        refresh_token,
    };
    let session = OAuthSession::new(application, expired, store);
    let client = tenant.client(Credentials::OAuth(session.clone()));
    let flow = client.flow(&tenant.name, "main");
    // Both find the token expired, and one of them renews it for both.
    let (me, posted) = tokio::join!(client.me(), async {
        flow.post(&NewMessage::chat("Hi").wait()).await
    });
    assert_eq!(me.unwrap().id, tenant.ben.id);
    assert_eq!(posted.unwrap().into_message().unwrap().content, "Hi");
    assert_eq!(*stored.lock().unwrap(), [session.tokens()]);
    client.flows(false).await.unwrap();
    assert_eq!(stored.lock().unwrap().len(), 1);
}
