//! Commits whose outcome the writer does not learn: nothing is written twice, and nothing is
//! answered that is not there.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, mpsc};

use eddyline_model::{MessageId, RoomId, Seq, UserId};
use eddyline_storage::{Abort, Error, PostResult, Result, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::home::{Home, open_at, tests_on};
use crate::queue::begin;
use crate::schema::execute;
use crate::world::{World, added, chat};

// A server in another language reports errors in that language.
tests_on!(
    postgres, postgres_in_german: [
        a_commit_whose_answer_got_lost_is_not_repeated,
        a_commit_that_never_arrived_is_tried_again,
        a_commit_still_under_way_is_waited_for,
        a_commit_of_which_nothing_can_be_asked_is_not_repeated,
        a_commit_is_not_repeated_when_the_question_for_it_is_refused,
    ]
);

async fn a_commit_whose_answer_got_lost_is_not_repeated(home: Arc<Home>) {
    World::new(&home).await;
    lose_commits(&home, AFTER_ANSWER).await;
}

async fn a_commit_that_never_arrived_is_tried_again(home: Arc<Home>) {
    World::new(&home).await;
    lose_commits(&home, BEFORE_ARRIVAL).await;
}

async fn a_commit_still_under_way_is_waited_for(home: Arc<Home>) {
    World::new(&home).await;
    // A commit takes its time, so that the question for it comes before its end.
    execute(
        &home.url,
        "create function dally() returns trigger language plpgsql as $$
         begin perform pg_sleep(0.2); return null; end $$;
         create constraint trigger at_commit after insert on event_log deferrable initially deferred
         for each row execute function dally();",
    );
    lose_commits(&home, AT_ONCE).await;
}

/// Posts over a connection that is lost at every third commit. Each post is answered, and there
/// once.
async fn lose_commits(home: &Home, how: u8) {
    let lossy = Lossy::to(&home.url).await;
    let store = lossy.open();
    let room = main_room(&store).await;
    for n in 1..=12 {
        if n % 3 == 0 {
            lossy.loses(how);
        }
        let text = format!("number {n}");
        let event = if n % 2 == 0 {
            let posted = store
                .post(chat(room, AUTHOR, &text))
                .await
                .expect("an answer");
            let event = posted.event;
            assert_eq!(added(posted).message.id, MessageId(n));
            event
        } else {
            let write = store.write(move |tx| tx.messages().append(&[chat(room, AUTHOR, &text)]));
            write.await.expect("an answer").1
        };
        assert!(lossy.has_lost(), "the connection was lost");
        assert_eq!(event.map(|event| event.seq), Some(Seq(n)));
    }
    assert_eq!(logged(home).await, 12);
}

async fn a_commit_of_which_nothing_can_be_asked_is_not_repeated(home: Arc<Home>) {
    World::new(&home).await;
    let lossy = Lossy::to(&home.url).await;
    let store = lossy.open();
    let room = main_room(&store).await;
    let batch = post_a_batch(&store, room, || {
        lossy.state.closes_after_loss.store(true, Ordering::SeqCst);
        lossy.loses(AFTER_ANSWER);
    });
    are_unknown(batch.await);
    assert_eq!(
        logged(&home).await,
        2,
        "both were committed, and nothing was repeated"
    );
    lossy.state.is_closed.store(false, Ordering::SeqCst);
    is_usable(&store, room, 3).await;
}

async fn a_commit_is_not_repeated_when_the_question_for_it_is_refused(home: Arc<Home>) {
    World::new(&home).await;
    let lossy = Lossy::to(&home.url).await;
    let store = lossy.open();
    let room = main_room(&store).await;
    // The commit hides the table in which the writer looks for its batch.
    execute(
        &home.url,
        "create function hide() returns trigger language plpgsql as $$
         begin alter table writers rename to hidden_writers; return null; end $$;
         create constraint trigger hiding after insert on event_log deferrable initially deferred
         for each row when (new.seq = 1) execute function hide();",
    );
    let batch = post_a_batch(&store, room, || lossy.loses(AFTER_ANSWER));
    are_unknown(batch.await);
    execute(&home.url, "alter table hidden_writers rename to writers");
    assert_eq!(
        logged(&home).await,
        2,
        "both were committed, and nothing was repeated"
    );
    is_usable(&store, room, 3).await;
}

/// Posts two messages in one transaction. `before` is called when all else is done.
async fn post_a_batch(
    store: &Store,
    room: RoomId,
    before: impl FnOnce(),
) -> [Result<PostResult>; 2] {
    let (release, held) = mpsc::channel::<()>();
    let (begun, is_held) = oneshot::channel();
    let mut begun = Some(begun);
    let job = tokio::spawn({
        let store = store.clone();
        async move {
            // Nothing is committed by it.
            let nothing = store.transaction(move |_| {
                begun.take().map(|begun| begun.send(()));
                let _ = held.recv();
                Err::<(), _>(Abort::Rejected(()))
            });
            assert!(matches!(nothing.await, Err(Abort::Rejected(()))));
        }
    });
    is_held.await.expect("the writer is busy");
    let [one, two] = ["one", "two"].map(|text| begin(store, chat(room, AUTHOR, text)));
    before();
    release.send(()).expect("the writer waits");
    job.await.expect("the write ends");
    [one.await, two.await]
}

/// Whether these posts were done is not known, which is what their answers say.
fn are_unknown(answers: [Result<PostResult>; 2]) {
    for answer in answers {
        assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
    }
}

/// The next message is there, and has the number behind the last one.
async fn is_usable(store: &Store, room: RoomId, number: i64) {
    let posted = store
        .post(chat(room, AUTHOR, "afterwards"))
        .await
        .expect("an answer");
    assert_eq!(posted.event.map(|event| event.seq), Some(Seq(number)));
    assert_eq!(added(posted).message.id, MessageId(number));
}

/// The first user of the world.
const AUTHOR: UserId = UserId(1);

async fn main_room(store: &Store) -> RoomId {
    let room = store
        .read(|reader| reader.flows().find_room_by_id("id-of-main"))
        .await;
    room.expect("a read").expect("the flow")
}

/// How many rows the log has, seen without the proxy.
async fn logged(home: &Home) -> usize {
    home.open()
        .read(|reader| reader.log().list_after(Seq(0), 100))
        .await
        .expect("the log")
        .len()
}

/// What becomes of the next commit, and with it of its connection.
const PASSES: u8 = 0;
/// It is passed on, and its answer is lost.
const AFTER_ANSWER: u8 = 1;
/// It is passed on, and the connection ends before its answer.
const AT_ONCE: u8 = 2;
/// It is not passed on.
const BEFORE_ARRIVAL: u8 = 3;

/// A proxy before PostgreSQL that loses commits.
struct Lossy {
    url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// What becomes of the next commit.
    next: AtomicU8,
    /// No connection is taken once one was lost.
    closes_after_loss: AtomicBool,
    is_closed: AtomicBool,
}

impl Lossy {
    async fn to(url: &str) -> Self {
        let server = url
            .split(['@', '/'])
            .find(|part| part.contains(':') && !part.ends_with(':'));
        let server = server.expect("a host").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let url = url.replace(&server, &address);
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if shared.is_closed.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect(&server)
                    .await
                    .expect("PostgreSQL answers");
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    shared.carry(client, server).await;
                });
            }
        });
        Self { url, state }
    }

    /// A store that reaches its database through the proxy.
    fn open(&self) -> Store {
        open_at(&self.url, 65_536)
    }

    fn loses(&self, how: u8) {
        self.state.next.store(how, Ordering::SeqCst);
    }

    fn has_lost(&self) -> bool {
        self.state.next.load(Ordering::SeqCst) == PASSES
    }
}

impl State {
    /// Passes bytes on both ways, until either end closes or a commit is lost.
    async fn carry(&self, client: TcpStream, server: TcpStream) {
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let (mut sent, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
        let mut lost = PASSES;
        loop {
            tokio::select! {
                Ok(length) = from_client.read(&mut sent) => {
                    if lost == PASSES && sent[..length].windows(7).any(|bytes| bytes == b"COMMIT\0") {
                        lost = self.lose();
                    }
                    if length == 0 || lost == BEFORE_ARRIVAL {
                        return;
                    }
                    if to_server.write_all(&sent[..length]).await.is_err() || lost == AT_ONCE {
                        return;
                    }
                }
                Ok(length) = from_server.read(&mut answered) => {
                    // Once PostgreSQL has answered, the commit is done.
                    if lost == AFTER_ANSWER || length == 0 {
                        return;
                    }
                    if to_client.write_all(&answered[..length]).await.is_err() {
                        return;
                    }
                }
                else => return,
            }
        }
    }

    /// What becomes of a commit. The next one passes.
    fn lose(&self) -> u8 {
        let lost = self.next.swap(PASSES, Ordering::SeqCst);
        if lost != PASSES && self.closes_after_loss.load(Ordering::SeqCst) {
            self.is_closed.store(true, Ordering::SeqCst);
        }
        lost
    }
}
