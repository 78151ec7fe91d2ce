//! Runs the server until it is told to stop.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use eddyline_app::{
    Addresses, App, AuditConfig, AuditDestination, Background, Config, FilesConfig, FlowLimits,
    InvitationLimits, MailQuotas, MailRate, Mailing, OAuthConfig, OutboundConfig, PasswordPolicy,
    Profile, SignInLimits,
};
use eddyline_http::serve::{BodyLimit, Limits, Server};
use eddyline_http::{RequestMetrics, TrustedProxies};
use eddyline_model::paths::is_page;
use eddyline_storage::{Options, Store};
use tokio::sync::oneshot;

use crate::CommandError;
use crate::archives::BackupTaker;
use crate::config::{self, BackupPlace, LogFormat, Settings};
use crate::logging::ProcessLog;
use crate::metrics::MetricsListener;
use crate::owners::check_file;
use crate::reload::Hangups;
use crate::signals::StopSignals;
use crate::sockets::{PassedSockets, SocketUse};
use crate::tls::ServerCertificate;
use crate::traces::HOOKS;
use crate::{audit_export, files, mail, moved, output, secret_key, service_manager};

/// How often a server tries to use the database to which its data was moved, and how long it waits
/// between.
const FOLLOW_ATTEMPTS: u32 = 20;
const FOLLOW_PAUSE: Duration = Duration::from_millis(500);

/// Serves until SIGTERM or SIGINT, on the `sockets` that were passed and on those of the settings. At
/// SIGHUP `load` gives the settings as they are then.
pub(crate) async fn run(
    settings: Settings,
    sockets: PassedSockets,
    log: ProcessLog,
    load: impl Fn() -> Result<Settings, CommandError> + Send + 'static,
) -> Result<(), CommandError> {
    let hangups = Hangups::catch()?;
    let json = settings.log_format == LogFormat::Json;
    let mut listeners = ServerListeners::new(&settings, sockets)?;
    let node = Node::start(follow_moves(settings.clone()).await?, &mut listeners, None).await?;
    let certificate = listeners.certificate.clone();
    let shown = certificate.files().cloned();
    #[expect(clippy::disallowed_methods, reason = "aborted below")]
    let following = tokio::spawn(hangups.follow(settings.clone(), load, log, shown));
    #[expect(clippy::disallowed_methods, reason = "aborted below")]
    let ordering = tokio::spawn(certificate.keep_valid());
    // Scripts wait for this to learn the addresses.
    output::listening(node.addresses(), node.metrics_address, json);
    service_manager::ready();
    let outcome = run_where_data_is(node, &settings, listeners).await;
    following.abort();
    ordering.abort();
    outcome
}

/// Runs a node. When its data is moved into another database, the next node takes over its sockets,
/// while it ends what it has begun.
async fn run_where_data_is(
    mut node: Node,
    settings: &Settings,
    mut listeners: ServerListeners,
) -> Result<(), CommandError> {
    let mut earlier = Vec::new();
    // For the time in which no node takes signals.
    let mut stopped = Box::pin(StopSignals::catch()?.requested());
    let outcome = loop {
        let (sender, moved) = oneshot::channel();
        #[expect(clippy::disallowed_methods, reason = "awaited below")]
        let running = tokio::spawn(Box::pin(node.run(sender)));
        if moved.await.is_err() {
            // Clients that connect now are refused, and go elsewhere.
            drop(listeners);
            break running.await?;
        }
        earlier.push(running);
        let next = next_node(settings, &mut listeners);
        tokio::select! {
            next = Box::pin(next) => match next {
                Ok(next) => node = next,
                Err(error) => break Err(error),
            },
            _ = &mut stopped => break Ok(()),
        }
    };
    for ended in earlier {
        if let Err(error) = ended.await? {
            // Of what it could not write any more the new database knows.
            tracing::info!(%error, "the server for the old database ended");
        }
    }
    outcome
}

/// A node on the database where the data is, which may be away for a moment.
async fn next_node(
    settings: &Settings,
    listeners: &mut ServerListeners,
) -> Result<Node, CommandError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let started = async {
            let settings = follow_moves(settings.clone()).await?;
            Node::start(settings, listeners, None).await
        };
        match started.await {
            Err(error) if attempts < FOLLOW_ATTEMPTS => {
                tracing::warn!(%error, "the database to which the data was moved cannot be used yet");
                #[expect(clippy::disallowed_methods, reason = "a signal ends it")]
                tokio::time::sleep(FOLLOW_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// The settings with the place where the data is.
async fn follow_moves(settings: Settings) -> Result<Settings, CommandError> {
    tokio::task::spawn_blocking(move || moved::follow(settings)).await?
}

/// The sockets and the certificate of a server. They outlive a node.
pub(crate) struct ServerListeners {
    sockets: PassedSockets,
    certificate: ServerCertificate,
}

impl ServerListeners {
    pub(crate) fn new(settings: &Settings, sockets: PassedSockets) -> Result<Self, CommandError> {
        Ok(Self {
            sockets,
            certificate: ServerCertificate::open(settings)?,
        })
    }
}

/// The warning about a connection to the database that others can read.
pub(crate) const EXPOSED: &str = "the connection to the database is not encrypted; add sslmode=verify-full to its address, \
     or sslmode=disable where this is meant";

/// A server that is ready to accept.
pub(crate) struct Node {
    store: Store,
    app: App,
    server: Server,
    signals: StopSignals,
    background: Background,
    metrics: Option<Server>,
    /// What takes backups, and where they go.
    backups: Option<(BackupTaker, BackupPlace)>,
    metrics_address: Option<SocketAddr>,
}

impl Node {
    /// Opens the store, starts the feed and takes the addresses. An integration that runs beside
    /// the server has an `integration` address that may be reached though it is not public.
    pub(crate) async fn start(
        settings: Settings,
        listeners: &mut ServerListeners,
        integration: Option<SocketAddr>,
    ) -> Result<Self, CommandError> {
        let sockets = &mut listeners.sockets;
        let signals = StopSignals::catch()?;
        raise_open_files();
        if settings.password_hash_kib.is_weak() {
            tracing::warn!(
                "password_hash_kib is low: passwords are easy to guess from a stolen database"
            );
        }
        let api = sockets.listen(SocketUse::Api, settings.listen)?;
        let stream = sockets.listen(SocketUse::Stream, settings.stream_listen)?;
        let metrics = MetricsListener::open(sockets, settings.metrics_listen)?;
        let metrics_address = metrics.as_ref().map(MetricsListener::address);
        let addresses = addresses(&settings, api.local_addr()?, stream.local_addr()?);
        make_directory(&settings.data_dir)?;
        let mail = mail::mailing(&settings)?;
        let files = files::open(&settings)?;
        let audit_destinations = audit_export::destinations(&settings)?;
        let store = open_store(&settings, true).await?;
        let backups = settings.backup_to.clone().zip(files.place.as_ref());
        let backups = backups.map(|(to, files)| (BackupTaker::new(&settings, &store, files), to));
        let app = open_app(
            &settings,
            store.clone(),
            addresses,
            Some(mail),
            files,
            integration,
            audit_destinations,
        )
        .await?;
        let background = app.start().await?;
        let http = http_config(&settings, metrics.is_some());
        let proxies = TrustedProxies::new(settings.trusted_proxy.clone());
        let mut server = Server::new(limits(&settings)).trust(proxies);
        if let Some(config) = listeners.certificate.server_config()? {
            server = server.tls(config);
        }
        let api_service = eddyline_http::service(app.clone(), &http);
        let stream_service = eddyline_http::stream_service(app.clone(), &http);
        let pages = eddyline_web::service(app.clone(), &http, &api_service, &stream_service);
        let server = server
            .listen(api, api_service.route_to(is_page, pages))
            .listen(stream, stream_service);
        let counted = backups.as_ref().map(|(taker, _)| taker.metrics().clone());
        let counted = counted.unwrap_or_default();
        let metrics = metrics
            .zip(http.metrics.clone())
            .map(|(listener, requests)| {
                listener.serve(&app, &requests, &counted, &listeners.certificate)
            });
        mail::tell_about_outbox(&settings)?;
        Ok(Self {
            store,
            app,
            server,
            signals,
            background,
            metrics,
            backups,
            metrics_address,
        })
    }

    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    pub(crate) fn addresses(&self) -> &Addresses {
        &self.app.config().addresses
    }

    /// Serves until SIGTERM or SIGINT, or until the data was moved into another database; then it
    /// sends on `moved`. Streams end at once, requests under way are finished within a bound, and
    /// what waits to be written is written.
    pub(crate) async fn run(self, moved: oneshot::Sender<()>) -> Result<(), CommandError> {
        let Self {
            store,
            app,
            server,
            signals,
            background,
            metrics,
            backups,
            ..
        } = self;

        let ending = async {
            tokio::select! {
                signal = signals.requested() => {
                    tracing::info!(signal, "stopping");
                    service_manager::stopping();
                }
                // Streams would miss events; better to be started again.
                error = background.failed() => {
                    tracing::error!(%error, "the feed ended; stopping");
                    service_manager::stopping();
                }
                () = store.moved() => {
                    tracing::info!("the data was moved into another database; going on there");
                    // The process may be ending.
                    let _ = moved.send(());
                }
            }
            app.end_streams();
        };
        let measured = async {
            match metrics {
                Some(metrics) => metrics.run(std::future::pending()).await,
                None => std::future::pending().await,
            }
        };
        let backed_up = async {
            match &backups {
                Some((taker, place)) => Box::pin(taker.run(place)).await,
                None => std::future::pending().await,
            }
        };
        // The metrics are there until the last answer.
        tokio::select! {
            () = server.run(ending) => {}
            () = measured => {}
            () = backed_up => {}
        }
        if let Some((taker, _)) = backups
            && let Err(error) = taker.release().await
        {
            tracing::warn!(%error, "other servers take no backup for ten minutes");
        }
        let outcome = background.stop().await;
        app.close().await;
        tracing::info!("stopped");
        Ok(outcome?)
    }
}

/// Every connection is an open file, and the usual limit of a shell is far below what a server
/// holds.
fn raise_open_files() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => tracing::debug!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit on open files could not be raised"),
    }
}

/// Makes the application of a store. It sends mail where `mail` says how, and the audit log to the
/// destinations, once it is started.
pub(crate) async fn open_app(
    settings: &Settings,
    store: Store,
    addresses: Addresses,
    mail: Option<Mailing>,
    files: FilesConfig,
    integration: Option<SocketAddr>,
    audit_destinations: Vec<AuditDestination>,
) -> Result<App, CommandError> {
    let key = secret_key::material(settings, &store).await?;
    let config = Config {
        addresses,
        profile: match settings.profile {
            config::Profile::Spec => Profile::Spec,
            config::Profile::Classic => Profile::Classic,
        },
        sign_in: SignInLimits {
            per_account_and_address: settings.password_attempts_per_account,
            per_address: settings.password_attempts_per_address,
        },
        passwords: PasswordPolicy {
            memory_kib: settings.password_hash_kib.kib(),
            ..PasswordPolicy::default()
        },
        scim_attempts: settings.scim_attempts_per_address,
        streams: eddyline_app::stream_quota(settings.max_connections.get() as usize),
        requests_per_minute: settings
            .requests_per_minute
            .map_or(0, std::num::NonZero::get),
        mail_quotas: MailQuotas {
            recipient: MailRate {
                per_minute: settings.mail_per_recipient_minute,
                per_day: settings.mail_per_recipient_day,
            },
            sender: MailRate {
                per_minute: settings.mail_per_user_minute,
                per_day: settings.mail_per_user_day,
            },
            organization: MailRate {
                per_minute: settings.mail_per_organization_minute,
                per_day: settings.mail_per_organization_day,
            },
        },
        invitations: InvitationLimits {
            pause_millis: i64::from(settings.invitation_pause_seconds) * 1000,
            pending: settings.max_pending_invitations,
        },
        flows: FlowLimits {
            of_organization: settings.max_flows_per_organization,
            of_user: settings.max_flows_per_user,
        },
        mail,
        oauth: OAuthConfig {
            access_token_millis: settings.access_token_ttl.millis(),
            code_millis: settings.authorization_code_ttl.millis(),
            refresh_token_millis: settings.refresh_token_ttl.millis(),
            password_grant: settings.password_grant.0,
            out_of_band: settings.out_of_band_codes.0,
            attempts_per_address: settings.oauth_attempts_per_address,
            key,
        },
        outbound: OutboundConfig {
            allow_private: settings.allow_private_targets.0,
            private_exception: integration,
            timeout: Duration::from_secs(settings.action_timeout_seconds.get().into()),
            ..OutboundConfig::default()
        },
        fetch_pictures: settings.fetch_pictures.0,
        files,
        audit: AuditConfig {
            days: settings.audit_keep.days(),
            destinations: audit_destinations,
        },
        deletion_grace: settings.deletion_grace.0,
    };
    App::new(store, config)
        .await
        .map_err(|error| secret_key::refused(settings, error))
}

/// Opens the store for a command beside servers, whose tables it must not change: those of another
/// version are refused. A new database gets its tables.
pub(crate) async fn open_current_store(settings: &Settings) -> Result<Store, CommandError> {
    open_store(settings, false).await
}

/// Opens the store, making its directory where there is none.
async fn open_store(settings: &Settings, upgrade: bool) -> Result<Store, CommandError> {
    make_directory(&settings.data_dir)?;
    let url = settings.database_url();
    if let Some(file) = url.file() {
        check_file(file)?;
    }
    let options = Options {
        readers: settings.readers.get(),
        read_time: Duration::from_secs(settings.read_seconds.get().into()),
        upgrade,
        ..Options::default()
    };
    let store =
        tokio::task::spawn_blocking(move || Store::open_with(url.expose(), options)).await??;
    if store.is_exposed() {
        tracing::warn!("{EXPOSED}");
    }
    Ok(store)
}

/// The directory of the data is nobody else's to read.
pub(crate) fn make_directory(path: &Path) -> Result<(), CommandError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| {
            format!("cannot make the data directory {}: {error}", path.display()).into()
        })
}

/// The addresses as they are configured, for commands that listen nowhere.
pub(crate) fn configured_addresses(settings: &Settings) -> Addresses {
    addresses(settings, settings.listen, settings.stream_listen)
}

fn addresses(settings: &Settings, api: SocketAddr, stream: SocketAddr) -> Addresses {
    let scheme = if settings.speaks_tls() {
        "https"
    } else {
        "http"
    };
    let base = match &settings.base_url {
        Some(url) => url.as_str().to_owned(),
        None => format!("{scheme}://{}", reachable(api)),
    };
    let stream = match (&settings.stream_url, &settings.base_url) {
        (Some(url), _) => url.as_str().to_owned(),
        // The address of the API has the stream as well, and clients may reach no other.
        (None, Some(_)) => format!("{base}{}", settings.stream_prefix.as_str()),
        (None, None) => format!("{scheme}://{}", reachable(stream)),
    };
    let web = settings
        .web_url
        .as_ref()
        .map_or_else(|| base.clone(), |url| url.as_str().to_owned());
    Addresses { base, stream, web }
}

/// A server that listens on every address is reached on this machine's own.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}

fn http_config(settings: &Settings, has_metrics: bool) -> eddyline_http::Config {
    eddyline_http::Config {
        trusted_proxies: settings.trusted_proxy.clone(),
        body: BodyLimit {
            bytes: settings.max_body_bytes.get(),
            ..BodyLimit::default()
        },
        stream_prefix: Some(settings.stream_prefix.as_str().to_owned()),
        json_upload_bytes: settings.max_json_upload_bytes.get(),
        downloads: settings.max_downloads.get(),
        query_tokens: settings.query_access_tokens.0,
        metrics: has_metrics.then(RequestMetrics::default),
        traces: settings.otlp_endpoint.as_ref().map(|_| HOOKS),
        ..eddyline_http::Config::default()
    }
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        connections: settings.max_connections.get() as usize,
        drain: settings.shutdown_seconds,
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::config::Layer;

    fn stream_address(variables: &[(&str, &str)]) -> String {
        let variables = variables
            .iter()
            .map(|(name, text)| (OsString::from(name), OsString::from(text)));
        let none = ("EDDYLINE_DATA_DIR".into(), "/nonexistent".into());
        let settings = config::load(Layer::default(), None, variables.chain([none]))
            .unwrap()
            .settings;
        addresses(
            &settings,
            ([0, 0, 0, 0], 80).into(),
            ([0, 0, 0, 0], 81).into(),
        )
        .stream
    }

    #[test]
    fn clients_find_the_stream_where_they_find_the_api_unless_it_has_an_address_of_its_own() {
        let base = ("EDDYLINE_BASE_URL", "https://chat.example");
        let stream = ("EDDYLINE_STREAM_URL", "https://stream.example");
        assert_eq!(stream_address(&[]), "http://127.0.0.1:81");
        assert_eq!(stream_address(&[base]), "https://chat.example/stream");
        assert_eq!(
            stream_address(&[base, ("EDDYLINE_STREAM_PREFIX", "/live")]),
            "https://chat.example/live"
        );
        assert_eq!(stream_address(&[base, stream]), "https://stream.example");
    }
}
