use eddyline_model::scopes::Scope;
use eddyline_model::{ApplicationId, OrganizationId, Timestamp};

use super::*;

const BACK: &str = "https://robot.example/back";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn robot() -> Application {
    Application {
        id: ApplicationId(1),
        client_id: "robot".into(),
        organization: OrganizationId(1),
        name: "Robot".into(),
        public: false,
        redirect_uris: vec![BACK.parse().expect("a redirect URI")],
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: true,
        out_of_band: true,
        creator: None,
        created_at: Timestamp(0),
    }
}

fn parameters(pairs: &[(&str, &str)]) -> AuthorizationParameters {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    AuthorizationParameters::new(OAuthParameters::new(pairs))
}

/// A good request with something more, or something else.
fn with(more: &[(&str, &str)]) -> AuthorizationParameters {
    let all = [
        ("client_id", "robot"),
        ("response_type", "code"),
        ("state", "xyz"),
    ];
    let kept = all
        .into_iter()
        .filter(|(name, _)| !more.iter().any(|(other, _)| other == name));
    parameters(&kept.chain(more.iter().copied()).collect::<Vec<_>>())
}

fn sent_back(
    wrong: &AuthorizationParameters,
    application: &Application,
) -> (&'static str, Option<String>) {
    match wrong.check(application) {
        Err(AuthorizationError::SendBack {
            redirect_uri,
            state,
            error,
        }) => {
            assert_eq!(redirect_uri.as_str(), BACK);
            (error.code(), state)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_is_read() {
    let request = with(&[
        ("scope", "flow offline_access"),
        ("redirect_uri", BACK),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("unknown", "ignored"),
    ]);
    assert_eq!(request.client_id(), Ok("robot"));
    let request = request.check(&robot()).expect("it is good");
    assert_eq!(
        request.scopes,
        Scopes::of(&[Scope::Flow, Scope::OfflineAccess])
    );
    assert!(request.redirect_named);
    assert_eq!(request.state.as_deref(), Some("xyz"));
    assert_eq!(request.challenge.expect("there is one").as_str(), CHALLENGE);
}

#[test]
fn without_a_scope_flow_and_private_are_asked_for() {
    for more in [&[][..], &[("scope", "")], &[("scope", " ")]] {
        assert_eq!(
            with(more).check(&robot()).map(|request| request.scopes),
            Ok(Scopes::DEFAULT)
        );
    }
}

/// Shows: 5.5
#[test]
fn nobody_is_sent_to_a_place_that_is_not_known_good() {
    for bad in [
        &[("redirect_uri", "https://evil.example/")][..],
        &[("redirect_uri", BACK), ("redirect_uri", BACK)],
        &[
            ("redirect_uri", "https://robot.example/back/"),
            ("response_type", "token"),
        ],
    ] {
        assert!(
            matches!(with(bad).check(&robot()), Err(AuthorizationError::Tell(_))),
            "{bad:?}"
        );
    }
    assert!(matches!(
        parameters(&[]).client_id(),
        Err(AuthorizationError::Tell(_))
    ));
    let two = [("client_id", "robot"), ("client_id", "other")];
    assert!(matches!(
        parameters(&two).client_id(),
        Err(AuthorizationError::Tell(_))
    ));
}

/// Shows: 5.5
#[test]
fn what_else_is_wrong_is_sent_back_with_the_state() {
    let long = "x".repeat(MAX_STATE + 1);
    let xyz = Some("xyz".to_owned());
    for (more, error, state) in [
        (&[("response_type", "")][..], "invalid_request", &xyz),
        (
            &[("response_type", "token")],
            "unsupported_response_type",
            &xyz,
        ),
        (
            &[("response_type", "code"), ("response_type", "code")],
            "invalid_request",
            &xyz,
        ),
        (&[("response_mode", "fragment")], "invalid_request", &xyz),
        (&[("scope", "everything")], "invalid_scope", &xyz),
        (
            &[("scope", "flow"), ("scope", "flow")],
            "invalid_request",
            &xyz,
        ),
        (&[("code_challenge", CHALLENGE)], "invalid_request", &xyz),
        (
            &[
                ("code_challenge", CHALLENGE),
                ("code_challenge_method", "plain"),
            ],
            "invalid_request",
            &xyz,
        ),
        (
            &[
                ("code_challenge", "short"),
                ("code_challenge_method", "S256"),
            ],
            "invalid_request",
            &xyz,
        ),
        (
            &[("code_challenge_method", "S256")],
            "invalid_request",
            &xyz,
        ),
        (&[("state", "a"), ("state", "b")], "invalid_request", &None),
        (&[("state", &*long)], "invalid_request", &None),
    ] {
        assert_eq!(
            sent_back(&with(more), &robot()),
            (error, state.clone()),
            "{more:?}"
        );
    }
}

#[test]
fn an_application_without_a_secret_must_bring_a_challenge() {
    let public = Application {
        public: true,
        ..robot()
    };
    assert_eq!(sent_back(&with(&[]), &public).0, "invalid_request");
    let challenged = with(&[
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]);
    assert!(challenged.check(&public).is_ok());
}

#[test]
fn the_answer_comes_with_the_state_and_with_who_answers() {
    let uri = "https://robot.example/back?a=b"
        .parse()
        .expect("a redirect URI");
    assert_eq!(
        callback(&uri, &[("code", "c")], Some("x y"), "https://chat.example"),
        "https://robot.example/back?a=b&code=c&state=x%20y&iss=https%3A%2F%2Fchat.example"
    );
    assert_eq!(
        callback(
            &uri,
            &[("error", "access_denied")],
            None,
            "https://chat.example"
        ),
        "https://robot.example/back?a=b&error=access_denied&iss=https%3A%2F%2Fchat.example"
    );
}
