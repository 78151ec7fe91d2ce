//! The databases that tests run on.

use std::future::Future;
use std::io::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eddyline_model::Timestamp;
use eddyline_storage::{Options, Store};
use eddyline_testing::postgres::{Cluster, Database};

/// A fresh database, gone with this value.
pub(crate) struct Home {
    pub(crate) url: String,
    _keep: Keep,
}

enum Keep {
    Nothing,
    Directory { _held: tempfile::TempDir },
    Database { _held: Database },
}

pub(crate) fn sqlite_memory() -> Option<Home> {
    Some(Home {
        url: "sqlite::memory:".into(),
        _keep: Keep::Nothing,
    })
}

pub(crate) fn sqlite_file() -> Option<Home> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite:{}", directory.path().join("store.db").display());
    Some(Home {
        url,
        _keep: Keep::Directory { _held: directory },
    })
}

/// `None` when there is no PostgreSQL here.
pub(crate) fn postgres() -> Option<Home> {
    let database = eddyline_testing::postgres::database()?;
    Some(Home {
        url: database.url().to_owned(),
        _keep: Keep::Database { _held: database },
    })
}

/// A database of a server that words its messages in German. `None` where there is none, or no
/// translation.
pub(crate) fn postgres_in_german() -> Option<Home> {
    static SERVER: OnceLock<Option<Cluster>> = OnceLock::new();
    let database = SERVER
        .get_or_init(|| Cluster::own(&[("LANGUAGE", "de")]))
        .as_ref()?
        .database();
    database
        .use_translations()
        .expect("the database takes a setting");
    let told = database.run("select 1 / 0").expect_err("no number");
    if !told.contains("Division durch Null") {
        let _ = writeln!(
            std::io::stderr().lock(),
            "PostgreSQL speaks no German here; a test is passed over: {told}"
        );
        return None;
    }
    Some(Home {
        url: database.url().to_owned(),
        _keep: Keep::Database { _held: database },
    })
}

impl Home {
    pub(crate) fn open(&self) -> Store {
        self.open_with(65_536)
    }

    /// A store whose queue holds that many rows.
    pub(crate) fn open_with(&self, queue: u64) -> Store {
        open_at(&self.url, queue)
    }
}

/// A store whose clock goes on by a millisecond whenever it is looked at.
pub(crate) fn open_at(url: &str, queue: u64) -> Store {
    let now = AtomicI64::new(1_700_000_000_000);
    let clock = Arc::new(move || Timestamp(now.fetch_add(1, Ordering::Relaxed)));
    Store::open_with(
        url,
        Options {
            readers: 3,
            queue,
            clock,
            ..Options::default()
        },
    )
    .expect("the store opens")
}

/// Runs a test on a database; passes over it where the database cannot be had.
pub(crate) fn run<F: Future<Output = ()>>(home: Option<Home>, test: impl FnOnce(Arc<Home>) -> F) {
    let Some(home) = home else { return };
    let home = Arc::new(home);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(120), test(home))
            .await
            .expect("the test ends in time");
    });
}

/// Makes tests of async functions that take a [`Home`], in one module for each database.
macro_rules! tests_on {
    ($($place:ident),+: $names:tt) => {
        $(crate::home::tests_on!(@ $place $names);)+
    };
    (@ $place:ident [$($name:ident),+ $(,)?]) => {
        mod $place {
            $(
                #[test]
                fn $name() {
                    crate::home::run(crate::home::$place(), super::$name);
                }
            )+
        }
    };
}
pub(crate) use tests_on;

/// Makes tests for every database.
macro_rules! on_every_database {
    ($($name:ident),+ $(,)?) => {
        crate::home::tests_on!(sqlite_memory, sqlite_file, postgres: [$($name),+]);
    };
}
pub(crate) use on_every_database;

/// Makes tests for the databases that several processes can share.
macro_rules! on_shared_databases {
    ($($name:ident),+ $(,)?) => {
        crate::home::tests_on!(sqlite_file, postgres: [$($name),+]);
    };
}
pub(crate) use on_shared_databases;
