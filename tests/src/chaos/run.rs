//! One run: people who post, read and listen, until they are told to stop.

mod judge;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use self::judge::{Finished, Others};
use super::deeds::Deeds;
use super::listeners::{FIRST, Habit, LAST, Listeners};
use super::plan::{Random, plan};
use super::posters::{FLOW, Manner, Poster, post_surely, read};
use super::ways::Ways;
use crate::scene::Acme;
use crate::server::Server;

/// Who takes part.
#[derive(Clone, Debug)]
pub struct Cast {
    /// How many post at the same time.
    pub posters: usize,
    /// How they post.
    pub manner: Manner,
    /// How many read lists meanwhile.
    pub readers: usize,
    /// How many listen.
    pub listeners: usize,
    /// How long they stay with a stream.
    pub habit: Habit,
    /// Whether a server may be gone for a while: without an answer, and with streams that end.
    pub servers_die: bool,
    /// Whether streams may end, while every request is answered: also one for another stream.
    pub streams_end: bool,
    /// Whether reading may be answered 503 for a while.
    pub reading_stops: bool,
}

impl Default for Cast {
    fn default() -> Self {
        Self {
            posters: 6,
            manner: Manner {
                varied: true,
                ..Manner::default()
            },
            readers: 1,
            listeners: 4,
            habit: Habit::Steady,
            servers_die: false,
            streams_end: false,
            reading_stops: false,
        }
    }
}

/// A run under way.
pub struct Run {
    /// What was posted so far.
    pub deeds: Arc<Deeds>,
    /// The chances of the faults.
    pub random: Random,
    /// The two people of the scene.
    pub people: Acme,
    listeners: Listeners,
    name: String,
    cast: Cast,
    /// Where posters go.
    posting: Ways,
    started: Instant,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Run {
    /// Sets the scene at the first of these servers, and lets everybody begin. Posters go to the
    /// last server first, listeners to the first one.
    pub async fn begin(name: &str, servers: &[&Server], cast: Cast) -> Self {
        let people = servers[0].acme();
        let mut random = plan().random(name);
        let listening = Ways::new(servers, &people.ada.token);
        let posting = Ways::new(servers, &people.ben.token).reversed();
        let deeds = Arc::<Deeds>::default();
        let listeners = Listeners::start(&listening, cast.listeners, cast.habit, &random.fork());
        listeners.all_at_next_step().await;
        post_surely(posting.clone(), &deeds, FIRST).await;
        listeners.all_at_next_step().await;

        let token =
            servers[0].admin(&["flow", "token", "--flow", &format!("{}/{}", FLOW.0, FLOW.1)]);
        let token = token["flow_token"].as_str().expect("a token").to_owned();
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let manner = Arc::new(cast.manner.clone());
        for number in 0..cast.posters {
            let name = format!("p{number}");
            let poster = Poster::new(
                &name,
                posting.clone(),
                &deeds,
                &manner,
                random.fork(),
                &token,
            );
            tasks.spawn(poster.work(stopped.clone()));
        }
        for _ in 0..cast.readers {
            tasks.spawn(read(listening.clone(), Arc::clone(&deeds), stopped.clone()));
        }
        let (name, started) = (name.to_owned(), Instant::now());
        Self {
            deeds,
            listeners,
            random,
            people,
            name,
            cast,
            posting,
            started,
            stop,
            tasks,
        }
    }

    /// Waits for a random number of answers, at least `least` and less than twice that, and then
    /// for a moment that is no answer's.
    pub async fn a_while(&mut self, least: u64) {
        let answers = least + self.random.below(least);
        self.deeds
            .more_answers(usize::try_from(answers).expect("a small number"))
            .await;
        tokio::time::sleep(self.random.time_below(Duration::from_millis(5))).await;
    }

    /// Posts a message of ours until it is answered, and gives its number.
    pub async fn post_surely(&self, name: &str) -> i64 {
        in_time(
            "a message was answered",
            post_surely(self.posting.clone(), &self.deeds, name),
        )
        .await
    }

    /// Lets the posters and readers end, posts the last message, and waits until the listeners have
    /// heard it. A listener that does not in time is found when the run is judged.
    pub async fn stop(mut self) -> Finished {
        self.stop.send_replace(true);
        let tasks = &mut self.tasks;
        let ended = async {
            while tasks
                .join_next()
                .await
                .transpose()
                .expect("nobody panics")
                .is_some()
            {}
        };
        in_time("the posters ended", ended).await;
        let last = self.post_surely(LAST).await;
        Finished {
            last,
            deeds: self.deeds,
            notes: self.listeners.finish(plan().patience()).await,
            name: self.name,
            cast: self.cast,
            ways: self.posting.reversed(),
            random: self.random,
            time: self.started.elapsed(),
        }
    }

    /// Stops the run and judges it, see [`Finished::judge`].
    pub async fn end(self, rounds: usize, remark: String) {
        self.stop()
            .await
            .judge(rounds, remark, Others::default())
            .await;
    }
}

/// Waits for what must come, and fails when it does not.
pub async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    let patience = plan().patience();
    match timeout(patience, work).await {
        Ok(value) => value,
        Err(_) => panic!("within {patience:?} it did not come to this: {what}"),
    }
}
