//! A user who is signed in to the pages, as a browser is.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Result;
use crate::requests::JSON;

const FORM: &str = "application/x-www-form-urlencoded";

/// A session of a browser.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// Value of the `Cookie` header.
    pub(crate) cookies: String,
    /// Token that forms and scripts repeat.
    pub(crate) csrf: String,
}

impl Session {
    /// Signs a user in. Nothing in the address and the password needs an escape but `@` and spaces.
    pub(crate) async fn sign_in(api: SocketAddr, email: &str, password: &str) -> Result<Self> {
        let page = send(api, "GET /sign-in", "", "").await?;
        let anonymous = cookie(&page, "eddyline-csrf")?;
        let csrf = anonymous.split('=').nth(1).unwrap_or_default().to_owned();
        let body = format!(
            "csrf={csrf}&next=%2Fapp&email={}&password={}",
            email.replace('@', "%40"),
            password.replace(' ', "+")
        );
        let lines = format!("Cookie: {anonymous}\r\nContent-Type: {FORM}\r\n");
        let answer = send(api, "POST /sign-in", &lines, &body).await?;
        let session = cookie(&answer, "eddyline-session")?;
        Ok(Self {
            cookies: format!("{anonymous}; {session}"),
            csrf,
        })
    }

    /// Sends JSON as the scripts of the pages do. Gives the answer with its head.
    pub(crate) async fn send_json(
        &self,
        api: SocketAddr,
        target: &str,
        body: &str,
    ) -> Result<String> {
        let Self { cookies, csrf } = self;
        let lines = format!(
            "Cookie: {cookies}\r\nX-CSRF-Token: {csrf}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: {JSON}\r\n"
        );
        send(api, target, &lines, body).await
    }

    /// The bytes of a form that is posted on a connection that is kept. The fields are encoded
    /// already.
    pub(crate) fn form(&self, path: &str, fields: &str) -> Vec<u8> {
        let Self { cookies, csrf } = self;
        let body = format!("csrf={csrf}&{fields}");
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: bench\r\nCookie: {cookies}\r\nContent-Type: {FORM}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// Sends a request on a connection of its own.
async fn send(api: SocketAddr, target: &str, lines: &str, body: &str) -> Result<String> {
    let length = body.len();
    let request = format!(
        "{target} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n{lines}\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let mut socket = TcpStream::connect(api).await?;
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
