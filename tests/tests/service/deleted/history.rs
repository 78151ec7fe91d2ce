//! Random histories: whatever is posted, edited and deleted, no replay from any position says a
//! word that no list has. Every text has a word of its own.
//!
//! `EDDYLINE_DELETED_SEED` and `EDDYLINE_DELETED_STEPS` try other histories than those that always
//! run.

use std::collections::BTreeSet;

use eddyline_client::{Client, Json, Method, StreamRequest};
use eddyline_tests::{Acme, Backend, Caller, Dice, Listener, Server, on_both_databases, run};
use serde_json::json;

use super::texts::{Words, words_in};
use super::{BEGINNING, MAIN, MESSAGES, flow_client, latecomer};
use crate::files::Form;

on_both_databases![no_word_is_replayed_that_no_list_has];

#[test]
fn no_word_is_replayed_that_no_list_has_with_two_servers_on_postgres() {
    run(Backend::Postgres, &[], async |one| {
        let other = one.another_node("node-2", &[]);
        live(vec![one, other]).await;
    });
}

const STEPS: usize = 90;
/// After so many steps replays are compared with lists.
const STRETCH: usize = 15;
/// From so many positions at each comparison, beside the beginning.
const POSITIONS: usize = 4;

async fn no_word_is_replayed_that_no_list_has(server: Server) {
    live(vec![server]).await;
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

async fn live(servers: Vec<Server>) {
    let seed = number("EDDYLINE_DELETED_SEED", 1);
    let mut dice = Dice::new(seed as u64);
    let mut world = World::new(servers);
    let mut ears = world.listen(None).await;
    for stretch in 0..number("EDDYLINE_DELETED_STEPS", STEPS).div_ceil(STRETCH) {
        let before = world.listed().await;
        let first_new = world.words.next();
        // It reads nothing while the history goes on.
        let lagging = world.listen(Some(dice.pick(&world.positions))).await;
        let lagging_may_say: BTreeSet<usize> = before.clone();
        for _ in 0..STRETCH {
            world.step(&mut dice).await;
        }
        let end = world.end().await;
        for (ear, may_say) in ears.iter_mut().map(|ear| (ear, &before)) {
            let heard = hear(ear, &end, &mut world.positions).await;
            says_only(
                &heard,
                may_say,
                first_new,
                &format!("live, seed {seed}, stretch {stretch}"),
            );
        }
        for mut ear in lagging {
            let heard = hear(&mut ear, &end, &mut Vec::new()).await;
            says_only(
                &heard,
                &lagging_may_say,
                first_new,
                &format!("lagging, seed {seed}, stretch {stretch}"),
            );
        }
        world
            .compare(&mut dice, &format!("seed {seed}, stretch {stretch}"))
            .await;
    }
    drop(ears);
    for server in &mut world.servers {
        server.terminate();
        server.restart();
    }
    world
        .compare(&mut dice, &format!("seed {seed}, after a restart"))
        .await;
    world
        .compare_all(&format!("seed {seed}, after a restart"))
        .await;
}

/// A word is allowed if lists had it at the beginning, or if it is newer.
#[track_caller]
fn says_only(heard: &[Json], listed: &BTreeSet<usize>, first_new: usize, when: &str) {
    for event in heard {
        let words = words_in(&told(event));
        let unknown: Vec<_> = words
            .iter()
            .filter(|word| **word < first_new && !listed.contains(word))
            .collect();
        assert!(
            unknown.is_empty(),
            "{when}: no list has {unknown:?} of {event}"
        );
    }
}

/// What an event says. A change of tags names for a moment what it removed, so that listeners take
/// it off.
fn told(event: &Json) -> String {
    let mut event = event.clone();
    if event["event"] == "tag-change" {
        event["content"]["remove"] = Json::Null;
    }
    event.to_string()
}

/// What comes up to the message `end`. The ids of events are added to `positions`.
async fn hear(ear: &mut Listener, end: &str, positions: &mut Vec<String>) -> Vec<Json> {
    let mut heard = Vec::new();
    loop {
        let event = ear.next().await;
        positions.extend(event.id);
        if event.json["event"] == "message" && event.json["content"] == end {
            return heard;
        }
        heard.push(event.json);
    }
}

struct World {
    servers: Vec<Server>,
    ada: Caller,
    ben: Caller,
    late: Caller,
    tool: Client,
    words: Words,
    positions: Vec<String>,
    ends: usize,
}

impl World {
    fn new(servers: Vec<Server>) -> Self {
        let Acme { ada, ben } = servers[0].acme();
        let (late, tool) = (latecomer(&servers[0]), flow_client(&servers[0]));
        let positions = vec![BEGINNING.to_owned()];
        Self {
            servers,
            ada,
            ben,
            late,
            tool,
            words: Words::default(),
            positions,
            ends: 0,
        }
    }

    /// Opens a stream of each kind at each server.
    async fn listen(&self, after: Option<String>) -> Vec<Listener> {
        let mut ears = Vec::new();
        for server in &self.servers {
            for (who, request) in self.kinds() {
                let request = match &after {
                    Some(id) => request.after(id),
                    None => request,
                };
                let client = server.client().api_token(&who.token).build().unwrap();
                ears.push(Listener::open(&client, &request).await);
            }
        }
        ears
    }

    /// Who listens to what.
    fn kinds(&self) -> [(&Caller, StreamRequest); 2] {
        let flow = StreamRequest::new().flow(MAIN);
        [(&self.late, flow.clone()), (&self.ben, flow.user())]
    }

    /// The words that lists have: of the flow, of its threads and of the private conversation.
    async fn listed(&self) -> BTreeSet<usize> {
        let mut words = BTreeSet::new();
        let talk = format!("/private/{}/messages", self.ben.id);
        for list in [MESSAGES, &talk] {
            let mut since = String::new();
            loop {
                let page = self
                    .ada
                    .get(&format!("{list}?limit=100&sort=asc{since}"))
                    .await;
                words.extend(words_in(&page.to_string()));
                match page.as_array().unwrap().last() {
                    Some(last) => since = format!("&since_id={}", last["id"]),
                    None => break,
                }
            }
        }
        for application in ["chat", "inbox"] {
            let threads =
                format!("/flows/{MAIN}/threads?application={application}&limit=100&empty=1");
            words.extend(words_in(&self.ada.get(&threads).await.to_string()));
        }
        words
    }

    /// Says something that ends a stretch for all who listen.
    async fn end(&mut self) -> String {
        self.ends += 1;
        let end = format!("this is end {}", self.ends);
        self.ada.say(MAIN, &end).await;
        end
    }

    /// Compares replays from the beginning and from some positions with the lists.
    async fn compare(&mut self, dice: &mut Dice, when: &str) {
        let mut from = vec![BEGINNING.to_owned()];
        from.extend((0..POSITIONS).map(|_| dice.pick(&self.positions)));
        self.compare_from(from, when).await;
    }

    /// The same from every position there was.
    async fn compare_all(&mut self, when: &str) {
        self.positions.sort();
        self.positions.dedup();
        let from = self.positions.clone();
        self.compare_from(from, when).await;
    }

    async fn compare_from(&mut self, from: Vec<String>, when: &str) {
        let listed = self.listed().await;
        for some in from.chunks(20) {
            let mut ears = Vec::new();
            for after in some {
                ears.extend(
                    self.listen(Some(after.clone()))
                        .await
                        .into_iter()
                        .map(|ear| (after, ear)),
                );
            }
            let end = self.end().await;
            for (after, mut ear) in ears {
                let heard = hear(&mut ear, &end, &mut Vec::new()).await;
                says_only(
                    &heard,
                    &listed,
                    usize::MAX,
                    &format!("{when}, from {after}"),
                );
            }
        }
    }

    /// Somebody does something at one of the servers, and may be refused.
    async fn step(&self, dice: &mut Dice) {
        let server = &self.servers[dice.below(self.servers.len())];
        let who = if dice.one_in(2) { &self.ada } else { &self.ben };
        let client = server.client().api_token(&who.token).build().unwrap();
        match dice.below(12) {
            0 => {
                let form = Form::of("file").file(
                    "content",
                    &format!("{}.txt", self.words.new_word()),
                    "text/plain",
                    b"x",
                );
                form.posted(&client, MESSAGES).await;
            }
            1 | 2 => {
                let (token, body) = (self.tool.clone(), self.pushed(dice));
                let request = token.request(Method::POST, "/messages").json(&body);
                request.done().await.unwrap();
            }
            _ => {
                let (method, path, body) = self.deed(dice, who);
                let request = client.request(method.clone(), &path);
                let request = if body.is_null() {
                    request
                } else {
                    request.json(&body)
                };
                let answer = request.send().await.unwrap();
                assert!(
                    answer.status.as_u16() < 500,
                    "{method} {path} {body}: {}",
                    answer.text()
                );
            }
        }
    }

    fn text(&self, dice: &mut Dice) -> String {
        let (one, tag) = (self.words.new_word(), self.words.new_word());
        if dice.one_in(2) {
            format!("{one} #{tag} @everyone")
        } else {
            one
        }
    }

    fn deed(&self, dice: &mut Dice, who: &Caller) -> (Method, String, Json) {
        // Mostly something new.
        let last = self.words.next().max(4) / 2;
        let id = if dice.one_in(3) {
            1 + dice.below(last)
        } else {
            1 + last - dice.below(last.min(8))
        };
        let other = if who.id == self.ada.id {
            self.ben.id
        } else {
            self.ada.id
        };
        let talk = format!("/private/{other}/messages");
        let (message, said) = (
            format!("{MESSAGES}/{id}"),
            json!({"content": self.text(dice)}),
        );
        match dice.below(13) {
            0 | 1 => (Method::POST, MESSAGES.to_owned(), self.chat(dice)),
            2 | 3 => (Method::POST, format!("{message}/comments"), said),
            4 | 5 => (Method::PUT, message, said),
            6 | 7 => (Method::DELETE, message, Json::Null),
            8 => (
                Method::PUT,
                message,
                json!({"tags": [self.words.new_word()]}),
            ),
            9 => (Method::PUT, message, json!({"tags": []})),
            10 => (Method::POST, talk, self.chat(dice)),
            11 => (Method::PUT, format!("{talk}/{}", 1 + dice.below(12)), said),
            _ => (
                Method::DELETE,
                format!("{talk}/{}", 1 + dice.below(12)),
                Json::Null,
            ),
        }
    }

    fn chat(&self, dice: &mut Dice) -> Json {
        json!({"event": "message", "content": self.text(dice), "tags": [self.words.new_word()]})
    }

    /// An activity about one of a few tickets, often with a new state.
    fn pushed(&self, dice: &mut Dice) -> Json {
        let mut message = json!({
            "event": "activity", "external_thread_id": format!("ticket {}", dice.below(3)),
            "title": self.words.new_word(), "body": format!("<p>{}</p>", self.words.new_word()),
        });
        if dice.one_in(2) {
            let (title, body) = (
                self.words.new_word(),
                format!("<p>{}</p>", self.words.new_word()),
            );
            message["thread"] = json!({"title": title, "body": body});
        }
        message
    }
}
