//! Random secrets (API tokens, flow tokens and the like) and the hashes they are stored as.
//!
//! A secret of 128 random bits cannot be guessed, so unlike a password it is stored under a plain
//! SHA-256, which can be looked up by index.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use eddyline_model::CredentialId;
use ring::digest;
use subtle::ConstantTimeEq;

/// A secret in the form in which its holder presents it. It never prints itself: `Debug` writes
/// `[redacted]`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A new API token or flow token: 128 random bits as 32 lower-case hexadecimal digits, the form
    /// that existing clients know.
    #[must_use]
    pub fn generate() -> Self {
        Self::generate_hex::<16>()
    }

    /// A new secret of `BYTES` random bytes in lower-case hexadecimal digits.
    #[must_use]
    pub fn generate_hex<const BYTES: usize>() -> Self {
        Self(eddyline_random::hex::<BYTES>())
    }

    /// A new secret of 256 random bits as 43 characters of URL-safe base64.
    #[must_use]
    pub fn generate_long() -> Self {
        Self(URL_SAFE_NO_PAD.encode(eddyline_random::bytes::<32>()))
    }

    /// Wraps a secret that a caller presented. Any text is taken; whether it is right is for its
    /// [`TokenHash`] to say.
    #[must_use]
    pub fn presented(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself: for the one answer that tells it. Keep it out of logs and errors.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What the store keeps of the secret and finds it by.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// The SHA-256 of a secret's text: what is stored, and the key of caches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(
    /// The 32 bytes of the digest.
    pub [u8; 32],
);

impl TokenHash {
    /// The hash of a secret's text.
    #[must_use]
    pub fn of(secret: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref());
        Self(bytes)
    }

    /// The number by which the credential is named where its secret must not stand: 63 bits of the
    /// hash.
    #[must_use]
    pub fn credential(&self) -> CredentialId {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        CredentialId(i64::from_be_bytes([a & 0x7f, b, c, d, e, f, g, h]).max(1))
    }

    /// The hash as it was stored; `None` unless there are 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash([redacted])")
    }
}

/// Whether two byte strings are equal, in a time that depends on their lengths only.
#[must_use]
pub fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_32_lower_case_hexadecimal_digits() {
        let token = Secret::generate();
        assert_eq!(token.expose().len(), 32);
        assert!(
            token
                .expose()
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        );
        assert_eq!(Secret::generate_hex::<20>().expose().len(), 40);
    }

    #[test]
    fn a_long_secret_can_stand_in_a_url_as_it_is() {
        let secret = Secret::generate_long();
        assert_eq!(secret.expose().len(), 43);
        assert!(
            secret
                .expose()
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        );
    }

    #[test]
    fn no_two_secrets_are_alike() {
        assert_ne!(Secret::generate().expose(), Secret::generate().expose());
        assert_ne!(
            Secret::generate_long().expose(),
            Secret::generate_long().expose()
        );
    }

    #[test]
    fn a_presented_secret_is_found_by_its_hash() {
        let token = Secret::generate();
        assert_eq!(Secret::presented(token.expose()).hash(), token.hash());
        assert_ne!(Secret::presented("guess").hash(), token.hash());
        assert_eq!(TokenHash::from_bytes(&token.hash().0), Some(token.hash()));
        assert_eq!(TokenHash::from_bytes(&[0; 31]), None);
    }

    #[test]
    fn the_hash_is_sha_256() {
        let TokenHash(bytes) = TokenHash::of("abc");
        assert_eq!(bytes[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn a_credential_is_named_by_a_positive_number() {
        assert_eq!(TokenHash([0xff; 32]).credential(), CredentialId(i64::MAX));
        assert_eq!(TokenHash([0; 32]).credential(), CredentialId(1));
        assert_ne!(
            TokenHash::of("abc").credential(),
            TokenHash::of("abd").credential()
        );
    }

    #[test]
    fn bytes_of_different_lengths_are_not_equal() {
        assert!(constant_time_eq(b"abc", b"abc"));
        assert!(!constant_time_eq(b"abc", b"abd"));
        assert!(!constant_time_eq(b"abc", b"ab"));
    }

    #[test]
    fn neither_a_secret_nor_its_hash_prints() {
        let token = Secret::generate();
        assert_eq!(
            format!("{token:?} {:?}", token.hash()),
            "[redacted] TokenHash([redacted])"
        );
    }
}
