//! The list of writers, by which a process finds out what became of a commit whose answer got lost.

use std::sync::Arc;

use eddyline_model::Timestamp;
use eddyline_storage::{Options, Store};

use crate::home::{Home, tests_on};
use crate::world::{World, chat};

tests_on!(postgres: [the_row_of_a_writer_that_was_killed_is_removed]);

async fn the_row_of_a_writer_that_was_killed_is_removed(home: Arc<Home>) {
    const DAY: i64 = 24 * 3_600_000;
    let now = 1_800_000_000_000;
    let world = World::new(&home).await;
    let at = |now: i64| {
        let options = Options {
            clock: Arc::new(move || Timestamp(now)),
            ..Options::default()
        };
        Store::open_with(&home.url, options).expect("the store opens")
    };
    let (killed, lives) = (at(now - 2 * DAY), at(now));
    for store in [&killed, &lives] {
        store
            .post(chat(world.main, world.ann, "hello"))
            .await
            .expect("posted");
    }
    let remove = async || {
        let removed = lives
            .write(move |tx| tx.nodes().delete_silent_writers(Timestamp(now - DAY)))
            .await;
        removed.expect("an answer").0
    };
    // The clock of the world is of another time as well.
    assert_eq!(remove().await, 2, "the killed writer's and the world's");
    assert_eq!(remove().await, 0, "the row of a writer that lives stays");
    killed
        .post(chat(world.main, world.ann, "not dead"))
        .await
        .expect("posted");
    assert_eq!(remove().await, 1);
}
