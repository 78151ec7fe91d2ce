//! The metrics of the process, on a listener of their own.

use std::net::SocketAddr;

use eddyline_app::App;
use eddyline_http::serve::{Limits, Server};
use eddyline_http::{RequestMetrics, metrics_service};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

use crate::CommandError;
use crate::archives::BackupMetrics;
use crate::sockets::{PassedSockets, SocketUse};
use crate::tls::ServerCertificate;

/// What each name begins with.
const PREFIX: &str = "eddyline";
/// Connections of those who read them.
const CONNECTIONS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

/// A listener for those who read the metrics.
pub(crate) struct MetricsListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl MetricsListener {
    /// Listens where the service manager or the settings say so, if either does.
    pub(crate) fn open(
        sockets: &mut PassedSockets,
        configured: Option<SocketAddr>,
    ) -> Result<Option<Self>, CommandError> {
        let passed = sockets.address(SocketUse::Metrics);
        let Some(address) = configured.or(passed) else {
            return Ok(None);
        };
        let listener = sockets.listen(SocketUse::Metrics, address)?;
        let address = listener.local_addr()?;
        Ok(Some(Self { listener, address }))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A server of what is counted of an application, of its requests, its backups and its certificate.
    pub(crate) fn serve(
        self,
        app: &App,
        requests: &RequestMetrics,
        backups: &BackupMetrics,
        certificate: &ServerCertificate,
    ) -> Server {
        let mut registry = Registry::with_prefix(PREFIX);
        let build = Build {
            version: env!("CARGO_PKG_VERSION"),
        };
        registry.register("build", "The version of the server", Info::new(build));
        requests.register(&mut registry);
        app.register_metrics(&mut registry);
        backups.register(&mut registry);
        certificate.register(&mut registry);
        let limits = Limits {
            connections: CONNECTIONS,
            ..Limits::default()
        };
        Server::new(limits).listen(self.listener, metrics_service(registry))
    }
}
