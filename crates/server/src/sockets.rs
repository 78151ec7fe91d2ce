//! The sockets that a service manager has opened for the server (`LISTEN_FDS`). They stay open while
//! the server is restarted, and who connects meanwhile waits for the next process.

use std::env;
use std::net::{SocketAddr, TcpListener as StdListener};

use eddyline_http::serve::bind;
use listenfd::ListenFd;
use tokio::net::TcpListener;

use crate::CommandError;

/// How sockets are called (`FileDescriptorName=` in a unit), and their order where they have no
/// names.
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
    /// Takes the sockets, and forgets the variables that tell of them. To be called before there are
    /// threads.
    ///
    /// # Errors
    ///
    /// When one has a name that the server does not know, or one that another has, or is no socket of
    /// TCP.
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

    /// Listens on the socket that was passed for a use, else on an address; again on the same one
    /// when it is called again. To be called inside of a runtime.
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
            (None, Some(passed)) => used_for(what, passed, address)?,
            (None, None) => bind(address)
                .and_then(TcpListener::into_std)
                .map_err(|error| format!("cannot listen on {address}: {error}"))?,
        };
        self.kept[index] = Some(socket.try_clone()?);
        Ok(TcpListener::from_std(socket)?)
    }
}

fn used_for(
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
    fn sockets_are_told_by_their_names() {
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
