//! The key by which push services know a server (RFC 8292).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde::Serialize;
use url::Url;

/// For how many seconds a signature is good; a day is the most that is allowed (RFC 8292, section 2).
const LIFETIME_SECONDS: i64 = 12 * 3600;

/// Signs requests to push services. Browsers subscribe with its public key, and their push services
/// then reject messages that other keys signed.
pub struct ServerKey {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

/// The bytes are no private key on P-256 in PKCS #8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a private key on P-256")]
pub struct InvalidKey;

/// The address of a subscription is none that can be posted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not the address of a push service")]
pub struct InvalidEndpoint;

#[derive(Serialize)]
struct Claims<'a> {
    aud: &'a str,
    exp: i64,
    sub: &'a str,
}

impl ServerKey {
    /// A new private key, in PKCS #8, to be kept in secret.
    ///
    /// # Panics
    ///
    /// When the system has no random bytes.
    #[must_use]
    pub fn generate_pkcs8() -> Vec<u8> {
        let random = SystemRandom::new();
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .expect("the system has random bytes")
            .as_ref()
            .to_vec()
    }

    /// Reads a private key.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`].
    pub fn from_pkcs8(bytes: &[u8]) -> Result<Self, InvalidKey> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &random)
            .map_err(|_| InvalidKey)?;
        Ok(Self { pair, random })
    }

    /// The public key as browsers want it for `applicationServerKey`: an uncompressed point in
    /// base64 for URLs.
    #[must_use]
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    /// The value of `Authorization` for a message to this endpoint. `subject` is an address, `mailto:`
    /// or `https:`, by which the operators of the push service reach those of the server; `now` is in
    /// seconds since 1970.
    ///
    /// # Errors
    ///
    /// [`InvalidEndpoint`].
    ///
    /// # Panics
    ///
    /// When the system has no random bytes.
    pub fn authorization(
        &self,
        endpoint: &str,
        subject: &str,
        now: i64,
    ) -> Result<String, InvalidEndpoint> {
        let url = Url::parse(endpoint).map_err(|_| InvalidEndpoint)?;
        let origin = url.origin();
        if !origin.is_tuple() {
            return Err(InvalidEndpoint);
        }
        let claims = Claims {
            aud: &origin.ascii_serialization(),
            exp: now + LIFETIME_SECONDS,
            sub: subject,
        };
        let claims = serde_json::to_vec(&claims).expect("texts and numbers are JSON");
        // `jsonwebtoken` has one provider of signatures for the whole process, which a library must
        // not choose for its users.
        let header = URL_SAFE_NO_PAD.encode(br#"{"typ":"JWT","alg":"ES256"}"#);
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = self
            .pair
            .sign(&self.random, signed.as_bytes())
            .expect("the system has random bytes");
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(format!(
            "vapid t={signed}.{signature}, k={}",
            self.public_key()
        ))
    }
}

impl std::fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerKey([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::{Value, json};

    use super::*;

    fn key() -> ServerKey {
        ServerKey::from_pkcs8(&ServerKey::generate_pkcs8()).unwrap()
    }

    #[test]
    fn a_push_service_can_check_who_asks() {
        let key = key();
        let endpoint = "https://push.example:8443/send/abc?x=1";
        let header = key
            .authorization(endpoint, "https://chat.example", 1_000)
            .unwrap();
        let (token, public) = header
            .strip_prefix("vapid t=")
            .and_then(|rest| rest.split_once(", k="))
            .unwrap();
        assert_eq!(public, key.public_key());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(public))
            .verify(signed.as_bytes(), &decoded(signature))
            .unwrap();
        let (head, claims) = signed.split_once('.').unwrap();
        let json = |text: &str| serde_json::from_slice::<Value>(&decoded(text)).unwrap();
        assert_eq!(json(head), json!({"typ": "JWT", "alg": "ES256"}));
        assert_eq!(
            json(claims),
            json!({
                "aud": "https://push.example:8443",
                "exp": 1_000 + 12 * 3600,
                "sub": "https://chat.example",
            })
        );
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in ["", "abc", "mailto:a@example.org", "data:,x"] {
            let refused = key().authorization(bad, "https://chat.example", 0);
            assert_eq!(refused, Err(InvalidEndpoint), "{bad}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        assert_eq!(ServerKey::from_pkcs8(b"x").err(), Some(InvalidKey));
        assert_eq!(format!("{:?}", key()), "ServerKey([redacted])");
        assert_eq!(key().public_key().len(), 87);
    }
}
