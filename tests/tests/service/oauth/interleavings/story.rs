//! One history: step after step, with a look at everything after each.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use eddyline_tests::Dice;
use tokio::task::{JoinSet, block_in_place};

use super::chance::{self, Subject};
use super::deeds::{Answer, Deed, GONE, short};
use super::ears::Ear;
use super::look::{Seen, look, taken};
use super::nodes::{Node, Nodes};
use super::world::World;

/// How long processes may believe what they remember when the answer to an end was lost, and then
/// some.
const DOUBT: Duration = Duration::from_secs(5);
/// A history has at most one crash for so many steps: for some seconds after each, every end waits
/// for the process that is gone.
const STEPS_FOR_A_CRASH: usize = 30;
/// Within this time a request is likely to be under way.
const UNDER_WAY_MICROS: usize = 9_000;

pub(super) struct Story {
    nodes: Nodes,
    /// Those that may be true.
    worlds: Vec<World>,
    ears: Vec<Ear>,
    dice: Dice,
    said: usize,
    told: History,
}

/// What happened, which is printed when the test fails.
struct History(String);

impl Drop for History {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = writeln!(std::io::stderr().lock(), "{}", self.0);
        }
    }
}

/// What came of a deed: the answer, and which tokens were taken after it that it should have ended.
type Outcome = (Deed, Answer, Vec<String>);

impl Story {
    pub(super) fn new(nodes: Nodes, seed: usize) -> Self {
        let told = History(format!("seed {seed}:\n"));
        let dice = Dice::new(seed as u64);
        Self {
            nodes,
            worlds: vec![World::default()],
            ears: Vec::new(),
            dice,
            said: 0,
            told,
        }
    }

    pub(super) async fn live(mut self, steps: usize) {
        let mut crashes = steps / STEPS_FOR_A_CRASH;
        for _ in 0..steps {
            match self.dice.below(24) {
                0..=3 => {
                    let deed = chance::beginning(&mut self.dice);
                    self.happens(vec![deed], None).await;
                }
                4..=11 => self.one_deed().await,
                12..=19 => self.deeds_that_meet().await,
                20 | 21 => self.listen().await,
                22 if crashes > 0 => {
                    crashes -= 1;
                    self.crash().await;
                }
                _ => self.say().await,
            }
        }
        assert_eq!(self.nodes.deadlocks(), "0");
    }

    fn tell(&mut self, line: &str) {
        let _ = writeln!(self.told.0, "{line}");
    }

    /// A deed about something that is there.
    async fn one_deed(&mut self) {
        let (deeds, _) = self.deeds(1);
        self.happens(deeds, None).await;
    }

    /// Deeds about one thing at the same time, perhaps the same deed at several processes, and
    /// perhaps while a stream is opened.
    async fn deeds_that_meet(&mut self) {
        let count = if self.dice.one_in(3) { 3 } else { 2 };
        let (deeds, token) = self.deeds(count);
        let token = token.filter(|_| self.dice.one_in(3));
        self.happens(deeds, token).await;
    }

    /// So many deeds about something, and an access token that may end by them.
    fn deeds(&mut self, count: usize) -> (Vec<Deed>, Option<String>) {
        let (dice, world) = (&mut self.dice, &self.worlds[0]);
        let Some(subject) = chance::subject(dice, world) else {
            return (vec![chance::beginning(dice)], None);
        };
        let mut deeds = vec![chance::deed_about(dice, world, &subject)];
        while deeds.len() < count {
            let next = match dice.below(4) {
                0 | 1 => deeds[0].clone(),
                _ => chance::deed_about(dice, world, &subject),
            };
            deeds.push(next);
        }
        let token = match &subject {
            Subject::Family(name) => chance::usable(dice, world, Some(name)),
            Subject::Code(_) => None,
        };
        (deeds, token)
    }

    /// Does all this at once, each at another process than the one before, while a stream is opened
    /// with a token, and looks what came of it.
    async fn happens(&mut self, deeds: Vec<Deed>, listener: Option<String>) {
        let at = self.dice.below(self.nodes.count());
        let node = self.nodes.node(at);
        let opening =
            listener.map(|token| tokio::spawn(async move { Ear::open(&node, at, token).await }));
        let outcomes = self.start(deeds).join_all().await;
        if let Some(opening) = opening {
            self.ears.extend(opening.await.unwrap());
        }
        assert!(
            outcomes
                .iter()
                .all(|(_, answer, _)| *answer != Answer::Lost),
            "nobody died"
        );
        self.conclude(outcomes);
        self.look_at_once().await;
    }

    /// Begins deeds at processes in turn.
    fn start(&mut self, deeds: Vec<Deed>) -> JoinSet<Outcome> {
        let first = self.dice.below(self.nodes.count());
        let mut tasks = JoinSet::new();
        for (number, deed) in (first..).zip(deeds) {
            self.tell(&format!("  at {}: {deed}", number % self.nodes.count()));
            let (node, all) = (self.nodes.node(number), self.all_nodes());
            // Where several worlds are possible, what ends in all of them.
            let mut ended = self.worlds[0].ended_by(&deed);
            ended.retain(|token| {
                self.worlds
                    .iter()
                    .all(|world| world.ended_by(&deed).contains(token))
            });
            tasks.spawn(async move {
                let answer = node.does(&deed).await;
                let alive = after_answer(&all, &answer, ended).await;
                (deed, answer, alive)
            });
        }
        tasks
    }

    fn all_nodes(&self) -> Vec<Node> {
        (0..self.nodes.count())
            .map(|number| self.nodes.node(number))
            .collect()
    }

    /// Finds the worlds in which these answers are right.
    fn conclude(&mut self, outcomes: Vec<Outcome>) {
        for (deed, answer, alive) in &outcomes {
            self.tell(&format!("    {deed}: {answer}"));
            let alive: Vec<_> = alive.iter().map(|token| short(token)).collect();
            assert!(
                alive.is_empty(),
                "{deed} was answered {answer}, and these were taken after it: {alive:?}"
            );
        }
        let done: Vec<_> = outcomes
            .into_iter()
            .map(|(deed, answer, _)| (deed, answer))
            .collect();
        let mut worlds = Vec::new();
        for world in self.worlds.iter().flat_map(|world| world.after_all(&done)) {
            if !worlds.contains(&world) {
                worlds.push(world);
            }
        }
        assert!(!worlds.is_empty(), "no order explains these answers");
        self.worlds = worlds;
    }

    /// Tries every token at every process; what should be is so now.
    async fn look_at_once(&mut self) {
        let seen = self.look().await;
        if let Err(wrong) = self.agree(&seen) {
            panic!("{wrong}");
        }
        self.listen_to_ends().await;
    }

    async fn look(&self) -> Vec<Seen> {
        let mut looking = JoinSet::new();
        for node in self.all_nodes() {
            let world = self.worlds[0].clone();
            looking.spawn(async move { look(&node, &world).await });
        }
        looking.join_all().await
    }

    /// Keeps the worlds that are as was seen.
    fn agree(&mut self, seen: &[Seen]) -> Result<(), String> {
        let wrong = |world: &World| {
            seen.iter()
                .flat_map(|seen| seen.against(world))
                .collect::<Vec<_>>()
        };
        let all: Vec<_> = self.worlds.iter().map(wrong).collect();
        if all.iter().all(|wrong| !wrong.is_empty()) {
            return Err(format!("what is seen is like none of these: {all:#?}"));
        }
        let mut right = all.iter().map(Vec::is_empty);
        self.worlds
            .retain(|_| right.next().expect("there is one for each"));
        Ok(())
    }

    /// Streams of tokens that ended have ended, and hear nothing of what is said now.
    async fn listen_to_ends(&mut self) {
        let world = &self.worlds[0];
        let (open, ended): (Vec<_>, Vec<_>) =
            self.ears.drain(..).partition(|ear| ear.may_listen(world));
        self.ears = open;
        if !ended.is_empty() {
            let text = self.speak().await;
            for ear in ended {
                ear.ends_without(&text).await;
            }
        }
    }

    async fn listen(&mut self) {
        let Some(token) = chance::usable(&mut self.dice, &self.worlds[0], None) else {
            return;
        };
        let at = self.dice.below(self.nodes.count());
        self.tell(&format!("  at {at}: stream with {}", short(&token)));
        let ear = Ear::open(&self.nodes.node(at), at, token).await;
        self.ears
            .push(ear.expect("a token that may be used opens a stream"));
        self.look_at_once().await;
    }

    /// All streams that are open hear what is said.
    async fn say(&mut self) {
        let text = self.speak().await;
        for ear in &mut self.ears {
            ear.hears(&text).await;
        }
    }

    async fn speak(&mut self) -> String {
        self.said += 1;
        let (text, at) = (
            format!("number {}", self.said),
            self.dice.below(self.nodes.count()),
        );
        self.tell(&format!("  at {at}: {text}"));
        self.nodes.node(at).says(&text).await;
        text
    }

    /// A process dies and comes again, perhaps with deeds under way there and elsewhere.
    async fn crash(&mut self) {
        let victim = self.dice.below(self.nodes.count());
        let count = self.dice.below(4);
        let deeds = if count == 0 {
            Vec::new()
        } else {
            self.deeds(count).0
        };
        self.tell(&format!("  {victim} dies"));
        self.ears.retain(|ear| ear.at != victim);
        let under_way = self.start_alone(victim, deeds);
        let moment = Duration::from_micros(self.dice.below(UNDER_WAY_MICROS) as u64);
        tokio::time::sleep(moment).await;
        block_in_place(|| {
            self.nodes.kill(victim);
            self.nodes.revive(victim);
        });
        let outcomes = under_way.join_all().await;
        let lost = outcomes
            .iter()
            .filter(|(_, answer, _)| *answer == Answer::Lost);
        let lost: Vec<Deed> = lost.map(|(deed, ..)| deed.clone()).collect();
        self.conclude(outcomes);
        if lost.is_empty() {
            return self.look_at_once().await;
        }
        // A client that wants an end asks for it until there is an answer, and then it holds
        // everywhere.
        let again = lost.into_iter().filter(Deed::only_ends);
        for deed in again.collect::<Vec<_>>() {
            let outcomes = self.start(vec![deed]).join_all().await;
            self.conclude(outcomes);
        }
        self.look_until_agreed().await;
    }

    /// Begins deeds at any processes, one of which will die; nothing is asked there afterwards.
    fn start_alone(&mut self, victim: usize, deeds: Vec<Deed>) -> JoinSet<Outcome> {
        let mut tasks = JoinSet::new();
        for (number, deed) in (victim..).zip(deeds) {
            self.tell(&format!("  at {}: {deed}", number % self.nodes.count()));
            let node = self.nodes.node(number);
            tasks.spawn(async move {
                let answer = node.does(&deed).await;
                (deed, answer, Vec::new())
            });
        }
        tasks
    }

    /// As [`Story::look_at_once`], after an answer was lost: what was done has yet to get around.
    async fn look_until_agreed(&mut self) {
        let began = Instant::now();
        loop {
            // A look takes long where the machine does other things beside the tests.
            let is_doubted = began.elapsed() < DOUBT;
            let seen = self.look().await;
            match self.agree(&seen) {
                Ok(()) => break,
                Err(wrong) => assert!(is_doubted, "{wrong}"),
            }
        }
        self.listen_to_ends().await;
    }
}

/// What follows upon an answer, before any other may have come: tokens that were given are used at
/// once, and those that ended are tried. Gives those of them that were taken.
async fn after_answer(nodes: &[Node], answer: &Answer, ended: Vec<String>) -> Vec<String> {
    match answer {
        Answer::Tokens { access, .. } => {
            // They may be dead already, by something that is done elsewhere.
            for node in nodes {
                taken(node, std::slice::from_ref(access)).await;
            }
            Vec::new()
        }
        // Somebody else has removed the application, and may not have been answered yet.
        Answer::Refused(error) if error == GONE => Vec::new(),
        Answer::Lost => Vec::new(),
        Answer::Code(_) | Answer::Done | Answer::Refused(_) => {
            let mut alive = Vec::new();
            for node in nodes {
                alive.extend(taken(node, &ended).await);
            }
            alive
        }
    }
}
