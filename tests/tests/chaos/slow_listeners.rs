//! Listeners who read a byte a second, or nothing: they cost the others nothing and the server no
//! memory, and when they read on they have missed nothing.

use std::collections::VecDeque;
use std::time::Duration;

use eddyline_tests::Server;
use eddyline_tests::chaos::{Address, Cast, Crowd, Manner, Others, RawStream, Run, in_time, plan};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::on_both_databases;

on_both_databases![who_does_not_read_costs_nobody_anything: "listeners who do not read"];

/// How many read a byte a second, and how many nothing.
const SLOW: usize = 10;
/// What the system may hold for each of them.
const RECEIVE_BUFFER: u32 = 4096;
/// About as many characters as a message may have, each four bytes long and no letter, so that
/// there is much to send and little to look for.
const CHARACTERS: usize = 7900;
const MIB: usize = 1 << 20;

async fn who_does_not_read_costs_nobody_anything(server: Server, name: String) {
    let text = "\u{f0000}".repeat(CHARACTERS);
    let posts = |mib: usize| mib * MIB / text.len();
    let manner = Manner {
        filler: text.clone(),
        ..Manner::default()
    };
    let cast = Cast {
        posters: 8,
        readers: 0,
        listeners: 1,
        manner,
        ..Cast::default()
    };
    let run = Run::begin(&name, &[&server], cast).await;
    let address = Address::new(server.stream_url(), &run.people.ada.token);

    let (read_on, told) = watch::channel(None);
    let mut slow = Vec::new();
    for number in 0..2 * SLOW {
        let stream = Stream::open(&address).await;
        slow.push(stream.listen(number.is_multiple_of(2), told.clone()));
    }
    let quick = Crowd::start(&address, 1);
    in_time("all streams are open", quick.all_open()).await;
    let first = run.post_surely("all are here").await;

    // The server keeps what was posted last, in a bounded place. In a long run that place is full
    // before the memory is looked at, and nothing may grow after; in a short one it may still fill.
    // What all the slow listeners have not read would be many times as much.
    let (first_mib, more, allowed) = plan().choose((8, 32, 128 * MIB), (48, 200, 20 * MIB));
    run.deeds.more_answers(posts(first_mib)).await;
    let before = server.resident_bytes();
    run.deeds.more_answers(posts(more)).await;
    let growth = server.resident_bytes().saturating_sub(before);
    let finished = run.stop().await;
    in_time("the others heard all", quick.all_heard(finished.last)).await;
    assert!(
        growth <= allowed as u64,
        "the server's memory grew by {growth} bytes, from {before}"
    );

    // One of each kind reads on; the others have shown what they were here for.
    slow.drain(2..).for_each(|listener| listener.abort());
    read_on.send_replace(Some(finished.last));
    let mut heard = quick.finish().await;
    for listener in slow {
        heard.push(
            in_time("a slow listener caught up", listener)
                .await
                .unwrap(),
        );
    }
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    let remark = format!(
        "{:.0} MiB resident, {:+.1} by {more} MiB more",
        mib(before),
        mib(growth)
    );
    finished
        .judge(
            2 * SLOW,
            remark,
            Others {
                after: first - 1,
                heard,
            },
        )
        .await;
}

/// A stream that has begun.
struct Stream(RawStream);

type Numbers = Vec<(i64, Option<i64>)>;

impl Stream {
    async fn open(address: &Address) -> Self {
        let mut stream = RawStream::open(address, None, Some(RECEIVE_BUFFER))
            .await
            .unwrap();
        while !stream.is_granted() {
            stream.read(usize::MAX, &mut VecDeque::new()).await.unwrap();
        }
        Self(stream)
    }

    /// Reads a byte a second, or nothing, until it is told to read everything up to a message.
    fn listen(self, reads: bool, mut told: watch::Receiver<Option<i64>>) -> JoinHandle<Numbers> {
        let Self(mut stream) = self;
        tokio::spawn(async move {
            let mut events = VecDeque::new();
            while told.borrow().is_none() {
                tokio::select! {
                    _ = told.changed() => {}
                    () = tokio::time::sleep(Duration::from_secs(1)), if reads => {
                        stream.read(1, &mut events).await.unwrap();
                    }
                }
            }
            let last = *told.borrow();
            let mut heard = Numbers::new();
            while last.is_some_and(|last| heard.last().is_none_or(|at| at.1 < Some(last))) {
                stream.read(usize::MAX, &mut events).await.unwrap();
                heard.extend(events.drain(..).map(|(id, number)| (id.seq.0, number)));
            }
            heard
        })
    }
}
