//! Connections that wait for their next mail, so that thousands of invitations do not need
//! thousands of handshakes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use lettre::transport::smtp::client::AsyncSmtpConnection;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// How long a connection waits for a mail.
const IDLE: Duration = Duration::from_secs(30);
/// Mails that go over one connection: many servers end it after so many.
const MESSAGES_PER_CONNECTION: u32 = 100;
/// How long a server may take to say good-bye.
const GOODBYE: Duration = Duration::from_secs(5);

/// A connection to the mail server.
pub(super) struct SmtpConnection {
    pub(super) client: AsyncSmtpConnection,
    /// How many mails went over it.
    pub(super) messages: u32,
}

impl SmtpConnection {
    pub(super) fn new(client: AsyncSmtpConnection) -> Self {
        Self {
            client,
            messages: 0,
        }
    }
}

/// The waiting connections. They are closed when they have waited too long, and with the pool.
#[derive(Default)]
pub(super) struct SmtpPool(Mutex<State>);

#[derive(Default)]
struct State {
    /// The one that came last is at the end.
    parked: Vec<(SmtpConnection, Instant)>,
    /// The task that closes connections, there while any wait.
    sweeper: Option<AbortHandle>,
}

impl SmtpPool {
    /// The connection that has waited least, if there is one.
    pub(super) fn take(&self) -> Option<SmtpConnection> {
        self.state().parked.pop().map(|(connection, _)| connection)
    }

    /// Lets a connection wait, unless it has done its work.
    #[expect(
        clippy::disallowed_methods,
        reason = "QUIT has a time limit, and the pool aborts its sweeper"
    )]
    pub(super) fn park(self: &Arc<Self>, connection: SmtpConnection) {
        if connection.messages >= MESSAGES_PER_CONNECTION {
            tokio::spawn(quit(connection));
            return;
        }
        let mut state = self.state();
        let now = Instant::now();
        state.parked.push((connection, now));
        if state.sweeper.is_none() {
            let sweeper = tokio::spawn(sweep(Arc::downgrade(self), now + IDLE));
            state.sweeper = Some(sweeper.abort_handle());
        }
    }

    /// Takes out what has waited too long, and says when to look again, if anything still waits.
    fn sweep(&self) -> (Vec<SmtpConnection>, Option<Instant>) {
        let mut state = self.state();
        let now = Instant::now();
        let fresh = state
            .parked
            .partition_point(|(_, since)| *since + IDLE <= now);
        let old = state
            .parked
            .drain(..fresh)
            .map(|(connection, _)| connection)
            .collect();
        let next = state.parked.first().map(|(_, since)| *since + IDLE);
        if next.is_none() {
            state.sweeper = None;
        }
        (old, next)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SmtpPool {
    fn drop(&mut self) {
        if let Some(sweeper) = self.state().sweeper.take() {
            sweeper.abort();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "QUIT has a time limit")]
async fn sweep(pool: Weak<SmtpPool>, mut due: Instant) {
    loop {
        sleep_until(due).await;
        let Some((old, next)) = pool.upgrade().map(|pool| pool.sweep()) else {
            return;
        };
        for connection in old {
            tokio::spawn(quit(connection));
        }
        let Some(next) = next else { return };
        due = next;
    }
}

/// Takes leave of the server. It is of no interest whether that succeeds.
pub(super) async fn quit(mut connection: SmtpConnection) {
    let _ = timeout(GOODBYE, connection.client.quit()).await;
}
