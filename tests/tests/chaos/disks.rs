//! A disk that is full, and one that is slow.

use std::time::{Duration, Instant};

use eddyline_tests::chaos::{Cast, Manner, Others, Run, plan};
use eddyline_tests::faults::{Disk, FaultyDisk, SmallDisk};
use eddyline_tests::{Server, Setting};
use tokio::task::block_in_place;

/// A server with a file, on a disk that can be made full or slow for it.
fn sqlite() -> Option<(FaultyDisk, Server)> {
    let disk = FaultyDisk::of_sqlite()?;
    let server = Server::start_in(
        Setting {
            environment: disk.environment(),
            ..Setting::default()
        },
        &[],
    );
    Some((disk, server))
}

/// A server with a PostgreSQL whose disk can be.
fn postgres() -> Option<(FaultyDisk, Server)> {
    let (disk, cluster) = FaultyDisk::of_postgres("en")?;
    let database = Some(cluster.database());
    Some((
        disk,
        Server::start_in(
            Setting {
                database,
                ..Setting::default()
            },
            &[],
        ),
    ))
}

/// The same in German, so that nothing is known by its words.
fn postgres_in_german() -> Option<(FaultyDisk, Server)> {
    let (disk, cluster) = FaultyDisk::of_postgres("de")?;
    let database = cluster.database();
    database
        .use_translations()
        .expect("the database takes a setting");
    Some((
        disk,
        Server::start_in(
            Setting {
                database: Some(database),
                ..Setting::default()
            },
            &[],
        ),
    ))
}

mod a_full_disk_is_told_and_posting_goes_on_when_there_is_room {
    #[test]
    fn sqlite() {
        crate::in_turn(|| {
            super::sqlite().map(|(disk, server)| super::full("full disk, Sqlite", disk, server))
        });
    }

    #[test]
    fn postgres() {
        crate::in_turn(|| {
            super::postgres().map(|(disk, server)| super::full("full disk, Postgres", disk, server))
        });
    }

    #[test]
    fn postgres_in_german() {
        crate::in_turn(|| {
            super::postgres_in_german()
                .map(|(disk, server)| super::full("full disk, Postgres in German", disk, server))
        });
    }
}

async fn full(name: &str, disk: FaultyDisk, mut server: Server) {
    // Long texts need new pages soon.
    let manner = Manner {
        varied: true,
        filler: "page ".repeat(300),
        ..Manner::default()
    };
    let mut run = Run::begin(
        name,
        &[&server],
        Cast {
            manner,
            ..Cast::default()
        },
    )
    .await;
    let mut rounds = plan().rounds(3, 0.05);
    while rounds.another() {
        run.a_while(20).await;
        disk.set(Disk::Full);
        run.deeds.more_failures(30).await;
        reading_works(&run).await;
        disk.set(Disk::Fine);
    }
    run.a_while(20).await;
    judge_after_a_restart(run, &mut server, rounds.done()).await;
}

/// Some lists are answered now. That none is refused is found in the end.
async fn reading_works(run: &Run) {
    run.deeds.more_reads(10).await;
}

async fn judge_after_a_restart(run: Run, server: &mut Server, rounds: usize) {
    let finished = run.stop().await;
    assert!(
        finished.deeds.refusals().0.full > 0,
        "nobody was told that the disk is full"
    );
    block_in_place(|| server.restart());
    finished
        .judge(rounds, String::new(), Others::default())
        .await;
}

#[test]
fn a_small_file_system_runs_full_and_posting_goes_on_when_there_is_room() {
    crate::in_turn(|| SmallDisk::mount(40 << 20).map(small_file_system));
}

async fn small_file_system(disk: SmallDisk) {
    const BALLAST: usize = 32 << 20;
    disk.put_ballast(BALLAST);
    let data = Some(disk.path().join("data"));
    let mut server = Server::start_in(
        Setting {
            data,
            ..Setting::default()
        },
        &[],
    );
    let manner = Manner {
        varied: true,
        filler: "page ".repeat(1500),
        ..Manner::default()
    };
    let cast = Cast {
        manner,
        posters: 8,
        ..Cast::default()
    };
    let mut run = Run::begin("full file system, Sqlite", &[&server], cast).await;
    run.deeds.more_failures(40).await;
    reading_works(&run).await;
    disk.drop_ballast();
    run.a_while(50).await;
    judge_after_a_restart(run, &mut server, 1).await;
    drop(server);
}

mod a_slow_disk_delays_answers_and_loses_nothing {
    #[test]
    fn sqlite() {
        crate::in_turn(|| {
            super::sqlite().map(|(disk, server)| super::slow("slow disk, Sqlite", disk, server))
        });
    }

    #[test]
    fn postgres() {
        crate::in_turn(|| {
            super::postgres().map(|(disk, server)| super::slow("slow disk, Postgres", disk, server))
        });
    }
}

async fn slow(name: &str, disk: FaultyDisk, server: Server) {
    let mut run = Run::begin(name, &[&server], Cast::default()).await;
    let mut rounds = plan().rounds(3, 0.05);
    while rounds.another() {
        run.a_while(20).await;
        disk.set(Disk::Slow(Duration::from_millis(20 + run.random.below(30))));
        run.a_while(20).await;
        let delay = Duration::from_millis(300);
        disk.set(Disk::Slow(delay));
        let started = Instant::now();
        run.post_surely(&format!("durable-{}", rounds.done())).await;
        assert!(
            started.elapsed() >= delay,
            "it was answered before the disk had it"
        );
        disk.set(Disk::Fine);
    }
    run.a_while(20).await;
    let refused = run.deeds.refusals().0;
    assert_eq!(
        (refused.unavailable, refused.full),
        (0, 0),
        "a slow disk is waited for"
    );
    run.end(rounds.done(), String::new()).await;
}
