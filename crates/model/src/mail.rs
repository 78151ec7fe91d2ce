//! Mail that is to be sent, and the secret links it holds.

use crate::{InvitationId, OrganizationId, Timestamp, UserId};

/// How long a link to undo a change of address leads somewhere, in days.
pub const UNDO_DAYS: i64 = 7;
/// How long a link to a new password leads somewhere, in hours.
pub const RESET_HOURS: i64 = 4;

/// How long a link that signs in leads somewhere, in minutes.
pub const SIGN_IN_MINUTES: i64 = 15;

/// What a mail is about, and what its link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An invitation into a flow.
    Invitation(InvitationId),
    /// A new password for a user.
    PasswordReset(UserId),
    /// A user's address was changed; the link undoes it.
    EmailChange(UserId),
    /// Signing a user in. An operator makes the link, and no mail has it.
    SignIn(UserId),
    /// The deletion of an organization was requested. Its mails have no secret link.
    DeletionRequest(OrganizationId),
    /// The deletion of an organization was cancelled. Its mails have no secret link.
    DeletionCancel(OrganizationId),
}

/// A mail that waits to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedMail {
    /// Its number, the same for each attempt.
    pub id: i64,
    /// What it is about.
    pub purpose: Purpose,
    /// The address it goes to.
    pub recipient: String,
    /// What it says beside: of a change of address the new one, of a cancelled deletion who cancelled
    /// it, in the words of the audit log.
    pub detail: Option<String>,
    /// How often sending it was tried, the attempt counted for which it was taken.
    pub attempts: i64,
    /// When it was put into the queue.
    pub created_at: Timestamp,
}

/// A secret link, found by the digest of its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailedLink {
    /// What it leads to.
    pub purpose: Purpose,
    /// Of a change of address, the one to go back to.
    pub email: Option<String>,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// What mail counts as. Each kind has its own count for a recipient and for an organization, so
/// that one does not use up another: requests on the page of a join link, which strangers make,
/// leave the invitations of members their quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailKind {
    /// An invitation by a member.
    Invitation,
    /// An invitation that was requested on the page of a join link.
    JoinRequest,
    /// Mail about a user's own account.
    Account,
    /// Mail to administrators about the deletion of their organization.
    Deletion,
}

/// How much mail is allowed; 0 for any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailRate {
    /// Within any minute.
    pub per_minute: u32,
    /// Within any 24 hours.
    pub per_day: u32,
}

impl MailRate {
    /// Any amount.
    pub const UNLIMITED: Self = Self {
        per_minute: 0,
        per_day: 0,
    };

    /// The bounds that there are: how much mail, within how many milliseconds.
    pub fn bounds(self) -> impl Iterator<Item = (i64, i64)> {
        let bounds = [(self.per_minute, 60_000), (self.per_day, 24 * 3_600_000)];
        bounds
            .into_iter()
            .filter(|(limit, _)| *limit > 0)
            .map(|(limit, window)| (i64::from(limit), window))
    }
}
