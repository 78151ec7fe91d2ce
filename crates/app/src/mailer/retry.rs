//! When a mail that could not be sent is tried again.

use std::time::Duration;

use eddyline_model::Timestamp;
use eddyline_model::mail::{Purpose, QueuedMail, RESET_HOURS};

const HOUR_MILLIS: i64 = 3_600_000;
/// The longest time between two tries.
const LONGEST_MILLIS: i64 = 4 * HOUR_MILLIS;
/// How long it is worth trying; after that nobody waits for the mail any more.
const DAYS: i64 = 5;

/// When to try again; `None` when it was tried for long enough. The first pause is `first`, or up
/// to a quarter longer, so that mails that failed together do not all come back together.
pub(super) fn next(mail: &QueuedMail, now: Timestamp, first: Duration) -> Option<Timestamp> {
    let doublings = u32::try_from(mail.attempts - 1).unwrap_or_default().min(30);
    let first = i64::try_from(first.as_millis())
        .unwrap_or(LONGEST_MILLIS)
        .min(LONGEST_MILLIS);
    let pause = first.saturating_mul(1 << doublings).min(LONGEST_MILLIS);
    let next = now.plus_millis(pause + pause * spread(mail) / 4000);
    let end = mail.created_at.plus_millis(match mail.purpose {
        Purpose::Invitation(_)
        | Purpose::EmailChange(_)
        | Purpose::DeletionRequest(_)
        | Purpose::DeletionCancel(_) => DAYS * 24 * HOUR_MILLIS,
        Purpose::PasswordReset(_) | Purpose::SignIn(_) => RESET_HOURS * HOUR_MILLIS,
    });
    (next < end).then_some(next)
}

/// A number below 1000, another one for each try of each mail.
fn spread(mail: &QueuedMail) -> i64 {
    // Knuth's multiplier scatters neighbouring numbers.
    (mail.id ^ (mail.attempts << 32))
        .wrapping_mul(2_654_435_761)
        .rotate_right(16)
        .rem_euclid(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddyline_model::{InvitationId, UserId};

    fn mail(purpose: Purpose, attempts: i64) -> QueuedMail {
        QueuedMail {
            id: 7,
            purpose,
            recipient: "ada@example.org".into(),
            detail: None,
            attempts,
            created_at: Timestamp(0),
        }
    }

    #[test]
    fn pauses_double_up_to_four_hours() {
        let minute = Duration::from_secs(60);
        for (attempts, minutes) in [(1, 1), (2, 2), (3, 4), (8, 128), (9, 240), (40, 240)] {
            let mail = mail(Purpose::Invitation(InvitationId(1)), attempts);
            let pause = next(&mail, Timestamp(0), minute).unwrap().0;
            let shortest = minutes * 60_000;
            assert!(
                (shortest..=shortest + shortest / 4).contains(&pause),
                "{attempts}: {pause}"
            );
        }
    }

    #[test]
    fn mails_that_failed_together_come_back_one_by_one() {
        let mut times: Vec<_> = (0..100)
            .map(|id| QueuedMail {
                id,
                ..mail(Purpose::Invitation(InvitationId(id)), 3)
            })
            .filter_map(|mail| next(&mail, Timestamp(0), Duration::from_secs(60)))
            .collect();
        times.sort();
        times.dedup();
        assert!(times.len() > 80, "{}", times.len());
    }

    #[test]
    fn a_mail_is_given_up_when_nobody_waits_for_it_any_more() {
        let minute = Duration::from_secs(60);
        let (hours, user) = (HOUR_MILLIS, UserId(1));
        for (purpose, last) in [
            (Purpose::Invitation(InvitationId(1)), 5 * 24 * hours),
            (Purpose::EmailChange(user), 5 * 24 * hours),
            (Purpose::PasswordReset(user), 4 * hours),
        ] {
            assert!(
                next(&mail(purpose, 1), Timestamp(last - 2 * 60_000), minute).is_some(),
                "{purpose:?}"
            );
            assert!(
                next(&mail(purpose, 1), Timestamp(last - 60_000), minute).is_none(),
                "{purpose:?}"
            );
        }
    }
}
