//! The list of a caller's flows, which ends at so many bytes: each flow may be shown with its
//! people.

use std::collections::HashMap;

use eddyline_model::flows::FlowMembership;
use eddyline_model::organizations::OrganizationMembership;
use eddyline_model::{OrganizationId, RoomId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::{Flow as WireFlow, FlowUser};

use crate::actor::{Actor, Caller};
use crate::addresses::Addresses;
use crate::flow_view::{CredentialScopes, View, add_users};
use crate::{Error, Flows, Result};

/// About how many bytes a list of flows has at most. One flow may be larger.
pub const FLOW_LIST_BYTES: usize = 8 * 1024 * 1024;

/// Which flows a caller wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowsWanted {
    /// Not only those the caller is in, but also those the caller could join.
    pub all: bool,
    /// Only those of this organization.
    pub organization: Option<OrganizationId>,
    /// Each with its people.
    pub users: bool,
    /// Only those behind the flow with this id, in the order of the list.
    pub after: Option<String>,
}

/// A part of a list of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowList {
    /// The flows.
    pub flows: Vec<WireFlow>,
    /// Behind which flow the list goes on, by its id. `None` at its end.
    pub next: Option<String>,
}

impl Flows {
    /// The flows the caller sees, of about [`FLOW_LIST_BYTES`] at most.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens, [`Error::invalid`] for an `after` that names no flow of
    /// the caller's organizations.
    pub async fn list(&self, actor: &Actor, wanted: FlowsWanted) -> Result<FlowList> {
        self.flows_within(actor, wanted, FLOW_LIST_BYTES).await
    }

    /// All flows the caller is in, without their people.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn all(&self, actor: &Actor) -> Result<Vec<WireFlow>> {
        Ok(self
            .flows_within(actor, FlowsWanted::default(), usize::MAX)
            .await?
            .flows)
    }

    /// The flows of an organization that the caller is in or could join, without their people.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn of_organization(
        &self,
        actor: &Actor,
        organization: OrganizationId,
    ) -> Result<Vec<WireFlow>> {
        let wanted = FlowsWanted {
            all: true,
            organization: Some(organization),
            ..FlowsWanted::default()
        };
        Ok(self.flows_within(actor, wanted, usize::MAX).await?.flows)
    }

    async fn flows_within(
        &self,
        actor: &Actor,
        wanted: FlowsWanted,
        bytes: usize,
    ) -> Result<FlowList> {
        let (caller, shown) = (actor.user()?.clone(), CredentialScopes::by(actor));
        let addresses = self.core.config().addresses.clone();
        let found = self.core.store().read(move |reader| {
            let mut listing = Listing {
                flows: Vec::new(),
                next: None,
                bytes_left: bytes,
            };
            let passed_over = listing.fill(reader, &addresses, &caller, shown, &wanted)?;
            Ok(if passed_over { Some(listing) } else { None })
        });
        let Some(Listing { flows, next, .. }) = found.await? else {
            return Err(Error::invalid("after", "names none of your flows"));
        };
        let flows = flows
            .into_iter()
            .map(|(room, flow)| self.with_present_people(room, flow))
            .collect();
        Ok(FlowList { flows, next })
    }
}

/// A list that is being made.
/// The flows that a user is in, each with its room and without its people.
pub(crate) fn list_joined(
    reader: &mut Reader<'_>,
    addresses: &Addresses,
    caller: &Caller,
    shown: CredentialScopes,
) -> StoreResult<Vec<(RoomId, WireFlow)>> {
    let mut listing = Listing {
        flows: Vec::new(),
        next: None,
        bytes_left: usize::MAX,
    };
    listing.fill(reader, addresses, caller, shown, &FlowsWanted::default())?;
    Ok(listing.flows)
}

struct Listing {
    flows: Vec<(RoomId, WireFlow)>,
    next: Option<String>,
    bytes_left: usize,
}

impl Listing {
    /// Adds the flows that are wanted, until there is no room for another. Whether the flow was met
    /// behind which the list was to begin.
    fn fill(
        &mut self,
        reader: &mut Reader<'_>,
        addresses: &Addresses,
        caller: &Caller,
        shown: CredentialScopes,
        wanted: &FlowsWanted,
    ) -> StoreResult<bool> {
        let user = caller.user.id;
        let places: HashMap<RoomId, FlowMembership> = reader
            .members()
            .list_of_user(user)?
            .into_iter()
            .map(|m| (m.room, m))
            .collect();
        let mut passing_over = wanted.after.as_deref();
        for OrganizationMembership {
            organization, role, ..
        } in &caller.organizations
        {
            if wanted
                .organization
                .is_some_and(|only| only != *organization)
            {
                continue;
            }
            let Some(organization) = reader.organizations().find(*organization)? else {
                continue;
            };
            for flow in reader.flows().list_of_organization(organization.id)? {
                if let Some(last) = passing_over {
                    if flow.id.0 == last {
                        passing_over = None;
                    }
                    continue;
                }
                let (role, place) = (Some(*role), places.get(&flow.room));
                let view = View {
                    flow: &flow,
                    organization: &organization,
                    user,
                    role,
                    place,
                    shown,
                };
                if !view.is_listed(wanted.all) {
                    continue;
                }
                let mut described = view.describe(reader, addresses)?;
                if wanted.users {
                    add_users(reader, addresses, flow.room, &mut described)?;
                }
                if !self.add(flow.room, described) {
                    return Ok(true);
                }
            }
        }
        Ok(passing_over.is_none())
    }

    /// Adds a flow, if there is room for it.
    fn add(&mut self, room: RoomId, flow: WireFlow) -> bool {
        let weight = weight(&flow);
        match self.flows.last() {
            Some((_, last)) if weight > self.bytes_left => {
                self.next = Some(last.id.clone());
                false
            }
            _ => {
                self.bytes_left = self.bytes_left.saturating_sub(weight);
                self.flows.push((room, flow));
                true
            }
        }
    }
}

/// About how many bytes a flow has in JSON. Its links and the names of its fields are about as long
/// as those of any other.
fn weight(flow: &WireFlow) -> usize {
    let person = |user: &FlowUser| {
        let status = user.status.as_ref().map_or(0, String::len);
        200 + user.nick.len() + user.name.len() + user.email.len() + user.avatar.len() + status
    };
    let users: usize = flow.users.iter().flatten().map(person).sum();
    1_500 + flow.name.len() + flow.description.as_ref().map_or(0, String::len) + users
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flow(id: &str, description: usize) -> WireFlow {
        let organization = json!({"id": 1, "parameterized_name": "acme", "name": "Acme", "user_limit": 0,
            "user_count": 1, "active": true, "url": "u"});
        let flow = json!({"id": id, "name": "Main", "parameterized_name": "main", "email": "e",
            "description": "x".repeat(description), "organization": organization, "unread_mentions": 0, "unread": 0,
            "open": true, "joined": true, "url": "u", "web_url": "u", "access_mode": "invitation",
            "flow_admin": false, "disabled": false, "last_message_at": null, "last_message_id": null, "links": {}});
        serde_json::from_value(flow).expect("it is a flow")
    }

    /// The ids of a list within so many bytes, and where it goes on.
    fn list(bytes: usize, flows: &[(&str, usize)]) -> (Vec<String>, Option<String>) {
        let mut listing = Listing {
            flows: Vec::new(),
            next: None,
            bytes_left: bytes,
        };
        for (id, description) in flows {
            if !listing.add(RoomId(1), flow(id, *description)) {
                break;
            }
        }
        (
            listing.flows.into_iter().map(|(_, flow)| flow.id).collect(),
            listing.next,
        )
    }

    #[test]
    fn a_list_of_flows_ends_at_its_bytes() {
        let all = [("a", 0), ("b", 0), ("c", 0)];
        let each = weight(&flow("a", 0));
        assert_eq!(
            list(3 * each, &all),
            (vec!["a".into(), "b".into(), "c".into()], None)
        );
        assert_eq!(
            list(3 * each - 1, &all),
            (vec!["a".into(), "b".into()], Some("b".into()))
        );
    }

    #[test]
    fn a_list_has_one_flow_however_large_it_is() {
        let all = [("a", 5_000), ("b", 0)];
        assert_eq!(list(10, &all), (vec!["a".into()], Some("a".into())));
    }
}
