//! Starts the example as a person would, and uses its chat.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::{Client, MessageQuery, NewMessage, StreamRequest};
use rustix::process::{Pid, Signal, kill_process};

struct Host {
    process: Child,
    origin: String,
    token: String,
}

impl Host {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_eddyline-example-host"))
            .env("PORT", "0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output is piped");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("it says where it listens");
        let words: Vec<&str> = line
            .split_whitespace()
            .map(|word| word.trim_end_matches(','))
            .collect();
        let (origin, token) = (words[2].to_owned(), words[words.len() - 1].to_owned());
        Self {
            process,
            origin,
            token,
        }
    }

    /// What a request to a route of the service itself is answered.
    fn ask(&self, request: &str) -> String {
        let mut socket =
            TcpStream::connect(self.origin.trim_start_matches("http://")).expect("it listens");
        socket
            .write_all(request.as_bytes())
            .expect("the request is sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn stop(&mut self) -> bool {
        let id = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw)
            .expect("it has an id");
        kill_process(id, Signal::TERM).expect("it gets the signal");
        self.process.wait().expect("it ends").success()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chat_and_the_service_share_one_port_and_end_together() {
    let mut host = Host::start();
    let home = host.ask("GET / HTTP/1.1\r\nhost: example\r\nconnection: close\r\n\r\n");
    assert!(
        home.starts_with("HTTP/1.1 200") && home.ends_with("under /chat.\n"),
        "{home}"
    );

    let client = Client::builder(format!("{}/chat", host.origin))
        .stream_url(format!("{}/chat/stream", host.origin))
        .api_token(&host.token)
        .build()
        .expect("the client is built");
    let mut stream = client
        .stream(&StreamRequest::new().flow("acme/releases"))
        .await
        .expect("it opens");
    let releases = client.flow("acme", "releases");
    releases
        .post(&NewMessage::chat("Anything new?"))
        .await
        .expect("it is posted");

    let body = "api 2.4.0";
    let length = body.len();
    let deploy = |credentials: &str| {
        host.ask(&format!(
            "POST /deployments HTTP/1.1\r\nhost: example\r\nconnection: close\r\n{credentials}\
             content-length: {length}\r\n\r\n{body}",
        ))
    };
    let refused = deploy("");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let token = STANDARD.encode(format!("{}:", host.token));
    let deployed = deploy(&format!("authorization: Basic {token}\r\n"));
    assert!(deployed.starts_with("HTTP/1.1 201"), "{deployed}");

    let mut heard = Vec::new();
    while heard.len() < 2 {
        let event = stream
            .next()
            .await
            .expect("the stream goes on")
            .expect("it can be read");
        heard.extend(event.message().map(|message| message.content.to_string()));
    }
    assert_eq!(heard, ["\"Anything new?\"", "\"Deployed api 2.4.0\""]);
    let found = releases
        .messages(&MessageQuery::new().limit(10))
        .await
        .expect("messages are listed");
    assert!(
        found
            .iter()
            .any(|message| message.content == "Anything new?")
    );
    assert!(host.stop(), "it ends in order, although a stream is open");
}
