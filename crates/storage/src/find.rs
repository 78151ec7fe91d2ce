//! The statement that finds messages by words and tags, the same for both databases but for where
//! the words stand.

use std::collections::HashMap;

use eddyline_model::RoomId;
use eddyline_model::messages::{MessageKind, MessageQuery, Sort};

pub(crate) const UNREAD: &str = ":unread:";
pub(crate) const EVERYONE: &str = ":user:everyone";

/// The user an unread mark is for.
pub(crate) fn unread_user(tag: &str) -> Option<i64> {
    let user = tag.strip_prefix(UNREAD)?.parse().ok();
    user.filter(|user| *user > 0)
}

/// The place in which messages are looked for.
pub(crate) struct SearchPlace {
    pub(crate) room: RoomId,
    /// The cohorts of the room that a user is in, for each whose unread marks are asked for.
    pub(crate) cohorts: HashMap<i64, Vec<i64>>,
    /// The words of the search as the database takes them; empty without a search.
    pub(crate) words: String,
}

/// How a database words what differs.
pub(crate) struct Wording {
    /// The placeholder of the n-th value, counted from 1.
    pub(crate) placeholder: fn(usize) -> String,
    /// The table of words, named `t`.
    pub(crate) words_from: &'static str,
    /// The message number in it.
    pub(crate) words_id: &'static str,
    /// What to sort it by.
    pub(crate) words_order: &'static str,
    /// The condition that words match in a room, given the placeholder.
    pub(crate) words_match: fn(RoomId, &str) -> String,
}

/// A statement that answers with message numbers in a column `id`, and its text values in order.
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) values: Vec<String>,
}

/// The entry among the tags by which messages of a rarer kind are found. No tag begins with a
/// control character.
pub(crate) fn kind_tag(event: MessageKind) -> Option<&'static str> {
    match event {
        MessageKind::Comment => Some("\u{1}comment"),
        MessageKind::Status => Some("\u{1}status"),
        MessageKind::File => Some("\u{1}file"),
        MessageKind::Activity => Some("\u{1}activity"),
        MessageKind::Discussion => Some("\u{1}discussion"),
        MessageKind::Action => Some("\u{1}action"),
        MessageKind::Mail => Some("\u{1}mail"),
        MessageKind::Message
        | MessageKind::MessageEdit
        | MessageKind::TagChange
        | MessageKind::MessageDelete
        | MessageKind::EmojiReaction => None,
    }
}

/// Whether a query is answered by [`statement`] rather than by reading the room from its end.
pub(crate) fn is_indexed(query: &MessageQuery) -> bool {
    has_index(query) || query.by.is_some()
}

/// Whether an index leads to the messages of a query.
fn has_index(query: &MessageQuery) -> bool {
    query.search.is_some()
        || !query.tags.is_empty()
        || query.thread_root.is_some()
        || query.parent.is_some()
        || (!query.events.is_empty() && query.events.iter().all(|event| kind_tag(*event).is_some()))
}

/// How many messages with the words of a search are looked at for its further conditions: first
/// few, which mostly suffice, then as many as one request may. The list goes on behind them.
pub(crate) const CANDIDATES: [i64; 2] = [500, 10_000];

/// Whether a search has conditions that are looked at message by message.
pub(crate) fn examines(query: &MessageQuery) -> bool {
    let by_tags = !query.tags.is_empty() && !query.tags_widen;
    match query.search {
        Some(_) => by_tags || is_narrowed(query),
        None => is_scan(query),
    }
}

/// Whether the messages with the tags of a query come to those that its search finds.
pub(crate) fn is_widened(query: &MessageQuery) -> bool {
    query.search.is_some() && query.tags_widen && !query.tags.is_empty()
}

/// Whether a query is for the messages of a user and reads the room to find them: no index leads
/// from a user to messages.
fn is_scan(query: &MessageQuery) -> bool {
    query.by.is_some() && !has_index(query)
}

/// Whether a query is for messages of some kinds or of a place only.
fn is_narrowed(query: &MessageQuery) -> bool {
    !query.events.is_empty()
        || query.thread_root.is_some()
        || query.parent.is_some()
        || query.by.is_some()
        || query.not_by.is_some()
}

/// The bounds of a query among the numbers in `id`.
fn bounds(query: &MessageQuery, id: &str) -> Vec<String> {
    let mut conditions = Vec::new();
    if query.search.is_none() {
        conditions.extend(query.since.map(|since| format!("{id} > {since}")));
        conditions.extend(query.until.map(|until| format!("{id} < {until}")));
    }
    conditions.extend(query.first.map(|first| format!("{id} >= {first}")));
    conditions.extend(query.end.map(|end| format!("{id} < {end}")));
    conditions.extend(is_beyond(query, id));
    conditions
}

/// The place of a list among the numbers in `id`.
fn is_beyond(query: &MessageQuery, id: &str) -> Option<String> {
    let order = match query.sort {
        Sort::Descending => "<",
        Sort::Ascending => ">",
    };
    query.beyond.map(|beyond| format!("{id} {order} {beyond}"))
}

fn direction(sort: Sort) -> &'static str {
    match sort {
        Sort::Descending => "desc",
        Sort::Ascending => "asc",
    }
}

/// The messages with the words of a search, in order, `limit` of them after `skip`.
fn candidates_source(
    place: &SearchPlace,
    query: &MessageQuery,
    wording: &Wording,
    (limit, skip): (i64, i64),
    value: &mut impl FnMut(String) -> String,
) -> String {
    let (id, from, order) = (wording.words_id, wording.words_from, wording.words_order);
    let words = value(place.words.clone());
    let mut conditions = vec![(wording.words_match)(place.room, &words)];
    conditions.extend(bounds(query, id));
    let (conditions, direction) = (conditions.join(" and "), direction(query.sort));
    format!(
        "select {id} as message_id from {from} where {conditions} order by {order} {direction} limit {limit} \
         offset {skip}"
    )
}

/// The messages of a room in order, `limit` of them after `skip`.
fn scanned_source(room: RoomId, query: &MessageQuery, (limit, skip): (i64, i64)) -> String {
    let mut conditions = vec![format!("room_id = {room}")];
    conditions.extend(bounds(query, "id"));
    let (conditions, direction) = (conditions.join(" and "), direction(query.sort));
    format!(
        "select id as message_id from messages where {conditions} order by id {direction} limit {limit} offset {skip}"
    )
}

/// Finds the last of the candidates that a search looks at, if there are so many.
pub(crate) fn last_candidate(
    place: &SearchPlace,
    query: &MessageQuery,
    wording: &Wording,
    candidates: i64,
) -> Statement {
    let mut values = Vec::new();
    let mut value = |text: String| {
        values.push(text);
        (wording.placeholder)(values.len())
    };
    let last = (1, candidates - 1);
    let source = match is_scan(query) {
        true => scanned_source(place.room, query, last),
        false => candidates_source(place, query, wording, last, &mut value),
    };
    let sql = format!("select t.message_id as id from ({source}) t");
    Statement { sql, values }
}

/// Finds the numbers of messages with the words, tags, thread or rare kinds of the query. Of a
/// search with further conditions it looks at `candidates` messages only.
pub(crate) fn statement(
    place: &SearchPlace,
    query: &MessageQuery,
    wording: &Wording,
    candidates: i64,
) -> Statement {
    let mut values = Vec::new();
    let mut conditions = Vec::new();
    let mut value = |text: String| {
        values.push(text);
        (wording.placeholder)(values.len())
    };
    let mut tags = query.tags.iter();
    let (from, id, order);
    if is_widened(query) {
        let source = widened_source(place, query, wording, candidates, &mut tags, &mut value);
        (from, id, order) = (format!("({source}) t"), "t.message_id", "t.message_id");
    } else if query.search.is_some() && examines(query) {
        let source = candidates_source(place, query, wording, (candidates, 0), &mut value);
        (from, id, order) = (format!("({source}) t"), "t.message_id", "t.message_id");
    } else if query.search.is_some() {
        (from, id, order) = (
            wording.words_from.to_owned(),
            wording.words_id,
            wording.words_order,
        );
        let words = value(place.words.clone());
        conditions.push((wording.words_match)(place.room, &words));
    } else if is_scan(query) {
        let source = scanned_source(place.room, query, (candidates, 0));
        (from, id, order) = (format!("({source}) t"), "t.message_id", "t.message_id");
    } else {
        let sources = sources(place, query, &mut tags, &mut value);
        (from, id, order) = (
            format!("({}) t", sources.join(" union all ")),
            "t.message_id",
            "t.message_id",
        );
    }
    let tags: Vec<String> = tags
        .map(|tag| format!("{id} in ({})", tag_member(place, tag, id, &mut value)))
        .collect();
    if query.any_tag && !tags.is_empty() {
        conditions.push(format!("({})", tags.join(" or ")));
    } else {
        conditions.extend(tags);
    }
    conditions.extend(bounds(query, id));
    conditions.extend(message_condition(place.room, query, id));
    let filter = if conditions.is_empty() {
        String::new()
    } else {
        format!("where {}", conditions.join(" and "))
    };
    let (limit, skip, direction) = (query.limit, query.skip, direction(query.sort));
    let sql = format!(
        "select {id} as id from {from} {filter} order by {order} {direction} limit {limit} offset {skip}"
    );
    Statement { sql, values }
}

/// The messages with the words of a search, and those with the tags of its query. Takes all of
/// `tags`.
///
/// Of each of the two kinds the first in order suffice, as many as are wanted. Where the query
/// narrows both, it is not known how many those are: then so many candidates with the words are
/// looked at, and what lies beyond the last of them is left for where the list goes on.
fn widened_source<'q>(
    place: &SearchPlace,
    query: &'q MessageQuery,
    wording: &Wording,
    candidates: i64,
    tags: &mut impl Iterator<Item = &'q String>,
    value: &mut impl FnMut(String) -> String,
) -> String {
    let most = query.limit + query.skip;
    let narrowed = is_narrowed(query);
    let limit = if narrowed { candidates } else { most };
    let with_words = candidates_source(place, query, wording, (limit, 0), value);
    let mut tagged = tagged_source(place, query, tags, value);
    if narrowed {
        let last = candidates_source(place, query, wording, (1, candidates - 1), value);
        let (order, no_last) = match query.sort {
            Sort::Descending => (">=", 0),
            Sort::Ascending => ("<=", i64::MAX),
        };
        let edge = format!("coalesce((select last.message_id from ({last}) last), {no_last})");
        tagged = format!(
            "select tagged.message_id from ({tagged}) tagged where tagged.message_id {order} {edge}"
        );
    } else {
        let bounds = bounds(query, "tagged.message_id");
        let filter = match bounds.is_empty() {
            true => String::new(),
            false => format!("where {}", bounds.join(" and ")),
        };
        let direction = direction(query.sort);
        tagged = format!(
            "select tagged.message_id from ({tagged}) tagged {filter} order by tagged.message_id {direction} limit {most}"
        );
    }
    format!(
        "select worded.message_id from ({with_words}) worded union select found.message_id from ({tagged}) found"
    )
}

/// The messages with the tags of a query, all of them or one. Takes all of `tags`.
fn tagged_source<'q>(
    place: &SearchPlace,
    query: &'q MessageQuery,
    tags: &mut impl Iterator<Item = &'q String>,
    value: &mut impl FnMut(String) -> String,
) -> String {
    let first = sources(place, query, tags, value).join(" union all ");
    let more: Vec<String> = tags
        .map(|tag| {
            format!(
                "first.message_id in ({})",
                tag_member(place, tag, "first.message_id", value)
            )
        })
        .collect();
    let filter = if more.is_empty() {
        String::new()
    } else {
        format!(" where {}", more.join(" and "))
    };
    format!("select first.message_id from ({first}) first{filter}")
}

/// Where the search begins when it is not for words: the rows of tags, of a thread, or of rare
/// kinds of messages. The sources of one search have no message in common.
fn sources<'q>(
    place: &SearchPlace,
    query: &'q MessageQuery,
    tags: &mut impl Iterator<Item = &'q String>,
    value: &mut impl FnMut(String) -> String,
) -> Vec<String> {
    let room = place.room;
    if query.any_tag && !query.tags.is_empty() {
        let each: Vec<String> = tags.map(|tag| tag_source(place, tag, value)).collect();
        return vec![format!(
            "select message_id from ({}) any_tag",
            each.join(" union ")
        )];
    }
    if let Some(tag) = tags.next() {
        return vec![tag_source(place, tag, value)];
    }
    if let Some(parent) = query.parent {
        let of_parent = "select id as message_id from messages where room_id";
        return vec![format!(
            "{of_parent} = {room} and parent_id = {parent} and parent_id is not null"
        )];
    }
    if let Some(root) = query.thread_root {
        return vec![
            format!(
                "select id as message_id from messages \
                 where room_id = {room} and thread_root = {root} and thread_root <> id"
            ),
            format!("select id as message_id from messages where room_id = {room} and id = {root}"),
        ];
    }
    query
        .events
        .iter()
        .filter_map(|event| kind_tag(*event))
        .map(|kind| tag_source(place, kind, value))
        .collect()
}

fn tag_source(place: &SearchPlace, tag: &str, value: &mut impl FnMut(String) -> String) -> String {
    let room = place.room;
    match unread_user(tag) {
        // A mention of a cohort is one row; `mentions_seen` has the users who have dealt with it.
        // So is one of everyone by earlier versions, under 0.
        Some(user) => {
            let cohorts = place.cohorts.get(&user).into_iter().flatten();
            let cohorts: String = cohorts.map(|id| format!(", -{id}")).collect();
            format!(
                "select distinct message_id from mentions where room_id = {room} and user_id in ({user}, 0{cohorts}) \
                 and sender_id <> {user} and (user_id = {user} or not exists (select 1 from mentions_seen s \
                 where s.room_id = {room} and s.user_id = {user} and s.message_id = mentions.message_id))"
            )
        }
        None => {
            let tag = value(tag.to_owned());
            format!("select message_id from message_tags where room_id = {room} and tag = {tag}")
        }
    }
}

// Bound to the one message, so that a frequent tag costs a look-up and not a list.
fn tag_member(
    place: &SearchPlace,
    tag: &str,
    id: &str,
    value: &mut impl FnMut(String) -> String,
) -> String {
    format!("{} and message_id = {id}", tag_source(place, tag, value))
}

fn message_condition(room: RoomId, query: &MessageQuery, id: &str) -> Option<String> {
    let mut conditions = Vec::new();
    if !query.events.is_empty() {
        let codes: Vec<String> = query
            .events
            .iter()
            .map(|event| event.code().to_string())
            .collect();
        conditions.push(format!("m.event in ({})", codes.join(", ")));
    } else if query.search.is_none() {
        conditions.push(format!("m.event < {}", MessageKind::MessageEdit.code()));
    }
    conditions.extend(
        query
            .thread_root
            .map(|root| format!("m.thread_root = {root}")),
    );
    conditions.extend(query.parent.map(|parent| format!("m.parent_id = {parent}")));
    conditions.extend(query.by.map(|user| format!("m.user_id = {user}")));
    let not_by = |user| format!("(m.user_id is null or m.user_id <> {user})");
    conditions.extend(query.not_by.map(not_by));
    if conditions.is_empty() {
        return None;
    }
    let conditions = conditions.join(" and ");
    Some(format!(
        "exists (select 1 from messages m where m.room_id = {room} and m.id = {id} and {conditions})"
    ))
}
