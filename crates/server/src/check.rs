//! `eddyline check`: finds defects of the database and of the files.

use std::fmt::{self, Display};

use eddyline_app::AuditAction;
use eddyline_backup::{Checked, check};
use eddyline_storage::Store;
use eddyline_storage::copy::Defect;
use serde::Serialize;
use serde_json::json;

use crate::cli::Check;
use crate::config::Settings;
use crate::output::{self, Reporter};
use crate::signals::StopSignals;
use crate::{CommandError, admin, backup, serve};

/// Checks the database and the files, and repairs derived data where the command says so.
pub(crate) async fn run(settings: Settings, command: Check) -> Result<(), CommandError> {
    admin::check_place(&settings).await?;
    let stop = StopSignals::catch()?;
    let place = (!command.skip_files).then(|| backup::place_for_files(&settings));
    let place = place.transpose()?;
    let reporter = Reporter::new(command.json, false);
    let store = serve::open_current_store(&settings).await?;
    let progress = reporter.clone();
    let work = async {
        let checked = check(&store, place, move |now| progress.report(&now)).await?;
        if command.repair {
            store.repair(&checked.database).await?;
            note_repair(&store, &checked.database.defects).await?;
        }
        Ok::<_, CommandError>(checked)
    };
    let checked = backup::until_stopped(stop, work).await;
    store.close().await;
    let checked = checked??;
    let answer = CheckAnswer::new(checked, command.repair);
    reporter.end(&answer)?;
    match answer.left {
        0 => Ok(()),
        1 => Err("1 defect is left".into()),
        count => Err(format!("{count} defects are left").into()),
    }
}

/// Records what was repaired, if there was something.
async fn note_repair(store: &Store, defects: &[Defect]) -> Result<(), CommandError> {
    let repaired: Vec<_> = defects
        .iter()
        .filter(|defect| defect.is_repairable)
        .map(|defect| json!({"what": defect.what, "count": defect.count}))
        .collect();
    if repaired.is_empty() {
        return Ok(());
    }
    let detail = json!({"repaired": repaired});
    admin::audit::note(store, AuditAction::DataRepair, &detail).await
}

/// What was found.
#[derive(Serialize)]
struct CheckAnswer {
    messages: u64,
    files: u64,
    file_bytes: u64,
    defects: Vec<FoundDefect>,
    missing_files: Vec<String>,
    damaged_files: Vec<String>,
    #[serde(skip)]
    left: usize,
}

#[derive(Serialize)]
struct FoundDefect {
    what: &'static str,
    count: u64,
    examples: Vec<String>,
    repairable: bool,
    repaired: bool,
}

impl CheckAnswer {
    fn new(checked: Checked, is_repaired: bool) -> Self {
        let found = |defect: Defect| FoundDefect {
            what: defect.what,
            count: defect.count,
            examples: defect.examples,
            repairable: defect.is_repairable,
            repaired: defect.is_repairable && is_repaired,
        };
        let defects: Vec<_> = checked.database.defects.into_iter().map(found).collect();
        let left = defects.iter().filter(|defect| !defect.repaired).count();
        Self {
            left: left + checked.missing.len() + checked.damaged.len(),
            messages: checked.database.messages,
            files: checked.files,
            file_bytes: checked.bytes,
            defects,
            missing_files: checked.missing,
            damaged_files: checked.damaged,
        }
    }
}

impl Display for CheckAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = output::size(self.file_bytes);
        write!(
            f,
            "Checked {} messages and {} files ({size})",
            self.messages, self.files
        )?;
        if self.left == 0 && self.defects.is_empty() {
            write!(f, ": no defects")?;
        }
        for defect in &self.defects {
            let examples = defect.examples.join(", ");
            let then = match (defect.repaired, defect.repairable) {
                (true, _) => "; repaired",
                (false, true) => "; --repair repairs it",
                (false, false) => "",
            };
            write!(f, "\n  {} {}: {examples}{then}", defect.count, defect.what)?;
        }
        for key in &self.missing_files {
            write!(f, "\n  Missing file {key}")?;
        }
        for key in &self.damaged_files {
            write!(f, "\n  Damaged file {key}")?;
        }
        Ok(())
    }
}
