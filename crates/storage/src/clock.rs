//! What time it is.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use eddyline_model::Timestamp;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The clock of the operating system.
pub(crate) fn system() -> Clock {
    Arc::new(system_time)
}

fn system_time() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the source of the store's clock")]
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
