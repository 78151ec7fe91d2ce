//! The ways of attacking. Each runs until it is stopped, in a thread of its own and from its own
//! address. The thread has the lowest priority: attackers have machines of their own, so here they
//! only take the processor time that the server and the measured work leave.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{interval, sleep, timeout};

use super::picture::png;
use super::preparation::{GROUP, Target, long_text};
use super::priority;
use super::push_service::{Answers, PushService};
use super::tenants::{ATTACKERS_FLOW, CROWD, LISTENER};
use crate::Result;
use crate::connection::Connection;
use crate::requests::{Credential, JSON, Request, chat};

/// Where the attacks come from.
const SOURCE: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);
/// Less than systems let one process open.
const IDLE_CONNECTIONS: usize = 15_000;
/// So many characters are the most words that a search may have: each two of them are one.
const SEARCHED_CHARACTERS: usize = 21;
/// How long a connection may take that the server does not accept.
const CONNECT_TIME: Duration = Duration::from_millis(500);
/// Connections that were closed are opened again so often.
const REOPEN_INTERVAL: Duration = Duration::from_millis(500);

/// A way of attacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    /// Keep-alive connections without credentials, many times the share of one network.
    IdleConnections,
    /// Bodies without credentials that never end.
    UnfinishedBodies,
    /// Expensive searches whose client hangs up at once.
    Searches,
    /// Invitations to one stranger.
    Invitations,
    /// Imports of ten thousand strangers.
    Imports,
    /// Long lists that are not read.
    UnreadLists,
    /// Streams of the whole log that are not read.
    UnreadReplays,
    /// Pictures that are large to unpack, and hung up on.
    Pictures,
    /// Forms with files that never end.
    SlowForms,
    /// One name after the other for the same user.
    Renames,
    /// Flows of the same name.
    FlowsOfOneName,
    /// One's picture in every size.
    PictureSizes,
    /// Streams whose client sends without end.
    TalkingListeners,
    /// Names of parameters without credentials, which take much memory for their length.
    NestedNames,
    /// Bodies of many values, whose answers are not read.
    ManyValues,
    /// A user's picture, asked for without credentials and not read.
    UnreadPictures,
    /// Messages that address a flow of a thousand people.
    MentionsOfEverybody,
    /// Messages that address a group of a thousand people.
    MentionsOfAGroup,
    /// Messages for browsers whose push service answers late.
    SlowPushService,
    /// Downloads of a long audit log, hung up on.
    AuditDownloads,
    /// Wrong passwords for one account after the other.
    WrongPasswords,
}

impl Attack {
    pub(crate) const ALL: [Self; 21] = [
        Self::IdleConnections,
        Self::UnfinishedBodies,
        Self::Searches,
        Self::Invitations,
        Self::Imports,
        Self::UnreadLists,
        Self::UnreadReplays,
        Self::Pictures,
        Self::SlowForms,
        Self::Renames,
        Self::FlowsOfOneName,
        Self::PictureSizes,
        Self::TalkingListeners,
        Self::NestedNames,
        Self::ManyValues,
        Self::UnreadPictures,
        Self::MentionsOfEverybody,
        Self::MentionsOfAGroup,
        Self::SlowPushService,
        Self::AuditDownloads,
        Self::WrongPasswords,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::IdleConnections => "idle connections",
            Self::UnfinishedBodies => "unfinished bodies",
            Self::Searches => "searches",
            Self::Invitations => "invitations",
            Self::Imports => "imports",
            Self::UnreadLists => "unread lists",
            Self::UnreadReplays => "unread replays",
            Self::Pictures => "pictures",
            Self::SlowForms => "slow forms",
            Self::Renames => "renames",
            Self::FlowsOfOneName => "flows of one name",
            Self::PictureSizes => "picture sizes",
            Self::TalkingListeners => "talking listeners",
            Self::NestedNames => "nested names",
            Self::ManyValues => "many values",
            Self::UnreadPictures => "unread pictures",
            Self::MentionsOfEverybody => "mentions of everybody",
            Self::MentionsOfAGroup => "mentions of a group",
            Self::SlowPushService => "slow push service",
            Self::AuditDownloads => "audit downloads",
            Self::WrongPasswords => "wrong passwords",
        }
    }

    async fn run(self, target: &Target) -> Result<()> {
        match self {
            Self::IdleConnections => {
                let request = b"GET /readyz HTTP/1.1\r\nHost: bench\r\n\r\n".to_vec();
                hold(target.api, &vec![request; IDLE_CONNECTIONS]).await
            }
            Self::UnfinishedBodies => {
                let head = "POST /messages HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n\
                            Content-Length: 131072\r\n\r\n{\"a\":\"";
                let request = format!("{head}{}", "x".repeat(130_048)).into_bytes();
                hold(target.api, &vec![request; 3000]).await
            }
            Self::Searches => searches(target).await,
            Self::Invitations => {
                let body = json!({"email": "stranger@elsewhere.example"}).to_string();
                let path = format!("/flows/{ATTACKERS_FLOW}/invitations");
                ask_on(target, 8, |_| target.request("POST", &path, Some(&body))).await
            }
            Self::Imports => imports(target).await,
            Self::UnreadLists => {
                let path = format!("/flows/{ATTACKERS_FLOW}/messages?limit=100");
                hold(target.api, &vec![target.request("GET", &path, None); 100]).await
            }
            Self::UnreadReplays => {
                let path = format!("/flows?filter={ATTACKERS_FLOW}&last_event_id=0-00000000");
                hold(target.stream, &vec![target.request("GET", &path, None); 60]).await
            }
            Self::Pictures => pictures(target).await,
            Self::SlowForms => hold(target.api, &slow_forms(target)).await,
            Self::Renames => renames(target).await,
            Self::FlowsOfOneName => {
                let body = json!({"name": "a"}).to_string();
                ask_on(target, 4, |_| {
                    target.request("POST", "/flows/acme", Some(&body))
                })
                .await
            }
            Self::PictureSizes => {
                let path = |number: usize| format!("{}{}", target.avatar, 16 + number % 497);
                ask_on(target, 4, |number| {
                    target.request("GET", &path(number), None)
                })
                .await
            }
            Self::TalkingListeners => talk(target).await,
            Self::NestedNames => {
                let name = format!("0{}=&", "[a]".repeat(31));
                let query = name.repeat(15_000 / name.len());
                let head = format!(
                    "POST /messages?{query} HTTP/1.1\r\nHost: bench\r\nContent-Length: 4000\r\n\r\n{{"
                );
                hold(target.api, &vec![head.into_bytes(); 300]).await
            }
            Self::ManyValues => {
                let path = format!("/flows/{ATTACKERS_FLOW}/messages?limit=100");
                let body = format!("{{\"x\":[{}0]}}", "{\"a\":0},".repeat(120_000));
                hold(
                    target.api,
                    &vec![target.request("GET", &path, Some(&body)); 30],
                )
                .await
            }
            Self::UnreadPictures => {
                let request = format!("GET {}512 HTTP/1.1\r\nHost: bench\r\n\r\n", target.avatar);
                hold(target.api, &vec![request.into_bytes(); 600]).await
            }
            Self::MentionsOfEverybody => mention("everyone", target).await,
            Self::MentionsOfAGroup => mention(GROUP, target).await,
            Self::SlowPushService => push_slowly(target).await,
            Self::AuditDownloads => {
                let form =
                    target.sessions[0].form("/app/acme/settings/audit/download", "format=csv");
                hang_up(target.api, &form, 150).await
            }
            Self::WrongPasswords => {
                ask_on(target, 16, |number| {
                    let email = match number % 4 {
                        0 => LISTENER.to_owned(),
                        _ => format!("member{}@acme.example", number % CROWD),
                    };
                    Request {
                        method: "GET",
                        path: "/user",
                        token: Some(Credential::Password(&email, "wrong")),
                        accept: JSON,
                        body: None,
                    }
                    .bytes()
                })
                .await
            }
        }
    }
}

impl Target {
    fn request(&self, method: &'static str, path: &str, body: Option<&str>) -> Vec<u8> {
        let token = Some(Credential::ApiToken(&self.token));
        Request {
            method,
            path,
            token,
            accept: JSON,
            body: body.map(|body| (JSON, body)),
        }
        .bytes()
    }
}

/// An attack under way.
pub(crate) struct Attacker {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Attacker {
    pub(crate) fn start(attack: Attack, target: Target) -> Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::Builder::new()
            .name("attacker".into())
            .spawn(move || {
                priority::set(priority::LOWEST);
                runtime.block_on(async {
                    tokio::select! {
                        ended = attack.run(&target) => if let Err(error) = ended {
                            crate::progress(&format!("the attack ended early: {error}"));
                        },
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(Self { stop, thread })
    }

    /// Ends the attack and closes its connections.
    pub(crate) fn stop(self) {
        // An attack that ended early does not listen any more.
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

async fn connect(address: SocketAddr) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    // What is not read fills the server's memory rather than the system's.
    socket.set_recv_buffer_size(4096)?;
    socket.bind((SOURCE, 0).into())?;
    Ok(timeout(CONNECT_TIME, socket.connect(address)).await??)
}

/// Opens a connection for each request, sends it and reads nothing; opens those again that were
/// closed.
async fn hold(address: SocketAddr, requests: &[Vec<u8>]) -> Result<()> {
    let mut held: Vec<Option<TcpStream>> = requests.iter().map(|_| None).collect();
    loop {
        for (place, request) in held.iter_mut().zip(requests) {
            if place.as_ref().is_some_and(|socket| !is_closed(socket)) {
                continue;
            }
            *place = match connect(address).await {
                Ok(mut socket) => {
                    // A server that takes no more of it holds no more of it.
                    let sent = timeout(CONNECT_TIME, socket.write_all(request)).await;
                    sent.is_ok_and(|sent| sent.is_ok()).then_some(socket)
                }
                Err(_) => None,
            };
        }
        sleep(REOPEN_INTERVAL).await;
    }
}

/// Whether the server has closed a connection of which nothing is read.
fn is_closed(socket: &TcpStream) -> bool {
    let mut byte = [0];
    // Reading one byte now and then leaves the rest unread.
    matches!(socket.try_read(&mut byte), Ok(0))
        || matches!(socket.try_read(&mut byte), Err(error) if error.kind() != std::io::ErrorKind::WouldBlock)
}

/// Asks without pause on a number of connections, whatever the answers are.
async fn ask_on(
    target: &Target,
    connections: usize,
    request: impl Fn(usize) -> Vec<u8>,
) -> Result<()> {
    let asking = (0..connections).map(async |first| {
        let mut number = first;
        loop {
            let Ok(mut connection) = Connection::open(target.api).await else {
                sleep(REOPEN_INTERVAL).await;
                continue;
            };
            while connection.exchange(&request(number)).await.is_ok() {
                number += connections;
            }
        }
    });
    join_all(asking).await;
    Ok(())
}

async fn searches(target: &Target) -> Result<()> {
    let text: String = long_text().chars().take(SEARCHED_CHARACTERS).collect();
    let words: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let path = format!("/flows/{ATTACKERS_FLOW}/messages?limit=1&skip=3999&search={words}");
    hang_up(target.api, &target.request("GET", &path, None), 40).await
}

/// Sends a request again and again, `times` at once, and hangs up.
async fn hang_up(api: SocketAddr, request: &[u8], times: usize) -> Result<()> {
    loop {
        for _ in 0..times {
            if let Ok(mut socket) = connect(api).await {
                // A server that takes no more of it holds no more of it.
                let _ = timeout(CONNECT_TIME, socket.write_all(request)).await;
            }
        }
        sleep(REOPEN_INTERVAL).await;
    }
}

/// Posts messages that mention a name, from as many connections as a server commonly takes of one
/// user.
async fn mention(name: &str, target: &Target) -> Result<()> {
    let path = format!("/flows/{ATTACKERS_FLOW}/messages");
    let request = target.request("POST", &path, Some(&chat(&format!("@{name}"))));
    ask_on(target, 250, |_| request.clone()).await
}

/// Subscribes browsers whose push service answers late, and has messages pushed to each of them
/// from many flows.
async fn push_slowly(target: &Target) -> Result<()> {
    let service = PushService::start(Answers::Late).await?;
    for session in &target.sessions {
        service.subscribe(target.api, session).await?;
    }
    let level = json!({"level": "all"}).to_string();
    let mut connection = Connection::open(target.api).await?;
    connection
        .exchange(&target.request("PUT", "/user/notifications", Some(&level)))
        .await?;
    let message = chat("x");
    ask_on(target, 4, |number| {
        let token = &target.flow_tokens[number % target.flow_tokens.len()];
        Request {
            method: "POST",
            path: &format!("/messages?flow_token={token}"),
            token: None,
            accept: JSON,
            body: Some((JSON, &message)),
        }
        .bytes()
    })
    .await
}

async fn imports(target: &Target) -> Result<()> {
    let list = |import: usize| {
        let addresses =
            (0..10_000).map(|number| format!("a{import}-{number}@spam{}.example", number % 97));
        addresses.collect::<Vec<_>>().join(",")
    };
    let path = format!("/flows/{ATTACKERS_FLOW}/invitations/import");
    ask_on(target, 1, |import| {
        target.request(
            "POST",
            &path,
            Some(&json!({"list": list(import)}).to_string()),
        )
    })
    .await
}

async fn pictures(target: &Target) -> Result<()> {
    let picture = png(8192)?;
    let token = Some(Credential::ApiToken(&target.token));
    let path = format!("/users/{}/avatar", target.user);
    let head = Request {
        method: "PUT",
        path: &path,
        token,
        accept: JSON,
        body: Some(("image/png", "")),
    };
    let head = String::from_utf8(head.bytes())?;
    let length = format!("Content-Length: {}\r\n", picture.len());
    let request = [
        head.replace("Content-Length: 0\r\n", &length).as_bytes(),
        &picture,
    ]
    .concat();
    hang_up(target.api, &request, 150).await
}

fn slow_forms(target: &Target) -> Vec<Vec<u8>> {
    let begun = "--B\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\nfile\r\n--B\r\n\
                 Content-Disposition: form-data; name=\"content\"; filename=\"a\"\r\n\r\nx";
    let form = |token: &String| {
        format!(
            "POST /messages?flow_token={token} HTTP/1.1\r\nHost: bench\r\n\
             Content-Type: multipart/form-data; boundary=B\r\nContent-Length: 50000000\r\n\r\n{begun}"
        )
    };
    target
        .flow_tokens
        .iter()
        .flat_map(|token| vec![form(token).into_bytes(); 16])
        .collect()
}

async fn renames(target: &Target) -> Result<()> {
    let mut connection = Connection::open(target.api).await?;
    let mut interval = interval(Duration::from_millis(30));
    for number in 0.. {
        interval.tick().await;
        let body = json!({"name": format!("Name {number}")}).to_string();
        if connection
            .exchange(&target.request("PUT", "/user", Some(&body)))
            .await
            .is_err()
        {
            connection = Connection::open(target.api).await?;
        }
    }
    Ok(())
}

async fn talk(target: &Target) -> Result<()> {
    let path = format!("/flows?filter={ATTACKERS_FLOW}");
    let request = target.request("GET", &path, None);
    let talking = (0..4).map(async |_| {
        loop {
            let Ok(mut socket) = connect(target.stream).await else {
                sleep(REOPEN_INTERVAL).await;
                continue;
            };
            let mut sent = socket.write_all(&request).await;
            while sent.is_ok() {
                sent = socket.write_all(&[b'\n'; 16 * 1024]).await;
                tokio::task::yield_now().await;
            }
        }
    });
    join_all(talking).await;
    Ok(())
}
