//! Links by which a file can be downloaded without any credentials, for a short while.
//!
//! Who may read a file is asked when the link is made. The link then says itself what it is good
//! for, so that a browser can follow it, and nothing of it is stored.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use eddyline_model::{OrganizationId, UserId};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::hmac::{self, HMAC_SHA256};

use crate::seal::{SealingKey, TooShort};

const TAG_BYTES: usize = 32;
/// Stands for no user and no organization, whose numbers are positive.
const NONE: i64 = 0;

/// What a link lets anybody read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadClaim {
    /// The id of the file.
    pub file: String,
    /// Which of its representations.
    pub variant: Variant,
    /// Who asked for the link. Downloads by the link are charged to both.
    pub user: Option<UserId>,
    /// The organization of that user.
    pub organization: Option<OrganizationId>,
}

/// The representations of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// What was uploaded.
    File,
    /// The small picture of a picture.
    Thumbnail,
}

impl Variant {
    fn code(self) -> u8 {
        match self {
            Self::File => 0,
            Self::Thumbnail => 1,
        }
    }
}

/// The key that links are signed with. All servers that answer for each other need the same. It
/// never prints itself.
pub struct DownloadKey(hmac::Key);

impl DownloadKey {
    /// The key that follows from these bytes, which must be random and at least
    /// [`SealingKey::MIN_BYTES`]. They may be those of a [`SealingKey`]: the keys that follow have
    /// nothing to do with each other (HKDF, RFC 5869).
    ///
    /// # Errors
    ///
    /// [`TooShort`].
    pub fn derive(bytes: &[u8]) -> Result<Self, TooShort> {
        if bytes.len() < SealingKey::MIN_BYTES {
            return Err(TooShort);
        }
        let extracted = Salt::new(HKDF_SHA256, b"eddyline").extract(bytes);
        let key = extracted.expand(&[b"eddyline download links, 2"], HMAC_SHA256);
        Ok(Self(
            key.expect("one key is not too much to expand to").into(),
        ))
    }

    /// A token that lets its holder read `download` until `ends_at`, in milliseconds since 1970.
    /// It can stand in a path as it is.
    #[must_use]
    pub fn sign(&self, download: &DownloadClaim, ends_at: i64) -> String {
        let mut token = Vec::with_capacity(TAG_BYTES + 25 + download.file.len());
        token.extend([0; TAG_BYTES]);
        token.extend(ends_at.to_be_bytes());
        token.push(download.variant.code());
        token.extend(download.user.map_or(NONE, |user| user.0).to_be_bytes());
        token.extend(
            download
                .organization
                .map_or(NONE, |organization| organization.0)
                .to_be_bytes(),
        );
        token.extend(download.file.as_bytes());
        let (tag, claims) = token.split_at_mut(TAG_BYTES);
        tag.copy_from_slice(hmac::sign(&self.0, claims).as_ref());
        URL_SAFE_NO_PAD.encode(token)
    }

    /// What a token is good for at this time, in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// [`Expired`](DownloadError::Expired) for a token whose time is over, and
    /// [`Forged`](DownloadError::Forged) for any text that was not signed with this key.
    pub fn check(&self, token: &str, now: i64) -> Result<DownloadClaim, DownloadError> {
        let forged = DownloadError::Forged;
        // There is only one way to write each sequence of bytes, so no other text passes.
        let token = URL_SAFE_NO_PAD.decode(token).map_err(|_| forged)?;
        let (tag, claims) = token.split_first_chunk::<TAG_BYTES>().ok_or(forged)?;
        // In a time that does not depend on where they differ.
        hmac::verify(&self.0, claims, tag).map_err(|_| forged)?;
        let (ends_at, claims) = claims.split_first_chunk().ok_or(forged)?;
        let (variant, file) = claims.split_first().ok_or(forged)?;
        let variant = match variant {
            0 => Variant::File,
            1 => Variant::Thumbnail,
            _ => return Err(forged),
        };
        let (user, file) = file.split_first_chunk().ok_or(forged)?;
        let (organization, file) = file.split_first_chunk().ok_or(forged)?;
        let number =
            |bytes: &[u8; 8]| Some(i64::from_be_bytes(*bytes)).filter(|number| *number != NONE);
        let (user, organization) = (
            number(user).map(UserId),
            number(organization).map(OrganizationId),
        );
        let file = std::str::from_utf8(file).map_err(|_| forged)?.to_owned();
        if now >= i64::from_be_bytes(*ends_at) {
            return Err(DownloadError::Expired);
        }
        Ok(DownloadClaim {
            file,
            variant,
            user,
            organization,
        })
    }
}

impl fmt::Debug for DownloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DownloadKey([redacted])")
    }
}

/// Why a link is good for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// It was good once.
    #[error("the link has expired")]
    Expired,
    /// It was not made here, or was changed since.
    #[error("the link is not valid")]
    Forged,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOON: i64 = 1_800_000_000_000;

    fn key(byte: u8) -> DownloadKey {
        DownloadKey::derive(&[byte; 32]).expect("long enough")
    }

    fn download(file: &str, variant: Variant) -> DownloadClaim {
        DownloadClaim {
            file: file.to_owned(),
            variant,
            user: Some(UserId(7)),
            organization: Some(OrganizationId(3)),
        }
    }

    #[test]
    fn a_link_is_good_for_what_it_was_made_for_until_it_ends() {
        for variant in [Variant::File, Variant::Thumbnail] {
            let token = key(1).sign(&download("x7Gq", variant), NOON);
            assert_eq!(
                key(1).check(&token, NOON - 1),
                Ok(download("x7Gq", variant))
            );
            assert_eq!(key(1).check(&token, NOON), Err(DownloadError::Expired));
            assert_eq!(key(2).check(&token, NOON - 1), Err(DownloadError::Forged));
        }
    }

    #[test]
    fn a_link_of_another_key_is_forged_even_when_it_has_ended() {
        let token = key(1).sign(&download("x7Gq", Variant::File), NOON);
        assert_eq!(key(2).check(&token, NOON + 1), Err(DownloadError::Forged));
    }

    #[test]
    fn a_token_can_stand_in_a_path() {
        let token = key(1).sign(&download("grüße/..", Variant::File), NOON);
        assert!(
            token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'),
            "{token}"
        );
    }

    #[test]
    fn a_short_key_is_refused_and_none_prints() {
        assert_eq!(DownloadKey::derive(&[0; 31]).err(), Some(TooShort));
        assert_eq!(format!("{:?}", key(1)), "DownloadKey([redacted])");
    }

    /// A token of a real file, and a way to change it.
    fn changed() -> impl Strategy<Value = String> {
        let token = key(1).sign(&download("x7Gq", Variant::File), NOON);
        let length = token.len();
        let place = 0..length;
        prop_oneof![
            // One character replaced, left out, or put in.
            (place.clone(), "\\PC").prop_map({
                let token = token.clone();
                move |(at, with)| [&token[..at], &with, &token[at + 1..]].concat()
            }),
            place.clone().prop_map({
                let token = token.clone();
                move |at| [&token[..at], &token[at + 1..]].concat()
            }),
            (0..=length, "[-_=A-Za-z0-9+/ ]").prop_map({
                let token = token.clone();
                move |(at, with)| [&token[..at], &with, &token[at..]].concat()
            }),
            // Cut, and gone on with.
            place.prop_map({
                let token = token.clone();
                move |at| token[..at].to_owned()
            }),
            "[-_A-Za-z0-9]{1,80}".prop_map(move |more| token.clone() + &more),
            // Anything.
            "\\PC{0,120}",
            "[-_A-Za-z0-9]{43,120}",
        ]
    }

    proptest! {
        #[test]
        fn any_file_comes_back(
            file in "\\PC{0,60}",
            is_thumbnail: bool,
            user in proptest::option::of(1_i64..),
            organization in proptest::option::of(1_i64..),
            ends_at: i64,
            now: i64,
        ) {
            let variant = if is_thumbnail { Variant::Thumbnail } else { Variant::File };
            let (user, organization) = (user.map(UserId), organization.map(OrganizationId));
            let download = DownloadClaim { user, organization, ..download(&file, variant) };
            let token = key(1).sign(&download, ends_at);
            let expected = if now < ends_at { Ok(download) } else { Err(DownloadError::Expired) };
            prop_assert_eq!(key(1).check(&token, now), expected);
        }

        #[test]
        fn no_other_text_passes(text in changed()) {
            let token = key(1).sign(&download("x7Gq", Variant::File), NOON);
            prop_assume!(text != token);
            prop_assert_eq!(key(1).check(&text, NOON - 1), Err(DownloadError::Forged));
        }
    }

    #[test]
    fn no_bit_of_a_token_can_be_changed() {
        let token = key(1).sign(&download("x7Gq", Variant::File), NOON);
        let bytes = URL_SAFE_NO_PAD.decode(&token).expect("it was encoded so");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(
                key(1).check(&changed, NOON - 1),
                Err(DownloadError::Forged),
                "{bit}"
            );
        }
    }

    #[test]
    fn a_token_of_another_purpose_is_not_taken() {
        // Signed well, but made of something else.
        for claims in [
            &b""[..],
            b"\0\0\0",
            &[0x7f; 8],
            &[0x7f; 9],
            b"\x7f\0\0\0\0\0\0\0\0\xff",
        ] {
            let tag = hmac::sign(&key(1).0, claims);
            let token = URL_SAFE_NO_PAD.encode([tag.as_ref(), claims].concat());
            assert_eq!(
                key(1).check(&token, NOON),
                Err(DownloadError::Forged),
                "{claims:?}"
            );
        }
    }
}
