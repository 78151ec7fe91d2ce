use eddyline_model::messages::{Author, MessageKind};
use eddyline_model::{EventId, Timestamp, UserId};

use super::*;
use crate::transaction::{Rollback, Tx};

/// A caller of a group, by their numbers.
fn of(caller: u128, group: u128) -> TaskBudget {
    TaskBudget {
        caller: BudgetKey::new(9, caller),
        group: BudgetKey::new(8, group),
        line: 0,
    }
}

struct Nothing;

impl Work for Nothing {
    fn run(&mut self, _: &mut Tx<'_>) -> std::result::Result<(), Rollback<()>> {
        Ok(())
    }

    fn done(self: Box<Self>, _: std::result::Result<Option<EventId>, Rollback<()>>) {}
}

fn closure(queue: &WriteQueue, budget: TaskBudget) -> Result<()> {
    queue.push(Job::Run(Box::new(Nothing)), budget)
}

/// A post of so many rows, four at least.
fn post(queue: &WriteQueue, text: &str, rows: usize, budget: TaskBudget) -> Result<()> {
    let (room, author) = (RoomId(1), Author::user(UserId(1)));
    let mut draft = Draft::bare(
        room,
        MessageKind::Message,
        author,
        text.into(),
        Timestamp(0),
    );
    draft.tags = vec!["tag".into(); rows - 4].into();
    queue.push(Job::Post(Box::new(draft), oneshot::channel().0), budget)
}

/// The texts of the next batch.
fn batch(queue: &WriteQueue) -> Vec<String> {
    match queue.take() {
        Some(Next::Posts(drafts, _)) => drafts.into_iter().map(|draft| draft.content).collect(),
        _ => panic!("no posts are next"),
    }
}

/// Takes the next job: `p` for posts, or the group of a closure.
fn next(queue: &WriteQueue) -> char {
    match queue.take() {
        Some(Next::Posts(..)) => 'p',
        Some(Next::Run(_, key)) if key.group == BudgetKey::new(8, 1) => '1',
        Some(Next::Run(..)) => '2',
        _ => panic!("nothing is next"),
    }
}

#[test]
fn a_batch_is_filled_in_turns_of_groups_and_of_their_callers() {
    let queue = WriteQueue::new(65_536);
    for (text, budget) in [
        ("a", of(1, 1)),
        ("a", of(1, 1)),
        ("a", of(1, 1)),
        ("b", of(2, 1)),
        ("c", of(3, 2)),
        ("c", of(3, 2)),
        ("c", of(3, 2)),
    ] {
        post(&queue, text, 4, budget).unwrap();
    }
    assert_eq!(batch(&queue).concat(), "acbcaca");
    assert!(queue.take().is_none());
}

#[test]
fn a_transaction_takes_so_many_posts_or_so_many_rows() {
    let queue = WriteQueue::new(65_536);
    for _ in 0..BATCH + 1 {
        post(&queue, "short", 4, of(1, 1)).unwrap();
    }
    assert_eq!(batch(&queue).len(), BATCH);
    assert_eq!(batch(&queue).len(), 1);
    for _ in 0..9 {
        post(&queue, "long", 128, of(1, 1)).unwrap();
    }
    assert_eq!(batch(&queue).len(), 4);
    assert_eq!(batch(&queue).len(), 4);
    assert_eq!(batch(&queue).len(), 1);
}

#[test]
fn posts_and_closures_take_turns() {
    let queue = WriteQueue::new(65_536);
    for _ in 0..3 {
        closure(&queue, of(1, 1)).unwrap();
        post(&queue, "as long as a closure", 64, of(2, 2)).unwrap();
    }
    // All the posts are one batch, which counts as three closures.
    let served: String = (0..4).map(|_| next(&queue)).collect();
    assert_eq!(served, "1p11");
}

#[test]
fn a_closure_that_took_long_is_charged_with_its_time() {
    let queue = WriteQueue::new(65_536);
    for _ in 0..5 {
        closure(&queue, of(1, 1)).unwrap();
        closure(&queue, of(2, 2)).unwrap();
    }
    let Some(Next::Run(_, key)) = queue.take() else {
        panic!("no closure is next")
    };
    queue.charge(key, ROW_TIME * 3 * 64);
    let served: String = (0..7).map(|_| next(&queue)).collect();
    assert_eq!(served, "2221212");
}

#[test]
fn a_closure_that_was_held_up_is_charged_within_a_bound() {
    let queue = WriteQueue::new(65_536);
    for _ in 0..2 {
        closure(&queue, of(1, 1)).unwrap();
    }
    let Some(Next::Run(_, key)) = queue.take() else {
        panic!("no closure is next")
    };
    queue.charge(key, Duration::from_secs(60));
    for _ in 0..MAX_CLOSURE_ROWS / CLOSURE_ROWS {
        closure(&queue, of(2, 2)).unwrap();
        assert_eq!(next(&queue), '2');
    }
    closure(&queue, of(2, 2)).unwrap();
    assert_eq!(next(&queue), '1');
}

/// Returns the number of posts of four rows that a queue takes of a budget before it refuses one,
/// and the error.
fn fill(queue: &WriteQueue, budget: TaskBudget) -> (usize, Error) {
    for taken in 0.. {
        if let Err(error) = post(queue, "x", 4, budget) {
            return (taken, error);
        }
    }
    unreachable!("the queue has a bound")
}

#[test]
fn callers_and_groups_leave_room_for_others_to_wait() {
    let queue = WriteQueue::new(1024);
    // A quarter, then half of the rest of the half.
    for (caller, expected) in [(1, 64), (2, 32), (3, 16)] {
        let (taken, error) = fill(&queue, of(caller, 1));
        assert_eq!(taken, expected, "caller {caller}");
        assert!(matches!(error, Error::TooManyWrites), "{error:?}");
    }
    // The other groups have what is left, and leave some.
    for caller in 11..19 {
        fill(&queue, of(caller, 2));
    }
    assert!(post(&queue, "x", 4, of(21, 3)).is_ok());
}

#[test]
fn the_process_itself_waits_beside_any_number_of_its_own_jobs() {
    let queue = WriteQueue::new(1024);
    let (count, _) = fill(&queue, of(1, 1));
    let (own, error) = fill(&queue, TaskBudget::BACKGROUND);
    assert!(own > 2 * count, "{own} of the process, {count} of a caller");
    assert!(matches!(error, Error::Busy), "{error:?}");
}

#[test]
fn a_queue_without_room_is_busy_until_something_is_taken() {
    let queue = WriteQueue::new(12);
    post(&queue, "one", 6, of(1, 1)).unwrap();
    post(&queue, "two", 4, of(2, 2)).unwrap();
    assert!(matches!(post(&queue, "x", 4, of(3, 3)), Err(Error::Busy)));
    assert_eq!(batch(&queue), ["one", "two"]);
    post(&queue, "three", 4, of(3, 3)).unwrap();
}

#[test]
fn a_job_that_waits_alone_is_taken_however_long_it_is() {
    let queue = WriteQueue::new(2);
    closure(&queue, of(1, 1)).unwrap();
    assert!(matches!(closure(&queue, of(1, 1)), Err(Error::Busy)));
}

#[test]
fn a_closed_queue_serves_what_waits_and_takes_nothing_more() {
    let queue = WriteQueue::new(65_536);
    closure(&queue, of(1, 1)).unwrap();
    queue.close();
    let refused = closure(&queue, of(1, 1));
    assert!(matches!(refused, Err(Error::Unavailable(_))));
    assert_eq!(queue.wait(None), Waited::Ready);
    assert!(queue.take().is_some());
    assert_eq!(queue.wait(None), Waited::Closed);
}

#[test]
fn who_waits_for_a_writer_that_ended_is_answered() {
    let queue = WriteQueue::new(65_536);
    let (reply, mut answer) = oneshot::channel();
    queue.push(Job::Index(RoomId(1), reply), of(1, 1)).unwrap();
    queue.abandon();
    assert!(
        answer
            .try_recv()
            .is_err_and(|error| error == oneshot::error::TryRecvError::Closed)
    );
}
