//! The data is moved into another database, by a command that is killed again and again.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use eddyline_testing::postgres;
use eddyline_tests::chaos::{Cast, Run, plan};
use eddyline_tests::{Backend, Server};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::in_turn;

/// How many lines of progress there are at least before the tables are there, and how many there
/// are behind that.
const FIRST_LINES: u64 = 40;
const LAST_LINES: u64 = 6;

#[test]
fn nothing_is_lost_by_a_move_from_sqlite_to_postgres() {
    in_turn(|| {
        let target = postgres::database()?;
        let server = Server::start(Backend::Sqlite)?;
        Some(async move {
            let to = target.url().to_owned();
            Box::pin(nothing_is_lost(server, &to, "a move, Sqlite")).await;
            drop(target);
        })
    });
}

#[test]
fn nothing_is_lost_by_a_move_from_postgres_to_sqlite() {
    in_turn(|| {
        let server = Server::start(Backend::Postgres)?;
        let directory = TempDir::new().unwrap();
        Some(async move {
            let to = format!("sqlite:{}", directory.path().join("chat.db").display());
            Box::pin(nothing_is_lost(server, &to, "a move, Postgres")).await;
            drop(directory);
        })
    });
}

async fn nothing_is_lost(server: Server, to: &str, name: &str) {
    let cast = Cast {
        servers_die: true,
        ..Cast::default()
    };
    let mut run = Run::begin(name, &[&server], cast).await;
    let mut rounds = plan().rounds(10, 0.2);
    while rounds.another() {
        run.a_while(20).await;
        let lines = match rounds.done() {
            ..=3 => run.random.below(FIRST_LINES),
            _ => run.random.below(LAST_LINES),
        };
        let wait = run.random.time_below(Duration::from_millis(20));
        block_in_place(|| move_some(&server, to, lines, wait));
    }
    run.a_while(20).await;
    // What it says is that of this part.
    run.deeds.longest_silence();
    let mut rest = server.command(&["move", "--to", to, "--json"]);
    let output = block_in_place(|| rest.output().unwrap());
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let answer: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    run.a_while(40).await;
    let pause = &answer["pause_millis"];
    let silence = run.deeds.longest_silence();
    let remark = format!("writes waited {pause} ms; no answer for {silence:.0?} at most");
    run.end(rounds.done(), remark).await;
}

/// Moves, until so many lines of progress were printed and a moment more.
fn move_some(server: &Server, to: &str, lines: u64, wait: Duration) {
    let mut moving = server
        .command(&["move", "--to", to, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let printed = BufReader::new(moving.stdout.take().unwrap()).lines();
    let wanted = usize::try_from(lines).unwrap() + 1;
    printed.take(wanted).for_each(drop);
    std::thread::sleep(wait);
    moving.kill().unwrap();
    moving.wait().unwrap();
}
