//! Sending the audit log to other systems: how many records at once, when again after a failure, and
//! for how long records wait.

/// How many records are sent at once at most.
pub const BATCH: i64 = 100;

/// How many days longer than others a record is kept that a destination has not taken.
pub const GRACE_DAYS: u32 = 30;

/// The pause after the first failure, in milliseconds. It doubles with each further one.
const FIRST_PAUSE_MILLIS: u64 = 1_000;

/// The longest pause, in milliseconds.
const LONGEST_PAUSE_MILLIS: u64 = 60_000;

/// The pause in milliseconds after so many failures, one after another. `random` is any number: the
/// pause is between half of the time and all of it, so that several servers do not come at once.
#[must_use]
pub fn pause_millis(failures: u32, random: u64) -> u64 {
    let doubled = 1_u64 << failures.saturating_sub(1).min(16);
    let most = (FIRST_PAUSE_MILLIS * doubled).min(LONGEST_PAUSE_MILLIS);
    most / 2 + random % (most / 2 + 1)
}

/// How many records to send at once after so many were too many for the destination.
#[must_use]
pub const fn smaller_batch(records: i64) -> i64 {
    if records > 1 { records / 2 } else { 1 }
}

/// How many records to send at once after so many were taken.
#[must_use]
pub const fn larger_batch(records: i64) -> i64 {
    if records < BATCH / 2 {
        records * 2
    } else {
        BATCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_minute() {
        for (failures, most) in [
            (0, 1_000),
            (1, 1_000),
            (2, 2_000),
            (6, 32_000),
            (7, 60_000),
            (u32::MAX, 60_000),
        ] {
            assert_eq!(pause_millis(failures, 0), most / 2, "{failures}");
            assert_eq!(pause_millis(failures, most / 2), most, "{failures}");
            assert!((most / 2..=most).contains(&pause_millis(failures, u64::MAX)));
        }
    }

    #[test]
    fn a_batch_shrinks_to_one_record_and_grows_to_all() {
        let mut batch = BATCH;
        for expected in [50, 25, 12, 6, 3, 1, 1] {
            batch = smaller_batch(batch);
            assert_eq!(batch, expected);
        }
        for expected in [2, 4, 8, 16, 32, 64, 100, 100] {
            batch = larger_batch(batch);
            assert_eq!(batch, expected);
        }
    }
}
