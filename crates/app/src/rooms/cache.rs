//! The rooms that were asked for lately.

use std::sync::Arc;

use eddyline_model::{OrganizationId, RoomId, UserId};

use super::flow::FlowRoom;
use super::private::Pair;
use crate::groups::MentionGroups;
use crate::loading_cache::LoadingCache;
use crate::metrics::LookupCounts;

const REMEMBERED: usize = 10_000;
const REMEMBERED_PAIRS: usize = 20_000;

/// The rooms that were asked for lately.
pub(crate) struct RoomCache {
    pub(super) by_id: LoadingCache<RoomId, Arc<FlowRoom>>,
    /// By `organization/flow` in lower case: no name has a slash.
    pub(super) by_name: LoadingCache<String, RoomId>,
    pub(super) by_public_id: LoadingCache<String, RoomId>,
    /// Of organizations. Each room remembers its own too, so that a post looks at nothing else;
    /// they are forgotten before the rooms are, so that no room is cached with those from before a
    /// change.
    pub(super) groups: LoadingCache<OrganizationId, Arc<MentionGroups>>,
    /// Private conversations by their users, the lower number first.
    pub(super) pairs: LoadingCache<(UserId, UserId), Arc<Pair>>,
}

impl Default for RoomCache {
    fn default() -> Self {
        Self {
            by_id: LoadingCache::new(REMEMBERED),
            by_name: LoadingCache::new(REMEMBERED),
            by_public_id: LoadingCache::new(REMEMBERED),
            groups: LoadingCache::new(REMEMBERED),
            pairs: LoadingCache::new(REMEMBERED_PAIRS),
        }
    }
}

impl RoomCache {
    /// The lookups of each cache, by the name that the metrics have for it.
    pub(crate) fn lookups(&self) -> [(&'static str, LookupCounts); 5] {
        [
            ("flows", self.by_id.lookups()),
            ("flow_names", self.by_name.lookups()),
            ("flow_ids", self.by_public_id.lookups()),
            ("groups", self.groups.lookups()),
            ("private_conversations", self.pairs.lookups()),
        ]
    }

    /// Drops the cached room of a flow.
    pub(crate) fn invalidate(&self, room: RoomId) {
        self.by_id.invalidate(&room);
    }

    /// Forgets the rooms that a user is in, and their conversations. `rooms` are those that they
    /// are in now; who leaves one later has it forgotten then.
    pub(crate) fn invalidate_user(&self, user: UserId, rooms: &[RoomId]) {
        self.by_id.retain_both(
            |_, room| room.member(user).is_none(),
            |id| !rooms.contains(id),
        );
        let others = |(low, high): &(UserId, UserId)| *low != user && *high != user;
        self.pairs.retain_both(|pair, _| others(pair), others);
    }

    /// Forgets the groups of an organization.
    pub(crate) fn invalidate_groups(&self, organization: OrganizationId) {
        self.groups.invalidate(&organization);
        self.by_id
            .retain(|_, room| room.organization.id != organization);
    }

    /// Drops all entries.
    pub(crate) fn invalidate_all(&self) {
        self.groups.invalidate_all();
        self.by_id.invalidate_all();
        self.by_name.invalidate_all();
        self.by_public_id.invalidate_all();
        self.pairs.invalidate_all();
    }
}
