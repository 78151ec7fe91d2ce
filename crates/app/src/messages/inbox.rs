//! What integrations post into the inbox: activities and discussions, and the threads they keep
//! (specification, section 4, Push path).

use std::sync::Arc;

use eddyline_model::RoomId;
use eddyline_model::items::{Item, MAX_BODY_BYTES, MAX_TITLE_CHARS};
use eddyline_model::messages::ThreadPost;
use eddyline_model::sources::{Keeper, ThreadSource};
use eddyline_model::users::User;
use eddyline_storage::Session;
use eddyline_wire::{Attachment, Author, InboxContent};

use crate::actor::Actor;
use crate::rooms::Room;
use crate::sources::acting;
use crate::{App, Error, FieldErrors, Result};

/// The most characters of a title that is made of a body.
const MADE_TITLE_CHARS: usize = 200;

/// What an activity or a discussion says, as somebody wrote it.
#[derive(Clone, Debug, Default)]
pub struct NewInbox {
    /// Who did it; the caller, unless somebody else is named.
    pub author: Option<Author>,
    /// What happened.
    pub title: String,
    /// What was said.
    pub body: String,
    /// The new state of the thread's item.
    pub item: Option<Item>,
}

/// Who posts into the inbox.
#[derive(Clone, Debug)]
pub(crate) struct Poster {
    pub(crate) keeper: Keeper,
    pub(crate) source: Option<Arc<ThreadSource>>,
}

impl NewInbox {
    /// The same with its HTML made harmless.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`].
    pub(crate) fn checked(&self) -> Result<Self> {
        let mut errors = FieldErrors::new();
        let mut wrong = |name: &str, text: String| errors.entry(name.to_owned()).or_default().push(text);
        if self.title.chars().count() > MAX_TITLE_CHARS {
            wrong("title", format!("is too long (maximum is {MAX_TITLE_CHARS} characters)"));
        }
        if self.body.len() > MAX_BODY_BYTES {
            wrong("body", format!("is too long (maximum is {MAX_BODY_BYTES} bytes)"));
        }
        let title = eddyline_markup::title(self.title.trim());
        if title.trim().is_empty() && eddyline_markup::body(&self.body, |_| None).trim().is_empty() {
            wrong("title", "can't be blank when there is no body".into());
        }
        let item = self.item.as_ref().map(harmless);
        if item.as_ref().is_some_and(|item| item.title.trim().is_empty()) {
            wrong("thread[title]", "can't be blank".into());
        }
        if errors.is_empty() { Ok(Self { title, item, ..self.clone() }) } else { Err(Error::Invalid(errors)) }
    }

    /// The document that is kept, of `user` unless it names somebody else. References of the body to
    /// attachments become their paths.
    pub(crate) fn content(
        &self,
        user: Option<&User>,
        attachments: Vec<Attachment>,
        base: &str,
    ) -> InboxContent {
        let body = eddyline_markup::body(&self.body, |cid| {
            let found = attachments.iter().find(|file| file.content_id.as_deref() == Some(cid));
            found.map(|file| file.path.clone())
        });
        let author = self.author.clone().or_else(|| {
            let user = user?;
            let avatar = eddyline_wire::User::of(user, base).avatar;
            Some(Author { name: user.name.clone(), avatar: Some(avatar) })
        });
        InboxContent { author, title: self.title.clone(), body, attachments }
    }

    /// What the post says of its thread, which has this id with whoever posts.
    pub(crate) fn thread(&self, poster: &Poster, external_id: Option<&str>) -> ThreadPost {
        let title = match self.title.trim().is_empty() {
            false => self.title.clone(),
            true => {
                let text = eddyline_markup::text(&self.body);
                let line: String =
                    text.lines().next().unwrap_or_default().chars().take(MADE_TITLE_CHARS).collect();
                eddyline_markup::escape(&line)
            }
        };
        ThreadPost {
            keeper: poster.keeper,
            source: poster.source.clone(),
            external_id: external_id.map(str::to_owned),
            begins: true,
            item: self.item.clone().map(Arc::new),
            title,
        }
    }
}

/// An item whose HTML can do no harm.
fn harmless(item: &Item) -> Item {
    let mut item = item.clone();
    item.title = eddyline_markup::title(item.title.trim());
    item.body = eddyline_markup::body(&item.body, |_| None);
    for field in &mut item.fields {
        field.value = eddyline_markup::title(&field.value);
    }
    item
}

impl App {
    /// For whom a caller posts into the inbox of a room. Users do that through an application, for its
    /// one source there, if they name the thread by an id of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] without an application, [`Error::Invalid`] when the application has no source or
    /// several.
    pub(crate) async fn poster(&self, actor: &Actor, room: &Room, by_own_id: bool) -> Result<Poster> {
        if let Actor::FlowToken { keeper, source, .. } = actor {
            return Ok(Poster { keeper: *keeper, source: source.clone() });
        }
        let application = acting(actor).ok_or(Error::Denied)?;
        let room = room.id();
        let mut own = self.store().read(move |session| own_sources(session, application, room)).await?;
        match (own.pop(), own.is_empty()) {
            (Some(only), true) => Ok(only),
            _ if !by_own_id => {
                let keeper = Keeper { source: None, application: Some(application) };
                Ok(Poster { keeper, source: None })
            }
            (None, _) => Err(Error::field(
                "external_thread_id",
                "can't be used, because the application has no source in this flow",
            )),
            (Some(_), false) => Err(Error::field(
                "external_thread_id",
                "can't be used, because the application has several sources in this flow; name the thread_id",
            )),
        }
    }
}

fn own_sources(
    session: &mut Session<'_>,
    application: eddyline_model::ApplicationId,
    room: RoomId,
) -> eddyline_storage::Result<Vec<Poster>> {
    let mut posters = Vec::new();
    for source in session.application_sources(application)? {
        if source.room == room {
            let shown = session.source_shown(&source)?;
            let keeper = Keeper { source: Some(source.id), application: source.application };
            posters.push(Poster { keeper, source: Some(Arc::new(shown)) });
        }
    }
    Ok(posters)
}
