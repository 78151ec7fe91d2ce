//! What opens an account beside its password: API tokens, sessions, and what applications were
//! allowed.

use eddyline_model::CredentialId;
use eddyline_model::grants::Grant;
use eddyline_model::scopes::Scopes;
use eddyline_storage::GrantsOf;

use super::*;
use crate::error::kind_of;
use crate::{
    ApplicationChanges, AuthenticatedClient, AuthorizationParameters, ClientCredentials, Error,
    ErrorKind, MAX_API_TOKENS, NewApplication, OAuthError, OAuthParameters, TokenRequest, Tokens,
};

const HOUR: i64 = 60 * MINUTE;

/// An application that may ask for tokens with passwords.
async fn robot(world: &World) -> AuthenticatedClient {
    world
        .app
        .oauth()
        .authenticate_client(&register(world).await, HERE)
        .await
        .unwrap()
}

async fn register(world: &World) -> ClientCredentials {
    let about = ApplicationChanges {
        name: "Robot".into(),
        redirect_uris: vec!["https://robot.example/back".parse().unwrap()],
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: true,
        out_of_band: false,
    };
    let new = NewApplication {
        public: false,
        about,
    };
    let (application, secret) = world
        .app
        .oauth()
        .create_application("acme", new)
        .await
        .unwrap();
    ClientCredentials {
        client_id: application.client_id,
        secret,
    }
}

async fn allow(world: &World, robot: &AuthenticatedClient, email: &str) -> Tokens {
    let scopes = "flow private offline_access".parse::<Scopes>().unwrap();
    let (username, password) = (email.to_owned(), Password::new(GOOD));
    let request = TokenRequest::Password {
        username,
        password,
        scopes,
    };
    world
        .app
        .oauth()
        .issue_tokens(robot, request)
        .await
        .unwrap()
}

async fn refresh(
    world: &World,
    robot: &AuthenticatedClient,
    tokens: &Tokens,
) -> Result<Tokens, Error> {
    let token = tokens.refresh.clone().unwrap();
    world
        .app
        .oauth()
        .issue_tokens(
            robot,
            TokenRequest::Refresh {
                token,
                scopes: None,
            },
        )
        .await
}

async fn by_token(world: &World, token: &Secret) -> Result<Actor, Error> {
    world
        .app
        .authentication()
        .authenticate(Credentials::Token(token.clone()), HERE)
        .await
}

async fn grants(world: &World) -> Vec<Grant> {
    let user = world.ada_id();
    world
        .app
        .core()
        .store()
        .read(move |reader| reader.grants().list(GrantsOf::User(user)))
        .await
        .unwrap()
}

async fn names(world: &World) -> Vec<String> {
    world
        .app
        .accounts()
        .api_tokens(&world.ada)
        .await
        .unwrap()
        .into_iter()
        .map(|token| token.name)
        .collect()
}

async fn id_of(world: &World, name: &str) -> CredentialId {
    let tokens = world.app.accounts().api_tokens(&world.ada).await.unwrap();
    let named = tokens.into_iter().find(|token| token.name == name);
    named.unwrap().id
}

#[tokio::test]
async fn an_api_token_is_made_named_and_ended_by_its_owner() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben").await;
    world.pass(1);
    let secret = world
        .app
        .accounts()
        .make_api_token(&world.ada, " Build server ")
        .await
        .unwrap();
    assert_eq!(
        by_token(&world, &secret).await.unwrap().user_id(),
        Some(world.ada_id())
    );
    assert_eq!(names(&world).await, ["command line", "Build server"]);

    let id = id_of(&world, "Build server").await;
    for refused in [
        world
            .app
            .accounts()
            .rename_api_token(&ben, id, "Ben's")
            .await,
        world.app.accounts().end_api_token(&ben, id).await,
        world
            .app
            .accounts()
            .end_api_token(&world.ada, CredentialId(1))
            .await,
    ] {
        assert_eq!(kind_of(&refused), Some(ErrorKind::NotFound), "{refused:?}");
    }
    world
        .app
        .accounts()
        .rename_api_token(&world.ada, id, "Old build server")
        .await
        .unwrap();
    assert_eq!(names(&world).await, ["command line", "Old build server"]);
    world
        .app
        .accounts()
        .end_api_token(&world.ada, id)
        .await
        .unwrap();
    assert_eq!(
        kind_of(&by_token(&world, &secret).await),
        Some(ErrorKind::Unauthenticated)
    );
    assert_eq!(
        kind_of(&world.app.accounts().end_api_token(&world.ada, id).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(names(&world).await, ["command line"]);
}

#[tokio::test]
async fn the_name_of_a_token_has_1_to_100_characters() {
    let world = World::new().await;
    for name in ["é".repeat(100), "x".into()] {
        world
            .app
            .accounts()
            .make_api_token(&world.ada, &name)
            .await
            .unwrap();
    }
    let id = id_of(&world, "x").await;
    for name in ["é".repeat(101), String::new(), "  ".into()] {
        for refused in [
            world
                .app
                .accounts()
                .make_api_token(&world.ada, &name)
                .await
                .err(),
            world
                .app
                .accounts()
                .rename_api_token(&world.ada, id, &name)
                .await
                .err(),
        ] {
            assert!(
                matches!(&refused, Some(error) if error.fields().contains_key("name")),
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn nobody_makes_more_than_a_hundred_tokens() {
    let world = World::new().await;
    for number in names(&world).await.len()..MAX_API_TOKENS {
        world
            .app
            .accounts()
            .make_api_token(&world.ada, &number.to_string())
            .await
            .unwrap();
    }
    let more = world
        .app
        .accounts()
        .make_api_token(&world.ada, "one more")
        .await;
    let refused = more.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("100"), "{refused}");
    world
        .app
        .accounts()
        .end_api_token(&world.ada, id_of(&world, "50").await)
        .await
        .unwrap();
    world
        .app
        .accounts()
        .make_api_token(&world.ada, "one more")
        .await
        .unwrap();
}

#[tokio::test]
async fn an_application_gets_at_no_other_credential() {
    let world = World::new().await;
    let tokens = allow(&world, &robot(&world).await, ADA).await;
    let robot = world
        .app
        .authentication()
        .by_access_token(&tokens.access)
        .await
        .unwrap();
    let id = id_of(&world, "command line").await;
    let app = &world.app;
    for refused in [
        app.accounts()
            .make_api_token(&robot, "for ever")
            .await
            .err(),
        app.accounts().api_tokens(&robot).await.err(),
        app.accounts()
            .rename_api_token(&robot, id, "mine")
            .await
            .err(),
        app.accounts().end_api_token(&robot, id).await.err(),
        app.accounts().sessions(&robot).await.err(),
        app.accounts().end_session(&robot, id).await.err(),
        app.accounts().end_other_sessions(&robot).await.err(),
    ] {
        assert_eq!(
            refused.as_ref().map(Error::kind),
            Some(ErrorKind::Denied),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_session_that_ended_makes_no_token_any_more() {
    let world = World::new().await;
    let session = sign_in(&world, GOOD).await.unwrap();
    let actor = world
        .app
        .accounts()
        .by_session(&session)
        .await
        .unwrap()
        .unwrap();
    world
        .app
        .accounts()
        .make_api_token(&actor, "in time")
        .await
        .unwrap();
    world.app.accounts().sign_out(&session).await.unwrap();
    let late = world
        .app
        .accounts()
        .make_api_token(&actor, "too late")
        .await;
    assert_eq!(kind_of(&late), Some(ErrorKind::Unauthenticated), "{late:?}");

    let token = world
        .app
        .accounts()
        .make_api_token(&world.ada, "short-lived")
        .await
        .unwrap();
    let actor = by_token(&world, &token).await.unwrap();
    let id = token.hash().credential();
    world
        .app
        .accounts()
        .end_api_token(&world.ada, id)
        .await
        .unwrap();
    let late = world
        .app
        .accounts()
        .make_api_token(&actor, "too late")
        .await;
    assert_eq!(kind_of(&late), Some(ErrorKind::Unauthenticated), "{late:?}");
}

#[tokio::test]
async fn a_session_that_ended_allows_applications_nothing_any_more() {
    let world = World::new().await;
    let client_id = register(&world).await.client_id;
    let said = [("response_type", "code"), ("client_id", client_id.as_str())];
    let said = said.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let parameters = AuthorizationParameters::new(OAuthParameters::new(said));
    let asked = world
        .app
        .oauth()
        .authorization_prompt(&parameters)
        .await
        .unwrap();
    let session = sign_in(&world, GOOD).await.unwrap();
    let actor = world
        .app
        .accounts()
        .by_session(&session)
        .await
        .unwrap()
        .unwrap();
    world.app.oauth().consent(&actor, &asked).await.unwrap();
    world.app.accounts().sign_out(&session).await.unwrap();
    let late = world.app.oauth().consent(&actor, &asked).await;
    assert_eq!(kind_of(&late), Some(ErrorKind::Unauthenticated), "{late:?}");
}

#[tokio::test]
async fn one_sees_and_ends_ones_sessions() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben").await;
    let mut begun = Vec::new();
    for agent in ["Old", " Fire\tfox\u{7}\n", &"é".repeat(201)] {
        world.pass(MINUTE);
        let session = sign_in(&world, GOOD).await.unwrap();
        world
            .app
            .accounts()
            .name_session(&session, agent)
            .await
            .unwrap();
        begun.push(session);
    }
    let [old, fox, this] = [&begun[0], &begun[1], &begun[2]];
    world.pass(2 * HOUR);
    let actor = world
        .app
        .accounts()
        .by_session(this)
        .await
        .unwrap()
        .unwrap();
    let shown = world.app.accounts().sessions(&actor).await.unwrap();
    let agents: Vec<_> = shown
        .iter()
        .map(|one| (one.agent.as_str(), one.is_this))
        .collect();
    assert_eq!(
        agents,
        [
            ("é".repeat(200).as_str(), true),
            ("Firefox", false),
            ("Old", false)
        ]
    );
    let moments = [shown[0].created_at, shown[0].seen_at].map(|at| at.0 - START);
    assert_eq!(moments, [3 * MINUTE, 3 * MINUTE + 2 * HOUR]);

    assert_eq!(
        kind_of(&world.app.accounts().end_session(&ben, shown[1].id).await),
        Some(ErrorKind::NotFound)
    );
    world
        .app
        .accounts()
        .end_session(&actor, shown[1].id)
        .await
        .unwrap();
    assert!(
        world
            .app
            .accounts()
            .by_session(fox)
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(
        kind_of(&world.app.accounts().end_session(&actor, shown[1].id).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        world
            .app
            .accounts()
            .end_other_sessions(&actor)
            .await
            .unwrap(),
        1
    );
    assert!(
        world
            .app
            .accounts()
            .by_session(old)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        world
            .app
            .accounts()
            .by_session(this)
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        world
            .app
            .accounts()
            .end_other_sessions(&actor)
            .await
            .unwrap(),
        0
    );
    // A program of hers has no session: for it all of them are others.
    assert_eq!(
        world
            .app
            .accounts()
            .end_other_sessions(&world.ada)
            .await
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn undoing_a_change_of_address_ends_what_was_allowed_and_all_tokens() {
    let world = World::new().await;
    let robot = robot(&world).await;
    let before = world
        .app
        .accounts()
        .make_api_token(&world.ada, "before")
        .await
        .unwrap();
    let early = allow(&world, &robot, ADA).await;
    world.pass(1);
    world.change_email("thief@evil.example").await;
    let undo = world
        .link(Purpose::EmailChange(world.ada_id()), Some(ADA), 7 * DAY)
        .await;
    let with_change = world
        .app
        .accounts()
        .make_api_token(&world.ada, "in the same moment")
        .await
        .unwrap();
    world.pass(DAY);
    let after = world
        .app
        .accounts()
        .make_api_token(&world.ada, "after")
        .await
        .unwrap();
    let late = allow(&world, &robot, "thief@evil.example").await;

    world.app.accounts().undo_email_change(&undo).await.unwrap();
    // Any of them may have made the change, the one from before it most of all.
    for token in [&before, &with_change, &after] {
        assert!(by_token(&world, token).await.is_err());
    }
    for tokens in [&early, &late] {
        let refused = world
            .app
            .authentication()
            .by_access_token(&tokens.access)
            .await;
        assert_eq!(kind_of(&refused), Some(ErrorKind::InvalidToken));
        let refused = refresh(&world, &robot, tokens).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused.oauth(), Some(OAuthError::InvalidGrant(_))),
            "{refused:?}"
        );
    }
    assert_eq!(grants(&world).await, []);
}

#[tokio::test]
async fn a_reset_by_an_unproved_address_ends_what_was_allowed_before() {
    let world = World::new().await;
    let robot = robot(&world).await;
    world.change_email("other@acme.example").await;
    let tokens = allow(&world, &robot, "other@acme.example").await;
    let reset = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    world
        .app
        .accounts()
        .reset_password(&reset, &Password::new("another staple of horses"))
        .await
        .unwrap();
    assert!(
        world
            .app
            .authentication()
            .by_access_token(&tokens.access)
            .await
            .is_err()
    );
    assert!(refresh(&world, &robot, &tokens).await.is_err());
}

/// A grant is of a user and not of an address: who comes in by the address is another user, whom it
/// does not reach, and so it need not end.
#[tokio::test]
async fn what_was_allowed_does_not_follow_an_address_to_whoever_proves_it() {
    let world = World::new().await;
    let robot = robot(&world).await;
    let link = world.invite("grace@hopper.example").await;
    world.change_email("grace@hopper.example").await;
    let tokens = allow(&world, &robot, "grace@hopper.example").await;
    world
        .app
        .accounts()
        .sign_up(&link, newcomer("grace", "violet umbrella on the tram"))
        .await
        .unwrap();

    let grace = world.account("grace@hopper.example").await.unwrap().user;
    let caller = world
        .app
        .authentication()
        .by_access_token(&tokens.access)
        .await
        .unwrap();
    assert_eq!(caller.user_id(), Some(world.ada_id()));
    assert_eq!(caller.user().unwrap().user.email, ADA);
    let tokens = refresh(&world, &robot, &tokens).await.unwrap();
    let told = world
        .app
        .oauth()
        .introspect(&robot, &tokens.access)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((told.user, told.username.as_str()), (world.ada_id(), ADA));
    let (password, scopes) = (Password::new(GOOD), Scopes::DEFAULT);
    let request = TokenRequest::Password {
        username: "grace@hopper.example".into(),
        password,
        scopes,
    };
    assert!(
        world
            .app
            .oauth()
            .issue_tokens(&robot, request)
            .await
            .is_err(),
        "the password is Ada's"
    );
    let of_grace = world
        .app
        .core()
        .store()
        .read(move |reader| reader.grants().list(GrantsOf::User(grace.id)));
    assert_eq!(of_grace.await.unwrap(), []);
}

#[tokio::test]
async fn tokens_are_forgotten_a_day_after_they_ended() {
    let world = World::new().await;
    let robot = robot(&world).await;
    let first = allow(&world, &robot, ADA).await;
    let access_is_known = async |token: &Secret| {
        let hash = token.hash();
        world
            .app
            .core()
            .store()
            .read(move |reader| reader.oauth_tokens().find_access(&hash.0))
            .await
            .unwrap()
            .is_some()
    };
    let refresh_is_known = async |tokens: &Tokens| {
        let hash = tokens.refresh.as_ref().unwrap().hash();
        world
            .app
            .core()
            .store()
            .read(move |reader| reader.oauth_tokens().find_refresh(&hash.0))
            .await
            .unwrap()
            .is_some()
    };
    world.pass(2 * HOUR + DAY - 1);
    world.app.core().tidy().await.unwrap();
    assert!(access_is_known(&first.access).await);
    world.pass(1);
    world.app.core().tidy().await.unwrap();
    assert!(!access_is_known(&first.access).await);

    let second = refresh(&world, &robot, &first).await.unwrap();
    world.pass(90 * DAY - 1);
    world.app.core().tidy().await.unwrap();
    assert!(
        !refresh_is_known(&first).await,
        "replaced, and over by itself"
    );
    assert!(refresh_is_known(&second).await);
    let third = refresh(&world, &robot, &second).await.unwrap();
    world.pass(91 * DAY - 1);
    world.app.core().tidy().await.unwrap();
    assert_eq!(grants(&world).await.len(), 1);
    world.pass(1);
    world.app.core().tidy().await.unwrap();
    assert!(!refresh_is_known(&third).await);
    assert_eq!(
        grants(&world).await,
        [],
        "nothing of it could be used any more"
    );
}

#[tokio::test]
async fn grants_that_gave_nothing_usable_are_forgotten_however_many_there_are() {
    let world = World::new().await;
    let robot = robot(&world).await;
    let tokens = allow(&world, &robot, ADA).await;
    let kept = grants(&world).await;
    let (application, user) = (kept[0].application, world.ada_id());
    for _ in 0..2 {
        let many = world
            .app
            .core()
            .store()
            .write(NoCaller::Operator, move |tx| {
                for _ in 0..500 {
                    tx.grants()
                        .insert(application, user, Scopes::DEFAULT, Timestamp(START))?;
                }
                Ok(())
            });
        many.await.unwrap();
    }
    world.app.core().tidy().await.unwrap();
    assert_eq!(grants(&world).await, kept);
    assert!(
        world
            .app
            .authentication()
            .by_access_token(&tokens.access)
            .await
            .is_ok()
    );
}
