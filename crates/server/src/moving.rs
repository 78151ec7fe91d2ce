//! `eddyline move`: everything in a database goes into another one, while servers write to it.

use std::fmt::{self, Display};

use eddyline_app::AuditAction;
use eddyline_storage::copy::{
    CutOver, DatabaseMove, MoveProgress, check_moved_references, give_up_move, moved_database,
    open_moved_database,
};
use eddyline_storage::{Error as StoreError, Options, Store};
use serde::Serialize;
use serde_json::{Value, json};

use crate::archives::folder_of;
use crate::cli::MoveArgs;
use crate::config::{DatabaseUrl, Settings};
use crate::output::{self, Reporter};
use crate::signals::StopSignals;
use crate::{CommandError, admin, backup, secret_key, serve};

/// When so few rows were written since the last time, the cut-over is near.
const FEW_ROWS: usize = 500;
/// How often written rows are copied again before the cut-over is tried in any case, and how often
/// that is tried.
const PASSES: u32 = 20;

/// Moves the database of the settings, or gives that up.
pub(crate) async fn run(settings: Settings, command: MoveArgs) -> Result<(), CommandError> {
    admin::check_place(&settings).await?;
    let place = MovePlace {
        from: settings.database_url(),
        to: command.to.absolute()?,
    };
    let key = secret_key_for(&settings, &place).await?;
    let kept_beside = place.to.clone();
    if command.give_up {
        let (source, detail) = (place.from.clone(), json!({"given_up": place.to.place()}));
        let given_up = tokio::task::spawn_blocking(move || place.give_up()).await??;
        note(&source, &detail).await?;
        if let (Some(file), Some(key)) = (kept_beside.file(), key) {
            secret_key::remove_from(file, &key)?;
        }
        return Ok(output::answer(&given_up, command.json)?);
    }
    let stop = StopSignals::catch()?;
    let reporter = Reporter::new(command.json, false);
    let progress = reporter.clone();
    let target = place.to.clone();
    let work = tokio::task::spawn_blocking(move || place.move_all(key.as_deref(), &progress));
    let moved = backup::until_stopped(stop, work).await;
    let moved = moved.map_err(|error| {
        format!(
            "{error}; the same command goes on with the move, and with --give-up it is given up"
        )
    });
    let moved = moved???;
    let detail = json!({"from": moved.from, "to": moved.to, "rows": moved.rows});
    note(&target, &detail).await?;
    reporter.end(&moved)?;
    Ok(())
}

/// Records the move, or its end, in the database that is used from now on.
async fn note(database: &DatabaseUrl, detail: &Value) -> Result<(), CommandError> {
    let url = database.clone();
    let options = Options {
        upgrade: false,
        ..Options::default()
    };
    let opening = tokio::task::spawn_blocking(move || Store::open_with(url.expose(), options));
    let store = opening.await??;
    let noted = admin::audit::note(&store, AuditAction::DataMove, detail).await;
    store.close().await;
    noted
}

/// The secret key that belongs to the data. There is no more to do with it after the cut-over.
async fn secret_key_for(
    settings: &Settings,
    place: &MovePlace,
) -> Result<Option<Vec<u8>>, CommandError> {
    if moved_database_of(place.from.clone()).await? {
        return Ok(None);
    }
    let store = serve::open_current_store(settings).await?;
    let key = secret_key::for_backup(settings, &store).await;
    store.close().await;
    key
}

async fn moved_database_of(from: DatabaseUrl) -> Result<bool, CommandError> {
    let moved = tokio::task::spawn_blocking(move || moved_database(from.expose()));
    Ok(moved.await??.is_some())
}

/// The two databases.
struct MovePlace {
    from: DatabaseUrl,
    to: DatabaseUrl,
}

impl MovePlace {
    fn give_up(&self) -> Result<GivenUp, CommandError> {
        let given_up = give_up_move(self.from.expose(), self.to.expose());
        Ok(GivenUp {
            is_emptied: given_up.map_err(|error| self.explain(error))?,
            database: self.from.place(),
            place: self.to.place(),
        })
    }

    fn move_all(
        &self,
        key: Option<&[u8]>,
        reporter: &Reporter,
    ) -> Result<MoveAnswer, CommandError> {
        let report = |progress| reporter.report_line(&MoveLine::of(progress));
        if let Some(folder) = self.to.file().map(folder_of)
            && !folder.is_dir()
        {
            return Err(format!("--to: there is no folder {}", folder.display()).into());
        }
        // A new SQLite file gets the key beside it.
        let kept_beside = key.zip(self.to.file());
        if let Some((key, file)) = kept_beside
            && Store::is_empty(self.to.expose())?
        {
            secret_key::check_beside(file, key)?;
        }
        let kept_within = key.filter(|_| kept_beside.is_none());
        let began = DatabaseMove::begin(self.from.expose(), self.to.expose(), kept_within, report);
        let mut moving = match began {
            Err(StoreError::Moved) => return self.end(None),
            began => began.map_err(|error| self.explain(error))?,
        };
        if let Some((key, file)) = kept_beside {
            secret_key::put_beside(file, key)?;
        }
        catch_up(&mut moving, reporter)?;
        reporter.report_line(&MoveLine::Comparing);
        let tables = moving.compare()?;
        let rows = tables.iter().map(|table| table.rows).sum();
        for _ in 0..PASSES {
            catch_up(&mut moving, reporter)?;
            reporter.report_line(&MoveLine::CuttingOver);
            if let CutOver::Done { pause } = moving.cut_over()? {
                reporter.report_line(&MoveLine::CheckingReferences);
                let pause = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                return self.end(Some((rows, pause)));
            }
        }
        Err("more is written than can be copied: give the command again at a quieter time".into())
    }

    /// What is left after the cut-over. An earlier command may have got so far, and no further.
    fn end(&self, done: Option<(u64, u64)>) -> Result<MoveAnswer, CommandError> {
        let moved =
            moved_database(self.from.expose())?.filter(|moved| moved.url == self.to.expose());
        let moved = moved.ok_or("the data was moved into another database already")?;
        open_moved_database(&moved)?;
        check_moved_references(self.to.expose())?;
        Ok(MoveAnswer {
            from: self.from.place(),
            to: self.to.place(),
            rows: done.map(|(rows, _)| rows),
            pause_millis: done.map(|(_, pause)| pause),
        })
    }

    fn explain(&self, error: StoreError) -> CommandError {
        match error {
            StoreError::NotEmpty => format!(
                "the database at {} is not empty; data is moved into an empty one only",
                self.to.place()
            )
            .into(),
            StoreError::Moved => "the move is done, and is not given up any more".into(),
            error => error.into(),
        }
    }
}

/// Copies what was written meanwhile, until that is little.
fn catch_up(moving: &mut DatabaseMove, reporter: &Reporter) -> Result<(), CommandError> {
    for _ in 0..PASSES {
        let rows = moving.catch_up()?;
        reporter.report_line(&MoveLine::Changes { rows });
        if rows <= FEW_ROWS {
            break;
        }
    }
    Ok(())
}

/// How far it is.
#[derive(Serialize)]
#[serde(tag = "progress", rename_all = "snake_case")]
enum MoveLine {
    Rows { table: String, rows: u64 },
    Indexing,
    Changes { rows: usize },
    Comparing,
    CuttingOver,
    CheckingReferences,
}

impl MoveLine {
    fn of(progress: MoveProgress) -> Self {
        match progress {
            MoveProgress::Rows { table, rows } => Self::Rows { table, rows },
            MoveProgress::Indexing => Self::Indexing,
        }
    }
}

impl Display for MoveLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { table, rows } => write!(f, "{table}: {rows} rows"),
            Self::Indexing => f.write_str("Making the index of words"),
            Self::Changes { rows } => write!(f, "{rows} rows that were written meanwhile"),
            Self::Comparing => f.write_str("Comparing both databases"),
            Self::CuttingOver => f.write_str("Cutting over"),
            Self::CheckingReferences => f.write_str("Checking references"),
        }
    }
}

/// Everything was moved.
#[derive(Serialize)]
struct MoveAnswer {
    from: String,
    to: String,
    /// Those that were compared; not known when an earlier command has moved them.
    rows: Option<u64>,
    /// For how long writes waited, likewise.
    pause_millis: Option<u64>,
}

impl Display for MoveAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Moved {}", self.from)?;
        writeln!(f, "  to {}", self.to)?;
        if let (Some(rows), Some(pause)) = (self.rows, self.pause_millis) {
            writeln!(
                f,
                "  {rows} rows are the same in both; writes waited for {pause} ms"
            )?;
        }
        write!(
            f,
            "Set the option database to the new one. Servers that run use it already;\n\
             the old one takes no writes, and can be removed once the option is set."
        )
    }
}

/// A move was given up.
#[derive(Serialize)]
struct GivenUp {
    database: String,
    place: String,
    /// Whether nothing of the move is left there.
    is_emptied: bool,
}

impl Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gave the move up; {} goes on as before", self.database)?;
        match self.is_emptied {
            true => Ok(()),
            false => write!(
                f,
                "\n{} could not be reached: what the move has left there is for you to remove",
                self.place
            ),
        }
    }
}
