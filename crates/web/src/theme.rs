//! Light or dark, where a reader does not want what their system says.

use std::str::FromStr;

use http::HeaderMap;

use crate::cookies;

/// A choice of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Theme {
    /// The choice that a request shows. `None` leaves it to the system.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        cookies::find(headers, cookies::THEME)?.parse().ok()
    }

    /// What it is called in cookies, forms and the style.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl FromStr for Theme {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "light" => Ok(Self::Light),
            "dark" => Ok(Self::Dark),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::COOKIE;

    use super::*;

    #[test]
    fn only_a_choice_that_exists_is_read() {
        let shown = |cookie: &'static str| {
            let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_static(cookie))]);
            Theme::of(&headers)
        };
        assert_eq!(shown("a=b; eddyline-theme=dark"), Some(Theme::Dark));
        assert_eq!(shown("eddyline-theme=light"), Some(Theme::Light));
        for other in [
            "eddyline-theme=\"><script>",
            "eddyline-theme=",
            "theme=dark",
        ] {
            assert_eq!(shown(other), None, "{other}");
        }
    }
}
