//! The requests of each document, as its reader sends them: `curl` and the other programs run
//! against a server, one page after the other. `command_line::demonstration` runs those of the README.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use eddyline_client::{Json, Method};
use eddyline_tests::{Acme, Backend, Caller, Listener, Server, note_secret, run};
use tempfile::TempDir;

use super::{Block, blocks_in, place};

const MAIN: &str = "acme/main";

/// What the variables of the documents stand for, with the flow token that a page may need.
fn variables(server: &Server, token: &str) -> Vec<(&'static str, String)> {
    let made = server.admin(&["flow", "token", "--flow", MAIN]);
    let flow_token = made["flow_token"].as_str().unwrap().to_owned();
    note_secret(&flow_token);
    vec![
        ("BASE", server.base_url().to_owned()),
        ("STREAM", server.stream_url().to_owned()),
        ("FLOW", MAIN.to_owned()),
        ("TOKEN", token.to_owned()),
        ("FLOW_TOKEN", flow_token),
    ]
}

/// A shell that stops at the first request that is refused.
fn shell(script: &str, variables: &[(&'static str, String)]) -> Command {
    let curl = "curl() { command curl --silent --show-error --fail-with-body \"$@\"; }";
    let mut shell = Command::new("sh");
    shell
        .args(["-e", "-c", &format!("{curl}\n{script}")])
        .envs(variables.iter().map(|(name, value)| (name, value)));
    shell
}

/// A program that runs until the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens the stream that a block asks for, and waits until it is open.
fn listen(block: &Block, variables: &[(&'static str, String)]) -> (Running, impl BufRead + use<>) {
    let mut command = shell(&format!("exec {}", block.text), variables);
    let mut running = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut heard = BufReader::new(running.0.stdout.take().unwrap());
    // The first byte says that the stream is open.
    heard.read_exact(&mut [0]).unwrap();
    (running, heard)
}

#[test]
fn requests_of_the_documents_are_granted() {
    run(Backend::Sqlite, &[], async |server| {
        let Acme { ada, .. } = server.acme();
        let variables = variables(&server, &ada.token);
        let mut blocks = blocks_in(&["sh"]);
        blocks.retain(|block| {
            block.document != "README.md"
                && block.text.lines().any(|line| line.starts_with("curl "))
        });
        let (streams, others): (Vec<_>, Vec<_>) = blocks
            .iter()
            .partition(|block| block.text.contains("curl -N "));
        let mut listeners: Vec<_> = streams
            .iter()
            .map(|block| listen(block, &variables))
            .collect();
        for block in &others {
            let output = shell(&block.text, &variables).output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (answer, complaint) = (text(&output.stdout), text(&output.stderr));
            assert!(
                output.status.success(),
                "{}: {answer} {complaint}",
                place(block)
            );
        }
        ada.say(MAIN, "The last message").await;
        for ((_, heard), block) in listeners.iter_mut().zip(&streams) {
            let mut lines = heard.lines().map(Result::unwrap);
            assert!(
                lines.any(|line| line.contains("The last message")),
                "{}",
                place(block)
            );
        }
        let threads = ada
            .get(&format!("/flows/{MAIN}/threads?application=inbox"))
            .await;
        let titles: BTreeSet<_> = threads
            .as_array()
            .unwrap()
            .iter()
            .map(|thread| thread["title"].to_string())
            .collect();
        assert!(
            titles.contains("\"The export misses a column\""),
            "{titles:?}"
        );
        let pages: BTreeSet<_> = blocks.iter().map(|block| block.document.as_str()).collect();
        assert_eq!(
            pages,
            BTreeSet::from(["docs/bots.md", "docs/connecting.md", "docs/starting.md"])
        );
    });
}

/// The command of a step or a job that sends its request with `curl`.
fn script_of(block: &Block) -> String {
    let (_, rest) = block.text.split_once("curl ").unwrap();
    // What continues a line in YAML's folded text is a space there.
    let joined = rest.replace(" \\\n", " ").replace('\n', " ");
    format!("curl {joined}")
}

#[test]
fn steps_of_build_servers_report_to_the_inbox() {
    run(Backend::Sqlite, &[], async |server| {
        let Acme { ada, .. } = server.acme();
        let mut variables = variables(&server, &ada.token);
        let told = [
            ("NUMBER", "7"),
            ("TITLE", "Faster \"search\"; $(false)"),
            ("STATE", "opened"),
            ("LINK", "https://forge.example/pulls/7"),
            ("WHO", "grace"),
            ("CI_COMMIT_REF_SLUG", "main"),
            ("CI_COMMIT_REF_NAME", "main"),
            ("CI_PIPELINE_URL", "https://forge.example/pipelines/1"),
        ];
        variables.extend(told.map(|(name, value)| (name, value.to_owned())));
        for block in blocks_in(&["yaml"]).iter().filter(|block| is_a_step(block)) {
            let output = shell(&script_of(block), &variables).output().unwrap();
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: {complaint}", place(block));
        }
        let threads = ada
            .get(&format!("/flows/{MAIN}/threads?application=inbox"))
            .await;
        let titles: Vec<&str> = threads
            .as_array()
            .unwrap()
            .iter()
            .map(|thread| thread["title"].as_str().unwrap())
            .collect();
        assert_eq!(titles, ["Pipeline of main", "Faster \"search\"; $(false)"]);
    });
}

/// Whether a block of YAML is a step of a build server.
pub(crate) fn is_a_step(block: &Block) -> bool {
    block.text.contains("curl ")
}

#[test]
fn bodies_for_other_trackers_are_taken() {
    run(Backend::Sqlite, &[], async |server| {
        let Acme { ada, .. } = server.acme();
        let token = variables(&server, &ada.token).pop().unwrap().1;
        let mut blocks = blocks_in(&["json"]);
        blocks.retain(|block| block.document == "docs/connecting.md");
        for block in &blocks {
            let mut body: Json = serde_json::from_str(&block.text).unwrap();
            // A tracker puts an address in the place of this name.
            body["thread"]["external_url"] = "https://tracker.example/7".into();
            body["flow_token"] = token.as_str().into();
            let client = server.client().build().unwrap();
            let request = client.request(Method::POST, "/messages");
            let answer = request.json(&body).send().await.unwrap();
            assert_eq!(answer.status, 202, "{}: {}", place(block), answer.text());
        }
        assert_eq!(blocks.len(), 1);
    });
}

#[test]
fn the_bot_of_the_documents_answers_once_also_what_was_said_while_it_was_away() {
    run(Backend::Sqlite, &[], async |mut server| {
        let Acme { ada, ben } = server.acme();
        let blocks = blocks_in(&["python"]);
        let [bot] = &blocks[..] else {
            panic!("which of them is the bot?")
        };
        let directory = TempDir::new().unwrap();
        let script = directory.path().join("bot.py");
        std::fs::write(&script, &bot.text).unwrap();
        let mut command = Command::new("python3");
        command.arg(&script).stdout(Stdio::piped());
        command.envs(variables(&server, &ben.token));
        let mut running = Running(command.spawn().unwrap());
        let mut said = BufReader::new(running.0.stdout.take().unwrap()).lines();

        assert_eq!(said.next().unwrap().unwrap(), "listening");
        let before = ada.say(MAIN, "!echo are you there?").await;
        let answers = answers_to(&ada, &before).await;
        assert_eq!(answers, ["are you there?"]);

        server.kill9();
        let line = said.next().unwrap().unwrap();
        assert!(line.ends_with("connecting again in 3 seconds"), "{line}");
        server.restart();
        let meanwhile = ada.say(MAIN, "!echo tea?").await;
        assert_eq!(answers_to(&ada, &meanwhile).await, ["tea?"]);
        assert_eq!(answers_to(&ada, &before).await, ["are you there?"]);
    });
}

/// The texts of the comments on a message, once there are any.
async fn answers_to(caller: &Caller, message: &Json) -> Vec<String> {
    let mut stream = Listener::to(&caller.client, &[MAIN]).await;
    let path = format!("/flows/{MAIN}/messages/{}/comments", message["id"]);
    loop {
        let comments = caller.get(&path).await;
        let comments = comments.as_array().unwrap();
        if !comments.is_empty() {
            let texts = comments
                .iter()
                .map(|comment| comment["content"]["text"].as_str());
            return texts.map(|text| text.unwrap().to_owned()).collect();
        }
        stream.event("comment").await;
    }
}
