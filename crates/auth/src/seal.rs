//! Secrets that must be read again later: kept sealed under a key of the server.
//!
//! An application's secret signs what is sent to it, so a digest of it would not do. It is
//! encrypted and bound to what it belongs to, so that nobody who can write to the database can give
//! one application the secret of another.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use crate::token::Secret;

/// The key under which secrets are sealed. It never prints itself.
pub struct SealingKey(LessSafeKey);

impl SealingKey {
    /// The fewest bytes that a key is made of.
    pub const MIN_BYTES: usize = 32;

    /// The key that follows from these bytes, which must be random; see [`SealingKey::MIN_BYTES`].
    /// The same bytes always give the same key (HKDF, RFC 5869).
    ///
    /// # Errors
    ///
    /// [`TooShort`].
    pub fn derive(bytes: &[u8]) -> Result<Self, TooShort> {
        if bytes.len() < Self::MIN_BYTES {
            return Err(TooShort);
        }
        let purpose: &[&[u8]] = &[b"eddyline secrets at rest, 1"];
        let extracted = Salt::new(HKDF_SHA256, b"eddyline").extract(bytes);
        let key = extracted
            .expand(purpose, &AES_256_GCM)
            .expect("one key is not too much to expand to");
        Ok(Self(LessSafeKey::new(UnboundKey::from(key))))
    }

    /// Seals a secret that belongs to `owner`: another owner cannot open it.
    #[must_use]
    pub fn seal(&self, owner: &str, secret: &Secret) -> Vec<u8> {
        // Random nonces of 96 bits are good for billions of secrets under one key.
        let nonce = eddyline_random::bytes::<NONCE_LEN>();
        let mut sealed = secret.expose().as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(owner),
                &mut sealed,
            )
            .expect("a secret is not too long to be sealed");
        [&nonce[..], &sealed].concat()
    }

    /// Opens what was sealed for `owner`; `None` for what was not sealed under this key, or for
    /// somebody else, or was changed since.
    #[must_use]
    pub fn open(&self, owner: &str, sealed: &[u8]) -> Option<Secret> {
        let (nonce, rest) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut rest = rest.to_vec();
        let text = self
            .0
            .open_in_place(nonce, Aad::from(owner), &mut rest)
            .ok()?;
        std::str::from_utf8(text).ok().map(Secret::presented)
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey([redacted])")
    }
}

/// A key must be made of at least [`SealingKey::MIN_BYTES`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has at least {} bytes", SealingKey::MIN_BYTES)]
pub struct TooShort;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(byte: u8) -> SealingKey {
        SealingKey::derive(&[byte; 32]).expect("long enough")
    }

    fn opened(key: &SealingKey, owner: &str, sealed: &[u8]) -> Option<String> {
        key.open(owner, sealed)
            .map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn a_secret_is_opened_under_the_same_key_for_the_same_owner_only() {
        let sealed = key(1).seal("robot", &Secret::presented("s3cret"));
        assert_eq!(opened(&key(1), "robot", &sealed).as_deref(), Some("s3cret"));
        assert_eq!(opened(&key(2), "robot", &sealed), None);
        assert_eq!(opened(&key(1), "other", &sealed), None);
    }

    #[test]
    fn what_is_sealed_shows_nothing_and_is_never_the_same_twice() {
        let secret = Secret::presented("s3cret");
        let (one, other) = (key(1).seal("robot", &secret), key(1).seal("robot", &secret));
        assert_ne!(one, other);
        assert!(!one.windows(6).any(|part| part == b"s3cret"));
    }

    #[test]
    fn a_short_key_is_refused() {
        assert_eq!(SealingKey::derive(&[0; 31]).err(), Some(TooShort));
        assert_eq!(format!("{:?}", key(1)), "SealingKey([redacted])");
    }

    proptest! {
        #[test]
        fn any_secret_comes_back(text in "\\PC{0,80}", owner in "\\PC{0,20}") {
            let sealed = key(1).seal(&owner, &Secret::presented(text.clone()));
            prop_assert_eq!(opened(&key(1), &owner, &sealed), Some(text));
        }

        #[test]
        fn what_was_changed_is_not_opened(at in 0_usize..30, bit in 0_u8..8) {
            let mut sealed = key(1).seal("robot", &Secret::presented("s3cret"));
            let at = at % sealed.len();
            sealed[at] ^= 1 << bit;
            prop_assert_eq!(opened(&key(1), "robot", &sealed), None);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            prop_assert_eq!(opened(&key(1), "robot", &bytes), None);
        }
    }
}
