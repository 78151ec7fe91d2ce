//! The sources of a flow, and the applications that they belong to.

use std::collections::{BTreeMap, HashMap};

use eddyline_archive::SourceRecord;
use eddyline_model::applications::{Application, MAX_ADDRESS};
use eddyline_model::sources::{MAX_SOURCES, Source};
use eddyline_model::{ApplicationId, RoomId, SourceId, UserId};
use eddyline_storage::{ImportOrigin, ImportedKind, NewSourceRow, Result as StoreResult, Tx};

use super::content::Users;
use crate::target::ImportWork;
use crate::{LeftOutKind, Result, texts};

/// Sources of a flow with their applications, by the number that the archive gives them.
pub(super) type SourcesByNumber = HashMap<u32, (i64, Option<ApplicationId>)>;

/// Makes the sources of a flow.
pub(super) fn make_sources(
    work: &mut ImportWork<'_>,
    records: &[SourceRecord],
    room: RoomId,
    users: &Users,
) -> Result<SourcesByNumber> {
    let (records, spare) = records.split_at(records.len().min(MAX_SOURCES));
    for source in spare {
        work.report
            .leave_out(LeftOutKind::BeyondLimit, source.name.clone());
    }
    if records.is_empty() {
        return Ok(HashMap::new());
    }
    let creator = |source: &SourceRecord| users.get(&source.creator?)?.user();
    let sources: Vec<(SourceRecord, Option<UserId>)> = records
        .iter()
        .map(|source| (source.clone(), creator(source)))
        .collect();
    let origin = work.origin.clone();
    work.write(move |tx| {
        let now = tx.now();
        let existing = tx.sources().list_all_of_room(room)?;
        let mut existing = existing.into_iter().map(|listed| listed.source).collect();
        let mut stand_ins = BTreeMap::new();
        let mut by_number = HashMap::new();
        for (record, creator) in &sources {
            let application = match &record.application {
                Some(name) => {
                    let name = texts::display_name(name);
                    Some(stand_in(tx, &origin, &name, &mut stand_ins)?)
                }
                None => None,
            };
            let source = NewSourceRow {
                room,
                application,
                name: texts::display_name(&record.name),
                external_url: record.external_url.clone().filter(|url| is_address(url)),
                creator: *creator,
                created_at: texts::time(record.created_at, now),
            };
            let id = match take_same(&mut existing, &source) {
                Some(id) => id,
                None => {
                    let id = tx.sources().insert(&source)?;
                    if let Some(at) = record.removed_at {
                        tx.imports().set_source_removed(id, texts::time(at, now))?;
                    }
                    id
                }
            };
            by_number.insert(record.number, (id.0, application));
        }
        Ok(by_number)
    })
}

fn is_address(url: &str) -> bool {
    (url.starts_with("http://") || url.starts_with("https://"))
        && url.len() <= MAX_ADDRESS
        && !url.contains(char::is_control)
}

/// Takes the source that an import which was interrupted has made. The others of the flow are the
/// users' own: no thread of an archive belongs to their applications.
fn take_same(existing: &mut Vec<Source>, new: &NewSourceRow) -> Option<SourceId> {
    let is_same = |source: &Source| {
        (source.application, &source.name, source.created_at)
            == (new.application, &new.name, new.created_at)
    };
    let place = existing.iter().position(is_same)?;
    Some(existing.remove(place).id)
}

/// Returns the stand-in for an application of this name: one that an import has made, and never one
/// that a user has registered, since the requests of threads go to addresses that the archive
/// names. It is public, so that it never gets a secret that signs them, and has no redirect URI, so
/// that no client can use it.
fn stand_in(
    tx: &mut Tx<'_>,
    origin: &ImportOrigin,
    name: &str,
    stand_ins: &mut BTreeMap<String, ApplicationId>,
) -> StoreResult<ApplicationId> {
    if let Some(id) = stand_ins.get(name) {
        return Ok(*id);
    }
    let noted = tx.imports().find(origin, ImportedKind::Application, name)?;
    if let Some(id) = noted.map(ApplicationId) {
        let application = tx.applications().find(id)?;
        if application.is_some_and(|application| application.public) {
            stand_ins.insert(name.to_owned(), id);
            return Ok(id);
        }
    }
    let application = Application {
        id: ApplicationId(0),
        client_id: eddyline_random::hex::<32>(),
        organization: origin.organization,
        name: name.to_owned(),
        public: true,
        redirect_uris: Vec::new(),
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: false,
        out_of_band: false,
        creator: None,
        created_at: tx.now(),
    };
    let id = tx.applications().insert(&application, None)?;
    let record = [(name.to_owned(), id.0)];
    tx.imports()
        .delete_record(origin, ImportedKind::Application, name)?;
    tx.imports()
        .insert_records(origin, ImportedKind::Application, &record)?;
    stand_ins.insert(name.to_owned(), id);
    Ok(id)
}
