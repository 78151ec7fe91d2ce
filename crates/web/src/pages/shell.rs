//! What stands around every page of a signed-in user: the flows of the reader, and who the reader is.

use eddyline_app::{Actor, PageFrame, PageNotifications};
use eddyline_model::notifications::NotificationLevel;
use eddyline_model::{EventId, FlowId};
use eddyline_wire::{Flow, OrganizationSummary, PrivateConversation, User, UserPresence};

use crate::error::PageError;
use crate::language::Language;
use crate::pages::assets;
use crate::texts::{Menu, Texts};
use crate::theme::Theme;
use crate::visit::Visit;

/// What the link to a page says, in a language.
type LabelOf = fn(&Menu) -> &String;

/// The pages of the account, beside each of which is a list of them all: path and label.
const ACCOUNT_PAGES: [(&str, LabelOf); 6] = [
    ("/account", |menu| &menu.account),
    ("/account/notifications", |menu| &menu.notifications),
    ("/account/applications", |menu| &menu.applications),
    ("/account/tokens", |menu| &menu.tokens),
    ("/account/sessions", |menu| &menu.sessions),
    ("/developer", |menu| &menu.developer),
];

/// A link to one of [`ACCOUNT_PAGES`].
pub(in crate::pages) struct PageLink {
    pub(in crate::pages) path: &'static str,
    pub(in crate::pages) label: &'static str,
    /// The value of `aria-current`: `page` on that page, `true` on pages below it that have no link of
    /// their own.
    pub(in crate::pages) current: Option<&'static str>,
}

/// The list of flows beside the page, and what its script needs.
pub(in crate::pages) struct Shell {
    pub(in crate::pages) csrf: String,
    /// The event after which the stream goes on.
    pub(in crate::pages) event: String,
    pub(in crate::pages) me: Me,
    pub(in crate::pages) tabs: Vec<Tab>,
    pub(in crate::pages) conversations: Vec<PrivateTab>,
    /// The colours that the reader has chosen.
    pub(in crate::pages) theme: Option<Theme>,
    pub(in crate::pages) language: Language,
    /// The most bytes of a file, or 0 where none can be sent.
    pub(in crate::pages) max_file: u64,
    /// The path of the page.
    path: String,
    /// What this browser notifies the reader of.
    pub(in crate::pages) notify: Notify,
    /// How many mentions are unread in the flows of the list.
    pub(in crate::pages) mentions: i64,
    /// What stands above: the name of the organization of the page.
    pub(in crate::pages) organization: String,
    /// The settings of that organization. `None` for a user without flows.
    pub(in crate::pages) organization_settings: Option<String>,
    /// The script, and the modules that it loads.
    pub(in crate::pages) script: String,
    pub(in crate::pages) modules: Vec<String>,
}

/// What a browser notifies its user of.
pub(in crate::pages) struct Notify {
    /// The key with which it subscribes to push messages.
    pub(in crate::pages) key: String,
    /// Whether it has.
    pub(in crate::pages) is_pushed: bool,
    pub(in crate::pages) level: &'static str,
    pub(in crate::pages) shows_text: bool,
    /// From when until when it is quiet, such as `22:00-07:00`, and in which zone.
    pub(in crate::pages) quiet: Option<(String, String)>,
}

/// The reader.
pub(in crate::pages) struct Me {
    pub(in crate::pages) id: i64,
    pub(in crate::pages) nick: String,
    pub(in crate::pages) name: String,
    pub(in crate::pages) avatar: String,
}

/// A flow in the list.
pub(in crate::pages) struct Tab {
    pub(in crate::pages) id: String,
    pub(in crate::pages) name: String,
    pub(in crate::pages) path: String,
    pub(in crate::pages) api: String,
    /// The value of `aria-current`: `page` for the flow of the page, `true` on pages below it.
    pub(in crate::pages) current: Option<&'static str>,
    /// Whether the reader had closed it. The page's script opens it.
    pub(in crate::pages) closed: bool,
    pub(in crate::pages) counts: Counts,
    /// What the reader is notified of there, where it is chosen.
    pub(in crate::pages) notify: Option<&'static str>,
}

/// What a tab counts.
#[derive(Clone, Copy)]
pub(in crate::pages) struct Counts {
    /// The number of the last message in the room; the others include everything up to it.
    pub(in crate::pages) last: i64,
    /// The message up to which the reader has read the chat.
    pub(in crate::pages) read: i64,
    /// How many chat messages came after it, at most 100.
    pub(in crate::pages) unread: i64,
    /// How many of them mention the reader. Each of a private conversation does.
    pub(in crate::pages) mentions: i64,
    /// How many messages of the inbox are unread, at most 100.
    pub(in crate::pages) inbox: i64,
}

impl Counts {
    /// What is shown of them: the number of mentions, or else of the unread messages. The tab of the
    /// page itself is being read, and shows mentions only.
    pub(in crate::pages) fn shown(&self, is_page: bool) -> Option<String> {
        match (self.mentions, self.unread) {
            (1.., _) => Some(self.mentions.to_string()),
            (_, 100..) if !is_page => Some("99+".to_owned()),
            (_, 1..) if !is_page => Some(self.unread.to_string()),
            _ => None,
        }
    }
}

/// A private conversation in the list.
pub(in crate::pages) struct PrivateTab {
    pub(in crate::pages) id: i64,
    pub(in crate::pages) name: String,
    pub(in crate::pages) avatar: String,
    pub(in crate::pages) current: bool,
    /// Whether the reader had closed it, as with a flow.
    pub(in crate::pages) closed: bool,
    pub(in crate::pages) counts: Counts,
    /// The presence of the other user. `None` in the classic profile, whose API has none.
    pub(in crate::pages) presence: Option<UserPresence>,
}

impl Shell {
    /// `shown` is the flow of the page, or `with` the other user of the conversation.
    pub(in crate::pages) fn around(
        visit: &Visit,
        actor: &Actor,
        frame: PageFrame,
        (shown, with): (Option<&Flow>, Option<&User>),
        event: EventId,
    ) -> Result<Self, PageError> {
        let PageFrame {
            mut flows,
            mut conversations,
            presence,
            notifications: wanted,
            ..
        } = frame;
        let user = &actor.user()?.user;
        let base = &visit.app().config().addresses.base;
        let me = User::of(user, base);
        let organization = organization_of(visit.path(), &flows, shown).cloned();
        let organization = organization.as_ref();
        in_order(&mut conversations, |each| each.tab_position);
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
            let presence = presence.get(&with.id).copied();
            conversations.push(PrivateTab {
                presence,
                ..PrivateTab::new_with(with)
            });
        }
        let key = visit.app().notifications().public_key();
        let is_shown = |flow: &Flow| shown.is_some_and(|shown| shown.id == flow.id);
        in_order(&mut flows, |flow| flow.tab_position);
        // A mention brings back what was closed.
        let has_tab = |flow: &&Flow| flow.open || is_shown(flow) || flow.unread_mentions > 0;
        let tabs = flows.iter().filter(has_tab).map(|flow| {
            let tab = Tab::of(flow, is_shown(flow), visit.path());
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
            path: visit.path().to_owned(),
            notify: Notify::of(key, &wanted),
            tabs: tabs.collect(),
            conversations,
            me: Me {
                id: me.id,
                nick: me.nick,
                name: me.name,
                avatar: format!("{}72", me.avatar),
            },
            organization_settings: organization
                .map(|organization| settings_of(&organization.parameterized_name)),
            organization: organization
                .map_or_else(|| "Eddyline".to_owned(), |known| known.name.clone()),
            script: assets::script_url("app.js", language),
            modules: assets::module_urls(language),
        })
    }
}

/// Puts what has a place into its order, before what has none.
fn in_order<T>(tabs: &mut [T], place: impl Fn(&T) -> Option<i32>) {
    tabs.sort_by_key(|tab| place(tab).unwrap_or(i32::MAX));
}

/// How a user appears, in a word.
pub(in crate::pages) fn presence_word(
    presence: Option<UserPresence>,
    t: &'static Texts,
) -> &'static str {
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

/// The organization that the page is about: that of the flow that is shown, the one that the path
/// names, or else the first of the reader.
fn organization_of<'a>(
    path: &str,
    flows: &'a [Flow],
    shown: Option<&'a Flow>,
) -> Option<&'a OrganizationSummary> {
    let named = path
        .strip_prefix("/app/")
        .and_then(|rest| rest.split('/').next());
    let of_path = || {
        flows
            .iter()
            .find(|flow| named == Some(flow.organization.parameterized_name.as_str()))
    };
    let flow = shown.or_else(of_path).or(flows.first())?;
    Some(&flow.organization)
}

/// The first page of the settings of the organization with this name in URLs.
pub(in crate::pages) fn settings_of(organization: &str) -> String {
    format!("/app/{organization}/settings")
}

impl Shell {
    /// That of a page of no room. What the page shows of rooms is to be read after this: the stream
    /// tells what happens from now on.
    pub(in crate::pages) async fn beside(visit: &Visit) -> Result<Self, PageError> {
        let actor = visit.signed_in()?;
        let event = visit.app().streams().position();
        let frame = visit.app().page_frame(actor, None).await?;
        let shell = Self::around(visit, actor, frame, (None, None), event)?;
        Ok(Self {
            script: assets::script_url("side.js", shell.language),
            modules: Vec::new(),
            ..shell
        })
    }

    /// The value of `aria-current` for a link to this path.
    pub(in crate::pages) fn current(&self, path: &str) -> Option<&'static str> {
        (self.path == path).then_some("page")
    }

    /// The conversation of the page.
    pub(in crate::pages) fn conversation(&self) -> Option<&PrivateTab> {
        self.conversations.iter().find(|tab| tab.current)
    }

    /// Whether the page is among those that have a list of [`ACCOUNT_PAGES`] beside them.
    pub(in crate::pages) fn is_of_account(&self) -> bool {
        nearest(&self.path).is_some()
    }

    /// The links to [`ACCOUNT_PAGES`].
    pub(in crate::pages) fn account_links(
        &self,
        t: &'static Texts,
    ) -> impl Iterator<Item = PageLink> {
        let nearest = nearest(&self.path);
        ACCOUNT_PAGES
            .into_iter()
            .map(move |(path, label)| PageLink {
                path,
                label: label(&t.menu),
                current: (nearest == Some(path)).then(|| match self.path == path {
                    true => "page",
                    false => "true",
                }),
            })
    }
}

fn is_at_or_below(here: &str, path: &str) -> bool {
    here.strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The longest of [`ACCOUNT_PAGES`] that this path is at or below.
fn nearest(here: &str) -> Option<&'static str> {
    ACCOUNT_PAGES
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| is_at_or_below(here, path))
        .max_by_key(|path| path.len())
}

impl Tab {
    /// The tab of a flow, which is shown, on the page of this path.
    fn of(flow: &Flow, is_shown: bool, here: &str) -> Self {
        let api = format!(
            "{}/{}",
            flow.organization.parameterized_name, flow.parameterized_name
        );
        let path = format!("/app/{api}");
        let current = match is_shown {
            true => Some("page"),
            false => is_at_or_below(here, &path).then_some("true"),
        };
        Self {
            id: flow.id.clone(),
            name: flow.name.clone(),
            path,
            api,
            current,
            closed: is_shown && !flow.open,
            counts: Counts {
                last: flow.last_message_id.unwrap_or_default(),
                read: flow.read.unwrap_or_default(),
                unread: flow.unread,
                mentions: flow.unread_mentions,
                inbox: flow.inbox.unread,
            },
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
            quiet: quiet.map(|quiet| {
                let hours = format!("{}-{}", quiet.from, quiet.until);
                (hours, quiet.zone.clone())
            }),
        }
    }
}

impl PrivateTab {
    /// What a screen reader says of how the other user appears.
    pub(in crate::pages) fn presence_word(&self, t: &'static Texts) -> &'static str {
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
            counts: Counts {
                last: conversation.last_message_id.unwrap_or_default(),
                read: conversation.read,
                unread,
                mentions: unread,
                inbox: 0,
            },
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
            counts: Counts {
                last: 0,
                read: 0,
                unread: 0,
                mentions: 0,
                inbox: 0,
            },
            presence: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_page_is_the_current_one() {
        for (here, page) in [
            ("/account", Some("/account")),
            ("/account/tokens", Some("/account/tokens")),
            ("/account/tokens/7", Some("/account/tokens")),
            ("/account/picture", Some("/account")),
            ("/accounts", None),
            ("/app", None),
        ] {
            assert_eq!(nearest(here), page, "{here}");
        }
    }
}
