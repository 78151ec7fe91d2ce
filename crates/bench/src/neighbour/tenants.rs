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
/// The attacker, an administrator of the organization.
pub(crate) const ATTACKER: &str = "attacker@acme.example";
/// The member of the working organization who listens.
pub(crate) const LISTENER: &str = "listener@beta.example";
/// The password of both.
pub(crate) const PASSWORD: &str = "walls between neighbours are thick";
/// The number of members of the attacker's organization and flow, without the attacker.
pub(crate) const CROWD: usize = 1000;

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
        let user = |email: &str, options: &[&str]| -> Result<String> {
            let (nick, domain) = email.split_once('@').unwrap_or_default();
            let organization = domain.trim_end_matches(".example");
            let who = [
                "--org",
                organization,
                "--email",
                email,
                "--name",
                nick,
                "--nick",
                nick,
            ];
            text(
                &admin(&[&["user", "create"], &who[..], options].concat())?,
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
            admin(&[&["org", "create", "--user-limit", "5000"], &name[..]].concat())?;
            admin(&["flow", "create", "--org", organization, "--name", flow])?;
        }
        let with_password = ["--password", PASSWORD];
        let worker = user("worker@beta.example", &[])?;
        let listener = user(LISTENER, &with_password)?;
        let attacker = user(ATTACKER, &[&["--admin"], &with_password[..]].concat())?;
        for (flow, nick) in [
            (WORKING_FLOW, "worker"),
            (WORKING_FLOW, "listener"),
            (ATTACKERS_FLOW, "attacker"),
        ] {
            member(flow, nick)?;
        }
        let crowd = (0..CROWD).map(|number| {
            let email = format!("member{number}@acme.example");
            format!(
                "user create --org acme --email {email} --name M{number} --nick m{number}\n\
                 flow add-user --flow {ATTACKERS_FLOW} --email {email}\n"
            )
        });
        binary.admin_batch(data, &crowd.collect::<String>())?;
        let mut flow_tokens = vec![flow_token(binary, data, ATTACKERS_FLOW)?];
        for number in 1..TOKEN_FLOWS {
            let name = format!("side{number}");
            admin(&["flow", "create", "--org", "acme", "--name", &name])?;
            let flow = format!("acme/{name}");
            member(&flow, "attacker")?;
            flow_tokens.push(flow_token(binary, data, &flow)?);
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
