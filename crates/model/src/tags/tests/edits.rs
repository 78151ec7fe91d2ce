//! What becomes of tags when a message is edited.

use super::*;

#[test]
fn a_new_text_brings_its_own_tags_and_given_ones_stay() {
    let flow = flow();
    let context = context(&flow);
    let first = extract(
        &list(&["keep", "@foo"]),
        "#old @foo-bar http://x.org",
        &context,
    );
    let second = reparse(&first.tags, &first.explicit, "#new foo", &context);
    assert_eq!(
        second.tags,
        ["keep", ":user:2", ":unread:2", "new", ":highlight:2"]
    );
    assert_eq!(second.explicit, ["keep", ":user:2"]);
}

#[test]
fn who_has_read_a_message_is_not_told_of_its_correction() {
    let flow = flow();
    let read = list(&[":user:2", ":user:3", ":unread:3"]);
    let edited = reparse(&read.into(), &[], "@foo @foo-bar @j.ä", &context(&flow));
    assert_eq!(
        edited.tags,
        [":user:2", ":user:3", ":unread:3", ":user:4", ":unread:4"]
    );
    let read = list(&[":user:everyone", ":unread:3"]);
    let edited = reparse(&read.into(), &[], "@all", &context(&flow));
    assert_eq!(edited.tags, [":user:everyone", ":unread:3"]);
}

#[test]
fn a_mention_stays_when_its_user_is_blocked() {
    let mut flow = flow();
    let before = extract(&list(&["@foo"]), "", &context(&flow));
    flow.0.remove("foo");
    let after = reparse(&before.tags, &before.explicit, "new", &context(&flow));
    assert_eq!(after.tags, [":user:2"]);
}

#[test]
fn setting_all_tags_drops_the_missing_and_tells_the_newly_mentioned() {
    let flow = flow();
    let before = extract(
        &list(&["given"]),
        "#parsed @foo foo http://x.org",
        &context(&flow),
    );
    let wanted = list(&[
        "parsed",
        ":user:2",
        ":unread:2",
        ":highlight:2",
        "Added",
        "@foo-bar",
        ":unread:4",
    ]);
    let after = replace(&before.tags, &before.explicit, &wanted, &context(&flow));
    assert_eq!(
        after.tags,
        [
            "parsed",
            ":user:2",
            ":unread:2",
            ":highlight:2",
            "added",
            ":user:3",
            ":unread:3"
        ]
    );
    assert_eq!(
        after.explicit,
        ["added", ":user:3"],
        "what the text made is still the text's"
    );
    let changes = TagChanges::between(&before.tags, &after.tags);
    assert_eq!(changes.add, ["added", ":user:3", ":unread:3"]);
    assert_eq!(changes.remove, ["given", ":url"]);
    assert!(TagChanges::between(&after.tags, &after.tags).is_empty());
}

#[test]
fn leaving_ones_unread_tag_out_is_to_have_read() {
    let flow = flow();
    let before = extract(&[], "@foo", &context(&flow));
    let after = replace(
        &before.tags,
        &before.explicit,
        &list(&[":user:2"]),
        &context(&flow),
    );
    assert_eq!(after.tags, [":user:2"]);
    let before = extract(&[], "@all", &context(&flow));
    let wanted = list(&[":user:everyone", ":unread:3", ":unread:4", "@foo-bar"]);
    let after = replace(&before.tags, &before.explicit, &wanted, &context(&flow));
    assert_eq!(
        after.tags,
        [":user:everyone", ":unread:3", ":unread:4", ":user:3"]
    );
    assert_eq!(
        TagChanges::between(&before.tags, &after.tags).remove,
        [":unread:2"]
    );
}

proptest! {
    #[test]
    fn editing_nothing_changes_nothing(
        given in proptest::collection::vec(texts(), 0..6),
        text in texts(),
    ) {
        let flow = flow();
        let first = extract(&given, &text, &context(&flow));
        prop_assert_eq!(&reparse(&first.tags, &first.explicit, &text, &context(&flow)), &first);
        let same = replace(&first.tags, &first.explicit, &first.tags.to_vec(), &context(&flow));
        prop_assert!(TagChanges::between(&first.tags, &same.tags).is_empty(), "{:?} {:?}", first, same);
        prop_assert_eq!(&same.explicit, &first.explicit);
    }
}

#[test]
fn an_amendment_leaves_the_other_tags_as_they_are() {
    let flow = flow();
    let before = list(&[
        "plan",
        "todo",
        ":user:2",
        ":unread:2",
        ":user:3",
        ":unread:3",
    ]);
    let amended = |add: &[&str], remove: &[&str]| {
        amend(&before.clone().into(), &list(add), &list(remove), &flow)
    };
    assert_eq!(amended(&[], &[]), before);
    assert_eq!(
        amended(&["#New"], &["#TODO", "unknown", "@nobody"]),
        list(&[
            "plan",
            ":user:2",
            ":unread:2",
            ":user:3",
            ":unread:3",
            "#New"
        ])
    );
    assert_eq!(
        amended(&["todo"], &["todo", "@foo"]),
        list(&["plan", ":user:3", ":unread:3", "todo"]),
        "a mention goes with its unread mark, and what is added stays"
    );
}
