//! Keeps what it is sent, and does nothing else: no callers, no checks, no tags, no words for
//! search, no stream. Whatever waits is committed together.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use diesel::prelude::*;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use tokio::sync::oneshot;

use super::{ReferenceResponse, database};
use crate::Result;
use crate::words::Vocabulary;

/// The most notes in one transaction.
const BATCH: usize = 256;
/// A list has so many.
const LISTED: i64 = 30;
/// There are notes to list from the beginning on.
const AT_FIRST: usize = 1000;

struct Job {
    content: String,
    done: oneshot::Sender<()>,
}

/// The database, written by one thread.
#[derive(Clone)]
pub(super) struct Store {
    jobs: mpsc::Sender<Job>,
    reader: Arc<Mutex<SqliteConnection>>,
}

impl Store {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut writer = database::open(path)?;
        let reader = Arc::new(Mutex::new(database::open(path)?));
        let (vocabulary, mut random) = (Vocabulary::new(), crate::random::Random::new(1));
        writer.immediate_transaction(|writer| {
            (0..AT_FIRST).try_for_each(|_| {
                database::insert(writer, &vocabulary.sentence(&mut random)).map(drop)
            })
        })?;
        let (jobs, queue) = mpsc::channel();
        thread::spawn(move || write(&mut writer, &queue));
        Ok(Self { jobs, reader })
    }

    pub(super) async fn answer(self, request: Request<Incoming>) -> Result<ReferenceResponse> {
        let text = if request.method() == Method::GET {
            self.list()?
        } else {
            let body = request.into_body().collect().await?.to_bytes();
            self.keep(String::from_utf8(body.into())?).await?
        };
        let mut answer = ReferenceResponse::new(Full::from(text));
        answer
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(answer)
    }

    fn list(&self) -> Result<String> {
        let mut reader = self.reader.lock().map_err(|_| "a reader panicked")?;
        Ok(serde_json::to_string(&database::latest(
            &mut reader,
            LISTED,
        )?)?)
    }

    async fn keep(&self, content: String) -> Result<String> {
        let (done, kept) = oneshot::channel();
        self.jobs
            .send(Job { content, done })
            .map_err(|_| "the writer has ended")?;
        kept.await.map_err(|_| "the note was not kept")?;
        Ok("{}".to_owned())
    }
}

/// Commits whatever waits, and answers after the commit.
fn write(connection: &mut SqliteConnection, queue: &mpsc::Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let mut batch = vec![first];
        batch.extend(queue.try_iter().take(BATCH - 1));
        let outcome = connection.immediate_transaction(|connection| {
            batch
                .iter()
                .try_for_each(|job| database::insert(connection, &job.content).map(drop))
        });
        // Without an answer the request fails, and that is counted.
        if outcome.is_ok() {
            for job in batch {
                let _ = job.done.send(());
            }
        }
    }
}
