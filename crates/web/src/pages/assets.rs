//! The files that pages load: their style, their icon and their scripts. Files are compressed, and
//! pages are not: pages hold secrets, which the length of a compressed answer could reveal.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::Response;
use eddyline_app::Secret;
use eddyline_http::StaticText;
use eddyline_random::to_hex;
use http::header::{CACHE_CONTROL, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, Uri};

use crate::error::PageError;
use crate::language::Language;
use crate::texts::Texts;

/// How long a browser keeps what its address names by its text.
const KEEP: &str = "public, max-age=31536000, immutable";

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

/// The script of the reference of the API.
pub(crate) static REFERENCE_SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "/assets/reference.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/reference.js"),
    )
});

/// A static file.
pub(crate) struct Asset {
    path: &'static str,
    kind: &'static str,
    text: StaticText,
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
            text: StaticText::new(text),
            version,
        }
    }

    /// Where pages find it.
    pub(crate) fn url(&self) -> String {
        format!("{}?{}", self.path, self.version)
    }

    fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Response {
        let same = uri.query() == Some(&*self.version);
        let keep = if same { KEEP } else { "no-cache" };
        asset(&self.text, headers, self.kind, keep)
    }
}

/// The modules of the script. They import each other by relative addresses, so all of them stand
/// under one digest, and under one language: beside them is [`LANGUAGE`] with the texts.
pub(crate) const SCRIPTS: &[(&str, &str)] = &[
    ("app.js", include_str!("../../assets/app/app.js")),
    ("actions.js", include_str!("../../assets/app/actions.js")),
    ("announce.js", include_str!("../../assets/app/announce.js")),
    ("api.js", include_str!("../../assets/app/api.js")),
    ("choices.js", include_str!("../../assets/app/choices.js")),
    ("code.js", include_str!("../../assets/app/code.js")),
    (
        "completion.js",
        include_str!("../../assets/app/completion.js"),
    ),
    ("composer.js", include_str!("../../assets/app/composer.js")),
    ("counts.js", include_str!("../../assets/app/counts.js")),
    ("covers.js", include_str!("../../assets/app/covers.js")),
    ("dom.js", include_str!("../../assets/app/dom.js")),
    ("drawer.js", include_str!("../../assets/app/drawer.js")),
    ("emoji.js", include_str!("../../assets/app/emoji.js")),
    ("feed.js", include_str!("../../assets/app/feed.js")),
    ("focus.js", include_str!("../../assets/app/focus.js")),
    ("frame.js", include_str!("../../assets/app/frame.js")),
    (
        "home-menu.js",
        include_str!("../../assets/app/home-menu.js"),
    ),
    ("hint.js", include_str!("../../assets/app/hint.js")),
    ("keys.js", include_str!("../../assets/app/keys.js")),
    ("live.js", include_str!("../../assets/app/live.js")),
    ("lightbox.js", include_str!("../../assets/app/lightbox.js")),
    ("notices.js", include_str!("../../assets/app/notices.js")),
    ("outbox.js", include_str!("../../assets/app/outbox.js")),
    ("panes.js", include_str!("../../assets/app/panes.js")),
    ("parts.js", include_str!("../../assets/app/parts.js")),
    ("people.js", include_str!("../../assets/app/people.js")),
    (
        "line-form.js",
        include_str!("../../assets/app/line-form.js"),
    ),
    ("side.js", include_str!("../../assets/app/side.js")),
    ("status.js", include_str!("../../assets/app/status.js")),
    ("presence.js", include_str!("../../assets/app/presence.js")),
    ("picker.js", include_str!("../../assets/app/picker.js")),
    ("rank.js", include_str!("../../assets/app/rank.js")),
    (
        "reactions.js",
        include_str!("../../assets/app/reactions.js"),
    ),
    ("reading.js", include_str!("../../assets/app/reading.js")),
    ("refusal.js", include_str!("../../assets/app/refusal.js")),
    ("row.js", include_str!("../../assets/app/row.js")),
    (
        "row-tools.js",
        include_str!("../../assets/app/row-tools.js"),
    ),
    ("stream.js", include_str!("../../assets/app/stream.js")),
    ("sure.js", include_str!("../../assets/app/sure.js")),
    ("switcher.js", include_str!("../../assets/app/switcher.js")),
    (
        "tab-order.js",
        include_str!("../../assets/app/tab-order.js"),
    ),
    ("tabs.js", include_str!("../../assets/app/tabs.js")),
    ("tags.js", include_str!("../../assets/app/tags.js")),
    ("texts.js", include_str!("../../assets/app/texts.js")),
    ("threads.js", include_str!("../../assets/app/threads.js")),
    ("throttle.js", include_str!("../../assets/app/throttle.js")),
    ("times.js", include_str!("../../assets/app/times.js")),
    ("toast.js", include_str!("../../assets/app/toast.js")),
    ("tray.js", include_str!("../../assets/app/tray.js")),
    ("worker.js", include_str!("../../assets/app/worker.js")),
    (
        "worker-address.js",
        include_str!("../../assets/app/worker-address.js"),
    ),
];

/// The module with the texts of one language.
const LANGUAGE: &str = "language.js";

/// Names the very texts of all modules.
static SCRIPTS_DIGEST: LazyLock<String> = LazyLock::new(|| {
    let modules = SCRIPTS.iter().flat_map(|(name, text)| [*name, *text]);
    let texts = Language::ALL.map(|language| Texts::in_language(language).module());
    let all: String = modules.chain(texts).collect();
    to_hex(&Secret::presented(all).hash().0[..8])
});

/// The modules as browsers get them. Comments would be a fifth of the bytes.
static SERVED: LazyLock<HashMap<&str, StaticText>> = LazyLock::new(|| {
    let modules = SCRIPTS.iter();
    modules
        .map(|(name, text)| (*name, StaticText::new(without_comments(text))))
        .collect()
});

/// The module [`LANGUAGE`] of each language.
static LANGUAGES: LazyLock<HashMap<Language, StaticText>> =
    LazyLock::new(|| in_each_language(|t| t.module().to_owned()));

/// A text for each language.
pub(super) fn in_each_language(text: impl Fn(&Texts) -> String) -> HashMap<Language, StaticText> {
    let each = Language::ALL.into_iter();
    each.map(|language| {
        let text = text(Texts::in_language(language));
        (language, StaticText::new(text))
    })
    .collect()
}

/// A module without the lines that are comments. The other lines keep their numbers, which errors in
/// browsers name. Our modules have no text of several lines in which a line looks like a comment.
fn without_comments(text: &str) -> String {
    let mut is_within = false;
    let mut served = String::with_capacity(text.len());
    for line in text.lines() {
        let start = line.trim_start();
        let is_block = is_within || start.starts_with("/*");
        is_within = is_block && !line.contains("*/");
        if !is_block && !start.starts_with("//") {
            served.push_str(line);
        }
        served.push('\n');
    }
    served
}

/// All emoji in the usual order: an array of groups, of which each is an array of emoji, each an
/// array of its text and its names. Browsers load it when the reader first needs it.
static EMOJI: LazyLock<StaticText> = LazyLock::new(|| {
    let groups = emojis::Group::iter().map(|group| {
        let known = group
            .emojis()
            .filter(|emoji| emoji.unicode_version() <= LATEST_EMOJI);
        let each = known.map(|emoji| {
            let names = emoji.shortcodes().chain([emoji.name()]);
            [emoji.as_str()].into_iter().chain(names).collect()
        });
        each.collect()
    });
    let groups: Vec<Vec<Vec<&str>>> = groups.collect();
    StaticText::new(serde_json::to_string(&groups).unwrap_or_default())
});

/// Younger emoji are missing in the fonts of systems that are still in use.
const LATEST_EMOJI: emojis::UnicodeVersion = emojis::UnicodeVersion::new(15, 0);

/// Where pages of a language find a module.
pub(crate) fn script_url(name: &str, language: Language) -> String {
    format!("/assets/{}-{}/{name}", *SCRIPTS_DIGEST, language.tag())
}

/// Where the modules are that a page loads, but for the first and the worker.
pub(crate) fn module_urls(language: Language) -> Vec<String> {
    let names = SCRIPTS.iter().map(|(name, _)| *name);
    let loaded = names.filter(|name| !matches!(*name, "app.js" | "side.js" | "worker.js"));
    loaded
        .chain([LANGUAGE])
        .map(|name| script_url(name, language))
        .collect()
}

/// A module, for pages of this version and of those before: a page that is open while the server is
/// updated may load one that it has not needed so far.
pub(super) async fn script(
    Path((place, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let (digest, tag) = place.rsplit_once('-').unwrap_or((&place, ""));
    let keep = match *digest == **SCRIPTS_DIGEST {
        true => KEEP,
        false => "no-cache",
    };
    if name == "emoji.json" {
        return Ok(asset(&EMOJI, &headers, "application/json", keep));
    }
    let kind = "text/javascript; charset=utf-8";
    if name == LANGUAGE {
        let language: Language = tag.parse().map_err(|()| PageError::not_found())?;
        let text = LANGUAGES.get(&language).ok_or_else(PageError::not_found)?;
        return Ok(asset(text, &headers, kind, keep));
    }
    let text = SERVED.get(&*name).ok_or_else(PageError::not_found)?;
    Ok(asset(text, &headers, kind, keep))
}

/// The answer with a static file to a request with these headers; `keep` says how browsers may keep
/// it.
pub(super) fn asset(
    text: &StaticText,
    headers: &HeaderMap,
    kind: &'static str,
    keep: &'static str,
) -> Response {
    let mut response = text.answer(headers, HeaderValue::from_static(kind));
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    response
}

pub(super) async fn style(uri: Uri, headers: HeaderMap) -> Response {
    STYLE.answer(&uri, &headers)
}

pub(super) async fn reference_script(uri: Uri, headers: HeaderMap) -> Response {
    REFERENCE_SCRIPT.answer(&uri, &headers)
}

pub(super) async fn icon(uri: Uri, headers: HeaderMap) -> Response {
    ICON.answer(&uri, &headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_not_served_and_lines_keep_their_numbers() {
        let text = "// What it is.\n/** One line. */\nconst a = 'x // y';\n  /**\n   * Several.\n   */\n  a * 2; // last\n";
        let served = "\n\nconst a = 'x // y';\n\n\n\n  a * 2; // last\n";
        assert_eq!(without_comments(text), served);
        for (name, text) in SCRIPTS {
            assert!(SERVED.contains_key(name), "{name}");
            let served = without_comments(text);
            assert_eq!(served.lines().count(), text.lines().count(), "{name}");
            assert!(!served.contains("/**"), "{name}");
        }
    }
}
