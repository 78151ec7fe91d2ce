//! What the store promises, on every database it runs on.

mod applications;
mod audit;
mod changes;
mod credentials;
mod failures;
mod files;
mod finding;
mod grants;
mod home;
mod identities;
mod invitations;
mod log;
mod migrations;
mod model;
mod organizations;
mod people;
mod plans;
mod posting;
mod private;
mod queue;
mod random;
mod schema;
mod sharing;
mod sources;
mod threads;
mod world;
