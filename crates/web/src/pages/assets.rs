//! What pages load: their style, and their icon.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use eddyline_app::Secret;
use eddyline_random::to_hex;
use http::Uri;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};

/// The style.
pub(crate) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "/assets/style.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/style.css"),
    )
});

/// The icon beside the title.
pub(crate) static ICON: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "/assets/icon.svg",
        "image/svg+xml",
        include_str!("../../assets/icon.svg"),
    )
});

/// Something that is the same for everybody.
pub(crate) struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
    /// Names the very text, so that a browser may keep it for as long as it likes.
    version: String,
}

impl Asset {
    fn new(path: &'static str, kind: &'static str, text: &'static str) -> Self {
        let digest = Secret::presented(text).hash();
        let version = format!("v={}", to_hex(&digest.0[..8]));
        Self {
            path,
            kind,
            text,
            version,
        }
    }

    /// Where pages find it.
    pub(crate) fn url(&self) -> String {
        format!("{}?{}", self.path, self.version)
    }

    fn answer(&self, uri: &Uri) -> Response {
        let same = uri.query() == Some(&*self.version);
        let keep = if same {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let mut response = Response::new(Body::from(self.text));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
        response
    }
}

pub(super) async fn style(uri: Uri) -> Response {
    STYLE.answer(&uri)
}

pub(super) async fn icon(uri: Uri) -> Response {
    ICON.answer(&uri)
}
