//! Bringing the tables of a database up to date, or refusing those of another version.

use std::time::{Duration, Instant};

use diesel::backend::Backend;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use eddyline_model::Timestamp;

use super::Connection;
use crate::clock::Clock;
use crate::nodes::SILENCE_MILLIS;
use crate::{Error, Result};

#[cfg(feature = "sqlite")]
pub(crate) const SQLITE_MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");
#[cfg(feature = "postgres")]
pub(crate) const POSTGRES_MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

/// Versions of the migrations that servers of the version before do not notice: they only add
/// tables, indexes and columns with defaults, and change no row that those servers write. All others
/// run only while no server does. docs/databases.md, "Upgrades", lists them.
const SAFE_BESIDE_SERVERS: &[&str] = &[
    "20261129000001",
    "20261129000002",
    "20261129000003",
    "20261129000011",
    "20261129000014",
    "20261129000021",
    "20261201000001",
];

/// How long a migration waits for a lock on a table of PostgreSQL. All statements on the table that
/// come after it wait as long.
#[cfg(feature = "postgres")]
const LOCK_TIME: Duration = Duration::from_secs(1);
/// How long those statements have the table between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// What opening a database does about tables of an older version.
#[derive(Clone)]
pub(crate) struct Upgrade {
    /// Whether they are upgraded, or refused.
    pub(crate) is_allowed: bool,
    /// How long to wait for locks, and for servers to end.
    pub(crate) patience: Duration,
    /// By which servers that live are told from those that are gone.
    pub(crate) clock: Clock,
}

/// A database that can be upgraded.
trait Upgraded<DB: Backend>: MigrationHarness<DB> {
    /// How long a migration waits for a lock on a table, where tables are locked one by one.
    const LOCK_TIME: Option<Duration>;
    fn migrations() -> EmbeddedMigrations;
    /// How many servers have shown a sign of life since then.
    fn count_servers(&mut self, since: Timestamp) -> Result<i64>;
}

/// What a database lacks.
struct Pending<DB: Backend> {
    migrations: Vec<Box<dyn Migration<DB>>>,
    /// Whether it has no tables at all.
    is_new: bool,
}

/// The migrations that a database lacks, in their order.
///
/// # Errors
///
/// [`Error::NewerSchema`] when it has one that this version does not know.
fn pending<C: Upgraded<DB>, DB: Backend>(c: &mut C) -> Result<Pending<DB>> {
    let applied = c.applied_migrations().map_err(failed)?;
    let mut migrations = MigrationSource::<DB>::migrations(&C::migrations()).map_err(failed)?;
    migrations.sort_unstable_by(|a, b| a.name().version().cmp(&b.name().version()));
    let is_unknown = |version: &&MigrationVersion<'_>| {
        !migrations
            .iter()
            .any(|known| known.name().version() == **version)
    };
    // The newest comes first.
    if let Some(unknown) = applied.iter().rfind(is_unknown) {
        return Err(Error::NewerSchema {
            migration: unknown.to_string(),
        });
    }
    let is_new = applied.is_empty();
    migrations.retain(|migration| !applied.contains(&migration.name().version().as_owned()));
    Ok(Pending { migrations, is_new })
}

/// Tries to upgrade until nothing is in the way.
///
/// # Errors
///
/// Those of `attempt`; [`Error::ServersRun`] and [`Error::TablesLocked`] when patience ends.
fn until_done(how: &Upgrade, mut attempt: impl FnMut() -> Result<Option<Obstacle>>) -> Result<()> {
    let begun = Instant::now();
    while let Some(obstacle) = attempt()? {
        if begun.elapsed() >= how.patience {
            return Err(obstacle.into_error());
        }
        tracing::info!("{}", obstacle.summary());
        pause();
    }
    Ok(())
}

/// Runs the migrations that are left, up to the first that cannot run now.
fn try_to_upgrade<C: Upgraded<DB>, DB: Backend>(
    c: &mut C,
    how: &Upgrade,
) -> Result<Option<Obstacle>> {
    let Pending { migrations, is_new } = pending(c)?;
    for migration in migrations {
        let name = migration.name().to_string();
        if is_new {
            c.run_migration(&*migration).map_err(failed)?;
            continue;
        }
        if !how.is_allowed {
            return Err(Error::OlderSchema { migration: name });
        }
        let version = migration.name().version().to_string();
        if !SAFE_BESIDE_SERVERS.contains(&version.as_str()) {
            let servers = c.count_servers((how.clock)().plus_millis(-SILENCE_MILLIS))?;
            if servers > 0 {
                return Ok(Some(Obstacle::Servers(name, servers)));
            }
        }
        let begun = Instant::now();
        match c.run_migration(&*migration) {
            Ok(_) => tracing::info!(migration = name, "the tables were upgraded"),
            // The driver tells of a lock only by a text in the language of the server.
            Err(error) if C::LOCK_TIME.is_some_and(|time| begun.elapsed() >= time) => {
                return Ok(Some(Obstacle::Lock(name, error.to_string())));
            }
            Err(error) => return Err(Error::Migration(format!("{name}: {error}"))),
        }
    }
    Ok(None)
}

/// What keeps a migration from being run for now.
enum Obstacle {
    /// So many servers run, which it would disturb.
    Servers(String, i64),
    /// It took so long that it probably could not lock a table; with what the database says.
    Lock(String, String),
}

impl Obstacle {
    fn summary(&self) -> String {
        match self {
            Self::Servers(name, servers) => {
                format!("migration {name} waits for {servers} servers of the database to end")
            }
            Self::Lock(name, _) => format!("migration {name} waits for a lock on a table"),
        }
    }

    fn into_error(self) -> Error {
        match self {
            Self::Servers(migration, count) => Error::ServersRun { migration, count },
            Self::Lock(migration, reason) => Error::TablesLocked { migration, reason },
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn failed(error: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Migration(error.to_string())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the thread that opens the database"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

#[cfg(feature = "sqlite")]
impl Upgraded<diesel::sqlite::Sqlite> for diesel::SqliteConnection {
    /// The transaction around all migrations locks the file.
    const LOCK_TIME: Option<Duration> = None;

    fn migrations() -> EmbeddedMigrations {
        SQLITE_MIGRATIONS
    }

    fn count_servers(&mut self, since: Timestamp) -> Result<i64> {
        use crate::schema::nodes;
        use diesel::{ExpressionMethods as _, QueryDsl as _, RunQueryDsl as _};
        let living = nodes::table.filter(nodes::heartbeat.ge(since.0));
        Ok(living.count().get_result(self)?)
    }
}

#[cfg(feature = "postgres")]
impl Upgraded<diesel::pg::Pg> for diesel::PgConnection {
    const LOCK_TIME: Option<Duration> = Some(LOCK_TIME);

    fn migrations() -> EmbeddedMigrations {
        POSTGRES_MIGRATIONS
    }

    fn count_servers(&mut self, since: Timestamp) -> Result<i64> {
        use crate::schema::nodes;
        use diesel::{ExpressionMethods as _, QueryDsl as _, RunQueryDsl as _};
        let living = nodes::table.filter(nodes::heartbeat.ge(since.0));
        Ok(living.count().get_result(self)?)
    }
}

/// Makes sure that a database has the tables of this version.
///
/// # Errors
///
/// As [`Store::open_with`](crate::Store::open_with).
#[cfg(feature = "sqlite")]
pub(super) fn upgrade_sqlite(c: &mut diesel::SqliteConnection, how: &Upgrade) -> Result<()> {
    if pending(c)?.migrations.is_empty() {
        return Ok(());
    }
    // The transaction around all of them is the lock: a second process waits, then finds nothing
    // left to do.
    until_done(how, || c.exclusive_transaction(|c| try_to_upgrade(c, how)))
}

/// Makes sure that a database has the tables of this version.
///
/// # Errors
///
/// As [`Store::open_with`](crate::Store::open_with).
#[cfg(feature = "postgres")]
pub(super) fn upgrade_postgres(c: &mut diesel::PgConnection, how: &Upgrade) -> Result<()> {
    use diesel::connection::SimpleConnection as _;
    const LOCK: i64 = 0x6564_6479_6c69_6e65;
    // A connection pooler may give us a session that was read-only for its last user.
    c.batch_execute("set default_transaction_read_only = off")?;
    // To ask for the migrations makes the table of them, which two processes must not do at once.
    if super::has_postgres_tables(c)? && pending(c)?.migrations.is_empty() {
        return Ok(());
    }
    // Another process may upgrade the same tables, however long that takes. The lock ends with the
    // connection, also when this fails.
    c.batch_execute(&format!("select pg_advisory_lock({LOCK})"))?;
    c.batch_execute(&format!("set lock_timeout = {}", LOCK_TIME.as_millis()))?;
    until_done(how, || try_to_upgrade(c, how))?;
    c.batch_execute(&format!(
        "reset lock_timeout; select pg_advisory_unlock({LOCK})"
    ))?;
    Ok(())
}

/// Whether a database lacks migrations of this version.
///
/// # Errors
///
/// [`Error::NewerSchema`] when it has one that this version does not know.
pub(crate) fn is_behind(connection: &mut Connection) -> Result<bool> {
    let is_current = match connection {
        #[cfg(feature = "sqlite")]
        Connection::Sqlite(c) => pending(&mut **c)?.migrations.is_empty(),
        #[cfg(feature = "postgres")]
        Connection::Postgres(c) => pending(&mut **c)?.migrations.is_empty(),
        // Those of a pool.
        _ => false,
    };
    Ok(!is_current)
}

/// Runs the migrations up to the one with this version, inside the transaction of the caller.
pub(crate) fn migrate_through<C, DB>(
    c: &mut C,
    migrations: EmbeddedMigrations,
    version: &str,
) -> Result<()>
where
    DB: Backend,
    C: MigrationHarness<DB>,
    EmbeddedMigrations: MigrationSource<DB>,
{
    let pending = c.pending_migrations(migrations).map_err(failed)?;
    let mut newest = None;
    for migration in &pending {
        let name = migration.name().version().to_string();
        if name.as_str() > version {
            break;
        }
        c.run_migration(migration).map_err(failed)?;
        newest = Some(name);
    }
    if newest.as_deref() == Some(version) {
        return Ok(());
    }
    Err(Error::NewerSchema {
        migration: version.to_owned(),
    })
}

/// Runs the migrations that are left, inside the transaction of the caller.
pub(crate) fn migrate<C, DB>(c: &mut C, migrations: EmbeddedMigrations) -> Result<()>
where
    DB: Backend,
    C: MigrationHarness<DB>,
    EmbeddedMigrations: MigrationSource<DB>,
{
    c.run_pending_migrations(migrations).map_err(failed)?;
    Ok(())
}
