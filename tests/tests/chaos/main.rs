//! Everything that may go wrong goes wrong, under load: nothing that was answered is lost, and
//! every listener hears everything once and in order. Each module is one kind of fault.
//!
//! docs/chaos.md says what is tried, and how to try it for longer.

// These are tests: what fails here shall end the test.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod crowds;
mod disks;
mod kills;
mod moves;
mod nodes;
mod outages;
mod restless;
mod slow_listeners;
mod upgrades;

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use eddyline_tests::chaos::plan;
use eddyline_tests::{Backend, Server};
use tokio::runtime::Builder;
use tokio::time::timeout;

/// Makes two tests of each of these `async fn NAME(server: Server, name: String)`, one for each
/// database. The name is that of the line in the table.
macro_rules! on_both_databases {
    ($($test:ident: $name:literal),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    crate::on(crate::Backend::Sqlite, $name, super::$test);
                }

                #[test]
                fn postgres() {
                    crate::on(crate::Backend::Postgres, $name, super::$test);
                }
            }
        )+
    };
}
pub(crate) use on_both_databases;

fn on<F: Future<Output = ()>>(
    backend: Backend,
    name: &str,
    test: impl FnOnce(Server, String) -> F,
) {
    in_turn(|| {
        let server = Server::start(backend)?;
        Some(test(server, format!("{name}, {backend:?}")))
    });
}

/// Runs a test; in a long run while no other of this process runs: they load the machine, and some
/// measure it. Short runs measure nothing that the others change, and wait most of the time. What
/// the test needs is made then, too; `None` when it is not to be had.
fn in_turn<F: Future<Output = ()>>(test: impl FnOnce() -> Option<F>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = || TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let _turn = plan().is_long().then(turn);
    let limit = plan().limit();
    let Some(test) = test() else { return };
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            assert!(
                timeout(limit, test).await.is_ok(),
                "the test did not end within {limit:?}"
            );
        });
}
