//! The servers that a client may go to.

use std::time::Duration;

use eddyline_client::{Client, Error};

use crate::server::Server;

/// How long a client waits before it tries again. Less than servers ask for: this is about load.
const PAUSE: Duration = Duration::from_millis(25);
const LONG_PAUSE: Duration = Duration::from_millis(200);

/// Clients of several servers, of which one is in use.
#[derive(Clone, Debug)]
pub struct Ways {
    clients: Vec<Client>,
    at: usize,
}

impl Ways {
    /// The user with this token, at the first of these servers.
    pub fn new(servers: &[&Server], token: &str) -> Self {
        let clients = servers
            .iter()
            .map(|server| server.client().api_token(token).build().unwrap());
        Self {
            clients: clients.collect(),
            at: 0,
        }
    }

    /// The same, in the opposite order.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.clients.reverse();
        self
    }

    /// The client in use.
    pub fn client(&self) -> &Client {
        &self.clients[self.at]
    }

    /// After a failure: waits, and goes to the next server.
    pub async fn move_on(&mut self, failure: Option<&Error>) {
        self.at = (self.at + 1) % self.clients.len();
        let asked = failure.and_then(|error| error.api()?.retry_after);
        tokio::time::sleep(if asked.is_some() { LONG_PAUSE } else { PAUSE }).await;
    }
}
