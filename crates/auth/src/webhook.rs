//! Signing requests to webhooks, in the manner of Standard Webhooks.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{self, HMAC_SHA256};

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// How many bytes a secret may have.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The text is no secret. It is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be whsec_ and 24 to 64 random bytes in Base64")]
pub struct WebhookSecretError;

/// The secret that a server and the receiver of its webhooks share. `Debug` does not write it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl WebhookSecret {
    /// Reads a secret: `whsec_` and 24 to 64 bytes in Base64.
    ///
    /// # Errors
    ///
    /// [`WebhookSecretError`].
    pub fn parse(text: &str) -> Result<Self, WebhookSecretError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(WebhookSecretError)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| WebhookSecretError)?;
        match BYTES.contains(&bytes.len()) {
            true => Ok(Self(bytes)),
            false => Err(WebhookSecretError),
        }
    }

    /// The value of the header `webhook-signature` for a request: HMAC-SHA256 over its id, the time
    /// in seconds since 1970 and its body.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&hmac::Key::new(HMAC_SHA256, &self.0));
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_specification() {
        // The example of the reference implementations.
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = secret.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(format!("{secret:?}"), "[redacted]");
    }

    #[test]
    fn a_secret_has_enough_bytes() {
        let secret = |bytes: usize| format!("whsec_{}", STANDARD.encode(vec![7; bytes]));
        assert!(WebhookSecret::parse(&secret(24)).is_ok());
        assert!(WebhookSecret::parse(&secret(64)).is_ok());
        for bad in [
            &secret(23),
            &secret(65),
            "whsec_",
            "whsec_!",
            &secret(24)[6..],
        ] {
            assert_eq!(
                WebhookSecret::parse(bad),
                Err(WebhookSecretError),
                "{}",
                bad.len()
            );
        }
    }
}
