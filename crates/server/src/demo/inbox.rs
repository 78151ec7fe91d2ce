//! What tools report into the inbox of the demonstration: items that go on from state to state.

use eddyline_app::{
    Actor, App, ApplicationChanges, Error, NewApplication, NewInbox, NewPost, NewSource, Posted,
    Pushed, Secret,
};
use eddyline_model::MessageId;
use eddyline_model::items::{Color, Field, Item, Status};
use eddyline_model::messages::MessageKind;
use eddyline_wire::Author;

use super::{FLOW, ORGANIZATION};
use crate::CommandError;

/// An item of a tool.
struct Story {
    /// Which of [`SOURCES`] it comes from.
    source: usize,
    external_id: &'static str,
    title: &'static str,
    body: &'static str,
    fields: &'static [(&'static str, &'static str)],
    /// What happens to it, one after the other: who did it, what, and how the item is then.
    steps: &'static [(&'static str, &'static str, &'static str, Color)],
}

const SOURCES: [&str; 3] = ["Ledger", "Forge", "Millrace"];

const STORIES: [Story; 5] = [
    Story {
        source: 0,
        external_id: "212",
        title: "Gateway drops packets above 80 % humidity",
        body: "Gateways near the water lose up to 12 % of their packets in fog. The log has no radio errors, and a restart does not help.",
        fields: &[
            ("Assigned to", "Alan Turing"),
            ("Priority", "High"),
            ("Sites", "7, 14 and 31"),
        ],
        steps: &[
            ("Grace Hopper", "opened it", "New", Color::Cyan),
            (
                "Alan Turing",
                "reproduced it in the climate chamber",
                "Investigating",
                Color::Yellow,
            ),
            ("Alan Turing", "found the connector", "In work", Color::Blue),
            ("Alan Turing", "closed it", "Fixed", Color::Green),
        ],
    },
    Story {
        source: 1,
        external_id: "87",
        title: "Retry uploads with a longer pause",
        body: "The pause between two attempts doubles up to 30 seconds.",
        fields: &[
            ("Author", "Grace Hopper"),
            (
                "Branch",
                "<a href=\"https://example.com/forge/retry\">retry</a>",
            ),
        ],
        steps: &[
            ("Grace Hopper", "opened it", "Open", Color::Cyan),
            ("Ada Lovelace", "asked for a test", "In review", Color::Blue),
            (
                "Grace Hopper",
                "pushed two commits",
                "In review",
                Color::Blue,
            ),
            ("Ada Lovelace", "merged it", "Merged", Color::Purple),
        ],
    },
    Story {
        source: 2,
        external_id: "main",
        title: "Build of main",
        body: "",
        fields: &[("Commit", "4f1c9a7"), ("Started by", "Grace Hopper")],
        steps: &[
            ("Millrace", "started build 1815", "Running", Color::Yellow),
            (
                "Millrace",
                "build 1815 failed after 3 min 12 s",
                "Failed",
                Color::Red,
            ),
            ("Millrace", "started build 1816", "Running", Color::Yellow),
            (
                "Millrace",
                "build 1816 passed after 4 min 2 s",
                "Passed",
                Color::Green,
            ),
        ],
    },
    Story {
        source: 0,
        external_id: "198",
        title: "Release 2.4",
        body: "What has to be done before it ships.",
        fields: &[("Due", "Friday")],
        steps: &[
            (
                "Ada Lovelace",
                "ticked “Release notes”",
                "5 of 9 done",
                Color::Cyan,
            ),
            (
                "Alan Turing",
                "ticked “Upgrade tested”",
                "6 of 9 done",
                Color::Cyan,
            ),
            (
                "Grace Hopper",
                "ticked “Backup restored”",
                "7 of 9 done",
                Color::Cyan,
            ),
        ],
    },
    Story {
        source: 0,
        external_id: "209",
        title: "Data gap on 17 November",
        body: "The provider lost power for two hours.",
        fields: &[("Assigned to", "Grace Hopper")],
        steps: &[("Grace Hopper", "closed it", "Closed", Color::Grey)],
    },
];

/// Registers a tool, and gives who posts by its source.
async fn add_source(app: &App, name: &str) -> Result<Actor, CommandError> {
    let about = ApplicationChanges {
        name: name.to_owned(),
        redirect_uris: vec!["https://tools.example/callback".parse()?],
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: false,
        out_of_band: false,
    };
    let new = NewApplication {
        public: true,
        about,
    };
    let (application, _) = app.operator().create_application(ORGANIZATION, new).await?;
    let new = NewSource {
        name: name.to_owned(),
        external_url: None,
    };
    let source = app
        .operator()
        .create_source(ORGANIZATION, FLOW, &application.client_id, new)
        .await?;
    let token = Secret::presented(source.flow_token.unwrap_or_default());
    Ok(app.authentication().by_flow_token(&token).await?)
}

/// The tools of the demonstration, as those who post into its inbox.
pub(super) struct Tools {
    actors: Vec<Actor>,
    /// The next step of each story.
    next: Vec<usize>,
}

impl Tools {
    /// Registers the tools and lets them report what has happened so far.
    pub(super) async fn set_up(app: &App) -> Result<Self, CommandError> {
        let mut actors = Vec::new();
        for name in SOURCES {
            actors.push(add_source(app, name).await?);
        }
        let mut tools = Self {
            actors,
            next: vec![0; STORIES.len()],
        };
        for story in (0..STORIES.len()).rev() {
            // The last ones are over; the first ones have just begun.
            for _ in 0..(story + 1).min(STORIES[story].steps.len()) {
                tools.step(app, story).await?;
            }
        }
        Ok(tools)
    }

    /// Lets something happen to an item; after its last state it begins anew. Gives the first
    /// message of its thread.
    pub(super) async fn step(
        &mut self,
        app: &App,
        story: usize,
    ) -> Result<Option<MessageId>, Error> {
        let at = story % STORIES.len();
        let story = &STORIES[at];
        let (author, title, status, color) = story.steps[self.next[at] % story.steps.len()];
        self.next[at] += 1;
        let item = Item {
            title: story.title.to_owned(),
            body: story.body.to_owned(),
            external_url: Some(format!("https://example.com/items/{}", story.external_id)),
            status: Some(Status {
                value: status.to_owned(),
                color: Some(color),
            }),
            fields: story
                .fields
                .iter()
                .map(|(label, value)| Field {
                    label: (*label).to_owned(),
                    value: (*value).to_owned(),
                })
                .collect(),
            ..Item::default()
        };
        let author = Author {
            name: author.to_owned(),
            avatar: None,
        };
        let inbox = NewInbox {
            author: Some(author),
            title: title.to_owned(),
            body: String::new(),
            item: Some(item),
        };
        let post = NewPost {
            pushed: Some(Pushed::Inbox(inbox)),
            external_thread_id: Some(story.external_id.to_owned()),
            wait: true,
            ..NewPost::of(MessageKind::Activity, String::new())
        };
        let actor = &self.actors[story.source];
        let Actor::FlowToken { room, .. } = actor else {
            return Ok(None);
        };
        let room = app.rooms().of_flow_token(actor, *room).await?;
        Ok(match app.messages().post(actor, room, post).await? {
            Posted::Message(view) => view.message.thread_root,
            Posted::Accepted => None,
        })
    }
}
