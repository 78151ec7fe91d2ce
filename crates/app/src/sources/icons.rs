//! The pictures of sources, which are those of their applications.

use std::collections::BTreeMap;

use super::Sources;
use crate::{FlowRoom, Result};

impl Sources {
    /// Where the pages show the pictures of a flow's sources, by the numbers of the sources. A source
    /// whose application has no picture is missing.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`](crate::Error::unavailable).
    pub async fn icon_paths(&self, room: &FlowRoom) -> Result<BTreeMap<i64, String>> {
        let (pictures, room) = (self.core.encoder().pictures().clone(), room.id());
        let found = self.core.store().read(move |reader| {
            let mut paths = BTreeMap::new();
            for source in reader.sources().list_of_rooms(&[room])? {
                let application = match source.application {
                    Some(id) => reader.applications().find(id)?,
                    None => None,
                };
                let icon = application.and_then(|application| application.icon_url);
                let path = icon.and_then(|icon| pictures.path(icon.as_str()));
                paths.extend(path.map(|path| (source.id.0, path)));
            }
            Ok(paths)
        });
        Ok(found.await?)
    }
}
