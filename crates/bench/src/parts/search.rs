//! Search for two words, by how frequent they are.

use super::FILLED;
use crate::Result;
use crate::fill::FLOW;
use crate::load::Load;
use crate::random::Random;
use crate::report::{Key, Metric, Results};
use crate::requests::{JSON, Request};
use crate::server::Server;
use crate::stage::Stage;
use crate::words::{FREQUENT, MIDDLE, NEVER_TOGETHER, RARE, Vocabulary};

const PART: &str = "search";
/// So many different pairs of words, as far as there are.
const VARIANTS: usize = 4096;

#[derive(Clone, Copy, Debug)]
enum Class {
    Rare,
    Mixed,
    Frequent,
    NeverTogether,
}

impl Class {
    const ALL: [Self; 4] = [Self::Rare, Self::Mixed, Self::Frequent, Self::NeverTogether];

    fn name(self) -> &'static str {
        match self {
            Self::Rare => "both words rare",
            Self::Mixed => "one frequent, one middle",
            Self::Frequent => "both frequent",
            Self::NeverTogether => "never together",
        }
    }

    /// Two different words.
    fn pair<'a>(self, vocabulary: &'a Vocabulary, random: &mut Random) -> [&'a str; 2] {
        let (one, other) = match self {
            Self::Rare => (RARE, RARE),
            Self::Mixed => (FREQUENT, MIDDLE),
            Self::Frequent => (FREQUENT, FREQUENT),
            Self::NeverTogether => return NEVER_TOGETHER,
        };
        loop {
            let pair = [
                vocabulary.pick(one.clone(), random),
                vocabulary.pick(other.clone(), random),
            ];
            if pair[0] != pair[1] {
                return pair;
            }
        }
    }
}

/// Measures searches in the filled room, one after the other.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    filled: &Server,
    results: &mut Results,
) -> Result<()> {
    let vocabulary = Vocabulary::new();
    for class in Class::ALL {
        let mut random = Random::new(class as u64 + 1);
        let load = Load {
            address: filled.api,
            server: &filled.family,
            connections: 1,
            variants: VARIANTS,
            rate: Metric::Searches,
        };
        let sample = load
            .run(&stage.plan, |_, variant| {
                let [one, other] = class.pair(&vocabulary, &mut random);
                let path = format!("/flows/{FLOW}/messages?search={one}+{other}");
                let token = Some(stage.homes.token(variant));
                Request {
                    method: "GET",
                    path: &path,
                    token,
                    accept: JSON,
                    body: None,
                }
                .bytes()
            })
            .await?;
        results.add(Key::new(PART, FILLED, class.name()), sample);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_search_is_for_two_different_words_and_mostly_another_one_each_time() {
        let (vocabulary, mut random) = (Vocabulary::new(), Random::new(1));
        for (class, at_least) in [
            (Class::Rare, 990),
            (Class::Mixed, 900),
            (Class::Frequent, 300),
        ] {
            let pairs: HashSet<_> = (0..1000)
                .map(|_| class.pair(&vocabulary, &mut random))
                .collect();
            assert!(pairs.iter().all(|[one, other]| one != other));
            assert!(pairs.len() >= at_least, "{class:?}: {}", pairs.len());
        }
    }
}
