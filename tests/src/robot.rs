//! An application that acts for users by OAuth, as its own server would.

use eddyline_client::{Client, Credentials, Json, Method, RawResponse};
use serde_json::Value;

use crate::caller::{Caller, PASSWORD};
use crate::raw::basic;
use crate::secrets::{note_secret, note_secrets_of};
use crate::server::Server;
use crate::web::Visitor;

/// Where robots are sent codes, unless a test says otherwise. Nobody is there.
pub const CALLBACK: &str = "http://127.0.0.1:9/back";

/// An application, registered by an operator.
pub struct Robot {
    /// Its number.
    pub id: String,
    /// What it calls itself by.
    pub client_id: String,
    /// Its secret, if it has one.
    pub client_secret: Option<String>,
    client: Client,
}

impl Server {
    /// Registers an application of an organization, with these options of `app create` beside its
    /// name and [`CALLBACK`].
    pub fn robot(&self, organization: &str, options: &[&str]) -> Robot {
        let mut arguments = vec!["app", "create", "--org", organization, "--name", "Robot"];
        if !options.contains(&"--redirect-uri") {
            arguments.extend(["--redirect-uri", CALLBACK]);
        }
        arguments.extend(options);
        let answer = self.admin(&arguments);
        if let (Some(id), Some(secret)) = (
            answer["client_id"].as_str(),
            answer["client_secret"].as_str(),
        ) {
            note_secret(basic(id, secret).trim_end_matches('='));
        }
        Robot {
            id: answer["id"]
                .as_str()
                .expect("an application has a number")
                .to_owned(),
            client_id: answer["client_id"]
                .as_str()
                .expect("an application has an id")
                .to_owned(),
            client_secret: answer["client_secret"].as_str().map(str::to_owned),
            client: self.client().build().unwrap(),
        }
    }
}

impl Robot {
    /// Sends a form with these fields and its own credentials.
    pub async fn ask(&self, path: &str, fields: &[(&str, &str)]) -> RawResponse {
        let mut all = vec![("client_id", self.client_id.as_str())];
        all.extend(
            self.client_secret
                .as_deref()
                .map(|secret| ("client_secret", secret)),
        );
        all.extend(fields);
        self.ask_as_anybody(path, &all).await
    }

    /// Sends a form with these fields and nothing else.
    pub async fn ask_as_anybody(&self, path: &str, fields: &[(&str, &str)]) -> RawResponse {
        let request = self.client.request(Method::POST, path).form(fields);
        request
            .header("Accept", "application/json")
            .send()
            .await
            .unwrap()
    }

    /// Asks for tokens, which it must get.
    #[track_caller]
    pub fn tokens(&self, fields: &[(&str, &str)]) -> impl Future<Output = Json> {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.ask("/oauth/token", fields).await;
            assert_eq!(answer.status, 200, "{} at {caller}", answer.text());
            let answer = answer.json();
            note_secrets_of(&answer);
            answer
        }
    }

    /// Gets tokens of these scopes with a user's password.
    pub async fn by_password(&self, user: &Caller, scope: &str) -> Json {
        let who = [
            ("grant_type", "password"),
            ("username", user.email.as_str()),
            ("password", PASSWORD),
        ];
        self.tokens(&[&who[..], &[("scope", scope)]].concat()).await
    }

    /// Asks for tokens and is refused with this error.
    #[track_caller]
    pub fn refused(&self, fields: &[(&str, &str)], error: &str) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.ask("/oauth/token", fields).await;
            assert_eq!(
                answer.json()["error"],
                error,
                "{} at {caller}",
                answer.text()
            );
            assert_eq!(
                answer.status,
                if error == "invalid_client" { 401 } else { 400 },
                "at {caller}"
            );
        }
    }

    /// Exchanges a refresh token.
    pub async fn refresh(&self, token: &Value) -> Json {
        self.tokens(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", text(token)),
        ])
        .await
    }

    /// What a token is worth.
    pub async fn introspect(&self, token: &Value) -> Json {
        let answer = self
            .ask("/oauth/introspect", &[("token", text(token))])
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// Ends a token.
    pub async fn revoke(&self, token: &Value) {
        let answer = self.ask("/oauth/revoke", &[("token", text(token))]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json()),
            (200, serde_json::json!({}))
        );
    }

    /// A client with an access token.
    pub fn with(&self, token: &Value) -> Client {
        self.client
            .with_credentials(Credentials::Bearer(text(token).to_owned()))
    }

    /// The status that an access token gets.
    pub async fn status(&self, token: &Value) -> u16 {
        self.with(token)
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap()
            .status
            .as_u16()
    }

    /// Has a user who is signed in consent to what these parameters ask for beside the usual ones,
    /// and gives the address to which the user is sent back.
    pub async fn consent(&self, user: &mut Visitor, asked: &[(&str, &str)]) -> String {
        let mut fields = vec![
            ("client_id", self.client_id.as_str()),
            ("response_type", "code"),
        ];
        fields.extend(asked);
        fields.push(("decision", "accept"));
        user.post("/oauth/authorize", &fields)
            .await
            .sent_on()
            .to_owned()
    }

    /// The code that comes of it.
    pub async fn code(&self, user: &mut Visitor, asked: &[(&str, &str)]) -> String {
        let back = self.consent(user, asked).await;
        let code = back
            .split(['?', '&'])
            .find_map(|part| part.strip_prefix("code="));
        let code = code.unwrap_or_else(|| panic!("no code in {back}"));
        note_secret(code);
        code.to_owned()
    }
}

fn text(token: &Value) -> &str {
    token
        .as_str()
        .unwrap_or_else(|| panic!("{token} is no token"))
}
