//! Posts by those who show an API token, and by those who show an access token of an application.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::connections;
use crate::fill::{FLOW, ORGANIZATION};
use crate::load::Load;
use crate::random::Random;
use crate::report::{Key, Metric, Results};
use crate::requests::{Credential, JSON, Request, chat};
use crate::server::Server;
use crate::stage::Stage;
use crate::words::Vocabulary;
use crate::{BenchError, Result};

const PART: &str = "credentials";
const API_TOKEN: &str = "API token";
const ACCESS_TOKEN: &str = "access token";
const CONNECTIONS: usize = 16;
const VARIANTS: usize = 256;
const PASSWORD: &str = "measured posts need a password";

/// Measures one beside the other, first the one and in the next round first the other: the room
/// grows meanwhile.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    (server, data): (&Server, &Path),
    round: u32,
    results: &mut Results,
) -> Result<()> {
    let access = access_tokens(stage, server, data).await?;
    let key = |subject| Key::new(PART, subject, connections(CONNECTIONS));
    let mut subjects = [API_TOKEN, ACCESS_TOKEN];
    subjects.rotate_left(round as usize % 2);
    for subject in subjects {
        let load = Load {
            address: server.api,
            server: &server.family,
            connections: CONNECTIONS,
            variants: VARIANTS,
            rate: Metric::Posts,
        };
        let (vocabulary, mut random) = (Vocabulary::new(), Random::new(1));
        let path = format!("/flows/{FLOW}/messages");
        let post = |connection: usize, _| {
            let token = match subject {
                API_TOKEN => stage.homes.token(connection),
                _ => Credential::AccessToken(&access[connection]),
            };
            let body = chat(&vocabulary.sentence(&mut random));
            Request {
                method: "POST",
                path: &path,
                token: Some(token),
                accept: JSON,
                body: Some((JSON, &body)),
            }
            .bytes()
        };
        results.add(key(subject), load.run(&stage.plan, post).await?);
    }
    for metric in [Metric::Posts, Metric::ServerCpu] {
        results.compare(key(ACCESS_TOKEN), metric, API_TOKEN);
    }
    Ok(())
}

/// An access token of each member who posts.
async fn access_tokens(stage: &Stage<'_>, server: &Server, data: &Path) -> Result<Vec<String>> {
    let admin = |arguments: &[&str]| stage.binary.admin(data, arguments);
    let made = ["--name", "Bench", "--redirect-uri", "http://127.0.0.1/"];
    let application = admin(&[&["app", "create", "--org", ORGANIZATION][..], &made].concat())?;
    let mut tokens = Vec::new();
    for number in 0..CONNECTIONS {
        let email = format!("member{number}@bench.example");
        admin(&[
            "user",
            "set-password",
            "--email",
            &email,
            "--password",
            PASSWORD,
        ])?;
        let wanted = json!({
            "grant_type": "password",
            "client_id": application["client_id"],
            "client_secret": application["client_secret"],
            "username": email,
            "password": PASSWORD,
        });
        let answer = ask(server, &wanted).await?;
        let token = answer["access_token"]
            .as_str()
            .ok_or_else(|| format!("no access token: {answer}"))?;
        tokens.push(token.to_owned());
    }
    Ok(tokens)
}

/// Asks the token endpoint on a connection of its own.
async fn ask(server: &Server, wanted: &Value) -> Result<Value> {
    let body = wanted.to_string();
    let head = format!(
        "POST /oauth/token HTTP/1.1\r\nHost: bench\r\nAccept: {JSON}\r\nConnection: close\r\n\
         Content-Type: {JSON}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = tokio::net::TcpStream::connect(server.api).await?;
    socket.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .ok_or("an answer without an end of its head")?;
    serde_json::from_str(body).map_err(BenchError::from)
}
