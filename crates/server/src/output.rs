//! Answers to the operator: a few lines for people, or one JSON object for scripts.

use std::error::Error;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal as _, Write};
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use eddyline_app::Addresses;
use eddyline_backup::Progress;
use eddyline_export::ExportProgress;
use eddyline_model::Timestamp;
use eddyline_model::organizations::{Organization, OrganizationSubscription};
use serde::Serialize;

use crate::CommandError;

/// Writes an answer to the standard output.
pub(crate) fn answer(answer: &(impl Display + Serialize), json: bool) -> io::Result<()> {
    write_answer(io::stdout().lock(), answer, json)
}

fn write_answer(
    mut output: impl Write,
    answer: &(impl Display + Serialize),
    json: bool,
) -> io::Result<()> {
    if json {
        return json_line(output, answer);
    }
    writeln!(output, "{answer}")?;
    output.flush()
}

/// Writes a value as JSON on a line of its own.
pub(crate) fn json_line(mut output: impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut output, value).map_err(io::Error::from)?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Says something to people beside the answer, on the standard error.
pub(crate) fn note(text: &str) {
    // There is nowhere left to say that even this failed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The same of something that they should look at.
pub(crate) fn warning(text: &str) {
    note(&format!("warning: {text}"));
}

/// Reports what a long command does, and its answer: to people, or as lines of JSON.
#[derive(Clone)]
pub(crate) struct Reporter {
    json: bool,
    /// Whether the standard output carries data, so that all else goes to the standard error.
    is_piped: bool,
    /// Whether people see each report as it comes.
    is_terminal: bool,
}

impl Reporter {
    pub(crate) fn new(json: bool, is_piped: bool) -> Self {
        Self {
            json,
            is_piped,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    fn out(&self) -> Box<dyn Write> {
        if self.is_piped {
            Box::new(io::stderr())
        } else {
            Box::new(io::stdout())
        }
    }

    /// Says how far a copy is.
    pub(crate) fn report<'p>(&self, progress: impl Into<ProgressLine<'p>>) {
        self.report_line(&progress.into());
    }

    /// Says how far it is. A closed pipe does not end the command.
    pub(crate) fn report_line(&self, line: &(impl Display + Serialize)) {
        let _ = if self.json {
            json_line(self.out(), line)
        } else if self.is_terminal {
            // The next report takes its line.
            write!(io::stderr(), "\r\x1b[K{line}")
        } else {
            Ok(())
        };
    }

    /// Prints a line that stays, before the answer.
    pub(crate) fn say(&self, line: &(impl Display + Serialize)) {
        let _ = match self.json {
            true => json_line(self.out(), line),
            false => writeln!(self.out(), "{line}"),
        };
    }

    /// Gives the answer.
    pub(crate) fn end(&self, answer: &(impl Display + Serialize)) -> io::Result<()> {
        if self.is_terminal && !self.json {
            write!(io::stderr(), "\r\x1b[K")?;
        }
        write_answer(self.out(), answer, self.json)
    }
}

/// How far a long command is.
#[derive(Serialize)]
#[serde(tag = "progress", rename_all = "snake_case")]
pub(crate) enum ProgressLine<'a> {
    Rows {
        table: &'a str,
        rows: u64,
    },
    /// Messages of a flow or a private conversation, which its folder in the archive names.
    Messages {
        room: &'a str,
        messages: u64,
    },
    Records {
        records: u64,
    },
    Files {
        files: u64,
        bytes: u64,
    },
}

impl<'a> From<&'a ExportProgress> for ProgressLine<'a> {
    fn from(progress: &'a ExportProgress) -> Self {
        match progress {
            ExportProgress::Messages { room, messages } => Self::Messages {
                room,
                messages: *messages,
            },
            ExportProgress::Files { done, bytes } => Self::Files {
                files: *done,
                bytes: *bytes,
            },
        }
    }
}

impl<'a> From<&'a Progress> for ProgressLine<'a> {
    fn from(progress: &'a Progress) -> Self {
        match progress {
            Progress::Rows { table, rows } => Self::Rows { table, rows: *rows },
            Progress::Files { done, bytes } => Self::Files {
                files: *done,
                bytes: *bytes,
            },
        }
    }
}

impl Display for ProgressLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { table, rows } => write!(f, "{table}: {rows} rows"),
            // A stranger may have named it.
            Self::Messages { room, messages } => {
                write!(f, "{}: {messages} messages", room.escape_debug())
            }
            Self::Records { records } => write!(f, "{records} records"),
            Self::Files { files, bytes } => write!(f, "{files} files ({})", size(*bytes)),
        }
    }
}

/// A number of bytes, in words.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: &[(u64, &str)] = &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(unit, _)| bytes >= *unit);
    let Some((unit, name)) = unit else {
        return format!("{bytes} bytes");
    };
    let tenths = bytes * 10 / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// Whether the reader of the answers has closed the pipe, which is no failure of a command.
pub(crate) fn is_closed_pipe(failure: &CommandError) -> bool {
    let error = failure.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes what went wrong to the standard error: for people, or as a line of a log in JSON.
pub(crate) fn failure(error: &(dyn Error + 'static), json: bool) {
    let causes = Causes(error);
    // There is nowhere left to say that even this failed.
    let _ = if json {
        json_line(
            io::stderr().lock(),
            &LogLine::now("ERROR", &causes.to_string()),
        )
    } else {
        writeln!(io::stderr().lock(), "error: {causes}")
    };
}

/// Says on the standard output that the server listens: for scripts, or as a line of a log in JSON.
pub(crate) fn listening(addresses: &Addresses, metrics: Option<SocketAddr>, json: bool) {
    let Addresses { base, stream, .. } = addresses;
    let metrics = metrics.map(|address| format!("http://{address}/metrics"));
    // A closed pipe does not stop the server.
    let _ = if json {
        json_line(
            io::stdout().lock(),
            &Listening {
                event: LogLine::now("INFO", "listening"),
                base,
                stream,
                metrics: metrics.as_deref(),
            },
        )
    } else {
        let metrics = metrics
            .map(|url| format!(" metrics={url}"))
            .unwrap_or_default();
        writeln!(
            io::stdout().lock(),
            "listening base={base} stream={stream}{metrics}"
        )
    };
}

/// The time of this machine.
pub(crate) fn machine_time() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "log lines and checks show the time of the machine"
    )]
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A line of a log in JSON, in the shape of those that the log itself writes.
#[derive(Serialize)]
struct LogLine<'a> {
    timestamp: String,
    level: &'static str,
    message: &'a str,
    target: &'static str,
}

impl<'a> LogLine<'a> {
    fn now(level: &'static str, message: &'a str) -> Self {
        Self {
            timestamp: machine_time().to_string(),
            level,
            message,
            target: "eddyline",
        }
    }
}

#[derive(Serialize)]
struct Listening<'a> {
    #[serde(flatten)]
    event: LogLine<'a>,
    base: &'a str,
    stream: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<&'a str>,
}

/// An error with all of its causes, on one line unless a cause has several. Some errors tell their
/// cause themselves; it is not repeated then.
pub(crate) struct Causes<'a>(pub(crate) &'a (dyn Error + 'static));

impl Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !said.ends_with(&text) {
                said.push_str(": ");
                said.push_str(&text);
            }
            cause = error.source();
        }
        f.write_str(&said)
    }
}

/// `org create` has been done.
#[derive(Debug, Serialize)]
pub(crate) struct OrganizationCreated {
    /// Number of the organization.
    pub(crate) id: i64,
    /// Name that people see.
    pub(crate) name: String,
    /// Name in URLs.
    pub(crate) parameterized_name: String,
    /// How many people it may hold.
    pub(crate) user_limit: i64,
    /// Number of the organization above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<i64>,
}

impl Display for OrganizationCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Organization {} has been made: {}, for up to {} people",
            self.parameterized_name, self.name, self.user_limit
        )
    }
}

/// `org update` has been done. This is how the organization is now.
#[derive(Debug, Serialize)]
pub(crate) struct OrganizationUpdated {
    id: i64,
    name: String,
    parameterized_name: String,
    user_limit: i64,
    user_count: i64,
    active: bool,
    trial_ends: Option<String>,
    billing_date: Option<String>,
}

impl OrganizationUpdated {
    pub(crate) fn of(now: Organization) -> Self {
        let (trial_ends, billing_date) = match now.subscription {
            OrganizationSubscription::Trial { ends } => (Some(ends.to_string()), None),
            OrganizationSubscription::Paid { next_bill } => {
                (None, next_bill.map(|day| day.to_string()))
            }
        };
        Self {
            id: now.id.0,
            name: now.name,
            parameterized_name: now.parameterized_name,
            user_limit: now.user_limit,
            user_count: now.user_count,
            active: now.active,
            trial_ends,
            billing_date,
        }
    }
}

impl Display for OrganizationUpdated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.active { "active" } else { "read-only" };
        write!(
            f,
            "Organization {}: {}, {state}, {} of up to {} people",
            self.parameterized_name, self.name, self.user_count, self.user_limit
        )?;
        match (&self.trial_ends, &self.billing_date) {
            (Some(day), _) => write!(f, ", on trial until {day}"),
            (None, Some(day)) => write!(f, ", next bill on {day}"),
            (None, None) => Ok(()),
        }
    }
}

/// `user create` has been done.
#[derive(Serialize)]
pub(crate) struct UserCreated {
    /// Number of the user.
    pub(crate) id: i64,
    /// E-mail address.
    pub(crate) email: String,
    /// Full name.
    pub(crate) name: String,
    /// Short name.
    pub(crate) nick: String,
    /// A new API token. It is told only here.
    pub(crate) api_token: String,
}

impl Display for UserCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "User {} <{}> has the number {}",
            self.name, self.email, self.id
        )?;
        write!(f, "API token, which is not shown again: {}", self.api_token)
    }
}

/// `user token` or `flow token` has been done.
#[derive(Serialize)]
pub(crate) struct TokenCreated {
    /// What the token opens: an e-mail address, or a flow as `organization/flow`.
    #[serde(skip)]
    pub(crate) holder: String,
    /// The token. It is told only here.
    #[serde(flatten)]
    pub(crate) token: Token,
}

/// A token under the name that its use has in the API.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Token {
    /// Speaks as a user.
    ApiToken(String),
    /// Posts to a flow.
    FlowToken(String),
}

impl Display for TokenCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, token) = match &self.token {
            Token::ApiToken(token) => ("API token", token),
            Token::FlowToken(token) => ("Flow token", token),
        };
        write!(
            f,
            "{kind} of {}, which is not shown again: {token}",
            self.holder
        )
    }
}

/// `user set-active` has been done.
#[derive(Debug, Serialize)]
pub(crate) struct ActiveSet {
    /// Number of the user.
    pub(crate) id: i64,
    pub(crate) email: String,
    pub(crate) active: bool,
}

impl Display for ActiveSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.active { "active" } else { "inactive" };
        write!(f, "User {} ({}) is {how} now", self.id, self.email)
    }
}

/// `user set-password` has been done.
#[derive(Debug, Serialize)]
pub(crate) struct PasswordSet {
    /// Number of the user.
    pub(crate) id: i64,
    /// E-mail address.
    pub(crate) email: String,
}

impl Display for PasswordSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has a new password", self.email)
    }
}

/// `flow create` has been done.
#[derive(Debug, Serialize)]
pub(crate) struct FlowCreated {
    /// Id of the flow.
    pub(crate) id: String,
    /// Name that people see.
    pub(crate) name: String,
    /// The organization's name in URLs.
    pub(crate) organization: String,
    /// The flow's name in URLs.
    pub(crate) parameterized_name: String,
}

impl Display for FlowCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Flow {}/{} has been made: {}",
            self.organization, self.parameterized_name, self.name
        )
    }
}

/// `flow add-user` has been done.
#[derive(Debug, Serialize)]
pub(crate) struct UserAdded {
    /// Id of the flow.
    pub(crate) flow: String,
    /// Number of the user.
    pub(crate) user: i64,
    /// E-mail address.
    pub(crate) email: String,
}

impl Display for UserAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in the flow", self.email)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(answer: &(impl Display + Serialize), json: bool) -> String {
        let mut output = Vec::new();
        write_answer(&mut output, answer, json).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn scripts_get_one_object_on_one_line() {
        let answer = UserCreated {
            id: 7,
            email: "ada@example.org".into(),
            name: "Ada".into(),
            nick: "ada".into(),
            api_token: "0123".into(),
        };
        let expected =
            r#"{"id":7,"email":"ada@example.org","name":"Ada","nick":"ada","api_token":"0123"}"#;
        assert_eq!(written(&answer, true), format!("{expected}\n"));
        assert!(written(&answer, false).ends_with("shown again: 0123\n"));
    }

    #[test]
    fn a_token_stands_under_the_name_of_its_kind() {
        let token = |token| TokenCreated {
            holder: "acme/main".into(),
            token,
        };
        assert_eq!(
            written(&token(Token::ApiToken("a".into())), true),
            "{\"api_token\":\"a\"}\n"
        );
        assert_eq!(
            written(&token(Token::FlowToken("f".into())), true),
            "{\"flow_token\":\"f\"}\n"
        );
        assert_eq!(
            written(&token(Token::FlowToken("f".into())), false),
            "Flow token of acme/main, which is not shown again: f\n"
        );
    }

    #[test]
    fn the_name_of_a_room_moves_no_cursor() {
        let line = ProgressLine::Messages {
            room: "x\x1b]0;owned\x07\u{9b}2J",
            messages: 7,
        };
        assert_eq!(
            line.to_string(),
            "x\\u{1b}]0;owned\\u{7}\\u{9b}2J: 7 messages"
        );
    }

    #[test]
    fn a_failure_is_told_with_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot open the store")]
        struct Outer(#[source] io::Error);
        let error = Outer(io::Error::other("the disk is full"));
        assert_eq!(
            Causes(&error).to_string(),
            "cannot open the store: the disk is full"
        );
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read it: {0}")]
        struct Telling(#[source] io::Error);
        let error = Telling(io::Error::other("the disk is gone"));
        assert_eq!(
            Causes(&error).to_string(),
            "cannot read it: the disk is gone",
            "no cause is said twice"
        );
    }
}
