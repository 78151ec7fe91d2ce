//! Very many listeners at once.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eddyline_model::EventId;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::raw_stream::{Address, RawStream};

/// How long a member waits before it tries again.
const PAUSE: Duration = Duration::from_millis(100);
/// How often the crowd is looked at while something is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// Listeners to one flow, who can be cut off all at once.
pub struct Crowd {
    members: Vec<Arc<Mutex<Member>>>,
    cuts: watch::Sender<usize>,
    tasks: JoinSet<()>,
}

/// One of the crowd.
#[derive(Default)]
struct Member {
    /// Positions and numbers of what it heard.
    heard: Vec<(i64, Option<i64>)>,
    last: Option<EventId>,
    open: bool,
    /// How often its stream ended, or was refused, without our doing.
    failures: Vec<String>,
}

impl Crowd {
    /// So many members, who open their streams at once.
    ///
    /// # Panics
    /// When this process may not open as many files.
    pub fn start(address: &Address, count: usize) -> Self {
        let needed = u64::try_from(count).expect("there are not that many") + 500;
        let allowed = rlimit::increase_nofile_limit(needed).unwrap();
        assert!(
            allowed >= needed,
            "{needed} open files are needed and {allowed} are allowed (ulimit -Hn)"
        );
        let mut crowd = Self {
            members: Vec::new(),
            cuts: watch::Sender::new(0),
            tasks: JoinSet::new(),
        };
        for _ in 0..count {
            let member = Arc::<Mutex<Member>>::default();
            crowd.members.push(Arc::clone(&member));
            crowd
                .tasks
                .spawn(listen(address.clone(), member, crowd.cuts.subscribe()));
        }
        crowd
    }

    /// Waits until every member's stream is open.
    pub async fn all_open(&self) {
        self.all(|member| member.open).await;
    }

    /// Waits until every member has heard the message with this number.
    pub async fn all_heard(&self, id: i64) {
        self.all(|member| {
            member
                .heard
                .iter()
                .rev()
                .find_map(|heard| heard.1)
                .is_some_and(|last| last >= id)
        })
        .await;
    }

    async fn all(&self, holds: impl Fn(&Member) -> bool) {
        let mut waiting: Vec<_> = self.members.iter().collect();
        loop {
            waiting.retain(|member| !holds(&locked(member)));
            if waiting.is_empty() {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Cuts all connections; everybody comes back at once. Gives the time of it.
    pub fn cut(&self) -> Instant {
        for member in &self.members {
            locked(member).open = false;
        }
        self.cuts.send_modify(|count| *count += 1);
        Instant::now()
    }

    /// What went wrong with the members' streams that we did not cut.
    pub fn failures(&self) -> Vec<String> {
        self.members
            .iter()
            .flat_map(|member| locked(member).failures.clone())
            .collect()
    }

    /// Ends all, and gives what each heard.
    pub async fn finish(mut self) -> Vec<Vec<(i64, Option<i64>)>> {
        self.tasks.shutdown().await;
        self.members
            .iter()
            .map(|member| std::mem::take(&mut locked(member).heard))
            .collect()
    }
}

fn locked(member: &Mutex<Member>) -> MutexGuard<'_, Member> {
    member.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn listen(address: Address, member: Arc<Mutex<Member>>, mut cuts: watch::Receiver<usize>) {
    loop {
        let last = locked(&member).last;
        let outcome = match RawStream::open(&address, last, None).await {
            Ok(stream) => hear(stream, &member, &mut cuts).await,
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            locked(&member).failures.push(error.to_string());
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Hears until the connection is cut, by us or with an error.
async fn hear(
    mut stream: RawStream,
    member: &Mutex<Member>,
    cuts: &mut watch::Receiver<usize>,
) -> io::Result<()> {
    let mut events = VecDeque::new();
    loop {
        tokio::select! {
            _ = cuts.changed() => {
                stream.cut();
                return Ok(());
            }
            read = stream.read(usize::MAX, &mut events) => read?,
        }
        let mut member = locked(member);
        member.open |= stream.is_granted();
        for (id, number) in events.drain(..) {
            member.heard.push((id.seq.0, number));
            member.last = Some(id);
        }
    }
}
