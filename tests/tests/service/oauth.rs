//! Applications that act for users (specification, section 5).

mod limits;
mod tokens;
