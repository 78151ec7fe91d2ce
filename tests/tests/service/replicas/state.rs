//! What a user sees: as the API answers it, and as a replica should hold it.

use std::collections::BTreeMap;

use eddyline_client::Json;
use eddyline_tests::Caller;

/// Everything a user sees.
#[derive(Debug, Default, PartialEq)]
pub(super) struct View {
    /// The flows they are in, by id.
    pub(super) flows: BTreeMap<String, FlowView>,
    /// Their private conversations, by the other's number.
    pub(super) talks: BTreeMap<i64, TalkView>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct FlowView {
    pub(super) name: String,
    /// Nick, and whether they are blocked.
    pub(super) users: BTreeMap<i64, (String, bool)>,
    pub(super) unread: i64,
    pub(super) messages: BTreeMap<i64, Said>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct TalkView {
    pub(super) unread: i64,
    pub(super) messages: BTreeMap<i64, Said>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) event: String,
    pub(super) user: i64,
    /// The text that a comment answers.
    pub(super) title: Option<String>,
    pub(super) content: Json,
    /// In no particular order.
    pub(super) tags: Vec<String>,
    pub(super) edited: bool,
}

impl Said {
    pub(super) fn of(message: &Json) -> Self {
        let comment = message["event"] == "comment";
        let mut tags: Vec<String> = message["tags"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tag| tag.as_str().unwrap().to_owned())
            .collect();
        tags.sort();
        Self {
            event: message["event"].as_str().unwrap().to_owned(),
            user: message["user"].as_str().unwrap().parse().unwrap(),
            title: comment.then(|| message["content"]["title"].as_str().unwrap().to_owned()),
            content: if comment {
                message["content"]["text"].clone()
            } else {
                message["content"].clone()
            },
            tags,
            edited: !message["edited"].is_null(),
        }
    }
}

/// Messages by number.
pub(super) fn said(list: &Json) -> BTreeMap<i64, Said> {
    let messages = list.as_array().unwrap();
    messages
        .iter()
        .map(|message| (message["id"].as_i64().unwrap(), Said::of(message)))
        .collect()
}

/// A flow as the API answers it.
pub(super) async fn flow(caller: &Caller, flow: &Json) -> FlowView {
    let path = flow["url"]
        .as_str()
        .unwrap()
        .split_once("/flows/")
        .unwrap()
        .1
        .to_owned();
    let whole = caller.get(&format!("/flows/{path}")).await;
    let users = whole["users"].as_array().unwrap().iter().map(|user| {
        let nick = user["nick"].as_str().unwrap().to_owned();
        (
            user["id"].as_i64().unwrap(),
            (nick, user["disabled"].as_bool().unwrap()),
        )
    });
    FlowView {
        name: whole["name"].as_str().unwrap().to_owned(),
        users: users.collect(),
        unread: whole["unread_mentions"].as_i64().unwrap(),
        messages: said(
            &caller
                .get(&format!("/flows/{path}/messages?limit=100"))
                .await,
        ),
    }
}

/// Everything as the API answers it.
pub(super) async fn view(caller: &Caller) -> View {
    let mut view = View::default();
    for listed in caller.get("/flows").await.as_array().unwrap() {
        let flow = flow(caller, listed).await;
        view.flows
            .insert(listed["id"].as_str().unwrap().to_owned(), flow);
    }
    for talk in caller.get("/private").await.as_array().unwrap() {
        let other = talk["id"].as_i64().unwrap();
        let unread = talk["activity"]["mentions"].as_i64().unwrap();
        assert_eq!(talk["activity"]["chat"], unread > 0, "{talk}");
        let messages = said(
            &caller
                .get(&format!("/private/{other}/messages?limit=100"))
                .await,
        );
        // One that was only opened is known from the list alone.
        if !messages.is_empty() {
            view.talks.insert(other, TalkView { unread, messages });
        }
    }
    view
}
