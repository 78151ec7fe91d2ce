//! Sources as they are shown.

use std::collections::HashMap;

use eddyline_model::applications::Application;
use eddyline_model::flows::Flow;
use eddyline_model::organizations::Organization;
use eddyline_model::sources::Source;
use eddyline_model::{ApplicationId, RoomId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::{Source as WireSource, SourceApplication};

use crate::addresses::Addresses;

/// A source as it is shown, without when its threads changed last.
pub(super) fn describe(
    reader: &mut Reader<'_>,
    addresses: &Addresses,
    source: &Source,
) -> StoreResult<WireSource> {
    Around::default().describe(reader, addresses, source)
}

/// What stands around sources, each looked up once.
#[derive(Default)]
pub(super) struct Around {
    applications: HashMap<ApplicationId, Option<Application>>,
    flows: HashMap<RoomId, Option<(Flow, Organization)>>,
}

impl Around {
    pub(super) fn describe(
        &mut self,
        reader: &mut Reader<'_>,
        addresses: &Addresses,
        source: &Source,
    ) -> StoreResult<WireSource> {
        let application = match source.application {
            Some(id) => self.application(reader, id)?,
            None => None,
        };
        let place = self.flow(reader, source.room)?;
        let url = place
            .as_ref()
            .map(|(flow, organization)| addresses.source(organization, flow, source.id));
        let flow_id = place.map(|(flow, _)| flow.id.0).unwrap_or_default();
        let own = source.configuration_url.clone();
        let by_application =
            |application: &Application| application.configuration_link(source.id.0, &flow_id);
        let configuration_url = own.or_else(|| application.as_ref().and_then(by_application));
        Ok(WireSource {
            id: source.id.0,
            name: source.name.clone(),
            flow_token: None,
            application: application.map(|application| SourceApplication {
                id: application.id.to_string(),
                name: application.name,
                configuration_uri: application
                    .configuration_uri
                    .map(|uri| uri.as_str().to_owned()),
            }),
            error_message: source.error_message.clone(),
            url: url.unwrap_or_default(),
            external_url: source.external_url.clone(),
            configuration_url,
            creator: source.creator.map(|id| id.0),
            created_at: source.created_at.to_string(),
            updated_at: source.updated_at.to_string(),
            threads_updated_at: None,
            flow: flow_id,
        })
    }

    fn application(
        &mut self,
        reader: &mut Reader<'_>,
        id: ApplicationId,
    ) -> StoreResult<Option<Application>> {
        if let Some(known) = self.applications.get(&id) {
            return Ok(known.clone());
        }
        let found = reader.applications().find(id)?;
        self.applications.insert(id, found.clone());
        Ok(found)
    }

    fn flow(
        &mut self,
        reader: &mut Reader<'_>,
        room: RoomId,
    ) -> StoreResult<Option<(Flow, Organization)>> {
        if let Some(known) = self.flows.get(&room) {
            return Ok(known.clone());
        }
        let found = match reader.flows().find(room)? {
            Some(flow) => reader
                .organizations()
                .find(flow.organization)?
                .map(|organization| (flow, organization)),
            None => None,
        };
        self.flows.insert(room, found.clone());
        Ok(found)
    }
}
