//! The typed client, as a program uses it: its types are the server's answers.

use eddyline_client::{Credentials, FlowChange, MessageChange, MessageQuery, NewMessage, Source, StatusCode};
use eddyline_tests::{Tenant, note_secret, on_shared_servers};
use serde_json::json;

on_shared_servers![
    flows_are_managed,
    messages_are_posted_and_found,
    people_come_and_go,
    organizations_are_shown_and_changed,
    an_integration_makes_a_source_and_posts_through_it,
];

async fn flows_are_managed(tenant: Tenant) {
    let client = &tenant.ben.client;
    let made = client.create_flow(&tenant.name, "Tea Room").await.unwrap();
    assert_eq!((made.parameterized_name.as_str(), made.joined, made.flow_admin), ("tea-room", true, true));
    let flow = client.flow(&tenant.name, "tea-room");
    assert_eq!(flow.get().await.unwrap(), made);
    assert_eq!(client.find_flow(&made.id).await.unwrap(), made);
    let change = FlowChange { name: Some("Salon".into()), open: Some(false), ..FlowChange::default() };
    let changed = flow.update(&change).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.open), ("Salon", false));
    for flows in [client.flows(true).await.unwrap(), client.all_flows(true).await.unwrap()] {
        assert!(flows.contains(&changed));
        assert_eq!(flows.len(), 2);
    }
    assert!(client.flows(false).await.unwrap().iter().all(|flow| flow.users.is_none()));
    let missing = client.flow(&tenant.name, "none").get().await.unwrap_err();
    assert_eq!(missing.status(), Some(StatusCode::NOT_FOUND));
}

async fn messages_are_posted_and_found(tenant: Tenant) {
    let flow = tenant.ben.client.flow(&tenant.name, "main");
    let post = NewMessage::chat("Lunch? #food").tag("noon").uuid("u-1").wait();
    let message = flow.post(&post).await.unwrap().into_message().unwrap();
    assert_eq!(message.tags, ["noon", "food"]);
    assert_eq!(flow.message(message.id).await.unwrap(), message);
    let answer = NewMessage::chat("Pizza").wait();
    let thread = message.thread_id.clone().unwrap();
    let answer = flow.post_to_thread(&thread, &answer).await.unwrap().into_message().unwrap();
    let comment = NewMessage::new("comment", "Yes").wait();
    let comment = flow.comment(message.id, &comment).await.unwrap().into_message().unwrap();
    assert_eq!(comment.content, json!({"title": "Lunch? #food", "text": "Yes"}));
    assert_eq!(flow.comments(message.id).await.unwrap(), std::slice::from_ref(&comment));
    let ids = |messages: Vec<eddyline_client::Message>| messages.iter().map(|m| m.id).collect::<Vec<_>>();
    let everything = flow.thread_messages(&thread, &MessageQuery::new()).await.unwrap();
    assert_eq!(ids(everything), [message.id, answer.id, comment.id]);
    let query = MessageQuery::new().event("message").search("pizza").limit(1);
    assert_eq!(ids(flow.messages(&query).await.unwrap()), [answer.id]);
    let query = MessageQuery::new().tag("food").tag("none").any_tag().oldest();
    assert_eq!(ids(flow.messages(&query).await.unwrap()), [message.id]);
    let change = MessageChange { content: Some("Dinner?".into()), tags: None };
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
    assert_eq!(hers.get().await.unwrap_err().status(), Some(StatusCode::FORBIDDEN));
    flow.unblock_user(olga.id).await.unwrap();
    hers.leave(olga.id).await.unwrap();
    assert_eq!(flow.users().await.unwrap().len(), 2);
}

async fn organizations_are_shown_and_changed(tenant: Tenant) {
    let client = &tenant.ada.client;
    let organization = client.organization(&tenant.name).await.unwrap();
    assert_eq!(client.organizations().await.unwrap(), std::slice::from_ref(&organization));
    assert_eq!(client.find_organization(organization.id).await.unwrap(), organization);
    assert_eq!(client.rename_organization(&tenant.name, "Acme").await.unwrap().name, "Acme");
    let olga = tenant.user("olga");
    let users = client.organization_users(&tenant.name).await.unwrap();
    assert_eq!(
        users.iter().map(|user| user.admin).collect::<Vec<_>>(),
        [Some(true), Some(false), Some(false)]
    );
    client.remove_from_organization(&tenant.name, olga.id).await.unwrap();
    assert_eq!(client.users().await.unwrap().len(), 2);
}

async fn an_integration_makes_a_source_and_posts_through_it(tenant: Tenant) {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let token = robot.by_password(&tenant.ben, "integration").await;
    let flow = robot.with(&token["access_token"]).flow(&tenant.name, "main");
    let source = flow.create_source("Tickets").await.unwrap();
    let token = source.flow_token.clone().expect("a new source shows its token");
    note_secret(&token);
    let shown = flow.sources().await.unwrap();
    assert_eq!(shown, [Source { flow_token: None, ..source.clone() }]);

    let integration = tenant.client(Credentials::FlowToken(token));
    let state = json!({"title": "Crash", "status": {"value": "open", "color": "red"}});
    integration.post(&NewMessage::activity("1", "opened").thread_state(state)).await.unwrap();
    integration.post(&NewMessage::discussion("1", "<p>It crashes.</p>")).await.unwrap();
    let ours = tenant.ben.client.flow(&tenant.name, "main");
    let threads = ours.threads(30).await.unwrap();
    assert_eq!(threads.len(), 1);
    let thread = ours.thread(&threads[0].id).await.unwrap();
    assert_eq!(thread, threads[0]);
    assert_eq!((thread.title.as_str(), thread.activities, thread.external_comments), ("Crash", 1, 1));

    let broken = integration.set_source_error("The tracker does not answer").await.unwrap();
    assert_eq!(broken.error_message.as_deref(), Some("The tracker does not answer"));
    ours.remove_source(source.id).await.unwrap();
    let gone = integration.post(&NewMessage::activity("1", "closed")).await.unwrap_err();
    assert_eq!(gone.status(), Some(StatusCode::GONE));
}
