//! How a database is set up, as an operator who looks for mistakes wants to know it. It is read on a
//! connection of its own, which changes nothing: neither tables nor modes.

use diesel::prelude::*;
#[cfg(feature = "postgres")]
use diesel::sql_types::{BigInt, Bool, Nullable};
use diesel::sql_types::{Integer, Text};
use eddyline_model::Timestamp;
use eddyline_portable::portable;

use crate::areas::Identities;
use crate::connect::{Connection, Location};
use crate::reader::Access;
use crate::schema::{identity_providers, organization_domains, organizations};
use crate::{Error, Result, Store};

/// A database as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// What the database itself says.
    pub settings: DatabaseSettings,
    /// By how many milliseconds the clock of the database is ahead of this machine's; 0 for an SQLite
    /// file, which has none of its own.
    pub clock_ahead_millis: i64,
    /// How far its tables are.
    pub tables: TableState,
    /// How many processes have shown a sign of life; 0 where the tables are not those of this
    /// version.
    pub servers: i64,
    /// The identity providers that may come in; none where the tables are not those of this
    /// version.
    pub providers: Vec<EnabledProvider>,
}

/// Whether a database has the tables of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableState {
    /// There are none.
    Missing,
    /// They are of an older version.
    Older,
    /// They are those of this version.
    Current,
    /// A newer version has upgraded them.
    Newer,
}

/// The settings of a database of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseSettings {
    /// Of an SQLite file.
    Sqlite(SqliteSettings),
    /// Of PostgreSQL, as they are for sessions of this role in this database.
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresSettings>),
}

/// What an SQLite file says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteSettings {
    /// `wal`, unless something has changed it or the file system cannot do that.
    pub journal_mode: String,
    /// The first thing that SQLite finds wrong with the pages of the file.
    pub damage: Option<String>,
    /// The version of SQLite in this program.
    pub version: String,
}

/// What a server of PostgreSQL says.
#[cfg(feature = "postgres")]
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct PostgresSettings {
    /// For people.
    #[diesel(sql_type = Text)]
    pub version: String,
    /// As a number, such as 150004.
    #[diesel(sql_type = Integer)]
    pub version_number: i32,
    /// The encoding of the database.
    #[diesel(sql_type = Text)]
    pub encoding: String,
    /// Whether commits reach the disk.
    #[diesel(sql_type = Bool)]
    pub fsync: bool,
    /// Whether pages survive a write that was cut off.
    #[diesel(sql_type = Bool)]
    pub full_page_writes: bool,
    /// When a commit is answered.
    #[diesel(sql_type = Text)]
    pub synchronous_commit: String,
    /// Whether it only follows another server, and refuses writes.
    #[diesel(sql_type = Bool)]
    pub is_standby: bool,
    /// Connections that roles without special rights may have.
    #[diesel(sql_type = Integer)]
    pub max_connections: i32,
    /// Connections that this role may have; -1 for any number.
    #[diesel(sql_type = Integer)]
    pub role_connections: i32,
    /// Connections that this database may have; -1 for any number.
    #[diesel(sql_type = Integer)]
    pub database_connections: i32,
    /// Connections of others to the server, without those to this database.
    #[diesel(sql_type = BigInt)]
    pub other_connections: i64,
    /// In milliseconds; 0 for none.
    #[diesel(sql_type = BigInt)]
    pub idle_in_transaction_timeout: i64,
    /// In milliseconds; 0 for none, and absent before PostgreSQL 14.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub idle_session_timeout: Option<i64>,
    /// In milliseconds; 0 for none.
    #[diesel(sql_type = BigInt)]
    pub statement_timeout: i64,
    /// Whether the role may make tables where ours are.
    #[diesel(sql_type = Bool)]
    pub may_create_tables: bool,
    /// The time of the server, in milliseconds since 1970.
    #[diesel(sql_type = BigInt)]
    pub now: i64,
}

/// An organization whose identity provider has a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnabledProvider {
    /// The organization's name in URLs.
    pub organization: String,
    /// What stands in the provider's address.
    pub uid: String,
    /// When the provider last showed its token.
    pub used_at: Option<Timestamp>,
    /// How many domains the organization has.
    pub domains: i64,
}

impl Store {
    /// Looks at a database and changes nothing. `since` is the time from which on a process counts
    /// as alive, and `checks_pages` says whether an SQLite file is read as a whole for damage, which
    /// takes time with its size.
    ///
    /// Blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], and [`Error::Unavailable`] when there is no database or it does not answer.
    #[cfg_attr(
        not(all(feature = "sqlite", feature = "postgres")),
        allow(unused_variables, reason = "each kind of database needs its own")
    )]
    pub fn inspect(url: &str, since: Timestamp, checks_pages: bool) -> Result<Inspection> {
        let location = Location::parse(url)?;
        let mut connection = connect_to_look(&location)?;
        let clock = crate::clock::system();
        let before = clock();
        let (settings, has_tables) = match &mut connection {
            #[cfg(feature = "sqlite")]
            Connection::Sqlite(c) => (
                DatabaseSettings::Sqlite(sqlite_settings(c, checks_pages)?),
                has_sqlite_tables(c)?,
            ),
            #[cfg(feature = "postgres")]
            Connection::Postgres(c) => (
                DatabaseSettings::Postgres(Box::new(postgres_settings(c)?)),
                crate::connect::has_postgres_tables(c)?,
            ),
            // Those of a pool.
            _ => return Err(Error::Url("not a database of its own".to_owned())),
        };
        let clock_ahead_millis = match &settings {
            DatabaseSettings::Sqlite(_) => 0,
            #[cfg(feature = "postgres")]
            DatabaseSettings::Postgres(found) => {
                let between = i64::midpoint(before.0, clock().0);
                found.now - between
            }
        };
        let tables = match has_tables {
            false => TableState::Missing,
            true => match crate::connect::migrate::is_behind(&mut connection) {
                Ok(true) => TableState::Older,
                Ok(false) => TableState::Current,
                Err(Error::NewerSchema { .. }) => TableState::Newer,
                Err(error) => return Err(error),
            },
        };
        let (mut servers, mut providers) = (0, Vec::new());
        if tables == TableState::Current {
            let mut reader = connection.reader();
            servers = reader.nodes().count(since)?;
            providers = reader.identities().list_enabled_providers()?;
        }
        Ok(Inspection {
            settings,
            clock_ahead_millis,
            tables,
            servers,
            providers,
        })
    }

    /// Whether data would go to the database at `url` as [`Store::is_exposed`] says.
    ///
    /// # Errors
    ///
    /// [`Error::Url`].
    pub fn is_address_exposed(url: &str) -> Result<bool> {
        Ok(Location::parse(url)?.is_exposed())
    }
}

/// A connection that leaves everything as it is.
pub(crate) fn connect_to_look(location: &Location) -> Result<Connection> {
    match location {
        #[cfg(feature = "sqlite")]
        Location::File(path) => {
            use diesel::connection::SimpleConnection as _;
            // Opening it would make the file.
            if !path.exists() {
                return Err(Error::Unavailable(format!(
                    "there is no file {}",
                    path.display()
                )));
            }
            let path = path.to_string_lossy();
            let mut connection = <SqliteConnection as diesel::Connection>::establish(&path)
                .map_err(|error| Error::Unavailable(format!("cannot open {path}: {error}")))?;
            connection.batch_execute("pragma busy_timeout = 2000; pragma query_only = on")?;
            Ok(Connection::Sqlite(Box::new(connection)))
        }
        other => crate::connect::connect_as_is(other),
    }
}

#[cfg(feature = "sqlite")]
fn sqlite_settings(c: &mut SqliteConnection, checks_pages: bool) -> Result<SqliteSettings> {
    #[derive(QueryableByName)]
    struct Journal {
        #[diesel(sql_type = Text)]
        journal_mode: String,
    }
    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = Text)]
        version: String,
    }
    #[derive(QueryableByName)]
    struct Pages {
        #[diesel(sql_type = Text)]
        quick_check: String,
    }
    let journal = diesel::sql_query("pragma journal_mode").get_result::<Journal>(c)?;
    let version =
        diesel::sql_query("select sqlite_version() as version").get_result::<Version>(c)?;
    let damage = match checks_pages {
        true => diesel::sql_query("pragma quick_check(1)")
            .get_result::<Pages>(c)
            .map(|pages| Some(pages.quick_check).filter(|said| said != "ok"))?,
        false => None,
    };
    Ok(SqliteSettings {
        journal_mode: journal.journal_mode,
        damage,
        version: version.version,
    })
}

#[cfg(feature = "sqlite")]
fn has_sqlite_tables(c: &mut SqliteConnection) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Found {
        #[diesel(sql_type = Integer)]
        found: i32,
    }
    let row = diesel::sql_query(
        "select count(*) as found from sqlite_master where name = '__diesel_schema_migrations'",
    )
    .get_result::<Found>(c)?;
    Ok(row.found > 0)
}

#[cfg(feature = "postgres")]
fn postgres_settings(c: &mut PgConnection) -> Result<PostgresSettings> {
    Ok(diesel::sql_query(
        "select current_setting('server_version') as version, \
         current_setting('server_version_num')::int as version_number, \
         pg_encoding_to_char(d.encoding)::text as encoding, \
         current_setting('fsync')::bool as fsync, \
         current_setting('full_page_writes')::bool as full_page_writes, \
         current_setting('synchronous_commit') as synchronous_commit, \
         pg_is_in_recovery() as is_standby, \
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
             - coalesce(current_setting('reserved_connections', true), '0')::int as max_connections, \
         r.rolconnlimit as role_connections, d.datconnlimit as database_connections, \
         (select count(*) from pg_stat_activity a where a.datid is not null and a.datid <> d.oid) \
             as other_connections, \
         (select setting::bigint from pg_settings where name = 'idle_in_transaction_session_timeout') \
             as idle_in_transaction_timeout, \
         (select setting::bigint from pg_settings where name = 'idle_session_timeout') \
             as idle_session_timeout, \
         (select setting::bigint from pg_settings where name = 'statement_timeout') as statement_timeout, \
         coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create_tables, \
         (extract(epoch from clock_timestamp()) * 1000)::bigint as now \
         from pg_database d, pg_roles r \
         where d.datname = current_database() and r.rolname = current_user",
    )
    .get_result(c)?)
}

#[portable]
impl<C: Access> Identities<'_, C> {
    /// The identity providers that have a token, in the order of their organizations' numbers.
    pub fn list_enabled_providers(c: &mut Connection) -> Result<Vec<EnabledProvider>> {
        let found = identity_providers::table
            .filter(identity_providers::token_hash.ne(Vec::<u8>::new()))
            .order(identity_providers::organization_id)
            .select((
                identity_providers::organization_id,
                identity_providers::uid,
                identity_providers::used_at,
            ))
            .load::<(i64, String, Option<i64>)>(&mut *c)?;
        let mut providers = Vec::with_capacity(found.len());
        for (id, uid, used_at) in found {
            providers.push(EnabledProvider {
                organization: organizations::table
                    .find(id)
                    .select(organizations::parameterized_name)
                    .get_result(&mut *c)?,
                uid,
                used_at: used_at.map(Timestamp),
                domains: organization_domains::table
                    .filter(organization_domains::organization_id.eq(id))
                    .count()
                    .get_result(&mut *c)?,
            });
        }
        Ok(providers)
    }
}
