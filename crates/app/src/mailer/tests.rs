//! What becomes of mails when the process is to end.

use eddyline_mail::texts::password_reset;
use eddyline_mail::{Config as MailConfig, Delivery, Mailer, Security, SmtpConfig};
use eddyline_model::mail::Purpose;
use eddyline_model::{Timestamp, UserId};
use eddyline_storage::{NewMail, Store};

use super::*;
use crate::{App, Config};

/// A mailer whose mail server takes nothing.
async fn mailer() -> MailWorker {
    let smtp = SmtpConfig {
        host: "192.0.2.1".into(),
        port: None,
        security: Security::None,
        credentials: None,
        ca_file: None,
    };
    let from = "eddyline@acme.example".into();
    let mailer = Mailer::new(MailConfig {
        delivery: Delivery::Smtp(smtp),
        from,
    })
    .unwrap();
    let store = Store::open("sqlite::memory:").unwrap();
    let app = App::new(store, Config::default()).await.unwrap();
    MailWorker {
        mail: app.mail().clone(),
        mailing: Mailing {
            mailer,
            first_retry: Duration::from_secs(60),
        },
    }
}

async fn take(mailer: &MailWorker) -> Vec<QueuedMail> {
    let taken = mailer.mail.core.store().write(NoCaller::Process, |tx| {
        let now = tx.now();
        tx.mails()
            .claim_due(now, now.plus_millis(HOLD_MILLIS), BATCH)
    });
    taken.await.unwrap().0
}

#[tokio::test]
async fn mail_that_was_never_tried_is_given_back_as_it_was() {
    let mailer = mailer().await;
    let recipients = ["ada@acme.example", "ben@acme.example"];
    let mails = recipients.map(|recipient| NewMail {
        purpose: Purpose::PasswordReset(UserId(1)),
        recipient: recipient.into(),
        detail: None,
    });
    mailer
        .mail
        .core
        .store()
        .write(NoCaller::Process, move |tx| {
            tx.mails().insert(&mails, Timestamp(1))
        })
        .await
        .unwrap();
    let taken = take(&mailer).await;
    assert_eq!(
        taken.iter().map(|mail| mail.attempts).collect::<Vec<_>>(),
        [1, 1]
    );
    assert_eq!(take(&mailer).await, [], "it is held");

    let message =
        |mail: &QueuedMail| password_reset(mail.id.to_string(), &mail.recipient, "Ada", "link", 4);
    let messages = taken
        .iter()
        .map(|mail| (mail.clone(), message(mail)))
        .collect();
    let stop = CancellationToken::new();
    stop.cancel();
    assert!(mailer.deliver(messages, &stop).await.is_empty());
    assert_eq!(
        take(&mailer).await,
        taken,
        "the next process makes the first attempt"
    );
}
