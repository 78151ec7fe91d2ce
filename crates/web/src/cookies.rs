//! Our cookies: the session, the token that forms must show, and the choices of colours and language.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

/// How long a browser keeps a cookie that is not for its own time only, in seconds: the longest that
/// browsers allow. When a session ends is decided here and not there.
const SESSION_AGE: u64 = 400 * 24 * 3600;

/// The cookie that keeps the choice of colours in this browser. It names no person and opens nothing.
pub(crate) const THEME: &str = "eddyline-theme";

/// The cookie that says that this browser's user knows what a flow is.
pub(crate) const HINT: &str = "eddyline-hint";

/// The cookie that keeps the choice of a language in this browser.
pub(crate) const LANGUAGE: &str = "eddyline-language";

/// What the cookies are called. Where the pages are reached by https, browsers send them nowhere
/// else, and the prefix `__Host-` keeps other hosts of the same domain from setting them.
#[derive(Clone, Debug)]
pub(crate) struct CookieNames {
    session: &'static str,
    csrf: &'static str,
    secure: bool,
}

impl CookieNames {
    pub(crate) fn new(secure: bool) -> Self {
        match secure {
            true => Self {
                session: "__Host-eddyline-session",
                csrf: "__Host-eddyline-csrf",
                secure,
            },
            false => Self {
                session: "eddyline-session",
                csrf: "eddyline-csrf",
                secure,
            },
        }
    }

    /// The secret of the session that a request shows.
    pub(crate) fn session(&self, headers: &HeaderMap) -> Option<String> {
        find(headers, self.session)
    }

    /// The token that a request shows, if it is one of ours.
    pub(crate) fn csrf(&self, headers: &HeaderMap) -> Option<String> {
        find(headers, self.csrf).filter(|value| is_token(value))
    }

    pub(crate) fn set_session(&self, secret: &str) -> HeaderValue {
        self.set(self.session, secret, &format!("; Max-Age={SESSION_AGE}"))
    }

    pub(crate) fn end_session(&self) -> HeaderValue {
        self.set(self.session, "", "; Max-Age=0")
    }

    /// Goes when the browser is closed.
    pub(crate) fn set_csrf(&self, token: &str) -> HeaderValue {
        self.set(self.csrf, token, "")
    }

    /// Keeps a choice of colours by its name, or forgets it.
    pub(crate) fn set_theme(&self, name: Option<&str>) -> HeaderValue {
        self.set_choice(THEME, name)
    }

    /// Keeps a choice of a language by its tag, or forgets it.
    pub(crate) fn set_language(&self, tag: Option<&str>) -> HeaderValue {
        self.set_choice(LANGUAGE, tag)
    }

    fn set_choice(&self, name: &str, value: Option<&str>) -> HeaderValue {
        let age = value.map_or(0, |_| SESSION_AGE);
        self.set(name, value.unwrap_or_default(), &format!("; Max-Age={age}"))
    }

    fn set(&self, name: &str, value: &str, more: &str) -> HeaderValue {
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}");
        // Values are of our own making, in hexadecimal or base64.
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

/// The value of a cookie that a request shows, unless it is empty.
pub(crate) fn find(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty())
        .map(|(_, value)| value.to_owned())
}

/// 256 bits in hexadecimal.
fn is_token(value: &str) -> bool {
    value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&'static str]) -> HeaderMap {
        lines
            .iter()
            .map(|line| (COOKIE, HeaderValue::from_static(line)))
            .collect()
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let names = CookieNames::new(false);
        let sent = headers(&["a=1; eddyline-session=s3cret;b", "x=y"]);
        assert_eq!(names.session(&sent).as_deref(), Some("s3cret"));
        assert_eq!(
            names
                .session(&headers(&[
                    "a=1",
                    "my-eddyline-session=1; eddyline-session=x=y"
                ]))
                .as_deref(),
            Some("x=y")
        );
        for none in [
            &[][..],
            &["eddyline-session="],
            &["eddyline-session"],
            &["__Host-eddyline-session=1"],
            &["Eddyline-Session=1"],
        ] {
            assert_eq!(names.session(&headers(none)), None, "{none:?}");
        }
    }

    #[test]
    fn only_a_token_of_our_form_counts() {
        let names = CookieNames::new(false);
        assert_eq!(names.csrf(&headers(&["eddyline-csrf=abc"])), None);
        let sent = headers(&[
            "eddyline-csrf=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        ]);
        assert!(names.csrf(&sent).is_some());
    }

    #[test]
    fn scripts_and_other_sites_do_not_get_at_cookies() {
        let plain = CookieNames::new(false);
        assert_eq!(
            plain.set_session("abc"),
            "eddyline-session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=34560000"
        );
        assert_eq!(
            plain.end_session(),
            "eddyline-session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
        );
        let secure = CookieNames::new(true);
        assert_eq!(
            secure.set_csrf("abc"),
            "__Host-eddyline-csrf=abc; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
    }
}
