//! The program's own side: the operator's commands, the configuration, the log, the help, and the
//! demonstration.

mod check_config;
mod configuration;
mod database;
mod demonstration;
mod lists;
mod log;
mod mail_test;
mod operator;
mod passwords;
mod people;
mod reload;
mod secret_key;
