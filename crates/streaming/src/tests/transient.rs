//! Presence and activity on a stream.

use super::*;
use crate::{Transient, TransientKind};

fn say(world: &World, kind: TransientKind, after: i64) {
    let object = format!("{{\"n\":-{after}}}").into_bytes();
    world.hub.publish_transient(Transient {
        kind,
        audience: room(1),
        after: Seq(after),
        object,
    });
}

#[test]
fn those_who_listen_now_hear_it_without_an_id() {
    let world = World::new(small());
    let request = SubscribeRequest {
        format: StreamFormat::Sse,
        ..world.request(rooms(&[1]), None)
    };
    let mut stream = world.try_listen(request).unwrap();
    one(&mut stream);
    let wakes = Arc::new(Wakes::default());
    assert!(wakes.poll(&mut stream).is_pending());
    say(&world, TransientKind::Activity, 0);
    assert_eq!(wakes.take(), 1);
    assert_eq!(one(&mut stream).as_deref(), Some("data: {\"n\":-0}\n\n"));
    assert_eq!(one(&mut stream), None);
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), None)),
        Vec::<i64>::new(),
        "who comes later does not"
    );
    assert_eq!(all(&mut world.listen(rooms(&[2]), None)), Vec::<i64>::new());
}

#[test]
fn presence_is_heard_by_those_who_want_it_and_wakes_nobody_else() {
    let world = World::new(small());
    let (without, with) = (Arc::new(Wakes::default()), Arc::new(Wakes::default()));
    let mut deaf = world.listen(rooms(&[1]), None);
    let request = SubscribeRequest {
        presence: true,
        ..world.request(rooms(&[1]), None)
    };
    let mut keen = world.try_listen(request).unwrap();
    one(&mut keen);
    assert!(without.poll(&mut deaf).is_pending());
    assert!(with.poll(&mut keen).is_pending());
    say(&world, TransientKind::Presence, 0);
    assert_eq!((without.take(), with.take()), (0, 1));
    assert_eq!(all(&mut keen), [0]);
    assert_eq!(all(&mut deaf), Vec::<i64>::new());
}

#[test]
fn an_activity_is_never_heard_before_the_post_that_caused_it() {
    let world = World::new(small());
    let mut stream = world.listen(rooms(&[1]), None);
    let (seq, entry) = world.commit(room(1));
    say(&world, TransientKind::Activity, seq);
    assert_eq!(all(&mut stream), Vec::<i64>::new());
    world.hub.publish(id(seq), vec![entry]);
    assert_eq!(all(&mut stream), [1, -1]);
}

#[test]
fn who_lags_behind_hears_it_after_everything_else() {
    let world = World::new(small());
    let mut stream = world.listen(rooms(&[1]), None);
    let mut last = 0;
    for _ in 0..9 {
        last = world.tell(room(1));
    }
    say(&world, TransientKind::Activity, last);
    assert_eq!(all(&mut stream), [1, 2, 3, 4, 5, 6, 7, 8, 9, -9]);
}
