//! `admin invite`: inviting the people of a file.

mod people;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::io::{self, Read as _};
use std::path::Path;

use eddyline_app::{AddressFate, App, OperatorInvitations};
use eddyline_model::names::Email;
use serde::Serialize;

use self::people::{BadLine, ListedPerson};
use super::{explain, named, print};
use crate::CommandError;
use crate::cli::InviteArgs;
use crate::output;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Invites the people and prints what became of each.
pub(super) async fn run(app: &App, command: InviteArgs, json: bool) -> Result<(), CommandError> {
    let inviter: Email = named("by", &command.by)?;
    let text = read_file(&command.file)?;
    let (flows, mut bad) = sorted(app, &command, &text).await?;
    bad.sort_by_key(|bad| bad.line);
    if !bad.is_empty() && !command.skip_bad {
        return Err(complaint(&bad).into());
    }
    let mut report = Report {
        dry_run: command.dry_run,
        addresses: Vec::new(),
        skipped: bad.iter().map(|bad| bad.line).collect(),
    };
    for (flow, people) in flows {
        let lines: BTreeMap<String, usize> = people
            .iter()
            .map(|person| (person.email.key(), person.line))
            .collect();
        let wanted = OperatorInvitations {
            organization: command.org.clone(),
            flow: flow.clone(),
            inviter: inviter.clone(),
            addresses: people.into_iter().map(|person| person.email).collect(),
            message: command.message.clone(),
            is_rehearsal: command.dry_run,
        };
        let place = format!("flow {}/{flow}", command.org);
        let done = app.invitations().invite_for(wanted).await;
        for (email, fate) in done.map_err(|error| in_place(&explain(error, &place), &place))? {
            let line = lines.get(&email.key()).copied().unwrap_or_default();
            report
                .addresses
                .push(Reported::new(line, &email, &flow, fate));
        }
    }
    for bad in &bad {
        output::warning(&format!("line {} {}", bad.line, bad.problem));
    }
    report.addresses.sort_by_key(|address| address.line);
    print(&report, json)?;
    match report.refused() {
        0 => Ok(()),
        1 => Err("1 address was refused".into()),
        refused => Err(format!("{refused} addresses were refused").into()),
    }
}

/// What went wrong in a flow, which the text names.
fn in_place(error: &CommandError, place: &str) -> CommandError {
    let text = error.to_string();
    match text.contains(place) {
        true => text.into(),
        false => format!("{place}: {text}").into(),
    }
}

fn read_file(path: &Path) -> Result<String, CommandError> {
    let cannot = |error: io::Error| format!("--file {}: {error}", path.display());
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => io::stdin().take(MAX_FILE + 1).read_to_string(&mut text),
        false => std::fs::File::open(path)
            .map_err(cannot)?
            .take(MAX_FILE + 1)
            .read_to_string(&mut text),
    };
    match read.map_err(cannot)? as u64 {
        0..=MAX_FILE => Ok(text),
        _ => Err(format!("--file has more than {}", output::size(MAX_FILE)).into()),
    }
}

/// The people by their flows, each once in a flow, and the lines that are wrong.
async fn sorted(
    app: &App,
    command: &InviteArgs,
    text: &str,
) -> Result<(BTreeMap<String, Vec<ListedPerson>>, Vec<BadLine>), CommandError> {
    let (mut flows, mut bad) = (BTreeMap::<String, Vec<ListedPerson>>::new(), Vec::new());
    let (mut seen, mut is_empty) = (BTreeSet::new(), true);
    for read in people::read(text) {
        is_empty = false;
        let person = match read {
            Ok(person) => person,
            Err(wrong) => {
                bad.push(wrong);
                continue;
            }
        };
        let named = match person.flows.is_empty() {
            true => &command.flow,
            false => &person.flows,
        };
        if named.is_empty() {
            let problem = "names no flow; add one to the line, or name one with --flow".to_owned();
            bad.push(BadLine {
                line: person.line,
                problem,
            });
        }
        for flow in named {
            let flow = flow.to_lowercase();
            if seen.insert((flow.clone(), person.email.key())) {
                flows.entry(flow).or_default().push(person.clone());
            }
        }
    }
    if is_empty {
        return Err("--file has no lines with addresses".into());
    }
    let known: BTreeSet<String> = app
        .operator()
        .flow_names(&command.org)
        .await
        .map_err(|error| explain(error, &format!("organization {}", command.org)))?;
    for flow in &command.flow {
        if !known.contains(&flow.to_lowercase()) {
            return Err(format!("--flow {flow}: there is no flow {}/{flow}", command.org).into());
        }
    }
    let missing: Vec<String> = flows
        .keys()
        .filter(|flow| !known.contains(*flow))
        .cloned()
        .collect();
    for flow in missing {
        for person in flows.remove(&flow).unwrap_or_default() {
            let problem = format!("names the flow {flow}, which {} does not have", command.org);
            bad.push(BadLine {
                line: person.line,
                problem,
            });
        }
    }
    Ok((flows, bad))
}

/// What is wrong with the first lines.
fn complaint(bad: &[BadLine]) -> String {
    const NAMED: usize = 20;
    let mut text =
        "no invitation was sent, since lines are wrong; correct them, or say --skip-bad".to_owned();
    for bad in bad.iter().take(NAMED) {
        text += &format!("\n  line {} {}", bad.line, bad.problem);
    }
    if bad.len() > NAMED {
        text += &format!("\n  and {} more", bad.len() - NAMED);
    }
    text
}

/// What became of an address.
#[derive(Serialize)]
struct Reported {
    line: usize,
    email: String,
    flow: String,
    /// `invited`, `pending`, `added`, `present` or `refused`.
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Reported {
    fn new(line: usize, email: &Email, flow: &str, fate: AddressFate) -> Self {
        let (result, reason) = match fate {
            AddressFate::Invited => ("invited", None),
            AddressFate::Pending => ("pending", None),
            AddressFate::Added => ("added", None),
            AddressFate::Present => ("present", None),
            AddressFate::Refused(reason) => ("refused", Some(reason)),
        };
        Self {
            line,
            email: email.to_string(),
            flow: flow.to_owned(),
            result,
            reason,
        }
    }

    fn words(&self) -> &str {
        match self.result {
            "invited" => "is invited",
            "pending" => "was invited before, and gets the mail again unless it was sent just now",
            "added" => "is a member of the organization, and is added",
            "present" => "is in the flow already",
            _ => self.reason.as_deref().unwrap_or("is refused"),
        }
    }
}

/// What became of all.
#[derive(Serialize)]
struct Report {
    dry_run: bool,
    addresses: Vec<Reported>,
    /// The numbers of the lines that were wrong.
    skipped: Vec<usize>,
}

impl Report {
    fn refused(&self) -> usize {
        let refused = self.addresses.iter();
        refused
            .filter(|address| address.result == "refused")
            .count()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dry_run {
            writeln!(f, "Nothing is sent; this would become of each address:")?;
        }
        for address in &self.addresses {
            let Reported {
                line, email, flow, ..
            } = address;
            writeln!(f, "line {line}: {email} in {flow}: {}", address.words())?;
        }
        let count = |result| {
            let found = self.addresses.iter();
            found.filter(|address| address.result == result).count()
        };
        write!(
            f,
            "{} invited, {} invited before, {} added, {} there already, {} refused; lines skipped: {}",
            count("invited"),
            count("pending"),
            count("added"),
            count("present"),
            self.refused(),
            self.skipped.len()
        )
    }
}
