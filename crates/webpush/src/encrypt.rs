//! Encryption of a message for one browser (RFC 8291), in the content coding `aes128gcm` (RFC 8188).

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;

/// The most bytes that a message may have, so that it fits into one record of 4096 bytes, which every
/// push service takes (RFC 8030, section 7.2).
pub const MAX_PLAINTEXT: usize = RECORD - HEADER - TAG - 1;

const RECORD: usize = 4096;
/// Salt, size of a record, length of the public key, public key.
const HEADER: usize = SALT + 4 + 1 + PUBLIC_KEY;
const SALT: usize = 16;
/// An uncompressed point on P-256.
const PUBLIC_KEY: usize = 65;
const AUTH: usize = 16;
const TAG: usize = 16;
/// Follows the text of the last record.
const LAST: u8 = 2;

/// Browsers write base64 for URLs without padding; some libraries pad it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a browser gives for its messages to be encrypted with.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserKeys {
    public: [u8; PUBLIC_KEY],
    auth: [u8; AUTH],
}

/// The keys of a subscription are not those of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKeys {
    /// `p256dh` is no uncompressed point of 65 bytes in base64 for URLs.
    #[error("p256dh is not a public key")]
    Public,
    /// `auth` is not 16 bytes in base64 for URLs.
    #[error("auth is not a secret of 16 bytes")]
    Auth,
}

impl BrowserKeys {
    /// Reads the keys as `PushSubscription.toJSON()` has them.
    ///
    /// # Errors
    ///
    /// [`InvalidKeys`]. A point that is not on the curve is found by [`encrypt`].
    pub fn parse(p256dh: &str, auth: &str) -> Result<Self, InvalidKeys> {
        let decoded = |text: &str| BASE64.decode(text).ok();
        let public = decoded(p256dh).ok_or(InvalidKeys::Public)?;
        let auth = decoded(auth).ok_or(InvalidKeys::Auth)?;
        Self::from_bytes(&public, &auth)
    }

    /// The keys from their bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidKeys`].
    pub fn from_bytes(p256dh: &[u8], auth: &[u8]) -> Result<Self, InvalidKeys> {
        let public: [u8; PUBLIC_KEY] = p256dh.try_into().map_err(|_| InvalidKeys::Public)?;
        if public[0] != 4 {
            return Err(InvalidKeys::Public);
        }
        let auth = auth.try_into().map_err(|_| InvalidKeys::Auth)?;
        Ok(Self { public, auth })
    }

    /// The public key.
    #[must_use]
    pub fn p256dh(&self) -> &[u8] {
        &self.public
    }

    /// The secret that the browser shares with us.
    #[must_use]
    pub fn auth(&self) -> &[u8] {
        &self.auth
    }
}

impl std::fmt::Debug for BrowserKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BrowserKeys([redacted])")
    }
}

/// Why a message was not encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncryptError {
    /// It has more than [`MAX_PLAINTEXT`] bytes.
    #[error("the message is longer than {MAX_PLAINTEXT} bytes")]
    TooLong,
    /// The browser's public key is no point of the curve.
    #[error("the public key of the browser is not on the curve")]
    Key,
}

/// Encrypts a message for the browser with these keys. Another key and salt are used each time, so
/// the same message never looks the same twice.
///
/// # Errors
///
/// [`EncryptError`].
pub fn encrypt(browser: &BrowserKeys, message: &[u8]) -> Result<Vec<u8>, EncryptError> {
    if message.len() > MAX_PLAINTEXT {
        return Err(EncryptError::TooLong);
    }
    let own = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new())
        .map_err(|_| EncryptError::Key)?;
    let own_public = own.compute_public_key().map_err(|_| EncryptError::Key)?;
    let theirs = UnparsedPublicKey::new(&ECDH_P256, &browser.public);
    let seal = |shared: &[u8]| {
        let keys = Keys {
            browser,
            own_public: own_public.as_ref(),
            salt: eddyline_random::bytes::<SALT>(),
        };
        keys.seal(shared, message)
    };
    agree_ephemeral(own, &theirs, seal).map_err(|_| EncryptError::Key)
}

/// What a record is encrypted with, beside the secret of the exchange of keys.
struct Keys<'a> {
    browser: &'a BrowserKeys,
    own_public: &'a [u8],
    salt: [u8; SALT],
}

impl Keys<'_> {
    /// The header and the one record (RFC 8188, section 2).
    fn seal(&self, shared: &[u8], message: &[u8]) -> Vec<u8> {
        let (key, nonce) = self.derive(shared);
        let mut record = [message, &[LAST]].concat();
        let key =
            UnboundKey::new(&AES_128_GCM, &key).expect("the key has the length of the cipher");
        LessSafeKey::new(key)
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::empty(),
                &mut record,
            )
            .expect("a record is not too long to be sealed");
        let size = u32::try_from(RECORD).expect("a small number").to_be_bytes();
        let length = u8::try_from(self.own_public.len()).expect("a small number");
        [&self.salt[..], &size, &[length], self.own_public, &record].concat()
    }

    /// The key and the nonce of the record (RFC 8291, section 3.4).
    fn derive(&self, shared: &[u8]) -> ([u8; 16], [u8; NONCE_LEN]) {
        let both = [
            b"WebPush: info\0",
            &self.browser.public[..],
            self.own_public,
        ];
        let mut input = [0; 32];
        expand(&self.browser.auth, shared, &both, &mut input);
        let (mut key, mut nonce) = ([0; 16], [0; NONCE_LEN]);
        expand(
            &self.salt,
            &input,
            &[b"Content-Encoding: aes128gcm\0"],
            &mut key,
        );
        expand(
            &self.salt,
            &input,
            &[b"Content-Encoding: nonce\0"],
            &mut nonce,
        );
        (key, nonce)
    }
}

/// HKDF with SHA-256 (RFC 5869).
fn expand(salt: &[u8], secret: &[u8], info: &[&[u8]], out: &mut [u8]) {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    Salt::new(HKDF_SHA256, salt)
        .extract(secret)
        .expand(info, Length(out.len()))
        .and_then(|okm| okm.fill(out))
        .expect("a few bytes are not too much to expand to");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        BASE64.decode(text).unwrap()
    }

    /// The keys of RFC 8291, appendix A.
    const PUBLIC: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH_SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    #[test]
    fn the_example_of_the_rfc_is_encrypted_as_there() {
        let own = bytes(
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
        );
        let keys = Keys {
            browser: &BrowserKeys::parse(PUBLIC, AUTH_SECRET).unwrap(),
            own_public: &own,
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap(),
        };
        let shared = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let message = bytes("V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24");
        let sealed = BASE64.encode(keys.seal(&shared, &message));
        assert_eq!(
            sealed.trim_end_matches('='),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8\
             wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn the_longest_message_fills_a_record() {
        let browser = BrowserKeys::parse(PUBLIC, AUTH_SECRET).unwrap();
        let sealed = encrypt(&browser, &[b'x'; MAX_PLAINTEXT]).unwrap();
        assert_eq!(sealed.len(), RECORD);
        assert_eq!(
            encrypt(&browser, &[b'x'; MAX_PLAINTEXT + 1]),
            Err(EncryptError::TooLong)
        );
        assert_ne!(encrypt(&browser, b"x"), encrypt(&browser, b"x"));
    }

    #[test]
    fn wrong_keys_are_refused() {
        let padded = format!("{AUTH_SECRET}==");
        assert!(BrowserKeys::parse(PUBLIC, &padded).is_ok());
        for (public, auth, wrong) in [
            ("", AUTH_SECRET, InvalidKeys::Public),
            (&PUBLIC[1..], AUTH_SECRET, InvalidKeys::Public),
            (AUTH_SECRET, AUTH_SECRET, InvalidKeys::Public),
            (PUBLIC, "", InvalidKeys::Auth),
            (PUBLIC, "BTBZMqHH6r4Tts7J_aSI", InvalidKeys::Auth),
            (PUBLIC, "ÿ", InvalidKeys::Auth),
        ] {
            assert_eq!(
                BrowserKeys::parse(public, auth),
                Err(wrong),
                "{public} {auth}"
            );
        }
        let mut point = bytes(PUBLIC);
        point[64] ^= 1;
        let off = BrowserKeys::from_bytes(&point, &bytes(AUTH_SECRET)).unwrap();
        assert_eq!(encrypt(&off, b"x"), Err(EncryptError::Key));
    }

    proptest! {
        #[test]
        fn no_keys_make_it_panic(public in "\\PC{0,100}", auth in "\\PC{0,30}", raw: Vec<u8>) {
            let _ = BrowserKeys::parse(&public, &auth);
            let mut point = raw;
            point.resize(PUBLIC_KEY, 7);
            point[0] = 4;
            let keys = BrowserKeys::from_bytes(&point, &[0; AUTH]).unwrap();
            let _ = encrypt(&keys, b"x");
        }
    }
}
