use std::fmt;
use std::str::FromStr;

use eddyline_random::to_hex;
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::chain::parse_digest;
use crate::{Error, Result};

/// The key with which a server signs its exports.
pub struct ExportKey(Ed25519KeyPair);

struct Seed;

impl KeyType for Seed {
    fn len(&self) -> usize {
        32
    }
}

impl ExportKey {
    /// Derives it from the secret key of the server, so that one server always signs with one key.
    ///
    /// # Panics
    ///
    /// Never: a seed of 32 bytes is always one.
    #[must_use]
    pub fn derive(secret_key: &[u8]) -> Self {
        let extracted =
            Salt::new(HKDF_SHA256, b"eddyline: signing key of exports").extract(secret_key);
        let mut seed = [0; 32];
        let pair = extracted
            .expand(&[b"ed25519"], Seed)
            .and_then(|expanded| expanded.fill(&mut seed))
            .ok()
            .and_then(|()| Ed25519KeyPair::from_seed_unchecked(&seed).ok());
        Self(pair.expect("32 bytes are a seed"))
    }

    /// The key that others know it by.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        let mut key = [0; 32];
        key.copy_from_slice(self.0.public_key().as_ref());
        PublicKey(key)
    }

    /// Signs a manifest.
    pub(crate) fn sign(&self, manifest: &[u8]) -> SignatureRecord {
        SignatureRecord {
            algorithm: ALGORITHM.to_owned(),
            public_key: self.public_key().to_string(),
            signature: to_hex(self.0.sign(manifest).as_ref()),
        }
    }
}

impl fmt::Debug for ExportKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExportKey({})", self.public_key())
    }
}

const ALGORITHM: &str = "ed25519";

/// An Ed25519 public key. Its text is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim().to_ascii_lowercase();
        parse_digest(&text).map(Self).ok_or(Error::Key)
    }
}

/// The entry with the signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignatureRecord {
    algorithm: String,
    public_key: String,
    signature: String,
}

impl SignatureRecord {
    /// The key that signed, if this is its signature of the manifest.
    pub(crate) fn signer(&self, manifest: &[u8]) -> Option<PublicKey> {
        let key: PublicKey = self.public_key.parse().ok()?;
        let (first, second) = self.signature.split_at_checked(64)?;
        let signature = [parse_digest(first)?, parse_digest(second)?].concat();
        let known = UnparsedPublicKey::new(&ED25519, key.0);
        let is_known = self.algorithm == ALGORITHM && known.verify(manifest, &signature).is_ok();
        is_known.then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_its_manifest_only() {
        let key = ExportKey::derive(b"a secret");
        let signature = key.sign(b"manifest");
        assert_eq!(signature.signer(b"manifest"), Some(key.public_key()));
        assert_eq!(signature.signer(b"manifesto"), None);
        let other = SignatureRecord {
            public_key: ExportKey::derive(b"another").public_key().to_string(),
            ..signature.clone()
        };
        assert_eq!(other.signer(b"manifest"), None);
        let cut = SignatureRecord {
            signature: signature.signature[..64].to_owned(),
            ..signature
        };
        assert_eq!(cut.signer(b"manifest"), None);
    }

    #[test]
    fn one_secret_has_one_key() {
        let key = ExportKey::derive(b"a secret").public_key();
        assert_eq!(key, ExportKey::derive(b"a secret").public_key());
        assert_eq!(key.to_string().parse::<PublicKey>().ok(), Some(key));
        assert!("no key".parse::<PublicKey>().is_err());
    }
}
