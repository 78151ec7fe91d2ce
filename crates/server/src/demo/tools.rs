//! The tools of the demonstration: what they report into the inbox, and what their buttons do.

use std::net::SocketAddr;

use eddyline_app::{
    Actor, App, ApplicationChanges, Error, NewApplication, NewInbox, NewPost, NewSource, Posted,
    Pushed, Secret,
};
use eddyline_model::items::{Action, ActionMethod, EntryPoint, Field, Item, Status};
use eddyline_model::messages::MessageKind;
use eddyline_wire::Author;
use serde::{Deserialize, Serialize};

use super::company::{Persona, Spot};
use super::stories::{SERIES, Series, Story, StoryState, TOOLS};
use super::{MAIN, ORGANIZATION};
use crate::CommandError;

/// How a tool is known to the server. It is kept with the data, so that a demonstration that is
/// taken up again goes on in the same threads.
#[derive(Serialize, Deserialize)]
pub(super) struct ToolAccess {
    pub(super) client_id: String,
    secret: String,
    flow_token: String,
}

impl ToolAccess {
    /// Registers a tool with a source in the main flow.
    pub(super) async fn register(app: &App, name: &str) -> Result<Self, CommandError> {
        let about = ApplicationChanges {
            name: name.to_owned(),
            redirect_uris: vec!["https://tools.example/callback".parse()?],
            configuration_uri: None,
            setup_uri: None,
            icon_url: None,
            password_grant: false,
            out_of_band: false,
        };
        let public = false;
        let new = NewApplication { public, about };
        let (application, secret) = app.operator().create_application(ORGANIZATION, new).await?;
        let new = NewSource {
            name: name.to_owned(),
            external_url: None,
        };
        let source = app
            .operator()
            .create_source(ORGANIZATION, MAIN, &application.client_id, new)
            .await?;
        Ok(Self {
            client_id: application.client_id,
            secret: secret.map_or_else(String::new, |secret| secret.expose().to_owned()),
            flow_token: source.flow_token.unwrap_or_default(),
        })
    }

    /// What its requests are signed with.
    pub(super) fn secret(&self) -> Secret {
        Secret::presented(self.secret.as_str())
    }
}

/// Something to be said about an item, in its thread.
pub(super) struct Remark {
    /// The series of the item, and the state that it is about.
    series: usize,
    state: usize,
    pub(super) by: Persona,
    pub(super) spot: Spot,
    pub(super) text: String,
}

/// The present item of a series.
struct Present {
    /// Which of the stories it is.
    story: usize,
    /// Its state; `None` when it has not begun.
    state: Option<usize>,
    number: u32,
}

/// A button that was pressed, as its address says.
#[derive(Clone, Copy)]
pub(super) struct Press<'a> {
    pub(super) series: usize,
    pub(super) external_id: &'a str,
    /// The state it leads to.
    pub(super) state: usize,
    /// Who pressed it.
    pub(super) by: &'a str,
}

/// The tools, as those who post into the inbox.
pub(super) struct Tools {
    app: App,
    actors: Vec<Actor>,
    access: Vec<ToolAccess>,
    /// Where they hear of their buttons.
    address: SocketAddr,
    present: Vec<Present>,
}

impl Tools {
    /// The tools with these accounts, whose buttons lead to this address.
    pub(super) async fn connect(
        app: &App,
        access: Vec<ToolAccess>,
        address: SocketAddr,
    ) -> Result<Self, CommandError> {
        if access.len() != TOOLS.len() {
            return Err("the tools of a demonstration are others by now".into());
        }
        let mut actors = Vec::new();
        for tool in &access {
            let token = Secret::presented(tool.flow_token.as_str());
            actors.push(app.authentication().by_flow_token(&token).await?);
        }
        let present = SERIES.iter().map(|series| Present {
            story: 0,
            state: None,
            number: series.first_number,
        });
        Ok(Self {
            app: app.clone(),
            actors,
            access,
            address,
            present: present.collect(),
        })
    }

    /// The tool that reports a series.
    pub(super) fn access(&self, series: usize) -> Option<&ToolAccess> {
        self.access.get(SERIES.get(series)?.tool)
    }

    /// Whether the item is still in the state that a remark is about.
    pub(super) fn suits(&self, remark: &Remark) -> bool {
        self.present[remark.series].state == Some(remark.state)
    }

    /// Lets what happened before the visitor came happen. Gives what is said about it.
    pub(super) async fn begin(&mut self) -> Result<Vec<Remark>, Error> {
        let mut remarks = Vec::new();
        // What is reported last stands first.
        for at in (0..SERIES.len()).rev() {
            for _ in 0..SERIES[at].ahead {
                remarks.extend(self.step(at).await?);
            }
        }
        Ok(remarks)
    }

    /// Takes up the items that [`Tools::begin`] reported in an earlier demonstration, as they were
    /// then: the buttons lead to this one now.
    pub(super) async fn begin_again(&mut self) -> Result<(), Error> {
        for at in (0..SERIES.len()).rev() {
            let last = SERIES[at].ahead.saturating_sub(1);
            self.enter(at, last, "").await?;
        }
        Ok(())
    }

    /// Lets the next thing happen in a series, unless that waits for the visitor. After the last state
    /// of an item another item begins.
    pub(super) async fn step(&mut self, at: usize) -> Result<Option<Remark>, Error> {
        let series = &SERIES[at];
        let present = &mut self.present[at];
        let now = present
            .state
            .map(|state| &series.stories[present.story].states[state]);
        if now.is_some_and(|now| now.waits) {
            return Ok(None);
        }
        let next = now.map_or(Some(0), |now| now.next);
        let state = next.unwrap_or_else(|| {
            present.story = (present.story + 1) % series.stories.len();
            present.number += 1;
            0
        });
        self.enter(at, state, "").await
    }

    /// Does what a button says, unless the item does not offer it any more.
    pub(super) async fn press(&mut self, press: Press<'_>) -> Result<Option<Remark>, Error> {
        let offered = self.present.get(press.series).is_some_and(|present| {
            let series = &SERIES[press.series];
            let state = present
                .state
                .map(|state| &series.stories[present.story].states[state]);
            series.external_id(present.number) == press.external_id
                && state.is_some_and(|state| {
                    state.buttons.iter().any(|(_, leads)| *leads == press.state)
                })
        });
        if !offered {
            return Err(Error::conflict("The item has changed"));
        }
        self.enter(press.series, press.state, press.by).await
    }

    /// Reports that an item is in a state now.
    async fn enter(
        &mut self,
        at: usize,
        state: usize,
        pressed_by: &str,
    ) -> Result<Option<Remark>, Error> {
        let (series, present) = (&SERIES[at], &mut self.present[at]);
        let story = &series.stories[present.story];
        present.state = Some(state);
        let number = present.number;
        let spot = self.report(at, number, story, state, pressed_by).await?;
        let remark = story.states[state].remark;
        Ok(remark.zip(spot).map(|((by, text), spot)| Remark {
            series: at,
            state,
            by,
            spot,
            text: numbered(text, number),
        }))
    }

    async fn report(
        &self,
        at: usize,
        number: u32,
        story: &Story,
        state: usize,
        pressed_by: &str,
    ) -> Result<Option<Spot>, Error> {
        let series = &SERIES[at];
        let external_id = series.external_id(number);
        let now = &story.states[state];
        let inbox = NewInbox {
            author: Some(Author {
                name: now.by.unwrap_or(pressed_by).to_owned(),
                avatar: None,
                avatar_path: None,
            }),
            title: numbered(now.did, number),
            body: String::new(),
            item: Some(self.item(at, number, story, now)),
        };
        let post = NewPost {
            pushed: Some(Pushed::Inbox(inbox)),
            external_thread_id: Some(external_id),
            wait: true,
            ..NewPost::of(MessageKind::Activity, String::new())
        };
        let actor = &self.actors[series.tool];
        let Actor::FlowToken { room, .. } = actor else {
            return Ok(None);
        };
        let room = self.app.rooms().of_flow_token(actor, *room).await?;
        let id = room.id();
        let Posted::Message(view) = self.app.messages().post(actor, room, post).await? else {
            return Ok(None);
        };
        Ok(view.message.thread_root.map(|root| Spot {
            thread: Some(self.app.encoder().thread_id(id, root)),
            ..Spot::chat(MAIN)
        }))
    }

    /// An item in one of its states.
    fn item(&self, at: usize, number: u32, story: &Story, now: &StoryState) -> Item {
        let series = &SERIES[at];
        let external_id = series.external_id(number);
        let actions = now.buttons.iter().map(|(name, leads)| Action::Update {
            name: (*name).to_owned(),
            description: None,
            target: EntryPoint::EntryPoint {
                url: format!("http://{}/{at}/{external_id}/{leads}", self.address),
                method: ActionMethod::Post,
            },
        });
        let fields = story.fields.iter().map(|(label, value)| Field {
            label: (*label).to_owned(),
            value: (*value).to_owned(),
        });
        let (status, color) = now.status;
        Item {
            title: numbered(story.title, number),
            body: story.body.to_owned(),
            external_url: Some(format!("https://example.com/items/{external_id}")),
            status: Some(Status {
                value: status.to_owned(),
                color: Some(color),
            }),
            fields: fields.collect(),
            actions: actions.collect(),
        }
    }
}

impl Series {
    /// The id that its tool has for an item.
    fn external_id(&self, number: u32) -> String {
        match self.has_numbers {
            true => format!("{}{number}", self.prefix),
            false => self.prefix.to_owned(),
        }
    }
}

/// A text with the number of its item.
fn numbered(text: &str, number: u32) -> String {
    text.replace("{n}", &number.to_string())
}

/// Registers all tools.
pub(super) async fn register_all(app: &App) -> Result<Vec<ToolAccess>, CommandError> {
    let mut access = Vec::new();
    for name in TOOLS {
        access.push(ToolAccess::register(app, name).await?);
    }
    Ok(access)
}
