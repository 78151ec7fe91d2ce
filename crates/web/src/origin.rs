//! Whether a form was sent from a page of ours. Browsers tell where a request comes from, and a
//! page cannot make them tell anything else.

use http::HeaderMap;
use http::header::{HOST, HeaderName, ORIGIN};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Where our own pages are from, as browsers write it.
#[derive(Clone, Debug)]
pub(crate) struct OwnOrigin(String);

impl OwnOrigin {
    /// The origin of an address: what comes before its path.
    pub(crate) fn of(address: &str) -> Self {
        let end = address
            .find("://")
            .and_then(|scheme| {
                address[scheme + 3..]
                    .find('/')
                    .map(|slash| scheme + 3 + slash)
            })
            .unwrap_or(address.len());
        Self(address[..end].to_ascii_lowercase())
    }

    /// Whether the headers of a form say that it comes from somewhere else. Browsers of today say
    /// it in `Sec-Fetch-Site`, older ones in `Origin`; what sends neither is no browser, or an old
    /// one that only has the token.
    pub(crate) fn is_foreign(&self, headers: &HeaderMap) -> bool {
        if let Some(site) = headers.get(SEC_FETCH_SITE) {
            // `none` is the user's own doing, such as loading a page again.
            return site != "same-origin" && site != "none";
        }
        match headers.get(ORIGIN).map(|origin| origin.to_str()) {
            None => false,
            Some(Err(_)) => true,
            Some(Ok(origin)) => !self.is_ours(&origin.to_ascii_lowercase(), headers),
        }
    }

    /// A server may be reached by an address that is not configured. What the browser then calls
    /// the host it also calls the page's origin.
    fn is_ours(&self, origin: &str, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let of_host = origin.split_once("://").is_some_and(|(_, authority)| {
            host.is_some_and(|host| host.eq_ignore_ascii_case(authority))
        });
        origin == self.0 || of_host
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn is_foreign(headers: &[(HeaderName, &'static str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        OwnOrigin::of("https://Chat.example.org/").is_foreign(&headers.collect())
    }

    #[test]
    fn the_browsers_word_decides() {
        assert!(!is_foreign(&[(SEC_FETCH_SITE, "same-origin")]));
        assert!(!is_foreign(&[(SEC_FETCH_SITE, "none")]));
        assert!(!is_foreign(&[
            (SEC_FETCH_SITE, "same-origin"),
            (ORIGIN, "null")
        ]));
        assert!(is_foreign(&[(SEC_FETCH_SITE, "cross-site")]));
        assert!(is_foreign(&[
            (SEC_FETCH_SITE, "same-site"),
            (ORIGIN, "https://chat.example.org")
        ]));
    }

    #[test]
    fn an_older_browser_names_the_origin() {
        assert!(!is_foreign(&[]));
        assert!(!is_foreign(&[(ORIGIN, "https://chat.example.org")]));
        assert!(!is_foreign(&[
            (ORIGIN, "http://127.0.0.1:8080"),
            (HOST, "127.0.0.1:8080")
        ]));
        for other in [
            "https://evil.example",
            "null",
            "http://chat.example.org",
            "https://chat.example.org.evil",
        ] {
            assert!(
                is_foreign(&[(ORIGIN, other), (HOST, "127.0.0.1:8080")]),
                "{other}"
            );
        }
    }
}
