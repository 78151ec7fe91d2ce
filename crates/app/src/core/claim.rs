//! Work that one server of a database does from time to time.

use crate::Result;
use crate::core::Core;
use crate::core::transaction::NoCaller;

impl Core {
    /// Whether this server is the one to do some work now: at most one is, so many milliseconds
    /// after another was. `setting` is the name of the setting with the time from which the work
    /// is to be done again.
    pub(crate) async fn claim(&self, setting: &'static str, every_millis: i64) -> Result<bool> {
        let store = self.store();
        let due = store
            .read(move |reader| reader.settings().find(setting))
            .await?;
        let now = self.now();
        let is_due = |value: &[u8]| {
            let text = std::str::from_utf8(value).unwrap_or_default();
            text.parse::<i64>().is_ok_and(|due| due <= now.0)
        };
        if due.as_deref().is_some_and(|value| !is_due(value)) {
            return Ok(false);
        }
        let next = now.plus_millis(every_millis).0.to_string().into_bytes();
        let (claimed, _) = store
            .write(NoCaller::Process, move |tx| {
                let read = match &due {
                    Some(read) => read.clone(),
                    None => tx.settings().insert_or_find(setting, b"0")?,
                };
                tx.settings().set_unchanged(setting, &read, &next)
            })
            .await?;
        Ok(claimed)
    }
}
