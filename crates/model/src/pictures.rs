//! The paths at which the pages show pictures of integrations.
//!
//! Such a picture lies on a host of the integration's choice. The server fetches it, so that no
//! browser asks that host. A path bears the address and a keyed hash of it: the server fetches only
//! what it made a path for, which are addresses in messages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use crate::mac::is_same_mac;

/// The paths begin with this.
const FETCHED: &str = "/app/-/pictures/";
/// The address of a user's picture begins with this, below that of the API.
const AVATARS: &str = "/avatars/";
/// The size in which the pages show users.
const SHOWN: &str = "72";
/// The longest address for which there is a path, in bytes.
const MAX_ADDRESS: usize = 2048;
const TAG_BYTES: usize = 16;

/// Makes and reads the paths of pictures. All nodes of a server share one key.
#[derive(Clone)]
pub struct PicturePaths {
    key: hmac::Key,
    base: String,
    fetches: bool,
}

impl std::fmt::Debug for PicturePaths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PicturePaths")
    }
}

impl PicturePaths {
    /// Paths under this key, which should be 32 random bytes, on a server whose API is at the
    /// address `base`. Unless it `fetches` pictures, those of its users are the only ones that have
    /// paths.
    #[must_use]
    pub fn new(key: &[u8], base: &str, fetches: bool) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
            base: base.to_owned(),
            fetches,
        }
    }

    /// Where the pages show the picture with this address.
    #[must_use]
    pub fn path(&self, address: &str) -> Option<String> {
        if let Some(name) = self.user_picture(address) {
            return Some(format!("{AVATARS}{name}/{SHOWN}"));
        }
        if !self.fetches || address.len() > MAX_ADDRESS {
            return None;
        }
        let mut token = self.tag(address).as_ref()[..TAG_BYTES].to_vec();
        token.extend(address.as_bytes());
        Some(format!("{FETCHED}{}", URL_SAFE_NO_PAD.encode(token)))
    }

    /// The address of the picture that the server fetches for a path which ends so; `None` for all
    /// that this server made no path for.
    #[must_use]
    pub fn address(&self, token: &str) -> Option<String> {
        // Nothing is decoded that is longer than the longest token.
        if !self.fetches || token.len() > 4 * (TAG_BYTES + MAX_ADDRESS).div_ceil(3) {
            return None;
        }
        let token = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (tag, address) = token.split_first_chunk::<TAG_BYTES>()?;
        let address = std::str::from_utf8(address).ok()?;
        let genuine = is_same_mac(tag, &self.tag(address).as_ref()[..TAG_BYTES]);
        genuine.then(|| address.to_owned())
    }

    /// The name of the picture of a user of this server, which needs no fetching.
    fn user_picture<'a>(&self, address: &'a str) -> Option<&'a str> {
        let rest = address.strip_prefix(&self.base)?.strip_prefix(AVATARS)?;
        let name = rest.strip_suffix('/')?;
        name.bytes()
            .all(|byte| byte.is_ascii_hexdigit())
            .then_some(name)
    }

    fn tag(&self, address: &str) -> hmac::Tag {
        hmac::sign(&self.key, address.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: &str = "https://chat.example";
    const ZOE: &str = "https://tracker.example/zoë.png?size=72";

    fn paths(key: &[u8]) -> PicturePaths {
        PicturePaths::new(key, BASE, true)
    }

    fn token(paths: &PicturePaths, address: &str) -> String {
        let path = paths.path(address).expect("it has a path");
        path.strip_prefix(FETCHED)
            .expect("it is fetched")
            .to_owned()
    }

    #[test]
    fn a_path_leads_to_its_address_under_its_key_only() {
        let token = token(&paths(b"key"), ZOE);
        assert!(
            token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'),
            "{token}"
        );
        assert_eq!(paths(b"key").address(&token).as_deref(), Some(ZOE));
        assert_eq!(paths(b"another").address(&token), None);
    }

    #[test]
    fn the_picture_of_a_user_is_shown_where_it_is() {
        let name = "0123456789abcdef0123456789abcdef";
        let own = format!("{BASE}/avatars/{name}/");
        let expected = Some(format!("/avatars/{name}/72"));
        assert_eq!(paths(b"key").path(&own), expected);
        let off = PicturePaths::new(b"key", BASE, false);
        assert_eq!(off.path(&own), expected);
        for other in ["/avatars/../api/", "/avatars/0a", "/files/1/"] {
            let path = paths(b"key").path(&format!("{BASE}{other}")).unwrap();
            assert!(path.starts_with(FETCHED), "{path}");
        }
    }

    #[test]
    fn nothing_has_a_path_where_nothing_is_fetched() {
        let off = PicturePaths::new(b"key", BASE, false);
        assert_eq!(off.path(ZOE), None);
        assert_eq!(off.address(&token(&paths(b"key"), ZOE)), None);
    }

    #[test]
    fn an_address_is_bounded() {
        let longest = "a".repeat(MAX_ADDRESS);
        let token = token(&paths(b"key"), &longest);
        assert_eq!(paths(b"key").address(&token), Some(longest.clone()));
        assert_eq!(paths(b"key").path(&(longest + "a")), None);
    }

    #[test]
    fn no_bit_of_a_token_can_be_changed() {
        let token = token(&paths(b"key"), ZOE);
        let bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(paths(b"key").address(&changed), None, "{bit}");
        }
    }

    proptest! {
        #[test]
        fn any_address_comes_back_and_no_other_text_passes(address in "\\PC{0,80}", text in "\\PC{0,80}") {
            let token = token(&paths(b"key"), &address);
            prop_assert_eq!(paths(b"key").address(&token), Some(address));
            prop_assume!(text != token);
            prop_assert_eq!(paths(b"key").address(&text), None);
        }
    }
}
