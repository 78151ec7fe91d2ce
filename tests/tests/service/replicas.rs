//! What a client rebuilds from its stream is what the API answers: random histories of several
//! users, with everybody's copy compared after each step, unread counts included.
//!
//! `EDDYLINE_REPLICA_SEED` and `EDDYLINE_REPLICA_STEPS` try other histories than the few that
//! always run.

use eddyline_tests::{Dice, Tenant, on_shared_servers};

use self::replica::Replica;
use self::story::Story;

mod replica;
mod state;
mod story;

on_shared_servers![
    a_history_of_one_seed_is_the_same_on_the_stream,
    a_history_of_another_seed_is_the_same_on_the_stream,
    a_history_of_a_third_seed_is_the_same_on_the_stream,
];

const STEPS: usize = 100;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

async fn a_history_of_one_seed_is_the_same_on_the_stream(tenant: Tenant) {
    live(&tenant, number("EDDYLINE_REPLICA_SEED", 1)).await;
}

async fn a_history_of_another_seed_is_the_same_on_the_stream(tenant: Tenant) {
    live(&tenant, number("EDDYLINE_REPLICA_SEED", 2) + 1000).await;
}

async fn a_history_of_a_third_seed_is_the_same_on_the_stream(tenant: Tenant) {
    live(&tenant, number("EDDYLINE_REPLICA_SEED", 3) + 2000).await;
}

async fn live(tenant: &Tenant, seed: usize) {
    let story = Story::begin(tenant).await;
    let mut replicas = Vec::new();
    for person in story.people() {
        replicas.push(Replica::open(person).await);
    }
    let mut dice = Dice::new(seed as u64);
    let mut told = Vec::new();
    for _ in 0..number("EDDYLINE_REPLICA_STEPS", STEPS) {
        told.push(story.step(&mut dice).await);
        for replica in &mut replicas {
            let history = || format!("seed {seed}, after:\n{}", told.join("\n"));
            replica.catch_up(history).await;
        }
    }
}
