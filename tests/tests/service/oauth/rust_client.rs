//! The crate `oauth2`, a client that knows nothing of us but the addresses that the metadata name:
//! it gets codes, tokens and errors, and understands all of them.

use eddyline_client::{Client, Json, Method};
use eddyline_tests::{CALLBACK, PASSWORD, Robot, Tenant, note_secret, on_shared_servers};
use oauth2::basic::{
    BasicClient, BasicErrorResponseType, BasicRequestTokenError, BasicTokenResponse, BasicTokenType,
};
use oauth2::{
    AccessToken, AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    EndpointSet, HttpRequest, HttpResponse, IntrospectionUrl, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RefreshToken, RequestTokenError, ResourceOwnerPassword, ResourceOwnerUsername,
    RevocationErrorResponseType, RevocationUrl, Scope, StandardErrorResponse,
    TokenIntrospectionResponse, TokenResponse, TokenUrl,
};
use url::Url;

use super::consent::Consent;

on_shared_servers![
    a_code_becomes_tokens_which_are_used_refreshed_looked_into_and_revoked,
    an_application_without_a_secret_does_the_same_by_pkce_alone,
    a_stolen_code_is_worth_nothing_without_its_verifier,
    a_code_or_refresh_token_of_the_past_is_an_invalid_grant,
    every_error_is_one_that_the_crate_knows,
    an_error_of_revoking_and_looking_into_tokens_is_known_too,
];

/// Set up in full, though without an address for devices.
type Configured =
    BasicClient<EndpointSet, oauth2::EndpointNotSet, EndpointSet, EndpointSet, EndpointSet>;

type Failed = BasicRequestTokenError<eddyline_client::Error>;

/// An application as the crate has it, and how it reaches the server.
struct Application {
    oauth: Configured,
    issuer: String,
    client: Client,
    /// Our own view of the same application.
    robot: Robot,
}

impl Application {
    /// Registers an application, and sets the crate up by what the server tells of itself.
    async fn register(tenant: &Tenant, options: &[&str], auth_type: AuthType) -> Self {
        let robot = tenant.server().robot(&tenant.name, options);
        let client = tenant.server().client().build().unwrap();
        let metadata = "/.well-known/oauth-authorization-server";
        let metadata: Json = client.request(Method::GET, metadata).call().await.unwrap();
        let address = |name: &str| metadata[name].as_str().unwrap().to_owned();
        // The crate revokes over HTTPS only. `carry` looks at the path alone, as a proxy in front
        // would.
        let secure = |name: &str| address(name).replacen("http://", "https://", 1);
        let mut oauth = BasicClient::new(ClientId::new(robot.client_id.clone()))
            .set_auth_type(auth_type)
            .set_auth_uri(AuthUrl::new(address("authorization_endpoint")).unwrap())
            .set_token_uri(TokenUrl::new(address("token_endpoint")).unwrap())
            .set_introspection_url(
                IntrospectionUrl::new(address("introspection_endpoint")).unwrap(),
            )
            .set_revocation_url(RevocationUrl::new(secure("revocation_endpoint")).unwrap())
            .set_redirect_uri(RedirectUrl::new(CALLBACK.to_owned()).unwrap());
        if let Some(secret) = &robot.client_secret {
            oauth = oauth.set_client_secret(ClientSecret::new(secret.clone()));
        }
        Self {
            oauth,
            issuer: address("issuer"),
            client,
            robot,
        }
    }

    /// Sends a request of the crate's to the server.
    fn carry(&self) -> impl Fn(HttpRequest) -> Carrying + use<> {
        let client = self.client.clone();
        move |request| Box::pin(carry(client.clone(), request))
    }

    /// Has Ben, who is signed in, say yes to these scopes, and gives the code.
    async fn code(
        &self,
        tenant: &Tenant,
        scopes: &[&str],
    ) -> (AuthorizationCode, PkceCodeVerifier) {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let scopes = scopes.iter().map(|scope| Scope::new((*scope).to_owned()));
        let (asks, state) = self
            .oauth
            .authorize_url(CsrfToken::new_random)
            .add_scopes(scopes)
            .set_pkce_challenge(challenge)
            .url();
        let mut ben = tenant.server().signed_in(&tenant.ben.email, PASSWORD).await;
        let page = ben.get(&asks[url::Position::BeforePath..]).await;
        let back = Consent::on(&page).send(&mut ben, "accept").await;
        let back = Url::parse(back.sent_on()).unwrap();
        assert!(back.as_str().starts_with(CALLBACK), "{back}");
        let told = |name: &str| {
            back.query_pairs()
                .find(|(key, _)| key == name)
                .unwrap()
                .1
                .into_owned()
        };
        assert_eq!(&told("state"), state.secret());
        assert_eq!(told("iss"), self.issuer);
        note_secret(&told("code"));
        note_secret(verifier.secret());
        (AuthorizationCode::new(told("code")), verifier)
    }

    /// Exchanges a code.
    async fn exchange(
        &self,
        code: AuthorizationCode,
        verifier: PkceCodeVerifier,
    ) -> Result<BasicTokenResponse, Failed> {
        let request = self.oauth.exchange_code(code).set_pkce_verifier(verifier);
        request.request_async(&self.carry()).await.inspect(note)
    }

    async fn refresh(&self, token: &RefreshToken) -> Result<BasicTokenResponse, Failed> {
        self.oauth
            .exchange_refresh_token(token)
            .request_async(&self.carry())
            .await
            .inspect(note)
    }

    /// Whether an access token holds, as the server says.
    async fn is_active(&self, token: &AccessToken) -> bool {
        self.oauth
            .introspect(token)
            .request_async(&self.carry())
            .await
            .unwrap()
            .active()
    }

    /// The status that an access token gets from the API.
    async fn status(&self, token: &AccessToken) -> u16 {
        self.robot
            .status(&Json::from(token.secret().as_str()))
            .await
    }
}

type Carrying =
    std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, eddyline_client::Error>> + Send>>;

async fn carry(
    client: Client,
    request: HttpRequest,
) -> Result<HttpResponse, eddyline_client::Error> {
    let (head, body) = request.into_parts();
    let mut sent = client.request(head.method, head.uri.path()).raw("", body);
    for (name, value) in &head.headers {
        sent = sent.header(name.as_str(), value);
    }
    let answer = sent.send().await?;
    let mut response = HttpResponse::new(answer.body.to_vec());
    (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers);
    Ok(response)
}

fn note(tokens: &BasicTokenResponse) {
    note_secret(tokens.access_token().secret());
    tokens
        .refresh_token()
        .inspect(|token| note_secret(token.secret()));
}

/// What the server says is wrong.
#[track_caller]
fn error_of<T: std::fmt::Debug>(outcome: Result<T, Failed>) -> BasicErrorResponseType {
    match outcome {
        Err(RequestTokenError::ServerResponse(refusal)) => {
            assert!(
                refusal
                    .error_description()
                    .is_some_and(|text| !text.is_empty()),
                "{refusal:?}"
            );
            refusal.error().clone()
        }
        other => panic!("{other:?}"),
    }
}

/// Shows: 5.5
async fn a_code_becomes_tokens_which_are_used_refreshed_looked_into_and_revoked(tenant: Tenant) {
    for auth_type in [AuthType::BasicAuth, AuthType::RequestBody] {
        let application = Application::register(&tenant, &[], auth_type).await;
        let (code, verifier) = application
            .code(&tenant, &["profile", "offline_access"])
            .await;
        let first = application.exchange(code, verifier).await.unwrap();
        assert_eq!(first.token_type(), &BasicTokenType::Bearer);
        assert_eq!(first.expires_in().unwrap().as_secs(), 7200);
        // Commas are what the specification wants here, where the RFC has spaces.
        let scopes: Vec<_> = first
            .scopes()
            .unwrap()
            .iter()
            .map(|scope| scope.as_str())
            .collect();
        assert_eq!(scopes, ["profile,offline_access"]);
        assert_eq!(application.status(first.access_token()).await, 200);

        let about = application
            .oauth
            .introspect(first.access_token())
            .request_async(&application.carry())
            .await;
        let about = about.unwrap();
        assert!(about.active());
        let scopes: Vec<_> = about
            .scopes()
            .unwrap()
            .iter()
            .map(|scope| scope.as_str())
            .collect();
        assert_eq!(scopes, ["profile", "offline_access"]);
        assert_eq!(
            about.client_id().unwrap().as_str(),
            application.robot.client_id
        );
        assert_eq!(about.username(), Some(&*tenant.ben.email));
        assert_eq!(about.sub(), Some(&*tenant.ben.id.to_string()));
        assert_eq!(about.iss(), Some(&*application.issuer));
        assert_eq!(
            (about.exp().unwrap() - about.iat().unwrap()).num_seconds(),
            7200
        );

        let next = application
            .refresh(first.refresh_token().unwrap())
            .await
            .unwrap();
        assert_ne!(
            next.refresh_token().unwrap().secret(),
            first.refresh_token().unwrap().secret()
        );
        assert_eq!(application.status(next.access_token()).await, 200);

        let alone = application
            .oauth
            .revoke_token(next.access_token().into())
            .unwrap();
        alone.request_async(&application.carry()).await.unwrap();
        assert!(!application.is_active(next.access_token()).await);
        assert_eq!(application.status(next.access_token()).await, 401);
        assert!(
            application.is_active(first.access_token()).await,
            "the other one goes on"
        );

        let family = application
            .oauth
            .revoke_token(next.refresh_token().unwrap().into())
            .unwrap();
        family.request_async(&application.carry()).await.unwrap();
        assert!(!application.is_active(first.access_token()).await);
        let ended = application.refresh(next.refresh_token().unwrap()).await;
        assert_eq!(error_of(ended), BasicErrorResponseType::InvalidGrant);
    }
}

async fn an_application_without_a_secret_does_the_same_by_pkce_alone(tenant: Tenant) {
    let application = Application::register(&tenant, &["--public"], AuthType::RequestBody).await;
    let (code, verifier) = application
        .code(&tenant, &["flow", "profile", "offline_access"])
        .await;
    let first = application.exchange(code, verifier).await.unwrap();
    assert_eq!(application.status(first.access_token()).await, 200);
    let next = application
        .refresh(first.refresh_token().unwrap())
        .await
        .unwrap();
    let family = application
        .oauth
        .revoke_token(next.refresh_token().unwrap().into())
        .unwrap();
    family.request_async(&application.carry()).await.unwrap();
    for tokens in [&first, &next] {
        assert_eq!(application.status(tokens.access_token()).await, 401);
    }
    let looked = application
        .oauth
        .introspect(first.access_token())
        .request_async(&application.carry())
        .await;
    assert_eq!(
        error_of(looked),
        BasicErrorResponseType::InvalidClient,
        "nobody shows a secret here"
    );
}

/// Shows: 5.7
async fn a_stolen_code_is_worth_nothing_without_its_verifier(tenant: Tenant) {
    for options in [&[][..], &["--public"]] {
        let application = Application::register(&tenant, options, AuthType::RequestBody).await;
        let (code, verifier) = application.code(&tenant, &["flow"]).await;
        let (_, other) = PkceCodeChallenge::new_random_sha256();
        let guessed = application.exchange(code.clone(), other).await;
        assert_eq!(error_of(guessed), BasicErrorResponseType::InvalidGrant);
        let carry = application.carry();
        let without = application
            .oauth
            .exchange_code(code.clone())
            .request_async(&carry)
            .await;
        assert_eq!(error_of(without), BasicErrorResponseType::InvalidGrant);
        application.exchange(code, verifier).await.unwrap();
    }
}

/// Shows: 5.8
async fn a_code_or_refresh_token_of_the_past_is_an_invalid_grant(tenant: Tenant) {
    let application = Application::register(&tenant, &[], AuthType::BasicAuth).await;
    let (code, verifier) = application.code(&tenant, &["flow", "offline_access"]).await;
    let again = PkceCodeVerifier::new(verifier.secret().clone());
    let first = application.exchange(code.clone(), verifier).await.unwrap();
    let next = application
        .refresh(first.refresh_token().unwrap())
        .await
        .unwrap();
    let replayed = application.refresh(first.refresh_token().unwrap()).await;
    assert_eq!(error_of(replayed), BasicErrorResponseType::InvalidGrant);
    assert!(
        application.is_active(next.access_token()).await,
        "it may have been a retry"
    );

    assert_eq!(
        error_of(application.exchange(code, again).await),
        BasicErrorResponseType::InvalidGrant
    );
    assert!(
        !application.is_active(next.access_token()).await,
        "what the code gave has ended"
    );
}

/// Shows: 5.7
async fn every_error_is_one_that_the_crate_knows(tenant: Tenant) {
    let application = Application::register(&tenant, &[], AuthType::BasicAuth).await;
    let strict =
        Application::register(&tenant, &["--no-password-grant"], AuthType::BasicAuth).await;
    let (oauth, carry) = (&application.oauth, application.carry());
    let name = ResourceOwnerUsername::new(tenant.ben.email.clone());
    let password = ResourceOwnerPassword::new(PASSWORD.to_owned());
    let all = Scope::new("everything".to_owned());

    let signed_in = oauth
        .exchange_password(&name, &password)
        .request_async(&carry)
        .await
        .inspect(note);
    assert_eq!(
        application.status(signed_in.unwrap().access_token()).await,
        200
    );
    let too_much = oauth
        .exchange_password(&name, &password)
        .add_scope(all)
        .request_async(&carry)
        .await;
    assert_eq!(error_of(too_much), BasicErrorResponseType::InvalidScope);
    let twice = oauth
        .exchange_password(&name, &password)
        .add_extra_param("username", "somebody");
    assert_eq!(
        error_of(twice.request_async(&carry).await),
        BasicErrorResponseType::InvalidRequest
    );
    let wrong = ResourceOwnerPassword::new("something else".to_owned());
    let wrong = oauth
        .exchange_password(&name, &wrong)
        .request_async(&carry)
        .await;
    assert_eq!(error_of(wrong), BasicErrorResponseType::InvalidGrant);
    let refused = strict
        .oauth
        .exchange_password(&name, &password)
        .request_async(&strict.carry())
        .await;
    assert_eq!(
        error_of(refused),
        BasicErrorResponseType::UnauthorizedClient
    );
    let for_itself = oauth
        .exchange_client_credentials()
        .request_async(&carry)
        .await;
    assert_eq!(
        error_of(for_itself),
        BasicErrorResponseType::UnsupportedGrantType
    );

    for auth_type in [AuthType::BasicAuth, AuthType::RequestBody] {
        let liar = oauth
            .clone()
            .set_client_secret(ClientSecret::new("guessed".to_owned()));
        let liar = liar.set_auth_type(auth_type);
        let refused = liar
            .exchange_password(&name, &password)
            .request_async(&carry)
            .await;
        assert_eq!(error_of(refused), BasicErrorResponseType::InvalidClient);
    }
}

async fn an_error_of_revoking_and_looking_into_tokens_is_known_too(tenant: Tenant) {
    let application = Application::register(&tenant, &[], AuthType::BasicAuth).await;
    let stranger = Application::register(&tenant, &[], AuthType::BasicAuth).await;
    let (code, verifier) = application.code(&tenant, &["flow"]).await;
    let tokens = application.exchange(code, verifier).await.unwrap();

    let token = tokens.access_token();
    let seen = stranger
        .oauth
        .introspect(token)
        .request_async(&stranger.carry())
        .await
        .unwrap();
    assert!(
        !seen.active() && seen.scopes().is_none() && seen.sub().is_none(),
        "{seen:?}"
    );
    let revoked = stranger
        .oauth
        .revoke_token(token.into())
        .unwrap()
        .request_async(&stranger.carry())
        .await;
    assert_eq!(revocation_error(revoked), unauthorized());
    assert!(application.is_active(token).await);

    let liar = application
        .oauth
        .clone()
        .set_client_secret(ClientSecret::new("guessed".to_owned()));
    let looked = liar
        .introspect(token)
        .request_async(&application.carry())
        .await;
    assert_eq!(error_of(looked), BasicErrorResponseType::InvalidClient);
    let revoked = liar
        .revoke_token(token.into())
        .unwrap()
        .request_async(&application.carry())
        .await;
    let unknown = RevocationErrorResponseType::Basic(BasicErrorResponseType::InvalidClient);
    assert_eq!(revocation_error(revoked), unknown);
    assert!(application.is_active(token).await);

    let nothing = AccessToken::new("never-was".to_owned());
    let ended = application.oauth.revoke_token((&nothing).into()).unwrap();
    ended
        .request_async(&application.carry())
        .await
        .expect("what never was has ended");
}

fn unauthorized() -> RevocationErrorResponseType {
    RevocationErrorResponseType::Basic(BasicErrorResponseType::UnauthorizedClient)
}

#[track_caller]
fn revocation_error(
    outcome: Result<
        (),
        RequestTokenError<
            eddyline_client::Error,
            StandardErrorResponse<RevocationErrorResponseType>,
        >,
    >,
) -> RevocationErrorResponseType {
    match outcome {
        Err(RequestTokenError::ServerResponse(refusal)) => refusal.error().clone(),
        other => panic!("{other:?}"),
    }
}
