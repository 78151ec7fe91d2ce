//! Where to go on after signing in: a path here, and never another site.

/// How long such a path may be, in bytes. It holds what an application asks for with all that it
/// wants back, and thrice as much still fits into an address that says where to go on to.
const MAX: usize = 16 * 1024;

/// The text, if it leads somewhere on this server and is not too long to be carried along.
pub(crate) fn local_path(text: &str) -> Option<&str> {
    (text.len() <= MAX && is_local(text)).then_some(text)
}

/// Whether this leads somewhere on this server whatever a browser makes of it: browsers read a
/// backslash as a slash, leave out tabs and line feeds, and take two slashes for another host.
pub(crate) fn is_local(text: &str) -> bool {
    let well_formed = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    well_formed && text.starts_with('/') && !text.starts_with("//")
}

/// Where to sign in before going on to a path.
pub(crate) fn sign_in_path(next: &str) -> String {
    let next = percent_encoding::utf8_percent_encode(next, percent_encoding::NON_ALPHANUMERIC);
    format!("/sign-in?next={next}")
}

/// The page on which the organization with this name in URLs is deleted, and restored while it is
/// closed.
pub(crate) fn deletion_of(organization: &str) -> String {
    format!("/app/{organization}/settings/deletion")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_here_is_gone_on_to() {
        for path in [
            "/",
            "/app",
            "/app/acme/main?x=1#y",
            "/invitations/abc-main",
            "/app//x",
            "/a:b",
        ] {
            assert_eq!(local_path(path), Some(path));
        }
    }

    #[test]
    fn another_site_is_not() {
        for path in [
            "",
            "app",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "https://evil.example",
            "https:evil.example",
            "javascript:alert(1)",
            "/é",
            "/a\r\nSet-Cookie: a=b",
        ] {
            assert_eq!(local_path(path), None, "{path:?}");
        }
        assert_eq!(local_path(&format!("/{}", "a".repeat(MAX))), None);
    }
}
