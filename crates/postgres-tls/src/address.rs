//! Reading the address of a database as libpq does, as far as TLS is concerned.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Error;
use crate::host::Host;
use crate::parameters::ConnectionParameters;

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

/// An address, taken apart.
#[derive(PartialEq, Eq)]
pub(crate) struct ServerAddress {
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

impl std::fmt::Debug for ServerAddress {
    /// Leaves the user and the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerAddress")
            .field("hosts", &self.hosts)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl ServerAddress {
    /// Takes an address apart. `environment` has the variables of libpq.
    pub(crate) fn parse(
        url: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let environment = |name: &str| environment(name).filter(|value| !value.is_empty());
        let (scheme, rest) = url.split_once("://").ok_or(Error::Address)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (head, database) = place.split_at(place.find('/').unwrap_or(place.len()));
        // Of several, libpq takes what follows the first for a host, and repeats it in an error.
        if place.matches('@').count() > 1 || database.contains('@') {
            return Err(Error::Address);
        }
        let (user, hosts) = head.split_once('@').unwrap_or(("", head));
        let mut read = ConnectionParameters::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            read.add(pair)?;
        }
        let hosts = read.hosts(hosts, &environment)?;
        let is_written = read.authorities.is_some() || read.certificate.is_some();
        let mode = read.mode.take().or_else(|| environment("PGSSLMODE"));
        let authorities = read
            .authorities
            .take()
            .or_else(|| environment("PGSSLROOTCERT"));
        let has_mode = mode.is_some();
        let mode = mode_of(mode.as_deref(), authorities.as_deref())?;
        if mode.is_some() {
            read.check_supported(&environment)?;
        } else if is_written && !has_mode {
            return Err(Error::parameter(
                "sslmode",
                "it is missing, and without it there is no TLS",
            ));
        }
        Ok(Self {
            front: format!(
                "{scheme}://{}",
                if user.is_empty() {
                    String::new()
                } else {
                    format!("{user}@")
                }
            ),
            hosts,
            database: database.to_owned(),
            has_mode,
            mode,
            authorities: authorities.filter(|file| file != "system"),
            identity: if mode.is_some() {
                read.identity(&environment)?
            } else {
                None
            },
            connect_seconds: read.connect_seconds,
            others: read.others,
        })
    }

    /// The address for libpq, which has no TLS: to sockets in this folder, which has one for each
    /// host, numbered like ports; or to the hosts themselves, which are sockets then.
    pub(crate) fn for_libpq(&self, folder: Option<&str>) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let places = self
            .hosts
            .iter()
            .zip(1..)
            .map(|(host, number)| match folder {
                Some(folder) => format!("{}:{number}", encode(folder)),
                None => format!("{}:{}", encode(&host.name), host.port),
            });
        let places = places.collect::<Vec<_>>().join(",");
        let parameters: Vec<&str> = self
            .others
            .iter()
            .map(String::as_str)
            .chain(["sslmode=disable"])
            .collect();
        format!(
            "{}{places}{}?{}",
            self.front,
            self.database,
            parameters.join("&")
        )
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
        _ if of_system => Err(Error::parameter(
            "sslmode",
            "with the authorities of the system it must be verify-full",
        )),
        Mode::VerifyCa if authorities.is_none() => Err(Error::parameter(
            "sslmode",
            "verify-ca needs the file of an authority, as sslrootcert",
        )),
        // As in libpq.
        Mode::Require if authorities.is_some() => Ok(Some(Mode::VerifyCa)),
        _ => Ok(Some(mode)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<ServerAddress, Error> {
        ServerAddress::parse(url, |_| None)
    }

    fn mode(url: &str) -> Option<Mode> {
        parse(url).unwrap().mode
    }

    #[test]
    fn the_mode_is_that_of_libpq() {
        assert_eq!(mode("postgres://db/chat"), None);
        assert_eq!(mode("postgres://db/chat?sslmode="), None);
        assert_eq!(mode("postgres://db/chat?sslmode=disable"), None);
        assert_eq!(
            mode("postgres://db/chat?sslmode=prefer"),
            Some(Mode::Prefer)
        );
        assert_eq!(
            mode("postgres://db/chat?sslmode=require"),
            Some(Mode::Require)
        );
        assert_eq!(mode("postgres://db/chat?ssl=true"), Some(Mode::Require));
        assert_eq!(
            mode("postgres://db/chat?sslmode=require&sslrootcert=ca.pem"),
            Some(Mode::VerifyCa)
        );
        assert_eq!(
            mode("postgres://db?sslmode=verify-ca&sslrootcert=ca.pem"),
            Some(Mode::VerifyCa)
        );
        assert_eq!(
            mode("postgres://db?sslmode=verify-full"),
            Some(Mode::VerifyFull)
        );
        assert_eq!(
            mode("postgres://db?sslrootcert=system"),
            Some(Mode::VerifyFull)
        );
        let by_environment = ServerAddress::parse("postgres://db", |name| {
            (name == "PGSSLMODE").then(|| "require".to_owned())
        });
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
            assert!(
                error.to_string().starts_with(&format!("{name}: ")),
                "{parameters}: {error}"
            );
        }
        for parameters in [
            "requirepeer=postgres",
            "sslmode=require&sslnegotiation=postgres",
            "sslmode=require&ssl_min_protocol_version=TLSv1.2&channel_binding=prefer",
        ] {
            assert!(
                parse(&format!("postgres://db/chat?{parameters}")).is_ok(),
                "{parameters}"
            );
        }
        for variable in ["PGHOSTADDR", "PGSERVICE"] {
            let set = |name: &str| (name == variable).then(|| "x".to_owned());
            assert!(
                ServerAddress::parse("postgres://db?sslmode=require", set).is_err(),
                "{variable}"
            );
        }
    }

    #[test]
    fn hosts_stand_before_the_path_or_among_the_parameters() {
        let host = |name: &str, port| Host {
            name: name.to_owned(),
            address: None,
            port,
        };
        for (url, hosts) in [
            (
                "postgres://me:p%40ss@db.example/chat",
                vec![host("db.example", 5432)],
            ),
            (
                "postgres://me@db:6000,[::1]:6001,[::2]",
                vec![host("db", 6000), host("::1", 6001), host("::2", 5432)],
            ),
            ("postgres://%2Fvar%2Frun/chat", vec![host("/var/run", 5432)]),
            (
                "postgres:///chat?host=a,b&port=1,2",
                vec![host("a", 1), host("b", 2)],
            ),
            (
                "postgres:///chat?host=a,b&port=1",
                vec![host("a", 1), host("b", 1)],
            ),
            ("postgres://me@:6000/chat?host=db", vec![host("db", 6000)]),
        ] {
            assert_eq!(parse(url).unwrap().hosts, hosts, "{url}");
        }
        let hosts = parse("postgres://db/chat?hostaddr=10.0.0.7").unwrap().hosts;
        assert_eq!(
            hosts,
            [Host {
                address: Some("10.0.0.7".to_owned()),
                ..host("db", 5432)
            }]
        );
        let set = |name: &str| match name {
            "PGHOST" => Some("db".to_owned()),
            "PGPORT" => Some("6000".to_owned()),
            _ => None,
        };
        assert_eq!(
            ServerAddress::parse("postgres:///chat", set).unwrap().hosts,
            [host("db", 6000)]
        );
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
        assert_eq!(
            address.for_libpq(None),
            "postgres://me@%2Frun:5432/chat?sslmode=disable"
        );
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
