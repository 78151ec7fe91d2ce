use eddyline_model::items::Item;
use eddyline_model::messages::{Author, Notice, ThreadCounts, ThreadState};
use eddyline_model::reactions::Reactions;
use eddyline_model::tags::{TagChanges, Tags};
use eddyline_model::{EventId, UserId};

use super::*;

const ROOM: RoomId = RoomId(3);

fn message(id: i64, event: MessageKind, content: &str) -> Message {
    Message {
        room: ROOM,
        id: MessageId(id),
        event,
        author: Author::user(UserId(1)),
        content: content.to_owned(),
        tags: Tags::default(),
        explicit_tags: vec![],
        uuid: None,
        sent: Timestamp(1000),
        edited: None,
        thread_root: None,
        parent: None,
        to: None,
    }
}

fn view(message: Message) -> MessageView {
    MessageView {
        message,
        parent_text: None,
        thread: None,
        reactions: Reactions::default(),
        subject: None,
    }
}

fn item(seq: i64, view: MessageView) -> LogItem {
    LogItem {
        id: EventId {
            seq: Seq(seq),
            check: 0,
        },
        body: LogBody::Message(Some(Arc::new(view))),
    }
}

fn in_thread(view: MessageView, root: i64, root_text: &str, item: Option<&str>) -> MessageView {
    let counts = ThreadCounts::begun_by(view.message.event, view.message.sent);
    let item = item.map(|title| {
        Arc::new(Item {
            title: title.to_owned(),
            ..Item::default()
        })
    });
    let root_text = root_text.to_owned();
    let thread = Some(ThreadState {
        root: MessageId(root),
        root_text,
        counts,
        item,
        source: None,
    });
    MessageView { thread, ..view }
}

/// A chat message, which begins its thread.
fn chat(seq: i64, id: i64, text: &str) -> LogItem {
    item(
        seq,
        in_thread(
            view(message(id, MessageKind::Message, text)),
            id,
            text,
            None,
        ),
    )
}

/// A comment on the message `parent`, which began the thread.
fn comment(seq: i64, id: i64, parent: i64, quoted: &str) -> LogItem {
    let mut own = message(id, MessageKind::Comment, "yes");
    own.parent = Some(MessageId(parent));
    let view = MessageView {
        parent_text: Some(quoted.to_owned()),
        ..view(own)
    };
    item(seq, in_thread(view, parent, quoted, None))
}

fn notice(seq: i64, notice: Notice) -> LogItem {
    let own = message(500 + seq, notice.event, &notice.live.content);
    item(
        seq,
        MessageView {
            subject: notice.live.subject,
            ..view(own)
        },
    )
}

fn edit(seq: i64, id: i64, text: &str) -> LogItem {
    let mut after = message(id, MessageKind::Message, text);
    after.thread_root = Some(MessageId(id));
    after.edited = Some(Timestamp(2000));
    notice(seq, Notice::edit(&after))
}

fn reaction(seq: i64, id: i64) -> LogItem {
    let subject = message(id, MessageKind::Message, "tea?");
    notice(seq, Notice::reaction(&subject, "👍".parse().unwrap(), true))
}

fn shown(item: &LogItem) -> Option<&MessageView> {
    match &item.body {
        LogBody::Message(view) => view.as_deref(),
        LogBody::Control(_) => None,
    }
}

/// What an entry shows: content, quote, title of the thread.
type Texts<'a> = (&'a str, &'a str, &'a str);

/// What amended entries show, by position; `None` for those that are gone.
fn amended(all: &[AmendedEntries]) -> Vec<(i64, Option<Texts<'_>>)> {
    let items = all.iter().flat_map(|amended| &amended.items);
    let show = |item| {
        let view = shown(item)?;
        let title = view
            .thread
            .as_ref()
            .map_or("", |thread| match &thread.item {
                Some(item) => &item.title,
                None => &thread.root_text,
            });
        Some((
            view.message.content.as_str(),
            view.parent_text.as_deref().unwrap_or_default(),
            title,
        ))
    };
    items.map(|item| (item.id.seq.0, show(item))).collect()
}

#[test]
fn an_edit_amends_the_message_its_quotes_and_the_titles_of_its_thread() {
    let mut recent = RingMessageIndex::default();
    for item in [
        chat(1, 1, "old"),
        comment(2, 2, 1, "old"),
        chat(3, 3, "other"),
        comment(4, 4, 3, "other"),
    ] {
        let (told, amended) = recent.take(std::slice::from_ref(&item));
        assert_eq!((told, amended.len()), (vec![item], 0));
    }
    let (told, changed) = recent.take(&[edit(5, 1, "new")]);
    assert_eq!(
        shown(&told[0]).unwrap().message.content,
        r#"{"message":1,"updated_content":"new"}"#
    );
    assert_eq!(
        amended(&changed),
        [
            (2, Some(("yes", "new", "new"))),
            (1, Some(("new", "", "new")))
        ]
    );
    let edited = shown(&changed[0].items[1]).unwrap();
    assert_eq!(edited.message.edited, Some(Timestamp(2000)));
    let (_, changed) = recent.take(&[edit(6, 1, "newer")]);
    let again = r#"{"message":1,"updated_content":"newer"}"#;
    let expected = [
        (5, Some((again, "", ""))),
        (2, Some(("yes", "newer", "newer"))),
        (1, Some(("newer", "", "newer"))),
    ];
    assert_eq!(amended(&changed), expected);
}

#[test]
fn a_removal_takes_the_message_and_its_notices_out() {
    let mut recent = RingMessageIndex::default();
    recent.take(&[chat(1, 1, "old"), comment(2, 2, 1, "old")]);
    recent.take(&[edit(3, 1, "new")]);
    let (told, changed) = recent.take(&[notice(4, Notice::removal(MessageId(1)))]);
    assert!(shown(&told[0]).is_some());
    assert_eq!(
        amended(&changed),
        [(3, None), (2, Some(("yes", "", ""))), (1, None)]
    );
}

#[test]
fn what_comes_together_is_told_as_it_is_at_the_end() {
    let mut recent = RingMessageIndex::default();
    let (told, changed) =
        recent.take(&[chat(1, 1, "old"), edit(2, 1, "newer"), edit(3, 1, "newest")]);
    assert!(amended(&changed).is_empty());
    let contents: Vec<_> = told
        .iter()
        .map(|item| shown(item).unwrap().message.content.as_str())
        .collect();
    let newest = r#"{"message":1,"updated_content":"newest"}"#;
    assert_eq!(contents, ["newest", newest, newest]);
}

#[test]
fn a_new_state_of_an_item_amends_its_thread() {
    let mut recent = RingMessageIndex::default();
    let pushed = |seq, id, title| {
        item(
            seq,
            in_thread(
                view(message(id, MessageKind::Activity, "{}")),
                1,
                "",
                Some(title),
            ),
        )
    };
    let (_, changed) = recent.take(&[pushed(1, 1, "open")]);
    assert!(changed.is_empty(), "the first of its thread");
    let (_, changed) = recent.take(&[pushed(2, 2, "open")]);
    assert!(changed.is_empty(), "the same");
    let (_, changed) = recent.take(&[pushed(3, 3, "closed")]);
    assert_eq!(
        amended(&changed),
        [
            (2, Some(("{}", "", "closed"))),
            (1, Some(("{}", "", "closed")))
        ]
    );
}

#[test]
fn only_the_newest_are_amended_at_once_and_the_log_has_the_others() {
    let mut recent = RingMessageIndex::default();
    recent.take(&[chat(1, 1, "old")]);
    let answers = MOST_ENTRIES as i64 - 1;
    for n in 0..answers {
        recent.take(&[comment(2 + n, 2 + n, 1, "old")]);
    }
    let (_, changed) = recent.take(&[edit(1000, 1, "new")]);
    assert_eq!(
        (changed[0].items.len(), changed[0].log_through),
        (MOST_ENTRIES, Seq(0))
    );
    let (_, changed) = recent.take(&[edit(1001, 1, "newer")]);
    assert_eq!(
        (changed[0].items.len(), changed[0].log_through),
        (MOST_ENTRIES, Seq(1))
    );
}

#[test]
fn a_change_of_tags_names_what_it_removed_for_a_while() {
    let mut recent = RingMessageIndex::default();
    recent.take(&[chat(1, 1, "text")]);
    let changes = TagChanges {
        add: vec![],
        remove: vec!["secret".into(), ":unread:7".into()],
    };
    let (told, _) = recent.take(&[notice(
        2,
        Notice::tag_change(&message(1, MessageKind::Message, "text"), &changes),
    )]);
    assert!(shown(&told[0]).unwrap().message.content.contains("secret"));
    let at = |millis| Timestamp(1000 + millis);
    assert!(recent.expire(at(REMOVED_TAGS_MILLIS - 1)).is_empty());
    let expired = recent.expire(at(REMOVED_TAGS_MILLIS));
    let now = shown(&expired[0].items[0]).unwrap();
    assert!(!now.message.content.contains("secret") && now.message.content.contains(":unread:7"));
    assert!(recent.expire(at(REMOVED_TAGS_MILLIS)).is_empty());
}

#[test]
fn what_left_the_ring_is_forgotten() {
    let mut recent = RingMessageIndex::default();
    recent.take(&[
        chat(1, 1, "old"),
        comment(2, 2, 1, "old"),
        chat(3, 3, "other"),
    ]);
    recent.drop_before(Seq(2));
    let (_, changed) = recent.take(&[edit(4, 1, "new")]);
    assert_eq!(amended(&changed), [(2, Some(("yes", "new", "new")))]);
    recent.drop_before(Seq(9));
    assert!(recent.kept.is_empty() && recent.newest.is_empty());
    let (_, changed) = recent.take(&[edit(9, 1, "newer")]);
    assert_eq!(
        (changed.len(), changed[0].items.len()),
        (1, 0),
        "pages of the log may have it"
    );
}

#[test]
fn a_reaction_amends_nothing_and_goes_with_its_message() {
    let mut index = RingMessageIndex::default();
    index.take(&[chat(1, 1, "tea?")]);
    let (told, amended) = index.take(&[reaction(2, 1)]);
    assert_eq!(told, [reaction(2, 1)]);
    assert!(amended.is_empty());
    let (_, amended) = index.take(&[notice(3, Notice::removal(MessageId(1)))]);
    let gone: Vec<_> = amended
        .iter()
        .flat_map(|amended| &amended.items)
        .map(|item| (item.id.seq, shown(item)))
        .collect();
    assert_eq!(gone, [(Seq(2), None), (Seq(1), None)]);
}
