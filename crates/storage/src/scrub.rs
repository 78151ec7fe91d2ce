//! Removing from the database what was deleted from its tables.
//!
//! Both databases leave deleted rows where they were until the space is used again: SQLite in the
//! pages of its file, in its write-ahead log and in the segments of the index of words, PostgreSQL
//! in its tables, its indexes and its statistics.

#[cfg(feature = "sqlite")]
use std::time::{Duration, Instant};

#[cfg(feature = "postgres")]
use diesel::connection::SimpleConnection as _;

use crate::connect::{Connection, Location, connect_as_is};
use crate::{Error, Result, Store};

/// What [`Store::scrub`] works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrubStep {
    /// The index of words is merged, a few hundred pages in a transaction.
    SearchIndex,
    /// An SQLite file is written anew. Nothing else can write meanwhile; reads go on.
    File,
    /// The write-ahead log of an SQLite file is emptied.
    WriteAheadLog,
    /// A table of PostgreSQL is vacuumed, and its indexes are built anew. Reads and writes go on.
    Table(&'static str),
}

/// What [`Store::scrub`] came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// For how long nothing else could write, in milliseconds.
    pub blocked_millis: u64,
}

impl Store {
    /// Removes everything from the database that was deleted from its tables, and gives for how
    /// long nothing else could write. It changes no row and may be repeated. Of a database in
    /// memory nothing is removed.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when other processes keep the database busy for too long, and
    /// [`Error::DiskFull`]: an SQLite file needs twice its size while it is written anew.
    pub async fn scrub(&self, progress: impl Fn(ScrubStep) + Send + 'static) -> Result<Scrubbed> {
        if matches!(self.location(), Location::Memory) {
            return Ok(Scrubbed::default());
        }
        let location = self.location().clone();
        let work = tokio::task::spawn_blocking(move || match connect_as_is(&location)? {
            #[cfg(feature = "sqlite")]
            Connection::Sqlite(mut c) => scrub_file(&mut c, &progress),
            #[cfg(feature = "postgres")]
            Connection::Postgres(mut c) => scrub_tables(&mut c, &progress),
            _ => Err(Error::Corrupt("a connection of a pool")),
        });
        work.await
            .unwrap_or(Err(Error::Panicked("removing deleted data")))
    }
}

/// Pages of the index of words that one transaction merges.
#[cfg(feature = "sqlite")]
const MERGED_PAGES: i32 = 256;
/// How long others may write between two steps, and between two attempts.
#[cfg(feature = "sqlite")]
const PAUSE: Duration = Duration::from_millis(5);
/// How long readers that still read the write-ahead log are waited for.
#[cfg(feature = "sqlite")]
const LOG_PATIENCE: Duration = Duration::from_secs(30);

#[cfg(feature = "sqlite")]
fn scrub_file(c: &mut diesel::SqliteConnection, progress: &impl Fn(ScrubStep)) -> Result<Scrubbed> {
    crate::sqlite::prepare_to_write(c)?;
    progress(ScrubStep::SearchIndex);
    // The first step puts all segments together, also a single one that has deleted rows; the
    // others go on with it.
    let mut pages = -MERGED_PAGES;
    while crate::sqlite::merge_words(c, pages)? {
        pages = MERGED_PAGES;
        pause();
    }
    crate::sqlite::delete_samples(c)?;
    progress(ScrubStep::File);
    let begun = Instant::now();
    let waited = crate::sqlite::vacuum(c)?;
    let blocked = begun.elapsed().saturating_sub(waited);
    progress(ScrubStep::WriteAheadLog);
    let begun = Instant::now();
    while !crate::sqlite::empty_log(c)? {
        if begun.elapsed() >= LOG_PATIENCE {
            let text = "other processes read the database without a pause, so its write-ahead log could not be emptied";
            return Err(Error::Unavailable(text.to_owned()));
        }
        pause();
    }
    Ok(Scrubbed {
        blocked_millis: u64::try_from(blocked.as_millis()).unwrap_or(u64::MAX),
    })
}

#[cfg(feature = "sqlite")]
#[expect(
    clippy::disallowed_methods,
    reason = "a thread of its own, which lets others write"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// The tables that rows with texts, names or addresses are deleted from, each with whether an index
/// has such texts. A vacuum leaves keys in the inner pages of an index, and in one of words.
#[cfg(feature = "postgres")]
const TABLES: &[(&str, bool)] = &[
    ("message_search", true),
    ("message_tags", true),
    ("messages", false),
    ("thread_items", false),
    ("files", false),
    ("users", true),
    ("avatars", false),
    ("organization_members", true),
    ("organizations", false),
    ("organization_names", true),
    ("closed_members", true),
    ("flows", false),
    ("user_groups", true),
    ("applications", false),
    ("sources", false),
    ("former_members", false),
    ("identities", true),
    ("email_claims", true),
    ("invitations", true),
    ("mails", false),
    ("mail_records", true),
    ("links", false),
    ("sessions", false),
    ("settings", false),
    ("api_tokens", false),
    ("push_subscriptions", true),
    ("audit", false),
    ("imported_records", true),
];

#[cfg(feature = "postgres")]
fn scrub_tables(c: &mut diesel::PgConnection, progress: &impl Fn(ScrubStep)) -> Result<Scrubbed> {
    // The samples of the statistics have values of rows: they are taken anew, too.
    c.batch_execute(
        "set statement_timeout = 0; set lock_timeout = 0; set default_transaction_read_only = off",
    )?;
    for (table, has_texts_in_index) in TABLES {
        progress(ScrubStep::Table(table));
        c.batch_execute(&format!("vacuum (analyze) {table}"))?;
        if *has_texts_in_index {
            c.batch_execute(&format!("reindex table concurrently {table}"))?;
        }
    }
    Ok(Scrubbed::default())
}
