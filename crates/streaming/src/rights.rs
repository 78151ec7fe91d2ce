//! What a stream was opened with, and when its rights were checked.

use std::collections::VecDeque;

use eddyline_model::UserId;

/// Names a credential, or a family of them, so that revoking it ends the streams that were opened
/// with it.
///
/// The numbers are the caller's own; they must differ between all credentials and families of all
/// kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CredentialKey(
    /// The number.
    pub u64,
);

/// What a stream was opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedWith {
    /// The credential itself.
    pub credential: CredentialKey,
    /// The family that it belongs to, and with which it ends.
    pub family: Option<CredentialKey>,
}

/// A moment before which every change of rights has been acted upon.
///
/// A caller's rights are looked up first and the stream is opened next; in between they may be
/// taken away, when there is no stream yet to take them from. So take a mark, look the rights
/// up, and hand the mark in with the [`SubscribeRequest`](crate::SubscribeRequest): when rights
/// were taken from anybody meanwhile, it is refused, and all of this is done again. So is a request
/// that follows its caller, when the caller came into a room meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RightsMark {
    pub(crate) losses: u64,
    pub(crate) additions: u64,
}

/// How many of the latest additions are known. Of an older mark nothing is known.
const KNOWN_ADDITIONS: usize = 64;

/// Who came into rooms lately.
#[derive(Default)]
pub(crate) struct Additions {
    count: u64,
    latest: VecDeque<Box<[UserId]>>,
}

impl Additions {
    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn note(&mut self, users: &[UserId]) {
        self.count += 1;
        if self.latest.len() >= KNOWN_ADDITIONS {
            self.latest.pop_front();
        }
        self.latest.push_back(users.into());
    }

    /// Whether a user came into a room since there were so many, as far as that is known.
    pub(crate) fn has_since(&self, count: u64, user: UserId) -> bool {
        let since = usize::try_from(self.count.saturating_sub(count)).unwrap_or(usize::MAX);
        let mut latest = self.latest.iter().rev().take(since);
        since > self.latest.len() || latest.any(|users| users.contains(&user))
    }
}
