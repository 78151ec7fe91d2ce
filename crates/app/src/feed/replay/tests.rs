use eddyline_model::messages::{MAX_CONTENT_CHARS, MessageKind};
use eddyline_model::policy::FlowAction;

use super::*;
use crate::NewPost;
use crate::accounts::tests::World;

#[tokio::test]
async fn a_page_of_the_log_ends_at_its_bytes_and_the_next_goes_on() {
    let world = World::new().await;
    let room = world
        .app
        .rooms()
        .find(&world.ada, "acme", "main", FlowAction::Post)
        .await
        .unwrap();
    let long = "\u{1F30A}".repeat(MAX_CONTENT_CHARS);
    let count = 2 * REPLAY_BYTES / long.len();
    for _ in 0..count {
        world
            .app
            .messages()
            .post(
                &world.ada,
                room.clone(),
                NewPost::of(MessageKind::Message, long.clone()),
            )
            .await
            .unwrap();
    }
    let head = world
        .app
        .core()
        .store()
        .read(|reader| reader.log().find_head())
        .await
        .unwrap()
        .seq;
    let log = StoredLog::new(
        world.app.core().store().clone(),
        world.app.core().entry_encoder.clone(),
    );
    let filter = Arc::new(SubscriptionFilter::new(vec![room.id()], None));
    let (mut after, mut told) = (Seq(0), 0);
    while after < head {
        let page = log
            .read_page(after, head, filter.clone(), 256)
            .await
            .unwrap();
        let bytes: usize = page.entries.iter().map(|entry| entry.size()).sum();
        let last = page.entries.last().map_or(0, |entry| entry.size());
        assert!(bytes - last < REPLAY_BYTES, "{bytes}");
        assert!(page.through > after);
        told += page
            .entries
            .iter()
            .filter(|entry| entry.size() > long.len())
            .count();
        after = page.through;
    }
    assert_eq!(told, count);
}
