use eddyline_model::messages::{Event, MAX_CONTENT_CHARS};
use eddyline_model::policy::FlowDeed;

use super::*;
use crate::accounts::tests::World;
use crate::{Edit, NewPost, Posted};

#[tokio::test]
async fn a_page_of_the_log_ends_at_its_bytes_and_the_next_goes_on() {
    let world = World::new().await;
    let room = world.app.room(&world.ada, "acme", "main", FlowDeed::Post).await.unwrap();
    let long = "\u{1F30A}".repeat(MAX_CONTENT_CHARS);
    let count = 2 * REPLAY_BYTES / long.len();
    for _ in 0..count {
        world.app.post(&world.ada, room.clone(), NewPost::of(Event::Message, long.clone())).await.unwrap();
    }
    let head = world.app.store().read(|session| session.log_head()).await.unwrap().seq;
    let log = StoredLog::new(world.app.store().clone(), world.app.inner.scribe.clone());
    let filter = Arc::new(Filter::new(vec![room.id()], None));
    let (mut after, mut told) = (Seq(0), 0);
    while after < head {
        let page = log.read_page(after, head, filter.clone(), 256).await.unwrap();
        let bytes: usize = page.entries.iter().map(|entry| entry.size()).sum();
        let last = page.entries.last().map_or(0, |entry| entry.size());
        assert!(bytes - last < REPLAY_BYTES, "{bytes}");
        assert!(page.through > after);
        told += page.entries.iter().filter(|entry| entry.size() > long.len()).count();
        after = page.through;
    }
    assert_eq!(told, count);
}

#[tokio::test]
async fn a_change_of_tags_names_what_it_removed_whether_or_not_the_feed_was_told_of_it() {
    let world = World::new().await;
    let room = world.app.room(&world.ada, "acme", "main", FlowDeed::Post).await.unwrap();
    let tagged =
        NewPost { tags: vec!["old".into()], wait: true, ..NewPost::of(Event::Message, "tea".into()) };
    let posted = world.app.post(&world.ada, room.clone(), tagged).await.unwrap();
    let Posted::Message(message) = posted else { panic!("{posted:?}") };
    let edit = Edit { tags: Some(vec!["new".into()]), ..Edit::default() };
    world.app.edit_message(&world.ada, &room, message.message.id, edit).await.unwrap();
    let items = world.app.store().log_onward(Seq(0), PAGE).await.unwrap();
    let Some(LogBody::Message(Some(told))) = items.last().map(|item| &item.body) else { panic!("{items:?}") };
    assert!(told.message.content.contains(r#""remove":["old"]"#), "{}", told.message.content);
}
