//! The processes under test, as many as there are on one database, and how they are asked.

use std::sync::Arc;
use std::time::Duration;

use eddyline_client::{Client, Credentials, Method, RawResponse, StatusCode};
use eddyline_tests::{Acme, CSRF, Caller, PASSWORD, Robot, SESSION, Server};

use super::deeds::{APPLICATIONS, Answer, Deed, GONE, Pair, USERS};

pub(super) const FLOW: &str = "acme/main";
/// As much as a process may take that waits for another which is not there any more, and then some.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Nodes {
    servers: Vec<Server>,
    cast: Arc<Cast>,
}

/// Who is there: the same at every process.
struct Cast {
    /// Says something now and then, and allows nobody anything.
    ada: Caller,
    administrator: User,
    users: [User; USERS],
    applications: [Robot; APPLICATIONS],
}

/// Somebody with a browser that is signed in.
struct User {
    email: String,
    cookies: String,
    csrf: String,
}

/// One process, to be asked from anywhere, also while it dies. It is not to be used after that.
#[derive(Clone)]
pub(super) struct Node {
    client: Client,
    cast: Arc<Cast>,
}

impl Nodes {
    /// Two users and two applications on these servers, which share one database.
    pub(super) async fn new(servers: Vec<Server>) -> Self {
        let one = &servers[0];
        let Acme { ada, ben } = one.acme();
        let cleo = one.user("acme", "cleo");
        one.admin(&["flow", "add-user", "--flow", FLOW, "--email", &cleo.email]);
        let users = [User::of(one, &ben).await, User::of(one, &cleo).await];
        let cast = Cast {
            administrator: User::of(one, &ada).await,
            ada,
            users,
            applications: [(); APPLICATIONS].map(|()| one.robot("acme", &[])),
        };
        Self {
            cast: Arc::new(cast),
            servers,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.servers.len()
    }

    pub(super) fn node(&self, number: usize) -> Node {
        let number = number % self.servers.len();
        // Connections of a process that was killed are of no use, so each has its own.
        let client = self.servers[number]
            .client()
            .timeout(PATIENCE)
            .build()
            .unwrap();
        Node {
            client,
            cast: Arc::clone(&self.cast),
        }
    }

    /// Ends a process as a power cut would.
    pub(super) fn kill(&mut self, number: usize) {
        self.servers[number].kill9();
    }

    /// Starts a process that was killed, once it is certain what became of its transactions.
    pub(super) fn revive(&mut self, number: usize) {
        if let Some(database) = self.servers[number].database() {
            // PostgreSQL may still be committing for a process that is dead. It holds a row of this
            // table until it has.
            database
                .run("SELECT batch FROM writers FOR UPDATE")
                .unwrap();
        }
        self.servers[number].restart();
    }

    /// How often transactions were in each other's way in a ring.
    pub(super) fn deadlocks(&self) -> String {
        let counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        let database = self.servers[0].database();
        database.map_or_else(
            || "0".to_owned(),
            |database| database.run(counted).unwrap().trim().to_owned(),
        )
    }
}

impl User {
    async fn of(server: &Server, caller: &Caller) -> Self {
        let visitor = server.signed_in(&caller.email, PASSWORD).await;
        let value = |name| {
            visitor
                .cookie(name)
                .expect("who is signed in has these")
                .to_owned()
        };
        let cookies = format!("{SESSION}={}; {CSRF}={}", value(SESSION), value(CSRF));
        Self {
            email: caller.email.clone(),
            cookies,
            csrf: value(CSRF),
        }
    }
}

impl Node {
    /// Does it, and gives what came of it.
    pub(super) async fn does(&self, deed: &Deed) -> Answer {
        match deed {
            Deed::Password {
                pair: Pair { user, application },
                offline,
            } => {
                let username = self.cast.users[*user].email.as_str();
                let fields = [
                    ("grant_type", "password"),
                    ("username", username),
                    ("password", PASSWORD),
                    ("scope", scopes(*offline)),
                ];
                self.asks(*application, "/oauth/token", &fields).await
            }
            Deed::Consent {
                pair: Pair { user, application },
                offline,
            } => {
                let client_id = &self.cast.applications[*application].client_id;
                let fields = [
                    ("client_id", client_id.as_str()),
                    ("response_type", "code"),
                    ("scope", scopes(*offline)),
                    ("decision", "accept"),
                ];
                let user = &self.cast.users[*user];
                self.submits(user, "/oauth/authorize", &fields, |back| {
                    let code = back
                        .split(['?', '&'])
                        .find_map(|part| part.strip_prefix("code="));
                    Answer::Code(
                        code.unwrap_or_else(|| panic!("no code in {back}"))
                            .to_owned(),
                    )
                })
                .await
            }
            Deed::TakeBack {
                pair: Pair { user, application },
            } => {
                let fields = [(
                    "application",
                    self.cast.applications[*application].id.as_str(),
                )];
                let user = &self.cast.users[*user];
                let answer = self
                    .submits(user, "/account/applications", &fields, |_| Answer::Done)
                    .await;
                match answer {
                    // Nothing was left to take back.
                    Answer::Refused(_) => Answer::Done,
                    answer => answer,
                }
            }
            Deed::Remove { application } => {
                let path = format!(
                    "/developer/{}/remove",
                    self.cast.applications[*application].id
                );
                self.submits(&self.cast.administrator, &path, &[], |_| Answer::Done)
                    .await
            }
            Deed::Exchange { client, code } => {
                let fields = [("grant_type", "authorization_code"), ("code", code)];
                self.asks(*client, "/oauth/token", &fields).await
            }
            Deed::Refresh { client, token } => {
                let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
                self.asks(*client, "/oauth/token", &fields).await
            }
            Deed::Revoke { client, token } => {
                self.asks(*client, "/oauth/revoke", &[("token", token)])
                    .await
            }
        }
    }

    async fn asks(&self, application: usize, path: &str, fields: &[(&str, &str)]) -> Answer {
        let Ok(answer) = self.client_asks(application, path, fields).await else {
            return Answer::Lost;
        };
        let body = answer.json();
        let text = |key: &str| body[key].as_str().map(str::to_owned);
        match (answer.status, text("access_token")) {
            (StatusCode::OK, Some(access)) => Answer::Tokens {
                access,
                refresh: text("refresh_token"),
            },
            (StatusCode::OK, None) => Answer::Done,
            (StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED, _) => {
                Answer::Refused(text("error").expect("a refusal says why"))
            }
            (status, _) => panic!("{path}: {status} {}", answer.text()),
        }
    }

    async fn client_asks(
        &self,
        application: usize,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Result<RawResponse, eddyline_client::Error> {
        let Robot {
            client_id,
            client_secret,
            ..
        } = &self.cast.applications[application];
        let secret = client_secret.as_deref().expect("it has a secret");
        let fields = [
            &[("client_id", client_id.as_str()), ("client_secret", secret)],
            fields,
        ]
        .concat();
        self.client
            .request(Method::POST, path)
            .anonymous()
            .form(&fields)
            .send()
            .await
    }

    /// Sends a form of a page; where the browser is sent on to tells what came of it.
    async fn submits(
        &self,
        user: &User,
        path: &str,
        fields: &[(&str, &str)],
        read: impl FnOnce(&str) -> Answer,
    ) -> Answer {
        let fields = [&[("csrf", user.csrf.as_str())], fields].concat();
        let request = self.client.request(Method::POST, path).anonymous();
        let Ok(answer) = request
            .header("cookie", &user.cookies)
            .form(&fields)
            .send()
            .await
        else {
            return Answer::Lost;
        };
        match answer.status {
            StatusCode::SEE_OTHER => read(answer.header("location").expect("it is sent somewhere")),
            StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND => Answer::Refused(GONE.to_owned()),
            status => panic!("{path}: {status} {}", answer.text()),
        }
    }

    /// The same process, asked with an access token.
    pub(super) fn with(&self, access: &str) -> Client {
        self.client
            .with_credentials(Credentials::Bearer(access.to_owned()))
    }

    /// Whether an access token is taken.
    pub(super) async fn takes(&self, access: &str) -> bool {
        let answer = self
            .with(access)
            .request(Method::GET, "/user")
            .send()
            .await
            .unwrap();
        match answer.status {
            StatusCode::OK => true,
            StatusCode::UNAUTHORIZED => false,
            status => panic!("GET /user: {status} {}", answer.text()),
        }
    }

    /// Whether a refresh token holds, as its own application is told.
    pub(super) async fn honours(&self, application: usize, refresh: &str) -> bool {
        let asked = self
            .client_asks(application, "/oauth/introspect", &[("token", refresh)])
            .await;
        let answer = asked.unwrap();
        match answer.status {
            StatusCode::OK => answer.json()["active"]
                .as_bool()
                .expect("it is told whether the token holds"),
            // The application has been removed.
            StatusCode::UNAUTHORIZED => false,
            status => panic!("introspection: {status} {}", answer.text()),
        }
    }

    /// Ada says something in the flow.
    pub(super) async fn says(&self, text: &str) {
        let api_token = Credentials::ApiToken(self.cast.ada.token.clone());
        let (client, email) = (
            self.client.with_credentials(api_token),
            self.cast.ada.email.clone(),
        );
        let ada = Caller {
            id: self.cast.ada.id,
            token: self.cast.ada.token.clone(),
            client,
            email,
        };
        ada.say(FLOW, text).await;
    }
}

fn scopes(offline: bool) -> &'static str {
    if offline {
        "flow offline_access"
    } else {
        "flow"
    }
}
