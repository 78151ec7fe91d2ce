#![doc = include_str!("../README.md")]
//!
//! A [`Route`] reads an address as libpq does. Where the address demands TLS, the route opens Unix
//! sockets in a folder that only its owner may enter, one for each host, and carries every
//! connection that is made there to the host, in TLS. The client gets an address that leads to the
//! sockets. Where TLS is not asked for, the client gets the address unchanged, and its connections
//! are its own.
//!
//! `sslmode`, `sslrootcert`, `sslcert` and `sslkey` mean what they mean to libpq, with these
//! differences: the default of `sslmode` is `disable`; `verify-full` trusts the authorities of the
//! system where no file names others; a name that only the common name of a certificate has does
//! not count; `prefer` does not try again without TLS after TLS has failed. With TLS there is no
//! channel binding, `.pgpass` has no entry for the sockets, and the bounds on silence
//! (`tcp_user_timeout`, `keepalives_idle`) are the crate's own.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "what fails here shall end the test")
)]

mod address;
mod host;
mod parameters;
mod tunnel;
mod verify;

use std::path::PathBuf;

use crate::address::ServerAddress;
use crate::tunnel::Tunnel;

/// How the server of an address is reached. Connections end when it is dropped.
pub struct Route {
    url: String,
    is_exposed: bool,
    _tunnel: Option<Tunnel>,
}

impl std::fmt::Debug for Route {
    /// Leaves the address out, which may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route")
            .field("is_exposed", &self.is_exposed)
            .finish_non_exhaustive()
    }
}

/// Why there is no way to a server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be read. It is not repeated, since it may hold a password.
    #[error("the address of the database cannot be read")]
    Address,
    /// A host has no name that a certificate can have, or there are not as many names as addresses
    /// or ports.
    #[error("the hosts in the address of the database cannot be read")]
    Hosts,
    /// A parameter has a value that is not supported.
    #[error("{name}: {why}")]
    Parameter {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file of certificates or with a key cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls_pki_types::pem::Error,
    },
    /// A file holds no certificate.
    #[error("there is no certificate in {}", .0.display())]
    NoCertificate(PathBuf),
    /// The system has no authorities.
    #[error("this system has no authorities that are trusted; sslrootcert names a file of one")]
    NoAuthority,
    /// TLS refuses a certificate or key that was given.
    #[error("TLS to the database: {0}")]
    Tls(rustls::Error),
    /// The sockets of the tunnel could not be made.
    #[error(
        "the sockets for TLS to the database could not be made among the temporary files (TMPDIR): {0}"
    )]
    Socket(std::io::Error),
}

impl Error {
    pub(crate) fn parameter(name: &str, why: &'static str) -> Self {
        Self::Parameter {
            name: name.to_owned(),
            why,
        }
    }

    pub(crate) fn file(path: &str, source: rustls_pki_types::pem::Error) -> Self {
        Self::File {
            path: path.into(),
            source,
        }
    }
}

impl Route {
    /// The way to the server of this address, `postgres://…` or `postgresql://…`. No connection is
    /// made yet.
    ///
    /// # Errors
    /// When the address cannot be read, when it asks for what is not supported, and when files or
    /// sockets are not to be had.
    pub fn open(url: &str) -> Result<Self, Error> {
        Self::open_with(url, |name| std::env::var(name).ok())
    }

    /// The same with these variables of libpq.
    fn open_with(url: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let address = ServerAddress::parse(url, environment)?;
        let is_exposed = address.mode.is_none()
            && !address.has_mode
            && address.hosts.iter().any(|host| !host.is_local());
        let Some(mode) = address.mode else {
            return Ok(Self {
                url: url.to_owned(),
                is_exposed,
                _tunnel: None,
            });
        };
        let sockets = address.hosts.iter().filter(|host| host.is_socket()).count();
        if sockets == address.hosts.len() {
            return Ok(Self {
                url: address.for_libpq(None),
                is_exposed,
                _tunnel: None,
            });
        }
        if sockets > 0 || address.hosts.iter().any(|host| host.name.is_empty()) {
            let why = "it needs the names of the hosts";
            return Err(Error::parameter("sslmode", why));
        }
        let tunnel = Tunnel::open(&address, mode)?;
        Ok(Self {
            url: address.for_libpq(Some(&tunnel.folder())),
            is_exposed,
            _tunnel: Some(tunnel),
        })
    }

    /// The address for a client without TLS.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether connections leave this machine without encryption, and the address does not say that
    /// this is meant.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        self.is_exposed
    }
}

/// What a client says of a connection that failed, without the sockets, which tell an operator
/// nothing. What the tunnel itself says names the host.
#[must_use]
pub fn without_socket(text: &str) -> String {
    let mut parts = text.split(ON_SOCKET);
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("\" failed: ") {
            Some((path, reason)) if path.contains(tunnel::FOLDER_PREFIX) => {
                said.push_str(reason.strip_prefix("FATAL:  ").unwrap_or(reason));
            }
            _ => said.extend([ON_SOCKET, part]),
        }
    }
    said
}

/// How libpq begins to say that it could not connect to a Unix socket.
const ON_SOCKET: &str = "connection to server on socket \"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_tls_stays_as_it_is() {
        for url in [
            "postgres://me:p%40ss@db/chat?options=-c%20x%3Dy",
            "postgresql:///chat",
            "postgres://db/chat?sslmode=disable",
        ] {
            assert_eq!(Route::open_with(url, |_| None).unwrap().url(), url);
        }
        let set = |name: &str| matches!(name, "PGSSLCERT" | "PGSERVICE").then(|| "x".to_owned());
        assert!(
            Route::open_with("postgres://db/chat", set).is_ok(),
            "they are libpq's to read"
        );
    }

    #[test]
    fn a_connection_over_a_socket_needs_no_tls() {
        let route =
            Route::open_with("postgres://me@%2Fvar%2Frun/chat?sslmode=require", |_| None).unwrap();
        assert_eq!(
            route.url(),
            "postgres://me@%2Fvar%2Frun:5432/chat?sslmode=disable"
        );
    }

    #[test]
    fn a_connection_that_leaves_the_machine_unencrypted_is_exposed() {
        for (url, is_exposed) in [
            ("postgres://db/chat", true),
            ("postgres://db/chat?sslmode=disable", false),
            ("postgres://db/chat?sslmode=require", false),
            ("postgres://db/chat?sslrootcert=system", false),
            ("postgres://localhost/chat", false),
        ] {
            assert_eq!(
                Route::open_with(url, |_| None).unwrap().is_exposed(),
                is_exposed,
                "{url}"
            );
        }
    }

    #[test]
    fn an_error_does_not_name_the_socket() {
        let text = "connection to server on socket \"/tmp/eddyline-postgres-x/.s.PGSQL.1\" failed: FATAL:  no TLS\n";
        assert_eq!(without_socket(text).trim_end(), "no TLS");
        let several = format!(
            "{text}{}",
            text.replace(".1", ".2")
                .replace("FATAL:  no TLS", "timeout expired")
        );
        assert_eq!(without_socket(&several), "no TLS\ntimeout expired\n");
        let other =
            "connection to server on socket \"/var/run/.s.PGSQL.1\" failed: FATAL:  no role\n";
        assert_eq!(without_socket(other), other);
    }
}
