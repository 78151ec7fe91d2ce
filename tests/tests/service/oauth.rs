//! Applications that act for users (specification, section 5).

mod account;
mod browser;
mod browsing;
mod codes;
mod consent;
mod developer;
mod limits;
mod relying;
mod tokens;
