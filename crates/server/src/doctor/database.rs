//! The database: reached, with settings that keep what was answered, and with room for all servers.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use eddyline_storage::SILENCE_MILLIS;
use eddyline_storage::{
    DatabaseSettings, Inspection, PostgresSettings, SqliteSettings, Store, TableState,
};

use super::finding::Finding;
use super::{LIMIT, file_system};
use crate::CommandError;
use crate::archives::folder_of;
use crate::config::{DatabaseUrl, Settings};
use crate::output::machine_time;
use crate::owners::check_file;

/// A larger SQLite file is not read as a whole, which would take longer than a check may.
const MOST_READ: u64 = 1 << 30;
/// Connections of a server besides those for reading: the writer's, that of the change notifier, and
/// one by which a statement is cancelled.
const OTHER_CONNECTIONS: i64 = 3;
/// The oldest version of PostgreSQL that its makers still correct.
const OLDEST_POSTGRES: i32 = 140_000;
/// A transaction of a server is shorter than this.
const LONGEST_IDLE_MILLIS: i64 = 10_000;

/// Looks at the database, and gives what it has besides the findings, if it answers.
pub(super) async fn check(settings: &Settings) -> (Vec<Finding>, Option<Inspection>) {
    let settings_here = settings.clone();
    let work = tokio::task::spawn_blocking(move || {
        let inspection = inspect(&settings_here.database_url());
        (judge(&settings_here, &inspection), inspection.ok())
    });
    match tokio::time::timeout(LIMIT, work).await {
        Ok(Ok(checked)) => checked,
        _ => {
            let seconds = LIMIT.as_secs();
            let error = format!("it did not answer within {seconds} seconds");
            (vec![unreachable(&settings.database_url(), error)], None)
        }
    }
}

fn inspect(url: &DatabaseUrl) -> Result<Inspection, CommandError> {
    if let Some(file) = url.file() {
        check_file(file)?;
    }
    let is_read = url.file().is_some_and(|file| size(file) <= MOST_READ);
    let since = machine_time().plus_millis(-SILENCE_MILLIS);
    Ok(Store::inspect(url.expose(), since, is_read)?)
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

fn judge(settings: &Settings, inspection: &Result<Inspection, CommandError>) -> Vec<Finding> {
    let url = settings.database_url();
    let mut findings = url.file().map_or_else(Vec::new, file);
    match inspection {
        Err(error) => findings.push(unreachable(&url, error.to_string())),
        Ok(found) => {
            findings.push(tables(&url, found));
            match &found.settings {
                DatabaseSettings::Sqlite(sqlite) => findings.extend(of_sqlite(&url, sqlite)),
                DatabaseSettings::Postgres(postgres) => {
                    findings.extend(of_postgres(settings, &url, postgres, found.servers));
                }
            }
        }
    }
    findings
}

fn unreachable(url: &DatabaseUrl, error: String) -> Finding {
    let advice = match url.file() {
        Some(_) => {
            "Check the options data_dir and database, and run the command as the user of the server; a server that never \
             ran has no database yet."
        }
        None => "Check the option database, and that PostgreSQL runs and lets this machine in.",
    };
    Finding::error("database", url.place(), error, advice)
}

fn tables(url: &DatabaseUrl, found: &Inspection) -> Finding {
    const CHECK: &str = "database";
    let version = match &found.settings {
        DatabaseSettings::Sqlite(sqlite) => format!("SQLite {}", sqlite.version),
        DatabaseSettings::Postgres(postgres) => format!("PostgreSQL {}", postgres.version),
    };
    match found.tables {
        TableState::Current => Finding::ok(CHECK, url.place(), version),
        TableState::Older => Finding::warning(
            CHECK,
            url.place(),
            format!("{version}, with tables of an older version of Eddyline"),
            "Back up, stop all servers of the older version, and start this one, which upgrades the tables.",
        ),
        TableState::Newer => Finding::error(
            CHECK,
            url.place(),
            format!("{version}, with tables of a newer version of Eddyline"),
            "Install that version, or restore a backup that this one has written.",
        ),
        TableState::Missing => Finding::warning(
            CHECK,
            url.place(),
            format!("{version}, without tables of Eddyline"),
            "Start the server, which makes them; or check the option database.",
        ),
    }
}

/// What is wrong with the file of the database, beside its content.
fn file(path: &Path) -> Vec<Finding> {
    let subject = path.display().to_string();
    let folder = folder_of(path);
    let mut findings = Vec::new();
    if let Ok(Some(network)) = file_system::network(folder) {
        findings.push(Finding::error(
            "database_file_system",
            &subject,
            format!(
                "the file is on a network file system ({network}), where SQLite's locks do not hold"
            ),
            "Move the data directory to a local disk, or use PostgreSQL.",
        ));
    }
    let Ok(metadata) = path.metadata() else {
        return findings;
    };
    const CHECK: &str = "database_permissions";
    let (mode, owner) = (metadata.mode() & 0o777, metadata.uid());
    let us = rustix::process::geteuid().as_raw();
    let writable = tempfile::tempfile_in(folder).is_ok() && !metadata.permissions().readonly();
    findings.push(if mode & 0o077 != 0 {
        Finding::warning(
            CHECK,
            subject,
            format!("other users of this machine may use the file (mode {mode:03o})"),
            format!("Run chmod 600 {}.", path.display()),
        )
    } else if !writable {
        Finding::error(
            CHECK,
            subject,
            "this user cannot write into the file or its folder",
            "Give the data directory to the user of the server, and run the command as that user.",
        )
    } else if owner != us && us != 0 {
        Finding::warning(
            CHECK,
            subject,
            "the file belongs to another user",
            "Run the server and its commands as one user.",
        )
    } else {
        Finding::ok(CHECK, subject, format!("mode {mode:03o}, and writable"))
    });
    findings
}

fn of_sqlite(url: &DatabaseUrl, sqlite: &SqliteSettings) -> Vec<Finding> {
    let place = url.place();
    let journal = match &*sqlite.journal_mode {
        "wal" => Finding::ok("database_journal", &place, "journal mode wal"),
        other => Finding::warning(
            "database_journal",
            &place,
            format!("journal mode {other}, with which reads and writes wait for each other"),
            "Start the server, which sets wal; where that does not help, the file system cannot do it.",
        ),
    };
    let is_read = url.file().is_some_and(|file| size(file) <= MOST_READ);
    let pages = match &sqlite.damage {
        Some(damage) => Finding::error(
            "database_pages",
            &place,
            format!("the file is damaged: {damage}"),
            "Stop the server, keep the file, and restore a backup.",
        ),
        None if is_read => Finding::ok("database_pages", &place, "no damage"),
        None => Finding::ok(
            "database_pages",
            &place,
            "not read, since the file is large; eddyline check reads it",
        ),
    };
    vec![journal, pages]
}

fn of_postgres(
    settings: &Settings,
    url: &DatabaseUrl,
    postgres: &PostgresSettings,
    servers: i64,
) -> Vec<Finding> {
    let place = url.place();
    let mut findings = vec![
        durability(&place, postgres),
        connections(settings, &place, postgres, servers),
    ];
    let mut add = |check, is_wrong: bool, seen: String, advice: &str| {
        findings.extend(is_wrong.then(|| Finding::error(check, &place, seen, advice)));
    };
    add(
        "database_encoding",
        postgres.encoding != "UTF8",
        format!(
            "the encoding is {}, which does not have all characters",
            postgres.encoding
        ),
        "Make a database with encoding UTF8, and move the data there with eddyline backup and eddyline restore.",
    );
    add(
        "database_standby",
        postgres.is_standby,
        "this PostgreSQL only follows another one, and refuses writes".to_owned(),
        "Name the primary in the option database.",
    );
    add(
        "database_rights",
        !postgres.may_create_tables,
        "the role may not make tables".to_owned(),
        "Make the role the owner of the database: alter database NAME owner to ROLE.",
    );
    findings.extend(timeouts(&place, postgres));
    if postgres.version_number < OLDEST_POSTGRES {
        findings.push(Finding::warning(
            "database_version",
            &place,
            format!(
                "PostgreSQL {} gets no corrections any more",
                postgres.version
            ),
            "Upgrade PostgreSQL to 14 or later.",
        ));
    }
    if Store::is_address_exposed(url.expose()).unwrap_or_default() {
        findings.push(Finding::warning(
            "database_encryption",
            &place,
            "the connection to the database is not encrypted",
            "Add sslmode=verify-full to the address, or sslmode=disable where this is meant.",
        ));
    }
    findings
}

/// Whether what was answered survives a power cut.
fn durability(place: &str, postgres: &PostgresSettings) -> Finding {
    const CHECK: &str = "database_durability";
    let off = [
        ("fsync", !postgres.fsync),
        ("full_page_writes", !postgres.full_page_writes),
        ("synchronous_commit", postgres.synchronous_commit == "off"),
    ];
    let off: Vec<&str> = off
        .iter()
        .filter(|(_, is_off)| *is_off)
        .map(|(name, _)| *name)
        .collect();
    if off.is_empty() {
        return Finding::ok(CHECK, place, "commits reach the disk");
    }
    Finding::error(
        CHECK,
        place,
        format!(
            "off: {}; messages that were answered are lost in a power cut",
            off.join(", ")
        ),
        "Turn the settings on in postgresql.conf (or for the role or the database), and reload PostgreSQL.",
    )
}

/// Whether there are enough connections for all servers, each with as many readers as this one.
fn connections(
    settings: &Settings,
    place: &str,
    postgres: &PostgresSettings,
    servers: i64,
) -> Finding {
    const CHECK: &str = "database_connections";
    let servers = servers.max(1);
    let each = i64::from(settings.readers.get()) + OTHER_CONNECTIONS;
    let needed = servers * each;
    let of_server = i64::from(postgres.max_connections) - postgres.other_connections;
    let bounds = [postgres.role_connections, postgres.database_connections];
    let free = bounds
        .into_iter()
        .filter(|bound| *bound >= 0)
        .map(i64::from)
        .fold(of_server, i64::min);
    let whose = match servers {
        1 => "a server takes".to_owned(),
        _ => format!("{servers} servers take"),
    };
    let seen =
        format!("{whose} up to {needed} connections, of {free} that PostgreSQL has for this role");
    match free < needed {
        false => Finding::ok(CHECK, place, seen),
        true => Finding::error(
            CHECK,
            place,
            seen,
            format!(
                "Raise max_connections of PostgreSQL (or the limit of the role or the database), or lower readers: each server \
                 takes readers and {OTHER_CONNECTIONS} more."
            ),
        ),
    }
}

/// Time limits of PostgreSQL by which servers lose connections that they still need.
fn timeouts(place: &str, postgres: &PostgresSettings) -> Vec<Finding> {
    const CHECK: &str = "database_timeouts";
    let mut findings = Vec::new();
    if let Some(millis @ 1..) = postgres.idle_session_timeout {
        findings.push(Finding::warning(
            CHECK,
            place,
            format!("idle_session_timeout ends idle connections after {millis} ms, and servers open them again and again"),
            "Set idle_session_timeout to 0 for the role of Eddyline.",
        ));
    }
    let millis = postgres.idle_in_transaction_timeout;
    if (1..LONGEST_IDLE_MILLIS).contains(&millis) {
        findings.push(Finding::warning(
            CHECK,
            place,
            format!("idle_in_transaction_session_timeout of {millis} ms ends transactions of a server that is only slow"),
            "Set idle_in_transaction_session_timeout to 0, or to a minute.",
        ));
    }
    findings
}
