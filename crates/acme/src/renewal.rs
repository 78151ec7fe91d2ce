//! When the next order is due.

use std::time::Duration;

use time::OffsetDateTime;

use crate::certificate::CertificateValidity;

/// The longest time between two looks at the clock: a computer may have slept.
const LONGEST_PAUSE: Duration = Duration::from_secs(6 * 3600);
/// The pause after the first failure, and the longest one. Let's Encrypt takes five failed checks of a
/// name in an hour.
const FIRST_RETRY: Duration = Duration::from_secs(60);
const LONGEST_RETRY: Duration = Duration::from_secs(3600);

/// How long a certificate is good enough: until two thirds of its lifetime are over. None when it must
/// be renewed now.
pub(crate) fn until_due(validity: CertificateValidity, now: OffsetDateTime) -> Option<Duration> {
    let lifetime = validity.not_after - validity.not_before;
    let due = validity.not_before + lifetime * 2 / 3;
    let left = Duration::try_from(due - now).ok()?;
    (!left.is_zero()).then(|| left.min(LONGEST_PAUSE))
}

/// The pause after so many failures in a row.
pub(crate) fn retry_after(failures: u32) -> Duration {
    let factor = 4_u32.saturating_pow(failures.saturating_sub(1));
    FIRST_RETRY.saturating_mul(factor).min(LONGEST_RETRY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::date_time_ymd as day;

    #[test]
    fn a_certificate_is_due_when_two_thirds_of_its_lifetime_are_over() {
        let of_90_days = CertificateValidity {
            not_before: day(2026, 1, 1),
            not_after: day(2026, 4, 1),
        };
        assert_eq!(until_due(of_90_days, day(2026, 1, 10)), Some(LONGEST_PAUSE));
        let hour = time::Duration::HOUR;
        assert_eq!(
            until_due(of_90_days, day(2026, 3, 2) - hour),
            Some(Duration::from_secs(3600))
        );
        assert_eq!(until_due(of_90_days, day(2026, 3, 2)), None);
        assert_eq!(until_due(of_90_days, day(2027, 1, 1)), None);
        let of_six_days = CertificateValidity {
            not_before: day(2026, 1, 1),
            not_after: day(2026, 1, 7),
        };
        assert_eq!(until_due(of_six_days, day(2026, 1, 5)), None);
    }

    #[test]
    fn failures_are_followed_by_longer_and_longer_pauses() {
        let minutes: Vec<_> = [1, 2, 3, 4, 5, 1_000]
            .map(|failures| retry_after(failures).as_secs() / 60)
            .into();
        assert_eq!(minutes, [1, 4, 16, 60, 60, 60]);
    }
}
