//! Mentions of groups.

use super::*;

/// The flow with a group of Anna (1), Foo (2), J.Ä (4) and 5, who is not in the flow, one of
/// foo-bar (3), and one without members.
fn with_groups() -> Flow {
    let mut flow = flow();
    let groups = [
        ("team", vec![1, 2, 4, 5]),
        ("on-call", vec![3]),
        ("σύνολο", vec![2]),
        ("empty", vec![]),
    ];
    for (name, members) in groups {
        flow.1
            .insert(nick_key(name), members.into_iter().map(UserId).collect());
    }
    flow
}

fn new(explicit: &[&str], content: &str) -> Extracted {
    extract(&list(explicit), content, &context(&with_groups()))
}

#[test]
fn a_mention_of_a_group_is_unread_for_its_members_in_the_flow() {
    let team = [":user:team", ":unread:2", ":unread:4"];
    for content in ["@team look", "@TEAM, look", "(@Team)", "@team @team's"] {
        let found = new(&[], content);
        assert_eq!(found.tags, team, "{content}");
        assert_eq!(found.explicit, NONE);
    }
    assert_eq!(new(&[], "@empty").tags, [":user:empty"]);
    assert_eq!(
        new(&[], "team, teams and @teams").tags,
        NONE,
        "a bare name is no mention"
    );
    assert_eq!(new(&[], "@on-call.").tags, [":user:on-call", ":unread:3"]);
}

#[test]
fn a_group_is_named_among_the_given_tags() {
    for tag in ["@team", "@TEAM", ":user:team", ":USER:Team"] {
        let found = new(&[tag], "");
        assert_eq!(
            found.tags,
            [":user:team", ":unread:2", ":unread:4"],
            "{tag}"
        );
        assert_eq!(found.explicit, [":user:team"]);
    }
    // The last letter has another form in lower case there.
    assert_eq!(
        new(&[":user:ΣΎΝΟΛΟ"], "").tags,
        [":user:σύνολο", ":unread:2"]
    );
    assert_eq!(new(&[":user:none", "@none", ":user:"], "").tags, NONE);
}

#[test]
fn a_user_who_is_mentioned_in_several_ways_has_one_mark() {
    let found = new(&[], "@team @foo @on-call @all");
    assert_eq!(
        found.tags,
        [
            ":user:team",
            ":user:2",
            ":unread:2",
            ":user:on-call",
            ":user:everyone",
            ":unread:4",
            ":unread:3",
        ]
    );
}

#[test]
fn a_message_mentions_a_bounded_number_of_groups() {
    let mut flow = flow();
    for number in 0..=MAX_TAGS {
        flow.1.insert(format!("g{number}"), vec![]);
    }
    let text: Vec<String> = (0..=MAX_TAGS).map(|number| format!("@g{number}")).collect();
    let found = extract(&[], &text.join(" "), &context(&flow));
    assert_eq!(found.tags.listed().len(), MAX_TAGS);
    assert!(!found.tags.contains(&format!(":user:g{MAX_TAGS}")));
}

#[test]
fn a_nick_goes_before_the_name_of_a_group() {
    let mut flow = with_groups();
    flow.1.insert("foo".to_owned(), vec![UserId(3)]);
    assert_eq!(
        extract(&[], "@foo", &context(&flow)).tags,
        [":user:2", ":unread:2"]
    );
}

#[test]
fn a_list_is_asked_for_a_group_in_either_form() {
    let flow = with_groups();
    for tag in ["@Team", ":user:team", ":User:TEAM"] {
        assert_eq!(resolve(tag, &flow).as_deref(), Some(":user:team"), "{tag}");
    }
    assert_eq!(
        resolve(":user:gone", &flow).as_deref(),
        Some(":user:gone"),
        "one that was removed"
    );
    assert_eq!(resolve("@gone", &flow), None);
    assert_eq!(
        resolve(":user:Όλος", &flow).as_deref(),
        Some(&*group_tag(&nick_key("όλοσ")))
    );
}

#[test]
fn a_new_text_adds_and_drops_groups() {
    let flow = with_groups();
    let context = context(&flow);
    let first = extract(&[], "@team", &context);
    let second = reparse(&first.tags, &first.explicit, "@on-call", &context);
    assert_eq!(second.tags, [":user:on-call", ":unread:3"]);
    let changes = TagChanges::between(&first.tags, &second.tags);
    assert_eq!(changes.remove, [":user:team", ":unread:2", ":unread:4"]);
    let third = reparse(&second.tags, &second.explicit, "none", &context);
    assert_eq!(third.tags, NONE);
}

#[test]
fn a_correction_is_unread_neither_for_readers_nor_for_new_members() {
    let mut flow = with_groups();
    let before = list(&[":user:team", ":unread:4"]);
    flow.1
        .insert("team".to_owned(), vec![UserId(2), UserId(3), UserId(4)]);
    let after = reparse(&before.into(), &[], "@team, corrected", &context(&flow));
    assert_eq!(
        after.tags,
        [":user:team", ":unread:4"],
        "2 has read it, 3 was no member then"
    );
}

#[test]
fn a_given_group_stays_when_it_is_removed() {
    let mut flow = with_groups();
    let before = extract(&list(&["@team"]), "", &context(&flow));
    flow.1.clear();
    let after = reparse(&before.tags, &before.explicit, "new", &context(&flow));
    assert_eq!(after.tags, [":user:team"]);
    assert_eq!(after.explicit, [":user:team"]);
}

#[test]
fn setting_all_tags_adds_and_drops_groups() {
    let flow = with_groups();
    let context = context(&flow);
    let before = extract(&[], "@all", &context);
    let wanted = list(&[":unread:2", "@team"]);
    let after = replace(&before.tags, &before.explicit, &wanted, &context);
    assert_eq!(after.tags, [":unread:2", ":user:team", ":unread:4"]);
    let read = replace(
        &after.tags,
        &after.explicit,
        &list(&[":user:team", ":unread:4"]),
        &context,
    );
    assert_eq!(read.tags, [":user:team", ":unread:4"], "2 has read it");
    let none = replace(&read.tags, &read.explicit, &[], &context);
    assert_eq!(none.tags, NONE);
}

#[test]
fn tags_of_groups_do_not_count_towards_the_limit() {
    let mut tags: Vec<String> = (0..MAX_TAGS).map(|n| format!("t{n}")).collect();
    tags.push(":user:team".to_owned());
    assert_eq!(validate(&tags), Ok(()));
    assert!(
        !is_generated(":user:team"),
        "a name is a word of the sender's"
    );
}
