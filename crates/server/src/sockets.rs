//! The sockets that a service manager has opened for the server (`LISTEN_FDS`). They stay open while
//! the server is restarted, so that clients that connect meanwhile wait for the next process.

use std::env;
use std::net::{SocketAddr, TcpListener as StdListener};

use eddyline_http::serve::bind;
use listenfd::ListenFd;
use tokio::net::TcpListener;

use crate::CommandError;

/// The names of sockets (`FileDescriptorName=` in a unit), in the order of sockets without names.
const NAMES: [&str; 3] = ["api", "stream", "metrics"];

/// A listener of the server.
#[derive(Clone, Copy)]
pub(crate) enum SocketUse {
    Api,
    Stream,
    Metrics,
}

/// What a service manager has opened, for each use.
#[derive(Default)]
pub(crate) struct PassedSockets {
    passed: [Option<StdListener>; NAMES.len()],
    /// What was listened on, for the next node of the process.
    kept: [Option<StdListener>; NAMES.len()],
}

impl PassedSockets {
    /// Takes the sockets, and removes the variables that describe them. Call it before the process has
    /// threads.
    ///
    /// # Errors
    ///
    /// When a socket has an unknown name or the name of another, or is not a TCP listener.
    pub(crate) fn take() -> Result<Self, CommandError> {
        let mut passed = ListenFd::from_env();
        let names = env::var("LISTEN_FDNAMES").ok();
        let mut sockets = Self::default();
        for (index, place) in places(names.as_deref(), passed.len())?
            .into_iter()
            .enumerate()
        {
            let socket = passed.take_tcp_listener(index);
            sockets.passed[place] =
                socket.map_err(|error| format!("the socket `{}`: {error}", NAMES[place]))?;
        }
        Ok(sockets)
    }

    /// The address of the socket that was passed for a use, if there is one.
    pub(crate) fn address(&self, what: SocketUse) -> Option<SocketAddr> {
        let known = [&self.kept, &self.passed].map(|sockets| sockets[what as usize].as_ref());
        known.into_iter().flatten().next()?.local_addr().ok()
    }

    /// Listens on the socket that was passed for a use, else on an address. A second call listens on
    /// the same socket. Call it inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the address cannot be listened on.
    pub(crate) fn listen(
        &mut self,
        what: SocketUse,
        address: SocketAddr,
    ) -> Result<TcpListener, CommandError> {
        let index = what as usize;
        let socket = match (self.kept[index].take(), self.passed[index].take()) {
            (Some(kept), _) => kept,
            (None, Some(passed)) => prepared(what, passed, address)?,
            (None, None) => bind(address)
                .and_then(TcpListener::into_std)
                .map_err(|error| format!("cannot listen on {address}: {error}"))?,
        };
        self.kept[index] = Some(socket.try_clone()?);
        Ok(TcpListener::from_std(socket)?)
    }
}

/// The socket in the mode that tokio needs. Logs an address that differs from the configured one.
fn prepared(
    what: SocketUse,
    socket: StdListener,
    address: SocketAddr,
) -> Result<StdListener, CommandError> {
    socket.set_nonblocking(true)?;
    let passed = socket.local_addr()?;
    if passed != address {
        tracing::info!(
            "the service manager passed the socket `{}` on {passed}; {address} of the configuration is not used",
            NAMES[what as usize]
        );
    }
    Ok(socket)
}

/// For which use each of so many sockets is.
fn places(names: Option<&str>, count: usize) -> Result<Vec<usize>, CommandError> {
    let named: Vec<&str> = match names {
        Some(names) if count > 0 => names.split(':').collect(),
        _ => NAMES.into_iter().take(count).collect(),
    };
    if named.len() != count {
        let known = NAMES.join("`, `");
        return Err(format!(
            "the service manager passed {count} sockets with {} names; it may pass one for each of `{known}`",
            named.len()
        )
        .into());
    }
    let mut places = Vec::new();
    for name in named {
        let place = NAMES.iter().position(|known| *known == name);
        let place = place.ok_or_else(|| {
            format!(
                "the service manager passed a socket called `{name}`; FileDescriptorName= of its unit must be \
                 one of `{}`",
                NAMES.join("`, `")
            )
        })?;
        if places.contains(&place) {
            return Err(format!("the service manager passed two sockets called `{name}`").into());
        }
        places.push(place);
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_sockets_are_for() {
        let of = |names, count| places(names, count).map_err(|error| error.to_string());
        assert_eq!(of(Some("stream:api"), 2), Ok(vec![1, 0]));
        assert_eq!(of(Some("metrics"), 1), Ok(vec![2]));
        assert_eq!(of(None, 2), Ok(vec![0, 1]));
        assert_eq!(of(Some("of:others"), 0), Ok(vec![]));
        for (names, count, why) in [
            (Some("api:web"), 2, "called `web`"),
            (Some("api:api"), 2, "two sockets called `api`"),
            (Some("api"), 2, "2 sockets with 1 names"),
            (None, 4, "4 sockets"),
        ] {
            let refused = of(names, count).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
