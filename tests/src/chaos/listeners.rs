//! Those who listen, through the typed client: cut off, they go on elsewhere after the last event
//! they heard, and write down everything in the order they heard it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use eddyline_client::{Error, EventStream, Json, StreamEvent, StreamRequest};
use eddyline_model::EventId;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::checker::{Heard, What};
use super::deeds::{Refusals, identify};
use super::plan::Random;
use super::ways::Ways;

/// The names of the first and the last message, between which a listener is to hear everything.
pub(crate) const FIRST: &str = "first";
/// See [`FIRST`].
pub(crate) const LAST: &str = "last";

/// What one listener wrote down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// What it heard.
    pub(crate) heard: Vec<Heard>,
    /// The first event id.
    pub(crate) first_event_id: Option<String>,
    /// The last event id.
    pub(crate) last_event_id: Option<String>,
    /// How often its stream ended without its doing.
    pub(crate) cut: usize,
    /// How often it left its stream itself.
    pub(crate) left: usize,
    /// The longest time from the end of a stream to the beginning of the next.
    pub(crate) longest_gap: Duration,
    /// How its requests for a stream were not granted.
    pub(crate) refusals: Refusals,
}

impl Notes {
    /// Writes an event down, and gives the name of the message if it is one.
    fn take(&mut self, event: StreamEvent) -> Option<Arc<str>> {
        // That somebody is active is not kept, and has no place in any order.
        let id = event.id?;
        let what = what(&event.json);
        let name = match &what {
            What::Post(name, _) => Some(Arc::clone(name)),
            _ => None,
        };
        match id.parse::<EventId>() {
            Ok(at) if event.json["event"] != "reset" => {
                self.heard.push(Heard {
                    seq: at.seq.0,
                    id: event.json["id"].as_i64(),
                    what,
                });
            }
            _ => self
                .refusals
                .strange
                .push(format!("a listener was told {}", event.json)),
        }
        self.first_event_id.get_or_insert_with(|| id.clone());
        self.last_event_id = Some(id);
        name
    }
}

fn what(json: &Json) -> What {
    let content = &json["content"];
    if json["event"] == "message-edit" {
        return What::Edit(content["message"].as_i64().unwrap_or_default());
    }
    match identify(json["uuid"].as_str(), content, json["title"].as_str()) {
        Some((name, text)) => What::Post(name.into(), text),
        None => What::Other,
    }
}

/// How long listeners stay with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// As long as it lasts.
    Steady,
    /// For a few events, then they open another.
    Restless,
}

type Shared = Arc<Mutex<Notes>>;

/// Several listeners to one flow.
pub(crate) struct Listeners {
    notes: Vec<Shared>,
    tasks: JoinSet<()>,
    /// One for each whose stream is open, then one for each that has heard the first message.
    steps: Arc<Semaphore>,
}

impl Listeners {
    /// So many listeners, who read the stream in turns as events and as JSON, asked for by headers
    /// and by parameters. [`Listeners::all_at_next_step`] tells when all streams are open.
    pub(crate) fn start(ways: &Ways, count: usize, habit: Habit, random: &Random) -> Self {
        let mut random = random.clone();
        let steps = Arc::new(Semaphore::new(0));
        let mut listeners = Self {
            notes: Vec::new(),
            tasks: JoinSet::new(),
            steps,
        };
        for number in 0..count {
            let request = StreamRequest::new().flow("acme/main");
            let request = match number % 3 {
                0 => request,
                1 => request.by_query(),
                // An empty id asks for ids within the objects.
                _ => request.json().after(""),
            };
            let notes = Shared::default();
            listeners.notes.push(Arc::clone(&notes));
            let steps = Arc::clone(&listeners.steps);
            let (ways, random) = (ways.clone(), random.fork());
            let listener = Listener {
                ways,
                request,
                habit,
                notes,
                steps,
                random,
                opened: false,
                ended: None,
            };
            listeners.tasks.spawn(listener.work());
        }
        listeners
    }

    /// Waits until all streams are open; when called again, until all have heard the first message,
    /// and so have a place to come back to.
    pub(crate) async fn all_at_next_step(&self) {
        let count = u32::try_from(self.notes.len()).expect("there are few");
        self.steps
            .acquire_many(count)
            .await
            .expect("it is not closed")
            .forget();
    }

    /// Waits until all have heard the last message, but no longer than `patience`, and gives what
    /// each wrote down.
    pub(crate) async fn finish(mut self, patience: Duration) -> Vec<Notes> {
        let tasks = &mut self.tasks;
        let all = async {
            while tasks
                .join_next()
                .await
                .transpose()
                .expect("nobody panics")
                .is_some()
            {}
        };
        // Who has not heard it by then is known by what is missing in the notes.
        let _ = timeout(patience, all).await;
        self.tasks.shutdown().await;
        self.notes
            .iter()
            .map(|notes| locked(notes).clone())
            .collect()
    }
}

fn locked(notes: &Shared) -> std::sync::MutexGuard<'_, Notes> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listener {
    ways: Ways,
    request: StreamRequest,
    habit: Habit,
    notes: Shared,
    steps: Arc<Semaphore>,
    random: Random,
    opened: bool,
    /// When its last stream was cut off, if it has none.
    ended: Option<Instant>,
}

enum End {
    Heard,
    Left,
    Cut,
}

impl Listener {
    async fn work(mut self) {
        loop {
            match self.ways.client().stream(&self.request).await {
                Ok(stream) => {
                    if !std::mem::replace(&mut self.opened, true) {
                        self.steps.add_permits(1);
                    }
                    if let Some(ended) = self.ended.take() {
                        let mut notes = locked(&self.notes);
                        notes.longest_gap = notes.longest_gap.max(ended.elapsed());
                    }
                    match self.hear(stream).await {
                        End::Heard => return,
                        End::Left => locked(&self.notes).left += 1,
                        End::Cut => {
                            locked(&self.notes).cut += 1;
                            self.ended = Some(Instant::now());
                            self.ways.move_on(None).await;
                        }
                    }
                }
                Err(error) => {
                    locked(&self.notes).refusals.note("a stream", &error);
                    self.ways.move_on(Some(&error)).await;
                }
            }
            if let Some(id) = &locked(&self.notes).last_event_id {
                self.request = self.request.clone().after(id);
            }
        }
    }

    async fn hear(&mut self, mut stream: EventStream) -> End {
        let stay = match self.habit {
            Habit::Steady => u64::MAX,
            Habit::Restless => 1 + self.random.below(30),
        };
        for _ in 0..stay {
            let event = match stream.next().await {
                Some(Ok(event)) => event,
                None | Some(Err(Error::Body(_))) => return End::Cut,
                Some(Err(error)) => {
                    locked(&self.notes).refusals.note("an event", &error);
                    return End::Cut;
                }
            };
            let name = locked(&self.notes).take(event);
            match name.as_deref() {
                Some(FIRST) => self.steps.add_permits(1),
                Some(LAST) => return End::Heard,
                _ => {}
            }
        }
        End::Left
    }
}

/// Hears everything after this event once more, up to the last message.
pub(crate) async fn hear_again(ways: Ways, after: &str, random: &Random) -> Notes {
    let notes = Shared::default();
    let request = StreamRequest::new().flow("acme/main").after(after);
    let (steps, habit) = (Arc::new(Semaphore::new(0)), Habit::Steady);
    let (copy, random) = (Arc::clone(&notes), random.clone());
    Listener {
        ways,
        request,
        habit,
        notes: copy,
        steps,
        random,
        opened: false,
        ended: None,
    }
    .work()
    .await;
    std::mem::take(&mut *locked(&notes))
}
