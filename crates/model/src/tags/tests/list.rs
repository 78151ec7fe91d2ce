//! Unread marks that are not spelled out.

use std::sync::Arc;

use super::*;

/// The marks of groups and of everyone, spelled out: members in the order of the mentions, then all
/// others, each once, and none for the sender.
fn spelled_out(flow: &Flow, tags: &Tags) -> Vec<String> {
    let listed = tags.listed();
    let mut shown = listed.to_vec();
    let named = |tag: &String| Some(tag.strip_prefix(":user:")?.to_owned());
    let groups = listed.iter().filter_map(named);
    let members = groups.filter_map(|name| flow.group(&name));
    let mut users: Vec<UserId> = members.flatten().copied().collect();
    if listed.iter().any(|tag| tag == USER_EVERYONE) {
        let mut everyone: Vec<UserId> = flow.users().collect();
        everyone.sort();
        users.extend(everyone);
    }
    for user in users {
        let mark = unread_tag(user);
        if user != UserId(1) && flow.contains(user) && !shown.contains(&mark) {
            shown.push(mark);
        }
    }
    shown
}

/// The flow with a group of some of its people and of one who is not in it.
fn with_crew() -> Flow {
    let mut flow = flow();
    let crew = [4, 1, 9, 2].map(UserId);
    flow.1.insert("crew".to_owned(), crew.to_vec());
    flow.1.insert("two".to_owned(), vec![UserId(3), UserId(4)]);
    flow
}

fn mark_or_word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1..9_i64).prop_map(|user| unread_tag(UserId(user))),
        1 => "(tea|:unread:x|:unread:02|:unread:-3|:user:4)",
    ]
}

proptest! {
    #[test]
    fn marks_that_are_not_spelled_out_are_shown_as_if_they_were(
        pieces in proptest::collection::vec("(@crew|@two|@all|@foo|@foo-bar|tea|#tag|foo)", 0..8),
    ) {
        let flow = with_crew();
        let extracted = extract(&[], &pieces.join(" "), &context(&flow));
        let shown = extracted.tags.to_vec();
        prop_assert_eq!(&shown, &spelled_out(&flow, &extracted.tags));
        prop_assert!(shown.iter().all(|tag| extracted.tags.contains(tag)));
        prop_assert!(!extracted.tags.contains(":unread:1") && !extracted.tags.contains(":unread:9"));
    }

    #[test]
    fn compact_tags_show_what_was_given(
        shown in proptest::collection::vec(mark_or_word(), 0..20),
        known in proptest::collection::vec(proptest::collection::vec(1..9_i64, 0..6), 0..3),
    ) {
        let mut distinct = HashSet::new();
        let cohort = |users: Vec<i64>| {
            let mut distinct = HashSet::new();
            let users = users.into_iter().filter(|user| distinct.insert(*user));
            Arc::new(Cohort::of(users.map(UserId).collect()))
        };
        let known: Vec<_> = known.into_iter().map(cohort).collect();
        let compact = Tags::compact(shown.clone(), &known);
        prop_assert_eq!(compact.to_vec(), shown.clone());
        prop_assert!(shown.iter().all(|tag| compact.contains(tag)));
        for tag in shown.iter().filter(|tag| distinct.insert(*tag)) {
            let mut without = compact.clone();
            without.retain(|other| other != tag);
            without.put_first("first".to_owned());
            let is_listed = compact.listed().contains(tag);
            prop_assert_eq!(without.contains(tag), !is_listed || compact.marked().any(|user| unread_tag(user) == *tag));
            prop_assert_eq!(&without.to_vec()[0], "first");
        }
    }
}

#[test]
fn a_few_marks_that_were_taken_off_leave_the_cohort() {
    let everyone = Arc::new(Cohort::of((1..=1_000).map(UserId).collect()));
    let shown = |count: i64| -> Vec<String> {
        (count + 1..=1_000)
            .map(|user| unread_tag(UserId(user)))
            .collect()
    };
    for (taken, is_shared) in [(0, true), (1, true), (64, true), (65, false), (990, false)] {
        let tags = Tags::compact(shown(taken), std::slice::from_ref(&everyone));
        assert_eq!(tags.to_vec(), shown(taken));
        assert_eq!(tags.cohorts()[0] == everyone, is_shared, "{taken}");
    }
    let one = Tags::compact(shown(999), &[everyone]);
    assert_eq!(
        one.listed(),
        [":unread:1000"],
        "a single mark is spelled out"
    );
}

#[test]
fn a_change_of_many_marks_keeps_none_of_them() {
    use crate::messages::{Author, Message, MessageKind, Notice, present_content};
    use crate::{MessageId, RoomId, Timestamp};

    let message = |tags: Tags| Message {
        room: RoomId(1),
        id: MessageId(7),
        event: MessageKind::Message,
        author: Author::user(UserId(1)),
        content: "hey".to_owned(),
        tags,
        explicit_tags: vec![],
        uuid: None,
        sent: Timestamp(0),
        edited: None,
        thread_root: None,
        parent: None,
        to: None,
    };
    let everyone = |count: i64| -> Vec<String> {
        let marks = (2..count + 2).map(|user| unread_tag(UserId(user)));
        std::iter::once(USER_EVERYONE.to_owned())
            .chain(marks)
            .collect()
    };
    for (count, is_kept) in [(50, true), (51, false)] {
        let (none, all) = (Tags::default(), Tags::compact(everyone(count), &[]));
        let after = message(all.clone());
        let added = Notice::tag_change(&after, &TagChanges::between(&none, &all));
        assert_eq!(added.kept.contains(":unread:2\""), is_kept, "{count}");
        let told = present_content(MessageKind::TagChange, &added.kept, &after).unwrap();
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["add"], serde_json::json!(everyone(count)), "{count}");
        let removed = Notice::tag_change(&message(none.clone()), &TagChanges::between(&all, &none));
        assert_eq!(removed.kept.contains(":unread:2\""), is_kept, "{count}");
        assert!(removed.kept.contains(USER_EVERYONE));
        assert!(removed.live.content.contains(":unread:2\""));
    }
}
