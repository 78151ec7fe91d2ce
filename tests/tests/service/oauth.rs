//! Applications that act for users (specification, section 5).

mod account;
mod administrators;
mod bounds;
mod browser;
mod codes;
mod consent;
mod developer;
mod expiry;
mod interleavings;
mod limits;
mod pages_in_browser;
mod python_client;
mod refresh;
mod registering;
mod relying;
mod rust_client;
mod scopes;
mod tokens;
