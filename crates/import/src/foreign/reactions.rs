//! Reactions to a message of an archive, as many as a message may have here.

use std::collections::HashSet;

use eddyline_model::UserId;
use eddyline_model::reactions::{Emoji, MAX_EMOJI, MAX_REACTIONS};

use super::{ForeignReaction, MAX_ID};
use crate::{ImportReport, LeftOutKind};

/// The reactions of users, each once. `user` gives the account that the archive calls so.
pub(super) fn reactions(
    foreign: &[ForeignReaction],
    user: impl Fn(&str) -> Option<UserId>,
    report: &mut ImportReport,
) -> Vec<(String, UserId)> {
    let (mut kept, mut seen, mut emojis) = (Vec::new(), HashSet::new(), HashSet::new());
    for reaction in foreign {
        let Some(emoji) = emoji(&reaction.emoji) else {
            report.leave_out(LeftOutKind::UnknownEmoji, reaction.emoji.as_str());
            continue;
        };
        for person in &reaction.people {
            let Some(user) = user(person) else {
                let which = format!("{} of {person}", reaction.emoji);
                report.leave_out(LeftOutKind::UnknownPerson, which);
                continue;
            };
            if !seen.insert((emoji, user)) {
                continue;
            }
            let is_beyond = emojis.len() >= MAX_EMOJI && !emojis.contains(&emoji);
            if is_beyond || kept.len() >= MAX_REACTIONS {
                report.leave_out(LeftOutKind::BeyondLimit, reaction.emoji.as_str());
                continue;
            }
            emojis.insert(emoji);
            kept.push((emoji.as_str().to_owned(), user));
        }
    }
    kept
}

/// The emoji of this name, without the skin tone that some programs put behind it.
fn emoji(name: &str) -> Option<Emoji> {
    // No name is so long, and a text of megabytes is not looked up.
    let plain = name.split("::").next().filter(|_| name.len() <= MAX_ID)?;
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emoji whose shortcodes are letters.
    const NAMES: [&str; 24] = [
        "dog",
        "cat",
        "mouse",
        "hamster",
        "rabbit",
        "fox_face",
        "bear",
        "panda_face",
        "koala",
        "tiger",
        "lion",
        "cow",
        "pig",
        "frog",
        "monkey_face",
        "chicken",
        "penguin",
        "bird",
        "wolf",
        "boar",
        "horse",
        "unicorn",
        "bee",
        "bug",
    ];

    fn reaction(emoji: &str, people: impl IntoIterator<Item = usize>) -> ForeignReaction {
        ForeignReaction {
            emoji: emoji.to_owned(),
            people: people
                .into_iter()
                .map(|person| person.to_string())
                .collect(),
        }
    }

    type Outcome = (Vec<(String, UserId)>, Vec<(LeftOutKind, u64)>);

    fn read(foreign: &[ForeignReaction]) -> Outcome {
        let mut report = ImportReport::default();
        let user = |person: &str| person.parse().ok().map(UserId);
        let kept = reactions(foreign, user, &mut report);
        let left_out = report.left_out.iter();
        (kept, left_out.map(|of| (of.kind, of.count)).collect())
    }

    #[test]
    fn a_message_has_so_many_different_emoji() {
        let foreign: Vec<_> = NAMES.iter().map(|name| reaction(name, [1, 1, 2])).collect();
        let (kept, left_out) = read(&foreign);
        assert_eq!(kept.len(), 2 * MAX_EMOJI);
        let beyond = 2 * (NAMES.len() - MAX_EMOJI) as u64;
        assert_eq!(left_out, [(LeftOutKind::BeyondLimit, beyond)]);
    }

    #[test]
    fn a_message_has_so_many_reactions() {
        let (kept, left_out) = read(&[reaction("dog", 0..MAX_REACTIONS + 7), reaction("cat", [1])]);
        assert_eq!(kept.len(), MAX_REACTIONS);
        assert_eq!(left_out, [(LeftOutKind::BeyondLimit, 8)]);
    }

    #[test]
    fn what_is_no_reaction_of_a_user_is_counted() {
        let nobody = ForeignReaction {
            emoji: "dog".to_owned(),
            people: vec!["ada".to_owned(); 2],
        };
        let foreign = [
            nobody,
            reaction("of_a_workspace", [1]),
            reaction(&"d".repeat(1000), [1]),
            reaction("wave::skin-tone-3", [1]),
        ];
        let (kept, left_out) = read(&foreign);
        assert_eq!(kept, [("\u{1f44b}".to_owned(), UserId(1))]);
        let expected = [
            (LeftOutKind::UnknownPerson, 2),
            (LeftOutKind::UnknownEmoji, 2),
        ];
        assert_eq!(left_out, expected);
    }

    #[test]
    fn many_emoji_take_no_longer_for_each() {
        let foreign: Vec<_> = (0..40_000)
            .map(|at| reaction(&format!("e{at}"), [1]))
            .collect();
        let many = [reaction("dog", 0..400_000)];
        assert_eq!(read(&foreign).1, [(LeftOutKind::UnknownEmoji, 40_000)]);
        assert_eq!(read(&many).0.len(), MAX_REACTIONS);
    }
}
