//! An entry that was amended is handed out as it is now, or not at all, wherever a listener stands.

use std::sync::atomic::Ordering;

use bytes::Buf as _;

use super::*;

/// The number that an amended entry says.
const AMENDED: i64 = 1000;

impl World {
    /// Amends entries for `audience`: to what they say now, or to nothing. The log says the same.
    fn amend(&self, audience: &Audience, changes: &[(i64, bool)], log_through: i64) {
        let entries: Vec<_> = changes
            .iter()
            .map(|(seq, stays)| {
                let text = format!("{{\"n\":{}}}", AMENDED + seq);
                let entry = stays
                    .then(|| Arc::new(Entry::new(id(*seq), audience.clone(), text.as_bytes())));
                (Seq(*seq), entry)
            })
            .collect();
        {
            let mut log = self.log.entries.lock().unwrap();
            for (seq, entry) in &entries {
                let index = log.iter().position(|entry| entry.seq() == *seq).unwrap();
                match entry {
                    Some(entry) => log[index] = Arc::clone(entry),
                    None => drop(log.remove(index)),
                }
            }
        }
        let amendment = Amendment {
            audience: audience.clone(),
            entries,
            log_through: Seq(log_through),
        };
        self.hub
            .publish_amended(self.hub.head(), vec![], vec![amendment]);
    }
}

fn large() -> HubConfig {
    HubConfig {
        ring_entries: 100,
        page_entries: 3,
        ..HubConfig::default()
    }
}

#[test]
fn a_replay_has_the_entry_as_it_is_now() {
    let world = World::new(large());
    for _ in 0..4 {
        world.tell(room(1));
    }
    world.amend(&room(1), &[(2, true), (3, false)], 0);
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(0))),
        [1, AMENDED + 2, 4]
    );
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(2))),
        [4],
        "every id is still a place to go on from"
    );
    assert_eq!(all(&mut world.listen(rooms(&[1]), after(3))), [4]);
    assert_eq!(world.pages_read(), 0);
}

#[test]
fn an_entry_for_several_is_amended_for_all() {
    let world = World::new(large());
    let both = Audience::Many {
        rooms: [RoomId(1)].into(),
        users: [UserId(4), UserId(5)].into(),
    };
    world.tell(both.clone());
    world.tell(both.clone());
    world.amend(&both, &[(1, true), (2, false)], 0);
    for filter in [
        rooms(&[1]),
        SubscriptionFilter::new(vec![], Some(UserId(4))),
        SubscriptionFilter::new(vec![], Some(UserId(5))),
    ] {
        assert_eq!(all(&mut world.listen(filter, after(0))), [AMENDED + 1]);
    }
}

#[test]
fn a_listener_that_lags_hears_the_entry_as_it_is_now() {
    let world = World::new(large());
    let mut stream = world.listen(rooms(&[1]), None);
    world.tell(room(1));
    world.tell(room(1));
    world.amend(&room(1), &[(1, true)], 0);
    assert_eq!(all(&mut stream), [AMENDED + 1, 2]);
}

#[test]
fn what_was_handed_out_and_not_written_is_taken_back() {
    let world = World::new(large());
    let mut stream = world.listen(rooms(&[1]), None);
    for _ in 0..3 {
        world.tell(room(1));
    }
    let Poll::Ready(Some(mut batch)) = poll(&mut stream) else {
        panic!("there is a batch")
    };
    batch.advance(4);
    world.amend(&room(1), &[(1, true), (2, true)], 0);
    assert!(
        stream
            .poll_rights_lost(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
    assert!(stream.retain_allowed(&mut batch));
    assert_eq!(
        &batch.into_bytes()[..],
        b":1}\r\n",
        "a frame that was begun is finished"
    );
    assert!(
        stream
            .poll_rights_lost(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    assert_eq!(
        all(&mut stream),
        [AMENDED + 2, 3],
        "the rest comes once, as it is now"
    );
}

#[test]
fn other_rooms_are_left_alone() {
    let world = World::new(large());
    let mut stream = world.listen(rooms(&[2]), None);
    world.tell(room(1));
    world.tell(room(2));
    let Poll::Ready(Some(mut batch)) = poll(&mut stream) else {
        panic!("there is a batch")
    };
    world.amend(&room(1), &[(1, false)], 1);
    assert!(
        stream
            .poll_rights_lost(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    assert!(stream.retain_allowed(&mut batch));
    assert_eq!(&batch.into_bytes()[..], b"{\"n\":2}\r\n");
    assert_eq!(
        (
            all(&mut world.listen(rooms(&[2]), after(0))),
            world.pages_read()
        ),
        (vec![2], 0)
    );
}

#[test]
fn entries_left_to_the_log_are_read_from_there() {
    let world = World::new(large());
    for _ in 0..5 {
        world.tell(room(1));
    }
    world.amend(&room(1), &[(4, true)], 3);
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(3))),
        [AMENDED + 4, 5]
    );
    assert_eq!(world.pages_read(), 0);
    assert_eq!(
        all(&mut world.listen(rooms(&[1]), after(1))),
        [2, 3, AMENDED + 4, 5]
    );
    assert_eq!(world.pages_read(), 1);
}

#[test]
fn pages_that_were_read_before_are_read_again() {
    let world = World::new(small());
    for _ in 0..9 {
        world.tell(room(1));
    }
    assert_eq!(
        numbers(&one(&mut world.listen(rooms(&[1]), after(0))).unwrap()),
        [1, 2, 3]
    );
    world.amend(&room(1), &[(2, false)], 0);
    assert_eq!(
        numbers(&one(&mut world.listen(rooms(&[1]), after(0))).unwrap()),
        [1, 3, 4]
    );
    assert_eq!(world.pages_read(), 2);
}

#[tokio::test]
async fn a_page_that_is_being_read_is_read_again() {
    let world = World::new(small());
    for _ in 0..9 {
        world.tell(room(1));
    }
    let mut stream = world.listen(rooms(&[1]), after(0));
    world.log.slow.store(true, Ordering::SeqCst);
    assert!(poll(&mut stream).is_pending());
    world.amend(&room(1), &[(2, false)], 0);
    world.log.slow.store(false, Ordering::SeqCst);
    assert_eq!(all(&mut stream), [1, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(world.pages_read(), 3, "the first page twice");
}

#[tokio::test]
async fn constant_edits_do_not_hold_a_listener_up() {
    let world = World::new(small());
    for _ in 0..9 {
        world.tell(room(1));
    }
    let mut stream = world.listen(rooms(&[1]), after(0));
    world.log.slow.store(true, Ordering::SeqCst);
    let mut heard = Vec::new();
    for _ in 0..40 {
        heard.extend(
            one(&mut stream)
                .map(|text| numbers(&text))
                .unwrap_or_default(),
        );
        world.amend(&room(1), &[(9, true)], 0);
    }
    assert_eq!(heard, [1, 2, 3, 4, 5, 6, 7, 8, AMENDED + 9]);
}

#[test]
fn the_ring_counts_the_bytes_of_what_it_holds() {
    let world = World::new(HubConfig {
        ring_bytes: 10_000,
        ..large()
    });
    for _ in 0..20 {
        world.tell(room(1));
    }
    let text = format!("{{\"n\":1,\"s\":\"{}\"}}", "x".repeat(9_000));
    let entry = Arc::new(Entry::new(id(1), room(1), text.as_bytes()));
    let amendment = Amendment {
        audience: room(1),
        entries: vec![(Seq(1), Some(entry))],
        log_through: Seq(0),
    };
    world
        .hub
        .publish_amended(world.hub.head(), vec![], vec![amendment]);
    assert_eq!(all(&mut world.listen(rooms(&[1]), after(1))).len(), 19);
    for _ in 0..20 {
        world.tell(room(1));
    }
    assert_eq!(all(&mut world.listen(rooms(&[1]), after(1))).len(), 39);
    assert_eq!(world.pages_read(), 0, "only the large one had to go");
}
