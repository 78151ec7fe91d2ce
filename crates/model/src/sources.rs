//! Sources: what ties an application to a flow, and speaks in its inbox (specification, section 2,
//! Source).

use crate::{ApplicationId, RoomId, SourceId, Timestamp, UserId};

/// The most characters of a source's name.
pub const MAX_NAME_CHARS: usize = 100;
/// The most sources of a flow.
pub const MAX_SOURCES: usize = 200;
/// The most characters of the message about what is wrong with a source.
pub const MAX_ERROR_CHARS: usize = 1000;

/// A source as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its number.
    pub id: SourceId,
    /// The flow it belongs to.
    pub room: RoomId,
    /// The application it is of; `None` for one that a user made for a script, and once the
    /// application is gone.
    pub application: Option<ApplicationId>,
    /// What people know it by.
    pub name: String,
    /// Where what it mirrors is to be found.
    pub external_url: Option<String>,
    /// Where it is configured, if not where its application says.
    pub configuration_url: Option<String>,
    /// What is wrong with it, in the integration's words.
    pub error_message: Option<String>,
    /// Who made it; nobody when an operator did.
    pub creator: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was removed. Its token is known after that, so as to be refused.
    pub removed_at: Option<Timestamp>,
}

/// Who owns a thread of the inbox: the source that began it, or the flow's own token. Only the
/// thread owner changes the item of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadOwner {
    /// The source; `None` for the flow's own token.
    pub source: Option<SourceId>,
    /// Its application.
    pub application: Option<ApplicationId>,
}

impl ThreadOwner {
    /// Callers who post with the flow's own token.
    pub const FLOW: Self = Self {
        source: None,
        application: None,
    };

    /// Whether what `other` began is this thread owner's to change: its own, and what another
    /// source of the same application began. The requests of its actions are signed with that
    /// application's secret, so nobody else may say where they go.
    #[must_use]
    pub fn keeps(self, other: Self) -> bool {
        let same_source = self.source.is_some() && self.source == other.source;
        let same_application = self.application.is_some() && self.application == other.application;
        same_source || same_application || (self == Self::FLOW && other == Self::FLOW)
    }
}

/// What a thread shows of the source that keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSource {
    /// The source's number.
    pub id: SourceId,
    /// The picture of its application.
    pub icon: Option<String>,
    /// The name of its application, or its own when that is gone.
    pub application: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_by_its_source_and_by_others_of_the_same_application() {
        let thread_owner = |source, application| ThreadOwner {
            source: Some(SourceId(source)),
            application: Some(ApplicationId(application)),
        };
        assert!(thread_owner(1, 1).keeps(thread_owner(1, 1)));
        assert!(thread_owner(2, 1).keeps(thread_owner(1, 1)));
        assert!(!thread_owner(2, 2).keeps(thread_owner(1, 1)));
        assert!(ThreadOwner::FLOW.keeps(ThreadOwner::FLOW));
        assert!(
            !ThreadOwner::FLOW.keeps(thread_owner(1, 1))
                && !thread_owner(1, 1).keeps(ThreadOwner::FLOW)
        );
        let orphan = |source| ThreadOwner {
            source: Some(SourceId(source)),
            application: None,
        };
        assert!(!orphan(1).keeps(orphan(2)));
        let user = ThreadOwner {
            source: None,
            application: Some(ApplicationId(1)),
        };
        assert!(user.keeps(thread_owner(1, 1)) && !user.keeps(ThreadOwner::FLOW));
    }
}
