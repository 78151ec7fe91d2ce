//! Whatever happens in whatever order, a token that should be dead is never taken, and one that
//! should live always is: random histories of codes, tokens, their ends and their misuse at two
//! processes on one PostgreSQL, and at one on SQLite, which are killed in the middle of it. After
//! each step every token is tried at every process.
//!
//! `EDDYLINE_OAUTH_SEED` and `EDDYLINE_OAUTH_STEPS` try other histories than the few that always
//! run.

use eddyline_tests::{Backend, Server, on_both_databases};
use tokio::task::{JoinSet, block_in_place};

use self::nodes::Nodes;
use self::story::Story;

mod chance;
mod deeds;
mod ears;
mod look;
mod nodes;
mod story;
mod world;

on_both_databases![super::OPTIONS; a_token_lives_until_it_must_end_and_no_longer];

/// Clients here guess wrong on purpose.
const OPTIONS: &[&str] = &["--oauth-attempts-per-address", "0"];
const HISTORIES: usize = 3;
const STEPS: usize = 60;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Shows: 5.8
async fn a_token_lives_until_it_must_end_and_no_longer(first: Server) {
    let mut more = Vec::new();
    for _ in 1..HISTORIES {
        let backend = if first.database().is_some() {
            Backend::Postgres
        } else {
            Backend::Sqlite
        };
        more.extend(block_in_place(|| Server::start_with(backend, OPTIONS)));
    }
    let (seed, steps) = (
        number("EDDYLINE_OAUTH_SEED", 1),
        number("EDDYLINE_OAUTH_STEPS", STEPS),
    );
    let mut histories = JoinSet::new();
    for (number, server) in more.into_iter().chain([first]).enumerate() {
        // Side by side: most of their time goes into waiting for processes that are dead.
        histories.spawn(async move {
            let servers = block_in_place(|| processes(server));
            Story::new(Nodes::new(servers).await, seed + 1000 * number)
                .live(steps)
                .await;
        });
    }
    // All are heard before any fails, so that what is told about one is not mixed with the others.
    let mut failed = None;
    while let Some(ended) = histories.join_next().await {
        failed = failed.or(ended.err());
    }
    if let Some(failed) = failed {
        std::panic::resume_unwind(failed.into_panic());
    }
}

/// As many as there may be on the database.
fn processes(one: Server) -> Vec<Server> {
    let other = one
        .database()
        .is_some()
        .then(|| one.another_node("node-2", OPTIONS));
    [Some(one), other].into_iter().flatten().collect()
}
