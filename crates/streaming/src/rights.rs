//! What a stream was opened with, and when its rights were checked.

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

/// A moment before which every revocation has been acted upon.
///
/// A caller's rights are looked up first and the stream is opened next; in between they may be
/// taken away, when there is no stream yet to take them from. So take a mark, look the rights
/// up, and hand the mark in with the [`SubscribeRequest`](crate::SubscribeRequest): when rights
/// were taken from anybody meanwhile, it is refused, and all of this is done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RightsMark(pub(crate) u64);
