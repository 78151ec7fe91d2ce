use eddyline_model::messages::MessageKind;
use eddyline_model::policy::FlowAction;
use eddyline_model::retention::RetentionPeriod;
use eddyline_storage::Reader;

use super::*;
use crate::accounts::tests::World;
use crate::{HoldName, NewPost, Posted, RetentionName};

const DAY: i64 = 24 * 3_600_000;

/// Says something in the flow `acme/main` and gives the number.
async fn say(world: &World, text: &str) -> MessageId {
    let rooms = world.app.rooms();
    let room = rooms.find(&world.ada, "acme", "main", FlowAction::Post);
    let post = NewPost {
        wait: true,
        ..NewPost::of(MessageKind::Message, text.into())
    };
    let room = room.await.unwrap();
    let posted = world.app.messages().post(&world.ada, room, post);
    match posted.await.unwrap() {
        Posted::Message(view) => view.message.id,
        other => panic!("{other:?}"),
    }
}

fn flow() -> RetentionName {
    RetentionName::Flow("acme".into(), "main".into())
}

async fn keep(world: &World, name: RetentionName, period: RetentionPeriod) {
    let operator = world.app.operator();
    operator.set_retention(name, Some(period)).await.unwrap();
}

/// The numbers of the messages that lists have.
async fn listed(world: &World) -> Vec<i64> {
    let read = world.app.core().read(|reader: &mut Reader<'_>| {
        let rooms = reader.retention().list_flows()?;
        let room = rooms[0].0;
        let old = reader.messages().list_oldest(room, MessageId(0), 100)?;
        let ids: Vec<i64> = old.iter().map(|message| message.id.0).collect();
        let found = reader.messages().list_by_id(room, &ids)?;
        let listed = found.into_iter().filter(|m| m.event.is_listed());
        Ok(listed.map(|message| message.id.0).collect())
    });
    read.await.unwrap()
}

#[tokio::test]
async fn a_message_goes_a_millisecond_after_its_time() {
    let world = World::new().await;
    let first = say(&world, "first").await;
    world.pass(1);
    let second = say(&world, "second").await;
    keep(&world, flow(), RetentionPeriod::Days(1)).await;
    world.pass(DAY - 1);
    let none = AppliedRetention::default();
    assert_eq!(world.app.retention().apply().await.unwrap(), none);
    assert_eq!(listed(&world).await, [first.0, second.0]);
    world.pass(1);
    let applied = world.app.retention().apply().await.unwrap();
    assert_eq!((applied.deleted, applied.held), (1, 0));
    assert_eq!(listed(&world).await, [second.0]);
}

#[tokio::test]
async fn a_flow_may_keep_its_messages_for_longer_than_its_organization() {
    let world = World::new().await;
    say(&world, "a word").await;
    let organization = RetentionName::Organization("acme".into());
    keep(&world, organization, RetentionPeriod::Days(1)).await;
    keep(&world, flow(), RetentionPeriod::Forever).await;
    world.pass(2 * DAY);
    assert_eq!(world.app.retention().apply().await.unwrap().deleted, 0);
    let operator = world.app.operator();
    operator.set_retention(flow(), None).await.unwrap();
    assert_eq!(world.app.retention().apply().await.unwrap().deleted, 1);
    assert_eq!(listed(&world).await, [0; 0]);
}

#[tokio::test]
async fn what_is_held_stays_until_the_hold_is_released() {
    let world = World::new().await;
    let said = say(&world, "a word").await;
    keep(&world, flow(), RetentionPeriod::Days(1)).await;
    world.pass(2 * DAY);
    let operator = world.app.operator();
    for name in [
        HoldName::Organization("acme".into()),
        HoldName::Flow("acme".into(), "main".into()),
        HoldName::User("ada@acme.example".parse().unwrap()),
    ] {
        let reason = "a lawsuit".to_owned();
        operator.place_hold(name.clone(), reason).await.unwrap();
        let applied = world.app.retention().apply().await.unwrap();
        assert_eq!((applied.deleted, applied.held), (0, 1), "{name}");
        operator.release_hold(name).await.unwrap();
    }
    assert_eq!(listed(&world).await, [said.0]);
    assert_eq!(world.app.retention().apply().await.unwrap().deleted, 1);
}

#[tokio::test]
async fn one_server_applies_the_rules_once_an_hour() {
    let world = World::new().await;
    let retention = world.app.retention();
    assert!(!retention.claim().await.unwrap(), "there is no rule");
    keep(&world, flow(), RetentionPeriod::Days(1)).await;
    assert!(retention.claim().await.unwrap());
    assert!(!retention.claim().await.unwrap());
    world.pass(EVERY_MILLIS);
    assert!(retention.claim().await.unwrap());
}

#[tokio::test]
async fn more_messages_go_than_one_page_has() {
    let world = World::new().await;
    for _ in 0..=PAGE {
        say(&world, "a word").await;
    }
    keep(&world, flow(), RetentionPeriod::Days(1)).await;
    world.pass(2 * DAY);
    let applied = world.app.retention().apply().await.unwrap();
    assert_eq!(applied.deleted, u64::try_from(PAGE + 1).unwrap());
    assert_eq!(listed(&world).await, [0; 0]);
    let again = world.app.retention().apply().await.unwrap();
    assert_eq!(again, AppliedRetention::default());
}
