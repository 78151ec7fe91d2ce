//! Getting connections: from an address to a pool of either kind, brought up to date.

#[cfg(feature = "postgres")]
pub(crate) mod cancel;
pub(crate) mod deadline;
pub(crate) mod migrate;

use std::path::PathBuf;
#[cfg(feature = "postgres")]
use std::sync::Arc;
use std::time::Duration;

use diesel::r2d2::{ConnectionManager, HandleEvent, Pool, PooledConnection, State};

#[cfg(feature = "postgres")]
use eddyline_postgres_tls::{Route, without_socket};

#[cfg(feature = "postgres")]
use self::cancel::{Backend, Canceller};
use self::migrate::Upgrade;
use crate::reader::{Inner, Reader};
use crate::{Error, Result};

/// How long a caller waits for a free connection before the store counts as unavailable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the data is. Clones share the way to it.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    /// A database in this process that ends with it.
    Memory,
    /// An SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Postgres(Arc<Route>),
}

impl Location {
    /// Reads a database URL: `sqlite::memory:`, `sqlite:PATH` (also `sqlite://PATH`), or
    /// `postgres://…` (also `postgresql://…`).
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if url == "sqlite::memory:" {
            return Ok(Self::Memory);
        }
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                return Err(Error::Url("sqlite: needs a path".into()));
            }
            return Ok(Self::File(path.into()));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Self::postgres(url);
        }
        let scheme = url.split(':').next().unwrap_or_default();
        Err(Error::Url(format!(
            "unknown scheme {scheme:?}; use sqlite:PATH, sqlite::memory: or postgres://…"
        )))
    }

    pub(crate) fn is_postgres(&self) -> bool {
        !matches!(self, Self::Memory | Self::File(_))
    }

    /// Whether data leaves this machine without encryption, and the address does not say that this
    /// is meant.
    pub(crate) fn is_exposed(&self) -> bool {
        match self {
            Self::Memory | Self::File(_) => false,
            #[cfg(feature = "postgres")]
            Self::Postgres(route) => route.is_exposed(),
        }
    }

    #[cfg(feature = "postgres")]
    fn postgres(url: &str) -> Result<Self> {
        let route =
            Route::open(&with_timeouts(url)).map_err(|error| Error::Url(error.to_string()))?;
        Ok(Self::Postgres(Arc::new(route)))
    }

    #[cfg(not(feature = "postgres"))]
    fn postgres(_: &str) -> Result<Self> {
        Err(Error::Url(
            "this program was built without support for PostgreSQL".to_owned(),
        ))
    }
}

#[cfg(feature = "sqlite")]
type Lite = ConnectionManager<diesel::SqliteConnection>;
#[cfg(feature = "postgres")]
type Pg = ConnectionManager<diesel::PgConnection>;

/// Connections for reading, and the only one when the database is in memory.
#[derive(Clone)]
pub(crate) enum Connections {
    #[cfg(feature = "sqlite")]
    Sqlite(Pool<Lite>),
    #[cfg(feature = "postgres")]
    Postgres(Pool<Pg>, Canceller),
}

/// A connection of one's own, or borrowed from the pool.
pub(crate) enum Connection {
    #[cfg(feature = "sqlite")]
    Sqlite(Box<diesel::SqliteConnection>),
    #[cfg(feature = "sqlite")]
    PooledSqlite(PooledConnection<Lite>),
    #[cfg(feature = "postgres")]
    Postgres(Box<diesel::PgConnection>),
    #[cfg(feature = "postgres")]
    PooledPostgres(PooledConnection<Pg>),
}

impl Connection {
    pub(crate) fn reader(&mut self) -> Reader<'_> {
        Reader(match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(c) => Inner::Sqlite(c),
            #[cfg(feature = "sqlite")]
            Self::PooledSqlite(c) => Inner::Sqlite(c),
            #[cfg(feature = "postgres")]
            Self::Postgres(c) => Inner::Postgres(c),
            #[cfg(feature = "postgres")]
            Self::PooledPostgres(c) => Inner::Postgres(c),
        })
    }
}

impl Connections {
    /// A pool of up to `size` connections to an up-to-date database, which tells `events` of what
    /// happens to it.
    pub(crate) fn open(
        location: &Location,
        size: u32,
        events: Box<dyn HandleEvent>,
        upgrade: &Upgrade,
    ) -> Result<Self> {
        match location {
            #[cfg(feature = "sqlite")]
            Location::Memory => Self::sqlite(":memory:", 1, events, upgrade),
            #[cfg(feature = "sqlite")]
            Location::File(path) => Self::sqlite(&path.to_string_lossy(), size, events, upgrade),
            #[cfg(feature = "postgres")]
            Location::Postgres(route) => {
                let mut connection = connect_postgres(route)?;
                refuse_incomplete_move(
                    &mut connection,
                    "select to_regclass('move_target') is not null as found",
                )?;
                migrate::upgrade_postgres(&mut connection, upgrade)?;
                let manager = Pg::new(route.url());
                // A server that was restarted leaves dead connections behind; they are found here
                // rather than by the request that gets one.
                let pool = Pool::builder()
                    .max_size(size)
                    .min_idle(Some(1))
                    .test_on_check_out(true)
                    .connection_timeout(CONNECT_TIMEOUT)
                    .event_handler(events)
                    .build(manager)?;
                Ok(Self::Postgres(pool, Canceller::new(route)))
            }
            #[cfg(not(feature = "sqlite"))]
            other => Err(Error::Url(format!(
                "this program was built without support for {other:?}"
            ))),
        }
    }

    #[cfg(feature = "sqlite")]
    fn sqlite(
        path: &str,
        size: u32,
        events: Box<dyn HandleEvent>,
        upgrade: &Upgrade,
    ) -> Result<Self> {
        eddyline_sqlite_interrupt::install(self::deadline::has_passed);
        // Once before the pool, which would try for as long as it has patience and then say nothing
        // but that.
        refuse_incomplete_move(
            &mut connect_sqlite(path)?,
            "select exists (select 1 from sqlite_schema where name = 'move_target') as found",
        )?;
        keep_private(path)?;
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(1))
            .test_on_check_out(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connection_timeout(CONNECT_TIMEOUT)
            .connection_customizer(Box::new(Prepare))
            .event_handler(events)
            .build(Lite::new(path))?;
        migrate::upgrade_sqlite(&mut *pool.get()?, upgrade)?;
        Ok(Self::Sqlite(pool))
    }

    /// How many connections the pool has now.
    pub(crate) fn state(&self) -> State {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(pool) => pool.state(),
            #[cfg(feature = "postgres")]
            Self::Postgres(pool, _) => pool.state(),
        }
    }

    /// How many connections the pool may have.
    pub(crate) fn max_size(&self) -> u32 {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(pool) => pool.max_size(),
            #[cfg(feature = "postgres")]
            Self::Postgres(pool, _) => pool.max_size(),
        }
    }

    /// What cancels a read on this database.
    #[cfg(feature = "postgres")]
    pub(crate) fn backend(&self) -> Option<Backend> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => None,
            Self::Postgres(_, canceller) => Some(canceller.backend()),
        }
    }

    /// A connection that the database lets read only, whose statements may take so long. On SQLite
    /// the thread's own deadline bounds them.
    #[cfg_attr(
        not(feature = "postgres"),
        allow(unused_variables, reason = "only PostgreSQL bounds a connection")
    )]
    pub(crate) fn get_to_read(&self, time: Duration) -> Result<Connection> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(pool) => {
                let mut connection = pool.get()?;
                set_access(
                    &mut connection,
                    ConnectionAccess::Read,
                    "pragma query_only = on",
                )?;
                Ok(Connection::PooledSqlite(connection))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(pool, _) => {
                let mut connection = pool.get()?;
                set_access(
                    &mut connection,
                    ConnectionAccess::Read,
                    "set default_transaction_read_only = on",
                )?;
                bound_statements(&mut connection, time)?;
                Ok(Connection::PooledPostgres(connection))
            }
        }
    }

    /// The connection of a database in memory, to write with.
    fn get_to_write(&self) -> Result<Connection> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(pool) => {
                let mut connection = pool.get()?;
                set_access(
                    &mut connection,
                    ConnectionAccess::Write,
                    "pragma query_only = off",
                )?;
                Ok(Connection::PooledSqlite(connection))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(..) => Err(Error::Unavailable(
                "the pool of PostgreSQL is for reading".to_owned(),
            )),
        }
    }
}

/// Whether a pooled connection may write. It is kept with the connection, so that the statement
/// which sets it runs only when it changes.
#[derive(Clone, Copy, PartialEq)]
enum ConnectionAccess {
    Read,
    #[cfg(feature = "sqlite")]
    Write,
}

fn set_access<M>(
    connection: &mut PooledConnection<M>,
    access: ConnectionAccess,
    statement: &str,
) -> Result<()>
where
    M: r2d2::ManageConnection<Connection: diesel::connection::SimpleConnection>,
{
    use diesel::connection::SimpleConnection as _;
    if PooledConnection::extensions(connection).get::<ConnectionAccess>() != Some(&access) {
        connection.batch_execute(statement)?;
        PooledConnection::extensions_mut(connection).insert(access);
    }
    Ok(())
}

/// Whether there is a database with tables of ours.
pub(crate) fn exists(location: &Location) -> Result<bool> {
    match location {
        Location::Memory => Ok(false),
        Location::File(path) => match std::fs::metadata(path) {
            // SQLite takes an empty file for an empty database.
            Ok(file) => Ok(file.len() > 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::Unavailable(format!(
                "cannot read {}: {error}",
                path.display()
            ))),
        },
        #[cfg(feature = "postgres")]
        Location::Postgres(route) => has_postgres_tables(&mut connect_postgres(route)?),
    }
}

/// A database into which another one is being moved must not be written to by anything else.
fn refuse_incomplete_move<C>(connection: &mut C, query: &'static str) -> Result<()>
where
    diesel::query_builder::SqlQuery: for<'q> diesel::query_dsl::LoadQuery<'q, C, ExistsRow>,
{
    use diesel::RunQueryDsl as _;
    match diesel::sql_query(query)
        .get_result::<ExistsRow>(connection)?
        .found
    {
        true => Err(Error::IncompleteMove),
        false => Ok(()),
    }
}

#[cfg(feature = "postgres")]
pub(crate) fn has_postgres_tables(c: &mut diesel::PgConnection) -> Result<bool> {
    use diesel::RunQueryDsl as _;
    let found =
        diesel::sql_query("select to_regclass('__diesel_schema_migrations') is not null as found")
            .get_result::<ExistsRow>(c)?;
    Ok(found.found)
}

#[derive(diesel::QueryableByName)]
struct ExistsRow {
    #[diesel(sql_type = diesel::sql_types::Bool)]
    found: bool,
}

/// A connection outside the pool, to write with. A database in memory has no second one.
pub(crate) fn connect(location: &Location, pool: &Connections) -> Result<Connection> {
    match location {
        Location::Memory => pool.get_to_write(),
        #[cfg(feature = "sqlite")]
        Location::File(path) => {
            let mut connection = connect_sqlite(&path.to_string_lossy())?;
            crate::sqlite::prepare_to_write(&mut connection)?;
            Ok(Connection::Sqlite(Box::new(connection)))
        }
        #[cfg(feature = "postgres")]
        Location::Postgres(route) => {
            use diesel::connection::SimpleConnection as _;
            let mut connection = connect_postgres(route)?;
            let lock_time = crate::error::LOCK_TIME.as_millis();
            connection.batch_execute(&format!(
                "set lock_timeout = {lock_time}; set statement_timeout = '30s'; \
                     set default_transaction_read_only = off"
            ))?;
            Ok(Connection::Postgres(Box::new(connection)))
        }
        #[cfg(not(feature = "sqlite"))]
        other => Err(Error::Url(format!(
            "this program was built without support for {other:?}"
        ))),
    }
}

#[cfg(feature = "sqlite")]
fn connect_sqlite(path: &str) -> Result<diesel::SqliteConnection> {
    let mut connection = <diesel::SqliteConnection as diesel::Connection>::establish(path)
        .map_err(|error| Error::Unavailable(format!("cannot open {path}: {error}")))?;
    crate::sqlite::prepare(&mut connection)?;
    Ok(connection)
}

/// Makes a database file its owner's alone; SQLite gives the files beside it the same mode.
#[cfg(all(feature = "sqlite", unix))]
fn keep_private(path: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if path == ":memory:" {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| Error::Unavailable(format!("cannot protect {path}: {error}")))
}

#[cfg(all(feature = "sqlite", not(unix)))]
fn keep_private(_path: &str) -> Result<()> {
    Ok(())
}

/// The address with bounds on how long the network may be silent, unless it brings its own. Without
/// them a server that vanished without a word would be waited for until the system gives up.
#[cfg(feature = "postgres")]
fn with_timeouts(url: &str) -> String {
    let mut bounded = url.to_owned();
    for (name, value) in [
        ("connect_timeout", "5"),
        ("tcp_user_timeout", "10000"),
        ("keepalives_idle", "10"),
    ] {
        if !url.contains(name) {
            let separator = if bounded.contains('?') { '&' } else { '?' };
            bounded.push_str(&format!("{separator}{name}={value}"));
        }
    }
    bounded
}

#[cfg(feature = "postgres")]
pub(crate) fn connect_postgres(route: &Route) -> Result<diesel::PgConnection> {
    <diesel::PgConnection as diesel::Connection>::establish(route.url()).map_err(|error| {
        let text = error.to_string();
        // What libpq says of an address that it cannot read repeats it, with the password.
        let of_address = ["URI", "percent-encoded"]
            .iter()
            .any(|word| text.contains(word));
        Error::Unavailable(if of_address {
            UNREADABLE_ADDRESS.to_owned()
        } else {
            without_socket(&text)
        })
    })
}

#[cfg(feature = "postgres")]
const UNREADABLE_ADDRESS: &str =
    "the address of the database cannot be read; user and password in it must be percent-encoded";

#[cfg(feature = "sqlite")]
#[derive(Debug)]
struct Prepare;

#[cfg(feature = "sqlite")]
impl diesel::r2d2::CustomizeConnection<diesel::SqliteConnection, diesel::r2d2::Error> for Prepare {
    fn on_acquire(
        &self,
        c: &mut diesel::SqliteConnection,
    ) -> std::result::Result<(), diesel::r2d2::Error> {
        crate::sqlite::prepare(c).map_err(diesel::r2d2::Error::QueryError)
    }
}

/// How long the statements of a connection may take, so that it is told only when that changes.
#[cfg(feature = "postgres")]
struct StatementTime(Duration);

#[cfg(feature = "postgres")]
fn bound_statements(connection: &mut PooledConnection<Pg>, time: Duration) -> Result<()> {
    use diesel::connection::SimpleConnection as _;
    let known = PooledConnection::extensions(connection).get::<StatementTime>();
    if known.is_none_or(|known| known.0 != time) {
        connection.batch_execute(&format!(
            "set statement_timeout = {}",
            time.as_millis().max(1)
        ))?;
        PooledConnection::extensions_mut(connection).insert(StatementTime(time));
    }
    Ok(())
}

#[cfg(feature = "postgres")]
struct Process(i32);

impl Connection {
    /// The process that serves this connection, if it is one of PostgreSQL's that was lent.
    #[cfg(feature = "postgres")]
    pub(crate) fn process(&mut self) -> Result<Option<i32>> {
        use diesel::RunQueryDsl as _;
        let Self::PooledPostgres(connection) = self else {
            return Ok(None);
        };
        if let Some(known) = PooledConnection::extensions(connection).get::<Process>() {
            return Ok(Some(known.0));
        }
        let process = diesel::sql_query("select pg_backend_pid() as process")
            .get_result::<Served>(connection)?
            .process;
        PooledConnection::extensions_mut(connection).insert(Process(process));
        Ok(Some(process))
    }
}

#[cfg(feature = "postgres")]
#[derive(diesel::QueryableByName)]
struct Served {
    #[diesel(sql_type = diesel::sql_types::Integer)]
    process: i32,
}

/// A connection to a database as it is, with whatever tables it has.
pub(crate) fn connect_as_is(location: &Location) -> Result<Connection> {
    match location {
        Location::Memory => Err(Error::Url(
            "a database in memory ends with the process".to_owned(),
        )),
        #[cfg(feature = "sqlite")]
        Location::File(path) => {
            let path = path.to_string_lossy();
            let connection = connect_sqlite(&path)?;
            keep_private(&path)?;
            Ok(Connection::Sqlite(Box::new(connection)))
        }
        #[cfg(feature = "postgres")]
        Location::Postgres(route) => Ok(Connection::Postgres(Box::new(connect_postgres(route)?))),
        #[cfg(not(feature = "sqlite"))]
        other => Err(Error::Url(format!(
            "this program was built without support for {other:?}"
        ))),
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use diesel::r2d2::NopEventHandler;

    use super::*;

    #[test]
    fn an_address_that_cannot_be_read_is_not_repeated() {
        for address in [
            "postgres://me:hush@[::1]5432/chat",
            "postgres://me:hush@[::1/chat",
            "postgres://me:hu sh@db/chat",
        ] {
            let upgrade = Upgrade {
                is_allowed: true,
                patience: Duration::ZERO,
                clock: crate::clock::system(),
            };
            let opened = Location::parse(address);
            let connected = opened.and_then(|location| {
                Connections::open(&location, 1, Box::new(NopEventHandler), &upgrade)
            });
            let error = connected.err().expect("it is refused").to_string();
            assert!(
                error.contains("cannot be read") && !error.contains("hu"),
                "{error}"
            );
        }
    }
}
