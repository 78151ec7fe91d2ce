use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const BODY: &[u8] = br#"{"@type":"UpdateAction","name":"Close"}"#;
const NOW: Timestamp = Timestamp(1_800_000_000_999);
const PARTIES: Parties<'_> = Parties {
    issuer: "https://chat.example",
    audience: "robot",
};

fn key() -> Secret {
    Secret::presented("s3cret")
}

fn token() -> String {
    sign(&key(), PARTIES, UserId(42), BODY, NOW)
}

fn judged(token: &str, body: &[u8], now: Timestamp) -> Result<ActionClaims, ActionTokenError> {
    verify(token, &key(), PARTIES, body, now)
}

fn part(token: &str, at: usize) -> Vec<u8> {
    URL_SAFE_NO_PAD
        .decode(token.split('.').nth(at).unwrap())
        .unwrap()
}

fn json_part(token: &str, at: usize) -> Value {
    serde_json::from_slice(&part(token, at)).unwrap()
}

/// A token as somebody would make it who knows the key and the rules, without the library.
fn by_hand(header: &Value, claims: &Value, key: &str) -> String {
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let message = format!(
        "{}.{}",
        encode(header.to_string().as_bytes()),
        encode(claims.to_string().as_bytes())
    );
    let tag = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()),
        message.as_bytes(),
    );
    format!("{message}.{}", encode(tag.as_ref()))
}

#[test]
fn a_token_says_who_triggered_what_and_until_when_it_is_good() {
    let token = token();
    assert_eq!(json_part(&token, 0), json!({"typ": "JWT", "alg": "HS256"}));
    let mut claims = json_part(&token, 1);
    let jti = claims.as_object_mut().unwrap().remove("jti").unwrap();
    assert_eq!(jti.as_str().unwrap().len(), 32);
    assert_eq!(
        claims,
        json!({
            "iss": "https://chat.example",
            "aud": "robot",
            "sub": "42",
            // `printf '{"@type":"UpdateAction","name":"Close"}' | sha256sum`
            "signature": "0229df1d3e710d3e5fc495470f2c6b40a7de8fd9ff7f933a79c675b4d7d861b6",
            "iat": 1_800_000_000,
            "exp": 1_800_000_030,
        })
    );
}

#[test]
fn the_signature_is_that_of_rfc_7515() {
    let token = token();
    let (message, _) = token.rsplit_once('.').unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"s3cret");
    assert_eq!(
        hmac::verify(&key, message.as_bytes(), &part(&token, 2)),
        Ok(())
    );
}

#[test]
fn the_receiver_learns_who_it_was() {
    let claims = judged(&token(), BODY, NOW).unwrap();
    assert_eq!(
        (claims.sub.as_str(), claims.exp - claims.iat),
        ("42", LIFETIME_SECONDS)
    );
    let by_hand = by_hand(&json!({"alg": "HS256"}), &json_part(&token(), 1), "s3cret");
    assert!(judged(&by_hand, BODY, NOW).is_ok());
}

#[test]
fn no_two_tokens_have_the_same_name() {
    assert_ne!(json_part(&token(), 1)["jti"], json_part(&token(), 1)["jti"]);
}

#[test]
fn another_body_is_refused() {
    for at in 0..BODY.len() {
        let mut body = BODY.to_vec();
        body[at] ^= 1;
        assert_eq!(
            judged(&token(), &body, NOW),
            Err(ActionTokenError::OtherBody)
        );
    }
    assert_eq!(judged(&token(), b"", NOW), Err(ActionTokenError::OtherBody));
}

#[test]
fn a_token_is_good_for_thirty_seconds() {
    assert!(judged(&token(), BODY, Timestamp(1_800_000_029_999)).is_ok());
    assert_eq!(
        judged(&token(), BODY, Timestamp(1_800_000_030_000)),
        Err(ActionTokenError::Expired)
    );
}

#[test]
fn another_key_or_party_is_refused() {
    let refused =
        |key: &str, parties| verify(&token(), &Secret::presented(key), parties, BODY, NOW);
    assert_eq!(refused("s3creT", PARTIES), Err(ActionTokenError::Forged));
    assert_eq!(refused("", PARTIES), Err(ActionTokenError::Forged));
    assert_eq!(
        refused(
            "s3cret",
            Parties {
                issuer: "https://other.example",
                ..PARTIES
            }
        ),
        Err(ActionTokenError::Forged)
    );
    assert_eq!(
        refused(
            "s3cret",
            Parties {
                audience: "other",
                ..PARTIES
            }
        ),
        Err(ActionTokenError::Forged)
    );
}

#[test]
fn a_token_that_somebody_changed_is_refused() {
    let mut claims = json_part(&token(), 1);
    claims["exp"] = json!(9_999_999_999_i64);
    let signed = token();
    let parts: Vec<&str> = signed.split('.').collect();
    let later = URL_SAFE_NO_PAD.encode(claims.to_string());
    assert_eq!(
        judged(&format!("{}.{later}.{}", parts[0], parts[2]), BODY, NOW),
        Err(ActionTokenError::Forged)
    );
    assert_eq!(
        judged(
            &by_hand(&json!({"alg": "HS256"}), &claims, "guess"),
            BODY,
            NOW
        ),
        Err(ActionTokenError::Forged)
    );
}

#[test]
fn other_algorithms_are_refused() {
    let claims = json_part(&token(), 1);
    for algorithm in [
        "none", "None", "HS384", "HS512", "RS256", "ES256", "EdDSA", "",
    ] {
        let token = by_hand(&json!({"alg": algorithm}), &claims, "s3cret");
        assert_eq!(
            judged(&token, BODY, NOW),
            Err(ActionTokenError::Forged),
            "{algorithm}"
        );
        let (unsigned, _) = token.rsplit_once('.').unwrap();
        assert_eq!(
            judged(&format!("{unsigned}."), BODY, NOW),
            Err(ActionTokenError::Forged),
            "{algorithm}"
        );
    }
}

#[test]
fn a_token_that_leaves_something_out_is_refused() {
    for claim in ["iss", "aud", "sub", "signature", "iat", "exp", "jti"] {
        let mut claims = json_part(&token(), 1);
        claims.as_object_mut().unwrap().remove(claim);
        let token = by_hand(&json!({"alg": "HS256"}), &claims, "s3cret");
        assert_eq!(
            judged(&token, BODY, NOW),
            Err(ActionTokenError::Forged),
            "{claim}"
        );
    }
}

#[test]
fn many_threads_may_begin_at_once() {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| judged(&token(), BODY, NOW).unwrap());
        }
    });
}

proptest! {
    #[test]
    fn a_token_with_another_character_is_refused(at in 0_usize..400, other in "[A-Za-z0-9_.-]") {
        let token = token();
        let at = at % token.len();
        // The last bits of a part may mean nothing.
        let ends = [token.find('.').unwrap(), token.rfind('.').unwrap(), token.len()];
        prop_assume!(token[at..=at] != other && !ends.contains(&(at + 1)));
        let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
        prop_assert_eq!(judged(&changed, BODY, NOW), Err(ActionTokenError::Forged));
    }

    #[test]
    fn no_text_makes_it_panic(text: String, parts in "[A-Za-z0-9_=.-]{0,60}") {
        prop_assert_eq!(judged(&text, BODY, NOW), Err(ActionTokenError::Forged));
        prop_assert_eq!(judged(&parts, BODY, NOW), Err(ActionTokenError::Forged));
    }
}
