//! The page of a flow, as a browser asks for it.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::connections;
use crate::Result;
use crate::fill::FLOW;
use crate::load::Load;
use crate::plan::LISTING;
use crate::report::{Key, Metric, Results};
use crate::requests::{JSON, Request};
use crate::server::Server;
use crate::stage::Stage;

const PART: &str = "pages";
const LIST: &str = "list of 50";
const LIST_WITH_HTML: &str = "list of 50 with HTML";
const PAGE: &str = "page of 50";
/// The member who reads, as the data has it.
pub(crate) const READER: &str = "member0@bench.example";
pub(crate) const PASSWORD: &str = "pages are for those who sign in";

/// Measures the page of a flow with fifty messages beside the same list as JSON, without and with
/// the texts as HTML.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    filled: &Server,
    results: &mut Results,
) -> Result<()> {
    let session = sign_in(stage, filled, &stage.homes.filled).await?;
    mark_read(filled, &session).await?;
    let list = format!("/flows/{FLOW}/messages?limit=50&event=message,comment,status,file");
    let with_html = format!("{list}&html=1");
    let page = page_request(&session);
    for count in LISTING {
        let key = |subject| Key::new(PART, subject, connections(count));
        let load = |rate| Load {
            address: filled.api,
            server: &filled.family,
            connections: count,
            variants: 1,
            rate,
        };
        for (subject, path) in [(LIST, &list), (LIST_WITH_HTML, &with_html)] {
            let lists = load(Metric::Lists);
            let ours = lists.run(&stage.plan, |connection, _| {
                let request = Request {
                    method: "GET",
                    path,
                    token: Some(stage.homes.token(connection)),
                    accept: JSON,
                    body: None,
                };
                request.bytes()
            });
            results.add(key(subject), ours.await?);
        }
        let pages = load(Metric::Pages);
        let ours = pages.run(&stage.plan, |_, _| page.clone());
        results.add(key(PAGE), ours.await?);
        for against in [LIST, LIST_WITH_HTML] {
            results.compare(key(PAGE), Metric::ServerCpu, against);
        }
    }
    Ok(())
}

fn page_request(session: &str) -> Vec<u8> {
    format!(
        "GET /app/{FLOW} HTTP/1.1\r\nHost: bench\r\nAccept: text/html\r\nCookie: {session}\r\n\r\n"
    )
    .into_bytes()
}

/// Gives the reader a password.
pub(crate) fn set_password(stage: &Stage<'_>, data: &Path) -> Result<()> {
    let wanted = ["--email", READER, "--password", PASSWORD];
    let arguments = [&["user", "set-password"], &wanted[..]].concat();
    stage.binary.admin(data, &arguments).map(drop)
}

/// Signs the reader in as a browser does, and gives the cookies.
async fn sign_in(stage: &Stage<'_>, server: &Server, data: &Path) -> Result<String> {
    set_password(stage, data)?;
    let form = ask(server, "GET /sign-in", "", "").await?;
    let token = cookie(&form, "eddyline-csrf")?;
    let csrf = token.split('=').nth(1).unwrap_or_default();
    let body = format!(
        "csrf={csrf}&next=%2Fapp&email={}&password={}",
        READER.replace('@', "%40"),
        PASSWORD.replace(' ', "+")
    );
    let lines = format!("Cookie: {token}\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    let answer = ask(server, "POST /sign-in", &lines, &body).await?;
    Ok(format!("{token}; {}", cookie(&answer, "eddyline-session")?))
}

/// Marks all messages as read: the page opens at the newest ones then, which the lists have.
async fn mark_read(server: &Server, session: &str) -> Result<()> {
    let csrf = session.split(['=', ';']).nth(1).unwrap_or_default();
    let lines = format!(
        "Cookie: {session}\r\nX-CSRF-Token: {csrf}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: {JSON}\r\n"
    );
    let path = format!("/app/-/api/flows/{FLOW}");
    let flow = ask(server, &format!("GET {path}"), &lines, "").await?;
    let (_, body) = flow.split_once("\r\n\r\n").unwrap_or_default();
    let flow: Value = serde_json::from_str(body)?;
    let marker = json!({"message": flow["last_message_id"]}).to_string();
    let answer = ask(server, &format!("PUT {path}/read"), &lines, &marker).await?;
    if !answer.starts_with("HTTP/1.1 200") {
        return Err(format!("the messages are not marked as read: {answer}").into());
    }
    Ok(())
}

/// Sends a request on a connection of its own.
async fn ask(server: &Server, target: &str, lines: &str, body: &str) -> Result<String> {
    let length = body.len();
    let request = format!(
        "{target} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n{lines}\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let mut socket = TcpStream::connect(server.api).await?;
    socket.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A cookie that an answer sets, with its name.
fn cookie(answer: &str, name: &str) -> Result<String> {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    head.lines()
        .filter_map(|line| line.split_once(": ").map(|(_, value)| value))
        .find(|value| value.starts_with(&format!("{name}=")))
        .and_then(|value| value.split(';').next())
        .map(str::to_owned)
        .ok_or_else(|| format!("no cookie {name} in the answer: {head}").into())
}
