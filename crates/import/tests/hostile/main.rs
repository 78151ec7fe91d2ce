//! Untrusted archives change no row of another tenant, whatever they contain.
//!
//! Random archives of every format go into one of the organizations of a server. All tables are
//! compared before and after: rows that do not belong to that organization must be the same, and
//! those that do may name its members and accounts that were made for the archive only.
//!
//! An ordinary run tries the same archives each time. `EDDYLINE_HOSTILE_ARCHIVES` sets the number
//! of archives that each database gets in a long one, which prints its seed, and
//! `EDDYLINE_HOSTILE_SEED` repeats it.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod dice;
mod eddyline;
mod foreign;
mod repeats;
mod tables;
mod tenants;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;

use eddyline_import::{ArchiveFormat, Error, ImportTarget, import};
use eddyline_storage::Store;

use self::dice::Dice;
use self::tenants::Tenants;

/// The number of archives after which the database is made anew.
const ARCHIVES_OF_A_DATABASE: usize = 25;
/// The number of archives that an ordinary run tries.
const ORDINARY: usize = 40;

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The outcomes of the archives of a run.
#[derive(Default)]
struct Outcomes {
    imported: u64,
    refused: u64,
    messages: u64,
    new_people: u64,
}

async fn try_archives(database: impl Fn() -> Option<Place>, name: &str) {
    let asked =
        number_of("EDDYLINE_HOSTILE_ARCHIVES").and_then(|count| usize::try_from(count).ok());
    let count = asked.unwrap_or(ORDINARY);
    let seed = number_of("EDDYLINE_HOSTILE_SEED")
        .unwrap_or_else(|| asked.map_or(1, |_| RandomState::new().build_hasher().finish() >> 1));
    say(&format!(
        "{name}: {count} archives, EDDYLINE_HOSTILE_SEED={seed}"
    ));
    let mut dice = Dice::new(seed);
    let (mut left, mut outcomes) = (count, Outcomes::default());
    while left > 0 {
        let Some(place) = database() else { return };
        let store = Store::open(&place.url).unwrap();
        let tenants = Tenants::make(&store).await;
        for _ in 0..left.min(ARCHIVES_OF_A_DATABASE) {
            try_archive(&store, &tenants, &place, &mut dice, &mut outcomes).await;
            left -= 1;
        }
        tenants.still_post(&store).await;
        store.close().await;
    }
    let Outcomes {
        imported,
        refused,
        messages,
        new_people,
    } = outcomes;
    say(&format!(
        "{name}: {imported} imported, {refused} refused, {messages} messages, {new_people} accounts, no other row changed"
    ));
}

async fn try_archive(
    store: &Store,
    tenants: &Tenants,
    place: &Place,
    dice: &mut Dice,
    outcomes: &mut Outcomes,
) {
    let formats = [
        ArchiveFormat::Eddyline,
        ArchiveFormat::Eddyline,
        ArchiveFormat::Slack,
        ArchiveFormat::Mattermost,
        ArchiveFormat::Flowdock,
    ];
    let format = dice.pick(&formats);
    let archive = place.folder.path().join("archive");
    match format {
        ArchiveFormat::Eddyline => eddyline::write(&archive, tenants, dice),
        ArchiveFormat::Slack => foreign::slack(&archive, dice),
        ArchiveFormat::Mattermost => foreign::mattermost(&archive, dice),
        ArchiveFormat::Flowdock => foreign::flowdock(&archive, dice),
    }
    let organization = match format {
        ArchiveFormat::Eddyline => dice.pick(&["acme", "acme", "acme", "evil"]),
        _ => "acme",
    };
    let before = tables::read(store);
    let target = ImportTarget {
        store: store.clone(),
        files: eddyline_files::Files::in_folder(&place.folder.path().join("files")).unwrap(),
        organization: organization.to_owned(),
        max_file_bytes: 1 << 30,
        parent: None,
        invites: dice.one_in(3).then_some(0),
        is_dry_run: false,
    };
    match import(target, archive, Some(format), |_| ()).await {
        Ok(report) => {
            outcomes.imported += 1;
            outcomes.messages += report.messages;
            outcomes.new_people += report.new_people;
        }
        // An untrusted archive may be refused, but causes no other error.
        Err(
            Error::Unfit(_)
            | Error::NotSound { .. }
            | Error::Full { .. }
            | Error::Archive(_)
            | Error::NoOrganization(_)
            | Error::NoRoomForFiles,
        ) => outcomes.refused += 1,
        Err(error) => panic!("{format:?}: {error}"),
    }
    let after = tables::read(store);
    tables::compare(&before, &after, organization);
    tenants::take_posts(store, organization).await;
}

/// The place of a database and files.
struct Place {
    url: String,
    folder: tempfile::TempDir,
    _database: Option<eddyline_testing::postgres::Database>,
}

fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

fn sqlite() -> Option<Place> {
    let folder = folder();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    Some(Place {
        url,
        folder,
        _database: None,
    })
}

fn postgres() -> Option<Place> {
    let database = eddyline_testing::postgres::database()?;
    Some(Place {
        url: database.url().to_owned(),
        folder: folder(),
        _database: Some(database),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_archive_changes_a_row_of_another_tenant_on_sqlite() {
    try_archives(sqlite, "sqlite").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_archive_changes_a_row_of_another_tenant_on_postgres() {
    try_archives(postgres, "postgres").await;
}
