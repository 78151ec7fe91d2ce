//! From a post to the row on the screen of a browser, beside the stream's own latency.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use eddyline_testing::browser::Browser;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::time::{sleep, timeout};

use super::pages::{PASSWORD, READER, set_password};
use crate::Result;
use crate::connection::Connection;
use crate::fanout::open;
use crate::fill::FLOW;
use crate::histogram::Histogram;
use crate::report::{Key, Metric, Results, Sample};
use crate::requests::{EVENTS, JSON, Request, chat};
use crate::server::Server;
use crate::stage::Stage;

const PART: &str = "screen";
const STREAM: &str = "stream of events";
const ROW: &str = "row in a browser";
const POSTS: usize = 100;
/// Between two posts the browser comes to rest.
const PAUSE: Duration = Duration::from_millis(150);
const PATIENCE: Duration = Duration::from_secs(10);

/// Notes when the frame in which a row stands for the first time has been drawn.
const NOTE: &str = "globalThis.drawn = {};
    new MutationObserver((records) => {
        const rows = records.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.matches?.('article'));
        for (const row of rows) {
            const text = row.querySelector('.text').textContent;
            requestAnimationFrame(() => setTimeout(() => {
                globalThis.drawn[text] ??= performance.timeOrigin + performance.now();
            }));
        }
    }).observe(document.querySelector('#chat'), { childList: true });";

/// Measures both in the same run, for the same messages.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    (server, data): (&Server, &std::path::Path),
    results: &mut Results,
) -> Result<()> {
    set_password(stage, data)?;
    let Some(browser) = Browser::start() else {
        return Ok(());
    };
    show(&browser, server);
    let (posted, heard) = post(stage, server).await?;
    let drawn = browser.execute("return globalThis.drawn");
    let drawn = |text: &str| drawn.get(text).and_then(Value::as_f64);
    let key = |subject| Key::new(PART, subject, "one at a time");
    results.add(
        key(STREAM),
        latencies(&posted, |text| heard.get(text).copied()),
    );
    results.add(key(ROW), latencies(&posted, drawn));
    results.compare(key(ROW), Metric::P50, STREAM);
    Ok(())
}

/// Opens the page of the flow.
fn show(browser: &Browser, server: &Server) {
    let base = format!("http://{}", server.api);
    browser.open(&format!("{base}/sign-in"));
    browser.fill_label("E-mail address", READER);
    browser.fill_label("Password", PASSWORD);
    browser.press("Sign in");
    browser.open(&format!("{base}/app/{FLOW}"));
    browser.wait_for("document.documentElement.dataset.ready !== undefined");
    browser.add_script(NOTE);
}

/// Milliseconds since 1970, as the browser counts them.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64() * 1e3
}

/// Posts the messages one by one. Returns when each was posted, and when the stream delivered it.
async fn post(
    stage: &Stage<'_>,
    server: &Server,
) -> Result<(Vec<(String, f64)>, HashMap<String, f64>)> {
    let listening = Request {
        method: "GET",
        path: &format!("/flows/{FLOW}"),
        token: Some(stage.homes.token(1)),
        accept: EVENTS,
        body: None,
    };
    let mut stream = open(server.stream, None, listening.bytes()).await?;
    let mut connection = Connection::open(server.api).await?;
    let path = format!("/flows/{FLOW}/messages");
    let (mut posted, mut heard) = (Vec::new(), HashMap::new());
    for number in 0..POSTS {
        let text = format!("seen {number:03}.");
        let request = Request {
            method: "POST",
            path: &path,
            token: Some(stage.homes.token(2)),
            accept: JSON,
            body: Some((JSON, &chat(&text))),
        };
        let request = request.bytes();
        let at = now();
        let hears = timeout(PATIENCE, hear(&mut stream.socket, &text));
        let (answer, told) = tokio::join!(connection.exchange(&request), hears);
        answer?;
        heard.insert(text.clone(), told??);
        posted.push((text, at));
        sleep(PAUSE).await;
    }
    Ok((posted, heard))
}

/// Waits until a stream tells of a text, and says when that was.
async fn hear(socket: &mut tokio::net::TcpStream, text: &str) -> Result<f64> {
    let (mut told, mut space) = (Vec::new(), vec![0; 16 * 1024]);
    while memchr::memmem::find(&told, text.as_bytes()).is_none() {
        match socket.read(&mut space).await? {
            0 => return Err("the stream was closed".into()),
            count => told.extend_from_slice(&space[..count]),
        }
    }
    Ok(now())
}

/// How long after its post each text came. One that never came is a fault.
fn latencies(posted: &[(String, f64)], came: impl Fn(&str) -> Option<f64>) -> Sample {
    let (mut times, mut missed) = (Histogram::default(), 0);
    for (text, at) in posted {
        match came(text) {
            Some(then) => times.add(Duration::from_secs_f64(((then - at) / 1e3).max(0.0))),
            None => missed += 1,
        }
    }
    let mut sample = Sample::default();
    sample.add_times(&times);
    sample.faults.missed = missed;
    sample
}
