//! Rows that a later version of this program has written.

use std::sync::Arc;

use eddyline_model::Seq;
use eddyline_storage::{Error, LogFilter, Reader};

use crate::home::{Home, on_shared_databases};
use crate::world::{World, chat};

on_shared_databases!(a_row_of_the_log_that_this_version_does_not_know_is_named);

async fn a_row_of_the_log_that_this_version_does_not_know_is_named(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(chat(world.main, world.ann, "before")).await;
    let filter = LogFilter {
        rooms: vec![world.main],
        user: None,
    };
    // A kind of a later version, and one of this that lacks what it is about.
    for (seq, kind) in [(2, 77), (3, 2)] {
        let room = world.main;
        crate::schema::execute(
            &home.url,
            &format!(
                "insert into event_log (seq, check_value, kind, room_id, created_at) values ({seq}, 1, {kind}, {room}, 0)"
            ),
        );
        let whole = world
            .store
            .read(move |reader| reader.log().list_after(Seq(seq - 1), 10))
            .await;
        let wanted = filter.clone();
        let page = move |reader: &mut Reader<'_>| {
            reader.log().list_page(Seq(seq - 1), Seq(seq), &wanted, 10)
        };
        for outcome in [whole.map(drop), world.store.read(page).await.map(drop)] {
            let error = outcome.expect_err("the row is not passed over");
            assert!(
                matches!(error, Error::LogRow { seq: found, kind: of } if (found, of) == (seq, kind)),
                "{error}"
            );
            assert!(
                error
                    .to_string()
                    .contains(&format!("row {seq} of the log is of kind {kind}")),
                "{error}"
            );
        }
    }
    let head = world.read(|reader| reader.log().find_head()).await;
    assert_eq!(head.seq, Seq(3), "where the log ends is known all the same");
}
