//! Applications that act for users (specification, section 5).

mod account;
mod administrators;
mod browser;
mod browsing;
mod codes;
mod consent;
mod developer;
mod limits;
mod pages_in_browser;
mod relying;
mod tokens;
