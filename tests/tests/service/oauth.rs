//! Applications that act for users (specification, section 5).

mod account;
mod browsing;
mod developer;
mod limits;
mod tokens;
