//! Looking at every token at every process.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::deeds::short;
use super::nodes::Node;
use super::world::World;

/// How many questions are asked at once.
const AT_ONCE: usize = 12;

/// What holds, by secret; at one of the processes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    usable: BTreeMap<String, bool>,
    present: BTreeMap<String, bool>,
}

/// Which of these access tokens a process takes.
pub(super) async fn taken(node: &Node, tokens: &[String]) -> Vec<String> {
    let answers = which_are_taken(node, tokens).await;
    answers
        .into_iter()
        .filter(|(_, taken)| *taken)
        .map(|(token, _)| token)
        .collect()
}

async fn which_are_taken(
    node: &Node,
    tokens: impl IntoIterator<Item = &String>,
) -> BTreeMap<String, bool> {
    let mut asking = Asking::new();
    for token in tokens {
        let (node, name) = (node.clone(), token.clone());
        asking.ask(token, async move { node.takes(&name).await });
    }
    asking.answers().await
}

/// What holds at a process of all that is known.
pub(super) async fn look(node: &Node, world: &World) -> Seen {
    let mut present = Asking::new();
    for (token, refresh) in &world.refresh {
        let (node, name) = (node.clone(), token.clone());
        let application = world.families[&refresh.family].pair.application;
        present.ask(token, async move { node.honours(application, &name).await });
    }
    Seen {
        usable: which_are_taken(node, world.access.keys()).await,
        present: present.answers().await,
    }
}

impl Seen {
    /// What is not as it must be in this world.
    pub(super) fn against(&self, world: &World) -> Vec<String> {
        let access = self
            .usable
            .iter()
            .map(|(token, seen)| (token, *seen, world.is_usable(token), "access"));
        let refresh = self
            .present
            .iter()
            .map(|(token, seen)| (token, *seen, world.is_present(token), "refresh"));
        let wrong = access
            .chain(refresh)
            .filter(|(_, seen, must, _)| seen != must);
        wrong
            .map(|(token, seen, _, kind)| {
                let is = if seen {
                    "holds and should be dead"
                } else {
                    "is dead and should hold"
                };
                format!("{kind} token {} {is}", short(token))
            })
            .collect()
    }
}

/// Questions under way.
struct Asking {
    tasks: JoinSet<(String, bool)>,
    turns: Arc<Semaphore>,
}

impl Asking {
    fn new() -> Self {
        Self {
            tasks: JoinSet::new(),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    fn ask(&mut self, token: &str, question: impl Future<Output = bool> + Send + 'static) {
        let (turns, token) = (Arc::clone(&self.turns), token.to_owned());
        self.tasks.spawn(async move {
            let _turn = turns.acquire().await;
            (token, question.await)
        });
    }

    async fn answers(self) -> BTreeMap<String, bool> {
        self.tasks.join_all().await.into_iter().collect()
    }
}
