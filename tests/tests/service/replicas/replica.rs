//! A client's copy of what its user sees, kept up by the stream alone.

use std::collections::BTreeMap;
use std::time::Duration;

use eddyline_client::{Json, StreamRequest};
use eddyline_model::UserId;
use eddyline_model::names::nick_key;
use eddyline_model::tags::{Context, Roster, reparse};
use eddyline_tests::{Caller, Listener};
use tokio::time::timeout;

use super::state::{self, FlowView, Said, View};

/// How long a copy waits for the event that makes it right.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Replica<'p> {
    person: &'p Caller,
    stream: Listener,
    at: Option<String>,
    view: View,
    /// Up to where flows are read. A new member has read what was said before.
    flows_read: BTreeMap<String, i64>,
    talks_read: BTreeMap<i64, i64>,
}

impl<'p> Replica<'p> {
    /// Opens the copy of somebody to whom nothing was said yet.
    pub(super) async fn open(person: &'p Caller) -> Self {
        let flows = person.get("/flows").await;
        let names: Vec<&str> = flows
            .as_array()
            .unwrap()
            .iter()
            .map(|flow| flow["id"].as_str().unwrap())
            .collect();
        let request = names
            .iter()
            .fold(StreamRequest::new().user(), |request, flow| {
                request.flow(flow)
            });
        let stream = Listener::open(&person.client, &request).await;
        let view = state::view(person).await;
        let read = |flow: &FlowView| flow.messages.keys().last().copied().unwrap_or(0);
        let flows_read = view
            .flows
            .iter()
            .map(|(id, flow)| (id.clone(), read(flow)))
            .collect();
        Self {
            person,
            stream,
            at: None,
            view,
            flows_read,
            talks_read: BTreeMap::new(),
        }
    }

    /// Takes in what was told until the copy is what the API answers, which must come.
    pub(super) async fn catch_up(&mut self, history: impl Fn() -> String) {
        loop {
            while let Ok(event) = timeout(Duration::ZERO, self.stream.next()).await {
                self.at = event.id.or(self.at.take());
                self.take(&event.json).await;
            }
            self.count_unread();
            let answered = state::view(self.person).await;
            if self.view == answered {
                return;
            }
            match timeout(PATIENCE, self.stream.next()).await {
                Ok(event) => {
                    self.at = event.id.or(self.at.take());
                    self.take(&event.json).await;
                }
                Err(_) => {
                    let (copy, answered) = (format!("{:#?}", self.view), format!("{answered:#?}"));
                    let (has, is) = first_difference(&copy, &answered);
                    panic!(
                        "{}\nuser {} has\n{has}\nbut is answered\n{is}",
                        history(),
                        self.person.id
                    );
                }
            }
        }
    }

    async fn take(&mut self, event: &Json) {
        let content = &event["content"];
        match event["event"].as_str().unwrap() {
            "flow-add" => self.join(content).await,
            "flow-remove" => drop(self.view.flows.remove(content["id"].as_str().unwrap())),
            "user-edit" => self.rename(
                content["user"]["id"].as_i64().unwrap(),
                &content["user"]["nick"],
            ),
            "read" => self.read(content),
            "presence" | "activity.user" => {}
            kind => {
                if let Some(to) = event["to"].as_str() {
                    self.take_private(event, kind, to.parse().unwrap());
                } else if let Some(flow) = self.view.flows.get_mut(event["flow"].as_str().unwrap())
                {
                    take_of_flow(flow, event, kind);
                }
            }
        }
    }

    /// Asks for the flow as it is, and listens to it from here on.
    async fn join(&mut self, flow: &Json) {
        let id = flow["id"].as_str().unwrap();
        let mut request = StreamRequest::new()
            .user()
            .flow(id)
            .after(self.at.as_deref().unwrap());
        for known in self.view.flows.keys().filter(|known| *known != id) {
            request = request.flow(known);
        }
        self.stream = Listener::open(&self.person.client, &request).await;
        let view = state::flow(self.person, flow).await;
        let last = view.messages.keys().last().copied().unwrap_or(0);
        self.view.flows.insert(id.to_owned(), view);
        self.flows_read.insert(id.to_owned(), last);
    }

    fn rename(&mut self, user: i64, nick: &Json) {
        for flow in self.view.flows.values_mut() {
            if let Some((known, _)) = flow.users.get_mut(&user) {
                nick.as_str().unwrap().clone_into(known);
            }
        }
    }

    fn read(&mut self, content: &Json) {
        let message = content["message"].as_i64().unwrap();
        if content["marker"] == "inbox" || content["thread_id"].is_string() {
            return;
        }
        if let Some(flow) = content["flow"].as_str() {
            self.flows_read.insert(flow.to_owned(), message);
        } else {
            self.talks_read
                .insert(content["to"].as_str().unwrap().parse().unwrap(), message);
        }
    }

    fn take_private(&mut self, event: &Json, kind: &str, to: i64) {
        let from: i64 = event["user"].as_str().unwrap().parse().unwrap();
        let other = if from == self.person.id { to } else { from };
        let talk = self.view.talks.entry(other).or_default();
        match kind {
            "message" => drop(
                talk.messages
                    .insert(event["id"].as_i64().unwrap(), Said::of(event)),
            ),
            "message-edit" => {
                let said = talk
                    .messages
                    .get_mut(&event["content"]["message"].as_i64().unwrap())
                    .unwrap();
                said.content = event["content"]["updated_content"].clone();
                said.edited = true;
            }
            other => panic!("{other}"),
        }
    }

    fn count_unread(&mut self) {
        let unread = format!(":unread:{}", self.person.id);
        for (id, flow) in &mut self.view.flows {
            let read = self.flows_read[id];
            let later = flow.messages.range(read + 1..).map(|(_, said)| said);
            flow.unread = later.filter(|said| said.tags.contains(&unread)).count() as i64;
        }
        for (other, talk) in &mut self.view.talks {
            let read = self.talks_read.get(other).copied().unwrap_or(0);
            let later = talk.messages.range(read + 1..).map(|(_, said)| said);
            talk.unread = later
                .filter(|said| said.user != self.person.id && said.content != "")
                .count() as i64;
        }
    }
}

/// Where two texts begin to differ, with some lines around it.
fn first_difference(one: &str, other: &str) -> (String, String) {
    let same = one
        .lines()
        .zip(other.lines())
        .take_while(|(one, other)| one == other)
        .count();
    let part = |text: &str| {
        text.lines()
            .skip(same.saturating_sub(14))
            .take(28)
            .collect::<Vec<_>>()
            .join("\n")
    };
    (part(one), part(other))
}

fn take_of_flow(flow: &mut FlowView, event: &Json, kind: &str) {
    let content = &event["content"];
    match kind {
        "backend.user.join" => {
            let nick = content["user"]["nick"].as_str().unwrap().to_owned();
            flow.users
                .insert(content["user"]["id"].as_i64().unwrap(), (nick, false));
        }
        "backend.user.block" => {
            let user: i64 = content.as_str().unwrap().parse().unwrap();
            flow.users.get_mut(&user).unwrap().1 = true;
        }
        "flow-change" => content["name"].as_str().unwrap().clone_into(&mut flow.name),
        "message-edit" => edit(
            flow,
            content["message"].as_i64().unwrap(),
            &content["updated_content"],
        ),
        "tag-change" => {
            let said = flow
                .messages
                .get_mut(&content["message"].as_i64().unwrap())
                .unwrap();
            let list = |name: &str| {
                content[name]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tag| tag.as_str().unwrap().to_owned())
            };
            let removed: Vec<String> = list("remove").collect();
            said.tags.retain(|tag| !removed.contains(tag));
            said.tags.extend(list("add"));
            said.tags.sort();
        }
        _ => {
            if kind == "action" && content["type"] == "leave" {
                flow.users
                    .remove(&event["user"].as_str().unwrap().parse().unwrap());
            }
            flow.messages
                .insert(event["id"].as_i64().unwrap(), Said::of(event));
        }
    }
}

/// The text is told, and the tags follow from it. Everybody here tags by text alone.
fn edit(flow: &mut FlowView, id: i64, text: &Json) {
    let roster = People(&flow.users);
    let Some(said) = flow.messages.get_mut(&id) else {
        return;
    };
    let answered: Vec<String> = said
        .tags
        .iter()
        .filter(|tag| tag.starts_with(":influx:"))
        .cloned()
        .collect();
    let context = Context {
        roster: &roster,
        sender: Some(UserId(said.user)),
        has_attachments: false,
    };
    let mut tags = match text.as_str().unwrap() {
        "" => Vec::new(),
        text => reparse(&said.tags.clone().into(), &[], text, &context)
            .tags
            .to_vec(),
    };
    tags.extend(answered);
    tags.sort();
    said.tags = tags;
    said.content = text.clone();
    said.edited = true;
    let tag = format!(":influx:{id}");
    for comment in flow
        .messages
        .values_mut()
        .filter(|said| said.tags.contains(&tag))
    {
        comment.title = Some(text.as_str().unwrap().to_owned());
    }
}

/// Those who can be mentioned.
struct People<'f>(&'f BTreeMap<i64, (String, bool)>);

impl People<'_> {
    fn enabled(&self) -> impl Iterator<Item = (UserId, &str)> {
        self.0
            .iter()
            .filter(|(_, (_, blocked))| !blocked)
            .map(|(id, (nick, _))| (UserId(*id), nick.as_str()))
    }
}

impl Roster for People<'_> {
    fn by_nick(&self, key: &str) -> Option<UserId> {
        self.enabled()
            .find(|(_, nick)| nick_key(nick) == key)
            .map(|(id, _)| id)
    }

    fn contains(&self, user: UserId) -> bool {
        self.enabled().any(|(id, _)| id == user)
    }

    fn users(&self) -> impl Iterator<Item = UserId> {
        self.enabled().map(|(id, _)| id)
    }
}
