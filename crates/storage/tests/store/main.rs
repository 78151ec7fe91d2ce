//! What the store promises, on every database it runs on.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

mod applications;
mod audit;
mod changes;
mod checks;
mod cohorts;
mod copies;
mod credential_epoch;
mod credentials;
mod doubt;
mod failures;
mod files;
mod finding;
mod grants;
mod groups;
mod home;
mod identities;
mod invitations;
mod kept;
mod later_versions;
mod log;
mod metrics;
mod migrations;
mod model;
mod moves;
mod news;
mod organizations;
mod people;
mod plans;
mod posting;
mod presence;
mod private;
mod pushes;
mod queue;
mod random;
mod reach;
mod reactions;
mod reading;
mod rooms_list;
mod schema;
mod sharing;
mod sources;
mod threads;
mod tls;
mod world;
mod writers;
