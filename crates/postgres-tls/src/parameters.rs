//! The parameters of an address: what stands behind its question mark, or in the environment.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::Error;
use crate::host::Host;

/// The port of PostgreSQL where an address names none.
const PORT: u16 = 5432;

/// The parameters of libpq that are not supported with TLS, the values that mean what happens
/// anyway, and why others are refused.
const UNSUPPORTED: [(&str, &[&str], &str); 11] = [
    (
        "channel_binding",
        &["disable", "prefer"],
        "it is not supported; verify-full protects against the same",
    ),
    (
        "gssencmode",
        &["disable", "prefer"],
        "it is not supported with TLS",
    ),
    ("requirepeer", &[], "it is for Unix sockets"),
    (
        "service",
        &[],
        "a file of services is not supported with TLS",
    ),
    (
        "ssl_max_protocol_version",
        &["TLSv1.3"],
        "TLS 1.2 and 1.3 are supported",
    ),
    (
        "ssl_min_protocol_version",
        &["TLSv1", "TLSv1.1", "TLSv1.2"],
        "TLS 1.2 and 1.3 are supported",
    ),
    ("sslcertmode", &["allow"], "it is not supported"),
    (
        "sslcrl",
        &[],
        "lists of revoked certificates are not supported",
    ),
    (
        "sslcrldir",
        &[],
        "lists of revoked certificates are not supported",
    ),
    (
        "sslnegotiation",
        &["postgres"],
        "TLS always begins with a request for it",
    ),
    ("sslpassword", &[], "a key with a password is not supported"),
];

/// The parameters that were read so far.
#[derive(Default)]
pub(crate) struct ConnectionParameters {
    pub(crate) mode: Option<String>,
    pub(crate) authorities: Option<String>,
    pub(crate) certificate: Option<String>,
    key: Option<String>,
    host: Option<String>,
    address: Option<String>,
    port: Option<String>,
    pub(crate) connect_seconds: Option<u64>,
    /// Those that are not about hosts or TLS, as they were written.
    pub(crate) others: Vec<String>,
}

impl ConnectionParameters {
    /// Reads one of them, `name=value`.
    pub(crate) fn add(&mut self, pair: &str) -> Result<(), Error> {
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

    /// The hosts, of which parameters count more than what stands before the path, and that more
    /// than the environment.
    pub(crate) fn hosts(
        &self,
        written: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Host>, Error> {
        let split = |list: &str| -> Vec<String> { list.split(',').map(str::to_owned).collect() };
        let (mut names, mut ports): (Vec<String>, Vec<Option<u16>>) = written
            .split(',')
            .map(host)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip();
        let is_unnamed = |names: &[String]| names.iter().all(String::is_empty);
        if let Some(list) = self
            .host
            .clone()
            .or_else(|| environment("PGHOST").filter(|_| is_unnamed(&names)))
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
            ports = split(list)
                .iter()
                .map(|port| port_of(port))
                .collect::<Result<_, _>>()?;
        }
        let default = environment("PGPORT")
            .and_then(|port| port.parse().ok())
            .unwrap_or(PORT);
        if ports.len() > 1 && ports.len() != names.len() {
            return Err(Error::Hosts);
        }
        let host = |(number, name): (usize, String)| Host {
            name,
            address: addresses
                .get(number)
                .filter(|address| !address.is_empty())
                .cloned(),
            port: ports
                .get(number)
                .or_else(|| ports.first())
                .copied()
                .flatten()
                .unwrap_or(default),
        };
        Ok(names.into_iter().enumerate().map(host).collect())
    }

    /// Refuses what would be ignored, or would lead libpq past the tunnel.
    pub(crate) fn check_supported(
        &self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), Error> {
        for pair in &self.others {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            let known = UNSUPPORTED
                .iter()
                .find(|(unsupported, ..)| *unsupported == name);
            if let Some((name, harmless, why)) = known
                && !value.is_empty()
                && !harmless.contains(&&*value)
            {
                return Err(Error::parameter(name, why));
            }
        }
        for name in [
            "PGHOSTADDR",
            "PGSERVICE",
            "PGSSLCRL",
            "PGSSLCRLDIR",
            "PGREQUIREPEER",
        ] {
            if environment(name).is_some() {
                return Err(Error::parameter(
                    name,
                    "this variable is not supported with TLS",
                ));
            }
        }
        Ok(())
    }

    /// The files of the client's certificate and key.
    pub(crate) fn identity(
        &mut self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<(String, String)>, Error> {
        let certificate = self.certificate.take().or_else(|| environment("PGSSLCERT"));
        match (
            certificate,
            self.key.take().or_else(|| environment("PGSSLKEY")),
        ) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            _ => Err(Error::parameter(
                "sslcert",
                "sslcert and sslkey belong together",
            )),
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
    if text.is_empty() {
        Ok(None)
    } else {
        text.parse().map(Some).map_err(|_| Error::Address)
    }
}

fn decode(text: &str) -> Result<Cow<'_, str>, Error> {
    percent_decode_str(text)
        .decode_utf8()
        .map_err(|_| Error::Address)
}
