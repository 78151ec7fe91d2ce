//! Support for the tests that break things under load: a plan with its chances, people who post and
//! listen like good clients, and a checker who counts what was lost, doubled, reordered and gapped.

pub mod checker;
mod crowd;
mod deeds;
mod listeners;
mod plan;
mod posters;
mod raw_stream;
mod report;
mod run;
mod ways;

pub use crowd::Crowd;
pub use deeds::Deeds;
pub use listeners::Habit;
pub use plan::{Plan, Random, Rounds, plan};
pub use posters::Manner;
pub use raw_stream::{Address, RawEvent, RawStream};
pub use run::{Cast, Finished, Others, Run, in_time};
pub use ways::Ways;
