//! Whether a new password is good enough.
//!
//! There are no rules about digits and signs, which only make passwords hard to remember. A
//! password must be long enough, and must not be among those that somebody would try first: common
//! ones, words and names, rows of keys, dates, and what they know about its owner. The guessing is
//! done by the estimator `zxcvbn`.

use std::fmt;

use zxcvbn::feedback::Warning;
use zxcvbn::matching::patterns::MatchPattern;
use zxcvbn::{Entropy, Score, zxcvbn};

use crate::Password;

/// The shortest password, in characters (Unicode scalar values).
pub const MIN_CHARS: usize = 8;

/// How hard a password must be to guess: more than a million tries, by the estimator's count.
///
/// The next score asks for a hundred million and would refuse any 8 random characters, hence make
/// the minimum length a lie. A million is enough here: at the door,
/// [`SignInGuard`](crate::SignInGuard) allows few tries, and who has stolen the hashes pays
/// argon2id for each.
const GOOD_ENOUGH: Score = Score::Two;

/// How many characters the estimator is shown at once.
///
/// Its work grows with the square of the length and with the ways to read signs as letters, to half
/// a second for 100 hostile characters, and its arithmetic overflows for keyboard patterns of 29.
const WINDOW: usize = 28;

/// What everybody would try here.
const SERVICE: &str = "eddyline";

/// Why a password is not good enough. The text is fit to stand after "Your password" or after the
/// field's name, and never repeats any part of the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Weakness {
    /// Fewer than [`MIN_CHARS`] characters.
    #[error("is too short (minimum is {MIN_CHARS} characters)")]
    TooShort,
    /// More than [`Password::MAX_BYTES`] bytes.
    #[error("is too long (maximum is {} bytes)", Password::MAX_BYTES)]
    TooLong,
    /// Somebody would hit upon it soon.
    #[error("is easy to guess: {0}. Try a few words that have nothing to do with each other")]
    Guessable(
        /// What makes it so.
        Pattern,
    ),
}

/// What makes a password easy to guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// It is made of what is known about its owner, or of the name of this service.
    Personal,
    /// Many people have this one, or one that is like it.
    Common,
    /// Common words with little around them.
    Word,
    /// Common names with little around them.
    Name,
    /// Keys side by side.
    Keyboard,
    /// The same over and over.
    Repeat,
    /// Characters in their order.
    Sequence,
    /// A date or a year.
    Date,
    /// None of these, and still too little.
    Simple,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Personal => "it is made of a name or address that others know",
            Self::Common => "many people have this password or one like it",
            Self::Word => "words with little around them are tried early",
            Self::Name => "names are tried early",
            Self::Keyboard => "keys beside each other are tried early",
            Self::Repeat => "repeating something hardly makes it harder",
            Self::Sequence => "sequences like abc or 6543 are tried early",
            Self::Date => "dates and years are tried early",
            Self::Simple => "there is too little in it",
        })
    }
}

/// Whether somebody may choose this password.
///
/// `about` is what others know about its owner: name, nick, e-mail address, organization. Each is
/// looked at whole and in its parts.
///
/// Of a password with more than 28 characters the first and the last 28 are judged, and it passes
/// if either does by itself.
///
/// It mostly takes a millisecond or two, but for hostile texts about as long as a hash: call it
/// where blocking is allowed.
///
/// # Errors
///
/// [`Weakness`], which says what is wrong with it.
pub fn check(password: &Password, about: &[&str]) -> Result<(), Weakness> {
    // A password that is guessed in the form that is hashed opens the account.
    let normalized = password.normalized();
    let text = &*normalized;
    let is_short = |text: &str| text.chars().nth(MIN_CHARS - 1).is_none();
    if is_short(text) || is_short(password.expose()) {
        return Err(Weakness::TooShort);
    }
    if !password.is_acceptable() {
        return Err(Weakness::TooLong);
    }
    let known = known_words(about);
    judge(head(text), &known).or_else(|weakness| {
        let tail = tail(text);
        // A part that is hard to guess makes the whole so.
        if tail.len() < text.len() {
            judge(tail, &known).map_err(|_| weakness)
        } else {
            Err(weakness)
        }
    })
}

fn judge(text: &str, known: &[String]) -> Result<(), Weakness> {
    let inputs: Vec<&str> = known.iter().map(String::as_str).collect();
    let estimate = zxcvbn(text, &inputs);
    if estimate.score() >= GOOD_ENOUGH {
        return Ok(());
    }
    Err(Weakness::Guessable(if is_personal(&estimate, known) {
        Pattern::Personal
    } else {
        pattern(&estimate)
    }))
}

fn is_personal(estimate: &Entropy, known: &[String]) -> bool {
    estimate.sequence().iter().any(|part| match &part.pattern {
        MatchPattern::Dictionary(found) => known.contains(&found.matched_word),
        _ => false,
    })
}

fn pattern(estimate: &Entropy) -> Pattern {
    match estimate
        .feedback()
        .and_then(zxcvbn::feedback::Feedback::warning)
    {
        Some(
            Warning::StraightRowsOfKeysAreEasyToGuess
            | Warning::ShortKeyboardPatternsAreEasyToGuess,
        ) => Pattern::Keyboard,
        Some(
            Warning::RepeatsLikeAaaAreEasyToGuess
            | Warning::RepeatsLikeAbcAbcAreOnlySlightlyHarderToGuess,
        ) => Pattern::Repeat,
        Some(
            Warning::ThisIsATop10Password
            | Warning::ThisIsATop100Password
            | Warning::ThisIsACommonPassword
            | Warning::ThisIsSimilarToACommonlyUsedPassword,
        ) => Pattern::Common,
        Some(Warning::SequencesLikeAbcAreEasyToGuess) => Pattern::Sequence,
        Some(Warning::RecentYearsAreEasyToGuess | Warning::DatesAreOftenEasyToGuess) => {
            Pattern::Date
        }
        Some(Warning::AWordByItselfIsEasyToGuess) => Pattern::Word,
        Some(
            Warning::NamesAndSurnamesByThemselvesAreEasyToGuess
            | Warning::CommonNamesAndSurnamesAreEasyToGuess,
        ) => Pattern::Name,
        None if estimate
            .sequence()
            .iter()
            .any(|part| matches!(part.pattern, MatchPattern::Dictionary(_))) =>
        {
            Pattern::Word
        }
        None => Pattern::Simple,
    }
}

/// The texts, their parts and the parts put together (`ada.lovelace@acme.example` has `ada`,
/// `lovelace`, `adalovelaceacmeexample` and more), in lower case as the estimator wants them.
fn known_words(about: &[&str]) -> Vec<String> {
    let mut words = vec![SERVICE.to_owned()];
    for text in about {
        for text in [*text, text.split('@').next().unwrap_or(text)] {
            let text = text.trim().to_lowercase();
            let parts = text
                .split(|c: char| !c.is_alphanumeric())
                .map(str::to_owned);
            let joined = text.chars().filter(|c| c.is_alphanumeric()).collect();
            words.extend(parts.chain([joined, text.clone()]));
        }
    }
    // One and two letters are no clue, and the estimator never looks for more than it is shown.
    words.retain(|word| (3..=WINDOW).contains(&word.chars().count()));
    words
}

fn head(text: &str) -> &str {
    text.char_indices()
        .nth(WINDOW)
        .map_or(text, |(end, _)| &text[..end])
}

fn tail(text: &str) -> &str {
    text.char_indices()
        .nth_back(WINDOW - 1)
        .map_or(text, |(start, _)| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ADA: [&str; 4] = [
        "Ada Lovelace",
        "ada_l",
        "ada.lovelace@acme.example",
        "Analytical Engines",
    ];

    fn checked(password: &str) -> Result<(), Weakness> {
        check(&Password::new(password), &ADA)
    }

    #[test]
    fn phrases_and_random_characters_pass() {
        for good in [
            "correct horse battery staple",
            "blaue kaffeetasse im regen",
            "ada likes green elephants",
            "k7Gq!x2P",
            "jh8sd9fk",
            "我的密码很长很安全",
            "🦀🌊🎻🧀🚲🪁🧦🎈",
            "it was the best of times, it was the worst of times",
        ] {
            assert_eq!(checked(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_tried_first_is_refused() {
        for (bad, pattern) in [
            ("password1", Pattern::Common),
            ("P@ssw0rd!", Pattern::Common),
            ("qwertyuiop", Pattern::Common),
            ("zxcvbnm,./", Pattern::Keyboard),
            ("aaaaaaaa", Pattern::Repeat),
            ("        ", Pattern::Repeat),
            ("密码密码密码密码", Pattern::Repeat),
            ("efghijklmn", Pattern::Sequence),
            ("19851204", Pattern::Date),
            ("responsibility", Pattern::Word),
            ("margarita55", Pattern::Name),
        ] {
            assert_eq!(checked(bad), Err(Weakness::Guessable(pattern)), "{bad}");
        }
    }

    #[test]
    fn what_is_known_about_its_owner_is_refused() {
        for bad in [
            "ada_l123",
            "Lovelace1",
            "l0v3l4c3",
            "ecalevol99",
            "adalovelace",
            "ada.lovelace@acme.example",
            "AnalyticalEngines",
            "eddyline2024",
        ] {
            assert_eq!(
                checked(bad),
                Err(Weakness::Guessable(Pattern::Personal)),
                "{bad}"
            );
        }
        assert_eq!(
            check(&Password::new("analyticalengines"), &[]),
            Ok(()),
            "nobody knows"
        );
    }

    #[test]
    fn a_password_has_8_characters_to_1024_bytes() {
        assert_eq!(checked(""), Err(Weakness::TooShort));
        assert_eq!(checked("k7Gq!x2"), Err(Weakness::TooShort));
        assert_eq!(
            checked("éüßøåçñ"),
            Err(Weakness::TooShort),
            "characters count, not bytes"
        );

        let mut long = "correct horse battery staple ".repeat(40);
        long.truncate(Password::MAX_BYTES);
        assert_eq!(checked(&long), Ok(()));
        assert_eq!(checked(&format!("{long}!")), Err(Weakness::TooLong));
    }

    #[test]
    fn the_form_that_is_hashed_is_judged() {
        for typed in ["ｐａｓｓｗｏｒｄ", "①②③④⑤⑥⑦⑧"] {
            assert!(
                matches!(checked(typed), Err(Weakness::Guessable(_))),
                "{typed}"
            );
        }
        assert_eq!(
            checked("e\u{301}a\u{301}o\u{301}u\u{301}"),
            Err(Weakness::TooShort)
        );
    }

    #[test]
    fn a_long_password_is_judged_by_its_ends() {
        let plain = "x".repeat(1000);
        assert_eq!(checked(&plain), Err(Weakness::Guessable(Pattern::Repeat)));
        assert_eq!(checked(&format!("{plain}k7Gq!x2P")), Ok(()));
        assert_eq!(checked(&format!("k7Gq!x2P{plain}")), Ok(()));

        for text in [
            &plain,
            "",
            "é",
            &"é".repeat(WINDOW),
            &"é".repeat(WINDOW + 1),
        ] {
            let shown = text.chars().count().min(WINDOW);
            assert_eq!(
                (head(text).chars().count(), tail(text).chars().count()),
                (shown, shown)
            );
            assert!(text.starts_with(head(text)) && text.ends_with(tail(text)));
        }
    }

    #[test]
    fn long_walks_on_keyboards_overflow_nothing() {
        for walk in [
            "1245124512451245",
            "qaqwqaqwqaqw",
            "QaWsEdRfTgYhUjIk",
            "1425364758697*-+",
        ] {
            let _ = checked(&walk.repeat(4));
        }
    }

    #[test]
    fn a_weakness_tells_what_to_do_and_never_the_password() {
        assert_eq!(
            checked("").unwrap_err().to_string(),
            "is too short (minimum is 8 characters)"
        );
        assert_eq!(
            Weakness::TooLong.to_string(),
            "is too long (maximum is 1024 bytes)"
        );
        let weakness = checked("Lovelace1").unwrap_err();
        assert_eq!(
            weakness.to_string(),
            "is easy to guess: it is made of a name or address that others know. \
             Try a few words that have nothing to do with each other"
        );
        assert!(!format!("{weakness:?}").to_lowercase().contains("lovelace"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_is_judged(
            text in prop_oneof![any::<String>(), "[a-zA-Z0-9@$!|+%({<]{0,60}", "[0-9/*+.-]{0,60}", "[İßςŉ]{0,40}"],
            about in "\\PC{0,40}",
        ) {
            let password = Password::new(&text);
            let judged = check(&password, &[&about, &text]);
            let count = text.chars().count().min(password.normalized().chars().count());
            prop_assert_eq!(judged == Err(Weakness::TooShort), count < MIN_CHARS);
        }
    }
}
