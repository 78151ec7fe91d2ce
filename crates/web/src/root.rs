//! Pages that are reached under a path of their address: the proxy in front of us takes that path
//! away, and here it is put back into where pages lead.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::response::Response;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION};

/// The path of the pages' address without a slash at its end, mostly empty.
#[derive(Clone, Debug)]
pub(crate) struct RootPath(Arc<str>);

impl RootPath {
    /// That of an address.
    pub(crate) fn of(address: &str) -> Self {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let path = rest.find('/').map_or("", |slash| &rest[slash..]);
        // It comes to stand in attributes and headers. What no address should hold is left out.
        let well_formed = path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte));
        Self(
            if well_formed {
                path.trim_end_matches('/')
            } else {
                ""
            }
            .into(),
        )
    }

    /// Puts the path into a page's links, pictures and forms, and into where a browser is sent on
    /// to.
    pub(crate) async fn put_back(&self, response: Response) -> Response {
        if self.0.is_empty() {
            return response;
        }
        let (mut head, body) = response.into_parts();
        if let Some(location) = head.headers.get_mut(LOCATION)
            && let Some(path) = self.put_before(location)
        {
            *location = path;
        }
        let is_page = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if !is_page {
            return Response::from_parts(head, body);
        }
        // It is in memory already. Texts have no such attributes: quotes in them are escaped, and the
        // HTML of others keeps absolute addresses only. In words of others it would be read so.
        let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let text = ["href", "src", "action"]
            .iter()
            .fold(text.into_owned(), |text, attribute| {
                text.replace(
                    &format!("{attribute}=\"/"),
                    &format!("{attribute}=\"{}/", self.0),
                )
            });
        head.headers.remove(CONTENT_LENGTH);
        Response::from_parts(head, Body::from(text))
    }

    /// A path of ours under the path of the address; other sites are where they are.
    fn put_before(&self, location: &HeaderValue) -> Option<HeaderValue> {
        let path = location
            .to_str()
            .ok()
            .filter(|path| path.starts_with('/'))?;
        HeaderValue::from_str(&format!("{}{path}", self.0)).ok()
    }
}

#[cfg(test)]
mod tests {
    use axum::response::{Html, IntoResponse as _};

    use super::*;

    #[test]
    fn only_paths_of_our_own_are_put_under_the_root() {
        let root = RootPath::of("https://example.org/chat");
        let put = |text| root.put_before(&HeaderValue::from_static(text));
        assert_eq!(
            put("/sign-in"),
            Some(HeaderValue::from_static("/chat/sign-in"))
        );
        assert_eq!(put("https://robot.example/back?code=1"), None);
        assert_eq!(put("com.example.robot:/back"), None);
    }

    #[tokio::test]
    async fn links_pictures_and_forms_of_a_page_are_put_under_the_root() {
        let page = "<a href=\"/flows\"><img src=\"/avatars/1\"><form action=\"/account\"></form>\
                    <a href=\"https://robot.example/\">";
        let root = RootPath::of("https://example.org/chat");
        let answer = root.put_back(Html(page).into_response()).await;
        let bytes = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let expected = "<a href=\"/chat/flows\"><img src=\"/chat/avatars/1\"><form action=\"/chat/account\"></form>\
                        <a href=\"https://robot.example/\">";
        assert_eq!(bytes, expected);
    }

    #[test]
    fn the_root_is_the_path_of_the_address() {
        for (address, root) in [
            ("https://chat.example.org", ""),
            ("https://chat.example.org/", ""),
            ("https://example.org/team/chat", "/team/chat"),
            ("https://example.org/a\"b", ""),
        ] {
            assert_eq!(&*RootPath::of(address).0, root, "{address}");
        }
    }
}
