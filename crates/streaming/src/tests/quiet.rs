//! What a stream does when there is nothing to say.

use super::*;

#[test]
fn a_stream_says_something_at_once() {
    let world = World::new(small());
    for (format, bytes) in [
        (StreamFormat::Json, "\n"),
        (StreamFormat::JsonWithIds, "\n"),
        (StreamFormat::Sse, ":\n\n"),
    ] {
        let request = SubscribeRequest {
            format,
            ..world.request(rooms(&[1]), None)
        };
        assert_eq!(
            one(&mut world.try_listen(request).unwrap()).as_deref(),
            Some(bytes)
        );
    }
}

#[test]
fn a_silent_stream_says_a_keep_alive_every_few_ticks() {
    let world = World::new(HubConfig {
        quiet_ticks: 4,
        ..small()
    });
    let mut stream = world.listen(rooms(&[1]), None);
    let mut ticks = |told: &[u32]| {
        let mut spoken = Vec::new();
        for tick in 1..=12 {
            if told.contains(&tick) {
                world.tell(room(1));
            }
            world.hub.tick();
            spoken.extend(one(&mut stream).map(|text| (tick, text == "\n")));
            assert!(poll(&mut stream).is_pending());
        }
        spoken
    };
    assert_eq!(ticks(&[]), [(4, true), (8, true), (12, true)]);
    assert_eq!(ticks(&[3]), [(3, false), (7, true), (11, true)]);
}

#[test]
fn a_stream_that_has_something_to_say_needs_no_keep_alive() {
    let world = World::new(HubConfig {
        quiet_ticks: 1,
        ..small()
    });
    let mut stream = world.listen(rooms(&[1]), None);
    world.hub.tick();
    world.tell(room(1));
    assert_eq!(one(&mut stream).as_deref(), Some("{\"n\":1}\r\n"));
    assert_eq!(one(&mut stream), None);
}

#[test]
fn only_those_who_listen_to_a_room_are_woken_and_once_for_many_entries() {
    let world = World::new(small());
    let (here, there) = (Arc::new(Wakes::default()), Arc::new(Wakes::default()));
    let mut listener = world.listen(rooms(&[1]), None);
    let mut elsewhere = world.listen(rooms(&[2]), None);
    assert!(here.poll(&mut listener).is_pending());
    assert!(there.poll(&mut elsewhere).is_pending());
    for _ in 0..10 {
        world.tell(room(1));
    }
    assert_eq!((here.take(), there.take()), (1, 0));
    assert_eq!(all(&mut listener).len(), 10);
    assert!(here.poll(&mut listener).is_pending());
    world.tell(room(1));
    assert_eq!((here.take(), there.take()), (1, 0));
}

#[test]
fn a_dropped_stream_leaves_nothing_behind() {
    let world = World::new(small());
    let stream = world.listen(rooms(&[1, 2]), None);
    assert_eq!(world.hub.listeners(), 1);
    drop(stream);
    assert_eq!(world.hub.listeners(), 0);
    world.tell(room(1));
}
