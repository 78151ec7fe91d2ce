//! Running one test on both databases.

use std::future::Future;
use std::time::Duration;

use crate::server::{Backend, Server};

/// Much, so that it shows what should not be there.
pub(crate) const TALKATIVE: &str = "debug";

/// How long a test may take before it counts as hung.
const LIMIT: Duration = Duration::from_secs(240);

/// Makes two tests of each of these `async fn NAME(server: Server)`, one for each database; what
/// stands before a semicolon are options of `eddyline serve`.
///
/// ```text
/// on_both_databases![a_message_is_listed, a_message_is_found];
/// on_both_databases![&["--profile", "classic"]; an_old_client_is_answered];
/// ```
#[macro_export]
macro_rules! on_both_databases {
    ($($test:ident),+ $(,)?) => {
        $crate::on_both_databases![&[]; $($test),+];
    };
    ($options:expr; $($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    $crate::run($crate::Backend::Sqlite, $options, super::$test);
                }

                #[test]
                fn postgres() {
                    $crate::run($crate::Backend::Postgres, $options, super::$test);
                }
            }
        )+
    };
}

/// Declares tests that run with a server on SQLite only, as [`on_both_databases!`] does: for how pages
/// look and what their scripts do with keys, focus, memory and a lost network, which no database
/// changes, and which takes a browser long to show.
#[macro_export]
macro_rules! on_sqlite {
    ($($test:ident),+ $(,)?) => {
        $crate::on_sqlite![&[]; $($test),+];
    };
    ($options:expr; $($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    $crate::run($crate::Backend::Sqlite, $options, super::$test);
                }
            }
        )+
    };
}

/// Runs a test with a server on this backend; passes over it where the backend is not to be had.
pub fn run<F: Future<Output = ()>>(
    backend: Backend,
    options: &[&str],
    test: impl FnOnce(Server) -> F,
) {
    let mut options = options.to_vec();
    if !options.contains(&"--log") {
        options.extend(["--log", TALKATIVE]);
    }
    let Some(server) = Server::start_with(backend, &options) else {
        return;
    };
    block_on(test(server));
}

/// Runs a test that starts servers of its own.
pub fn run_plain(test: impl Future<Output = ()>) {
    block_on(test);
}

/// Runs a test to its end, which must come in time.
pub(crate) fn block_on(test: impl Future<Output = ()>) {
    // What is sent by a task of the test is recorded as the test's.
    let name = std::thread::current()
        .name()
        .unwrap_or("unnamed")
        .to_owned();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .worker_threads(2)
        .thread_name(name)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ended = tokio::time::timeout(LIMIT, test).await;
        assert!(ended.is_ok(), "the test did not end within {LIMIT:?}");
    });
}
