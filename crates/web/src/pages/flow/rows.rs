//! Messages as rows of a page: what stands in each, and how it looks beside its neighbours.
//!
//! The script of the page arranges rows by the same rules (`arrange` in `feed.js`).

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};

use eddyline_app::PagePerson;
use eddyline_model::items::{Color, Status};
use eddyline_model::messages::MessageKind;
use eddyline_model::tags::USER_EVERYONE;
use eddyline_model::{Timestamp, UserId};
use eddyline_wire::Attachment;
use serde_json::Value;

use super::message::{PageMessage, PageThread};
use super::tag_links::{link_tags, tag_path};
use crate::initial::initial;
use crate::texts::Texts;
use crate::zone::{Day, Zone};

/// How long after a message the next one of the same author stands without their name, in
/// milliseconds.
const NEAR: i64 = 5 * 60 * 1000;
/// A text of more is folded at first.
const MOST_LINES: usize = 12;
const MOST_LETTERS: usize = 1200;
/// So many names of a reaction are shown; the rest is counted.
const MOST_NAMES: usize = 10;

/// Users by their ids, in ascending order.
pub(super) type UsersById = BTreeMap<i64, PagePerson>;

/// What a row needs to know beside its message.
pub(super) struct RowContext<'a> {
    pub(super) t: &'static Texts,
    pub(super) people: &'a UsersById,
    pub(super) zone: &'a Zone,
    pub(super) now: Timestamp,
    /// The reader.
    pub(super) me: i64,
    /// The path of the flow's page.
    pub(super) flow: &'a str,
    /// The path of the room's page.
    pub(super) room: &'a str,
    /// The message up to which the reader has read. `None` shows no line.
    pub(super) read: Option<i64>,
    /// Whether the rows are those of one thread.
    pub(super) in_thread: bool,
    pub(super) focus: Focus,
}

/// What a page that opens in the midst of a chat points at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    None,
    /// A message.
    Message(i64),
    /// The day of the first message sent at this time or later.
    Since(i64),
}

/// The line with a day.
pub(super) struct DayLine {
    pub(super) name: String,
    /// The page that opens at the day.
    pub(super) path: String,
    /// Whether the page points at it.
    pub(super) is_here: bool,
    /// The day that the page was to open at, where it has no message.
    pub(super) instead_of: Option<String>,
}

/// A tag of a message.
pub(super) struct TagLink {
    pub(super) name: String,
    /// The page with the messages that have it.
    pub(super) path: String,
}

/// One message.
#[derive(Default)]
pub(super) struct Row {
    /// The day, above the first row of it.
    pub(super) day: Option<DayLine>,
    /// The page that opens at the message.
    pub(super) path: String,
    /// Whether the page points at the message.
    pub(super) is_here: bool,
    /// Whether the row is the first one that is unread.
    pub(super) is_first_unread: bool,
    pub(super) id: i64,
    /// Beginning of the ids of elements: a message can stand in both panes.
    pub(super) prefix: &'static str,
    pub(super) user: String,
    pub(super) name: String,
    /// The picture of a user.
    pub(super) avatar: Option<String>,
    /// The picture of an integration's author or application. It may be missing at its host, so the
    /// initial stands behind it.
    pub(super) outside: Option<String>,
    pub(super) sent: i64,
    pub(super) time: String,
    pub(super) clock: String,
    pub(super) html: String,
    pub(super) edited: bool,
    pub(super) uuid: String,
    pub(super) thread: Option<RowThread>,
    /// Whether the row shows that it belongs to its thread: the thread has other messages, or
    /// mirrors an outside item.
    pub(super) shows_thread: bool,
    /// Whether the name and the picture of the author stand above the text.
    pub(super) shows_author: bool,
    /// Whether the row before belongs to another thread. The first row of a run has the mark.
    pub(super) begins_run: bool,
    /// Whether the row after belongs to another thread.
    pub(super) ends_run: bool,
    /// Whether the title of the thread stands above: a run of a thread that began earlier.
    pub(super) shows_title: bool,
    /// Whether the message is shown in one line: an activity, or a status.
    pub(super) is_line: bool,
    pub(super) is_status: bool,
    /// Whether the text is folded at first.
    pub(super) is_long: bool,
    /// The initial that is shown where the author has no picture.
    pub(super) initial: String,
    pub(super) mentions_reader: bool,
    pub(super) is_own: bool,
    pub(super) reactions: Vec<Reaction>,
    pub(super) files: Vec<FileCard>,
    /// The tags that are no mentions and do not stand in the text.
    pub(super) tags: Vec<TagLink>,
    /// All tags, as JSON.
    pub(super) all_tags: String,
}

/// The thread of a message.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct RowThread {
    pub(super) id: String,
    pub(super) path: String,
    /// Empty where the row shows the message that began the thread.
    pub(super) title: String,
    pub(super) hue: u8,
    pub(super) shape: u8,
    pub(super) status: Option<Chip>,
    /// The message that began it.
    pub(super) root: i64,
    /// Whether it is shown although it has one message only: it mirrors an outside item.
    pub(super) mirrors: bool,
}

/// The status of an outside item.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Chip {
    pub(super) color: &'static str,
    pub(super) text: String,
}

/// The users who react with one emoji.
pub(super) struct Reaction {
    pub(super) emoji: String,
    /// Their ids, with spaces between.
    pub(super) users: String,
    pub(super) count: usize,
    /// Whether the reader is one of them.
    pub(super) own: bool,
    /// What they are called.
    pub(super) names: String,
}

/// A file of a message.
pub(super) struct FileCard {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) size: String,
    /// The element that plays it, of a sound or a film.
    pub(super) media: Option<&'static str>,
    /// Of a picture: the path of what is shown, and its size.
    pub(super) picture: Option<(String, i64, i64)>,
}

impl Chip {
    fn of(status: &Status) -> Option<Self> {
        let text = Some(&status.value).filter(|text| !text.is_empty())?;
        Some(Self {
            color: status.color.unwrap_or(Color::Grey).as_str(),
            text: text.clone(),
        })
    }
}

impl RowThread {
    pub(super) fn of(thread: &PageThread, flow: &str) -> Self {
        Self {
            title: thread.title(),
            ..Self::untitled(thread, flow)
        }
    }

    /// The thread of a message. The row of the message that began the thread shows no title, since the
    /// title is the text of that message.
    fn of_message(thread: &PageThread, message: i64, flow: &str) -> Self {
        match thread.state.root.0 == message {
            true => Self::untitled(thread, flow),
            false => Self::of(thread, flow),
        }
    }

    fn untitled(thread: &PageThread, flow: &str) -> Self {
        Self {
            id: thread.id.clone(),
            path: format!("{flow}/threads/{}", thread.id),
            title: String::new(),
            hue: thread.mark() & 7,
            shape: thread.mark() >> 3,
            status: thread.status().and_then(Chip::of),
            root: thread.state.root.0,
            mirrors: thread.state.source.is_some(),
        }
    }
}

/// The rows of messages in the order of their numbers.
pub(super) fn rows(messages: Vec<PageMessage>, context: &RowContext<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = messages
        .into_iter()
        .map(|message| row(message, context))
        .collect();
    arrange(&mut rows, context);
    rows
}

fn row(message: PageMessage, context: &RowContext<'_>) -> Row {
    let user = message.user;
    let person = context.people.get(&user);
    let author = author_name(&message, context.people, context.t);
    let avatar = match (&message.author, &message.external_user_name) {
        (None, None) => person.map(|person| format!("{}72", person.avatar)),
        _ => None,
    };
    let outside = outside_picture(&message, avatar.is_some());
    let search = context.search();
    let mention = format!(":user:{}", context.me);
    // A mention of a group has the tag of the group, and this one for each of its users.
    let unread = format!(":unread:{}", context.me);
    let mentions_reader = message.tags.iter().any(|tag| {
        *tag == mention || tag == USER_EVERYONE || (message.to.is_none() && *tag == unread)
    });
    // Most messages have no tags, or mentions only.
    let text = LazyCell::new(|| message.text.as_deref().unwrap_or_default().to_lowercase());
    let shown_tags = message
        .tags
        .iter()
        .filter(|tag| !tag.starts_with(':') && !names_tag(&text, tag));
    let files = message
        .attachments
        .iter()
        .map(|file| file_card(file, context.t));
    Row {
        id: message.id,
        prefix: if context.in_thread { "t" } else { "m" },
        time: message.sent.to_string(),
        clock: context.zone.clock(message.sent),
        sent: message.sent.0,
        path: format!("{}/messages/{}#m{}", context.room, message.id, message.id),
        is_here: context.focus == Focus::Message(message.id),
        html: link_tags(&html_of(&message, context.t), &search),
        edited: message.is_edited && !is_empty(&message),
        thread: message
            .thread
            .as_ref()
            .map(|thread| RowThread::of_message(thread, message.id, context.flow)),
        is_own: user != 0 && user == context.me,
        mentions_reader: mentions_reader && user != context.me,
        files: files.collect(),
        reactions: reactions(&message, context),
        tags: shown_tags
            .map(|tag| TagLink {
                name: tag.clone(),
                path: tag_path(tag, &search),
            })
            .collect(),
        all_tags: Value::from(message.tags.clone()).to_string(),
        is_line: matches!(message.event, MessageKind::Activity | MessageKind::Status),
        is_status: message.event == MessageKind::Status,
        is_long: message.text.as_deref().is_some_and(is_long),
        initial: initial(&author),
        user: user.to_string(),
        uuid: message.uuid.unwrap_or_default(),
        name: author,
        avatar,
        outside,
        ..Row::default()
    }
}

fn reactions(message: &PageMessage, context: &RowContext<'_>) -> Vec<Reaction> {
    let each = message.reactions.iter().map(|reaction| {
        let users = &reaction.users;
        let name = |id: &UserId| {
            let person = context.people.get(&id.0);
            person
                .map_or(&context.t.both.former, |person| &person.name)
                .clone()
        };
        let mut names: Vec<String> = users.iter().take(MOST_NAMES).map(name).collect();
        if users.len() > MOST_NAMES {
            let rest = users.len() - MOST_NAMES;
            names.push(context.t.both.more.with("n", rest).to_string());
        }
        let ids: Vec<String> = users.iter().map(ToString::to_string).collect();
        Reaction {
            emoji: reaction.emoji.clone(),
            users: ids.join(" "),
            count: users.len(),
            own: users.contains(&UserId(context.me)),
            names: names.join(", "),
        }
    });
    each.collect()
}

/// Whether a text is folded at first, by the same rule as in `row.js`.
fn is_long(text: &str) -> bool {
    text.split('\n').count() > MOST_LINES || text.chars().count() > MOST_LETTERS
}

/// Who is shown to have written a message.
pub(super) fn author_name(message: &PageMessage, people: &UsersById, t: &Texts) -> String {
    let person = people.get(&message.user);
    match (&message.author, &message.external_user_name, person) {
        (Some(author), ..) => author.name.clone(),
        (None, Some(name), _) => name.clone(),
        (None, None, Some(person)) => person.name.clone(),
        (None, None, None) if message.user == 0 => {
            source_name(message).unwrap_or("Eddyline").to_owned()
        }
        (None, None, None) => t.both.former.clone(),
    }
}

/// The name of the application that posted a message without an author.
fn source_name(message: &PageMessage) -> Option<&str> {
    source_thread(message)?.source()
}

/// The thread of a message that an application posted.
fn source_thread(message: &PageMessage) -> Option<&PageThread> {
    let is_posted = matches!(
        message.event,
        MessageKind::Activity | MessageKind::Discussion | MessageKind::Mail
    );
    message.thread.as_ref().filter(|_| is_posted)
}

/// The picture of the author, or without an author that of the application. `row.js` does the same.
fn outside_picture(message: &PageMessage, is_of_user: bool) -> Option<String> {
    match (&message.author, &message.external_user_name) {
        (Some(author), _) => author.avatar_path.clone(),
        (None, None) if !is_of_user && message.user == 0 => source_thread(message)?.icon.clone(),
        (None, _) => None,
    }
}

impl RowContext<'_> {
    /// The path of the search that tags lead to.
    fn search(&self) -> String {
        match self.flow {
            "" => "/app/-/search".to_owned(),
            flow => format!("{flow}/search"),
        }
    }
}

/// Whether a text in small letters shows the tag already, as a word of its own. The script does the
/// same (`namesTag` in `row.js`).
fn names_tag(text: &str, tag: &str) -> bool {
    let sign = format!("#{tag}");
    text.match_indices(&sign).any(|(at, _)| {
        let behind = &text[at + sign.len()..];
        !behind.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
    })
}

fn is_empty(message: &PageMessage) -> bool {
    message.text.as_deref().is_some_and(str::is_empty)
}

fn html_of(message: &PageMessage, t: &Texts) -> String {
    if is_empty(message) {
        let deleted = eddyline_markup::escape(&t.both.deleted);
        return format!("<span class=\"gone\">{deleted}</span>");
    }
    match (&message.html, &message.body, &message.title) {
        (Some(html), ..) => html.clone(),
        (None, Some(body), _) if !body.is_empty() => {
            // Pictures of a mail or a discussion are files of the flow.
            body.replace("src=\"/files/", "src=\"/app/-/api/files/")
        }
        (None, _, Some(title)) => title.clone(),
        // The HTML was too long.
        (None, ..) => eddyline_markup::escape(message.text.as_deref().unwrap_or_default()),
    }
}

pub(super) fn file_card(file: &Attachment, t: &Texts) -> FileCard {
    let address = |path: &str| format!("/app/-/api{path}");
    let kind = file
        .file_name
        .rsplit_once('.')
        .map_or("", |(_, kind)| kind)
        .chars()
        .take(4)
        .collect::<String>()
        .to_uppercase();
    FileCard {
        path: address(&file.path),
        name: file.file_name.clone(),
        kind: if kind.is_empty() {
            t.both.file.clone()
        } else {
            kind
        },
        size: bytes(file.file_size, &t.locale.decimal),
        media: match file.content_type.split('/').next() {
            Some("audio") => Some("audio"),
            Some("video") => Some("video"),
            _ => None,
        },
        picture: file.image.as_ref().map(|size| {
            let shown = file
                .thumbnail
                .as_ref()
                .map_or(&file.path, |small| &small.path);
            (
                address(shown),
                i64::from(size.width),
                i64::from(size.height),
            )
        }),
    }
}

/// A number of bytes in three digits at most, as `48 KB`; `decimal` is the sign before tenths.
fn bytes(count: i64, decimal: &str) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut scaled = count;
    let mut unit = 0;
    while scaled >= 999_500 && unit < UNITS.len() - 1 {
        scaled = (scaled + 500) / 1000;
        unit += 1;
    }
    let (whole, tenths) = (scaled / 1000, scaled % 1000 / 100);
    match whole {
        0..10 if tenths > 0 => format!("{whole}{decimal}{tenths} {}", UNITS[unit]),
        _ => format!("{} {}", (scaled + 500) / 1000, UNITS[unit]),
    }
}

/// Decides what a row shows by the rows beside it.
fn arrange(rows: &mut [Row], context: &RowContext<'_>) {
    show_threads(rows, context);
    let today = context.zone.day(context.now);
    let first_unread = context
        .read
        .and_then(|read| rows.iter().position(|row| row.id > read && !row.is_own));
    let first_since = match context.focus {
        Focus::Since(at) => rows.iter().position(|row| row.sent >= at),
        Focus::None | Focus::Message(_) => None,
    };
    let mut last_day: Option<Day> = None;
    for at in 0..rows.len() {
        let before = at.checked_sub(1).map(|at| &rows[at]);
        let thread = rows[at].shown_thread();
        let begins_run = thread.is_some() && before.and_then(Row::shown_thread) != thread;
        let ends_run = thread.is_some() && rows.get(at + 1).and_then(Row::shown_thread) != thread;
        let day = context.zone.day(Timestamp(rows[at].sent));
        let is_new_day = last_day != Some(day);
        last_day = Some(day);
        let follows = before.is_some_and(|before| rows[at].follows(before));
        let is_first_unread = first_unread == Some(at);
        let row = &mut rows[at];
        let is_here = first_since == Some(at);
        let asked = match context.focus {
            Focus::Since(at) if is_here => Some(context.zone.day(Timestamp(at))),
            _ => None,
        };
        let instead_of = asked.filter(|asked| *asked != day);
        row.day = (is_new_day || is_here).then(|| DayLine {
            name: day.name(today, context.t),
            path: format!("{}/on/{}#here", context.room, day.key()),
            is_here,
            instead_of: instead_of.map(|asked| asked.name(today, context.t)),
        });
        row.is_first_unread = is_first_unread;
        row.begins_run = begins_run;
        row.ends_run = ends_run;
        row.shows_author = is_new_day || is_first_unread || !follows || row.mentions_reader;
        row.shows_title = row.begins_run && !row.began_thread();
    }
}

/// Decides which rows show that they belong to a thread.
fn show_threads(rows: &mut [Row], context: &RowContext<'_>) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for thread in rows.iter().filter_map(|row| row.thread.as_ref()) {
        *counts.entry(thread.id.clone()).or_default() += 1;
    }
    for row in rows {
        row.shows_thread = !context.in_thread
            && row.thread.as_ref().is_some_and(|thread| {
                thread.mirrors || !row.began_thread() || counts[&thread.id] > 1
            });
    }
}

impl Row {
    /// The thread that the row shows.
    fn shown_thread(&self) -> Option<&str> {
        let thread = self.thread.as_ref().filter(|_| self.shows_thread)?;
        Some(&thread.id)
    }

    /// Whether the message began its thread.
    fn began_thread(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| thread.root == self.id)
    }

    /// Whether the row goes on with what the same author said just before.
    fn follows(&self, before: &Self) -> bool {
        self.user == before.user
            && self.name == before.name
            && self.sent - before.sent < NEAR
            && self.shown_thread() == before.shown_thread()
            && !self.is_line
            && !before.is_line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shows_a_tag_that_is_a_word_of_its_own() {
        for (text, shows) in [
            ("#a", true),
            ("read #a, please", true),
            ("#a#b", true),
            ("#abc and #a", true),
            ("#abc", false),
            ("#a-1", false),
            ("a", false),
        ] {
            assert_eq!(names_tag(text, "a"), shows, "{text}");
        }
    }

    #[test]
    fn sizes_are_short() {
        for (count, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1500, "1.5 KB"),
            (48_000, "48 KB"),
            (999_400, "999 KB"),
            (999_600, "1 MB"),
            (2_340_000, "2.3 MB"),
            (5_000_000_000, "5 GB"),
        ] {
            assert_eq!(bytes(count, "."), text);
        }
        assert_eq!(bytes(2_340_000, ","), "2,3 MB");
    }
}
