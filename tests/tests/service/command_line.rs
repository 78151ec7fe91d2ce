//! The program's own face: the operator's commands, the configuration, the help, and the
//! demonstration.

mod configuration;
mod demonstration;
mod operator;
