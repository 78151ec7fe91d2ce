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
        self.name.starts_with(['/', '@'])
    }

    /// Whether what is sent there stays on this machine.
    pub(crate) fn is_local(&self) -> bool {
        let target = self.address.as_ref().unwrap_or(&self.name);
        let ip = target.parse::<std::net::IpAddr>();
        self.is_socket() || target.is_empty() || target == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

/// An address, taken apart.
#[derive(Debug, PartialEq, Eq)]
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
}

/// The parameters of libpq about TLS that are not supported, and why.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("sslcrl", "lists of revoked certificates are not supported"),
    ("sslcrldir", "lists of revoked certificates are not supported"),
    ("sslpassword", "a key with a password is not supported"),
    ("sslnegotiation", "TLS always begins with a request for it"),
    ("ssl_min_protocol_version", "TLS 1.2 and 1.3 are supported, nothing older"),
    ("ssl_max_protocol_version", "TLS 1.2 and 1.3 are supported, nothing older"),
    ("requirepeer", "it is for Unix sockets without TLS"),
];

impl Address {
    /// Takes an address apart. `environment` has the variables of libpq.
    pub(crate) fn parse(url: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").ok_or(Error::Address)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (head, database) = place.split_at(place.find('/').unwrap_or(place.len()));
        let (user, hosts) = head.rsplit_once('@').map_or(("", head), |(user, hosts)| (user, hosts));
        let mut read = Read::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            read.parameter(pair)?;
        }
        let mode = read.mode.take().or_else(|| environment("PGSSLMODE").filter(|mode| !mode.is_empty()));
        let authorities = read.authorities.take().or_else(|| environment("PGSSLROOTCERT"));
        Ok(Self {
            front: format!("{scheme}://{}", if user.is_empty() { String::new() } else { format!("{user}@") }),
            hosts: read.hosts(hosts)?,
            database: database.to_owned(),
            has_mode: mode.is_some(),
            mode: mode_of(mode.as_deref(), authorities.as_deref())?,
            authorities: authorities.filter(|file| file != "system"),
            identity: read.identity()?,
            others: read.others,
        })
    }

    /// The address for libpq, which has no TLS: to the hosts themselves, or through sockets in a folder, which has one
    /// for each of them, numbered like ports.
    pub(crate) fn for_libpq(&self, sockets: Option<&str>) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let list = |of: &dyn Fn((usize, &Host)) -> String| {
            self.hosts.iter().enumerate().map(of).collect::<Vec<_>>().join(",")
        };
        let mut parameters = match sockets {
            Some(folder) => vec![
                format!("host={}", list(&|_| encode(folder))),
                format!("port={}", list(&|(number, _)| (number + 1).to_string())),
            ],
            None => vec![
                format!("host={}", list(&|(_, host)| encode(&host.name))),
                format!("port={}", list(&|(_, host)| host.port.to_string())),
            ],
        };
        if sockets.is_none() && self.hosts.iter().any(|host| host.address.is_some()) {
            let address = |host: &Host| encode(host.address.as_deref().unwrap_or_default());
            parameters.push(format!("hostaddr={}", list(&|(_, host)| address(host))));
        }
        parameters.extend(self.others.iter().cloned());
        parameters.push("sslmode=disable".to_owned());
        format!("{}{}?{}", self.front, self.database, parameters.join("&"))
    }
}

fn mode_of(mode: Option<&str>, authorities: Option<&str>) -> Result<Option<Mode>, Error> {
    let named = match mode {
        None | Some("disable") => return Ok(None),
        Some("prefer") => Mode::Prefer,
        Some("require") => Mode::Require,
        Some("verify-ca") => Mode::VerifyCa,
        Some("verify-full") => Mode::VerifyFull,
        Some(_) => {
            return Err(Error::Parameter {
                name: "sslmode".to_owned(),
                why: "there are disable, prefer, require, verify-ca and verify-full",
            });
        }
    };
    Ok(Some(match (named, authorities) {
        (Mode::VerifyCa, Some("system")) => {
            return Err(Error::Parameter {
                name: "sslrootcert".to_owned(),
                why: "with the authorities of the system, sslmode must be verify-full: they sign for anybody",
            });
        }
        // As libpq does: who names an authority wants it looked at.
        (Mode::Require, Some(file)) if file != "system" => Mode::VerifyCa,
        (mode, _) => mode,
    }))
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
            // The server takes them or leaves them; here there is no compression, and the name is always sent.
            "sslcompression" | "sslsni" => return Ok(()),
            "channel_binding" if value == "require" => {
                let why = "it is not supported; verify-full protects against the same";
                return Err(Error::Parameter { name: name.into_owned(), why });
            }
            _ => {
                if let Some((_, why)) = UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == name) {
                    return Err(Error::Parameter { name: name.into_owned(), why });
                }
                self.others.push(pair.to_owned());
                return Ok(());
            }
        };
        *place = Some(value);
        Ok(())
    }

    /// The hosts, of which parameters count more than what stands before the path.
    fn hosts(&self, written: &str) -> Result<Vec<Host>, Error> {
        let mut hosts: Vec<Host> = written.split(',').map(host).collect::<Result<_, _>>()?;
        let values = |list: &Option<String>| -> Option<Vec<String>> {
            Some(list.as_ref()?.split(',').map(str::to_owned).collect())
        };
        if let Some(names) = values(&self.host) {
            hosts = names.into_iter().map(|name| Host { name, address: None, port: PORT }).collect();
        }
        if let Some(addresses) = values(&self.address) {
            if hosts.len() == 1 && hosts[0].name.is_empty() {
                hosts = vec![hosts[0].clone(); addresses.len()];
            }
            if hosts.len() != addresses.len() {
                return Err(Error::Address);
            }
            for (host, address) in hosts.iter_mut().zip(addresses) {
                host.address = Some(address).filter(|address| !address.is_empty());
            }
        }
        if let Some(ports) = values(&self.port) {
            for (number, host) in hosts.iter_mut().enumerate() {
                let port = if ports.len() == 1 { ports.first() } else { ports.get(number) };
                host.port = port_of(port.ok_or(Error::Address)?)?;
            }
        }
        Ok(hosts)
    }

    fn identity(&mut self) -> Result<Option<(String, String)>, Error> {
        match (self.certificate.take(), self.key.take()) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            _ => Err(Error::Parameter {
                name: "sslcert".to_owned(),
                why: "sslcert and sslkey belong together",
            }),
        }
    }
}

/// A host with its port: `name`, `name:port`, `[IPv6]:port`, or an encoded folder.
fn host(text: &str) -> Result<Host, Error> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').ok_or(Error::Address)?;
            (name, port.strip_prefix(':'))
        }
        None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
    };
    Ok(Host { name: decode(name)?.into_owned(), address: None, port: port.map_or(Ok(PORT), port_of)? })
}

fn port_of(text: &str) -> Result<u16, Error> {
    if text.is_empty() { Ok(PORT) } else { text.parse().map_err(|_| Error::Address) }
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
        assert_eq!(mode("postgres://db/chat?sslmode=disable"), None);
        assert_eq!(mode("postgres://db/chat?sslmode=prefer"), Some(Mode::Prefer));
        assert_eq!(mode("postgres://db/chat?sslmode=require"), Some(Mode::Require));
        assert_eq!(mode("postgres://db/chat?sslmode=require&sslrootcert=ca.pem"), Some(Mode::VerifyCa));
        assert_eq!(mode("postgres://db?sslmode=verify-ca"), Some(Mode::VerifyCa));
        assert_eq!(mode("postgres://db?sslmode=verify-full&sslrootcert=system"), Some(Mode::VerifyFull));
        let by_environment =
            Address::parse("postgres://db", |name| (name == "PGSSLMODE").then(|| "require".to_owned()));
        assert_eq!(by_environment.unwrap().mode, Some(Mode::Require));
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        for (parameter, name) in [
            ("sslmode=allow", "sslmode"),
            ("sslmode=verify-ca&sslrootcert=system", "sslrootcert"),
            ("sslcert=me.pem", "sslcert"),
            ("sslcrl=list.pem", "sslcrl"),
            ("channel_binding=require", "channel_binding"),
        ] {
            let error = parse(&format!("postgres://db/chat?{parameter}")).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{name}: ")), "{error}");
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
        ] {
            assert_eq!(parse(url).unwrap().hosts, hosts, "{url}");
        }
        let hosts = parse("postgres://db/chat?hostaddr=10.0.0.7").unwrap().hosts;
        assert_eq!(hosts, [Host { address: Some("10.0.0.7".to_owned()), ..host("db", 5432) }]);
        for url in ["db/chat", "postgres://[::1/chat", "postgres://db:one/chat", "postgres://a?hostaddr=1,2"]
        {
            assert!(parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn libpq_gets_everything_but_what_is_about_tls() {
        let address =
            parse("postgres://me:p%40ss@db:6000/chat?sslmode=require&options=-c%20x%3Dy&sslcert=a&sslkey=b");
        let address = address.unwrap();
        assert_eq!(
            address.for_libpq(None),
            "postgres://me:p%40ss@/chat?host=db&port=6000&options=-c%20x%3Dy&sslmode=disable"
        );
        assert_eq!(
            address.for_libpq(Some("/tmp/x")),
            "postgres://me:p%40ss@/chat?host=%2Ftmp%2Fx&port=1&options=-c%20x%3Dy&sslmode=disable"
        );
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
        ] {
            assert_eq!(parse(url).unwrap().hosts[0].is_local(), is_local, "{url}");
        }
    }
}
