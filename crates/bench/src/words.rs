//! Messages whose words are as frequent as in a natural language: a few everywhere, most of them
//! hardly ever.

use std::ops::Range;

use crate::random::Random;

/// How many words there are.
pub(crate) const VOCABULARY: usize = 20_000;
/// The words that stand in a large part of all messages.
pub(crate) const FREQUENT: Range<usize> = 0..20;
/// The words of the middle.
pub(crate) const MIDDLE: Range<usize> = 200..2000;
/// The words that stand in hardly any message.
pub(crate) const RARE: Range<usize> = 2000..VOCABULARY;
/// Each message of the filled room begins with one of these in turn, so that no message has both.
pub(crate) const NEVER_TOGETHER: [&str; 2] = ["odd", "even"];

/// How many words a message has.
const LENGTH: Range<usize> = 7..14;
/// Moves the most frequent words closer to one another, as Mandelbrot found them to be.
const SHIFT: f64 = 2.7;

/// The words in the order of their frequency, and how often each is to be said.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// The part of all words that a word and those before it make up.
    cumulative: Vec<f64>,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=VOCABULARY)
            .map(|rank| {
                sum += 1.0 / (rank as f64 + SHIFT);
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|part| *part /= sum);
        Self {
            words: (0..VOCABULARY).map(spell).collect(),
            cumulative,
        }
    }

    /// A word of a class.
    pub(crate) fn pick(&self, class: Range<usize>, random: &mut Random) -> &str {
        &self.words[random.within(class)]
    }

    /// Says something: each word as often as it is natural.
    pub(crate) fn sentence(&self, random: &mut Random) -> String {
        let mut text = String::with_capacity(64);
        self.speak(&mut text, random);
        text
    }

    /// The message of this number in the filled room.
    pub(crate) fn message(&self, number: usize, random: &mut Random) -> String {
        let mut text = String::with_capacity(72);
        text.push_str(NEVER_TOGETHER[number % 2]);
        self.speak(&mut text, random);
        text
    }

    fn speak(&self, text: &mut String, random: &mut Random) {
        for _ in 0..random.within(LENGTH) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.words[self.draw(random)]);
        }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let at = random.fraction();
        self.cumulative
            .partition_point(|&part| part <= at)
            .min(VOCABULARY - 1)
    }
}

/// The word of a rank, in syllables of two letters: two for the more frequent words, else three.
fn spell(rank: usize) -> String {
    const CONSONANTS: &[u8] = b"bdfghklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    const SYLLABLES: usize = CONSONANTS.len() * VOWELS.len();
    const SHORT: usize = SYLLABLES * SYLLABLES;
    let (mut rest, syllables) = if rank < SHORT {
        (rank, 2)
    } else {
        (rank - SHORT, 3)
    };
    let mut word = String::with_capacity(6);
    for _ in 0..syllables {
        let syllable = rest % SYLLABLES;
        rest /= SYLLABLES;
        word.push(char::from(CONSONANTS[syllable % CONSONANTS.len()]));
        word.push(char::from(VOWELS[syllable / CONSONANTS.len()]));
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn every_word_is_spelt_in_its_own_way() {
        let vocabulary = Vocabulary::new();
        let distinct: HashSet<_> = vocabulary.words.iter().collect();
        assert_eq!(distinct.len(), VOCABULARY);
        assert!(
            NEVER_TOGETHER
                .iter()
                .all(|word| !distinct.contains(&word.to_string()))
        );
    }

    #[test]
    fn words_come_up_as_often_as_their_rank_demands() {
        const SAID: usize = 400_000;
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        let mut counts: HashMap<usize, usize> = HashMap::new();
        (0..SAID).for_each(|_| *counts.entry(vocabulary.draw(&mut random)).or_default() += 1);
        let all: f64 = (1..=VOCABULARY)
            .map(|rank| 1.0 / (rank as f64 + SHIFT))
            .sum();
        for index in [0, 1, 9, 99] {
            let expected = SAID as f64 / (index as f64 + 1.0 + SHIFT) / all;
            let found = counts[&index] as f64;
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt(),
                "{index}: {found} not {expected}"
            );
        }
    }

    #[test]
    fn no_message_has_both_words_that_are_never_together() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(2);
        for number in 0..1000 {
            let text = vocabulary.message(number, &mut random);
            let marks = text
                .split(' ')
                .filter(|word| NEVER_TOGETHER.contains(word))
                .count();
            assert_eq!(marks, 1, "{text}");
        }
    }

    #[test]
    fn messages_have_about_ten_words() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(3);
        let words: usize = (0..1000)
            .map(|_| vocabulary.sentence(&mut random).split(' ').count())
            .sum();
        assert!((9_500..10_500).contains(&words), "{words}");
    }
}
