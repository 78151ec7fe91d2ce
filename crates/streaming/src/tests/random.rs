//! Whatever is done in whatever order, every listener gets exactly its own, once and in order.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    /// Entries are committed and published together; an empty audience is a control entry.
    Tell(Vec<Who>),
    /// A node publishes nothing for a while, though the log goes on.
    Commit(Who),
    Listen {
        filter: Who,
        from: From,
    },
    /// A stream is read, some batches of it, if its task was woken.
    Read {
        stream: usize,
        batches: usize,
    },
    Drop {
        stream: usize,
    },
    Revoke {
        user: i64,
        room: i64,
    },
    /// An entry that was published says something else, or is gone.
    Amend {
        entry: usize,
        gone: bool,
        leave_to_log: bool,
    },
    Away(bool),
    Tick,
}

#[derive(Clone, Debug)]
struct Who {
    rooms: BTreeSet<i64>,
    users: BTreeSet<i64>,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Now,
    Beginning,
    /// Some committed position, also one that was not published yet.
    Position(usize),
}

fn who(max: usize) -> impl Strategy<Value = Who> {
    let rooms = prop::collection::btree_set(1..5i64, 0..=max);
    let users = prop::collection::btree_set(1..3i64, 0..=1);
    (rooms, users).prop_map(|(rooms, users)| Who { rooms, users })
}

fn act() -> impl Strategy<Value = Act> {
    let from = prop_oneof![
        Just(From::Now),
        Just(From::Beginning),
        (0..1000usize).prop_map(From::Position)
    ];
    prop_oneof![
        6 => prop::collection::vec(who(2), 1..5).prop_map(Act::Tell),
        1 => who(2).prop_map(Act::Commit),
        3 => (who(4), from).prop_map(|(filter, from)| Act::Listen { filter, from }),
        8 => (any::<usize>(), 1..4usize).prop_map(|(stream, batches)| Act::Read { stream, batches }),
        1 => any::<usize>().prop_map(|stream| Act::Drop { stream }),
        1 => (1..3i64, 1..5i64).prop_map(|(user, room)| Act::Revoke { user, room }),
        2 => (any::<usize>(), any::<bool>(), any::<bool>())
            .prop_map(|(entry, gone, leave_to_log)| Act::Amend { entry, gone, leave_to_log }),
        1 => any::<bool>().prop_map(Act::Away),
        1 => Just(Act::Tick),
    ]
}

impl Who {
    fn audience(&self) -> Audience {
        let rooms = self.rooms.iter().copied().map(RoomId).collect();
        Audience::Many {
            rooms,
            users: self.users.iter().copied().map(UserId).collect(),
        }
    }

    fn filter(&self) -> SubscriptionFilter {
        SubscriptionFilter::new(
            self.rooms.iter().copied().map(RoomId).collect(),
            self.users.first().copied().map(UserId),
        )
    }
}

/// A stream, what it may hear by the rules, and what it heard.
struct Listener {
    stream: Subscription,
    wakes: Arc<Wakes>,
    filter: SubscriptionFilter,
    cursor: i64,
    ended: bool,
}

impl Listener {
    /// Reads when the task was woken, as a runtime would; gives whether there was something.
    fn read(&mut self, log: &MemoryLog, batches: usize) -> bool {
        if self.ended || self.wakes.take() == 0 {
            return false;
        }
        for _ in 0..batches {
            match self.wakes.poll(&mut self.stream) {
                Poll::Pending => return true,
                Poll::Ready(None) => {
                    assert!(
                        self.filter.is_empty(),
                        "a stream ended that had something left"
                    );
                    self.ended = true;
                    return true;
                }
                Poll::Ready(Some(batch)) => self.check(log, &batch),
            }
        }
        // A task that stops in the middle goes on by itself.
        self.wakes.wake_by_ref();
        true
    }

    /// What was handed out must be the very next that the log has for this listener.
    fn check(&mut self, log: &MemoryLog, batch: &Batch) {
        let heard: Vec<i64> = batch.entries().map(|entry| entry.seq().0).collect();
        let next: Vec<i64> = self.missing(log).into_iter().take(heard.len()).collect();
        assert_eq!(heard, next);
        for entry in batch.entries() {
            let all = log.entries.lock().unwrap();
            let now = all.iter().find(|e| e.seq() == entry.seq()).unwrap();
            assert_eq!(entry.object(), now.object(), "what the log says now");
        }
        self.cursor = heard.last().copied().unwrap_or(self.cursor);
    }

    fn missing(&self, log: &MemoryLog) -> Vec<i64> {
        let all = log.entries.lock().unwrap();
        let mine = all
            .iter()
            .filter(|e| e.seq().0 > self.cursor && self.filter.admits(e.audience()));
        mine.map(|e| e.seq().0).collect()
    }
}

struct Play {
    world: World,
    unpublished: Vec<Arc<Entry>>,
    listeners: Vec<Listener>,
}

impl Play {
    fn act(&mut self, act: Act) {
        let World { hub, log } = &self.world;
        match act {
            Act::Commit(who) => {
                let (_, entry) = self.world.commit(who.audience());
                self.unpublished.push(entry);
            }
            Act::Tell(all) => {
                for who in all {
                    let (_, entry) = self.world.commit(who.audience());
                    self.unpublished.push(entry);
                }
                self.publish();
            }
            Act::Listen { filter, from } => self.listen(&filter.filter(), from),
            Act::Read { stream, batches } => {
                let count = self.listeners.len().max(1);
                if let Some(listener) = self.listeners.get_mut(stream % count) {
                    listener.read(log, batches);
                }
            }
            Act::Drop { stream } if !self.listeners.is_empty() => {
                self.listeners.swap_remove(stream % self.listeners.len());
            }
            Act::Drop { .. } => {}
            Act::Revoke { user, room } => {
                hub.revoke_room(UserId(user), RoomId(room));
                for listener in self
                    .listeners
                    .iter_mut()
                    .filter(|l| l.filter.user() == Some(UserId(user)))
                {
                    listener.filter = listener.filter.without_room(RoomId(room));
                }
            }
            Act::Amend {
                entry,
                gone,
                leave_to_log,
            } => self.amend(entry, gone, leave_to_log),
            Act::Away(away) => log.away.store(away, Ordering::SeqCst),
            Act::Tick => hub.tick(),
        }
    }

    fn publish(&mut self) {
        // What nobody may hear is not published; its position is.
        let nobody = |entry: &Arc<Entry>| entry.audience().topics().next().is_none();
        let head = *self.world.log.head.lock().unwrap();
        let mut entries = std::mem::take(&mut self.unpublished);
        entries.retain(|entry| !nobody(entry));
        self.world.hub.publish(id(head.0), entries);
    }

    fn amend(&self, entry: usize, gone: bool, leave_to_log: bool) {
        let World { hub, log } = &self.world;
        let head = hub.head();
        let (seq, audience, now) = {
            let mut all = log.entries.lock().unwrap();
            let published = all.partition_point(|entry| entry.seq() <= head.seq);
            if published == 0 {
                return;
            }
            let index = entry % published;
            let (seq, audience) = (all[index].seq(), all[index].audience().clone());
            let text = format!("{{\"n\":{},\"again\":{}}}", seq.0, entry % 1000);
            let now =
                (!gone).then(|| Arc::new(Entry::new(id(seq.0), audience.clone(), text.as_bytes())));
            match &now {
                Some(now) => all[index] = Arc::clone(now),
                None => drop(all.remove(index)),
            }
            (seq, audience, now)
        };
        let log_through = if leave_to_log { seq } else { Seq(0) };
        let amendment = Amendment {
            audience,
            entries: vec![(seq, now)],
            log_through,
        };
        hub.publish_amended(head, vec![], vec![amendment]);
    }

    fn listen(&mut self, filter: &SubscriptionFilter, from: From) {
        let committed = self.world.log.head.lock().unwrap().0;
        let (resume, cursor) = match from {
            From::Now => (None, self.world.hub.head().seq.0),
            From::Beginning => (after(0), 0),
            From::Position(n) => {
                let seq = n as i64 % (committed + 1);
                (after(seq), seq)
            }
        };
        let Ok(stream) = self
            .world
            .try_listen(self.world.request(filter.clone(), resume))
        else {
            assert!(
                self.world.log.away.load(Ordering::SeqCst),
                "refused though the log is there"
            );
            return;
        };
        let wakes = Arc::new(Wakes::default());
        wakes.wake_by_ref();
        self.listeners.push(Listener {
            stream,
            wakes,
            filter: filter.clone(),
            cursor,
            ended: false,
        });
    }

    /// In the end all is published, and every task runs for as long as it is woken.
    async fn finish(mut self) {
        self.world.log.away.store(false, Ordering::SeqCst);
        self.publish();
        // Those who wait for the log to come back are woken by their pause.
        tokio::time::advance(Duration::from_secs(3)).await;
        let log = self.world.log.clone();
        for listener in &mut self.listeners {
            while listener.read(&log, 10) {
                tokio::task::yield_now().await;
            }
            assert!(
                listener.ended || listener.missing(&log).is_empty(),
                "missed {:?}",
                listener.missing(&log)
            );
        }
        let open = self
            .listeners
            .iter()
            .filter(|l| !l.filter.is_empty())
            .count();
        assert_eq!(self.world.hub.listeners(), open);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_listener_gets_exactly_its_own_once_and_in_order(
        ring_entries in 0..6usize,
        page_entries in 1..4usize,
        write_bytes in prop_oneof![Just(1usize), Just(100), Just(10_000)],
        acts in prop::collection::vec(act(), 1..120),
    ) {
        let config = HubConfig { ring_entries, page_entries, write_bytes, ..HubConfig::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut play = Play { world: World::new(config), unpublished: vec![], listeners: vec![] };
            for act in acts {
                play.act(act);
                tokio::task::yield_now().await;
            }
            play.finish().await;
        });
    }
}
