//! How a client shows which one it is: by HTTP Basic or in the body (RFC 6749, section 2.3.1).

use percent_encoding::percent_decode_str;

use super::error::OAuthError;
use super::parameters::OAuthParameters;
use crate::basic;
use crate::token::Secret;

/// Which client asks, as it says itself.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    /// What it calls itself.
    pub client_id: String,
    /// Its secret, if it shows one.
    pub secret: Option<Secret>,
}

impl ClientCredentials {
    /// Reads the value of an `Authorization` header, and the body. A client may name itself in the
    /// body beside the header, but show its secret in one place only.
    ///
    /// # Errors
    ///
    /// [`OAuthError::InvalidClient`] for no client, and a header that cannot be read;
    /// [`OAuthError::InvalidRequest`].
    pub fn read(authorization: Option<&[u8]>, body: &OAuthParameters) -> Result<Self, OAuthError> {
        let (named, shown) = (body.get("client_id")?, body.get("client_secret")?);
        let Some(header) = authorization else {
            let client_id = named.ok_or(OAuthError::InvalidClient)?.to_owned();
            return Ok(Self {
                client_id,
                secret: shown.map(Secret::presented),
            });
        };
        let credentials = Self::read_basic(header).ok_or(OAuthError::InvalidClient)?;
        if shown.is_some() {
            return Err(OAuthError::InvalidRequest(
                "the client's secret is given in two ways".into(),
            ));
        }
        if named.is_some_and(|named| named != credentials.client_id) {
            return Err(OAuthError::InvalidRequest(
                "client_id is another client than the header names".into(),
            ));
        }
        Ok(credentials)
    }

    /// Name and secret are form-encoded before they are put together. Many clients do not know
    /// that, but ours have no character that is read in two ways.
    fn read_basic(header: &[u8]) -> Option<Self> {
        let (scheme, rest) = basic::scheme(header);
        if !scheme.eq_ignore_ascii_case(b"basic") {
            return None;
        }
        let text = basic::pair(rest)?;
        let (client_id, secret) = text.split_once(':')?;
        let decoded = |text: &str| {
            let spaced = text.replace('+', " ");
            let text = percent_decode_str(&spaced).decode_utf8().ok()?.into_owned();
            (!text.contains(char::is_control)).then_some(text)
        };
        let (client_id, secret) = (decoded(client_id)?, decoded(secret)?);
        let secret = (!secret.is_empty()).then(|| Secret::presented(secret));
        (!client_id.is_empty()).then_some(Self { client_id, secret })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn body(pairs: &[(&str, &str)]) -> OAuthParameters {
        OAuthParameters::new(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    fn read(
        header: Option<&str>,
        pairs: &[(&str, &str)],
    ) -> Result<(String, Option<String>), OAuthError> {
        let found = ClientCredentials::read(header.map(str::as_bytes), &body(pairs))?;
        Ok((
            found.client_id,
            found.secret.map(|secret| secret.expose().to_owned()),
        ))
    }

    fn basic(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn a_client_names_itself_in_the_body_or_the_header() {
        let whole = Ok(("robot".to_owned(), Some("s3cret".to_owned())));
        assert_eq!(
            read(None, &[("client_id", "robot"), ("client_secret", "s3cret")]),
            whole
        );
        assert_eq!(read(Some(&basic("robot:s3cret")), &[]), whole);
        assert_eq!(
            read(Some(&basic("robot:s3cret")), &[("client_id", "robot")]),
            whole
        );
        assert_eq!(
            read(None, &[("client_id", "app")]),
            Ok(("app".to_owned(), None))
        );
        assert_eq!(read(Some(&basic("ro%62ot:s3c%72et")), &[]), whole);
        assert_eq!(
            read(Some(&basic("app:")), &[]),
            Ok(("app".to_owned(), None))
        );
    }

    #[test]
    fn a_client_that_does_not_name_itself_is_not_known() {
        for header in [
            None,
            Some("Bearer abc"),
            Some("Basic"),
            Some("Basic %%%"),
            Some(&*basic("robot")),
            Some(&*basic(":x")),
        ] {
            assert_eq!(
                read(header, &[]),
                Err(OAuthError::InvalidClient),
                "{header:?}"
            );
        }
    }

    #[test]
    fn a_secret_is_shown_in_one_place() {
        let header = basic("robot:s3cret");
        for pairs in [[("client_secret", "s3cret")], [("client_id", "other")]] {
            assert!(matches!(
                read(Some(&header), &pairs),
                Err(OAuthError::InvalidRequest(_))
            ));
        }
        let twice = [("client_id", "robot"), ("client_id", "robot")];
        assert!(matches!(
            read(None, &twice),
            Err(OAuthError::InvalidRequest(_))
        ));
    }
}
