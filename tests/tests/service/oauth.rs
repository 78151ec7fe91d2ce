//! Applications that act for users (specification, section 5).

mod browser;
mod codes;
mod consent;
mod limits;
mod relying;
mod tokens;
