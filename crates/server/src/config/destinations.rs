//! Values of the options for where the audit log is sent to.

use std::net::IpAddr;

use eddyline_auth::WebhookSecret;

use super::values::{HIDDEN, Value};

/// The address of a collector of syslog messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyslogAddress {
    /// Whether it is reached by TLS.
    pub(crate) tls: bool,
    /// Its name or its address; an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Value for SyslogAddress {
    fn parse(text: &str) -> Result<Self, String> {
        // The text is not repeated, since it may have a password in it.
        let wrong = || {
            "is not an address such as tls://logs.example.org:6514 or tcp://10.0.0.7:601".to_owned()
        };
        let url: http::Uri = text.parse().map_err(|_| wrong())?;
        let tls = match url.scheme_str() {
            Some("tcp") => false,
            Some("tls") => true,
            _ => return Err(wrong()),
        };
        let host = url.host().filter(|host| !host.is_empty());
        let port = url.port_u16().filter(|port| *port > 0);
        let is_bare = url.path_and_query().is_none_or(|path| path == "/");
        match (host, port) {
            (Some(host), Some(port)) if is_bare && !text.contains(['@', '#']) => Ok(Self {
                tls,
                host: host.to_owned(),
                port,
            }),
            _ => Err(wrong()),
        }
    }

    fn shown(text: &str) -> String {
        match text.contains('@') {
            true => HIDDEN.to_owned(),
            false => text.to_owned(),
        }
    }
}

/// The address of a webhook. It may have secrets in its path, so `Debug` and [`Value::shown`] write only
/// the host.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WebhookUrl(String);

impl std::fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.origin())
    }
}

impl WebhookUrl {
    /// The address itself; keep it out of the log.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        let url = self.0.parse::<http::Uri>().unwrap_or_default();
        let authority = url.authority().map_or("", |authority| authority.as_str());
        format!("{}://{authority}", url.scheme_str().unwrap_or_default())
    }
}

impl Value for WebhookUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let url = text.parse::<http::Uri>().ok();
        let is_valid = url.is_some_and(|url| {
            let host = url.host().unwrap_or_default();
            match url.scheme_str() {
                Some("https") => !host.is_empty(),
                Some("http") => is_this_machine(host),
                _ => false,
            }
        });
        // The text is not repeated, since it may have a secret in it.
        match is_valid && !text.contains(['@', '#']) {
            true => Ok(Self(text.to_owned())),
            false => Err(
                "must be an address that begins with https://, or with http:// for this machine"
                    .to_owned(),
            ),
        }
    }

    fn shown(text: &str) -> String {
        Self::parse(text).map_or_else(|_| HIDDEN.to_owned(), |url| url.origin())
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl Value for WebhookSecret {
    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }

    fn shown(_: &str) -> String {
        HIDDEN.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_has_a_scheme_a_host_and_a_port() {
        let read = |text: &str| {
            let address = SyslogAddress::parse(text);
            address.map(|address| (address.tls, address.host, address.port))
        };
        assert_eq!(
            read("tls://logs.example.org:6514"),
            Ok((true, "logs.example.org".to_owned(), 6514))
        );
        assert_eq!(
            read("tcp://[::1]:601"),
            Ok((false, "[::1]".to_owned(), 601))
        );
        for bad in [
            "",
            "logs.example.org:6514",
            "udp://logs.example.org:514",
            "tls://logs.example.org",
            "tls://:6514",
            "tls://logs.example.org:0",
            "tls://logs.example.org:65536",
            "tls://logs.example.org:6514/path",
            "tls://user@logs.example.org:6514",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_webhook_is_encrypted_unless_it_is_on_this_machine() {
        for good in [
            "https://siem.example.org/hooks/7?token=x",
            "https://10.0.0.7:8443/",
            "http://localhost:9000/",
            "http://127.8.9.1/a",
            "http://[::1]:9000/a",
        ] {
            assert!(WebhookUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "http://siem.example.org/",
            "http://localhost.example.org/",
            "http://10.0.0.7/",
            "ftp://localhost/",
            "https://",
            "https://user:secret@siem.example.org/",
        ] {
            let refused = WebhookUrl::parse(bad).unwrap_err();
            assert!(!refused.contains("secret"), "{refused}");
        }
        let url = WebhookUrl::parse("https://siem.example.org:8443/s3cret?t=s3cret").unwrap();
        assert_eq!(format!("{url:?}"), "https://siem.example.org:8443");
        assert_eq!(
            WebhookUrl::shown(url.expose()),
            "https://siem.example.org:8443"
        );
    }
}
