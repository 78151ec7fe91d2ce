//! The writer's queue: when it is full, when it ends, when a job goes wrong.

use std::sync::Arc;
use std::sync::mpsc;

use eddyline_model::messages::{Draft, MessageQuery};
use eddyline_model::{MessageId, Seq};
use eddyline_storage::{BudgetKey, Error, Store, TaskBudget};
use tokio::sync::oneshot;

use crate::home::{Home, on_every_database};
use crate::world::{World, added, chat};

on_every_database!(
    more_writes_than_the_queue_holds_are_refused,
    organizations_take_turns_whatever_waits_of_another,
    callers_of_an_organization_take_turns,
    long_posts_count_for_more_turns,
    posts_of_a_caller_keep_their_order,
    closing_finishes_what_waits,
    a_closed_store_can_still_be_read,
    a_write_that_panics_is_rolled_back_and_the_next_succeeds,
    a_read_that_panics_leaves_the_store_usable,
    a_post_is_kept_though_nobody_waits_for_its_answer,
    a_draft_the_database_refuses_does_not_take_others_with_it,
);

/// Keeps the writer busy until told; gives also the end of that.
async fn hold(world: &World) -> (mpsc::Sender<()>, tokio::task::JoinHandle<()>) {
    let (release, held) = mpsc::channel::<()>();
    let (begun, is_held) = oneshot::channel();
    let mut begun = Some(begun);
    let store = world.store.clone();
    let job = tokio::spawn(async move {
        let write = store.write(move |_| {
            begun.take().map(|begun| begun.send(()));
            let _ = held.recv();
            Ok(())
        });
        write.await.expect("the write ends");
    });
    is_held.await.expect("the writer is busy");
    (release, job)
}

/// Begins to post; the draft is in the queue when this returns.
pub(crate) fn begin(
    store: &Store,
    draft: Draft,
) -> impl Future<Output = eddyline_storage::Result<eddyline_storage::PostResult>> {
    use std::task::{Context, Poll, Waker};
    let store = store.clone();
    let mut post = Box::pin(async move { store.post(draft).await });
    let first = match post.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    };
    async move {
        match first {
            Some(answer) => answer,
            None => post.await,
        }
    }
}

/// The budget of a caller of an organization, by their numbers.
fn budget(caller: u128, organization: u128) -> TaskBudget {
    TaskBudget {
        caller: BudgetKey::new(3, caller),
        group: BudgetKey::new(5, organization),
        line: usize::MAX,
    }
}

/// Posts for several budgets, all of which wait before the first is served. Returns the names of
/// the budgets, in the order in which the posts were committed.
#[expect(clippy::async_yields_async, reason = "a post waits while others begin")]
async fn order_of(world: &World, posts: Vec<(TaskBudget, char, Draft)>) -> String {
    let (release, job) = hold(world).await;
    let mut waiting = Vec::new();
    for (budget, of, draft) in posts {
        let post = budget.scope(async { begin(&world.store, draft) }).await;
        waiting.push((of, post));
    }
    release.send(()).expect("the writer waits");
    job.await.expect("the write ends");
    let mut committed = Vec::new();
    for (of, post) in waiting {
        let event = post.await.expect("posted").event.expect("a log entry");
        committed.push((event.seq, of));
    }
    committed.sort_unstable();
    committed.into_iter().map(|(_, of)| of).collect()
}

async fn organizations_take_turns_whatever_waits_of_another(home: Arc<Home>) {
    let world = World::new(&home).await;
    let of = |budget, name| (budget, name, chat(world.main, world.ann, "hello"));
    let mut posts: Vec<_> = (0..600).map(|n| of(budget(n % 5, 1), 'a')).collect();
    posts.extend([of(budget(9, 2), 'b'), of(budget(9, 2), 'b')]);
    let order = order_of(&world, posts).await;
    assert_eq!(
        order[..5],
        *"ababa",
        "600 of another organization waited before"
    );
    assert_eq!(order.len(), 602);
}

async fn callers_of_an_organization_take_turns(home: Arc<Home>) {
    let world = World::new(&home).await;
    let of = |caller, name| {
        (
            budget(caller, 1),
            name,
            chat(world.main, world.ann, "hello"),
        )
    };
    let mut posts: Vec<_> = (0..300).map(|_| of(1, 'a')).collect();
    posts.extend([of(2, 'b'), of(3, 'c'), of(2, 'b')]);
    let order = order_of(&world, posts).await;
    assert_eq!(order[..6], *"abcaba");
}

async fn long_posts_count_for_more_turns(home: Arc<Home>) {
    let world = World::new(&home).await;
    let of = |caller, name, draft| (budget(caller, caller), name, draft);
    let long = || chat(world.main, world.ann, &"x".repeat(8_000));
    let short = || chat(world.main, world.bob, "hello");
    let short_ones = usize::try_from(long().rows() / short().rows()).expect("a small number");
    let mut posts: Vec<_> = (0..2).map(|_| of(1, 'a', long())).collect();
    posts.extend((0..3 * short_ones).map(|_| of(2, 'b', short())));
    let order = order_of(&world, posts).await;
    assert!(short_ones > 5, "{short_ones}");
    assert_eq!(order.find('b'), Some(1));
    assert!((short_ones + 1..=short_ones + 2).contains(&order.rfind('a').expect("two")));
}

async fn posts_of_a_caller_keep_their_order(home: Arc<Home>) {
    let world = World::new(&home).await;
    let names: Vec<char> = ('a'..='z').collect();
    let posts = names.iter().enumerate().map(|(n, name)| {
        let length = if n % 3 == 0 { 4096 } else { 1 };
        let text = "x".repeat(length);
        (budget(1, 1), *name, chat(world.main, world.ann, &text))
    });
    let order = order_of(&world, posts.collect()).await;
    assert_eq!(order, names.iter().collect::<String>());
}

#[expect(clippy::async_yields_async, reason = "a post waits while others begin")]
async fn more_writes_than_the_queue_holds_are_refused(home: Arc<Home>) {
    // Twelve rows: three short posts, two of one organization.
    let world = World::in_store(home.open_with(12)).await;
    let (release, job) = hold(&world).await;
    let mut waiting = Vec::new();
    for (of, text) in [(1, "one"), (2, "two")] {
        let draft = chat(world.main, world.ann, text);
        let post = async { begin(&world.store, draft) };
        waiting.push(budget(of, of).scope(post).await);
    }
    let of_first = async { world.store.post(chat(world.main, world.ann, "x")).await };
    let refused = budget(1, 1).scope(of_first).await;
    assert!(matches!(refused, Err(Error::TooManyWrites)), "{refused:?}");
    let write = world.store.write(|_| Ok(()));
    assert!(matches!(write.await, Err(Error::Busy)));
    release.send(()).expect("the writer waits");
    job.await.expect("the write ends");
    for (id, post) in (1..).zip(waiting) {
        assert_eq!(added(post.await.expect("posted")).message.id.0, id);
    }
    world.say(chat(world.main, world.ann, "three")).await;
}

async fn closing_finishes_what_waits(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (release, job) = hold(&world).await;
    let waiting: Vec<_> = (0..20)
        .map(|n| {
            begin(
                &world.store,
                chat(world.main, world.ann, &format!("waiting {n}")),
            )
        })
        .collect();
    let closing = tokio::spawn({
        let store = world.store.clone();
        async move { store.close().await }
    });
    release.send(()).expect("the writer waits");
    job.await.expect("the write ends");
    closing.await.expect("the store closes");
    for (n, post) in (1..).zip(waiting) {
        assert_eq!(added(post.await.expect("posted")).message.id, MessageId(n));
    }
    assert!(matches!(
        world.store.post(chat(world.main, world.ann, "late")).await,
        Err(Error::Unavailable(_))
    ));
    world.store.close().await;
}

async fn a_closed_store_can_still_be_read(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(chat(world.main, world.ann, "hello")).await;
    world.store.close().await;
    assert_eq!(world.find(MessageQuery::default()).await, [1]);
    let late = world.store.write(|_| Ok(())).await;
    assert!(matches!(late, Err(Error::Unavailable(_))), "{late:?}");
}

async fn a_write_that_panics_is_rolled_back_and_the_next_succeeds(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (room, ann) = (world.main, world.ann);
    let broken = world
        .store
        .write(move |tx| {
            tx.messages().append(&[chat(room, ann, "never said")])?;
            assert!(tx.now().0 <= 0, "a mistake, made on purpose");
            Ok(())
        })
        .await;
    assert!(matches!(broken, Err(Error::Panicked(_))), "{broken:?}");
    let next = world.post(chat(room, ann, "hello")).await;
    assert_eq!(next.event.map(|event| event.seq), Some(Seq(1)));
    assert_eq!(added(next).message.id, MessageId(1));
}

async fn a_read_that_panics_leaves_the_store_usable(home: Arc<Home>) {
    let world = World::new(&home).await;
    world.say(chat(world.main, world.ann, "hello")).await;
    let broken = world
        .store
        .read(|_| -> eddyline_storage::Result<()> { panic!("on purpose") })
        .await;
    assert!(matches!(broken, Err(Error::Panicked(_))), "{broken:?}");
    assert_eq!(world.find(MessageQuery::default()).await, [1]);
}

async fn a_post_is_kept_though_nobody_waits_for_its_answer(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (release, job) = hold(&world).await;
    drop(begin(
        &world.store,
        chat(world.main, world.ann, "gone before the answer"),
    ));
    release.send(()).expect("the writer waits");
    job.await.expect("the write ends");
    let next = world.say(chat(world.main, world.ann, "next")).await;
    assert_eq!(next.message.id, MessageId(2));
    assert_eq!(world.find(MessageQuery::default()).await, [1, 2]);
}

async fn a_draft_the_database_refuses_does_not_take_others_with_it(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (release, job) = hold(&world).await;
    // PostgreSQL has no NUL in texts, SQLite does.
    let texts: Vec<String> = (0..9)
        .map(|n| {
            if n == 4 {
                "a\0b".into()
            } else {
                format!("text {n}")
            }
        })
        .collect();
    let posts: Vec<_> = texts
        .iter()
        .map(|text| begin(&world.store, chat(world.main, world.ann, text)))
        .collect();
    release.send(()).expect("the writer waits");
    job.await.expect("the write ends");
    let mut kept = Vec::new();
    for (text, post) in texts.into_iter().zip(posts) {
        match post.await {
            Ok(posted) => kept.push((added(posted).message.id.0, text)),
            Err(error) => assert!(text.contains('\0'), "{error}"),
        }
    }
    let refused = usize::from(home.url.starts_with("postgres"));
    assert_eq!(
        kept.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        (1..=9 - refused as i64).collect::<Vec<_>>()
    );
    assert_eq!(
        world.read(|reader| reader.log().find_head()).await.seq.0 as usize,
        kept.len()
    );
    for (id, text) in kept {
        assert_eq!(world.view(MessageId(id)).await.message.content, text);
    }
}
