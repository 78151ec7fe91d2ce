//! Downloading files: the address in a message leads callers who may read it to a link that needs
//! no credentials and soon ends (specification, section 4, Files).

use std::ops::Range;

use axum::body::Body;
use axum::response::Response;
use eddyline_app::{Credential, Download, Limit, QuotaKey, Variant};
use eddyline_model::scopes::Scope::Flow;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Media, One};
use eddyline_openapi::response_headers::{self, AnswerHeader};
use eddyline_wire::disposition;
use futures_util::StreamExt as _;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    IF_RANGE, LOCATION, RANGE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, StatusCode};

use crate::answer::Answer;
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::error::plain;
use crate::requester::Anybody;
use crate::response::with_header;

/// What is downloaded is for its reader alone.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");
/// For a day, by the browser that asked.
const KEPT: &str = "private, max-age=86400";
/// A page that somebody uploaded may do nothing where it is opened.
const POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");
/// Audio and video are loaded by the document that the browser makes around them.
const MEDIA_POLICY: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; media-src 'self'");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const PART: AnswerHeader = (
    "Content-Range",
    "Which bytes of how many (RFC 9110, section 14.4)",
);

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let links = |endpoint: Endpoint| {
        let text = "Location is a link that needs no credentials and soon ends";
        endpoint
            .scopes(&[Flow])
            .answers(302, text, None)
            .response_headers(&[response_headers::LOCATION])
    };
    let (file, small) = ("/files/{file}/{name}", "/files/{file}/thumbnail/{name}");
    vec![
        links(Endpoint::new(
            Method::GET,
            file,
            "locateFile",
            "Where to download a file",
            link_to_file,
        )),
        links(Endpoint::new(
            Method::GET,
            small,
            "locateThumbnail",
            "Where to download the small picture of a picture",
            link_to_thumbnail,
        )),
        Endpoint::new(
            Method::GET,
            "/download/{link}/{name}",
            "downloadFile",
            "A file, by such a link",
            download,
        )
        .uncompressed()
        .answers(200, "The file", Some(Media(&["*/*"])))
        .response_headers(&[response_headers::ETAG])
        .answers(
            206,
            "The part of it that Range names",
            Some(Media(&["*/*"])),
        )
        .response_headers(&[response_headers::ETAG, PART])
        .header(
            "If-None-Match",
            "ETags that you have; 304 when the answer is one of them",
        )
        .header("Range", "The bytes wanted (RFC 9110, section 14)")
        .header(
            "If-Range",
            "The ETag of which Range is a part; otherwise the whole file comes",
        )
        .answers(304, "The file that If-None-Match names", None)
        .response_headers(&[response_headers::ETAG])
        .answers(410, "The link has ended", Some(One("ErrorBody")))
        .answers(
            416,
            "The file has no bytes in this range",
            Some(One("ErrorBody")),
        )
        .response_headers(&[PART]),
    ]
}

async fn link_to_file(ctx: RequestContext) -> Answer {
    link_to(&ctx, Variant::File).await
}

/// A page shows the same pictures again and again: browsers with a session get them at once, and may
/// keep them.
async fn link_to_thumbnail(ctx: RequestContext) -> Answer {
    if !matches!(ctx.actor().credential(), Some(Credential::Session(_))) {
        return link_to(&ctx, Variant::Thumbnail).await;
    }
    let files = ctx.app().files();
    let found = files
        .find(ctx.actor(), ctx.segment("file"), Variant::Thumbnail)
        .await?;
    let response = content(&ctx, &found).await?;
    let is_found = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if !is_found {
        return Ok(response);
    }
    // For the next user of the browser, and for another site, it is another answer.
    let response = with_header(response, VARY, "Cookie, Sec-Fetch-Site");
    let response = with_header(response, RESOURCE_POLICY, "same-origin");
    Ok(with_header(response, CACHE_CONTROL, KEPT))
}

async fn link_to(ctx: &RequestContext, variant: Variant) -> Answer {
    let link = ctx
        .app()
        .files()
        .link(ctx.actor(), ctx.segment("file"), variant)
        .await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::FOUND;
    response.headers_mut().insert(CACHE_CONTROL, PRIVATE);
    Ok(with_header(response, LOCATION, &link))
}

async fn download(ctx: RequestContext<Anybody>) -> Answer {
    let found = ctx.app().files().download(ctx.segment("link")).await?;
    ctx.mark_authenticated(found.owner);
    content(&ctx, &found).await
}

/// What is asked for of a file.
async fn content<A>(ctx: &RequestContext<A>, found: &Download) -> Answer {
    if lists(&ctx.headers, &found.tag) {
        return Ok(dressed(
            Response::new(Body::empty()),
            found,
            StatusCode::NOT_MODIFIED,
        ));
    }
    let range = match wanted(&ctx.headers, found) {
        Wanted::All => None,
        Wanted::Part(range) => Some(range),
        Wanted::Nothing => {
            let all = format!("bytes */{}", found.size);
            let response = plain(
                StatusCode::RANGE_NOT_SATISFIABLE,
                "The file has no bytes in this range",
            );
            return Ok(with_header(response, CONTENT_RANGE, &all));
        }
    };
    let (status, length) = match &range {
        None => (StatusCode::OK, found.size),
        Some(range) => (StatusCode::PARTIAL_CONTENT, range.end - range.start),
    };
    let keys = found
        .owner
        .quota_keys()
        .and(QuotaKey::network(ctx.client_address()));
    let permit = ctx.shared.downloads.acquire(keys, 1);
    let permit = permit.map_err(|exceeded| exceeded.of(Limit::Downloads))?;
    let content = ctx.app().files().read(found, range.clone()).await?;
    // It is held as long as the content is.
    let content = content.inspect(move |_| {
        let _held = &permit;
    });
    let mut response = dressed(Response::new(Body::from_stream(content)), found, status);
    response
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(length));
    let response = with_header(response, CONTENT_TYPE, &found.content_type);
    let response = with_header(
        response,
        CONTENT_DISPOSITION,
        &disposition(&found.name, &found.content_type),
    );
    Ok(match range {
        None => response,
        Some(Range { start, end }) => with_header(
            response,
            CONTENT_RANGE,
            &format!("bytes {start}-{}/{}", end - 1, found.size),
        ),
    })
}

fn dressed(mut response: Response, found: &Download, status: StatusCode) -> Response {
    *response.status_mut() = status;
    for (name, value) in [
        (CACHE_CONTROL, PRIVATE),
        (CONTENT_SECURITY_POLICY, policy(&found.content_type)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (RESOURCE_POLICY, HeaderValue::from_static("cross-origin")),
        (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
    ] {
        response.headers_mut().insert(name, value);
    }
    with_header(response, ETAG, &found.tag)
}

fn policy(content_type: &str) -> HeaderValue {
    match content_type.split('/').next() {
        Some("audio" | "video") => MEDIA_POLICY,
        _ => POLICY,
    }
}

/// Whether the client has the file with this tag (RFC 9110, section 13.1.2).
fn lists(asked: &HeaderMap, tag: &str) -> bool {
    let lists = asked
        .get_all(IF_NONE_MATCH)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    let mut known = lists.flat_map(|list| list.split(',')).map(str::trim);
    known.any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

/// How much of a file is wanted.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Part(Range<u64>),
    /// A range in which there is nothing.
    Nothing,
}

fn wanted(asked: &HeaderMap, found: &Download) -> Wanted {
    // A part of another file is of no use (RFC 9110, section 13.1.5).
    if asked
        .get(IF_RANGE)
        .is_some_and(|tag| tag.as_bytes() != found.tag.as_bytes())
    {
        return Wanted::All;
    }
    let range = asked.get(RANGE).and_then(|value| value.to_str().ok());
    range.map_or(Wanted::All, |range| part(range, found.size))
}

/// One range of RFC 9110, section 14.1.2. Whatever else is asked for, the whole file is a right
/// answer.
fn part(range: &str, size: u64) -> Wanted {
    let Some((first, last)) = range
        .trim()
        .strip_prefix("bytes=")
        .and_then(|range| range.split_once('-'))
    else {
        return Wanted::All;
    };
    let number = |text: &str| match text.bytes().all(|b| b.is_ascii_digit()) {
        true if !text.is_empty() => Some(text.parse().unwrap_or(u64::MAX)),
        _ => None,
    };
    let (first, last) = (first.trim(), last.trim());
    match (number(first), number(last)) {
        (None, Some(0)) if first.is_empty() => Wanted::Nothing,
        (None, Some(_)) if first.is_empty() && size == 0 => Wanted::Nothing,
        (None, Some(length)) if first.is_empty() => Wanted::Part(size.saturating_sub(length)..size),
        (Some(first), Some(last)) if first > last => Wanted::All,
        (Some(first), last) if last.is_some() || range.trim().ends_with('-') => {
            match first < size {
                true => {
                    Wanted::Part(first..last.map_or(size, |last| last.saturating_add(1).min(size)))
                }
                false => Wanted::Nothing,
            }
        }
        _ => Wanted::All,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_range_is_understood_and_others_are_not() {
        for (range, expected) in [
            ("bytes=0-0", Wanted::Part(0..1)),
            ("bytes=2-", Wanted::Part(2..10)),
            ("bytes=2-99999999999999999999999", Wanted::Part(2..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-99", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=99999999999999999999999-", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=5-4", Wanted::All),
            ("bytes=-", Wanted::All),
            ("bytes=a-b", Wanted::All),
            ("bytes=+1-2", Wanted::All),
            ("bytes=0-1,3-4", Wanted::All),
            ("lines=0-1", Wanted::All),
            ("", Wanted::All),
        ] {
            assert_eq!(part(range, 10), expected, "{range}");
        }
        assert_eq!(part("bytes=-5", 0), Wanted::Nothing);
        assert_eq!(part("bytes=0-", 0), Wanted::Nothing);
    }

    proptest! {
        #[test]
        fn a_part_is_within_the_file(range in "bytes=[0-9]{0,22}-[0-9]{0,22}", size: u64) {
            if let Wanted::Part(part) = part(&range, size) {
                prop_assert!(part.start < part.end && part.end <= size, "{part:?}");
            }
        }
    }
}
