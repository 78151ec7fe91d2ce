use eddyline_model::messages::MessageKind;
use eddyline_model::policy::FlowAction;

use super::*;
use crate::accounts::tests::World;
use crate::{Edit, NewPost, Posted, TagEdit};

#[tokio::test]
async fn a_change_of_tags_names_what_it_removed_whether_or_not_the_feed_was_told_of_it() {
    let world = World::new().await;
    let room = world
        .app
        .rooms()
        .find(&world.ada, "acme", "main", FlowAction::Post)
        .await
        .unwrap();
    let tagged = NewPost {
        tags: vec!["old".into()],
        wait: true,
        ..NewPost::of(MessageKind::Message, "tea".into())
    };
    let posted = world
        .app
        .messages()
        .post(&world.ada, room.clone(), tagged)
        .await
        .unwrap();
    let Posted::Message(message) = posted else {
        panic!("{posted:?}")
    };
    let edit = Edit {
        tags: Some(TagEdit::Replace(vec!["new".into()])),
        ..Edit::default()
    };
    world
        .app
        .messages()
        .edit(&world.ada, &room.clone().into(), message.message.id, edit)
        .await
        .unwrap();
    let items = world
        .app
        .core()
        .store()
        .log_onward(Seq(0), PAGE)
        .await
        .unwrap();
    let Some(LogBody::Message(Some(told))) = items.last().map(|item| &item.body) else {
        panic!("{items:?}")
    };
    assert!(
        told.message.content.contains(r#""remove":["old"]"#),
        "{}",
        told.message.content
    );
}

#[tokio::test]
async fn a_stream_that_goes_on_waits_for_what_was_answered_before() {
    let world = World::new().await;
    let core = world.app.core();
    let at = EventId {
        seq: core.store().last_acknowledged(),
        ..EventId::default()
    };
    assert!(at.seq > Seq(0));
    core.mark_synced(core.now());
    let mut waiting = Box::pin(core.wait_until_fed());
    assert_eq!((&mut waiting).now_or_never(), None);
    core.fed.send_replace(at);
    waiting.await;
}

#[test]
fn an_outage_is_warned_of_at_once_and_then_once_a_minute() {
    let began = Instant::now();
    let mut outage = None;
    let warned = [0, 1, 59, 60, 61, 119, 120].map(|second| {
        let now = began + Duration::from_secs(second);
        Outage::is_warned_of(&mut outage, now)
    });
    assert_eq!(warned, [true, false, false, true, false, false, true]);
    assert_eq!(outage.map(|outage| outage.began), Some(began));
}
