//! A server that tests share: each has an organization of its own on it.
//!
//! Most tests need nothing of a server but that it answers, and starting one for each of them
//! would take most of their time.

use std::future::Future;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use eddyline_client::{Client, Credentials};
use serde_json::Value;

use crate::backends::{TALKATIVE, block_on};
use crate::caller::Caller;
use crate::server::operator::Operators;
use crate::server::{Backend, Server};

/// Makes two tests of each of these `async fn NAME(tenant: Tenant)`, one for each database. All
/// that a process runs share one server for each database.
///
/// ```text
/// on_shared_servers![a_message_is_listed, a_message_is_found];
/// ```
#[macro_export]
macro_rules! on_shared_servers {
    ($($test:ident),+ $(,)?) => {
        $(mod $test {
            #[test]
            fn sqlite() {
                $crate::run_on_shared($crate::Backend::Sqlite, super::$test);
            }

            #[test]
            fn postgres() {
                $crate::run_on_shared($crate::Backend::Postgres, super::$test);
            }
        })+
    };
}

/// Runs a test with an organization on the shared server of this backend; passes over it where the
/// backend is not to be had.
pub fn run_on_shared<F: Future<Output = ()>>(backend: Backend, test: impl FnOnce(Tenant) -> F) {
    if let Some(shared) = shared(backend) {
        block_on(async { test(Tenant::new(&shared.server)).await });
    }
}

/// An organization of the test's own, with its flow `main` and the two who are in it.
pub struct Tenant {
    server: &'static Server,
    /// Where the log was when the test began.
    log_from: u64,
    /// The organization, as in URLs.
    pub name: String,
    /// The flow, as `organization/flow`.
    pub main: String,
    /// Administrator of the organization.
    pub ada: Caller,
    /// An ordinary member.
    pub ben: Caller,
}

impl Tenant {
    fn new(server: &'static Server) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let log_from = server.log_length();
        let name = format!("org{}", COUNT.fetch_add(1, Ordering::Relaxed));
        server.organization(&name);
        let (ada, ben) = (
            server.administrator(&name, "ada"),
            server.user(&name, "ben"),
        );
        let tenant = Self {
            server,
            log_from,
            main: format!("{name}/main"),
            name,
            ada,
            ben,
        };
        tenant.flow("main", &[&tenant.ada, &tenant.ben]);
        tenant
    }

    /// Another organization on the same server.
    pub fn neighbour(&self) -> Self {
        Self::new(self.server)
    }

    /// The server, which belongs to other tests as well.
    pub fn server(&self) -> &'static Server {
        self.server
    }

    /// Creates a member of the organization, who is in no flow.
    pub fn user(&self, nick: &str) -> Caller {
        self.server.user(&self.name, nick)
    }

    /// Creates a member of the organization who is in the flow `main`.
    pub fn member(&self, nick: &str) -> Caller {
        let caller = self.user(nick);
        self.server.admin(&[
            "flow",
            "add-user",
            "--flow",
            &self.main,
            "--email",
            &caller.email,
        ]);
        caller
    }

    /// Creates an administrator of the organization, who is in no flow.
    pub fn administrator(&self, nick: &str) -> Caller {
        self.server.administrator(&self.name, nick)
    }

    /// Creates a flow with these people in it, and gives its id.
    pub fn flow(&self, name: &str, people: &[&Caller]) -> String {
        self.server.flow(&self.name, name, people)
    }

    /// Makes a token for posting to the flow `main`.
    pub fn flow_token(&self) -> String {
        let answer = self.server.admin(&["flow", "token", "--flow", &self.main]);
        answer["flow_token"]
            .as_str()
            .expect("the answer has the token")
            .to_owned()
    }

    /// A client with these credentials.
    pub fn client(&self, credentials: Credentials) -> Client {
        self.ada.client.with_credentials(credentials)
    }

    /// A path under that of the flow `main`: `/messages`, for instance.
    pub fn path(&self, rest: &str) -> String {
        format!("/flows/{}{rest}", self.main)
    }

    /// The path of a message of the flow `main`.
    pub fn message_path(&self, message: &Value) -> String {
        self.path(&format!("/messages/{}", message["id"]))
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = writeln!(
                std::io::stderr().lock(),
                "--- shared server ---\n{}",
                self.server.log()
            );
        } else {
            self.server.tells_no_secret(self.log_from);
        }
    }
}

/// A server for the rest of the process. Values of statics are not dropped, so somebody outside of
/// the process cleans up after it.
struct Shared {
    server: Server,
    _cleaner: Child,
}

fn shared(backend: Backend) -> Option<&'static Shared> {
    static SQLITE: OnceLock<Option<Shared>> = OnceLock::new();
    static POSTGRES: OnceLock<Option<Shared>> = OnceLock::new();
    let place = match backend {
        Backend::Sqlite => &SQLITE,
        Backend::Postgres => &POSTGRES,
    };
    let start = || {
        // Tests guess wrong on purpose, all from one address.
        let unlimited = [
            "--oauth-attempts-per-address",
            "0",
            "--scim-attempts-per-address",
            "0",
        ];
        // Tests of one server invite the same addresses, several times.
        let mail = [
            "--mail-per-recipient-minute",
            "0",
            "--mail-per-recipient-day",
            "0",
        ];
        let options = [
            &unlimited[..],
            &mail,
            &["--invitation-pause-seconds", "0"],
            &["--log", TALKATIVE],
        ]
        .concat();
        let mut server = Server::start_with(backend, &options)?;
        server.operators = Some(Operators::default());
        let cleaner = clean_up_after_us(&server);
        Some(Shared {
            server,
            _cleaner: cleaner,
        })
    };
    place.get_or_init(start).as_ref()
}

/// Starts a shell that waits for the end of its input, which comes with that of this process, and
/// then ends the server and removes its data.
fn clean_up_after_us(server: &Server) -> Child {
    Command::new("sh")
        .args([
            "-c",
            "read -r _; kill -KILL \"$1\"; rm -rf \"$2\"",
            "cleaner",
        ])
        .arg(server.process_id().to_string())
        .arg(server.directory())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
