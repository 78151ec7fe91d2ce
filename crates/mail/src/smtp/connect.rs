//! Connecting to a mail server, with encryption and signing in.

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{
    AsyncSmtpConnection, Certificate, TlsParameters, TlsParametersBuilder,
};
use lettre::transport::smtp::extension::ClientId;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};

use crate::config::{Security, SmtpConfig};
use crate::error::{SendStep, SetupError};

/// What connecting to one address of the server may take.
pub(super) const CONNECT: Duration = Duration::from_secs(15);

/// How to get to the mail server and into it.
pub(super) struct SmtpServer {
    host: String,
    port: u16,
    encryption: Encryption,
    credentials: Option<Credentials>,
    /// What we call ourselves: the domain that our mails are from.
    hello: ClientId,
}

enum Encryption {
    None,
    StartTls(TlsParameters),
    Tls(TlsParameters),
}

impl SmtpServer {
    pub(super) fn new(config: &SmtpConfig, domain: &str) -> Result<Self, SetupError> {
        if ServerName::try_from(config.host.as_str()).is_err() {
            return Err(SetupError::Host(config.host.clone()));
        }
        let encryption = match config.security {
            Security::None if config.credentials.is_some() && !config.is_on_this_machine() => {
                return Err(SetupError::UnencryptedPassword(config.host.clone()));
            }
            Security::None => Encryption::None,
            Security::StartTls => Encryption::StartTls(tls(config)?),
            Security::Tls => Encryption::Tls(tls(config)?),
        };
        let credentials = config.credentials.as_ref();
        Ok(Self {
            host: config.host.clone(),
            port: config.port(),
            encryption,
            credentials: credentials
                .map(|c| Credentials::new(c.user.clone(), c.password.expose().to_owned())),
            hello: ClientId::Domain(domain.to_owned()),
        })
    }

    /// Makes a connection that is encrypted and signed in as configured.
    pub(super) async fn connect(&self) -> Result<AsyncSmtpConnection, (SendStep, Error)> {
        let address = (self.host.as_str(), self.port);
        let wrapper = match &self.encryption {
            Encryption::Tls(tls) => Some(tls.clone()),
            Encryption::None | Encryption::StartTls(_) => None,
        };
        let mut client =
            AsyncSmtpConnection::connect_tokio1(address, Some(CONNECT), &self.hello, wrapper, None)
                .await
                .map_err(|error| (opening_step(&error), error))?;
        if let Encryption::StartTls(tls) = &self.encryption {
            client
                .starttls(tls.clone(), &self.hello)
                .await
                .map_err(|error| (SendStep::Encrypt, error))?;
        }
        if let Some(credentials) = &self.credentials {
            client
                .auth(&[Mechanism::Plain, Mechanism::Login], credentials)
                .await
                .map_err(|error| (SendStep::SignIn, error))?;
        }
        Ok(client)
    }
}

/// What failed of a connection that may be encrypted from its first byte: an error of TLS is one of
/// the socket's, with the data that came.
fn opening_step(error: &Error) -> SendStep {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let of_socket = error.downcast_ref::<io::Error>();
        if of_socket.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData) {
            return SendStep::Encrypt;
        }
        cause = error.source();
    }
    SendStep::Connect
}

impl fmt::Display for SmtpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn tls(config: &SmtpConfig) -> Result<TlsParameters, SetupError> {
    let Some(path) = &config.ca_file else {
        return trusting(&config.host, Vec::new()).map_err(SetupError::Tls);
    };
    authorities(path)
        .and_then(|authorities| trusting(&config.host, authorities))
        .map_err(|why| SetupError::Authorities {
            path: path.clone(),
            why,
        })
}

fn trusting(host: &str, authorities: Vec<Certificate>) -> Result<TlsParameters, String> {
    let builder = TlsParameters::builder(host.to_owned());
    let builder = authorities
        .into_iter()
        .fold(builder, TlsParametersBuilder::add_root_certificate);
    builder.build_rustls().map_err(|error| error.to_string())
}

fn authorities(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    if certificates.is_empty() {
        return Err("there are none in PEM".to_owned());
    }
    let read = |der: CertificateDer<'_>| {
        Certificate::from_der(der.to_vec()).map_err(|error| error.to_string())
    };
    certificates.into_iter().map(read).collect()
}
