//! Nicks for those who have not chosen one.

use std::str::FromStr as _;

use super::{MAX_NICK, Nick, is_ignorable, is_nick_char};

/// The highest number that is tried at the end of a nick before random ones are.
const NUMBERED: u32 = 9;

/// Nicks for somebody with this full name in the order in which they are to be tried: the first
/// word of the name, all its words together, these with `2` to `9` at their end, and last one that
/// ends in `random`, which nobody has. So the number of tries does not grow with the number of
/// people.
///
/// Of the name only what a nick may hold, and what is seen of it, is taken; a name with nothing of
/// that is `user`.
pub fn nick_candidates(name: &str, random: &str) -> impl Iterator<Item = Nick> {
    let words: Vec<String> = name
        .split_whitespace()
        .map(|word| {
            word.chars()
                .filter(|c| is_nick_char(*c) && !is_ignorable(*c))
                .collect()
        })
        .filter(|word: &String| !word.is_empty())
        .collect();
    let first = words.first().cloned().unwrap_or_else(|| "user".to_owned());
    let whole = if words.is_empty() {
        first.clone()
    } else {
        words.concat()
    };
    let plain = [with_end(&first, ""), with_end(&whole, "")];
    let numbered = (2..=NUMBERED).map({
        let first = first.clone();
        move |number| with_end(&first, &number.to_string())
    });
    let last = with_end(&first, random);
    let mut before = Vec::new();
    plain
        .into_iter()
        .chain(numbered)
        .chain([last])
        .filter_map(|nick| Nick::from_str(&nick).ok())
        .filter(move |nick| {
            let key = nick.key();
            let new = !before.contains(&key);
            before.push(key);
            new
        })
}

/// The nick with an end, shortened so that the end has room.
fn with_end(nick: &str, end: &str) -> String {
    let room = MAX_NICK.saturating_sub(end.chars().count());
    nick.chars().take(room).chain(end.chars()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidates(name: &str) -> Vec<String> {
        nick_candidates(name, "-7f3a")
            .map(Nick::into_string)
            .collect()
    }

    #[test]
    fn a_nick_is_made_from_the_name() {
        let made = candidates("Ada King Lovelace");
        assert_eq!(made[..4], ["Ada", "AdaKingLovelace", "Ada2", "Ada3"]);
        assert_eq!(made.last().unwrap(), "Ada-7f3a");
        assert_eq!(
            candidates("Zoë")[..2],
            ["Zoë", "Zoë2"],
            "nothing is tried twice"
        );
        assert_eq!(candidates("山田 太郎")[..2], ["山田", "山田太郎"]);
    }

    #[test]
    fn what_a_nick_cannot_hold_is_left_out() {
        assert_eq!(candidates("@da: Lovelace,")[0], "da");
        assert_eq!(candidates("@ ,")[0], "user");
        assert_eq!(candidates("\u{200b}")[0], "user");
        assert_eq!(
            candidates("All Smith")[0],
            "AllSmith",
            "nobody is called all"
        );
        let long = candidates(&"é".repeat(60));
        assert_eq!(long[0], "é".repeat(40));
        assert_eq!(long[1], format!("{}2", "é".repeat(39)));
    }

    proptest! {
        #[test]
        fn every_name_has_a_nick(name: String) {
            prop_assert!(nick_candidates(&name, "-7f3a").count() >= 1);
        }
    }
}
