//! PostgreSQL goes away and comes back, while the server stays: it answers 503 or waits, and keeps
//! its streams.

use std::time::Duration;

use eddyline_testing::postgres::{self, Cluster, Database, Stop};
use eddyline_tests::chaos::{Cast, Run, plan};
use eddyline_tests::faults::Cable;
use eddyline_tests::{Backend, Server, Setting};
use tokio::task::block_in_place;

/// The server stays, so every request is answered and every stream goes on.
fn cast() -> Cast {
    Cast {
        reading_stops: true,
        readers: 2,
        ..Cast::default()
    }
}

#[test]
fn nothing_answered_is_lost_while_postgresql_is_stopped_and_started() {
    crate::in_turn(|| Cluster::own(&[]).map(stopped_and_started));
}

async fn stopped_and_started(cluster: Cluster) {
    let setting = Setting {
        database: Some(cluster.database()),
        ..Setting::default()
    };
    let server = Server::start_in(setting, &[]);
    let outage = plan().choose(Duration::from_millis(2500), Duration::from_secs(10));
    let mut run = Run::begin("PostgreSQL stopped", &[&server], cast()).await;
    let mut rounds = plan().rounds(2, 0.1);
    let mut ways = [Stop::Immediate, Stop::Fast].into_iter().cycle();
    while rounds.another() {
        run.a_while(50).await;
        block_in_place(|| cluster.stop(ways.next().expect("it goes round")));
        let answers = run.deeds.answers();
        tokio::time::sleep(outage).await;
        // Answers that were on their way may still have been counted.
        let false_answers = run.deeds.answers() - answers;
        assert!(
            false_answers <= cast().posters,
            "{false_answers} answers came without a database"
        );
        block_in_place(|| cluster.start());
    }
    run.a_while(50).await;
    run.end(rounds.done(), format!("{} s each", outage.as_secs_f64()))
        .await;
}

#[test]
fn nothing_answered_is_lost_while_postgresql_ends_its_sessions() {
    crate::in_turn(|| Server::start(Backend::Postgres).map(sessions_ended));
}

/// Ends every other session of the database.
const END_SESSIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";

async fn sessions_ended(server: Server) {
    let mut run = Run::begin("PostgreSQL ends its sessions", &[&server], cast()).await;
    let mut rounds = plan().rounds(25, 0.1);
    let mut ended = 0;
    while rounds.another() {
        run.a_while(20).await;
        let sessions = block_in_place(|| server.database().unwrap().run(END_SESSIONS)).unwrap();
        ended += sessions.lines().count();
    }
    run.a_while(20).await;
    assert!(
        ended >= rounds.done(),
        "only {ended} sessions were there to be ended"
    );
    run.end(rounds.done(), format!("{ended} sessions")).await;
}

#[test]
fn nothing_answered_is_lost_or_doubled_while_the_cable_to_postgresql_is_cut() {
    crate::in_turn(|| postgres::database().map(cable_cut));
}

/// How long a commit and the answer to it are on their way.
const HOLD: Duration = Duration::from_millis(6);

async fn cable_cut(database: Database) {
    let cable = Cable::to(database.server(), HOLD).await;
    let database = Some(database.reached_at(&cable.address()));
    let server = block_in_place(|| {
        Server::start_in(
            Setting {
                database,
                ..Setting::default()
            },
            &[],
        )
    });
    let mut run = Run::begin("cable to PostgreSQL cut", &[&server], cast()).await;
    let mut rounds = plan().rounds(25, 0.1);
    while rounds.another() {
        run.a_while(10).await;
        tokio::time::sleep(run.random.time_below(4 * HOLD)).await;
        cable.cut();
    }
    run.a_while(10).await;
    run.end(rounds.done(), String::new()).await;
}
