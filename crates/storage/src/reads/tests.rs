#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

use std::future::Future;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use diesel::RunQueryDsl as _;
use tokio::sync::mpsc as tokio_mpsc;

use crate::reader::{Inner, Reader};
use crate::store::{Options, Store};
use crate::{BudgetKey, Error, Result, TaskBudget};

const ANN: TaskBudget = TaskBudget {
    caller: BudgetKey::new(9, 1),
    group: BudgetKey::new(8, 1),
    line: LINE,
};
const BEN: TaskBudget = TaskBudget {
    caller: BudgetKey::new(9, 2),
    group: BudgetKey::new(8, 2),
    line: LINE,
};
const LINE: usize = 10;
const LONG: Duration = Duration::from_secs(600);

fn sqlite(readers: u32, read_time: Duration) -> (Store, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("store.db").display());
    let options = Options {
        readers,
        read_time,
        ..Options::default()
    };
    (Store::open_with(&url, options).unwrap(), directory)
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), test)
            .await
            .unwrap();
    });
}

/// A statement that does not end by itself.
fn endless(reader: &mut Reader<'_>) -> Result<()> {
    match &mut reader.0 {
        Inner::Sqlite(c) => {
            let count = "with recursive n(i) as (select 1 union all select i + 1 from n) select 1 from n where i < 0";
            diesel::sql_query(count).execute(*c)?;
        }
        Inner::Postgres(c) => {
            diesel::sql_query("select pg_sleep(600)").execute(*c)?;
        }
    }
    Ok(())
}

/// Begins a read that ends when the sender is dropped.
async fn hold(
    store: &Store,
    budget: TaskBudget,
) -> (mpsc::Sender<()>, tokio::task::JoinHandle<Result<()>>) {
    let (release, held) = mpsc::channel::<()>();
    let (begun, mut begins) = tokio_mpsc::unbounded_channel();
    let store = store.clone();
    let read = tokio::spawn(budget.scope(async move {
        let work = move |_: &mut Reader<'_>| {
            let _ = begun.send(());
            let _ = held.recv();
            Ok(())
        };
        store.read(work).await
    }));
    begins.recv().await.unwrap();
    (release, read)
}

#[test]
fn a_caller_who_holds_its_permits_keeps_nobody_else_from_reading() {
    run(async {
        let (store, _directory) = sqlite(8, LONG);
        let mut held = Vec::new();
        for _ in 0..6 {
            held.push(hold(&store, ANN).await);
        }
        let mut next = Box::pin(ANN.scope(store.read(|_| Ok("next"))));
        assert!(futures_util::poll!(&mut next).is_pending());
        assert_eq!(
            BEN.scope(store.read(|_| Ok("another"))).await.unwrap(),
            "another"
        );
        assert!(futures_util::poll!(&mut next).is_pending());
        drop(held);
        assert_eq!(next.await.unwrap(), "next");
    });
}

#[test]
fn a_caller_has_a_bounded_number_of_waiting_reads() {
    run(async {
        let (store, _directory) = sqlite(1, LONG);
        let (release, _) = hold(&store, ANN).await;
        let mut waiting: Vec<_> = (0..LINE)
            .map(|_| Box::pin(ANN.scope(store.read(|_| Ok(())))))
            .collect();
        for read in &mut waiting {
            assert!(futures_util::poll!(read).is_pending());
        }
        assert!(matches!(
            ANN.scope(store.read(|_| Ok(()))).await,
            Err(Error::TooManyReads)
        ));
        let mut other = Box::pin(BEN.scope(store.read(|_| Ok(()))));
        assert!(futures_util::poll!(&mut other).is_pending());
        drop((waiting, release));
        other.await.unwrap();
    });
}

#[test]
fn a_read_that_is_given_up_leaves_the_line_and_never_runs() {
    run(async {
        let (store, _directory) = sqlite(1, LONG);
        let (release, read) = hold(&store, ANN).await;
        let ran = Arc::new(Mutex::new(false));
        let note = Arc::clone(&ran);
        let mut given_up = Box::pin(ANN.scope(store.read(move |_| {
            *note.lock().unwrap() = true;
            Ok(())
        })));
        assert!(futures_util::poll!(&mut given_up).is_pending());
        assert_eq!(store.readers().waiting(), 1);
        drop(given_up);
        assert_eq!(store.readers().waiting(), 0);
        drop(release);
        read.await.unwrap().unwrap();
        BEN.scope(store.read(|_| Ok(()))).await.unwrap();
        assert!(!*ran.lock().unwrap());
    });
}

async fn is_interrupted_at_its_deadline(store: &Store) {
    assert!(matches!(
        ANN.scope(store.read(endless)).await,
        Err(Error::Deadline)
    ));
    // The connection goes on, also for reads of the background, which may take longer.
    ANN.scope(store.read(|reader| reader.log().find_head()))
        .await
        .unwrap();
    store.read(|reader| reader.log().find_head()).await.unwrap();
}

#[test]
fn a_statement_is_interrupted_at_its_deadline_on_sqlite() {
    run(async {
        let (store, _directory) = sqlite(1, Duration::from_millis(20));
        is_interrupted_at_its_deadline(&store).await;
    });
}

#[test]
fn a_statement_is_interrupted_at_its_deadline_on_postgres() {
    let Some(database) = eddyline_testing::postgres::database() else {
        return;
    };
    run(async {
        let options = Options {
            readers: 1,
            read_time: Duration::from_millis(20),
            ..Options::default()
        };
        let store = Store::open_with(database.url(), options).unwrap();
        is_interrupted_at_its_deadline(&store).await;
    });
}

/// Gives a read up while its statement runs. The next one needs the same permit.
async fn is_interrupted_when_given_up(store: Store) {
    let (begun, mut begins) = tokio_mpsc::unbounded_channel();
    let reading = store.clone();
    let read = tokio::spawn(ANN.scope(async move {
        let work = move |reader: &mut Reader<'_>| {
            let _ = begun.send(());
            endless(reader)
        };
        reading.read(work).await
    }));
    begins.recv().await.unwrap();
    read.abort();
    BEN.scope(store.read(|reader| reader.log().find_head()))
        .await
        .unwrap();
}

#[test]
fn a_statement_is_interrupted_when_its_read_is_given_up_on_sqlite() {
    run(async {
        let (store, _directory) = sqlite(1, LONG);
        is_interrupted_when_given_up(store).await;
    });
}

#[test]
fn a_statement_is_interrupted_when_its_read_is_given_up_on_postgres() {
    let Some(database) = eddyline_testing::postgres::database() else {
        return;
    };
    run(async {
        let options = Options {
            readers: 1,
            read_time: LONG,
            ..Options::default()
        };
        is_interrupted_when_given_up(Store::open_with(database.url(), options).unwrap()).await;
    });
}

/// A write on the connection of a read, and whether the store can be written to afterwards.
async fn a_read_cannot_write(store: Store) {
    for _ in 0..2 {
        let write = |reader: &mut Reader<'_>| {
            let statement = diesel::sql_query(
                "insert into settings (name, value) values ('written', 'by a read')",
            );
            Ok(match &mut reader.0 {
                Inner::Sqlite(c) => statement.execute(*c)?,
                Inner::Postgres(c) => statement.execute(*c)?,
            })
        };
        let error = store
            .read(write)
            .await
            .expect_err("the database refuses it")
            .to_string();
        assert!(
            error.contains("readonly database") || error.contains("read-only transaction"),
            "{error}"
        );
        store
            .write(|tx| tx.settings().upsert("written", b"by a transaction"))
            .await
            .expect("it is written");
    }
    let found = store
        .read(|reader| reader.settings().find("written"))
        .await
        .expect("it is read");
    assert_eq!(found.as_deref(), Some(b"by a transaction".as_slice()));
}

#[test]
fn a_read_cannot_write_to_a_file() {
    let (store, _directory) = sqlite(1, LONG);
    run(a_read_cannot_write(store));
}

#[test]
fn a_read_cannot_write_to_a_database_in_memory() {
    run(a_read_cannot_write(Store::open("sqlite::memory:").unwrap()));
}

#[test]
fn a_read_cannot_write_to_postgres() {
    let Some(database) = eddyline_testing::postgres::database() else {
        return;
    };
    run(a_read_cannot_write(Store::open(database.url()).unwrap()));
}
