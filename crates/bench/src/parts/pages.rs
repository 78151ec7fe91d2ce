//! The page of a flow, as a browser asks for it.

use std::path::Path;

use serde_json::{Value, json};

use super::connections;
use crate::Result;
use crate::fill::FLOW;
use crate::load::Load;
use crate::plan::LISTING;
use crate::report::{Key, Metric, Results};
use crate::requests::{JSON, Request};
use crate::server::Server;
use crate::session::Session;
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
    set_password(stage, &stage.homes.filled)?;
    let session = Session::sign_in(filled.api, READER, PASSWORD).await?;
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

fn page_request(session: &Session) -> Vec<u8> {
    let cookies = &session.cookies;
    format!(
        "GET /app/{FLOW} HTTP/1.1\r\nHost: bench\r\nAccept: text/html\r\nCookie: {cookies}\r\n\r\n"
    )
    .into_bytes()
}

/// Gives the reader a password.
pub(crate) fn set_password(stage: &Stage<'_>, data: &Path) -> Result<()> {
    let wanted = ["--email", READER, "--password", PASSWORD];
    let arguments = [&["user", "set-password"], &wanted[..]].concat();
    stage.binary.admin(data, &arguments).map(drop)
}

/// Marks all messages as read: the page opens at the newest ones then, which the lists have.
async fn mark_read(server: &Server, session: &Session) -> Result<()> {
    let path = format!("/app/-/api/flows/{FLOW}");
    let flow = session
        .send_json(server.api, &format!("GET {path}"), "")
        .await?;
    let (_, body) = flow.split_once("\r\n\r\n").unwrap_or_default();
    let flow: Value = serde_json::from_str(body)?;
    let marker = json!({"message": flow["last_message_id"]}).to_string();
    let answer = session
        .send_json(server.api, &format!("PUT {path}/read"), &marker)
        .await?;
    if !answer.starts_with("HTTP/1.1 200") {
        return Err(format!("the messages are not marked as read: {answer}").into());
    }
    Ok(())
}
