//! TLS to PostgreSQL for clients that cannot do it themselves, such as a libpq that was built without OpenSSL.
//!
//! A [`Route`] reads an address as libpq does. Where the address demands TLS, the route opens a Unix socket in a
//! folder that only its owner may enter, and carries every connection that is made there to the server, in TLS. The
//! client gets an address that leads to the socket. Any client of the protocol can use it: a pool, a listener for
//! notifications, a request to cancel. Where TLS is not asked for, the address stays as it is and nothing lies
//! between.
//!
//! ```
//! let route = eddyline_postgres_tls::Route::open("postgres://me@localhost/chat")?;
//! assert_eq!(route.url(), "postgres://me@localhost/chat");
//! # Ok::<(), eddyline_postgres_tls::Error>(())
//! ```
//!
//! `sslmode`, `sslrootcert`, `sslcert` and `sslkey` mean what they mean to libpq, with two differences: the default of
//! `sslmode` is `disable`, and authorities that no file names are those of the system.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "what fails here shall end the test"))]

mod address;
mod tunnel;
mod verify;

use std::borrow::Cow;
use std::path::PathBuf;

use crate::address::Address;
use crate::tunnel::Tunnel;

/// How the server of an address is reached. Connections end when it is dropped.
#[derive(Debug)]
pub struct Route {
    url: String,
    is_exposed: bool,
    _tunnel: Option<Tunnel>,
}

/// Why there is no way to a server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be read. It is not repeated, since it may hold a password.
    #[error("the address of the database cannot be read; user and password in it must be percent-encoded")]
    Address,
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
    #[error("the sockets for TLS to the database could not be made: {0}")]
    Socket(std::io::Error),
}

impl Error {
    pub(crate) fn file(path: &str, source: rustls_pki_types::pem::Error) -> Self {
        Self::File { path: path.into(), source }
    }
}

impl Route {
    /// The way to the server of this address, `postgres://…` or `postgresql://…`. No connection is made yet.
    ///
    /// # Errors
    /// When the address cannot be read, when it asks for what is not supported, and when files or sockets are not to
    /// be had.
    pub fn open(url: &str) -> Result<Self, Error> {
        let address = Address::parse(url, |name| std::env::var(name).ok())?;
        let is_exposed = !address.has_mode && address.hosts.iter().any(|host| !host.is_local());
        let Some(mode) = address.mode else {
            return Ok(Self { url: url.to_owned(), is_exposed, _tunnel: None });
        };
        let sockets = address.hosts.iter().filter(|host| host.is_socket()).count();
        if sockets == address.hosts.len() {
            return Ok(Self { url: address.for_libpq(None), is_exposed, _tunnel: None });
        }
        if sockets > 0 || address.hosts.iter().any(|host| host.name.is_empty()) {
            let why = "it needs the names of the hosts";
            return Err(Error::Parameter { name: "sslmode".to_owned(), why });
        }
        let tunnel = Tunnel::open(&address, mode)?;
        Ok(Self { url: address.for_libpq(Some(&tunnel.folder())), is_exposed, _tunnel: Some(tunnel) })
    }

    /// The address for a client without TLS.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether connections leave this machine without encryption, and the address does not say that this is meant.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        self.is_exposed
    }
}

/// What a client says of a connection that failed, without the socket, which tells an operator nothing.
#[must_use]
pub fn without_socket(text: &str) -> Cow<'_, str> {
    const REFUSED: &str = "FATAL:  ";
    let socket = text.find("connection to server on socket").filter(|_| text.contains(tunnel::FOLDER_PREFIX));
    match (socket, text.find(REFUSED)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{}", &text[..from], text[to + REFUSED.len()..].trim_end()).into()
        }
        _ => text.into(),
    }
}

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
            assert_eq!(Route::open(url).unwrap().url(), url);
        }
    }

    #[test]
    fn a_connection_over_a_socket_needs_no_tls() {
        let route = Route::open("postgres://me@%2Fvar%2Frun/chat?sslmode=require").unwrap();
        assert_eq!(route.url(), "postgres://me@/chat?host=%2Fvar%2Frun&port=5432&sslmode=disable");
    }

    #[test]
    fn a_connection_that_leaves_the_machine_unencrypted_is_exposed() {
        for (url, is_exposed) in [
            ("postgres://db/chat", true),
            ("postgres://db/chat?sslmode=disable", false),
            ("postgres://db/chat?sslmode=require", false),
            ("postgres://localhost/chat", false),
        ] {
            assert_eq!(Route::open(url).unwrap().is_exposed(), is_exposed, "{url}");
        }
    }

    #[test]
    fn an_error_does_not_name_the_socket() {
        let text =
            "connection to server on socket \"/tmp/eddyline-postgres-x/.s.PGSQL.1\" failed: FATAL:  no TLS\n";
        assert_eq!(without_socket(text), "no TLS");
        let other = "connection to server on socket \"/var/run/.s.PGSQL.1\" failed: FATAL:  no role\n";
        assert_eq!(without_socket(other), other);
    }
}
