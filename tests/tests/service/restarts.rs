//! What a client sees does not depend on how often the server was started (specification,
//! sections 2 and 4): nothing answered is ever lost.

mod equivalence;
mod kills;
mod managed;
mod stopping;
