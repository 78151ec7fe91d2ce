//! Several processes on one database.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use eddyline_model::audit::{AuditAction, AuditEntry, AuditFilter, AuditRange};
use eddyline_model::log::{Control, LogBody};
use eddyline_model::messages::{Draft, MessageQuery};
use eddyline_model::organizations::Organization;
use eddyline_model::scopes::Scopes;
use eddyline_model::{MessageId, Seq, Timestamp};
use eddyline_storage::{AppendOutcome, Error, Store, Tx};

use crate::applications::{register, robot};
use crate::home::{Home, on_shared_databases};
use crate::world::{World, added, chat, comment, member, new_user, words};

on_shared_databases!(
    several_writers_lose_nothing_and_leave_no_gaps,
    a_repeat_through_another_process_gives_the_first_message,
    one_process_hears_what_another_writes,
    each_process_is_fed_what_it_commits_itself,
    answers_through_several_processes_are_all_counted,
    an_organization_takes_no_more_than_its_limit_from_all_processes,
    people_who_come_and_go_through_several_processes_are_all_counted,
    a_full_room_takes_no_more,
    nothing_is_allowed_to_an_application_that_is_being_removed,
    a_search_finds_what_another_process_posted_just_now,
    a_reader_of_the_audit_log_misses_no_record_of_several_processes,
);

async fn a_search_finds_what_another_process_posted_just_now(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = World {
        store: home.open(),
        ..world.clone()
    };
    let query = || MessageQuery {
        search: Some(words("fresh")),
        limit: 100,
        ..Default::default()
    };
    for n in 1..=20 {
        let (here, there) = if n % 2 == 0 {
            (&world, &other)
        } else {
            (&other, &world)
        };
        here.say(chat(world.main, world.ann, "fresh news")).await;
        assert_eq!(there.find(query()).await, (1..=n).collect::<Vec<_>>());
    }
}

const WRITERS: usize = 3;
const EACH: usize = 60;

async fn several_writers_lose_nothing_and_leave_no_gaps(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut posts = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let world = World {
            store: if writer == 0 {
                world.store.clone()
            } else {
                home.open()
            },
            ..world.clone()
        };
        for n in 0..EACH {
            let (world, room) = (
                world.clone(),
                if n % 2 == 0 { world.main } else { world.side },
            );
            posts.spawn(async move {
                let posted = world
                    .post(chat(room, world.ann, &format!("{writer} says {n}")))
                    .await;
                let event = posted.event.expect("a new message has a place in the log");
                let view = added(posted);
                if n % 10 == 0 {
                    let read = Control::Read {
                        room,
                        user: world.ann,
                        marker: None,
                        message: view.message.id,
                    };
                    let tell = move |tx: &mut Tx<'_>| {
                        tx.record_event(read.clone());
                        Ok(())
                    };
                    world.store.write(tell).await.expect("a write");
                }
                (event, view)
            });
        }
    }
    let posted: HashMap<_, _> = posts.join_all().await.into_iter().collect();
    assert_eq!(posted.len(), WRITERS * EACH);
    let log = world
        .read(|reader| reader.log().list_after(Seq(0), 1_000))
        .await;
    let seqs: Vec<i64> = log.iter().map(|item| item.id.seq.0).collect();
    assert_eq!(
        seqs,
        (1..=(WRITERS * EACH + WRITERS * EACH / 10) as i64).collect::<Vec<_>>()
    );
    let mut last = HashMap::new();
    for item in log {
        let LogBody::Message(Some(view)) = item.body else {
            continue;
        };
        assert_eq!(
            posted[&item.id].message, view.message,
            "the answer told the place in the log"
        );
        let next = last.entry(view.message.room).or_insert(0);
        *next += 1;
        assert_eq!(
            view.message.id.0, *next,
            "the log has a room's messages in their order"
        );
    }
    assert_eq!(last.values().sum::<i64>(), (WRITERS * EACH) as i64);
}

async fn a_repeat_through_another_process_gives_the_first_message(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = home.open();
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..40 {
        let store = if n % 2 == 0 {
            world.store.clone()
        } else {
            other.clone()
        };
        let draft = Draft {
            uuid: Some(format!("uuid {}", n / 2)),
            ..chat(world.main, world.ann, "hello")
        };
        posts.spawn(async move { store.post(draft).await.expect("an answer").outcome });
    }
    let outcomes = posts.join_all().await;
    let new = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, AppendOutcome::Added(_)))
        .count();
    let repeated = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, AppendOutcome::Repeated(_)))
        .count();
    assert_eq!((new, repeated), (20, 20));
}

async fn one_process_hears_what_another_writes(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = home.open();
    let notifier = other.change_notifier();
    let mut seen = Seq(0);
    for n in 1..=5 {
        let said = world
            .say(chat(world.main, world.ann, &format!("number {n}")))
            .await;
        let heard = async {
            loop {
                notifier.changed_elsewhere().await;
                let news = other
                    .read(move |reader| reader.log().list_after(seen, 10))
                    .await
                    .expect("the log");
                if let Some(item) = news.into_iter().next() {
                    return item;
                }
            }
        };
        let item = tokio::time::timeout(Duration::from_secs(30), heard)
            .await
            .expect("the notifier notifies");
        assert_eq!(item.id.seq, Seq(n));
        assert_eq!(item.body, LogBody::Message(Some(said)));
        seen = item.id.seq;
    }
}

async fn each_process_is_fed_what_it_commits_itself(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = home.open();
    let mut feed = other.committed().expect("the feed can be had once");
    assert!(other.committed().is_none());
    world
        .say(chat(world.main, world.ann, "not for the other's feed"))
        .await;
    let posted = other
        .post(chat(world.main, world.bob, "for it"))
        .await
        .expect("an answer");
    let event = posted.event;
    let view = added(posted);
    let items = feed.recv().await.expect("news");
    assert_eq!(
        items.iter().map(|item| Some(item.id)).collect::<Vec<_>>(),
        [event]
    );
    assert_eq!(items[0].body, LogBody::Message(Some(view)));
    assert!(feed.try_recv().is_err());
}

async fn answers_through_several_processes_are_all_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = World {
        store: home.open(),
        ..world.clone()
    };
    let root = world
        .say(chat(world.main, world.ann, "question"))
        .await
        .message
        .id;
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..40 {
        let world = if n % 2 == 0 {
            world.clone()
        } else {
            other.clone()
        };
        let answer = comment(root, chat(world.main, world.bob, &format!("answer {n}")));
        posts.spawn(async move { world.say(answer).await });
    }
    posts.join_all().await;
    let thread = world.view(root).await.thread.expect("a thread");
    assert_eq!(thread.counts.internal_comments, 41);
}

async fn a_full_room_takes_no_more(home: Arc<Home>) {
    let world = World::new(&home).await;
    let room = world.main;
    crate::schema::execute(
        &home.url,
        &format!("update rooms set last_message_id = 4294967294 where id = {room}"),
    );
    let last = world.say(chat(room, world.ann, "the last word")).await;
    assert_eq!(last.message.id, MessageId::MAX);
    let query = MessageQuery {
        search: Some(words("last")),
        ..Default::default()
    };
    assert_eq!(world.find(query.clone()).await, [MessageId::MAX.0]);
    assert_eq!(world.find_in(world.side, query).await, [0; 0]);
    assert_eq!(
        world.post(chat(room, world.ann, "one more")).await.outcome,
        AppendOutcome::NoRoom
    );
}

async fn people_who_come_and_go_through_several_processes_are_all_counted(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (acme, other) = (world.organization, home.open());
    let mut moves = tokio::task::JoinSet::new();
    for n in 0..30 {
        let (first, second) = if n % 2 == 0 {
            (world.store.clone(), other.clone())
        } else {
            (other.clone(), world.store.clone())
        };
        moves.spawn(async move {
            let nick = format!("user{n}");
            let join = move |tx: &mut Tx<'_>| {
                let user = tx.users().insert(&new_user(&nick))?;
                let organization = tx.organizations().lock(acme)?.expect("it is there");
                tx.organizations().update(&Organization {
                    user_limit: 100,
                    ..organization
                })?;
                tx.organization_members()
                    .insert(member(acme, user), &nick, Timestamp(1))?;
                Ok(user)
            };
            let (user, _) = first.write(join).await.expect("one comes");
            if n % 3 == 0 {
                let leave = move |store: Store| async move {
                    store
                        .write(move |tx| tx.organization_members().delete(acme, user))
                        .await
                        .expect("one goes");
                };
                tokio::join!(leave(first), leave(second));
            }
        });
    }
    moves.join_all().await;
    let count = world
        .read(move |reader| reader.organizations().find(acme))
        .await
        .expect("there")
        .user_count;
    let people = world
        .read(move |reader| reader.organization_members().list_users(acme))
        .await
        .len();
    assert_eq!((count, people), (3 + 20, 3 + 20));
}

/// Shows: 8.4
async fn an_organization_takes_no_more_than_its_limit_from_all_processes(home: Arc<Home>) {
    let world = World::new(&home).await;
    let other = home.open();
    for n in 0..20 {
        let make = move |tx: &mut Tx<'_>| {
            let name = format!("small{n}");
            tx.organizations().insert("Small", &name, 1, Timestamp(1))
        };
        let (small, _) = world.store.write(make).await.expect("an organization");
        let join = |store: &Store, user| {
            let store = store.clone();
            tokio::spawn(async move {
                let nick = format!("user{user}");
                store
                    .write(move |tx| {
                        tx.organization_members()
                            .insert(member(small, user), &nick, Timestamp(1))
                    })
                    .await
            })
        };
        let (one, two) = (join(&world.store, world.ann), join(&other, world.bob));
        let answers = [one.await.expect("an answer"), two.await.expect("an answer")];
        let joined = answers.iter().filter(|answer| answer.is_ok()).count();
        let refused = answers
            .iter()
            .filter(|answer| matches!(answer, Err(Error::Refused(_))))
            .count();
        assert_eq!((joined, refused), (1, 1), "{answers:?}");
    }
}

async fn nothing_is_allowed_to_an_application_that_is_being_removed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (other, ann) = (home.open(), world.ann);
    let id = register(&world, robot(&world, "abc"), None).await.id;
    let (held, heard) = mpsc::channel();
    let removing = world.store.write(move |tx| {
        let found = tx.applications().lock(id)?;
        // Nobody listens any more when the transaction is tried again.
        let _ = held.send(());
        tx.applications().delete(id)?;
        Ok(found.is_some())
    });
    let allowing = async {
        tokio::task::spawn_blocking(move || heard.recv())
            .await
            .expect("a wait")
            .expect("it is held");
        let allowed = other.write(move |tx| {
            if !tx.applications().lock_shared(id)? {
                return Ok(false);
            }
            let now = tx.now();
            tx.grants().insert(id, ann, Scopes::DEFAULT, now)?;
            Ok(true)
        });
        allowed.await.map(|(allowed, _)| allowed)
    };
    let (removed, allowed) = tokio::join!(removing, allowing);
    assert!(removed.expect("it is removed").0);
    assert!(!allowed.expect("an answer"));
}

async fn a_reader_of_the_audit_log_misses_no_record_of_several_processes(home: Arc<Home>) {
    let reader = World::new(&home).await;
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..WRITERS {
        let store = home.open();
        writers.spawn(async move {
            for number in 0..EACH {
                let entry = AuditEntry::new(AuditAction::FlowCreate, None);
                // Some transactions write more, so that they are begun and ended in different orders.
                let noted = store
                    .write(move |tx| (0..=number % 3).try_for_each(|_| tx.audit().insert(&entry)));
                noted.await.expect("it is noted");
            }
        });
    }
    let (mut last, mut seen) = (0, 0);
    let all = WRITERS * EACH * 2;
    while seen < all {
        let onward = reader.read(move |reader| {
            let range = AuditRange::following(last, 7);
            reader.audit().list(&AuditFilter::default(), range)
        });
        for record in onward.await {
            assert!(record.id > last);
            last = record.id;
            seen += 1;
        }
        tokio::task::yield_now().await;
    }
    writers.join_all().await;
    let behind = reader.read(move |reader| reader.audit().count_after(last));
    assert_eq!((seen, behind.await), (all, 0));
}
