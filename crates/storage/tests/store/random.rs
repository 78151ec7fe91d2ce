//! Random histories, and random questions about them: the store agrees with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eddyline_model::log::LogBody;
use eddyline_model::messages::{Draft, MessageKind, MessageQuery, Placement, Sort};
use eddyline_model::search::{self, SearchTokens};
use eddyline_model::tags::{CohortMarks, Tags};
use eddyline_model::{MessageId, RoomId, Seq, Timestamp, UserId};

use crate::home::{Home, on_every_database};
use crate::model::{KINDS, Room};
use crate::world::{World, chat, comment, mentioning};

on_every_database!(a_random_history_is_found_as_the_model_finds_it);

const STEPS: usize = 120;
const QUESTIONS: usize = 400;
const WORDS: [&str; 6] = ["red", "green", "blue", "日本", "x1", "Élan"];
const TAGS: [&str; 4] = ["t1", "t2", "t3", "ü"];

/// A few random numbers, the same for the same seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Up to `most` of the list, each once.
    fn some<T: Copy + PartialEq>(&mut self, list: &[T], most: usize) -> Vec<T> {
        let mut picked = Vec::new();
        for _ in 0..self.below(most + 1) {
            let one = self.pick(list);
            if !picked.contains(&one) {
                picked.push(one);
            }
        }
        picked
    }
}

/// The marks of cohorts without those of these users.
fn leave_out(marks: &CohortMarks, users: BTreeSet<UserId>) -> CohortMarks {
    CohortMarks {
        without: users.into_iter().collect(),
        ..marks.clone()
    }
}

struct History {
    world: World,
    dice: Dice,
    rooms: BTreeMap<RoomId, Room>,
    /// What the log should hold.
    log: Vec<(RoomId, MessageId)>,
}

async fn a_random_history_is_found_as_the_model_finds_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    let rooms = BTreeMap::from([(world.main, Room::default()), (world.side, Room::default())]);
    let mut history = History {
        world,
        dice: Dice(20_261_120),
        rooms,
        log: Vec::new(),
    };
    for step in 0..STEPS {
        history.step().await;
        if step % 40 == 39 {
            history.ask().await;
            history.compare().await;
        }
    }
}

impl History {
    fn people(&self) -> [UserId; 3] {
        [self.world.ann, self.world.bob, self.world.cid]
    }

    fn draft(&mut self, room: RoomId) -> Draft {
        let people = self.people();
        let sender = self.dice.pick(&people);
        let others: Vec<UserId> = people.into_iter().filter(|user| *user != sender).collect();
        let mentioned = if self.dice.one_in(3) {
            self.dice.some(&others, 2)
        } else {
            vec![]
        };
        let everyone = match self.dice.one_in(6) {
            true if self.dice.one_in(2) => vec![self.world.bob, self.world.cid],
            true => people.to_vec(),
            false => vec![],
        };
        let words = self.dice.some(&WORDS, 4);
        let sent = Timestamp(1_000 + self.dice.below(500) as i64);
        let mut draft = Draft {
            sent,
            ..chat(room, sender, &words.join(" "))
        };
        let tags = self.dice.some(&TAGS, 3).into_iter();
        let tags: Vec<String> = tags.map(str::to_owned).collect();
        draft.explicit_tags = tags.iter().take(1).cloned().collect();
        draft.tags = tags.into();
        self.place(mentioning(&mentioned, &everyone, draft))
    }

    fn place(&mut self, draft: Draft) -> Draft {
        let room = &self.rooms[&draft.room];
        let all: Vec<(MessageId, MessageKind)> = room
            .entries
            .values()
            .map(|entry| (entry.message.id, entry.message.event))
            .collect();
        let open = |(_, event): &&(MessageId, MessageKind)| {
            event.is_listed() && *event != MessageKind::Comment
        };
        let parents: Vec<MessageId> = all.iter().filter(open).map(|(id, _)| *id).collect();
        let begun = |id: &MessageId| {
            room.entries
                .get(id)
                .is_some_and(|e| e.message.thread_root == Some(*id))
        };
        let roots: Vec<MessageId> = room.threads.keys().copied().filter(begun).collect();
        match self.dice.below(4) {
            0 if !parents.is_empty() => comment(self.dice.pick(&parents), draft),
            1 if !roots.is_empty() => Draft {
                placement: Placement::InThread(self.dice.pick(&roots)),
                ..draft
            },
            _ => {
                let event = if self.dice.one_in(2) {
                    self.dice.pick(&KINDS)
                } else {
                    MessageKind::Message
                };
                let placement = if event.starts_thread() {
                    Placement::StartsThread
                } else {
                    Placement::Unthreaded
                };
                let search_tokens = if event.has_text() {
                    draft.search_tokens
                } else {
                    SearchTokens::default()
                };
                Draft {
                    event,
                    placement,
                    search_tokens,
                    ..draft
                }
            }
        }
    }

    async fn step(&mut self) {
        let rooms: Vec<RoomId> = self.rooms.keys().copied().collect();
        let room = self.dice.pick(&rooms);
        let ids: Vec<MessageId> = self.rooms[&room].entries.keys().copied().collect();
        match self.dice.below(10) {
            0 | 1 if !ids.is_empty() => self.edit(room, &ids).await,
            2 if ids.len() > 3 => self.delete(room, &ids).await,
            3 if !ids.is_empty() => self.see(room, &ids).await,
            4 => self.post_several(&rooms).await,
            _ => {
                let draft = self.draft(room);
                let id = self.note_post(&draft);
                let said = self.world.say(draft).await;
                assert_eq!(
                    *said,
                    self.rooms[&room].view(id),
                    "what is answered is what is read later"
                );
            }
        }
    }

    fn note_post(&mut self, draft: &Draft) -> MessageId {
        let id = self.rooms.get_mut(&draft.room).expect("a room").post(draft);
        self.log.push((draft.room, id));
        id
    }

    async fn post_several(&mut self, rooms: &[RoomId]) {
        let mut drafts = Vec::new();
        for _ in 0..6 {
            let room = self.dice.pick(rooms);
            // Drawn before any of them is there, since none can refer to another.
            drafts.push(self.draft(room));
        }
        for draft in &drafts {
            self.note_post(draft);
        }
        self.world
            .store
            .write(move |tx| tx.messages().append(&drafts))
            .await
            .expect("a batch");
    }

    async fn edit(&mut self, room: RoomId, ids: &[MessageId]) {
        let id = self.dice.pick(ids);
        let author = self.rooms[&room].entries[&id].message.author.clone();
        let mut to = self.draft(room);
        let own = author.user;
        to.tags
            .retain(|tag| own.is_none_or(|user| tag != format!(":unread:{user}")));
        let left_out = own.into_iter().chain(to.tags.listed_unread()).collect();
        to.tags = Tags::new(
            to.tags.listed().to_vec(),
            to.tags.marks().map(|marks| leave_out(marks, left_out)),
        );
        let has_words = self.rooms[&room].entries[&id].message.event.has_text();
        if has_words {
            to.search_tokens = search::tokens(&to.content);
        } else {
            to.search_tokens = SearchTokens::default();
        }
        let (before, after) = self.rooms.get_mut(&room).expect("a room").edit(id, &to);
        let change = move |tx: &mut eddyline_storage::Tx<'_>| {
            tx.messages().update(&before, &after, &to.search_tokens)
        };
        self.world.store.write(change).await.expect("an edit");
    }

    async fn delete(&mut self, room: RoomId, ids: &[MessageId]) {
        let id = self.dice.pick(ids);
        let gone = self.rooms.get_mut(&room).expect("a room").delete(id);
        crate::changes::delete(&self.world, &gone.message).await;
    }

    async fn see(&mut self, room: RoomId, ids: &[MessageId]) {
        let people = self.people();
        let (id, user) = (self.dice.pick(ids), self.dice.pick(&people));
        self.rooms.get_mut(&room).expect("a room").see(id, user);
        self.world
            .store
            .write(move |tx| tx.messages().set_mention_seen(room, user, id))
            .await
            .expect("seen");
    }

    fn question(&mut self, room: RoomId) -> MessageQuery {
        let last = self.rooms[&room].entries.len() + 5;
        let roots: Vec<MessageId> = self.rooms[&room].threads.keys().copied().collect();
        let mut tags: Vec<String> = TAGS.iter().map(|&tag| tag.to_owned()).collect();
        tags.extend(self.people().map(|user| format!(":unread:{user}")));
        tags.extend([
            ":user:everyone".into(),
            format!(":influx:{}", self.dice.below(last)),
            "none".into(),
        ]);
        let indices: Vec<usize> = (0..tags.len()).collect();
        let tags = self
            .dice
            .some(&indices, 3)
            .into_iter()
            .map(|n| tags[n].clone())
            .collect();
        let dice = &mut self.dice;
        let searched = dice.one_in(3);
        let words = dice.some(&WORDS, 2).join(" ");
        let words = match dice.below(3) {
            0 => words,
            1 => format!("\"{words}\""),
            _ => words.chars().take(3).collect(),
        };
        let words = search::query(&words);
        MessageQuery {
            events: if dice.one_in(2) {
                dice.some(&KINDS, 3)
            } else {
                vec![]
            },
            limit: 1 + dice.below(12) as i64,
            skip: dice.below(4) as i64,
            sort: if dice.one_in(2) {
                Sort::Ascending
            } else {
                Sort::Descending
            },
            since: dice.one_in(4).then(|| MessageId(dice.below(last) as i64)),
            until: dice.one_in(4).then(|| MessageId(dice.below(last) as i64)),
            beyond: dice.one_in(4).then(|| MessageId(dice.below(last) as i64)),
            tags,
            any_tag: dice.one_in(2),
            search: searched.then_some(words),
            tags_widen: dice.one_in(3),
            thread_root: (dice.one_in(6) && !roots.is_empty()).then(|| dice.pick(&roots)),
            parent: dice.one_in(10).then(|| MessageId(dice.below(last) as i64)),
            by: dice.one_in(6).then_some(self.world.bob),
            not_by: dice.one_in(6).then_some(self.world.ann),
            ..MessageQuery::default()
        }
    }

    async fn ask(&mut self) {
        let mut answered = 0;
        for room in [self.world.main, self.world.side] {
            let questions: Vec<MessageQuery> =
                (0..QUESTIONS).map(|_| self.question(room)).collect();
            let asked = questions.clone();
            let mut answers = Vec::new();
            for query in asked {
                answers.push(
                    self.world
                        .store
                        .list(room, query, usize::MAX, |page| page.messages)
                        .await
                        .expect("an answer"),
                );
            }
            let model = &self.rooms[&room];
            for (query, answer) in questions.iter().zip(answers) {
                let expected = model.find(query);
                let ids: Vec<MessageId> = answer.iter().map(|view| view.message.id).collect();
                assert_eq!(ids, expected, "in {room}: {query:?}");
                let messages = expected.iter().map(|id| &model.entries[id].message);
                assert!(
                    messages.eq(answer.iter().map(|view| &view.message)),
                    "in {room}: {query:?}"
                );
                answered += usize::from(!expected.is_empty());
            }
        }
        assert!(
            answered > QUESTIONS / 4,
            "most questions are worth asking: {answered}"
        );
    }

    /// Compares everything there is.
    async fn compare(&mut self) {
        for (&room, model) in &self.rooms {
            let all: Vec<i64> = (0..1_000).collect();
            let views = self.world.read(move |reader| {
                let found = reader.messages().list_by_id(room, &all)?;
                reader.messages().list_views(room, found)
            });
            let expected: Vec<_> = model.entries.keys().map(|id| model.view(*id)).collect();
            assert_eq!(views.await, expected);
            for user in self.people() {
                for after in [0, 10, 30] {
                    let after = MessageId(after);
                    let count = self
                        .world
                        .read(move |reader| {
                            reader.members().count_unread_mentions(
                                room,
                                user,
                                (after, after),
                                1_000,
                            )
                        })
                        .await;
                    assert_eq!(
                        count,
                        model.unread_mentions(user, after),
                        "{user} in {room} after {after}"
                    );
                }
            }
        }
        let log = self
            .world
            .read(|reader| reader.log().list_after(Seq(0), 10_000))
            .await;
        let bodies: Vec<LogBody> = log.into_iter().map(|item| item.body).collect();
        let expected: Vec<LogBody> = self
            .log
            .iter()
            .map(|(room, id)| {
                let room = &self.rooms[room];
                LogBody::Message(
                    room.entries
                        .contains_key(id)
                        .then(|| Arc::new(room.told(*id))),
                )
            })
            .collect();
        assert_eq!(bodies, expected);
    }
}
