//! Made-up histories: the checker passes the good one and finds each kind of mistake in the others.

use super::*;

/// Four messages were posted: `a` and `b` are 10 and 11, of `c` it is not known, `d` is there. Then
/// `a` was edited, which took the number 14.
fn posted() -> Posted {
    let messages = [
        ("a", Answer::Numbered(10)),
        ("b", Answer::Numbered(11)),
        ("c", Answer::Unclear),
        ("d", Answer::Accepted),
    ];
    Posted {
        messages: messages
            .map(|(name, answer)| (name.to_owned(), answer))
            .into(),
        edits: [(10, Edit { answered: true })].into(),
    }
}

fn stored(id: i64, name: &str) -> Stored {
    let text = if name == "a" {
        Text::Edited
    } else {
        Text::Posted
    };
    Stored {
        id,
        post: Some((name.to_owned(), text)),
    }
}

fn listed() -> Vec<Stored> {
    vec![
        stored(10, "a"),
        stored(11, "b"),
        stored(12, "c"),
        stored(13, "d"),
    ]
}

fn post(id: i64, name: &str) -> Heard {
    Heard {
        seq: 100 + id,
        id: Some(id),
        what: What::Post(name.into(), Text::Posted),
    }
}

fn edit(id: i64, message: i64) -> Heard {
    Heard {
        seq: 100 + id,
        id: Some(id),
        what: What::Edit(message),
    }
}

fn heard() -> Vec<Heard> {
    vec![
        post(10, "a"),
        post(11, "b"),
        post(12, "c"),
        post(13, "d"),
        edit(14, 10),
    ]
}

/// The counts of lost, doubled, reordered and gapped.
fn judge(listed: Vec<Stored>, heard: Vec<Heard>) -> [usize; 4] {
    let posted = posted();
    let mut checker = Checker::new(&posted);
    checker.stored(listed);
    checker.heard("ada", 0, heard);
    let verdict = checker.verdict();
    assert_eq!(
        verdict.is_clean(),
        verdict.counts().iter().all(|(_, count)| count.number == 0)
    );
    verdict.counts().map(|(_, count)| count.number)
}

fn judge_listed(listed: Vec<Stored>) -> [usize; 4] {
    let posted = posted();
    let mut checker = Checker::new(&posted);
    checker.stored(listed);
    checker.verdict().counts().map(|(_, count)| count.number)
}

#[test]
fn a_good_history_is_clean() {
    assert_eq!(judge(listed(), heard()), [0, 0, 0, 0]);
}

#[test]
fn what_got_no_clear_answer_may_be_there_or_not() {
    let mut listed = listed();
    listed.remove(2);
    assert_eq!(judge_listed(listed), [0, 0, 0, 0]);
}

#[test]
fn what_the_server_said_itself_is_part_of_the_order_only() {
    let mut events = heard();
    events.push(Heard {
        seq: 115,
        id: None,
        what: What::Other,
    });
    events.push(Heard {
        seq: 116,
        id: Some(15),
        what: What::Other,
    });
    let mut more = listed();
    more.push(Stored { id: 15, post: None });
    assert_eq!(judge(more, events), [0, 0, 0, 0]);
}

#[test]
fn an_answered_message_that_is_not_there_is_lost() {
    let mut listed = listed();
    listed.pop();
    assert_eq!(judge_listed(listed), [1, 0, 0, 0]);
}

#[test]
fn a_message_that_is_there_under_another_number_than_was_answered_is_lost() {
    let listed = vec![stored(10, "a"), stored(12, "b"), stored(13, "d")];
    assert_eq!(judge_listed(listed), [1, 0, 0, 0]);
}

#[test]
fn a_message_whose_answered_edit_is_not_there_is_lost() {
    let mut listed = listed();
    listed[0].post = Some(("a".to_owned(), Text::Posted));
    assert_eq!(judge_listed(listed), [1, 0, 0, 0]);
}

#[test]
fn a_message_with_another_text_is_lost() {
    let mut altered = listed();
    altered[1].post = Some(("b".to_owned(), Text::Altered));
    assert_eq!(judge_listed(altered), [1, 0, 0, 0]);
    for text in [Text::Altered, Text::Edited] {
        let mut events = heard();
        events[1].what = What::Post("b".into(), text);
        assert_eq!(judge(listed(), events), [1, 0, 0, 0]);
    }
}

#[test]
fn a_message_listed_under_two_numbers_is_doubled() {
    let mut listed = listed();
    listed.push(stored(15, "d"));
    assert_eq!(judge_listed(listed), [0, 1, 0, 0]);
}

#[test]
fn a_message_listed_twice_is_doubled() {
    let mut listed = listed();
    listed.insert(3, Stored { id: 12, post: None });
    assert_eq!(judge_listed(listed), [0, 1, 0, 0]);
}

#[test]
fn a_message_that_nobody_posted_is_doubled() {
    let mut listed = listed();
    listed.push(stored(15, "e"));
    assert_eq!(judge_listed(listed), [0, 1, 0, 0]);
}

#[test]
fn a_list_out_of_order_is_reordered() {
    let mut listed = listed();
    listed.swap(0, 1);
    assert_eq!(judge_listed(listed), [0, 0, 1, 0]);
}

#[test]
fn a_message_that_a_listener_missed_is_lost_and_leaves_a_gap() {
    let mut events = heard();
    events.remove(1);
    assert_eq!(judge(listed(), events), [1, 0, 0, 1]);
}

#[test]
fn the_last_message_missed_is_lost() {
    let mut events = heard();
    events.truncate(3);
    assert_eq!(
        judge(listed(), events),
        [2, 0, 0, 0],
        "a message and an edit"
    );
}

#[test]
fn an_edit_that_a_listener_missed_is_lost() {
    let mut events = heard();
    events.pop();
    assert_eq!(judge(listed(), events), [1, 0, 0, 0]);
}

#[test]
fn a_listener_that_came_later_owes_nothing_of_before() {
    let posted = posted();
    let mut checker = Checker::new(&posted);
    checker.stored(listed());
    checker.heard("late", 12, heard().split_off(3));
    assert!(checker.verdict().is_clean());
}

#[test]
fn a_number_that_a_listener_skipped_is_gapped_whatever_it_was() {
    let mut events = heard();
    events.push(post(17, "z"));
    let [_, _, _, gapped] = judge(listed(), events);
    assert_eq!(gapped, 2, "15 and 16");
}

#[test]
fn an_event_heard_twice_is_doubled() {
    let mut events = heard();
    events.insert(2, post(11, "b"));
    assert_eq!(judge(listed(), events), [0, 1, 0, 0]);
    let mut events = heard();
    events.push(post(10, "a"));
    assert_eq!(
        judge(listed(), events),
        [0, 1, 0, 0],
        "also when others came between"
    );
}

#[test]
fn a_position_heard_twice_is_doubled() {
    let mut events = heard();
    let mut again = post(15, "z");
    again.seq = 114;
    again.what = What::Other;
    events.push(again);
    assert_eq!(judge(listed(), events), [0, 1, 0, 0]);
}

#[test]
fn a_message_heard_under_two_numbers_is_doubled_and_not_where_it_should_be() {
    let mut events = heard();
    events.push(post(15, "b"));
    assert_eq!(judge(listed(), events), [1, 1, 0, 0]);
}

#[test]
fn an_edit_heard_twice_or_made_by_nobody_is_doubled() {
    let mut events = heard();
    events.push(edit(15, 10));
    assert_eq!(judge(listed(), events), [0, 1, 0, 0]);
    let mut events = heard();
    events.push(edit(15, 11));
    assert_eq!(judge(listed(), events), [0, 1, 0, 0]);
}

#[test]
fn events_out_of_order_are_reordered() {
    let mut events = heard();
    events.swap(1, 2);
    assert_eq!(judge(listed(), events), [0, 0, 1, 0]);
}

#[test]
fn positions_out_of_order_are_reordered() {
    let mut events = heard();
    let (one, next) = (events[1].seq, events[2].seq);
    (events[1].seq, events[2].seq) = (next, one);
    assert_eq!(judge(listed(), events), [0, 0, 1, 0]);
}

#[test]
fn a_message_heard_that_is_not_listed_is_lost() {
    let mut listed = listed();
    listed.remove(2);
    assert_eq!(judge(listed, heard()), [1, 0, 0, 0]);
}

#[test]
fn the_verdict_tells_the_counts_and_the_first_cases() {
    let posted = posted();
    let mut checker = Checker::new(&posted);
    checker.stored((20..40).map(|id| stored(id, &id.to_string())));
    let text = checker.verdict().to_string();
    assert!(
        text.contains("lost: 3\n    a was answered and is not listed\n"),
        "{text}"
    );
    assert!(text.contains("doubled: 20\n"), "{text}");
    assert_eq!(text.matches("nobody posted it").count(), EXAMPLES);
}
