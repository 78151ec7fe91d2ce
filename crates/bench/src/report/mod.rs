//! What was measured, collected over the rounds, and how it is told.

mod document;
mod results;
mod sample;
mod table;

pub(crate) use self::results::{Key, Results};
pub(crate) use self::sample::{Faults, Metric, Sample};

use std::io::Write as _;

use crate::arguments::Arguments;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::{Result, progress};

/// Writes the file and prints the table.
pub(crate) fn write(arguments: &Arguments, results: &Results) -> Result<()> {
    let (machine, plan) = (Machine::this(), Plan::of(arguments));
    let document = document::of(&machine, &plan, arguments.quick, results);
    let mut json = serde_json::to_vec_pretty(&document)?;
    json.push(b'\n');
    let path = arguments.json.display();
    std::fs::write(&arguments.json, json)
        .map_err(|error| format!("cannot write {path}: {error}"))?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", machine.describe())?;
    let (rounds, seconds) = (plan.rounds, plan.measured.as_secs_f64());
    writeln!(
        output,
        "medians of {rounds} rounds, {seconds} s each; {} messages in the filled room\n",
        plan.messages
    )?;
    output.write_all(table::of(results).as_bytes())?;
    progress(&format!("written to {path}"));
    Ok(())
}
