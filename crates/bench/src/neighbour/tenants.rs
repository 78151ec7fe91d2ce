//! The two organizations: one that works and one whose member attacks.

use std::path::Path;

use serde_json::Value;

use crate::Result;
use crate::server::Binary;

/// Flow of the organization that works.
pub(crate) const WORKING_FLOW: &str = "beta/room";
/// Flow of the attacker.
pub(crate) const ATTACKERS_FLOW: &str = "acme/main";
/// Flows of the attacker with a flow token each.
const TOKEN_FLOWS: usize = 16;

/// Tokens of everybody concerned.
pub(crate) struct Tenants {
    /// API token of the member who posts, lists and sends files.
    pub(crate) worker: String,
    /// API token of the member who listens.
    pub(crate) listener: String,
    /// API token of the attacker, a member of another organization.
    pub(crate) attacker: String,
    /// Flow tokens of the attacker's organization, the first for [`ATTACKERS_FLOW`].
    pub(crate) flow_tokens: Vec<String>,
}

impl Tenants {
    /// Creates the organizations in a database that no server uses yet.
    pub(crate) fn create(binary: &Binary, data: &Path) -> Result<Self> {
        let admin = |arguments: &[&str]| binary.admin(data, arguments);
        let user = |organization: &str, nick: &str| -> Result<String> {
            let email = format!("{nick}@{organization}.example");
            let who = [
                "--org",
                organization,
                "--email",
                &email,
                "--name",
                nick,
                "--nick",
                nick,
            ];
            text(
                &admin(&[&["user", "create"], &who[..]].concat())?,
                "api_token",
            )
        };
        let member = |flow: &str, nick: &str| {
            let organization = flow.split('/').next().unwrap_or_default();
            let email = format!("{nick}@{organization}.example");
            admin(&["flow", "add-user", "--flow", flow, "--email", &email])
        };
        for (organization, flow) in [("acme", "Main"), ("beta", "Room")] {
            let name = ["--name", organization, "--parameterized-name", organization];
            admin(&[&["org", "create", "--user-limit", "500"], &name[..]].concat())?;
            admin(&["flow", "create", "--org", organization, "--name", flow])?;
        }
        let (worker, listener) = (user("beta", "worker")?, user("beta", "listener")?);
        let attacker = user("acme", "attacker")?;
        for (flow, nick) in [
            (WORKING_FLOW, "worker"),
            (WORKING_FLOW, "listener"),
            (ATTACKERS_FLOW, "attacker"),
        ] {
            member(flow, nick)?;
        }
        let mut flow_tokens = vec![flow_token(binary, data, ATTACKERS_FLOW)?];
        for number in 1..TOKEN_FLOWS {
            let name = format!("side{number}");
            admin(&["flow", "create", "--org", "acme", "--name", &name])?;
            flow_tokens.push(flow_token(binary, data, &format!("acme/{name}"))?);
        }
        Ok(Self {
            worker,
            listener,
            attacker,
            flow_tokens,
        })
    }
}

fn flow_token(binary: &Binary, data: &Path, flow: &str) -> Result<String> {
    text(
        &binary.admin(data, &["flow", "token", "--flow", flow])?,
        "flow_token",
    )
}

fn text(answer: &Value, name: &str) -> Result<String> {
    let value = answer[name]
        .as_str()
        .ok_or_else(|| format!("no {name} in {answer}"))?;
    Ok(value.to_owned())
}
