//! The course of a run: everything once in each round, so that what changes on the machine over
//! time falls on all alike.

use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use crate::arguments::{Arguments, Part};
use crate::fill::Homes;
use crate::plan::Plan;
use crate::report::{Key, Metric, Results, Sample};
use crate::server::{Binary, Server};
use crate::stage::Stage;
use crate::{Result, nchan, neighbour, parts, progress};

/// A server that has just started is not measured before it has come to rest.
const REST: Duration = Duration::from_millis(300);

/// Measures everything that was asked for.
pub(crate) async fn run(arguments: &Arguments) -> Result<Results> {
    let plan = Plan::of(arguments);
    let binary = Binary::find(arguments)?;
    let nchan = if arguments.peers {
        Some(nchan::find_module()?)
    } else {
        None
    };
    let scratch = scratch(arguments)?;
    let messages = if needs_messages(arguments) {
        plan.messages
    } else {
        0
    };
    let homes = Homes::make(&binary, scratch.path(), messages).await?;
    let stage = Stage {
        arguments,
        plan,
        binary,
        homes,
        scratch: scratch.path(),
        nchan,
    };
    let mut results = Results::default();
    for round in 1..=stage.plan.rounds {
        progress(&format!("round {round} of {}", stage.plan.rounds));
        stage.round(round, &mut results).await?;
    }
    Ok(results)
}

fn scratch(arguments: &Arguments) -> Result<tempfile::TempDir> {
    let directory = match &arguments.scratch {
        Some(directory) => directory.clone(),
        None => std::env::current_exe()?
            .parent()
            .ok_or("this program has no directory")?
            .to_owned(),
    };
    Ok(tempfile::Builder::new()
        .prefix("bench-")
        .tempdir_in(std::path::absolute(directory)?)?)
}

fn needs_messages(arguments: &Arguments) -> bool {
    [
        Part::Posts,
        Part::List,
        Part::Pages,
        Part::Search,
        Part::Idle,
    ]
    .into_iter()
    .any(|part| arguments.wants(part))
}

impl Stage<'_> {
    async fn round(&self, round: u32, results: &mut Results) -> Result<()> {
        let data = self.homes.empty()?;
        let empty = self.start(&data, parts::EMPTY, results).await?;
        if needs_messages(self.arguments) {
            let filled = self
                .start(&self.homes.filled, parts::FILLED, results)
                .await?;
            self.requests(&empty, &filled, results).await?;
            filled.stop().await?;
        }
        if self.arguments.wants(Part::Fanout) {
            progress("  fan-out");
            parts::fanout::measure(self, &empty, results).await?;
        }
        if self.arguments.wants(Part::Screen) {
            progress("  screen");
            parts::screen::measure(self, (&empty, &data), results).await?;
        }
        if self.arguments.wants(Part::Credentials) {
            progress("  credentials");
            parts::credentials::measure(self, (&empty, &data), round, results).await?;
        }
        if self.arguments.wants(Part::Provisioning) {
            progress("  provisioning");
            parts::provisioning::measure(self, (&empty, &data), round, results).await?;
        }
        empty.stop().await?;
        if self.arguments.wants(Part::Idle) {
            progress("  idle streams");
            parts::idle::streams(self, results).await?;
        }
        if self.arguments.wants(Part::Neighbour) {
            neighbour::measure(self, results).await?;
        }
        Ok(())
    }

    /// Starts a server and measures that.
    async fn start(
        &self,
        data: &Path,
        subject: &'static str,
        results: &mut Results,
    ) -> Result<Server> {
        let server = self.binary.serve(data)?;
        sleep(REST).await;
        if self.arguments.wants(Part::Idle) {
            let milliseconds = server.start_up.as_secs_f64() * 1e3;
            results.add(
                Key::new("start", subject, "until it listens"),
                Sample::single(Metric::StartUp, milliseconds),
            );
            results.add(
                Key::new("memory", subject, "started"),
                parts::idle::resident(&server)?,
            );
        }
        Ok(server)
    }

    async fn requests(&self, empty: &Server, filled: &Server, results: &mut Results) -> Result<()> {
        let commit = parts::reference(self)?;
        if self.arguments.wants(Part::Posts) {
            progress("  posts");
            parts::posts::measure(self, empty, filled, &commit, results).await?;
        }
        if self.arguments.wants(Part::List) {
            progress("  lists");
            parts::list::measure(self, filled, &commit, results).await?;
        }
        commit.stop().await?;
        if self.arguments.wants(Part::Pages) {
            progress("  pages");
            parts::pages::measure(self, filled, results).await?;
        }
        if self.arguments.wants(Part::Search) {
            progress("  search");
            parts::search::measure(self, filled, results).await?;
        }
        if self.arguments.wants(Part::Idle) {
            results.add(
                Key::new("memory", parts::FILLED, "after this round"),
                parts::idle::resident(filled)?,
            );
        }
        Ok(())
    }
}
