//! The paths of a server, as far as more than one part of it has to know them: which first segments
//! are taken, which paths are pages, and where secrets stand that no log may have.

/// A first segment that old clients send and that means nothing.
pub const OLD_PREFIX: &str = "v1";

/// Names that no flow and no organization gets in URLs: most are fixed segments of some path, and a
/// fixed segment wins over a name; the others look like one.
pub const RESERVED_NAMES: &[&str] = &[
    "actions",
    "all",
    "api",
    "app",
    "avatars",
    "comments",
    "files",
    "find",
    "flows",
    "healthz",
    "import",
    "invitations",
    "mentions",
    "messages",
    "oauth",
    "openapi",
    "organizations",
    "private",
    "read",
    "readyz",
    "scim",
    "search",
    "settings",
    "sources",
    "stream",
    "threads",
    "user",
    "users",
    OLD_PREFIX,
];

/// What a path begins with.
struct Root {
    segment: &'static str,
    part: Part,
    secret: Secret,
}

/// Which part of a server answers the paths under a root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Api,
    Pages,
}

/// Which segments behind the first are secret.
#[derive(Clone, Copy)]
enum Secret {
    None,
    /// The next one: a link to a file.
    Next,
    /// All of them: a link that was mailed or handed on.
    Rest,
    /// The one behind any of these: flow tokens.
    Behind(&'static [&'static str]),
}

/// All first segments but that of the stream, which is configured.
const ROOTS: &[Root] = &[
    api(".well-known"),
    api("asyncapi.json"),
    api("avatars"),
    api("comments"),
    Root {
        secret: Secret::Next,
        ..api("download")
    },
    api("files"),
    api("flows"),
    api("healthz"),
    api("mentions"),
    Root {
        secret: Secret::Behind(&["chat", "team_inbox", "influx"]),
        ..api("messages")
    },
    api("oauth"),
    api("openapi.json"),
    api("organizations"),
    api("private"),
    api("readyz"),
    api("scim"),
    api("search"),
    api("sources"),
    api("streams"),
    api("tabs"),
    api("user"),
    api("users"),
    page("account"),
    page("api"),
    page("app"),
    page("assets"),
    page("developer"),
    Root {
        secret: Secret::Rest,
        ..page("email")
    },
    Root {
        secret: Secret::Rest,
        ..page("invitations")
    },
    Root {
        secret: Secret::Rest,
        ..page("password")
    },
    Root {
        secret: Secret::Rest,
        ..page("sign-in")
    },
    page("sign-out"),
];

/// The page among the paths of OAuth. What stands behind it is a code.
const CONSENT: [&str; 2] = ["oauth", "authorize"];

const fn api(segment: &'static str) -> Root {
    Root {
        segment,
        part: Part::Api,
        secret: Secret::None,
    }
}

const fn page(segment: &'static str) -> Root {
    Root {
        segment,
        part: Part::Pages,
        secret: Secret::None,
    }
}

fn root(segment: &str) -> Option<&'static Root> {
    ROOTS.iter().find(|root| root.segment == segment)
}

/// Whether paths of the API or the pages begin with this segment, so that nothing else may be
/// served under it.
#[must_use]
pub fn is_reserved(segment: &str) -> bool {
    segment.is_empty() || segment == OLD_PREFIX || root(segment).is_some()
}

/// Whether this path is a page, and not the API's.
#[must_use]
pub fn is_page(path: &str) -> bool {
    let mut segments = path.split('/');
    match (segments.next(), segments.next(), segments.next()) {
        (Some(""), Some(""), rest) => rest.is_none(),
        (Some(""), Some(first), second) => {
            [first, second.unwrap_or_default()] == CONSENT
                || root(first).is_some_and(|root| root.part == Part::Pages)
        }
        _ => false,
    }
}

/// Whether a suffix of the last of these segments belongs to its name, where old clients may add
/// `.json` to others.
#[must_use]
pub fn keeps_suffix(segments: &[&str]) -> bool {
    matches!(
        segments,
        ["files" | "download" | "avatars", ..] | ["asyncapi.json" | "openapi.json"]
    )
}

/// The shortest segment that may be a secret wherever it stands.
const SECRET_LENGTH: usize = 32;
/// What a secret is replaced by.
const REDACTED: &str = "…";

/// The path without its secrets, for logs: those of links and flow tokens, and whatever is as long
/// as a secret, wherever it stands and however it is spelt, since clients get paths wrong.
#[must_use]
pub fn redacted(path: &str) -> String {
    let mut segments: Vec<&str> = path.split('/').collect();
    for at in known_secrets(&segments) {
        segments[at] = REDACTED;
    }
    for segment in &mut segments {
        if segment.len() >= SECRET_LENGTH && !is_uuid(segment) {
            *segment = REDACTED;
        }
    }
    segments.join("/")
}

/// Where secrets stand that the first segments tell of. Doubled slashes count for nothing.
fn known_secrets(segments: &[&str]) -> Vec<usize> {
    let mut named = segments
        .iter()
        .enumerate()
        .filter(|(_, segment)| !segment.is_empty())
        .map(|(at, _)| at);
    let Some(first) = named.find(|at| segments[*at] != OLD_PREFIX) else {
        return Vec::new();
    };
    let rest: Vec<usize> = named.collect();
    let is_second = |wanted: &str| rest.first().is_some_and(|at| segments[*at] == wanted);
    if segments[first] == CONSENT[0] && is_second(CONSENT[1]) {
        return rest[1..].to_vec();
    }
    match root(segments[first]).map(|root| root.secret) {
        Some(Secret::Next) => rest.into_iter().take(1).collect(),
        Some(Secret::Rest) => rest,
        Some(Secret::Behind(words)) if words.iter().any(|word| is_second(word)) => {
            rest.into_iter().skip(1).take(1).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a segment is an id of a flow, which is as long as a secret: five groups of digits with
/// hyphens between.
fn is_uuid(segment: &str) -> bool {
    let groups: Vec<&str> = segment.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups
            .iter()
            .all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_their_own_paths() {
        for path in [
            "/",
            "/sign-in",
            "/sign-out",
            "/password/ab",
            "/app/acme/main",
            "/api",
            "/app/",
            "/assets/x",
        ] {
            assert!(is_page(path), "{path}");
        }
        for path in [
            "",
            "*",
            "//",
            "//app",
            "app",
            "/flows",
            "/user",
            "/v1/app",
            "/application",
            "/sign-in2",
        ] {
            assert!(!is_page(path), "{path}");
        }
    }

    #[test]
    fn of_oauth_only_the_consent_is_a_page() {
        for path in [
            "/oauth/authorize",
            "/oauth/authorize/",
            "/oauth/authorize/0123",
        ] {
            assert!(is_page(path), "{path}");
        }
        for path in [
            "/oauth",
            "/oauth/",
            "/oauth/token",
            "/oauth/authorized",
            "/oauth/authorize.json",
        ] {
            assert!(!is_page(path), "{path}");
        }
    }

    #[test]
    fn what_something_is_served_under_is_reserved() {
        for segment in [
            "",
            "v1",
            "flows",
            "openapi.json",
            "developer",
            "oauth",
            "sign-out",
        ] {
            assert!(is_reserved(segment), "{segment}");
        }
        for segment in ["stream", "live", "Flows", "flow"] {
            assert!(!is_reserved(segment), "{segment}");
        }
    }

    #[test]
    fn secrets_of_links_and_tokens_are_redacted() {
        for (path, shown) in [
            ("/download/s3cret/a.txt", "/download/…/a.txt"),
            ("//v1//download/s3cret", "//v1//download/…"),
            ("/messages/chat/s3cret", "/messages/chat/…"),
            ("/v1/messages/influx/s3cret/", "/v1/messages/influx/…/"),
            ("/password/0123", "/password/…"),
            ("/invitations/0123-main/x", "/invitations/…/…"),
            ("/oauth/authorize/0123", "/oauth/authorize/…"),
        ] {
            assert_eq!(redacted(path), shown);
        }
        for path in [
            "",
            "*",
            "/",
            "/v1",
            "/messages",
            "/messages/chat/",
            "/download",
            "/v1/flows/acme/main/messages",
            "/password",
            "/app/acme/main",
            "/sign-in",
            "/oauth/authorize",
            "//flows/acme/main",
        ] {
            assert_eq!(redacted(path), path);
        }
    }

    #[test]
    fn what_is_as_long_as_a_secret_is_redacted_wherever_it_stands() {
        let token = "7c91ff2ffd37edb573d336732d259950";
        for path in [
            "/messages//influx/",
            "/mess%61ges/chat/",
            "/x/",
            "/oauth/authorize/",
        ] {
            assert!(
                !redacted(&format!("{path}{token}")).contains(token),
                "{path}"
            );
            assert!(
                !redacted(&format!("{path}{token},{token}/")).contains(token),
                "{path}"
            );
        }
        for path in [
            "/flows/79c12703-2ca5-407b-ae94-482984985d9f/x",
            "/threads/AQAAAAEAAAABazIqSI9fDaXdECs",
        ] {
            assert_eq!(redacted(path), path);
        }
    }
}
