//! Where the tools of the demonstration hear of their buttons: a small HTTP server on loopback, and
//! an example of what an integration has to do with a request.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use eddyline_app::{App, ErrorKind};
use eddyline_auth::action::{self, Parties};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::activity;
use super::company::Company;
use super::tools::{Press, Remark, Tools};

/// The most bytes of a request's head, and of its body.
const MAX_BYTES: u64 = 64 * 1024;
/// How long a request may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address at which the tools are asked.
pub(super) struct Receiver {
    listener: TcpListener,
    pub(super) address: SocketAddr,
}

/// What a receiver shares with its connections.
#[derive(Clone)]
pub(super) struct Behind {
    pub(super) company: Company,
    pub(super) tools: Arc<Mutex<Tools>>,
}

/// A request, as far as it matters.
struct ButtonRequest {
    path: String,
    token: String,
    body: Vec<u8>,
}

impl Receiver {
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Answers until it is dropped.
    pub(super) async fn serve(self, behind: Behind) {
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let behind = behind.clone();
                    connections.spawn(async move { behind.answer(stream).await });
                }
                Err(error) => {
                    tracing::debug!(%error, "the tools could not be asked");
                    activity::pause(Duration::from_secs(1)).await;
                }
            }
        }
    }
}

impl Behind {
    async fn answer(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let asked = tokio::time::timeout(PATIENCE, read(&mut stream)).await;
        let (status, remark) = match asked {
            Ok(Ok(asked)) => self.obey(&asked).await,
            _ => ("400 Bad Request", None),
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
        drop(stream);
        if let Some(remark) = remark {
            activity::pause(Duration::from_secs(4)).await;
            activity::make(&self.company, &remark).await;
        }
    }

    /// Does what is asked, if this server asks it.
    async fn obey(&self, asked: &ButtonRequest) -> (&'static str, Option<Remark>) {
        let Some((series, external_id, state)) = parse(&asked.path) else {
            return ("404 Not Found", None);
        };
        let mut tools = self.tools.lock().await;
        let Some(by) = signer(&self.company.app, &tools, series, asked) else {
            return ("403 Forbidden", None);
        };
        let press = Press {
            series,
            external_id,
            state,
            by: &by,
        };
        match tools.press(press).await {
            Ok(remark) => ("200 OK", remark),
            Err(error) if error.kind() == ErrorKind::Conflict => ("409 Conflict", None),
            Err(_) => ("500 Internal Server Error", None),
        }
    }
}

/// The series, the item and the state that a button leads to.
fn parse(path: &str) -> Option<(usize, &str, usize)> {
    let mut parts = path.strip_prefix('/')?.splitn(3, '/');
    let (series, item, state) = (parts.next()?, parts.next()?, parts.next()?);
    Some((series.parse().ok()?, item, state.parse().ok()?))
}

/// The name of the user on whose behalf the server asks a tool; `None` when it is not the server.
fn signer(app: &App, tools: &Tools, series: usize, asked: &ButtonRequest) -> Option<String> {
    let access = tools.access(series)?;
    let parties = Parties {
        issuer: &app.config().addresses.base,
        audience: &access.client_id,
    };
    let (token, body) = (&asked.token, &asked.body);
    action::verify(token, &access.secret(), parties, body, app.now()).ok()?;
    let body: Value = serde_json::from_slice(body).ok()?;
    Some(body["agent"]["name"].as_str()?.to_owned())
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<ButtonRequest> {
    let mut head = stream.take(MAX_BYTES);
    let mut line = String::new();
    head.read_line(&mut line).await?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut token, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if head.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            // What it is called in the two profiles.
            "service-token" | "flowdock-token" => value.trim().clone_into(&mut token),
            "content-length" => length = value.trim().parse().unwrap_or_default(),
            _ => {}
        }
    }
    let mut body = Vec::new();
    stream
        .take(MAX_BYTES.min(length))
        .read_to_end(&mut body)
        .await?;
    Ok(ButtonRequest { path, token, body })
}
