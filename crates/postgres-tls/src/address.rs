//! Reading the address of a database as libpq does, as far as TLS is concerned.

use std::borrow::Cow;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::Error;

/// The port of PostgreSQL where an address names none.
const PORT: u16 = 5432;

/// What a connection demands of TLS: the parameter `sslmode` of libpq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// TLS where the server offers it, with any certificate.
    Prefer,
    /// TLS with any certificate.
    Require,
    /// A certificate of a trusted authority.
    VerifyCa,
    /// A certificate of a trusted authority for the name of the host.
    VerifyFull,
}

/// One of the servers that an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// The name in its certificate.
    pub(crate) name: String,
    /// Where it is reached, if that is not its name.
    pub(crate) address: Option<String>,
    pub(crate) port: u16,
}

impl Host {
    /// Whether this is the folder of a Unix socket, which needs no TLS.
    pub(crate) fn is_socket(&self) -> bool {
        self.address.is_none() && self.name.starts_with(['/', '@'])
    }

    /// Whether what is sent there stays on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let target = self.address.as_ref().unwrap_or(&self.name);
        let ip = target.parse::<std::net::IpAddr>();
        self.is_socket() || target.is_empty() || target == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

/// An address, taken apart.
#[derive(PartialEq, Eq)]
pub(crate) struct Address {
    /// What stands before the hosts: `postgres://user:password@`.
    front: String,
    pub(crate) hosts: Vec<Host>,
    /// `/` and the name of the database, or nothing.
    database: String,
    /// The parameters that are not about hosts or TLS, as they were written.
    others: Vec<String>,
    /// `None` for connections without TLS.
    pub(crate) mode: Option<Mode>,
    /// Whether the address says how much TLS there is to be.
    pub(crate) has_mode: bool,
    /// PEM file of the authorities that are trusted; `None` for those of the system.
    pub(crate) authorities: Option<String>,
    /// PEM files of the client's own certificate and key.
    pub(crate) identity: Option<(String, String)>,
    /// Seconds after which the client gives a connection up; `None` for never.
    pub(crate) connect_seconds: Option<u64>,
}

impl std::fmt::Debug for Address {
    /// Leaves the user and the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address")
            .field("hosts", &self.hosts)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// The parameters of libpq that are not supported with TLS, the values that mean what happens anyway, and why others
/// are refused.
const UNSUPPORTED: [(&str, &[&str], &str); 11] = [
    ("channel_binding", &["disable", "prefer"], "it is not supported; verify-full protects against the same"),
    ("gssencmode", &["disable", "prefer"], "it is not supported with TLS"),
    ("requirepeer", &[], "it is for Unix sockets"),
    ("service", &[], "a file of services is not supported with TLS"),
    ("ssl_max_protocol_version", &["TLSv1.3"], "TLS 1.2 and 1.3 are supported"),
    ("ssl_min_protocol_version", &["TLSv1", "TLSv1.1", "TLSv1.2"], "TLS 1.2 and 1.3 are supported"),
    ("sslcertmode", &["allow"], "it is not supported"),
    ("sslcrl", &[], "lists of revoked certificates are not supported"),
    ("sslcrldir", &[], "lists of revoked certificates are not supported"),
    ("sslnegotiation", &["postgres"], "TLS always begins with a request for it"),
    ("sslpassword", &[], "a key with a password is not supported"),
];

impl Address {
    /// Takes an address apart. `environment` has the variables of libpq.
    pub(crate) fn parse(url: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let environment = |name: &str| environment(name).filter(|value| !value.is_empty());
        let (scheme, rest) = url.split_once("://").ok_or(Error::Address)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (head, database) = place.split_at(place.find('/').unwrap_or(place.len()));
        // libpq takes what is behind the first of several for a host, and says so in its errors.
        if place.matches('@').count() > 1 || database.contains('@') {
            return Err(Error::Address);
        }
        let (user, hosts) = head.split_once('@').unwrap_or(("", head));
        let mut read = Read::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            read.parameter(pair)?;
        }
        let hosts = read.hosts(hosts, &environment)?;
        let is_written = read.authorities.is_some() || read.certificate.is_some();
        let mode = read.mode.take().or_else(|| environment("PGSSLMODE"));
        let authorities = read.authorities.take().or_else(|| environment("PGSSLROOTCERT"));
        let has_mode = mode.is_some();
        let mode = mode_of(mode.as_deref(), authorities.as_deref())?;
        if mode.is_some() {
            read.check_supported(&environment)?;
        } else if is_written && !has_mode {
            return Err(Error::parameter("sslmode", "it is missing, and without it there is no TLS"));
        }
        Ok(Self {
            front: format!("{scheme}://{}", if user.is_empty() { String::new() } else { format!("{user}@") }),
            hosts,
            database: database.to_owned(),
            has_mode,
            mode,
            authorities: authorities.filter(|file| file != "system"),
            identity: read.identity(&environment)?,
            connect_seconds: read.connect_seconds,
            others: read.others,
        })
    }

    /// The address for libpq, which has no TLS: to sockets in this folder, which has one for each host, numbered like
    /// ports; or to the hosts themselves, which are sockets then.
    pub(crate) fn for_libpq(&self, folder: Option<&str>) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let places = self.hosts.iter().zip(1..).map(|(host, number)| match folder {
            Some(folder) => format!("{}:{number}", encode(folder)),
            None => format!("{}:{}", encode(&host.name), host.port),
        });
        let places = places.collect::<Vec<_>>().join(",");
        let parameters: Vec<&str> =
            self.others.iter().map(String::as_str).chain(["sslmode=disable"]).collect();
        format!("{}{places}{}?{}", self.front, self.database, parameters.join("&"))
    }
}

fn mode_of(mode: Option<&str>, authorities: Option<&str>) -> Result<Option<Mode>, Error> {
    let of_system = authorities == Some("system");
    let mode = match mode {
        None if of_system => Mode::VerifyFull,
        None | Some("disable") => return Ok(None),
        Some("prefer") => Mode::Prefer,
        Some("require") => Mode::Require,
        Some("verify-ca") => Mode::VerifyCa,
        Some("verify-full") => Mode::VerifyFull,
        Some(_) => {
            let why = "there are disable, prefer, require, verify-ca and verify-full";
            return Err(Error::parameter("sslmode", why));
        }
    };
    match mode {
        Mode::VerifyFull => Ok(Some(mode)),
        // Any site of the web has a certificate of theirs.
        _ if of_system => {
            Err(Error::parameter("sslmode", "with the authorities of the system it must be verify-full"))
        }
        Mode::VerifyCa if authorities.is_none() => {
            Err(Error::parameter("sslmode", "verify-ca needs the file of an authority, as sslrootcert"))
        }
        // As in libpq.
        Mode::Require if authorities.is_some() => Ok(Some(Mode::VerifyCa)),
        _ => Ok(Some(mode)),
    }
}

/// The parameters that were read so far.
#[derive(Default)]
struct Read {
    mode: Option<String>,
    authorities: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
    host: Option<String>,
    address: Option<String>,
    port: Option<String>,
    connect_seconds: Option<u64>,
    others: Vec<String>,
}

impl Read {
    fn parameter(&mut self, pair: &str) -> Result<(), Error> {
        let (name, value) = pair.split_once('=').ok_or(Error::Address)?;
        let (name, value) = (decode(name)?, decode(value)?.into_owned());
        let place = match &*name {
            "sslmode" => &mut self.mode,
            "sslrootcert" => &mut self.authorities,
            "sslcert" => &mut self.certificate,
            "sslkey" => &mut self.key,
            "host" => &mut self.host,
            "hostaddr" => &mut self.address,
            "port" => &mut self.port,
            // As JDBC has it, and libpq too.
            "ssl" if value == "true" => {
                self.mode = Some("require".to_owned());
                return Ok(());
            }
            // rustls neither compresses nor leaves the name of the host out.
            "sslcompression" | "sslsni" => return Ok(()),
            other => {
                if other == "connect_timeout" {
                    self.connect_seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                }
                self.others.push(pair.to_owned());
                return Ok(());
            }
        };
        *place = Some(value).filter(|value| !value.is_empty());
        Ok(())
    }

    /// The hosts, of which parameters count more than what stands before the path, and that more than the environment.
    fn hosts(&self, written: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Host>, Error> {
        let split = |list: &str| -> Vec<String> { list.split(',').map(str::to_owned).collect() };
        let (mut names, mut ports): (Vec<String>, Vec<Option<u16>>) =
            written.split(',').map(host).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let is_unnamed = |names: &[String]| names.iter().all(String::is_empty);
        if let Some(list) = self.host.clone().or_else(|| environment("PGHOST").filter(|_| is_unnamed(&names)))
        {
            names = split(&list);
        }
        let addresses = self.address.as_deref().map(split).unwrap_or_default();
        if addresses.len() > names.len() && is_unnamed(&names) {
            names = vec![String::new(); addresses.len()];
        }
        if !addresses.is_empty() && addresses.len() != names.len() {
            return Err(Error::Hosts);
        }
        if let Some(list) = &self.port {
            ports = split(list).iter().map(|port| port_of(port)).collect::<Result<_, _>>()?;
        }
        let default = match environment("PGPORT") {
            Some(port) => port_of(&port)?.unwrap_or(PORT),
            None => PORT,
        };
        if ports.len() > 1 && ports.len() != names.len() {
            return Err(Error::Hosts);
        }
        let host = |(number, name): (usize, String)| Host {
            name,
            address: addresses.get(number).filter(|address| !address.is_empty()).cloned(),
            port: ports.get(number).or_else(|| ports.first()).copied().flatten().unwrap_or(default),
        };
        Ok(names.into_iter().enumerate().map(host).collect())
    }

    /// Refuses what would be ignored, or would lead libpq past the tunnel.
    fn check_supported(&self, environment: &dyn Fn(&str) -> Option<String>) -> Result<(), Error> {
        for pair in &self.others {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            let known = UNSUPPORTED.iter().find(|(unsupported, ..)| *unsupported == name);
            if let Some((name, harmless, why)) = known
                && !value.is_empty()
                && !harmless.contains(&&*value)
            {
                return Err(Error::parameter(name, why));
            }
        }
        for name in ["PGHOSTADDR", "PGSERVICE", "PGSSLCRL", "PGSSLCRLDIR", "PGREQUIREPEER"] {
            if environment(name).is_some() {
                return Err(Error::parameter(name, "this variable is not supported with TLS"));
            }
        }
        Ok(())
    }

    fn identity(
        &mut self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<(String, String)>, Error> {
        let certificate = self.certificate.take().or_else(|| environment("PGSSLCERT"));
        match (certificate, self.key.take().or_else(|| environment("PGSSLKEY"))) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            _ => Err(Error::parameter("sslcert", "sslcert and sslkey belong together")),
        }
    }
}

/// A host with its port: `name`, `name:port`, `[IPv6]:port`, or an encoded folder.
fn host(text: &str) -> Result<(String, Option<u16>), Error> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').ok_or(Error::Address)?;
            match port.strip_prefix(':') {
                None if !port.is_empty() => return Err(Error::Address),
                port => (name, port.unwrap_or_default()),
            }
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    Ok((decode(name)?.into_owned(), port_of(port)?))
}

fn port_of(text: &str) -> Result<Option<u16>, Error> {
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|_| Error::Address) }
}

fn decode(text: &str) -> Result<Cow<'_, str>, Error> {
    percent_decode_str(text).decode_utf8().map_err(|_| Error::Address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, Error> {
        Address::parse(url, |_| None)
    }

    fn mode(url: &str) -> Option<Mode> {
        parse(url).unwrap().mode
    }

    #[test]
    fn the_mode_is_that_of_libpq() {
        assert_eq!(mode("postgres://db/chat"), None);
        assert_eq!(mode("postgres://db/chat?sslmode="), None);
        assert_eq!(mode("postgres://db/chat?sslmode=disable"), None);
        assert_eq!(mode("postgres://db/chat?sslmode=prefer"), Some(Mode::Prefer));
        assert_eq!(mode("postgres://db/chat?sslmode=require"), Some(Mode::Require));
        assert_eq!(mode("postgres://db/chat?ssl=true"), Some(Mode::Require));
        assert_eq!(mode("postgres://db/chat?sslmode=require&sslrootcert=ca.pem"), Some(Mode::VerifyCa));
        assert_eq!(mode("postgres://db?sslmode=verify-ca&sslrootcert=ca.pem"), Some(Mode::VerifyCa));
        assert_eq!(mode("postgres://db?sslmode=verify-full"), Some(Mode::VerifyFull));
        assert_eq!(mode("postgres://db?sslrootcert=system"), Some(Mode::VerifyFull));
        let by_environment =
            Address::parse("postgres://db", |name| (name == "PGSSLMODE").then(|| "require".to_owned()));
        assert_eq!(by_environment.unwrap().mode, Some(Mode::Require));
    }

    #[test]
    fn what_is_weak_or_not_supported_is_refused_by_name() {
        for (parameters, name) in [
            ("sslmode=allow", "sslmode"),
            ("sslmode=verify-ca", "sslmode"),
            ("sslmode=verify-ca&sslrootcert=system", "sslmode"),
            ("sslmode=require&sslrootcert=system", "sslmode"),
            ("sslrootcert=ca.pem", "sslmode"),
            ("sslmode=require&sslcert=me.pem", "sslcert"),
            ("sslmode=require&sslcrl=list.pem", "sslcrl"),
            ("sslmode=require&channel_binding=require", "channel_binding"),
            ("sslmode=require&service=mine", "service"),
        ] {
            let error = parse(&format!("postgres://db/chat?{parameters}")).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{name}: ")), "{parameters}: {error}");
        }
        for parameters in [
            "requirepeer=postgres",
            "sslmode=require&sslnegotiation=postgres",
            "sslmode=require&ssl_min_protocol_version=TLSv1.2&channel_binding=prefer",
        ] {
            assert!(parse(&format!("postgres://db/chat?{parameters}")).is_ok(), "{parameters}");
        }
        for variable in ["PGHOSTADDR", "PGSERVICE"] {
            let set = |name: &str| (name == variable).then(|| "x".to_owned());
            assert!(Address::parse("postgres://db?sslmode=require", set).is_err(), "{variable}");
        }
    }

    #[test]
    fn hosts_stand_before_the_path_or_among_the_parameters() {
        let host = |name: &str, port| Host { name: name.to_owned(), address: None, port };
        for (url, hosts) in [
            ("postgres://me:p%40ss@db.example/chat", vec![host("db.example", 5432)]),
            (
                "postgres://me@db:6000,[::1]:6001,[::2]",
                vec![host("db", 6000), host("::1", 6001), host("::2", 5432)],
            ),
            ("postgres://%2Fvar%2Frun/chat", vec![host("/var/run", 5432)]),
            ("postgres:///chat?host=a,b&port=1,2", vec![host("a", 1), host("b", 2)]),
            ("postgres:///chat?host=a,b&port=1", vec![host("a", 1), host("b", 1)]),
            ("postgres://me@:6000/chat?host=db", vec![host("db", 6000)]),
        ] {
            assert_eq!(parse(url).unwrap().hosts, hosts, "{url}");
        }
        let hosts = parse("postgres://db/chat?hostaddr=10.0.0.7").unwrap().hosts;
        assert_eq!(hosts, [Host { address: Some("10.0.0.7".to_owned()), ..host("db", 5432) }]);
        let set = |name: &str| match name {
            "PGHOST" => Some("db".to_owned()),
            "PGPORT" => Some("6000".to_owned()),
            _ => None,
        };
        assert_eq!(Address::parse("postgres:///chat", set).unwrap().hosts, [host("db", 6000)]);
    }

    #[test]
    fn an_address_that_libpq_reads_otherwise_is_refused() {
        for url in [
            "db/chat",
            "postgres://[::1/chat",
            "postgres://[::1]5432/chat",
            "postgres://db:one/chat",
            "postgres://a?hostaddr=1,2",
            "postgres://me:p@ss@db/chat",
            "postgres://me:12/34@db/chat",
        ] {
            assert!(parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn libpq_gets_everything_but_what_is_about_tls() {
        let address =
            parse("postgres://me:p%40ss@a:6000,b/chat?sslmode=require&options=-c%20x%3Dy&sslcert=a&sslkey=b")
                .unwrap();
        assert_eq!(
            address.for_libpq(Some("/tmp/x")),
            "postgres://me:p%40ss@%2Ftmp%2Fx:1,%2Ftmp%2Fx:2/chat?options=-c%20x%3Dy&sslmode=disable"
        );
        let address = parse("postgres://me@%2Frun/chat?sslmode=prefer").unwrap();
        assert_eq!(address.for_libpq(None), "postgres://me@%2Frun:5432/chat?sslmode=disable");
    }

    #[test]
    fn the_password_is_not_printed() {
        let address = parse("postgres://me:hush@db/chat").unwrap();
        assert!(!format!("{address:?}").contains("hush"));
    }

    #[test]
    fn what_stays_on_this_machine_is_local() {
        for (url, is_local) in [
            ("postgres://localhost/chat", true),
            ("postgres://127.0.0.1/chat", true),
            ("postgres://[::1]/chat", true),
            ("postgres:///chat", true),
            ("postgres://%2Fvar%2Frun/chat", true),
            ("postgres://db/chat", false),
            ("postgres://localhost/chat?hostaddr=10.0.0.7", false),
            ("postgres:///chat?host=/var/run&hostaddr=10.0.0.7", false),
        ] {
            let hosts = parse(url).unwrap().hosts;
            assert_eq!(hosts[0].is_local(), is_local, "{url}");
            assert!(is_local || !hosts[0].is_socket(), "{url}");
        }
    }
}
