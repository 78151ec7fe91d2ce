//! Applications that act for users (specification, section 5).

mod account;
mod browser;
mod codes;
mod consent;
mod developer;
mod expiry;
mod limits;
mod relying;
mod rust_client;
mod scopes;
mod tokens;
