//! How mails are delivered.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// What a [`Mailer`](crate::Mailer) needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where mails go.
    pub delivery: Delivery,
    /// The mailbox that mails are from, such as `Eddyline <eddyline@example.org>` or an address
    /// alone. Its local part must be ASCII. Mail that cannot be delivered later on returns there.
    pub from: String,
}

/// Where mails go.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// To a mail server, which passes them on.
    Smtp(SmtpConfig),
    /// Into this folder, each as a file that mail programs can open.
    Outbox(PathBuf),
}

/// A mail server that takes our mails.
#[derive(Clone, Debug)]
pub struct SmtpConfig {
    /// Host name or IP address. The server's certificate must be for it.
    pub host: String,
    /// The usual port of `security` if absent.
    pub port: Option<u16>,
    /// How the connection is encrypted.
    pub security: Security,
    /// Needed by most servers that are not on this machine.
    pub credentials: Option<SmtpCredentials>,
    /// A PEM file with certificates of authorities that are trusted besides the well-known ones.
    pub ca_file: Option<PathBuf>,
}

impl SmtpConfig {
    /// A server with STARTTLS on port 587, to which one need not sign in.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: None,
            security: Security::default(),
            credentials: None,
            ca_file: None,
        }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(self.security.usual_port())
    }

    /// Whether what is sent there stays on this machine.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self
                .host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

/// How the connection to a mail server is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// It begins in the clear and is encrypted before anything is said; a server that does not
    /// offer this gets no mail.
    #[default]
    StartTls,
    /// It is encrypted from its first byte.
    Tls,
    /// It is not encrypted: for a relay on the same machine.
    None,
}

impl Security {
    /// The port on which servers offer it: 587, 465 or 25.
    pub fn usual_port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// Who we are to a mail server.
#[derive(Clone, Debug)]
pub struct SmtpCredentials {
    /// The name of the account.
    pub user: String,
    /// Its password.
    pub password: SmtpPassword,
}

/// A password that is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpPassword(String);

impl SmtpPassword {
    /// Keeps the password from being printed.
    pub fn new(password: impl Into<String>) -> Self {
        Self(password.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SmtpPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_encryption_has_its_port() {
        let mut config = SmtpConfig::new("mail.example.org");
        assert_eq!((config.security, config.port()), (Security::StartTls, 587));
        config.security = Security::Tls;
        assert_eq!(config.port(), 465);
        config.security = Security::None;
        assert_eq!(config.port(), 25);
        config.port = Some(2525);
        assert_eq!(config.port(), 2525);
    }

    #[test]
    fn only_loopback_is_on_this_machine() {
        for host in ["localhost", "LocalHost", "127.0.0.1", "127.8.8.8", "::1"] {
            assert!(SmtpConfig::new(host).is_on_this_machine(), "{host}");
        }
        for host in [
            "mail.example.org",
            "10.0.0.1",
            "localhost.example.org",
            "127.0.0.1.example.org",
        ] {
            assert!(!SmtpConfig::new(host).is_on_this_machine(), "{host}");
        }
    }

    #[test]
    fn a_password_is_not_printed() {
        let credentials = SmtpCredentials {
            user: "eddyline".into(),
            password: SmtpPassword::new("open sesame"),
        };
        assert!(!format!("{credentials:#?}").contains("sesame"));
    }
}
