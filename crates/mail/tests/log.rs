//! What the log says about a mail in the outbox. Alone in its process, since who listens to the
//! log is a matter of the whole process.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex};

use eddyline_mail::{Config, Delivery, MailMessage, Mailer};
use tempfile::TempDir;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("no writer panics")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_log_says_in_one_line_where_the_mail_is_and_not_what_it_says() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let folder = TempDir::new().unwrap();
    let from = "Eddyline <eddyline@example.org>".to_owned();
    let mailer = Mailer::new(Config {
        delivery: Delivery::Outbox(folder.path().into()),
        from,
    })
    .unwrap();
    let message = MailMessage {
        to: "ada@example.com".into(),
        to_name: None,
        subject: "Hello".into(),
        text: "https://example.org/secret\n".into(),
        id: "hello-1".into(),
    };
    mailer.send(&message).await.unwrap();
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    let path = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert!(
        log.contains("ada@example.com") && log.contains(&path.display().to_string()),
        "{log}"
    );
    assert!(!log.contains("secret"), "{log}");
}
