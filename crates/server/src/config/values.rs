//! What values of options may look like.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eddyline_backup::Encryption;
use eddyline_model::names::{Domain, Email};
use eddyline_model::paths::is_reserved;
use ipnet::IpNet;
use tracing_subscriber::EnvFilter;

/// A type that options have. The error says what is wrong with the text, in words that follow the
/// option's name, and never repeats a secret.
pub(crate) trait Value: Sized {
    /// Whether the text is a list, separated by commas.
    const LIST: bool = false;
    /// The value that a flag means when it stands alone, if it may.
    const ALONE: Option<&'static str> = None;
    /// Whether the configuration file may have a boolean for it.
    const BOOLEAN: bool = false;

    /// Reads the text of a flag, a variable or a key.
    fn parse(text: &str) -> Result<Self, String>;

    /// The text as it may be shown: without secrets, also where it is wrong.
    fn shown(text: &str) -> String {
        text.to_owned()
    }
}

/// What is shown of a secret.
pub(super) const HIDDEN: &str = "(hidden)";

impl<T: Value> Value for Option<T> {
    const LIST: bool = T::LIST;

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn shown(text: &str) -> String {
        T::shown(text)
    }
}

impl Value for PathBuf {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.contains('\0') {
            return Err(format!("{text:?} is not a path"));
        }
        Ok(text.into())
    }
}

impl Value for String {
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() || text.contains(char::is_control) {
            return Err(format!("{text:?} is not a text on one line"));
        }
        Ok(text.trim().to_owned())
    }
}

impl Value for SocketAddr {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| {
            format!(
                "{text:?} is not an IP address with a port, such as 127.0.0.1:8080 or [::]:8080"
            )
        })
    }
}

impl Value for Vec<IpNet> {
    const LIST: bool = true;

    fn parse(text: &str) -> Result<Self, String> {
        let networks = text
            .split(',')
            .map(str::trim)
            .filter(|network| !network.is_empty());
        networks.map(parse_network).collect()
    }
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| address())
        .map_err(|_| format!("{text:?} is not a network such as 10.0.0.0/8"))
}

impl Value for u32 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number from 0 to {}", Self::MAX))
    }
}

impl Value for u64 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number from 0 to {}", Self::MAX))
    }
}

impl Value for NonZeroU16 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number from 1 to {}", Self::MAX))
    }
}

impl Value for NonZeroU32 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number from 1 to {}", Self::MAX))
    }
}

impl Value for NonZeroU64 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number from 1 to {}", Self::MAX))
    }
}

impl Value for NonZeroUsize {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number from 1 to {}", Self::MAX))
    }
}

/// How many of something there may be: a number from 1 to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count<const MOST: u32>(u32);

impl<const MOST: u32> Count<MOST> {
    pub(crate) fn get(self) -> u32 {
        self.0
    }
}

impl<const MOST: u32> Value for Count<MOST> {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) if (1..=MOST).contains(&number) => Ok(Self(number)),
            _ => Err(format!("{text:?} is not a number from 1 to {MOST}")),
        }
    }
}

/// The memory of one password hash, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HashMemory(u32);

impl HashMemory {
    const BOUNDS: RangeInclusive<u32> = 8..=1_048_576;
    /// The least of OWASP's recommendations.
    const RECOMMENDED: u32 = 7_168;

    pub(crate) fn kib(self) -> u32 {
        self.0
    }

    /// Whether hashes of a stolen database are easy to guess from.
    pub(crate) fn is_weak(self) -> bool {
        self.0 < Self::RECOMMENDED
    }
}

impl Value for HashMemory {
    fn parse(text: &str) -> Result<Self, String> {
        let bounds = Self::BOUNDS;
        match text.parse() {
            Ok(kib) if bounds.contains(&kib) => Ok(Self(kib)),
            _ => Err(format!(
                "{text:?} is not a number from {} to {}",
                bounds.start(),
                bounds.end()
            )),
        }
    }
}

/// How many of a hundred requests are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TracePercent(u8);

impl TracePercent {
    /// From 0 to 1.
    pub(crate) fn share(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl Value for TracePercent {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(percent @ 0..=100) => Ok(Self(percent)),
            _ => Err(format!("{text:?} is not a number from 0 to 100")),
        }
    }
}

/// Whole seconds, up to an hour.
impl Value for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(seconds @ 0..=3600) => Ok(Self::from_secs(seconds)),
            _ => Err(format!(
                "{text:?} is not a number of seconds from 0 to 3600"
            )),
        }
    }
}

/// The address of a database. It may hold a password, so `Debug` writes its scheme only.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The SQLite file of a data directory.
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self(format!(
            "sqlite:{}",
            directory.join("eddyline.db").display()
        ))
    }

    /// Reads what an operator or a database gives.
    pub(crate) fn parse_argument(text: &str) -> Result<Self, String> {
        Value::parse(text)
    }

    /// The same for a process with another working directory.
    pub(crate) fn absolute(&self) -> std::io::Result<Self> {
        let Some(file) = self.file() else {
            return Ok(self.clone());
        };
        let file = std::path::absolute(file)?;
        Ok(Self(format!("sqlite:{}", file.display())))
    }

    /// The address itself, for the store. Keep it out of logs.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The file of the database, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        let path = self
            .0
            .strip_prefix("sqlite:")
            .filter(|path| *path != ":memory:")?;
        Some(Path::new(path.strip_prefix("//").unwrap_or(path)))
    }

    /// Where the database is, for people: without user and password.
    pub(crate) fn place(&self) -> String {
        if let Some(file) = self.file() {
            let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
            return path.display().to_string();
        }
        match self.0.parse::<http::Uri>() {
            Ok(url) if url.host().is_some() => {
                let port = url
                    .port_u16()
                    .map(|port| format!(":{port}"))
                    .unwrap_or_default();
                let host = url.host().unwrap_or_default();
                format!("{}://{host}{port}{}", self.scheme(), url.path())
            }
            _ => format!("the {} address that is configured", self.scheme()),
        }
    }

    fn scheme(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:[redacted]", self.scheme())
    }
}

impl Value for DatabaseUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let sqlite = text
            .strip_prefix("sqlite:")
            .is_some_and(|path| !path.trim_start_matches("//").is_empty());
        let postgres = ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        // The text is not repeated: it may be a mistyped address with a password in it.
        if postgres && has_unencoded(text) {
            Err("user, password and name of the database must be percent-encoded: @ as %40, / as %2F, ? as %3F, \
                 % as %25, a space as %20"
                .to_owned())
        } else if sqlite || postgres {
            Ok(Self(text.to_owned()))
        } else {
            Err(
                "the database must be sqlite:PATH, sqlite::memory: or postgres://USER@HOST/NAME"
                    .to_owned(),
            )
        }
    }

    fn shown(text: &str) -> String {
        match Self::parse(text) {
            Ok(url) if url.file().is_some() => text.to_owned(),
            Ok(url) => url.place(),
            Err(_) => HIDDEN.to_owned(),
        }
    }
}

/// Whether a user or a password in an address of PostgreSQL is not percent-encoded. libpq would
/// take a part of it for the host, the port or a parameter, and repeat that in its errors.
fn has_unencoded(address: &str) -> bool {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let head = rest.split('/').next().unwrap_or_default();
    let misplaced = match head.split_once('@') {
        Some((user, _)) => {
            user.contains(['?', ' ']) || before_query(&rest[user.len() + 1..]).contains('@')
        }
        None => {
            before_query(rest).contains('@') || before_query(head).split(',').any(has_invalid_port)
        }
    };
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let is_malformed =
        |parameter: &str| !parameter.is_empty() && parameter.matches('=').count() != 1;
    let is_code = |after: &str| {
        let code = after.as_bytes().get(..2).unwrap_or_default();
        code.len() == 2 && code != b"00" && code.iter().all(u8::is_ascii_hexdigit)
    };
    misplaced || query.split('&').any(is_malformed) || !rest.split('%').skip(1).all(is_code)
}

fn before_query(text: &str) -> &str {
    text.split('?').next().unwrap_or_default()
}

/// Whether the port of a host, which may be an IPv6 address in brackets, is not a number.
fn has_invalid_port(host: &str) -> bool {
    let port = host
        .rsplit(']')
        .next()
        .unwrap_or_default()
        .split_once(':')
        .map_or("", |(_, port)| port);
    !port.bytes().all(|byte| byte.is_ascii_digit())
}

/// An `http` or `https` address without a slash at its end, to which paths are appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(String);

impl BaseUrl {
    /// The address.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for BaseUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let valid = text.parse::<http::Uri>().is_ok_and(|url| {
            matches!(url.scheme_str(), Some("http" | "https"))
                && url
                    .authority()
                    .is_some_and(|authority| !authority.as_str().contains('@'))
                && url.host().is_some_and(|host| !host.is_empty())
        });
        if valid && !text.contains(['?', '#']) {
            Ok(Self(text.trim_end_matches('/').to_owned()))
        } else {
            Err(format!(
                "{text:?} is not an address such as https://chat.example.org"
            ))
        }
    }
}

/// An `https` address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpsUrl(String);

impl HttpsUrl {
    /// The address.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for HttpsUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let valid = text.parse::<http::Uri>().is_ok_and(|url| {
            url.scheme_str() == Some("https") && url.host().is_some_and(|host| !host.is_empty())
        });
        if valid && !text.contains(['@', '#']) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "{text:?} is not an address that begins with https://"
            ))
        }
    }
}

impl Value for Vec<Domain> {
    const LIST: bool = true;

    /// Names for which an authority can check this server: not those of all hosts of a domain, and not
    /// addresses.
    fn parse(text: &str) -> Result<Self, String> {
        let names = text.split(',').map(|name| {
            let name = name.trim();
            let domain = name.parse::<Domain>().ok();
            let is_name = |domain: &Domain| domain.as_str().parse::<IpAddr>().is_err();
            domain.filter(is_name).ok_or_else(|| {
                format!("{name:?} is not the name of a host, such as chat.example.org")
            })
        });
        names.collect()
    }
}

impl Value for Email {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("{text:?} is not an e-mail address"))
    }
}

/// A path such as `/stream`: it begins with a slash and ends without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPrefix(String);

impl PathPrefix {
    /// The path.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for PathPrefix {
    fn parse(text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_~.".contains(c);
        let path = text.trim_end_matches('/');
        let mut segments = path.strip_prefix('/').unwrap_or_default().split('/');
        if !segments.clone().all(|segment| {
            segment.starts_with(|c| c != '.' && plain(c)) && segment.chars().all(plain)
        }) {
            return Err(format!(
                "{text:?} is not a path such as /stream, of letters, digits, - _ ~ and ."
            ));
        }
        match segments.next() {
            Some(first) if is_reserved(first) => {
                Err(format!("{text:?} is a path of the API or the pages"))
            }
            _ => Ok(Self(path.to_owned())),
        }
    }
}

/// Which clients the server speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Exactly as specified.
    Spec,
    /// Header names and answers that clients of the original service know.
    Classic,
}

impl Value for Profile {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "spec" => Ok(Self::Spec),
            "classic" => Ok(Self::Classic),
            _ => Err(format!(
                "{text:?} is not a profile; there are spec and classic"
            )),
        }
    }
}

/// How the connection to the mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmtpSecurity {
    /// After it was opened.
    StartTls,
    /// From its first byte.
    Tls,
    /// Not at all.
    None,
}

impl Value for SmtpSecurity {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "starttls" => Ok(Self::StartTls),
            "tls" => Ok(Self::Tls),
            "none" => Ok(Self::None),
            _ => Err(format!(
                "{text:?} is no kind of encryption; there are starttls, tls and none"
            )),
        }
    }
}

/// A password, which is not printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SmtpPassword(String);

impl SmtpPassword {
    /// The password itself; keep it out of the log.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SmtpPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Value for SmtpPassword {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("is empty".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    fn shown(_: &str) -> String {
        HIDDEN.to_owned()
    }
}

/// The secret that requests to a store are signed with.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreSecret(String);

impl StoreSecret {
    /// The secret itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// Without the secret.
impl fmt::Debug for StoreSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Value for StoreSecret {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("is empty".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    fn shown(_: &str) -> String {
        HIDDEN.to_owned()
    }
}

/// Where backups go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackupPlace {
    Folder(PathBuf),
    /// A bucket, and what the names of its objects begin with.
    Bucket {
        bucket: String,
        prefix: String,
    },
}

impl BackupPlace {
    /// Reads a folder's path or an address with `s3:`.
    pub(crate) fn parse_place(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix("s3://") else {
            return PathBuf::parse(text).map(Self::Folder);
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(format!("{text:?} names no bucket, as s3://BUCKET/PREFIX"));
        }
        Ok(Self::Bucket {
            bucket: bucket.to_owned(),
            prefix: prefix.trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for BackupPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Bucket { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}

impl Value for BackupPlace {
    fn parse(text: &str) -> Result<Self, String> {
        Self::parse_place(text)
    }
}

/// A public key of age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupRecipient(String);

impl BackupRecipient {
    /// As it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for Vec<BackupRecipient> {
    const LIST: bool = true;

    fn parse(text: &str) -> Result<Self, String> {
        let keys = text
            .split(',')
            .map(str::trim)
            .filter(|key| !key.is_empty())
            .map(|key| match Encryption::recipients([key]) {
                Ok(_) => Ok(BackupRecipient(key.to_owned())),
                Err(error) => Err(error.to_string()),
            });
        keys.collect()
    }
}

/// The shape of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Value for LogFormat {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!(
                "{text:?} is not a log format; there are text and json"
            )),
        }
    }
}

fn is_level(text: &str) -> bool {
    ["error", "warn", "info", "debug", "trace", "off"]
        .iter()
        .any(|level| level.eq_ignore_ascii_case(text))
}

/// What is logged, in the directives of tracing-subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogDirectives(String);

impl LogDirectives {
    /// Only what somebody should look at.
    pub(crate) fn warnings() -> Self {
        Self("warn".to_owned())
    }

    /// The directives.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for LogDirectives {
    fn parse(text: &str) -> Result<Self, String> {
        // tracing-subscriber takes any other word for the name of a crate, and then logs nothing
        // else.
        let unclear = text
            .split(',')
            .map(str::trim)
            .find(|part| !part.contains('=') && !is_level(part));
        if let Some(part) = unclear {
            return Err(format!(
                "{part:?} is no level: there are error, warn, info, debug, trace and off, also for single \
                 parts, as in warn,eddyline=debug"
            ));
        }
        match EnvFilter::try_new(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(error) => Err(format!(
                "{text:?} is not a log filter such as info ({error})"
            )),
        }
    }
}
