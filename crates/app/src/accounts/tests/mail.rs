//! The pause between mails, and quotas on mail, as time goes by.

use eddyline_model::mail::{MailKind, MailRate};

use super::*;
use crate::MailQuotas;
use crate::core::transaction::NoCaller;
use crate::mail_quota::MailCause;
use crate::mail_quota::{MailQuota, MailQuotaExceeded};

const HOUR: i64 = 60 * MINUTE;

/// How much mail waits for an address; it is as good as sent afterwards.
async fn letters(world: &World, email: &str) -> usize {
    let waiting = world.waiting_mails().await;
    for (purpose, _) in &waiting {
        let purpose = *purpose;
        world
            .app
            .core()
            .store()
            .write(NoCaller::Process, move |tx| {
                tx.mails().delete_about(purpose)
            })
            .await
            .unwrap();
    }
    waiting
        .iter()
        .filter(|(_, recipient)| recipient == email)
        .count()
}

#[tokio::test]
async fn the_same_invitation_is_mailed_again_after_five_minutes() {
    let world = World::new().await;
    let dan = "dan@elsewhere.example";
    for (pass, expected) in [
        (0, 1),
        (MINUTE, 0),
        (4 * MINUTE - 1, 0),
        (1, 1),
        (0, 0),
        (5 * MINUTE, 1),
    ] {
        world.pass(pass);
        world.invite(dan).await;
        assert_eq!(letters(&world, dan).await, expected);
    }
}

/// Records mail to each of these, and gives for how many seconds it was refused.
async fn record(
    world: &World,
    quotas: MailQuotas,
    recipients: &[&'static str],
) -> Vec<Option<(MailQuota, u64)>> {
    let recipients = recipients.to_vec();
    let cause = MailCause {
        kind: MailKind::Invitation,
        sender: Some(UserId(7)),
        organization: Some(OrganizationId(3)),
    };
    let recorded = world.app.core().transaction(NoCaller::Process, move |tx| {
        Ok(quotas.record(tx, cause, &recipients)?)
    });
    let brief = |exceeded: MailQuotaExceeded| (exceeded.quota, exceeded.retry_after);
    recorded
        .await
        .unwrap()
        .0
        .into_iter()
        .map(|verdict| verdict.map(brief))
        .collect()
}

const UNLIMITED: MailQuotas = MailQuotas {
    recipient: MailRate::UNLIMITED,
    sender: MailRate::UNLIMITED,
    organization: MailRate::UNLIMITED,
};

#[tokio::test]
async fn a_quota_holds_within_any_minute_and_any_day() {
    let world = World::new().await;
    let sender = MailRate {
        per_minute: 2,
        per_day: 3,
    };
    let quotas = MailQuotas {
        sender,
        ..UNLIMITED
    };
    let over = |seconds| [Some((MailQuota::Sender, seconds))];
    assert_eq!(record(&world, quotas, &["a"]).await, [None]);
    world.pass(20_000);
    assert_eq!(record(&world, quotas, &["b"]).await, [None]);
    assert_eq!(record(&world, quotas, &["c"]).await, over(40));
    world.pass(39_999);
    assert_eq!(record(&world, quotas, &["c"]).await, over(1));
    world.pass(1);
    assert_eq!(
        record(&world, quotas, &["c"]).await,
        [None],
        "the first was a minute ago"
    );
    world.pass(HOUR);
    let day = u64::try_from((DAY - HOUR - MINUTE) / 1000).unwrap();
    assert_eq!(record(&world, quotas, &["d"]).await, over(day));
    world.pass(DAY - HOUR - MINUTE);
    assert_eq!(
        record(&world, quotas, &["d", "e"]).await,
        [None, Some((MailQuota::Sender, 20))]
    );
}

#[tokio::test]
async fn a_list_is_allowed_as_far_as_each_quota_goes() {
    let world = World::new().await;
    let recipient = MailRate {
        per_minute: 1,
        per_day: 0,
    };
    let organization = MailRate {
        per_minute: 0,
        per_day: 3,
    };
    let quotas = MailQuotas {
        recipient,
        organization,
        ..UNLIMITED
    };
    assert_eq!(record(&world, quotas, &["a"]).await, [None]);
    let own = Some((MailQuota::Recipient, 60));
    let all = Some((MailQuota::Organization, u64::try_from(DAY / 1000).unwrap()));
    assert_eq!(
        record(&world, quotas, &["a", "b", "c", "d"]).await,
        [own, None, None, all]
    );
    assert_eq!(record(&world, UNLIMITED, &["a", "b"]).await, [None, None]);
}

#[tokio::test]
async fn records_of_mail_are_kept_for_a_day() {
    let world = World::new().await;
    record(&world, UNLIMITED, &["a", "b"]).await;
    let count = async || {
        world
            .app
            .core()
            .store()
            .read(|reader| {
                reader
                    .mail_records()
                    .count_by_sender(UserId(7), Timestamp(0))
            })
            .await
            .unwrap()
    };
    world.pass(DAY - 1);
    world.app.core().tidy().await.unwrap();
    assert_eq!(count().await, 2);
    world.pass(1);
    world.app.core().tidy().await.unwrap();
    assert_eq!(count().await, 0);
}
