//! Proof Key for Code Exchange (RFC 7636): the client that exchanges a code proves that it asked
//! for it.
//!
//! Only the method S256 is taken: with `plain`, a reader of the request knows the proof.

use oauth2::{PkceCodeChallenge, PkceCodeVerifier};

use crate::token::constant_time_eq;

/// A challenge as a request has it: the SHA-256 of a verifier in URL-safe base64, 43 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge(String);

impl Challenge {
    /// Reads a challenge; `None` unless it is one of the method S256.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        (text.len() == 43 && well_formed).then(|| Self(text.to_owned()))
    }

    /// The challenge as it was sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a verifier is the one that the challenge was made of. One of a wrong form (RFC 7636,
    /// section 4.1) never is.
    #[must_use]
    pub fn is_met_by(&self, verifier: &str) -> bool {
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !(43..=128).contains(&verifier.len()) || !verifier.bytes().all(unreserved) {
            return false;
        }
        let made = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(
            verifier.to_owned(),
        ));
        constant_time_eq(made.as_str().as_bytes(), self.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_example_of_the_rfc_holds() {
        let challenge = Challenge::parse(CHALLENGE).expect("a challenge");
        assert!(challenge.is_met_by(VERIFIER));
        assert_eq!(challenge.as_str(), CHALLENGE);
    }

    #[test]
    fn another_verifier_does_not_meet_it() {
        let challenge = Challenge::parse(CHALLENGE).expect("a challenge");
        for other in [
            "",
            CHALLENGE,
            &VERIFIER[1..],
            &format!("{VERIFIER}x"),
            &"a".repeat(43),
            &"a".repeat(129),
        ] {
            assert!(!challenge.is_met_by(other), "{other}");
        }
    }

    #[test]
    fn a_challenge_has_43_characters_of_url_safe_base64() {
        for bad in [
            "",
            &CHALLENGE[1..],
            &format!("{CHALLENGE}A"),
            &format!("{}=", &CHALLENGE[1..]),
            &"+".repeat(43),
        ] {
            assert_eq!(Challenge::parse(bad), None, "{bad}");
        }
    }
}
