//! Signed tokens of thread actions: how an integration knows that a request comes from this server,
//! on behalf of whom, and with exactly this body (specification, section 5).
//!
//! A token is a JWT under HS256 with the application's secret, sent in the header `SERVICE-TOKEN`.
//! [`sign`] makes one; [`verify`] is for integrations written in Rust.

use std::sync::Once;

use eddyline_model::{Timestamp, UserId};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result as JwtResult};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, Validation};
use ring::{digest, hmac};
use serde::{Deserialize, Serialize};

use eddyline_random::to_hex;

use crate::token::{Secret, constant_time_eq};

/// For how many seconds a token is good.
pub const LIFETIME_SECONDS: i64 = 30;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionClaims {
    /// Who signed it: the address of this server.
    pub iss: String,
    /// Whom it is for: the application's client id.
    pub aud: String,
    /// The id of the user who triggered the action.
    pub sub: String,
    /// The SHA-256 of the request's body, in lower-case hexadecimal digits.
    pub signature: String,
    /// When it was signed, in seconds since 1970.
    pub iat: i64,
    /// The second from which on it is no longer good.
    pub exp: i64,
    /// A random name, by which a receiver can refuse a token that comes twice.
    pub jti: String,
}

/// From whom a token is, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct Parties<'a> {
    /// The address of the server that signs.
    pub issuer: &'a str,
    /// The client id of the application that is asked.
    pub audience: &'a str,
}

/// Signs a request with this body, on behalf of a user.
#[must_use]
pub fn sign(
    key: &Secret,
    parties: Parties<'_>,
    user: UserId,
    body: &[u8],
    now: Timestamp,
) -> String {
    install();
    let iat = seconds(now);
    let claims = ActionClaims {
        iss: parties.issuer.to_owned(),
        aud: parties.audience.to_owned(),
        sub: user.to_string(),
        signature: signature_of(body),
        iat,
        exp: iat + LIFETIME_SECONDS,
        jti: eddyline_random::hex::<16>(),
    };
    let key = EncodingKey::from_secret(key.expose().as_bytes());
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key)
        .expect("texts and numbers are signed")
}

/// Why a receiver must not do what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionTokenError {
    /// It is no token, or was signed with another key, or by or for somebody else.
    #[error("the token was not signed by the service for this application")]
    Forged,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// It was signed for another body.
    #[error("the token belongs to another body")]
    OtherBody,
}

/// Judges a request as its receiver does: whether it comes from this server, for this application,
/// in time, with this body.
///
/// # Errors
///
/// [`ActionTokenError`].
pub fn verify(
    token: &str,
    key: &Secret,
    parties: Parties<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<ActionClaims, ActionTokenError> {
    install();
    let mut wanted = Validation::new(Algorithm::HS256);
    wanted.set_issuer(&[parties.issuer]);
    wanted.set_audience(&[parties.audience]);
    wanted.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
    // Below, by the caller's clock.
    wanted.validate_exp = false;
    let key = DecodingKey::from_secret(key.expose().as_bytes());
    let claims = jsonwebtoken::decode::<ActionClaims>(token, &key, &wanted)
        .map_err(|_| ActionTokenError::Forged)?
        .claims;
    if seconds(now) >= claims.exp {
        return Err(ActionTokenError::Expired);
    }
    if !constant_time_eq(claims.signature.as_bytes(), signature_of(body).as_bytes()) {
        return Err(ActionTokenError::OtherBody);
    }
    Ok(claims)
}

fn signature_of(body: &[u8]) -> String {
    to_hex(digest::digest(&digest::SHA256, body).as_ref())
}

fn seconds(time: Timestamp) -> i64 {
    time.0.div_euclid(1000)
}

/// HMAC-SHA-256 by ring, for jsonwebtoken, which has no cryptography of its own.
struct Hs256(hmac::Key);

impl Hs256 {
    fn new(algorithm: Algorithm, family: AlgorithmFamily, key: &[u8]) -> JwtResult<Box<Self>> {
        if algorithm != Algorithm::HS256 || family != AlgorithmFamily::Hmac {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        Ok(Box::new(Self(hmac::Key::new(hmac::HMAC_SHA256, key))))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        hmac::verify(&self.0, message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Hs256::new(*algorithm, key.family(), key.as_bytes())?),
    verifier_factory: |algorithm, key| {
        Ok(Hs256::new(
            *algorithm,
            key.family(),
            key.try_get_as_bytes()?,
        )?)
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes the provider that of the process. Who embeds this crate beside another user of
/// jsonwebtoken may have installed one before; that one is as good.
fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

#[cfg(test)]
mod tests;
