//! What stands around every page of the client: the flows of the reader, and who the reader is.

use eddyline_app::{Actor, PageFrame, PageNotifications};
use eddyline_model::notifications::NotificationLevel;
use eddyline_model::{EventId, FlowId};
use eddyline_wire::{Flow, PrivateConversation, User, UserPresence};

use crate::error::PageError;
use crate::language::Language;
use crate::pages::assets;
use crate::texts::Texts;
use crate::theme::Theme;
use crate::visit::Visit;

/// The list of flows beside the page, and what its script needs.
pub(super) struct Shell {
    pub(super) csrf: String,
    /// The event after which the stream goes on.
    pub(super) event: String,
    pub(super) me: Me,
    pub(super) tabs: Vec<Tab>,
    pub(super) conversations: Vec<PrivateTab>,
    /// The colours that the reader has chosen.
    pub(super) theme: Option<Theme>,
    pub(super) language: Language,
    /// The most bytes of a file, or 0 where none can be sent.
    pub(super) max_file: u64,
    /// The page over all rooms that this is.
    pub(super) here: &'static str,
    /// What this browser notifies the reader of.
    pub(super) notify: Notify,
    /// How many mentions are unread in the flows of the list.
    pub(super) mentions: i64,
    /// What stands above: the name of the flow's organization.
    pub(super) organization: String,
    /// The script, and the modules that it loads.
    pub(super) script: String,
    pub(super) modules: Vec<String>,
}

/// What a browser notifies its user of.
pub(super) struct Notify {
    /// The key with which it subscribes to push messages.
    pub(super) key: String,
    /// Whether it has.
    pub(super) is_pushed: bool,
    pub(super) level: &'static str,
    pub(super) shows_text: bool,
    /// From when until when it is quiet, such as `22:00-07:00`.
    pub(super) quiet: Option<String>,
}

/// The reader.
pub(super) struct Me {
    pub(super) id: i64,
    pub(super) nick: String,
    pub(super) name: String,
    pub(super) avatar: String,
}

/// A flow in the list.
pub(super) struct Tab {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) api: String,
    pub(super) current: bool,
    /// Whether the reader had closed it. The page's script opens it.
    pub(super) closed: bool,
    pub(super) unread: bool,
    pub(super) mentions: i64,
    /// What the reader is notified of there, where it is chosen.
    pub(super) notify: Option<&'static str>,
}

/// A private conversation in the list.
pub(super) struct PrivateTab {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) avatar: String,
    pub(super) current: bool,
    /// Whether the reader had closed it, as with a flow.
    pub(super) closed: bool,
    pub(super) unread: i64,
    /// The presence of the other user. `None` in the classic profile, whose API has none, and for a
    /// conversation that is closed.
    pub(super) presence: Option<UserPresence>,
}

impl Shell {
    /// The same for a page of no flow; `with` is the other user of a conversation.
    pub(super) async fn load(
        visit: &Visit,
        actor: &Actor,
        with: Option<&User>,
        event: EventId,
    ) -> Result<Self, PageError> {
        let frame = visit.app().page_frame(actor, None).await?;
        Self::around(visit, actor, frame, (None, with), event)
    }

    /// `shown` is the flow of the page, or `with` the other user of the conversation.
    pub(super) fn around(
        visit: &Visit,
        actor: &Actor,
        frame: PageFrame,
        (shown, with): (Option<&Flow>, Option<&User>),
        event: EventId,
    ) -> Result<Self, PageError> {
        let PageFrame {
            flows,
            conversations,
            presence,
            notifications: wanted,
            ..
        } = frame;
        let user = &actor.user()?.user;
        let base = &visit.app().config().addresses.base;
        let me = User::of(user, base);
        let organization = shown.or(flows.first()).map_or_else(
            || "Eddyline".to_owned(),
            |flow| flow.organization.name.clone(),
        );
        let mut conversations: Vec<PrivateTab> = conversations
            .iter()
            .filter_map(|conversation| {
                let tab = PrivateTab::of(conversation, with)?;
                let presence = presence.get(&tab.id).copied();
                Some(PrivateTab { presence, ..tab })
            })
            .collect();
        if let Some(with) = with
            && !conversations.iter().any(|tab| tab.current)
        {
            conversations.push(PrivateTab::new_with(with));
        }
        let key = visit.app().notifications().public_key();
        let tabs = flows
            .iter()
            .map(|flow| (flow, shown.is_some_and(|shown| shown.id == flow.id)))
            // A mention brings back what was closed.
            .filter(|(flow, is_shown)| flow.open || *is_shown || flow.unread_mentions > 0)
            .map(|(flow, is_shown)| {
                let tab = Tab::of(flow, is_shown);
                let level = wanted.levels.get(&FlowId(flow.id.clone()));
                tab.with_level(level.copied())
            });
        let language = visit.texts().language;
        Ok(Self {
            theme: visit.theme(),
            language,
            max_file: max_file(visit),
            csrf: visit.csrf().to_owned(),
            event: event.to_string(),
            mentions: flows.iter().map(|flow| flow.unread_mentions).sum(),
            here: "",
            notify: Notify::of(key, &wanted),
            tabs: tabs.collect(),
            conversations,
            me: Me {
                id: me.id,
                nick: me.nick,
                name: me.name,
                avatar: format!("{}72", me.avatar),
            },
            organization,
            script: assets::script_url("app.js", language),
            modules: assets::module_urls(language),
        })
    }
}

/// How a user appears, in a word.
pub(super) fn presence_word(presence: Option<UserPresence>, t: &'static Texts) -> &'static str {
    match presence {
        Some(UserPresence::Active) => &t.both.active,
        Some(UserPresence::Idle) => &t.both.idle,
        Some(UserPresence::Offline) | None => &t.both.offline,
    }
}

fn max_file(visit: &Visit) -> u64 {
    let files = &visit.app().config().files;
    files.place.as_ref().map_or(0, |_| files.max_bytes)
}

impl Shell {
    /// The same around a page over all rooms.
    pub(super) fn at(self, here: &'static str) -> Self {
        Self {
            here,
            script: assets::script_url("frame.js", self.language),
            modules: Vec::new(),
            ..self
        }
    }
}

impl Tab {
    fn of(flow: &Flow, current: bool) -> Self {
        let api = format!(
            "{}/{}",
            flow.organization.parameterized_name, flow.parameterized_name
        );
        Self {
            id: flow.id.clone(),
            name: flow.name.clone(),
            path: format!("/app/{api}"),
            api,
            current,
            closed: current && !flow.open,
            unread: flow.last_message_id.unwrap_or_default() > flow.read.unwrap_or_default(),
            mentions: flow.unread_mentions,
            notify: None,
        }
    }

    fn with_level(self, level: Option<NotificationLevel>) -> Self {
        Self {
            notify: level.map(NotificationLevel::as_str),
            ..self
        }
    }
}

impl Notify {
    fn of(key: String, wanted: &PageNotifications) -> Self {
        let settings = &wanted.settings;
        let quiet = settings.quiet.as_ref();
        Self {
            key,
            is_pushed: wanted.is_subscribed,
            level: settings.level.as_str(),
            shows_text: settings.shows_text,
            quiet: quiet.map(|quiet| format!("{}-{}", quiet.from, quiet.until)),
        }
    }
}

impl PrivateTab {
    /// What a screen reader says of how the other user appears.
    pub(super) fn presence_word(&self, t: &'static Texts) -> &'static str {
        presence_word(self.presence, t)
    }

    /// `None` for a conversation that is closed and has nothing new.
    fn of(conversation: &PrivateConversation, with: Option<&User>) -> Option<Self> {
        let current = with.is_some_and(|with| with.id == conversation.id);
        let unread = conversation.activity.mentions;
        let people = &conversation.users;
        let other = people.iter().find(|user| user.id == conversation.id)?;
        (conversation.open || unread > 0 || current).then(|| Self {
            id: conversation.id,
            name: other.name.clone(),
            avatar: format!("{}72", other.avatar),
            current,
            closed: current && !conversation.open,
            unread,
            presence: None,
        })
    }

    /// The tab of a conversation that does not exist yet.
    fn new_with(with: &User) -> Self {
        Self {
            id: with.id,
            name: with.name.clone(),
            avatar: format!("{}72", with.avatar),
            current: true,
            closed: true,
            unread: 0,
            presence: None,
        }
    }
}
