//! People of a test, made through the command line as an operator makes them.

use eddyline_client::{Client, Credentials};

use crate::raw::basic;
use crate::secrets::note_secret;
use crate::server::Server;

/// The password of every user made by [`Server::user`].
pub const PASSWORD: &str = "correct horse battery staple";

/// A user with a client that speaks for them.
pub struct Caller {
    /// The user's id.
    pub id: i64,
    /// E-mail address; the password is always the same, see [`Caller::by_password`].
    pub email: String,
    /// API token.
    pub token: String,
    /// A client with the API token.
    pub client: Client,
}

impl Caller {
    /// A client that signs in with the password.
    pub fn by_password(&self) -> Client {
        let (email, password) = (self.email.clone(), PASSWORD.to_owned());
        self.client
            .with_credentials(Credentials::Basic { email, password })
    }
}

impl Server {
    /// Creates an organization; the name is also the one in URLs.
    pub fn organization(&self, name: &str) {
        self.admin(&[
            "org",
            "create",
            "--name",
            name,
            "--parameterized-name",
            name,
            "--user-limit",
            "1000",
        ]);
    }

    /// Creates a member of the organization.
    pub fn user(&self, organization: &str, nick: &str) -> Caller {
        self.new_user(organization, nick, &[])
    }

    /// Creates an administrator of the organization.
    pub fn administrator(&self, organization: &str, nick: &str) -> Caller {
        self.new_user(organization, nick, &["--admin"])
    }

    fn new_user(&self, organization: &str, nick: &str, more: &[&str]) -> Caller {
        let email = format!("{nick}@{organization}.example");
        let mut arguments = vec!["user", "create", "--org", organization, "--email", &email];
        arguments.extend(["--name", nick, "--nick", nick, "--password", PASSWORD]);
        arguments.extend(more);
        let answer = self.admin(&arguments);
        let token = answer["api_token"]
            .as_str()
            .expect("a new user has a token")
            .to_owned();
        note_secret(PASSWORD);
        note_secret(basic(&email, PASSWORD).trim_end_matches('='));
        Caller {
            id: answer["id"].as_i64().expect("a new user has an id"),
            client: self.client().api_token(&token).build().unwrap(),
            email,
            token,
        }
    }
}
