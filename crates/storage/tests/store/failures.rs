//! PostgreSQL going away in the middle of things: what was answered is there, exactly once.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use eddyline_model::log::{EventId, LogBody};
use eddyline_model::messages::MessageQuery;
use eddyline_model::retention::HoldTarget;
use eddyline_model::{MessageId, Seq};
use eddyline_storage::{Abort, Error, Options, Store};

use crate::home::{Home, tests_on};
use crate::world::{World, added, chat};

// A server in another language says in its own words what went wrong.
tests_on!(
    postgres, postgres_in_german: [
        posts_survive_the_end_of_all_connections,
        a_commit_that_failed_is_tried_again,
        transactions_that_lock_each_other_are_tried_again,
        what_is_tried_again_may_be_decided_against,
        what_ended_a_transaction_without_a_known_reason_is_tried_again,
        a_mistake_is_told_after_some_tries,
        a_read_that_takes_too_long_is_known_as_such,
        a_lock_that_is_held_for_long_is_waited_for_again,
        what_deletes_waits_for_a_hold_that_is_being_placed,
    ]
);

const END_OTHERS: &str = "select pg_terminate_backend(pid) from pg_stat_activity \
    where datname = current_database() and pid <> pg_backend_pid()";

async fn posts_survive_the_end_of_all_connections(home: Arc<Home>) {
    let world = World::new(&home).await;
    let notifier = world.store.change_notifier();
    let (done, answered) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let killer = std::thread::spawn({
        let (url, done, answered) = (home.url.clone(), done.clone(), answered.clone());
        move || {
            let mut admin = PgConnection::establish(&url).expect("PostgreSQL answers");
            let mut ended = 0;
            for round in 1.. {
                // Always in the midst of posting.
                while answered.load(Ordering::Relaxed) < round * 60 && !done.load(Ordering::Relaxed)
                {
                    std::thread::yield_now();
                }
                if done.load(Ordering::Relaxed) {
                    break;
                }
                ended += diesel::sql_query(END_OTHERS)
                    .execute(&mut admin)
                    .expect("connections end");
            }
            ended
        }
    });
    let mut posts = tokio::task::JoinSet::new();
    for task in 0..8 {
        let (world, answered) = (world.clone(), answered.clone());
        posts.spawn(async move {
            let (mut known, mut unknown) = (HashMap::new(), Vec::new());
            let room = if task % 2 == 0 {
                world.main
            } else {
                world.side
            };
            for n in 0..75 {
                let text = format!("task {task} number {n}");
                match world.store.post(chat(room, world.ann, &text)).await {
                    Ok(posted) => {
                        let event = posted.event.expect("a place in the log");
                        known.insert(text, (event, added(posted).message.id));
                    }
                    Err(Error::Unavailable(_)) => unknown.push(text),
                    Err(other) => panic!("{other:?}"),
                }
                answered.fetch_add(1, Ordering::Relaxed);
            }
            (known, unknown)
        });
    }
    let (mut known, mut unknown) = (HashMap::new(), Vec::new());
    for (some, others) in posts.join_all().await {
        known.extend(some);
        unknown.extend(others);
    }
    done.store(true, Ordering::Relaxed);
    assert!(killer.join().expect("the killer ends") > 0);
    known.extend(check_log(&world, &known, &unknown).await);

    let posted = world.post(chat(world.main, world.ann, "afterwards")).await;
    assert_eq!(
        posted.event.map(|event| event.seq.0),
        Some(known.len() as i64 + 1)
    );
    assert!(!world.find(MessageQuery::default()).await.is_empty());
    notifier.changed_elsewhere().await;
}

/// Checks that the log is gapless and holds what was answered exactly once, and gives what it holds
/// besides, which must be among the unknown.
async fn check_log(
    world: &World,
    known: &HashMap<String, (EventId, MessageId)>,
    unknown: &[String],
) -> HashMap<String, (EventId, MessageId)> {
    let log = world
        .read(|reader| reader.log().list_after(Seq(0), 10_000))
        .await;
    let (mut found, mut last) = (HashMap::new(), HashMap::new());
    for (n, item) in (1..).zip(log) {
        assert_eq!(item.id.seq, Seq(n), "the log has no gaps");
        let LogBody::Message(Some(view)) = item.body else {
            panic!("nothing but messages")
        };
        let next = last.entry(view.message.room).or_insert(0);
        *next += 1;
        assert_eq!(view.message.id, MessageId(*next), "a room has no gaps");
        let text = view.message.content.clone();
        let twice = found.insert(text, (item.id, view.message.id));
        assert_eq!(twice, None, "nothing is there twice");
    }
    for (text, place) in known {
        assert_eq!(found.remove(text), Some(*place), "{text}");
    }
    assert!(found.keys().all(|text| unknown.contains(text)), "{found:?}");
    found
}

async fn a_commit_that_failed_is_tried_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    // The connection ends while it commits, once for every fifth message.
    crate::schema::execute(
        &home.url,
        "create sequence ended;
         create function end_connection() returns trigger language plpgsql as $$
         begin
            if new.seq % 5 = 0 and nextval('ended') % 2 = 1 then
                perform pg_terminate_backend(pg_backend_pid());
            end if;
            return null;
         end $$;
         create constraint trigger at_commit after insert on event_log deferrable initially deferred
         for each row execute function end_connection();",
    );
    for n in 1..=20 {
        let posted = world
            .post(chat(world.main, world.ann, &format!("number {n}")))
            .await;
        assert_eq!(posted.event.map(|event| event.seq), Some(Seq(n)));
        assert_eq!(added(posted).message.id, MessageId(n));
    }
    let all = MessageQuery {
        limit: 100,
        ..Default::default()
    };
    assert_eq!(world.find(all).await, (1..=20).collect::<Vec<_>>());
}

/// How long something is waited for that must come.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

async fn transactions_that_lock_each_other_are_tried_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (main, side) = (world.main, world.side);
    let both_hold_one = Arc::new(Barrier::new(2));
    let write = |store: Store, one, other| {
        let (both, mut tries) = (both_hold_one.clone(), 0);
        async move {
            let bump = store.write(move |tx| {
                tries += 1;
                tx.rooms().advance_access(one)?;
                if tries == 1 {
                    both.wait();
                }
                tx.rooms().advance_access(other)?;
                Ok(tries)
            });
            bump.await.expect("the write succeeds").0
        }
    };
    let (one, other) = tokio::join!(
        write(world.store.clone(), main, side),
        write(home.open(), side, main)
    );
    assert!(one + other > 2, "one of them was tried again");
    let flow = world
        .read(move |reader| reader.flows().find(main))
        .await
        .expect("the flow");
    assert_eq!(flow.access_version, 2);
}

async fn what_is_tried_again_may_be_decided_against(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (main, side) = (world.main, world.side);
    let both_hold_one = Arc::new(Barrier::new(2));
    let change = |store: Store, one, other| {
        let (both, mut tries) = (both_hold_one.clone(), 0);
        async move {
            let bump = store.transaction(move |tx| {
                tries += 1;
                tx.rooms().advance_access(one)?;
                if tries > 1 {
                    return Err(Abort::Rejected("the other was first"));
                }
                both.wait();
                Ok(tx.rooms().advance_access(other)?)
            });
            bump.await.map(|((), _)| ())
        }
    };
    let answers = tokio::join!(
        change(world.store.clone(), main, side),
        change(home.open(), side, main)
    );
    match answers {
        (Ok(()), Err(Abort::Rejected("the other was first")))
        | (Err(Abort::Rejected("the other was first")), Ok(())) => {}
        other => panic!("{other:?}"),
    }
    for room in [main, side] {
        let flow = world
            .read(move |reader| reader.flows().find(room))
            .await
            .expect("the flow");
        assert_eq!(flow.access_version, 1);
    }
}

/// Has the database refuse transactions that tell the log something, as long as `condition` holds
/// for the number of the try, with a code and in words that the driver has no kind for.
fn refuse_while(home: &Home, condition: &str, when: &str) {
    crate::schema::execute(
        &home.url,
        &format!(
            "create sequence tried;
             create function refuse() returns trigger language plpgsql as $$
             begin
                if nextval('tried') {condition} then
                    raise exception 'Verklemmung entdeckt' using errcode = '40P01';
                end if;
                return null;
             end $$;
             create constraint trigger refusing after insert on event_log {when}
             for each row execute function refuse();"
        ),
    );
}

fn tries(home: &Home) -> i64 {
    #[derive(QueryableByName)]
    struct Tried {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        last_value: i64,
    }
    let mut admin = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    let tried = diesel::sql_query("select last_value from tried").get_result::<Tried>(&mut admin);
    tried.expect("a sequence").last_value
}

async fn what_ended_a_transaction_without_a_known_reason_is_tried_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    for (n, when) in [(1, ""), (2, "deferrable initially deferred")] {
        refuse_while(&home, "< 3", when);
        let posted = world.post(chat(world.main, world.ann, "hello")).await;
        assert_eq!(posted.event.map(|event| event.seq), Some(Seq(n)), "{when}");
        assert_eq!(
            (added(posted).message.id, tries(&home)),
            (MessageId(n), 3),
            "{when}"
        );
        crate::schema::execute(
            &home.url,
            "drop function refuse cascade; drop sequence tried",
        );
    }
    assert_eq!(
        world
            .read(|reader| reader.log().list_after(Seq(0), 9))
            .await
            .len(),
        2
    );
}

async fn a_mistake_is_told_after_some_tries(home: Arc<Home>) {
    let world = World::new(&home).await;
    refuse_while(&home, "> 0", "");
    let refused = world.store.post(chat(world.main, world.ann, "hello")).await;
    assert!(matches!(refused, Err(Error::Database(_))), "{refused:?}");
    assert_eq!(tries(&home), 3);
}

async fn a_read_that_takes_too_long_is_known_as_such(home: Arc<Home>) {
    World::new(&home).await;
    let options = Options {
        read_time: std::time::Duration::from_millis(200),
        ..Options::default()
    };
    let store = Store::open_with(&home.url, options).expect("the store opens");
    let mut admin = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    admin
        .batch_execute("begin; lock table flows in access exclusive mode")
        .expect("a lock");
    let outcome = store
        .read(|reader| reader.flows().find_room_by_id("id-of-main"))
        .await;
    assert!(matches!(outcome, Err(Error::Deadline)), "{outcome:?}");
    admin
        .batch_execute("rollback")
        .expect("the lock is given back");
    let found = store
        .read(|reader| reader.flows().find_room_by_id("id-of-main"))
        .await;
    assert!(found.expect("a read").is_some());
}

async fn a_lock_that_is_held_for_long_is_waited_for_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mut holder = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    holder
        .batch_execute("begin; lock table log_clock in access exclusive mode")
        .expect("a lock");
    let released = std::thread::spawn({
        let url = home.url.clone();
        move || {
            let mut admin = PgConnection::establish(&url).expect("PostgreSQL answers");
            let (mut first, began) = (None, std::time::Instant::now());
            // A transaction that has waited for too long comes back on another connection.
            while began.elapsed() < PATIENCE {
                match (waiting(&mut admin), first) {
                    (Some(process), Some(before)) if process != before => {
                        holder
                            .batch_execute("rollback")
                            .expect("the lock is given back");
                        return;
                    }
                    (Some(process), _) => first = Some(process),
                    (None, _) => {}
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            drop(holder);
            panic!("no second connection waits");
        }
    });
    let posted = world.post(chat(world.main, world.ann, "hello")).await;
    released.join().expect("another connection has waited");
    assert_eq!(posted.event.map(|event| event.seq), Some(Seq(1)));
}

async fn what_deletes_waits_for_a_hold_that_is_being_placed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let main = world.main;
    let place = format!(
        "begin; insert into legal_holds values (1, {}, 'a case', 1)",
        main.0
    );
    let mut other = PgConnection::establish(&home.url).expect("PostgreSQL answers");
    other.batch_execute(&place).expect("a hold is placed");
    let committed = std::thread::spawn({
        let url = home.url.clone();
        move || {
            let mut admin = PgConnection::establish(&url).expect("PostgreSQL answers");
            let began = std::time::Instant::now();
            while waiting(&mut admin).is_none() {
                assert!(began.elapsed() < PATIENCE, "nothing waits");
                std::thread::yield_now();
            }
            other.batch_execute("commit").expect("it is committed");
        }
    });
    let found = world.store.write(move |tx| tx.retention().lock_holds());
    let (holds, _) = found.await.expect("the holds are read");
    committed.join().expect("the lock was waited for");
    assert_eq!(holds.0, BTreeSet::from([HoldTarget::Flow(main)]));
}

/// The process that waits for a lock in this database.
fn waiting(admin: &mut PgConnection) -> Option<i32> {
    #[derive(QueryableByName)]
    struct Waiting {
        #[diesel(sql_type = diesel::sql_types::Integer)]
        pid: i32,
    }
    let of = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let found = diesel::sql_query(of)
        .get_result::<Waiting>(admin)
        .optional()
        .expect("an answer");
    found.map(|process| process.pid)
}
