//! Reactions to messages: emoji, and who said each.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::UserId;

/// The most different emoji that a message has.
pub const MAX_EMOJI: usize = 20;
/// The most reactions that a message has, of all users and with all emoji.
pub const MAX_REACTIONS: usize = 2000;

/// What is wrong with a text that should be an emoji.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not an emoji")]
pub struct InvalidEmoji;

/// One emoji, in the form that Unicode calls fully qualified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Emoji(&'static str);

impl Emoji {
    /// The emoji itself.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Reads an emoji of the Unicode list of emoji, with or without the variation selectors U+FE0F of
/// its parts, or its shortcode with or without colons: `👍`, `:thumbsup:`, `+1`. Each skin tone is
/// an emoji of its own.
impl FromStr for Emoji {
    type Err = InvalidEmoji;

    fn from_str(text: &str) -> Result<Self, InvalidEmoji> {
        let shortcode = text
            .strip_prefix(':')
            .and_then(|rest| rest.strip_suffix(':'))
            .unwrap_or(text);
        BY_BARE_FORM
            .get(&bare_form(text))
            .copied()
            .or_else(|| emojis::get_by_shortcode(shortcode).map(emojis::Emoji::as_str))
            .map(Self)
            .ok_or(InvalidEmoji)
    }
}

/// Every emoji by its form without selectors. `emojis::get` takes some couples of two skin tones
/// for others when a selector is missing.
static BY_BARE_FORM: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    every_emoji()
        .map(|emoji| (bare_form(emoji), emoji))
        .collect()
});

/// All emoji, those of every skin tone among them.
fn every_emoji() -> impl Iterator<Item = &'static str> {
    let toned = |emoji: &'static emojis::Emoji| {
        let tones = emoji.skin_tones().into_iter().flatten();
        std::iter::once(emoji)
            .chain(tones)
            .map(emojis::Emoji::as_str)
    };
    emojis::iter().flat_map(toned)
}

fn bare_form(text: &str) -> String {
    text.replace('\u{fe0f}', "")
}

impl fmt::Display for Emoji {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Why a message takes no further reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReactionsFull {
    /// It has as many different emoji as it can.
    #[error("a message has at most {MAX_EMOJI} different emoji")]
    Emoji,
    /// It has as many reactions as it can.
    #[error("a message has at most {MAX_REACTIONS} reactions")]
    Reactions,
}

/// Those who reacted to a message with one emoji.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// The emoji. One that is kept may be missing in the list of [`Emoji`].
    pub emoji: String,
    /// The users, in the order in which they reacted.
    pub users: Vec<UserId>,
}

/// The reactions to a message, by emoji. The emoji are in the order of their first users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reactions(Vec<Reaction>);

impl Reactions {
    /// The reactions, each with its users.
    pub fn iter(&self) -> impl Iterator<Item = &Reaction> {
        self.0.iter()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in a reaction that is kept and came after all others.
    pub fn push(&mut self, emoji: &str, user: UserId) {
        match self.0.iter_mut().find(|known| known.emoji == emoji) {
            Some(known) => known.users.push(user),
            None => self.0.push(Reaction {
                emoji: emoji.to_owned(),
                users: vec![user],
            }),
        }
    }

    /// Whether a user has reacted with an emoji.
    #[must_use]
    pub fn contains(&self, emoji: Emoji, user: UserId) -> bool {
        self.of(emoji)
            .is_some_and(|known| known.users.contains(&user))
    }

    /// Whether one more user may react with an emoji.
    ///
    /// # Errors
    ///
    /// [`ReactionsFull`].
    pub fn check_room_for(&self, emoji: Emoji) -> Result<(), ReactionsFull> {
        if self.of(emoji).is_none() && self.0.len() >= MAX_EMOJI {
            return Err(ReactionsFull::Emoji);
        }
        let count: usize = self.0.iter().map(|known| known.users.len()).sum();
        if count >= MAX_REACTIONS {
            return Err(ReactionsFull::Reactions);
        }
        Ok(())
    }

    /// About how many bytes they take where they are shown.
    #[must_use]
    pub fn weight(&self) -> usize {
        let weigh = |known: &Reaction| known.emoji.len() + 8 + 8 * known.users.len();
        self.0.iter().map(weigh).sum()
    }

    fn of(&self, emoji: Emoji) -> Option<&Reaction> {
        self.0.iter().find(|known| known.emoji == emoji.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn emoji(text: &str) -> Emoji {
        text.parse().unwrap()
    }

    #[test]
    fn an_emoji_has_one_form() {
        for (text, form) in [
            ("👍", "👍"),
            ("👍\u{fe0f}", "👍"),
            (":thumbsup:", "👍"),
            ("thumbsup", "👍"),
            ("+1", "👍"),
            ("❤", "❤\u{fe0f}"),
            ("❤\u{fe0f}", "❤\u{fe0f}"),
            (":heart:", "❤\u{fe0f}"),
            ("1\u{20e3}", "1\u{fe0f}\u{20e3}"),
            ("👍🏽", "👍🏽"),
            ("🇫🇮", "🇫🇮"),
            ("👩\u{200d}❤\u{200d}👨", "👩\u{200d}❤\u{fe0f}\u{200d}👨"),
            ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"),
        ] {
            assert_eq!(emoji(text).as_str(), form, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_single_emoji_is_refused() {
        for text in [
            "",
            ":",
            "::",
            ":thumbsup",
            "thumbs",
            "1",
            "#",
            "👍👍",
            "👍 ",
            "👍x",
            "\u{fe0f}",
            "\u{200d}",
            "🏽👍",
            "🇫",
            "no_such_emoji",
            "<b>",
        ] {
            assert_eq!(text.parse::<Emoji>(), Err(InvalidEmoji), "{text:?}");
        }
    }

    #[test]
    fn a_message_has_a_bounded_number_of_different_emoji() {
        let all: Vec<&str> = every_emoji().collect();
        let mut reactions = Reactions::default();
        for known in &all[..MAX_EMOJI] {
            assert_eq!(reactions.check_room_for(emoji(known)), Ok(()));
            reactions.push(known, UserId(1));
        }
        assert_eq!(
            reactions.check_room_for(emoji(all[MAX_EMOJI])),
            Err(ReactionsFull::Emoji)
        );
        assert_eq!(
            reactions.check_room_for(emoji(all[0])),
            Ok(()),
            "others still join in"
        );
    }

    #[test]
    fn a_message_has_a_bounded_number_of_reactions() {
        let mut reactions = Reactions::default();
        for user in 0..MAX_REACTIONS {
            assert_eq!(reactions.check_room_for(emoji("👍")), Ok(()), "{user}");
            reactions.push("👍", UserId(user as i64));
        }
        for known in ["👍", "👎"] {
            assert_eq!(
                reactions.check_room_for(emoji(known)),
                Err(ReactionsFull::Reactions)
            );
        }
    }

    #[test]
    fn reactions_keep_the_order_in_which_they_came() {
        let mut reactions = Reactions::default();
        for (emoji, user) in [("👍", 2), ("🎉", 1), ("👍", 1)] {
            reactions.push(emoji, UserId(user));
        }
        let shown: Vec<(&str, &[UserId])> = reactions
            .iter()
            .map(|known| (known.emoji.as_str(), &known.users[..]))
            .collect();
        assert_eq!(
            shown,
            [("👍", &[UserId(2), UserId(1)][..]), ("🎉", &[UserId(1)])]
        );
        assert!(reactions.contains(emoji("🎉"), UserId(1)));
        assert!(!reactions.contains(emoji("🎉"), UserId(2)));
        assert!(!reactions.contains(emoji("👎"), UserId(1)));
    }

    proptest! {
        #[test]
        fn selectors_make_no_other_emoji(which in any::<prop::sample::Index>(), marked: u16) {
            let all: Vec<&str> = every_emoji().collect();
            let wanted = all[which.index(all.len())];
            let variant: String = bare_form(wanted)
                .chars()
                .enumerate()
                .flat_map(|(at, c)| {
                    let selector = (marked >> (at % 16) & 1 == 1).then_some('\u{fe0f}');
                    std::iter::once(c).chain(selector)
                })
                .collect();
            prop_assert_eq!(emoji(&variant).as_str(), wanted);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,6}") {
            if let Ok(read) = text.parse::<Emoji>() {
                prop_assert_eq!(emoji(read.as_str()), read, "its form is the one of itself");
            }
        }
    }
}
