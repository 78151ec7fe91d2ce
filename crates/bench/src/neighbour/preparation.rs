//! Data that the attacks need: long searchable messages, a thread with a large state, large log
//! entries, a group of a thousand people, a long audit log, sessions of browsers.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::tenants::{ATTACKER, ATTACKERS_FLOW, PASSWORD, Tenants};
use crate::connection::Connection;
use crate::requests::{Credential, JSON, Request};
use crate::server::Server;
use crate::session::Session;
use crate::{BenchError, Result};

/// Messages of the attacker that consist of every searched character.
const LONG_MESSAGES: usize = 4000;
/// Discussions with a long body.
const DISCUSSIONS: usize = 600;
/// Messages in the thread with the large state.
const REPLIES: usize = 110;

/// What the attacker knows.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) api: SocketAddr,
    pub(crate) stream: SocketAddr,
    /// The attacker's API token.
    pub(crate) token: String,
    /// Flow tokens of the attacker's organization.
    pub(crate) flow_tokens: Vec<String>,
    /// The attacker's number.
    pub(crate) user: i64,
    /// Path of the attacker's picture.
    pub(crate) avatar: String,
    /// Browsers in which the attacker is signed in.
    pub(crate) sessions: Vec<Session>,
}

/// The group with all members of the attacker's organization that a group may have.
pub(crate) const GROUP: &str = "crew";
/// Members of [`GROUP`].
const GROUP_SIZE: usize = 1000;
/// Records in the audit log of the attacker's organization: more than one file takes.
const AUDIT_RECORDS: usize = 10_500;
/// Browsers of the attacker.
const SESSIONS: usize = 20;

/// The text of [`LONG_MESSAGES`], and what is searched for: each of its characters is a word of its
/// own.
pub(crate) fn long_text() -> String {
    (0..500)
        .filter_map(|number| char::from_u32(0x4e00 + number))
        .collect()
}

/// Posts what the attacks look for.
pub(crate) async fn prepare(tenants: &Tenants, server: &Server) -> Result<Target> {
    let path = format!("/flows/{ATTACKERS_FLOW}/messages");
    let message = |body: &Value| post(&path, Some(Credential::ApiToken(&tenants.attacker)), body);
    let chat = message(&json!({"event": "message", "content": long_text()}));
    repeat(server.api, &vec![chat; LONG_MESSAGES]).await?;
    let push = format!("/messages?flow_token={}", tenants.flow_tokens[0]);
    let long = format!("<p>{}</p>", "x".repeat(60_000));
    let discussion = |number: usize| {
        let (id, body) = (format!("d{number}"), &long);
        let content = json!({"event": "discussion", "external_thread_id": id, "title": "d", "body": body,
            "thread": {"title": "d"}, "author": {"name": "bench"}});
        post(&push, None, &content)
    };
    repeat(
        server.api,
        &(0..DISCUSSIONS).map(discussion).collect::<Vec<_>>(),
    )
    .await?;
    let field = json!({"label": "l", "value": "v".repeat(900)});
    let state = json!({"title": "t", "body": long, "fields": vec![field; 50]});
    let activity = json!({"event": "activity", "external_thread_id": "t", "title": "x", "thread": state,
        "author": {"name": "bench"}});
    repeat(server.api, &[post(&push, None, &activity)]).await?;
    let messages = get(server.api, &format!("{path}?limit=1"), &tenants.attacker).await?;
    let thread = &messages[0]["thread_id"];
    let reply = message(&json!({"event": "message", "content": "hi", "thread_id": thread}));
    repeat(server.api, &vec![reply; REPLIES]).await?;
    make_group(tenants, server).await?;
    fill_audit_log(tenants, server).await?;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(Session::sign_in(server.api, ATTACKER, PASSWORD).await?);
    }
    let own = get(server.api, "/user", &tenants.attacker).await?;
    let (user, avatar) = (own["id"].as_i64(), own["avatar"].as_str());
    let path = avatar.and_then(|url| url.find("/avatars/").map(|at| url[at..].to_owned()));
    Ok(Target {
        api: server.api,
        stream: server.stream,
        token: tenants.attacker.clone(),
        flow_tokens: tenants.flow_tokens.clone(),
        user: user.ok_or("the attacker has no number")?,
        avatar: path.ok_or("the attacker has no picture")?,
        sessions,
    })
}

async fn make_group(tenants: &Tenants, server: &Server) -> Result<()> {
    let users = get(server.api, "/organizations/acme/users", &tenants.attacker).await?;
    let users = users.as_array().into_iter().flatten();
    let ids: Vec<&Value> = users.map(|user| &user["id"]).take(GROUP_SIZE).collect();
    let group = post(
        "/organizations/acme/groups",
        Some(Credential::ApiToken(&tenants.attacker)),
        &json!({"name": GROUP, "users": ids}),
    );
    repeat(server.api, &[group]).await
}

/// Changes a flow again and again; each change is a record.
async fn fill_audit_log(tenants: &Tenants, server: &Server) -> Result<()> {
    // A flow of one member: each change loads the flow anew.
    let path = "/flows/acme/side1";
    let token = Some(Credential::ApiToken(&tenants.attacker));
    let changes = (0..AUDIT_RECORDS).map(|number| {
        let body = json!({"description": format!("{number} {}", "y".repeat(240))}).to_string();
        Request {
            method: "PUT",
            path,
            token,
            accept: JSON,
            body: Some((JSON, &body)),
        }
        .bytes()
    });
    repeat(server.api, &changes.collect::<Vec<_>>()).await
}

fn post(path: &str, token: Option<Credential<'_>>, body: &Value) -> Vec<u8> {
    Request {
        method: "POST",
        path,
        token,
        accept: JSON,
        body: Some((JSON, &body.to_string())),
    }
    .bytes()
}

/// Sends requests over some connections, each of which must succeed.
async fn repeat(api: SocketAddr, requests: &[Vec<u8>]) -> Result<()> {
    const CONNECTIONS: usize = 16;
    let share = requests.len().div_ceil(CONNECTIONS).max(1);
    let senders = requests.chunks(share).map(async |requests| {
        let mut connection = Connection::open(api).await?;
        for request in requests {
            let answer = connection.exchange(request).await?;
            if answer.status / 100 != 2 {
                return Err(BenchError::from(format!(
                    "a request of the preparation was answered {}",
                    answer.status
                )));
            }
        }
        Ok(())
    });
    futures_util::future::try_join_all(senders).await.map(drop)
}

async fn get(api: SocketAddr, path: &str, token: &str) -> Result<Value> {
    let token = Some(Credential::ApiToken(token));
    let request = Request {
        method: "GET",
        path,
        token,
        accept: JSON,
        body: None,
    }
    .bytes();
    let mut socket = tokio::net::TcpStream::connect(api).await?;
    // HTTP/1.0 has no chunks and ends with the connection.
    let request = String::from_utf8(request)?.replace("HTTP/1.1", "HTTP/1.0");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .ok_or("an answer without an end of its head")?;
    Ok(serde_json::from_str(body)?)
}
