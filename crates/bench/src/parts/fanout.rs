//! Deliveries of one flow's messages to many listeners.

use super::EMPTY;
use crate::Result;
use crate::connection::{Connection, read};
use crate::fanout::{Fanout, Mark, open};
use crate::fill::FLOW;
use crate::nchan::{LISTEN, Nchan, PUBLISH, READY};
use crate::plan::STEADY_DELIVERIES;
use crate::report::{Key, Metric, Results};
use crate::requests::{Credential, EVENTS, JSON, Request, chat};
use crate::server::Server;
use crate::stage::Stage;

const PART: &str = "fan-out";
const NCHAN: &str = "nchan";
const TEXT: &str = "low water at the bridge, so take the upper road";

/// Measures as many listeners as planned, ours and then nchan's.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    server: &Server,
    results: &mut Results,
) -> Result<()> {
    let path = format!("/flows/{FLOW}/messages");
    let streams = format!("/flows?filter={FLOW}");
    let message = |publisher| post(&path, Some(stage.homes.token(publisher)), &ours());
    let stream = |listener| listen(&streams, Some(stage.homes.token(listener)));
    for &listeners in &stage.plan.listeners {
        // Measured each time, since numbers in it grow with the room.
        let frame = frame_length(server, &message(0), stream(0)).await?;
        let fanout = Fanout {
            publish: server.api,
            listen: server.stream,
            server: &server.family,
            message: &message,
            opening: None,
            stream: &stream,
        };
        let outcome = fanout.run(&stage.plan, listeners).await?;
        add(EMPTY, listeners, outcome, results);
        if stage.nchan.is_some() {
            nchan(stage, listeners, frame, results).await?;
        }
    }
    Ok(())
}

async fn nchan(
    stage: &Stage<'_>,
    listeners: usize,
    frame: usize,
    results: &mut Results,
) -> Result<()> {
    let Some(module) = &stage.nchan else {
        return Ok(());
    };
    let directory = tempfile::Builder::new()
        .prefix("nchan-")
        .tempdir_in(stage.scratch)?;
    let nchan = Nchan::start(module, directory.path()).await?;
    let body = of_length(frame)?;
    let opening = Request {
        method: "GET",
        path: READY,
        token: None,
        accept: JSON,
        body: None,
    }
    .bytes();
    let fanout = Fanout {
        publish: nchan.address,
        listen: nchan.address,
        server: &nchan.family,
        message: &|_| post(PUBLISH, None, &body),
        // nginx holds small packets back until others are acknowledged, save on a connection that
        // it has kept alive. With messages of some lengths that costs 40 ms each.
        opening: Some(&opening),
        stream: &|_| listen(LISTEN, None),
    };
    let outcome = fanout.run(&stage.plan, listeners).await?;
    add(NCHAN, listeners, outcome, results);
    nchan.stop().await
}

fn add(
    subject: &'static str,
    listeners: usize,
    outcome: crate::fanout::Outcome,
    results: &mut Results,
) {
    let fastest = format!("{listeners} listeners");
    let steady = format!("{listeners} listeners, {STEADY_DELIVERIES}/s");
    results.add(Key::new(PART, subject, &*fastest), outcome.fastest);
    results.add(Key::new(PART, subject, &*steady), outcome.steady);
    for metric in [Metric::Deliveries, Metric::ServerCpu] {
        results.compare(Key::new(PART, EMPTY, &*fastest), metric, NCHAN);
    }
    results.compare(Key::new(PART, EMPTY, steady), Metric::P99, NCHAN);
}

fn ours() -> String {
    chat(&format!("{} {TEXT}", Mark::PLACE))
}

/// A message whose body has exactly this length.
fn of_length(length: usize) -> Result<String> {
    let bare = ours().len();
    let missing = length
        .checked_sub(bare)
        .ok_or("a frame is shorter than its message")?;
    Ok(chat(&format!(
        "{} {TEXT}{}",
        Mark::PLACE,
        ".".repeat(missing)
    )))
}

fn post(path: &str, token: Option<Credential<'_>>, body: &str) -> Vec<u8> {
    Request {
        method: "POST",
        path,
        token,
        accept: JSON,
        body: Some((JSON, body)),
    }
    .bytes()
}

fn listen(path: &str, token: Option<Credential<'_>>) -> Vec<u8> {
    Request {
        method: "GET",
        path,
        token,
        accept: EVENTS,
        body: None,
    }
    .bytes()
}

/// How long the frame of a message is on our stream, found by posting one.
async fn frame_length(server: &Server, message: &[u8], stream: Vec<u8>) -> Result<usize> {
    let mut stream = open(server.stream, None, stream).await?;
    let answer = Connection::open(server.api)
        .await?
        .exchange(message)
        .await?;
    if answer.status / 100 != 2 {
        return Err(format!("a post was answered {}", answer.status).into());
    }
    loop {
        if let Some(length) = marked_frame(&stream.rest) {
            return Ok(length);
        }
        let rest = &mut stream.rest;
        let more = |bytes: &[u8]| {
            rest.extend_from_slice(bytes);
            bytes.len()
        };
        if read(&mut stream.socket, more).await? == 0 {
            return Err("a stream ended before its first message".into());
        }
    }
}

/// The length of the first frame with a mark, if it is whole.
fn marked_frame(text: &[u8]) -> Option<usize> {
    let mark = memchr::memmem::find(text, Mark::PLACE.as_bytes())?;
    let end = mark + memchr::memmem::find(&text[mark..], b"\n\n")? + 2;
    let begin = memchr::memmem::rfind(&text[..mark], b"\n\n").map_or(0, |at| at + 2);
    Some(end - begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_measured_from_blank_line_to_blank_line() {
        let text = format!(":\n\nid: 1\ndata: {}\n\ndata: 2\n\n", Mark::PLACE);
        let whole = format!("id: 1\ndata: {}\n\n", Mark::PLACE).len();
        assert_eq!(marked_frame(text.as_bytes()), Some(whole));
        assert_eq!(marked_frame(&text.as_bytes()[..whole]), None);
    }

    #[test]
    fn a_message_can_be_made_as_long_as_a_frame() {
        assert_eq!(of_length(700).unwrap().len(), 700);
        assert!(of_length(20).is_err());
    }
}
