//! The `Authorization` request header: HTTP Basic (RFC 7617) and Bearer (RFC 6750).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD_INDIFFERENT;

use crate::password::Password;
use crate::token::Secret;

/// What a caller presents to show who they are (specification, section 5). `Debug` writes the kind
/// only.
#[derive(Clone)]
pub enum Credentials {
    /// HTTP Basic with an e-mail address and a password: there is an `@` in the user part.
    Basic {
        /// The e-mail address as it was sent.
        user: String,
        /// The password; it may be empty.
        password: Password,
    },
    /// HTTP Basic with an API token as the user and any password, or with no colon at all.
    Token(Secret),
    /// An OAuth access token.
    Bearer(Secret),
}

/// Why an `Authorization` header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// The scheme is neither Basic nor Bearer.
    #[error("the authorization scheme is not supported")]
    Scheme,
    /// What follows the scheme is missing, not base64, or has control characters.
    #[error("the authorization header is malformed")]
    Malformed,
}

/// The name of the scheme in an `Authorization` header, and what follows it.
pub(crate) fn scheme(header: &[u8]) -> (&[u8], &[u8]) {
    let header = header.trim_ascii();
    let end = header
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(header.len());
    let (scheme, rest) = header.split_at(end);
    (scheme, rest.trim_ascii())
}

/// What follows the name of the scheme Basic, decoded: a name and a password with a colon between.
/// Bytes that are not UTF-8 are taken for ISO 8859-1, which older clients send (RFC 7617, appendix
/// B.3).
pub(crate) fn pair(encoded: &[u8]) -> Option<String> {
    let bytes = STANDARD_NO_PAD_INDIFFERENT.decode(encoded).ok()?;
    let latin1 = |error: std::string::FromUtf8Error| {
        error.as_bytes().iter().map(|b| char::from(*b)).collect()
    };
    Some(String::from_utf8(bytes).unwrap_or_else(latin1))
}

impl Credentials {
    /// Reads the value of an `Authorization` header. The name of the scheme may be in any case, and
    /// the padding of the base64 may be missing.
    ///
    /// # Errors
    ///
    /// [`CredentialsError`], when the scheme is neither Basic nor Bearer, or what follows it is
    /// malformed.
    pub fn parse(header: &[u8]) -> Result<Self, CredentialsError> {
        let (scheme, rest) = scheme(header);
        if scheme.eq_ignore_ascii_case(b"basic") {
            Self::parse_basic(rest)
        } else if scheme.eq_ignore_ascii_case(b"bearer") {
            let token = std::str::from_utf8(rest)
                .ok()
                .filter(|token| is_presentable(token));
            Ok(Self::Bearer(Secret::presented(
                token.ok_or(CredentialsError::Malformed)?,
            )))
        } else {
            Err(CredentialsError::Scheme)
        }
    }

    fn parse_basic(encoded: &[u8]) -> Result<Self, CredentialsError> {
        let text = pair(encoded).ok_or(CredentialsError::Malformed)?;
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (text.as_str(), None),
        };
        if !is_presentable(user) {
            return Err(CredentialsError::Malformed);
        }
        Ok(match password {
            Some(password) if user.contains('@') => Self::Basic {
                user: user.to_owned(),
                password: Password::new(password),
            },
            _ => Self::Token(Secret::presented(user)),
        })
    }
}

/// Control characters occur in no account and no token, and PostgreSQL takes no NUL.
fn is_presentable(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Basic { .. } => "Basic([redacted])",
            Self::Token(_) => "Token([redacted])",
            Self::Bearer(_) => "Bearer([redacted])",
        })
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    fn basic(text: impl AsRef<[u8]>) -> Result<Credentials, CredentialsError> {
        Credentials::parse(format!("Basic {}", STANDARD.encode(text)).as_bytes())
    }

    fn email_and_password(text: &str) -> (String, String) {
        match basic(text) {
            Ok(Credentials::Basic { user, password }) => (user, password.expose().to_owned()),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn token(text: &str) -> String {
        match basic(text) {
            Ok(Credentials::Token(token)) => token.expose().to_owned(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_user_with_an_at_sign_is_an_email_address() {
        let of = |user: &str, password: &str| (user.to_owned(), password.to_owned());
        assert_eq!(
            email_and_password("ada@example.com:secret"),
            of("ada@example.com", "secret")
        );
        assert_eq!(
            email_and_password("ada@example.com:a:b "),
            of("ada@example.com", "a:b ")
        );
        assert_eq!(
            email_and_password("ada@example.com:ünïcode"),
            of("ada@example.com", "ünïcode")
        );
        assert_eq!(
            email_and_password("ada@example.com:"),
            of("ada@example.com", "")
        );
    }

    #[test]
    fn what_is_not_utf8_is_latin1() {
        match basic(b"ada@example.com:gr\xfc\xdfe") {
            Ok(Credentials::Basic { password, .. }) => assert_eq!(password.expose(), "grüße"),
            other => panic!("{other:?}"),
        }
    }

    /// Shows: 5.3
    #[test]
    fn any_other_user_is_an_api_token_whatever_the_password() {
        assert_eq!(token("0123abcd:"), "0123abcd");
        assert_eq!(token("0123abcd:x@y"), "0123abcd");
        assert_eq!(token("0123abcd"), "0123abcd");
    }

    #[test]
    fn the_scheme_may_be_in_any_case_and_the_padding_missing() {
        for header in [
            "Basic YTpi",
            "basic YTpi",
            "BASIC   YTpi ",
            "Basic YTo",
            "Basic YTo=",
        ] {
            assert!(
                matches!(
                    Credentials::parse(header.as_bytes()),
                    Ok(Credentials::Token(_))
                ),
                "{header}"
            );
        }
        for header in ["Bearer abc", "bearer abc", "BEARER abc"] {
            match Credentials::parse(header.as_bytes()) {
                Ok(Credentials::Bearer(token)) => assert_eq!(token.expose(), "abc"),
                other => panic!("{header}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for header in ["", "Digest abc", "BasicYTpi", "YTpi"] {
            assert_eq!(
                Credentials::parse(header.as_bytes()).err(),
                Some(CredentialsError::Scheme),
                "{header}"
            );
        }
        for header in [
            "Basic",
            "Basic ",
            "Basic %%%",
            "Basic YTpi YTpi",
            "Bearer",
            "Bearer ",
            "Bearer a\u{0}",
        ] {
            assert_eq!(
                Credentials::parse(header.as_bytes()).err(),
                Some(CredentialsError::Malformed),
                "{header}"
            );
        }
        for text in [&b""[..], b":", b":secret", b"a\0@example.com:secret"] {
            assert_eq!(
                basic(text).err(),
                Some(CredentialsError::Malformed),
                "{text:?}"
            );
        }
    }

    #[test]
    fn credentials_do_not_print() {
        assert_eq!(
            format!("{:?}", basic("ada@example.com:secret")),
            "Ok(Basic([redacted]))"
        );
        assert_eq!(format!("{:?}", basic("0123abcd:")), "Ok(Token([redacted]))");
        assert_eq!(
            format!("{:?}", Credentials::parse(b"Bearer 0123abcd")),
            "Ok(Bearer([redacted]))"
        );
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(header: Vec<u8>, text: Vec<u8>) {
            let _ = Credentials::parse(&header);
            let _ = basic(text);
        }

        #[test]
        fn an_email_address_and_a_password_come_back_as_sent(
            user in "[a-z.+-]{1,20}@[a-z.-]{1,20}",
            password in "\\PC{0,40}",
        ) {
            prop_assert_eq!(email_and_password(&format!("{user}:{password}")), (user, password));
        }
    }
}
