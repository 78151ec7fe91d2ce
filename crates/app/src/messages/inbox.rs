//! What integrations post into the inbox: activities and discussions, and the threads they keep
//! (specification, section 4, Push path).

use std::sync::Arc;

use eddyline_model::RoomId;
use eddyline_model::items::{Item, MAX_BODY_BYTES, MAX_TITLE_CHARS};
use eddyline_model::messages::ThreadPost;
use eddyline_model::sources::{Keeper, ThreadSource};
use eddyline_model::users::User;
use eddyline_storage::Session;
use eddyline_wire::{Attachment, Author, InboxContent, is_unseen};

use crate::actor::Actor;
use crate::rooms::Room;
use crate::sources::acting;
use crate::{App, Error, FieldErrors, Result};

/// The most characters of a title that is made of a body.
const MADE_TITLE_CHARS: usize = 200;

/// The most bytes of a body as it goes out.
const MAX_WRITTEN_BYTES: usize = 2 * MAX_BODY_BYTES;
/// The most bytes of the state of an item, which goes out with each message of its thread: enough for
/// one that is at every limit, and not for one that grew by escaping.
const MAX_ITEM_BYTES: usize = 256 * 1024;

/// Whether HTML of links only shows nothing.
fn is_blank(html: &str) -> bool {
    eddyline_markup::text(html).chars().all(|c| c.is_whitespace() || is_unseen(c))
}

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
    pub(crate) fn checked(&self, has_files: bool) -> Result<Self> {
        let mut errors = FieldErrors::new();
        let mut wrong = |name: &str, text: String| errors.entry(name.to_owned()).or_default().push(text);
        if self.title.chars().count() > MAX_TITLE_CHARS {
            wrong("title", format!("is too long (maximum is {MAX_TITLE_CHARS} characters)"));
        }
        if self.body.len() > MAX_BODY_BYTES {
            wrong("body", format!("is too long (maximum is {MAX_BODY_BYTES} bytes)"));
        }
        let title = eddyline_markup::title(self.title.trim());
        let body = eddyline_markup::body(&self.body, |_| None);
        if body.len() > MAX_WRITTEN_BYTES {
            wrong("body", format!("is too long when it is escaped (maximum is {MAX_WRITTEN_BYTES} bytes)"));
        }
        let silent = is_blank(&title) && body.trim().is_empty();
        if silent && self.item.is_none() && !has_files {
            wrong("title", "can't be blank when there is no body, no thread and no attachment".into());
        }
        let item = self.item.as_ref().map(harmless);
        if item.as_ref().is_some_and(|item| is_blank(&item.title)) {
            wrong("thread[title]", "can't be blank".into());
        }
        if item.as_ref().is_some_and(|item| item.weight() > MAX_ITEM_BYTES) {
            wrong(
                "thread",
                format!("is too large in all when it is escaped (maximum is {MAX_ITEM_BYTES} bytes)"),
            );
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
    ) -> Result<InboxContent> {
        let body = eddyline_markup::body(&self.body, |cid| {
            let found = attachments.iter().find(|file| file.content_id.as_deref() == Some(cid));
            found.map(|file| file.path.clone())
        });
        let author = self.author.clone().or_else(|| {
            let user = user?;
            let avatar = eddyline_wire::User::of(user, base).avatar;
            Some(Author { name: user.name.clone(), avatar: Some(avatar) })
        });
        // Paths are longer than what stood for them.
        if body.len() > MAX_WRITTEN_BYTES {
            let text = format!("is too long with its references (maximum is {MAX_WRITTEN_BYTES} bytes)");
            return Err(Error::field("body", text));
        }
        Ok(InboxContent { author, title: self.title.clone(), body, attachments })
    }

    /// What the post says of its thread, which has this id with whoever posts.
    pub(crate) fn thread(&self, poster: &Poster, external_id: Option<&str>) -> ThreadPost {
        let title =
            if is_blank(&self.title) { self.made_title(poster, external_id) } else { self.title.clone() };
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

impl NewInbox {
    /// A title for a thread that was given none: what the body begins with, or else what it is known by.
    fn made_title(&self, poster: &Poster, external_id: Option<&str>) -> String {
        let text = eddyline_markup::text(&self.body);
        let first = text.lines().find(|line| !is_blank(line));
        let source = poster.source.as_ref().map(|source| source.application.as_str());
        let title: String =
            first.or(external_id).or(source).unwrap_or("Inbox").chars().take(MADE_TITLE_CHARS).collect();
        eddyline_markup::escape(&title)
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

/// The sources of an application in a flow; more than one are as good as two.
fn own_sources(
    session: &mut Session<'_>,
    application: eddyline_model::ApplicationId,
    room: RoomId,
) -> eddyline_storage::Result<Vec<Poster>> {
    let found = session.application_sources_in(application, room, 2)?;
    let posters = found.into_iter().map(|source| {
        let shown = session.source_shown(&source)?;
        let keeper = Keeper { source: Some(source.id), application: source.application };
        Ok(Poster { keeper, source: Some(Arc::new(shown)) })
    });
    posters.collect()
}
