//! A stream goes on exactly where its client was.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::*;

#[test]
fn a_listener_hears_what_comes_after_it_in_its_rooms() {
    let world = World::new(small());
    world.tell(room(1));
    let mut stream = world.listen(rooms(&[1, 3]), None);
    assert_eq!(all(&mut stream), Vec::<i64>::new());
    for r in [1, 2, 3, 2] {
        world.tell(room(r));
    }
    assert_eq!(
        one(&mut stream).as_deref(),
        Some("{\"n\":2}\r\n{\"n\":4}\r\n"),
        "all in one write"
    );
    assert_eq!(all(&mut stream), Vec::<i64>::new());
}

#[test]
fn a_new_listener_does_not_hear_what_was_answered_before_it_was_published() {
    let world = World::new(small());
    let (answered, entry) = world.commit(room(1));
    let request = SubscribeRequest {
        acknowledged: Seq(answered),
        ..world.request(rooms(&[1]), None)
    };
    let mut stream = world.try_listen(request).unwrap();
    assert_eq!(one(&mut stream).as_deref(), Some("\n"));
    world.hub.publish(id(answered), vec![entry]);
    let next = world.tell(room(1));
    assert_eq!(all(&mut stream), [next]);
}

#[test]
fn the_own_stream_of_a_user_has_what_is_sent_to_him() {
    let world = World::new(small());
    let mut stream = world.listen(
        SubscriptionFilter::new(vec![RoomId(1)], Some(UserId(5))),
        None,
    );
    world.tell(user(5));
    world.tell(user(1));
    world.tell(Audience::Many {
        rooms: [RoomId(1)].into(),
        users: [UserId(4), UserId(5)].into(),
    });
    assert_eq!(all(&mut stream), [1, 3]);
}

#[test]
fn a_client_that_comes_back_gets_what_it_missed_from_the_ring() {
    let world = World::new(small());
    for _ in 0..4 {
        world.tell(room(1));
    }
    assert_eq!(all(&mut world.listen(rooms(&[1]), after(2))), [3, 4]);
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(4))),
        Vec::<i64>::new()
    );
    assert_eq!(world.pages_read(), 0);
}

#[test]
fn a_client_that_was_long_away_gets_what_it_missed_from_the_log() {
    let world = World::new(small());
    for n in 0..20 {
        world.tell(room(n % 2));
    }
    let mut stream = world.listen(rooms(&[1]), after(2));
    world.tell(room(1));
    assert_eq!(all(&mut stream), [4, 6, 8, 10, 12, 14, 16, 18, 20, 21]);
    world.tell(room(1));
    assert_eq!(all(&mut stream), [22]);
}

#[test]
fn position_zero_is_the_beginning_of_the_log() {
    let world = World::new(small());
    for _ in 0..6 {
        world.tell(room(1));
    }
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(0))),
        [1, 2, 3, 4, 5, 6]
    );
}

#[test]
fn entries_that_nobody_may_hear_leave_no_gap_to_wait_for() {
    let world = World::new(small());
    world.tell(room(1));
    world.hub.publish(id(world.commit_control()), vec![]);
    let mut stream = world.listen(rooms(&[1]), after(2));
    assert_eq!(world.hub.head(), id(2));
    world.tell(room(1));
    assert_eq!(all(&mut stream), [3]);
    assert_eq!(all(&mut world.listen(rooms(&[1]), after(1))), [3]);
}

#[test]
fn an_unknown_place_to_go_on_from_is_answered_by_one_reset_and_then_live() {
    let world = World::new(small());
    for _ in 0..9 {
        world.tell(room(1));
    }
    let with_check = |seq, check| {
        Some(ResumePoint::After(EventId {
            seq: Seq(seq),
            check,
        }))
    };
    let unknown = [
        Some(ResumePoint::Unknown),
        with_check(2, 1),
        with_check(8, 1),
        with_check(99, 1),
        with_check(0, 1),
    ];
    for resume in unknown {
        let mut stream = world
            .try_listen(world.request(rooms(&[1]), resume))
            .unwrap();
        assert_eq!(
            one(&mut stream).as_deref(),
            Some("{\"event\":\"reset\"}\r\n"),
            "{resume:?}"
        );
        assert_eq!(all(&mut stream), Vec::<i64>::new());
        let told = world.tell(room(1));
        assert_eq!(all(&mut stream), [told]);

        let head = world.hub.head();
        let formats = [
            (
                StreamFormat::Sse,
                format!("id: {head}\ndata: {{\"event\":\"reset\"}}\n\n"),
            ),
            (
                StreamFormat::JsonWithIds,
                format!("{{\"event\":\"reset\",\"event_id\":\"{head}\"}}\r\n"),
            ),
        ];
        for (format, expected) in formats {
            let request = SubscribeRequest {
                format,
                ..world.request(rooms(&[1]), resume)
            };
            assert_eq!(one(&mut world.try_listen(request).unwrap()), Some(expected));
        }
    }
}

#[test]
fn a_client_that_another_node_told_more_waits_for_this_one_to_get_there() {
    let world = World::new(small());
    world.tell(room(1));
    let ahead: Vec<_> = (0..3).map(|_| world.commit(room(1))).collect();
    let mut stream = world.listen(rooms(&[1]), after(3));
    for (seq, entry) in ahead {
        assert_eq!(all(&mut stream), Vec::<i64>::new());
        world.hub.publish(id(seq), vec![entry]);
    }
    assert_eq!(all(&mut stream), [4]);
}

#[test]
fn a_listener_of_a_quiet_room_does_not_read_the_log_when_the_ring_moves_on() {
    let world = World::new(small());
    let mut stream = world.listen(
        SubscriptionFilter::new(vec![RoomId(1), RoomId(2)], Some(UserId(1))),
        None,
    );
    world.tell(room(1));
    assert_eq!(all(&mut stream), [1]);
    for _ in 0..100 {
        world.tell(room(3));
    }
    let told = world.tell(room(2));
    assert_eq!(all(&mut stream), [told]);
    drop(stream);
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(1))),
        Vec::<i64>::new(),
        "nor does one that comes back"
    );
    assert_eq!(world.pages_read(), 0);
}

#[test]
fn a_slow_reader_falls_back_to_the_log_and_gets_everything() {
    let world = World::new(small());
    let mut slow = world.listen(rooms(&[1]), None);
    let mut fast = world.listen(rooms(&[1]), None);
    for n in 1..=30 {
        world.tell(room(1));
        assert_eq!(all(&mut fast), [n]);
    }
    assert_eq!(world.pages_read(), 0);
    assert_eq!(all(&mut slow), (1..=30).collect::<Vec<_>>());
    assert!(world.pages_read() > 0);
}

#[test]
fn one_write_has_a_bounded_size_also_on_the_way_through_a_page() {
    let world = World::new(HubConfig {
        ring_entries: 4,
        page_entries: 100,
        write_bytes: 100,
        ..HubConfig::default()
    });
    for _ in 0..14 {
        world.tell(room(1));
    }
    let mut stream = world.listen(rooms(&[1]), after(0));
    let writes: Vec<usize> = std::iter::from_fn(|| one(&mut stream))
        .map(|text| numbers(&text).len())
        .collect();
    assert_eq!(writes, [3, 3, 3, 1, 2, 2]);
    assert_eq!(
        world.pages_read(),
        1,
        "the rest of a page is not read again"
    );
    let lookups = world.hub.page_lookups();
    assert_eq!((lookups.hits, lookups.misses), (3, 1), "a part each");
}

#[test]
fn those_who_come_back_together_share_the_pages() {
    let world = World::new(small());
    world.log.slow.store(true, Ordering::SeqCst);
    for _ in 0..13 {
        world.tell(room(1));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listeners = (0..100).map(|_| async {
            let mut stream = world
                .hub
                .subscribe(world.request(rooms(&[1]), after(0)))
                .await
                .unwrap();
            let mut heard = Vec::new();
            while heard.len() < 13 {
                heard.extend(numbers(
                    std::str::from_utf8(&stream.next().await.unwrap().into_bytes()).unwrap(),
                ));
            }
            assert_eq!(heard, (1..=13).collect::<Vec<_>>());
        });
        futures_util::future::join_all(listeners).await;
    });
    assert_eq!(world.pages_read(), 3);
    let lookups = world.hub.page_lookups();
    assert_eq!((lookups.hits, lookups.misses), (99 * 3, 3));
}

#[test]
fn pages_are_not_kept_for_long() {
    let world = World::new(small());
    for _ in 0..6 {
        world.tell(room(1));
    }
    for reads in [1, 1, 2] {
        all(&mut world.listen(rooms(&[1]), after(0)));
        assert_eq!(world.pages_read(), reads);
        world.hub.tick();
    }
}

#[test]
fn kept_pages_are_bounded_in_bytes() {
    for (size, reads) in [(1 << 20, 2), (2 << 20, 3)] {
        let world = World::new(small());
        for number in [1, 1, 1, 2, 2, 2, 3, 3, 3, 3] {
            world.tell_long(room(number), size);
        }
        for number in [1, 2, 1] {
            assert!(one(&mut world.listen(rooms(&[number]), after(0))).is_some());
        }
        assert_eq!(
            world.pages_read(),
            reads,
            "pages of 3 entries of {size} bytes"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_that_is_away_is_waited_for_and_keep_alives_go_on() {
    let world = World::new(HubConfig {
        quiet_ticks: 1,
        ..small()
    });
    for _ in 0..8 {
        world.tell(room(1));
    }
    let mut stream = world.listen(rooms(&[1]), after(0));
    world.log.away.store(true, Ordering::SeqCst);
    assert!(
        tokio::time::timeout(Duration::from_secs(60), stream.next())
            .await
            .is_err()
    );
    world.hub.tick();
    assert_eq!(&stream.next().await.unwrap().into_bytes()[..], b"\n");
    world.log.away.store(false, Ordering::SeqCst);
    let batch = tokio::time::timeout(Duration::from_secs(2), stream.next())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(batch.entries().count(), 3);
    assert_eq!(all(&mut stream), [4, 5, 6, 7, 8]);
}

#[test]
fn a_place_that_cannot_be_checked_is_refused_rather_than_guessed() {
    let world = World::new(small());
    for _ in 0..8 {
        world.tell(room(1));
    }
    world.log.away.store(true, Ordering::SeqCst);
    let refused = world.try_listen(world.request(rooms(&[1]), after(1)));
    assert_eq!(
        refused.unwrap_err(),
        SubscribeError::LogUnavailable(LogUnavailable)
    );
    assert!(
        world
            .try_listen(world.request(rooms(&[1]), after(7)))
            .is_ok(),
        "the ring knows it"
    );
}

#[test]
fn a_hub_that_starts_late_reads_what_was_before_from_the_log() {
    let world = World::new(HubConfig::default());
    let committed: Vec<_> = (0..8).map(|_| world.commit(room(1)).1).collect();
    world.hub.start_at(id(5));
    let mut stream = world.listen(rooms(&[1]), after(2));
    world.hub.publish(id(8), committed[5..].to_vec());
    assert_eq!(all(&mut stream), [3, 4, 5, 6, 7, 8]);
    assert_eq!(all(&mut world.listen(rooms(&[1]), after(5))), [6, 7, 8]);
    assert_eq!(world.pages_read(), 1);
    assert_eq!(
        all(&mut world.listen(rooms(&[2]), after(2))),
        Vec::<i64>::new(),
        "one empty page leads to the ring"
    );
    assert_eq!(world.pages_read(), 2);
}

#[test]
fn publishing_twice_tells_once() {
    let world = World::new(small());
    let mut stream = world.listen(rooms(&[1]), None);
    let (_, first) = world.commit(room(1));
    let (_, second) = world.commit(room(1));
    world.hub.publish(id(1), vec![first.clone()]);
    world.hub.publish(id(2), vec![first.clone(), second]);
    world.hub.publish(id(1), vec![first]);
    assert_eq!(all(&mut stream), [1, 2]);
    assert_eq!(world.hub.head(), id(2));
}
