//! The languages of the pages, and which of them a request is answered in.

use std::str::FromStr;

use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;

use crate::cookies;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    English,
    German,
}

impl Language {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::German];

    /// The language of a request: the one chosen in this browser, else the one that the browser
    /// likes best, else English.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self::chosen(headers)
            .or_else(|| Self::accepted(headers))
            .unwrap_or(Self::English)
    }

    /// The choice that a request shows. `None` leaves it to the browser.
    pub(crate) fn chosen(headers: &HeaderMap) -> Option<Self> {
        cookies::find(headers, cookies::LANGUAGE)?.parse().ok()
    }

    /// The language of ours that `Accept-Language` weighs most (RFC 9110, section 12.5.4). Of a
    /// range such as `de-AT` only the language counts, as in the lookup of RFC 4647.
    fn accepted(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(ACCEPT_LANGUAGE).iter();
        let lines = lines.filter_map(|line| line.to_str().ok());
        let ranges = lines.flat_map(|line| line.split(','));
        let mut best: Option<(u16, Self)> = None;
        for (weight, language) in ranges.filter_map(weighed) {
            // Of several with the same weight the first is meant.
            if weight > best.map_or(0, |(weight, _)| weight) {
                best = Some((weight, language));
            }
        }
        best.map(|(_, language)| language)
    }

    /// Its tag (BCP 47), by which cookies, forms and files know it.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// What its speakers call it.
    pub(crate) fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
        }
    }
}

impl FromStr for Language {
    type Err = ();

    fn from_str(tag: &str) -> Result<Self, ()> {
        let known = Self::ALL
            .into_iter()
            .find(|known| known.tag().eq_ignore_ascii_case(tag));
        known.ok_or(())
    }
}

/// A range of languages with its weight in thousandths, if it is of a language of ours. `*` is of
/// none: without another wish the pages are in English.
fn weighed(range: &str) -> Option<(u16, Language)> {
    let mut parts = range.split(';').map(str::trim);
    let (tag, weight) = (parts.next()?, parts.next());
    let primary = tag.split('-').next()?;
    let weight = match weight {
        None => 1000,
        Some(text) => thousandths(text)?,
    };
    Some((weight, primary.parse().ok()?))
}

/// A weight such as `q=0.8`.
fn thousandths(text: &str) -> Option<u16> {
    let (name, value) = text.split_once('=')?;
    let value: f32 = value.trim().parse().ok()?;
    let is_weight = name.trim().eq_ignore_ascii_case("q") && (0.0..=1.0).contains(&value);
    // A number between 0 and 1000 has room.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range"
    )]
    is_weight.then_some((value * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::COOKIE;

    use super::*;

    fn accepting(line: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(line))])
    }

    #[test]
    fn the_language_that_weighs_most_is_taken() {
        for (line, language) in [
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("DE-ch", Language::German),
            ("en-US,en;q=0.9,de;q=0.8", Language::English),
            ("en;q=0.5, de;q=0.501", Language::German),
            ("fr, de ; q=0.1", Language::German),
            ("de;q=0.5, en;q=0.5", Language::German),
            ("de;Q=1.000", Language::German),
        ] {
            assert_eq!(Language::of(&accepting(line)), language, "{line}");
        }
    }

    #[test]
    fn what_names_no_language_of_ours_leaves_english() {
        for line in [
            "", "*", "fr", "de;q=0", "deu", "den", "de;q=2", "de;q=-1", "de;q=NaN", "de;q=",
            "de;x=1", ";;,,=",
        ] {
            assert_eq!(Language::of(&accepting(line)), Language::English, "{line}");
        }
        assert_eq!(Language::of(&HeaderMap::new()), Language::English);
    }

    #[test]
    fn a_choice_goes_before_what_the_browser_says() {
        let mut headers = accepting("de");
        headers.insert(COOKIE, HeaderValue::from_static("eddyline-language=en"));
        assert_eq!(Language::of(&headers), Language::English);
        headers.insert(COOKIE, HeaderValue::from_static("eddyline-language=xx"));
        assert_eq!(Language::of(&headers), Language::German);
        assert_eq!(Language::chosen(&headers), None);
    }
}
