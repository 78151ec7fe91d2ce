//! `eddyline move`: what people see of it.

use std::future::Future;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use eddyline_client::{Json, Method, StreamRequest};
use eddyline_testing::postgres::{self, Database};
use eddyline_tests::{Acme, Backend, Caller, Listener, Patience, Server, run};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::block_in_place;

const MAIN: &str = "acme/main";

/// A place for a database of the other kind.
struct Place {
    url: String,
    _held: (TempDir, Option<Database>),
}

impl Place {
    fn other_than(backend: Backend) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        let database = match backend {
            Backend::Sqlite => Some(postgres::database()?),
            Backend::Postgres => None,
        };
        let url = match &database {
            Some(database) => database.url().to_owned(),
            None => format!("sqlite:{}", directory.path().join("chat.db").display()),
        };
        Some(Self {
            url,
            _held: (directory, database),
        })
    }
}

/// Declares tests of a server with data in each kind of database, and a place of the other kind.
macro_rules! to_the_other {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                use super::*;

                #[test]
                fn sqlite() {
                    super::on(Backend::Sqlite, super::$test);
                }

                #[test]
                fn postgres() {
                    super::on(Backend::Postgres, super::$test);
                }
            }
        )+
    };
}

to_the_other![
    a_server_goes_on_in_the_new_place,
    a_move_can_be_given_up,
    a_place_that_is_in_use_is_refused,
];

fn on<F: Future<Output = ()>>(backend: Backend, test: impl FnOnce(Server, Place) -> F) {
    let Some(place) = Place::other_than(backend) else {
        return;
    };
    run(backend, &[], |server| test(server, place));
}

fn printed(mut command: Command) -> Result<String, String> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match status.success() {
        true => Ok(text(stdout)),
        false => Err(text(stderr)),
    }
}

fn move_to(server: &Server, place: &Place, further: &[&str]) -> Result<String, String> {
    let mut command = server.command(&["move", "--to", &place.url]);
    command.args(further);
    printed(command)
}

/// Posts as a good client does: what is not granted is sent again.
async fn say_surely(server: &Server, caller: &Caller, text: &str) -> Json {
    let client = server.client().api_token(&caller.token).build().unwrap();
    let path = format!("/flows/{MAIN}/messages");
    let message = json!({"event": "message", "content": text, "uuid": "3f2b4c1e-6d5a-4b8e-9c7d-1a2b3c4d5e6f"});
    let patience = Patience::until("a post is granted");
    loop {
        let request = client.request(Method::POST, &path).json(&message);
        let request = request.header("x-service-wait-for-message", "1");
        match request.call().await {
            Ok(said) => return said,
            Err(_) => patience.goes_on().await,
        }
    }
}

async fn a_server_goes_on_in_the_new_place(mut server: Server, place: Place) {
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    ben.say(MAIN, "in the old place").await;
    stream.next().await;
    let heard = stream.last_event_id();

    let answer = block_in_place(|| move_to(&server, &place, &[])).unwrap();
    assert!(answer.contains("rows are the same in both"), "{answer}");
    assert!(answer.contains("Set the option database"), "{answer}");
    // The stream ends, since the server behind it does.
    assert_eq!(stream.rest().await, Vec::<Json>::new());

    // Tokens, and the place in the stream, hold in the new one.
    let said = say_surely(&server, &ben, "in the new place").await;
    let again = StreamRequest::new().flow(MAIN).after(&heard);
    let mut stream = Listener::open(&ada.client, &again).await;
    assert_eq!(stream.json().await, said);

    // Commands and servers that still name the old place find the new one.
    let users = server.admin(&["user", "list", "--org", "acme"]);
    assert_eq!(users["users"].as_array().map(Vec::len), Some(2));
    assert!(block_in_place(|| server.terminate()).success());
    block_in_place(|| server.restart());
    assert!(server.log().contains("set the option database to it"));
    let messages = ada.get("/flows/acme/main/messages").await;
    let contents = messages.as_array().unwrap().iter();
    let contents: Vec<_> = contents.map(|message| message["content"].clone()).collect();
    assert_eq!(contents, ["in the old place", "in the new place"]);
    let again = block_in_place(|| move_to(&server, &place, &["--json"])).unwrap();
    assert!(
        again.contains("\"rows\":null"),
        "it was moved before: {again}"
    );
    let refused = block_in_place(|| move_to(&server, &place, &["--give-up"]));
    assert!(refused.unwrap_err().contains("the move is done"));
}

async fn a_move_can_be_given_up(server: Server, place: Place) {
    let Acme { ada, ben } = server.acme();
    // The first line that it prints comes when its notes are made.
    let mut moving = server
        .command(&["move", "--json", "--to", &place.url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(moving.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    moving.kill().unwrap();
    moving.wait().unwrap();
    assert!(line.contains("\"progress\":\"rows\""), "{line}");
    let answer = block_in_place(|| move_to(&server, &place, &["--give-up"])).unwrap();
    assert!(answer.contains("goes on as before"), "{answer}");
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    let said = ben.say(MAIN, "as before").await;
    assert_eq!(stream.json().await, said);
    let refused = block_in_place(|| move_to(&server, &place, &["--give-up"]));
    let refused = refused.unwrap_err();
    assert!(refused.contains("no move to this place"), "{refused}");
}

async fn a_place_that_is_in_use_is_refused(server: Server, place: Place) {
    server.acme();
    let mut other = eddyline_tests::eddyline();
    other.args([
        "admin",
        "--database",
        &place.url,
        "org",
        "create",
        "--name",
        "Other",
    ]);
    block_in_place(|| printed(other)).unwrap();
    let refused = block_in_place(|| move_to(&server, &place, &[])).unwrap_err();
    assert!(refused.contains("is not empty"), "{refused}");
    let missing = server.command(&["move", "--to", "sqlite:/nowhere/chat.db"]);
    let refused = block_in_place(|| printed(missing)).unwrap_err();
    assert!(refused.contains("there is no folder /nowhere"), "{refused}");
    let own = server.command(&["move", "--to", "mysql://somewhere"]);
    let refused = block_in_place(|| printed(own)).unwrap_err();
    assert!(refused.contains("--to"), "{refused}");
}
