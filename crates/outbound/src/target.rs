//! The place that an address names: read once, resolved once, and connected to as it was checked.

use std::any::Any;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use url::{Host, Url};

use crate::Config;
use crate::error::Error;
use crate::guard::is_public;

/// The longest address that is read.
const MAX_URL: usize = 8 * 1024;

/// The most addresses of one host that are tried.
const MAX_ADDRESSES: usize = 4;

/// Finds the addresses of a host for a port. It may block.
pub(crate) type Lookup = Arc<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// As this machine is set up to.
pub(crate) fn by_system() -> Lookup {
    Arc::new(|host, port| Ok((host, port).to_socket_addrs()?.collect()))
}

#[derive(Debug)]
pub(crate) struct Target {
    https: bool,
    host: Host,
    port: u16,
    /// Path and query, percent-encoded.
    pub(crate) path: http::Uri,
    pub(crate) host_header: HeaderValue,
}

/// Checks that an address can be asked at all, whatever its host is.
///
/// # Errors
///
/// [`Error::BadUrl`], as any request to it would end.
pub fn check_url(text: &str) -> Result<(), Error> {
    Target::parse(text).map(drop)
}

impl Target {
    /// Reads an address as browsers do, so that `http://2130706433/` is what they would take it
    /// for.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_URL {
            return Err(Error::BadUrl("is too long"));
        }
        let url = Url::parse(text).map_err(|_| Error::BadUrl("cannot be read"))?;
        let https = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(Error::BadUrl("begins with neither http: nor https:")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::BadUrl("contains a user name or a password"));
        }
        let unreadable = || Error::BadUrl("cannot be read");
        let host = url.host().ok_or_else(unreadable)?.to_owned();
        let port = url.port_or_known_default().ok_or_else(unreadable)?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        Ok(Self {
            https,
            host,
            port,
            path: path.parse().map_err(|_| unreadable())?,
            host_header: HeaderValue::from_str(&authority).map_err(|_| unreadable())?,
        })
    }

    /// The addresses of the host, all of which may be connected to. What is `held` is kept until
    /// the look-up has ended, which does not end with the task that waits for it.
    pub(crate) async fn resolve(
        &self,
        config: &Config,
        lookup: &Lookup,
        held: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Result<Vec<SocketAddr>, Error> {
        let found: Vec<SocketAddr> = match &self.host {
            Host::Ipv4(address) => vec![(*address, self.port).into()],
            Host::Ipv6(address) => vec![(*address, self.port).into()],
            // Always this machine, whatever a name server says (RFC 6761, section 6.3).
            Host::Domain(name) if is_localhost(name) => {
                vec![
                    (Ipv4Addr::LOCALHOST, self.port).into(),
                    (Ipv6Addr::LOCALHOST, self.port).into(),
                ]
            }
            Host::Domain(name) => {
                let (name, port, lookup) = (name.clone(), self.port, lookup.clone());
                let found = tokio::task::spawn_blocking(move || {
                    let _held = held;
                    lookup(&name, port)
                });
                found
                    .await
                    .map_err(Error::connect)?
                    .map_err(Error::connect)?
            }
        };
        checked(found, config)
    }

    /// Connects to the first of these that takes the connection. One that does not answer leaves
    /// time for the others.
    pub(crate) async fn connect(
        &self,
        addresses: &[SocketAddr],
        within: Duration,
    ) -> Result<TcpStream, Error> {
        let share = within / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut failure = Error::connect("the host has no address");
        for address in addresses {
            failure = match tokio::time::timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => Error::connect(error),
                Err(_) => Error::Timeout,
            };
        }
        Err(failure)
    }

    /// Who the host has to prove to be; `None` without TLS.
    pub(crate) fn server_name(&self) -> Result<Option<ServerName<'static>>, Error> {
        if !self.https {
            return Ok(None);
        }
        let name = match &self.host {
            Host::Ipv4(address) => ServerName::from(IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::from(*address)),
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name).to_owned();
                ServerName::try_from(name)
                    .map_err(|_| Error::BadUrl("has a host that cannot prove itself"))?
            }
        };
        Ok(Some(name))
    }
}

/// Whether it is known without any look-up that a host is not public: an address that is not
/// ([`is_public`]), or a name of this machine.
#[must_use]
pub fn is_private_host(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => !is_public((*address).into()),
        Host::Ipv6(address) => !is_public((*address).into()),
        Host::Domain(name) => is_localhost(name),
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// A host with public and other addresses is refused as a whole: either somebody tries what they
/// can reach, or it would work or fail by chance.
fn checked(mut found: Vec<SocketAddr>, config: &Config) -> Result<Vec<SocketAddr>, Error> {
    if !found.iter().all(|address| config.allows(*address)) {
        return Err(Error::ForbiddenAddress);
    }
    found.truncate(MAX_ADDRESSES);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn the_host_is_what_a_browser_would_take_it_for() {
        let loopback: Host = Host::Ipv4([127, 0, 0, 1].into());
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://%31%32%37.0.0.1/",
            "http://１２７.0.0.1/",
            "http:\\\\127.0.0.1\\",
            "http:127.0.0.1",
            "  http://127.0.0.1  ",
            "http://127.0.0.1#@example.com/",
            "http://127.0.0.1\\@example.com/",
        ] {
            assert_eq!(target(url).host, loopback, "{url}");
        }
        assert_eq!(
            target("http://[::ffff:7f00:1]/").host,
            target("http://[::FFFF:127.0.0.1]/").host
        );
    }

    #[test]
    fn what_cannot_be_asked_is_a_bad_address() {
        for url in [
            "",
            "example.com",
            "/path",
            "//example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://127.0.0.1:6379/_x",
            "javascript:alert(1)",
            "unix:/run/x.sock",
            "http://",
            "http://:80/",
            "http://example.com:65536/",
            "http://user@example.com/",
            "http://user:pass@example.com/",
            "http://:pass@example.com/",
            "http://256.0.0.1/",
            "http://1.2.3.4.5/",
            "http://[::1/",
            "http://[fe80::1%25eth0]/",
            "http://exa mple.com/",
            "http://exa\0mple.com/",
        ] {
            assert!(
                matches!(Target::parse(url), Err(Error::BadUrl(_))),
                "{url:?}"
            );
        }
        let long = format!("http://example.com/{}", "a".repeat(MAX_URL));
        assert!(matches!(
            Target::parse(&long),
            Err(Error::BadUrl("is too long"))
        ));
    }

    #[test]
    fn path_and_host_cannot_break_out_of_their_lines() {
        let target = target("http://example.com:8080/a b\r\nX: y/é?q=\"<\r\n>#f");
        assert_eq!(target.path.to_string(), "/a%20bX:%20y/%C3%A9?q=%22%3C%3E");
        assert_eq!(target.host_header, "example.com:8080");
    }

    #[test]
    fn tls_asks_for_the_name_of_the_host() {
        let name = |url: &str| {
            target(url)
                .server_name()
                .unwrap()
                .map(|name| name.to_str().into_owned())
        };
        assert_eq!(
            name("https://EXAMPLE.com./").as_deref(),
            Some("example.com")
        );
        assert_eq!(
            name("https://bücher.example/").as_deref(),
            Some("xn--bcher-kva.example")
        );
        assert_eq!(
            name("https://[2606:4700::1]/").as_deref(),
            Some("2606:4700::1")
        );
        assert_eq!(name("http://example.com/"), None);
    }

    #[test]
    fn one_private_address_spoils_the_host() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let public = vec![address("8.8.8.8:80"), address("[2606:4700::1]:80")];
        let mixed = vec![address("8.8.8.8:80"), address("127.0.0.1:80")];
        let strict = Config::default();
        assert_eq!(checked(public.clone(), &strict).unwrap(), public);
        assert!(matches!(
            checked(mixed.clone(), &strict),
            Err(Error::ForbiddenAddress)
        ));
        let open = Config {
            allow_private: true,
            ..strict
        };
        assert_eq!(checked(mixed.clone(), &open).unwrap(), mixed);
        assert_eq!(
            checked(vec![address("8.8.8.8:80"); 9], &strict)
                .unwrap()
                .len(),
            MAX_ADDRESSES
        );
    }

    #[test]
    fn an_exception_is_one_address_with_its_port() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let config = Config {
            private_exception: Some(address("127.0.0.1:8090")),
            ..Config::default()
        };
        let allowed = |text| checked(vec![address(text)], &config).is_ok();
        assert!(allowed("127.0.0.1:8090"));
        assert!(!allowed("127.0.0.1:8080"), "another port");
        assert!(!allowed("127.0.0.2:8090"), "another address");
    }

    #[tokio::test]
    async fn names_of_this_machine_are_refused_however_they_are_written() {
        for url in [
            "http://localhost/",
            "http://LOCALHOST./",
            "https://a.localhost:8443/",
            "http://[::]/",
            "http://0/",
        ] {
            let refused = target(url)
                .resolve(&Config::default(), &by_system(), None)
                .await;
            assert!(
                matches!(refused, Err(Error::ForbiddenAddress)),
                "{url}: {refused:?}"
            );
        }
    }
}
