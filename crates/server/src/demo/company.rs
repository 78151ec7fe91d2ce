//! The people of the demonstration, and how they speak.

use std::net::Ipv4Addr;

use eddyline_app::streaming::PresenceState;
use eddyline_app::{
    Actor, App, Credentials, Error, NewPerson, NewPost, Posted, ReactionChange, Room, Secret,
};
use eddyline_model::messages::MessageKind;
use eddyline_model::names::Email;
use eddyline_model::policy::FlowAction;
use eddyline_model::{MessageId, UserId};

use super::ORGANIZATION;
use crate::CommandError;

/// Who is in the organization. The visitor is Ada.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persona {
    Ada,
    Grace,
    Alan,
    Katherine,
    Hedy,
    Charles,
    /// A bot.
    Eddy,
}

impl Persona {
    pub(super) const EACH: [Self; 7] = [
        Self::Ada,
        Self::Grace,
        Self::Alan,
        Self::Katherine,
        Self::Hedy,
        Self::Charles,
        Self::Eddy,
    ];

    /// Those who talk in flows, and answer there.
    pub(super) const TALKING: [Self; 4] = [Self::Grace, Self::Alan, Self::Katherine, Self::Hedy];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ada => "Ada Lovelace",
            Self::Grace => "Grace Hopper",
            Self::Alan => "Alan Turing",
            Self::Katherine => "Katherine Johnson",
            Self::Hedy => "Hedy Lamarr",
            Self::Charles => "Charles Babbage",
            Self::Eddy => "Eddy",
        }
    }

    pub(super) fn nick(self) -> &'static str {
        self.name().split(' ').next().unwrap_or_default()
    }

    pub(super) fn email(self) -> String {
        format!("{}@demo.example", self.nick().to_lowercase())
    }

    /// How they are shown; the visitor shows herself.
    pub(super) fn presence(self) -> PresenceState {
        match self {
            Self::Grace | Self::Katherine | Self::Eddy => PresenceState::Active,
            Self::Alan | Self::Hedy => PresenceState::Idle,
            Self::Ada | Self::Charles => PresenceState::Offline,
        }
    }

    /// What they say about themselves.
    pub(super) fn status(self) -> Option<&'static str> {
        match self {
            Self::Alan => Some("In the climate chamber"),
            Self::Hedy => Some("On the train, slow to answer"),
            Self::Charles => Some("On leave until Monday"),
            _ => None,
        }
    }
}

/// Where something is said.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// A flow, as `organization/flow` or by its id.
    pub(super) flow: String,
    /// A thread in it, by its id.
    pub(super) thread: Option<String>,
}

impl Spot {
    /// The chat of a flow of the organization.
    pub(super) fn chat(flow: &str) -> Self {
        Self {
            flow: format!("{ORGANIZATION}/{flow}"),
            thread: None,
        }
    }
}

/// Something that was said.
#[derive(Clone, Debug)]
pub(super) struct SentLine {
    pub(super) message: MessageId,
    /// Where answers to it belong.
    pub(super) spot: Spot,
}

/// The people as callers of the server.
#[derive(Clone)]
pub(super) struct Company {
    pub(super) app: App,
    /// In the order of [`Persona::EACH`]; `None` for those who were removed.
    actors: Vec<Option<Actor>>,
}

impl Company {
    /// Makes an account for each, in all of the flows.
    pub(super) async fn create(app: &App, flows: &[&str]) -> Result<Self, CommandError> {
        let mut actors = Vec::new();
        for persona in Persona::EACH {
            let email: Email = persona.email().parse()?;
            let person = NewPerson {
                id: None,
                organization: ORGANIZATION.to_owned(),
                email: email.clone(),
                name: persona.name().to_owned(),
                nick: persona.nick().parse()?,
                password: None,
                admin: persona == Persona::Ada,
                bot: persona == Persona::Eddy,
            };
            let (_, token) = app.operator().create_user(person).await?;
            for flow in flows {
                app.operator()
                    .add_flow_user(ORGANIZATION, flow, &email)
                    .await?;
            }
            actors.push(Some(sign_in(app, token).await?));
        }
        Ok(Self {
            app: app.clone(),
            actors,
        })
    }

    /// The people of a demonstration that is taken up again, as far as they are still there.
    pub(super) async fn find(app: &App) -> Result<Self, CommandError> {
        let mut actors = Vec::new();
        for persona in Persona::EACH {
            let email = persona.email().parse()?;
            actors.push(match app.operator().create_user_token(&email).await {
                Ok((_, token)) => sign_in(app, token).await.ok(),
                Err(_) => None,
            });
        }
        Ok(Self {
            app: app.clone(),
            actors,
        })
    }

    /// A person as a caller.
    pub(super) fn actor(&self, persona: Persona) -> Result<&Actor, Error> {
        let actor = self.actors[persona as usize].as_ref();
        actor.ok_or_else(Error::not_found)
    }

    pub(super) fn user_id(&self, persona: Persona) -> Option<UserId> {
        self.actor(persona).ok()?.user_id()
    }

    /// Says something in a flow.
    pub(super) async fn say(
        &self,
        persona: Persona,
        spot: &Spot,
        text: &str,
    ) -> Result<SentLine, Error> {
        let post = NewPost::of(MessageKind::Message, text.to_owned());
        self.post(persona, spot, post).await
    }

    /// Posts something into a flow.
    pub(super) async fn post(
        &self,
        persona: Persona,
        spot: &Spot,
        post: NewPost,
    ) -> Result<SentLine, Error> {
        let room = self.room(persona, &spot.flow).await?;
        let post = NewPost {
            thread_id: spot.thread.clone(),
            wait: true,
            ..post
        };
        let messages = self.app.messages();
        match messages
            .post(self.actor(persona)?, room.clone(), post)
            .await?
        {
            Posted::Message(view) => {
                let (id, root) = (view.message.id, view.message.thread_root);
                let thread = room
                    .id()
                    .zip(root)
                    .map(|(room, root)| self.app.encoder().thread_id(room, root));
                Ok(SentLine {
                    message: id,
                    spot: Spot {
                        flow: spot.flow.clone(),
                        thread,
                    },
                })
            }
            Posted::Accepted => Err(Error::internal("a post was not waited for")),
        }
    }

    /// Reacts to a message of a flow.
    pub(super) async fn react(
        &self,
        persona: Persona,
        flow: &str,
        message: MessageId,
        emoji: &str,
    ) -> Result<(), Error> {
        let emoji = emoji
            .parse()
            .map_err(|_| Error::internal(format!("{emoji} is no emoji")))?;
        let room = self.room(persona, flow).await?;
        self.app
            .messages()
            .react(
                self.actor(persona)?,
                &room,
                message,
                emoji,
                ReactionChange::Add,
            )
            .await
    }

    async fn room(&self, persona: Persona, flow: &str) -> Result<Room, Error> {
        let rooms = self.app.rooms();
        let room = rooms
            .find_named(self.actor(persona)?, flow, FlowAction::Post)
            .await?;
        Ok(room.into())
    }
}

/// An account as a caller.
async fn sign_in(app: &App, token: Secret) -> Result<Actor, Error> {
    app.authentication()
        .authenticate(Credentials::Token(token), Ipv4Addr::LOCALHOST.into())
        .await
}
