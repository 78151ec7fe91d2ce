//! Users' pictures. Anybody may fetch them, so that they can stand in pages.

use axum::response::Response;
use eddyline_app::{Avatar, Error};
use eddyline_model::UserId;
use eddyline_model::scopes::Scope::Profile;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Media, One};
use eddyline_openapi::response_headers;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
    IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, StatusCode};

use crate::answer::{Answer, json, nothing};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::requester::Anybody;
use crate::response::with_header;
use crate::response_budget;

const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The most bytes of a picture that is uploaded.
pub(crate) const MAX_BYTES: usize = 5 * 1024 * 1024;

/// An address shows one uploaded picture for good.
const LASTING: &str = "public, max-age=31536000, immutable";
/// A drawn picture shows its owner's initials, and names change.
const FOR_NOW: &str = "public, max-age=3600";
/// A picture opened by itself is a document, which may do nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let picture = |path, id, summary| {
        Endpoint::new(Method::GET, path, id, summary, get)
            .answers(
                200,
                "The picture, as PNG, JPEG or SVG",
                Some(Media(&["image/png", "image/jpeg", "image/svg+xml"])),
            )
            .response_headers(&[response_headers::ETAG])
            .header(
                "If-None-Match",
                "ETags that you have; 304 when the answer is one of them",
            )
            .answers(304, "The picture that If-None-Match names", None)
            .response_headers(&[response_headers::ETAG])
    };
    vec![
        picture("/avatars/{avatar}", "getAvatar", "A user's picture"),
        picture(
            "/avatars/{avatar}/{size}",
            "getScaledAvatar",
            "A user's picture, about so many pixels wide and high",
        ),
        Endpoint::new(
            Method::PUT,
            "/users/{user}/avatar",
            "uploadAvatar",
            "Upload your picture",
            upload,
        )
        .scopes(&[Profile])
        .takes_file(PICTURES, MAX_BYTES)
        .answers(200, "You, with the new picture", Some(One("User"))),
        Endpoint::new(
            Method::DELETE,
            "/users/{user}/avatar",
            "deleteAvatar",
            "Go back to the drawn picture",
            delete,
        )
        .scopes(&[Profile])
        .answers(204, "Your picture is drawn from your initials again", None),
    ]
}

async fn get(ctx: RequestContext<Anybody>) -> Answer {
    let side = match ctx.segment("size") {
        "" => None,
        size => Some(
            size.parse::<u32>()
                .ok()
                .filter(|side| *side > 0)
                .ok_or_else(Error::not_found)?,
        ),
    };
    let avatar = ctx.app().avatars().get(ctx.segment("avatar"), side).await?;
    shown(avatar, &ctx.headers)
}

fn shown(avatar: Avatar, asked: &HeaderMap) -> Answer {
    // Weak, since the same picture may go out compressed.
    let tag = format!("W/\"{}\"", avatar.tag);
    let mut response = if knows(asked, &avatar.tag) {
        let mut response = nothing();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let bytes = response_budget::reserve_shared_bytes(&avatar.tag, avatar.bytes)?;
        with_header(
            Response::new(bytes.into()),
            CONTENT_TYPE,
            &avatar.content_type,
        )
    };
    let age = if avatar.lasting { LASTING } else { FOR_NOW };
    for (name, value) in [
        (CACHE_CONTROL, HeaderValue::from_static(age)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ] {
        response.headers_mut().insert(name, value);
    }
    Ok(with_header(response, ETAG, &tag))
}

/// Whether the client has the picture with this tag (RFC 9110, section 13.1.2).
fn knows(asked: &HeaderMap, tag: &str) -> bool {
    let lists = asked
        .get_all(IF_NONE_MATCH)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    let mut known = lists.flat_map(|list| list.split(',')).map(str::trim);
    known.any(|known| known == "*" || known.trim_start_matches("W/").trim_matches('"') == tag)
}

async fn upload(ctx: RequestContext) -> Answer {
    ctx.app()
        .users()
        .own(ctx.actor(), ctx.id::<UserId>("user")?)
        .await?;
    if ctx.raw.is_empty() {
        return Err(Error::invalid("avatar", "can't be blank"));
    }
    json(
        StatusCode::OK,
        &ctx.app()
            .avatars()
            .set(ctx.actor(), ctx.raw.clone())
            .await?,
    )
}

async fn delete(ctx: RequestContext) -> Answer {
    ctx.app()
        .users()
        .own(ctx.actor(), ctx.id::<UserId>("user")?)
        .await?;
    ctx.app().avatars().delete(ctx.actor()).await?;
    Ok(nothing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_says_which_pictures_it_has() {
        let knows = |value: &'static str| {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_static(value))]);
            super::knows(&headers, "ab-64")
        };
        for has in ["W/\"ab-64\"", "\"ab-64\"", "\"x\", W/\"ab-64\"", "*"] {
            assert!(knows(has), "{has}");
        }
        for has_not in ["", "\"ab-32\"", "W/\"ab\", \"64\""] {
            assert!(!knows(has_not), "{has_not}");
        }
        assert!(!super::knows(&HeaderMap::new(), "ab-64"));
    }
}
