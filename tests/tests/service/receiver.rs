//! An integration on this machine: it notes what it is asked, and answers as it is told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use eddyline_client::Json;
use eddyline_tests::note_secret;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What it does when it is asked.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Sends this, and nothing else.
    Text(String),
    /// Sends this file.
    File(Vec<u8>),
    /// Says nothing and keeps the connection, until it is let go ([`Receiver::let_go`]).
    Silence,
}

/// What it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    /// By their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The token.
    pub(crate) fn token(&self) -> &str {
        &self.headers["service-token"]
    }

    /// What the token says; whether it is signed is for others to find out.
    pub(crate) fn claims(&self) -> Json {
        let payload = self
            .token()
            .split('.')
            .nth(1)
            .expect("a token has three parts");
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
    }
}

/// The integration. It ends with this value.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    answer: Mutex<Answer>,
    requests: watch::Sender<Vec<Request>>,
    /// Whether those who were answered with silence are answered now.
    let_go: watch::Sender<bool>,
}

impl Receiver {
    /// One that agrees to everything.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Mutex::new(Answer::Text(status("200 OK")));
        let shared = Arc::new(Shared {
            answer,
            requests: watch::Sender::default(),
            let_go: watch::Sender::new(false),
        });
        let all = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let shared = Arc::clone(&all);
                tokio::spawn(async move { drop(shared.serve(socket).await) });
            }
        });
        Self {
            address,
            shared,
            task,
        }
    }

    /// What it answers from now on.
    pub(crate) fn answers(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }

    /// Agrees to everything that was answered with silence.
    pub(crate) fn let_go(&self) {
        self.shared.let_go.send_replace(true);
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything it was asked since this was called last.
    pub(crate) fn asked(&self) -> Vec<Request> {
        let mut taken = Vec::new();
        self.shared
            .requests
            .send_modify(|requests| taken = std::mem::take(requests));
        taken
    }

    /// The one thing it was asked since.
    pub(crate) fn asked_once(&self) -> Request {
        let mut asked = self.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked.pop().unwrap()
    }

    /// Waits until it was asked so many things.
    pub(crate) async fn is_asked(&self, times: usize) {
        let mut requests = self.shared.requests.subscribe();
        requests
            .wait_for(|requests| requests.len() >= times)
            .await
            .unwrap();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn serve(&self, mut socket: TcpStream) -> std::io::Result<()> {
        let request = read(&mut socket).await?;
        if let Some(token) = request
            .headers
            .get("service-token")
            .or(request.headers.get("flowdock-token"))
        {
            note_secret(token);
        }
        // Chosen before the test hears of the request: it may go on with another answer at once.
        let answer = self.answer.lock().unwrap().clone();
        self.requests.send_modify(|requests| requests.push(request));
        match answer {
            Answer::Text(text) => socket.write_all(text.as_bytes()).await,
            Answer::File(file) => {
                socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
                socket.write_all(&file).await
            }
            Answer::Silence => {
                let mut let_go = self.let_go.subscribe();
                let _ = let_go.wait_for(|gone| *gone).await;
                socket.write_all(status("200 OK").as_bytes()).await
            }
        }
    }
}

async fn read(socket: &mut TcpStream) -> std::io::Result<Request> {
    let mut lines = BufReader::new(socket);
    let mut first = String::new();
    lines.read_line(&mut first).await?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).await?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        let known = headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        assert_eq!(known, None, "{name} came twice");
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    lines.read_exact(&mut body).await?;
    Ok(Request {
        method,
        path,
        headers,
        body,
    })
}

/// An answer without anything in it.
pub(crate) fn status(status: &str) -> String {
    with_headers(status, "")
}

/// The same with these lines among its headers.
pub(crate) fn with_headers(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n{headers}\r\n{{}}")
}
