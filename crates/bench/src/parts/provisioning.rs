//! An identity provider makes users, one after the other: the last thousand are to cost what the
//! first did.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::connections;
use crate::Result;
use crate::connection::Connection;
use crate::histogram::Histogram;
use crate::interval::Interval;
use crate::report::{Faults, Key, Metric, Results, Sample};
use crate::requests::{Credential, Request};
use crate::server::Server;
use crate::stage::Stage;

const PART: &str = "provisioning";
const FIRST: &str = "first 1,000 users";
const LAST: &str = "last 1,000 of 10,000";
const USERS: usize = 10_000;
const MEASURED: usize = 1_000;
const SCIM_JSON: &str = "application/scim+json";

/// Makes them in an organization of its own.
pub(crate) async fn measure(
    stage: &Stage<'_>,
    (server, data): (&Server, &Path),
    round: u32,
    results: &mut Results,
) -> Result<()> {
    let organization = format!("provided{round}");
    let admin = |arguments: &[&str]| stage.binary.admin(data, arguments);
    let limit = ["--user-limit", "20000"];
    admin(&[&["org", "create", "--name", &organization][..], &limit].concat())?;
    let provider = admin(&["scim", "enable", "--org", &organization])?;
    let text = |name: &str| {
        provider[name]
            .as_str()
            .ok_or_else(|| format!("no {name}: {provider}"))
    };
    let (path, token) = (format!("/scim/{}/Users", text("uid")?), text("token")?);
    let mut connection = Connection::open(server.api).await?;
    let request = |number: usize| user(&path, token, &organization, number);
    let first = make(&mut connection, server, 0..MEASURED, request).await?;
    make(&mut connection, server, MEASURED..USERS - MEASURED, request).await?;
    let last = make(&mut connection, server, USERS - MEASURED..USERS, request).await?;
    let key = |subject| Key::new(PART, subject, connections(1));
    results.add(key(FIRST), first);
    results.add(key(LAST), last);
    for metric in [Metric::Users, Metric::P99, Metric::ServerCpu] {
        results.compare(key(LAST), metric, FIRST);
    }
    Ok(())
}

/// Makes the users with these numbers.
async fn make(
    connection: &mut Connection,
    server: &Server,
    numbers: std::ops::Range<usize>,
    request: impl Fn(usize) -> Vec<u8>,
) -> Result<Sample> {
    let (mut times, mut faults) = (Histogram::default(), Faults::default());
    let interval = Interval::begin(&server.family)?;
    for number in numbers {
        let request = request(number);
        let asked = Instant::now();
        let answer = connection.exchange(&request).await?;
        times.add(asked.elapsed());
        if answer.status != 201 {
            faults.refused += 1;
        }
    }
    let mut sample = Sample::of_operations(Metric::Users, &times, interval.end()?);
    sample.faults = faults;
    Ok(sample)
}

fn user(path: &str, token: &str, organization: &str, number: usize) -> Vec<u8> {
    let email = format!("user{number}@{organization}.example");
    let body = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "userName": email,
        "name": {"givenName": "User", "familyName": format!("Number {number}")},
        "emails": [{"value": email, "type": "work", "primary": true}],
        "active": true,
    });
    let body = body.to_string();
    let token = Some(Credential::AccessToken(token));
    Request {
        method: "POST",
        path,
        token,
        accept: SCIM_JSON,
        body: Some((SCIM_JSON, &body)),
    }
    .bytes()
}
