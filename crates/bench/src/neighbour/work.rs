//! The steady work of one organization: it posts, lists on new connections, sends files, listens,
//! and is notified in a browser.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::push_service::{Answers, PushService};
use super::tenants::{LISTENER, PASSWORD, Tenants, WORKING_FLOW};
use crate::connection::{Connection, read};
use crate::fanout::open;
use crate::histogram::Histogram;
use crate::report::Faults;
use crate::requests::{Credential, JSON, Request, chat};
use crate::server::Server;
use crate::session::Session;
use crate::{BenchError, Result};

const POST_INTERVAL: Duration = Duration::from_millis(20);
const LIST_INTERVAL: Duration = Duration::from_millis(50);
const FILE_INTERVAL: Duration = Duration::from_millis(200);
const MENTION_INTERVAL: Duration = Duration::from_millis(250);
/// An operation that takes longer counts as an error, and as having taken so long.
const DEADLINE: Duration = Duration::from_secs(30);
/// Precedes the number of a message in its text.
const MARK: &str = "beat ";
const FORM: &str = "multipart/form-data; boundary=B";

/// What the work came to.
#[derive(Clone, Default)]
pub(crate) struct Worked {
    posts: (Histogram, Faults),
    lists: (Histogram, Faults),
    files: (Histogram, Faults),
    deliveries: (Histogram, Faults),
    notifications: (Histogram, Faults),
}

impl Worked {
    /// Each kind of operation with its name, its times and what went wrong.
    pub(crate) fn kinds(&self) -> [(&'static str, &Histogram, Faults); 5] {
        [
            ("posts", &self.posts.0, self.posts.1),
            (
                "lists, each on a new connection",
                &self.lists.0,
                self.lists.1,
            ),
            ("files", &self.files.0, self.files.1),
            (
                "from post to listener",
                &self.deliveries.0,
                self.deliveries.1,
            ),
            (
                "from mention to browser",
                &self.notifications.0,
                self.notifications.1,
            ),
        ]
    }
}

/// The work, until it is dropped.
pub(crate) struct Work {
    shared: Rc<Shared>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    recording: Cell<bool>,
    worked: RefCell<Worked>,
    /// When each message was sent that has not been heard yet.
    sent: RefCell<HashMap<u64, Instant>>,
}

impl Work {
    /// Begins to work. Nothing is recorded yet.
    pub(crate) async fn start(tenants: &Tenants, server: &Server) -> Result<Self> {
        let shared = Rc::new(Shared::default());
        let mut tasks = JoinSet::new();
        let path = format!("/flows/{WORKING_FLOW}/messages");
        let request = |method, path: &str, body| {
            let token = Some(Credential::ApiToken(&tenants.worker));
            Request {
                method,
                path,
                token,
                accept: JSON,
                body,
            }
            .bytes()
        };
        let stream_path = format!("/flows?filter={WORKING_FLOW}");
        let token = Some(Credential::ApiToken(&tenants.listener));
        let listen = Request {
            method: "GET",
            path: &stream_path,
            token,
            accept: JSON,
            body: None,
        };
        let stream = open(server.stream, None, listen.bytes()).await?;
        tasks.spawn_local(hear(stream, shared.clone()));
        let message = chat(&format!("{MARK}0000000000"));
        let post = request("POST", &path, Some((JSON, &message)));
        tasks.spawn_local(post_steadily(server.api, post, shared.clone()));
        let list = request("GET", &format!("{path}?limit=30"), None);
        tasks.spawn_local(list_steadily(server.api, list, shared.clone()));
        let file = request("POST", &path, Some((FORM, FILE)));
        tasks.spawn_local(send_files_steadily(server.api, file, shared.clone()));
        let service = PushService::start(Answers::AtOnce).await?;
        let browser = Session::sign_in(server.api, LISTENER, PASSWORD).await?;
        service.subscribe(server.api, &browser).await?;
        let mention = request("POST", &path, Some((JSON, &chat("@listener look"))));
        tasks.spawn_local(mention_steadily(
            server.api,
            mention,
            service,
            shared.clone(),
        ));
        Ok(Self {
            shared,
            _tasks: tasks,
        })
    }

    /// Records from now on.
    pub(crate) fn begin(&self) {
        *self.shared.worked.borrow_mut() = Worked::default();
        self.shared.sent.borrow_mut().clear();
        self.shared.recording.set(true);
    }

    /// Records no more, and gives what was recorded. Messages that were posted and not delivered
    /// within a deadline are counted as missed.
    pub(crate) fn end(&self) -> Worked {
        self.shared.recording.set(false);
        let overdue = self
            .shared
            .sent
            .borrow()
            .values()
            .filter(|at| at.elapsed() > DEADLINE)
            .count();
        let mut worked = self.shared.worked.borrow().clone();
        worked.deliveries.1.missed += overdue as u64;
        worked
    }

    /// Ends the work.
    pub(crate) fn stop(self) {}
}

const FILE: &str = "--B\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\nfile\r\n--B\r\n\
    Content-Disposition: form-data; name=\"content\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\
    hello\r\n--B--\r\n";

impl Shared {
    fn record(
        &self,
        kind: fn(&mut Worked) -> &mut (Histogram, Faults),
        began: Instant,
        status: &Result<u16>,
    ) {
        if !self.recording.get() {
            return;
        }
        let mut worked = self.worked.borrow_mut();
        let (times, faults) = kind(&mut worked);
        times.add(began.elapsed());
        match status {
            Ok(status) if status / 100 == 2 => {}
            Ok(_) => faults.refused += 1,
            Err(_) => faults.errors += 1,
        }
    }
}

/// A keep-alive connection that is opened anew when it broke.
struct Reopened {
    address: SocketAddr,
    connection: Option<Connection>,
}

impl Reopened {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            connection: None,
        }
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<u16> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address).await?,
        };
        let response = connection.exchange(request).await?;
        self.connection = Some(connection);
        Ok(response.status)
    }
}

async fn within_deadline(work: impl Future<Output = Result<u16>>) -> Result<u16> {
    timeout(DEADLINE, work)
        .await
        .unwrap_or_else(|_| Err("no answer".into()))
}

fn every(period: Duration) -> tokio::time::Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

async fn post_steadily(api: SocketAddr, mut request: Vec<u8>, shared: Rc<Shared>) {
    let (mut connection, mut interval) = (Reopened::new(api), every(POST_INTERVAL));
    let at = memchr::memmem::find(&request, MARK.as_bytes()).map_or(0, |at| at + MARK.len());
    for number in 0_u64.. {
        interval.tick().await;
        let digits = format!("{number:010}");
        request[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        let began = Instant::now();
        if shared.recording.get() {
            shared.sent.borrow_mut().insert(number, began);
        }
        let status = within_deadline(connection.exchange(&request)).await;
        if !matches!(status, Ok(202)) {
            shared.sent.borrow_mut().remove(&number);
        }
        shared.record(|worked| &mut worked.posts, began, &status);
    }
}

async fn list_steadily(api: SocketAddr, request: Vec<u8>, shared: Rc<Shared>) {
    let mut interval = every(LIST_INTERVAL);
    loop {
        interval.tick().await;
        let began = Instant::now();
        let status = within_deadline(async { Reopened::new(api).exchange(&request).await }).await;
        shared.record(|worked| &mut worked.lists, began, &status);
    }
}

async fn send_files_steadily(api: SocketAddr, request: Vec<u8>, shared: Rc<Shared>) {
    let (mut connection, mut interval) = (Reopened::new(api), every(FILE_INTERVAL));
    loop {
        interval.tick().await;
        let began = Instant::now();
        let status = within_deadline(connection.exchange(&request)).await;
        shared.record(|worked| &mut worked.files, began, &status);
    }
}

async fn mention_steadily(
    api: SocketAddr,
    request: Vec<u8>,
    mut service: PushService,
    shared: Rc<Shared>,
) {
    let (mut connection, mut interval) = (Reopened::new(api), every(MENTION_INTERVAL));
    loop {
        interval.tick().await;
        // Those that came after the deadline.
        while service.messages.try_recv().is_ok() {}
        let began = Instant::now();
        let notified = async {
            let status = connection.exchange(&request).await?;
            service.messages.recv().await;
            Ok(status)
        };
        let status = within_deadline(notified).await;
        shared.record(|worked| &mut worked.notifications, began, &status);
    }
}

async fn hear(mut stream: crate::fanout::Stream, shared: Rc<Shared>) {
    let mut text = std::mem::take(&mut stream.rest);
    loop {
        let length = text.len();
        let more = read(&mut stream.socket, |bytes| text.extend_from_slice(bytes)).await;
        if more.is_err() || text.len() == length {
            let ended: Result<u16> = Err(BenchError::from("the stream ended"));
            return shared.record(|worked| &mut worked.deliveries, Instant::now(), &ended);
        }
        let end = memchr::memrchr(b'\r', &text).map_or(0, |at| at + 1);
        for at in memchr::memmem::find_iter(&text[..end], MARK.as_bytes()) {
            let digits = text
                .get(at + MARK.len()..at + MARK.len() + 10)
                .unwrap_or_default();
            let number = std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| digits.parse().ok());
            // A thread's title repeats the text of its first message.
            let sent = number.and_then(|number: u64| shared.sent.borrow_mut().remove(&number));
            if let Some(sent) = sent {
                shared.record(|worked| &mut worked.deliveries, sent, &Ok(200));
            }
        }
        text.drain(..end);
    }
}
