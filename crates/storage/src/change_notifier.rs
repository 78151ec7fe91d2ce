//! Hearing that another process has written to the log.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "postgres")]
use eddyline_postgres_tls::Route;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::Store;
use crate::connect::{Location, connect};

/// How often an SQLite file is looked at: the command line writes from a process of its own, and
/// waits until the server has applied what it wrote. A look costs some microseconds.
const FILE_PERIOD: Duration = Duration::from_millis(50);
/// How often the log is looked at when no notification came.
#[cfg(feature = "postgres")]
const POLL_PERIOD: Duration = Duration::from_millis(500);

/// Notifies when the log may have grown by another process's doing. It may do so for nothing.
#[derive(Debug)]
pub struct ChangeNotifier {
    notifier: Arc<Notify>,
    task: Option<JoinHandle<()>>,
}

impl ChangeNotifier {
    /// Waits for the next notification.
    pub async fn changed_elsewhere(&self) {
        self.notifier.notified().await;
    }
}

impl Drop for ChangeNotifier {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Store {
    /// Begins to listen for writes of other processes. Needs a tokio runtime.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "aborted when the notifier is dropped"
    )]
    pub fn change_notifier(&self) -> ChangeNotifier {
        let notifier = Arc::new(Notify::new());
        let task = match self.location() {
            Location::Memory => None,
            Location::File(_) => Some(tokio::spawn(watch_file(self.clone(), notifier.clone()))),
            #[cfg(feature = "postgres")]
            Location::Postgres(route) => {
                Some(tokio::spawn(listen(route.clone(), notifier.clone())))
            }
        };
        ChangeNotifier { notifier, task }
    }
}

/// Watches on a connection of its own: the version that one connection tells says nothing about
/// what another told.
async fn watch_file(store: Store, notifier: Arc<Notify>) {
    let mut timer = tokio::time::interval(FILE_PERIOD);
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut watching = None;
    let mut seen = None;
    loop {
        timer.tick().await;
        let (own, store) = (watching.take(), store.clone());
        let look = tokio::task::spawn_blocking(move || {
            let mut own = own.map_or_else(|| connect(store.location(), store.connections()), Ok)?;
            let version = own.reader().data_version()?;
            Ok::<_, crate::Error>((own, version))
        });
        match look.await {
            Ok(Ok((own, version))) => {
                watching = Some(own);
                if seen != Some(version) {
                    seen = Some(version);
                    notifier.notify_one();
                }
            }
            Ok(Err(error)) => {
                // The next connection counts anew, and may have missed something.
                seen = None;
                tracing::debug!(%error, "the database file could not be looked at");
            }
            Err(_) => return,
        }
    }
}

/// Listens on a connection of its own, and looks by itself every now and then, since a notification
/// can be lost; always after connecting, since one may have been sent before.
#[cfg(feature = "postgres")]
async fn listen(route: Arc<Route>, notifier: Arc<Notify>) {
    let mut is_warned_of = false;
    loop {
        if let Err(error) = listen_once(route.url(), &notifier).await {
            // A parameter that only libpq knows would keep it from ever listening.
            if std::mem::replace(&mut is_warned_of, true) {
                tracing::debug!(%error, "the database still notifies of no writes");
            } else {
                tracing::warn!(%error, "the database notifies of no writes; the log is polled until it does");
            }
        }
        notifier.notify_one();
        #[expect(
            clippy::disallowed_methods,
            reason = "polls while the database sends no notifications"
        )]
        tokio::time::sleep(POLL_PERIOD).await;
    }
}

#[cfg(feature = "postgres")]
async fn listen_once(url: &str, notifier: &Notify) -> Result<(), tokio_postgres::Error> {
    use futures_util::StreamExt as _;
    use tokio_postgres::AsyncMessage;

    let mut config: tokio_postgres::Config = url.parse()?;
    // As libpq does for all other connections.
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    let (client, mut connection) = config.connect(tokio_postgres::NoTls).await?;
    let mut messages =
        futures_util::stream::poll_fn(move |context| connection.poll_message(context));
    let listening = client.batch_execute("listen eddyline_log");
    tokio::pin!(listening);
    let mut ready = false;
    let mut timer = tokio::time::interval(POLL_PERIOD);
    loop {
        tokio::select! {
            answer = &mut listening, if !ready => {
                answer?;
                ready = true;
                notifier.notify_one();
            }
            message = messages.next() => match message {
                Some(Ok(AsyncMessage::Notification(_))) => notifier.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
            _ = timer.tick() => notifier.notify_one(),
        }
    }
}
