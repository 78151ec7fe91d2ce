//! The demonstration looks alive, and answers its visitor.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::process::{ChildStdout, Stdio};

use serde_json::{Value, json};

use super::{Running, demonstrate, output, shell};

/// A demonstration, and a visitor who looks at it.
struct Visit {
    _demo: Running,
    token: String,
    base: String,
    stream: String,
}

/// What the visitor hears.
struct Hearing {
    _curl: Running,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Visit {
    fn begin() -> Self {
        let (demo, welcome) = demonstrate(&[]);
        let find = |name: &str| {
            let mut lines = welcome.iter();
            let line = lines.find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().to_owned()
        };
        Self {
            token: find("API token:"),
            base: find("API:"),
            stream: find("Stream:"),
            _demo: demo,
        }
    }

    fn get(&self, path: &str) -> Value {
        let address = format!("{}{path}", self.base);
        let text = output(&format!("curl -s -u {}: '{address}'", self.token));
        serde_json::from_str(&text).unwrap()
    }

    fn list(&self, path: &str) -> Vec<Value> {
        serde_json::from_value(self.get(path)).unwrap()
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Value {
        let fields: String = fields
            .iter()
            .map(|(name, value)| format!("--data-urlencode {name}='{value}' "))
            .collect();
        let command = format!(
            "curl -s -u {}: -H 'X-Service-Wait-For-Message: 1' -X POST {fields} {}{path}",
            self.token, self.base
        );
        serde_json::from_str(&output(&command)).unwrap()
    }

    /// Listens to all that is for the visitor.
    fn listen(&self) -> Hearing {
        let address = format!("{}/flows?filter=demo/main,demo/lobby&user=1", self.stream);
        let mut curl = shell(&format!("curl -s -N -u {}: '{address}'", self.token));
        let mut curl = Running(curl.stdout(Stdio::piped()).spawn().unwrap());
        let mut heard = BufReader::new(curl.0.stdout.take().unwrap());
        // The first byte says that the stream is open.
        heard.read_exact(&mut [0]).unwrap();
        Hearing {
            _curl: curl,
            lines: heard.lines(),
        }
    }

    /// The id of a user, as it stands in messages.
    fn id_of(&self, nick: &str) -> String {
        let users = self.list("/users");
        let user = users.iter().find(|user| user["nick"] == nick).unwrap();
        user["id"].to_string()
    }

    fn thread(&self, title: &str) -> Value {
        let threads = self.list("/flows/demo/main/threads");
        let mut found = threads.into_iter();
        found.find(|thread| thread["title"] == title).unwrap()
    }
}

impl Hearing {
    /// Waits for an event like this.
    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        self.lines
            .by_ref()
            .map(Result::unwrap)
            .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
            .find(|event| is_it(event))
            .expect("the stream is open")
    }
}

#[test]
fn the_demonstration_shows_what_there_is() {
    let visit = Visit::begin();
    for flow in ["main", "lobby"] {
        let messages = visit.list(&format!("/flows/demo/{flow}/messages?limit=100"));
        let people: BTreeSet<_> = messages
            .iter()
            .filter(|message| message["event"] == "message")
            .map(|message| message["user"].to_string())
            .collect();
        assert!(
            people.len() >= 4,
            "several people talk in {flow}: {people:?}"
        );
        let reacted = |message: &Value| message["emojiReactions"] != json!({});
        assert!(messages.iter().any(reacted), "and react in {flow}");
        let shown = visit.get(&format!("/flows/demo/{flow}"));
        assert_ne!(
            shown["unread_mentions"], 0,
            "the visitor is mentioned in {flow}"
        );
    }

    let users = visit.get("/flows/demo/main")["users"].clone();
    let users: Vec<Value> = serde_json::from_value(users).unwrap();
    let each =
        |field: &str| -> BTreeSet<_> { users.iter().map(|user| user[field].to_string()).collect() };
    assert_eq!(each("presence").len(), 3, "active, idle and offline");
    assert!(each("status").len() > 2, "some say what they are doing");

    let threads = visit.list("/flows/demo/main/threads");
    let states: BTreeSet<_> = threads
        .iter()
        .map(|thread| thread["status"]["color"].to_string())
        .collect();
    assert!(states.len() >= 4, "items are in several states: {states:?}");
}

#[test]
fn a_button_of_the_demonstration_changes_its_item() {
    let visit = Visit::begin();
    let release = visit.thread("Release 2.4");
    let (id, action) = (release["id"].as_str().unwrap(), &release["actions"][0]);
    assert_eq!(action["name"], "Approve");
    let path = format!("/flows/demo/main/threads/{id}/actions/0");
    assert_eq!(visit.post(&path, &[]), json!({}));
    assert_eq!(visit.thread("Release 2.4")["status"]["value"], "Approved");
    let messages = visit.list(&format!("/flows/demo/main/threads/{id}/messages"));
    assert!(
        messages.iter().any(|message| {
            message["title"] == "approved it" && message["author"]["name"] == "Ada Lovelace"
        }),
        "{messages:?}"
    );

    let next = visit.thread("Release 2.4")["actions"][0].clone();
    let address = next["target"]["urlTemplate"].as_str().unwrap();
    let unsigned = format!("curl -s -o /dev/null -w '%{{http_code}}' -d '{{}}' {address}");
    assert_eq!(output(&unsigned), "403", "the tool obeys the server only");
}

#[test]
fn people_of_the_demonstration_answer_in_the_thread() {
    let visit = Visit::begin();
    let mut hearing = visit.listen();
    let hedy = visit.id_of("Hedy");
    let question = [
        ("event", "message"),
        ("content", "@Hedy is there soup left?"),
    ];
    let asked = visit.post("/flows/demo/lobby/messages", &question);
    hearing.wait_for(|event| {
        event["event"] == "emoji-reaction"
            && event["content"]["message"] == asked["id"]
            && event["user"] == json!(hedy)
    });
    hearing.wait_for(|event| {
        event["event"] == "message"
            && event["thread_id"] == asked["thread_id"]
            && event["user"] == json!(hedy)
    });

    let ticket = visit.thread("Gateway drops packets above 80 % humidity");
    let ada = visit.id_of("Ada");
    let path = format!(
        "/flows/demo/main/threads/{}/messages",
        ticket["id"].as_str().unwrap()
    );
    let posted = visit.post(
        &path,
        &[("event", "message"), ("content", "I can drive there.")],
    );
    hearing.wait_for(|event| {
        event["event"] == "message"
            && event["thread_id"] == ticket["id"]
            && event["id"].as_i64() > posted["id"].as_i64()
            && event["user"] != json!(ada)
    });
}

#[test]
fn people_of_the_demonstration_answer_in_private() {
    let visit = Visit::begin();
    let mut hearing = visit.listen();
    let alan = visit.id_of("Alan");
    let path = format!("/private/{alan}/messages");
    visit.post(&path, &[("event", "message"), ("content", "Hello Alan")]);
    hearing.wait_for(|event| {
        event["event"] == "message" && event["user"] == json!(alan) && event["to"] != Value::Null
    });
}
