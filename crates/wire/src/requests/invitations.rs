//! Invitations to flows.

use eddyline_model::InvitationId;
use eddyline_model::invitations::MAX_MESSAGE_CHARS;
use eddyline_model::names::{Email, MAX_EMAIL};

use crate::request;
use crate::request::{choice, id, parsed, text, whole};

/// How many invitations a list has at most, and unless the caller wants fewer: the specification
/// knows no pages here, so that a client that knows none either gets all that a flow may have by
/// default.
const PAGE: i64 = 1000;

request! {
    /// Which of the pending invitations are listed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ListInvitations {
        /// Only those with higher numbers than this.
        after: Option<InvitationId> = id::<InvitationId>(),
        /// How many.
        limit: i64 = whole(1..=PAGE).or(PAGE),
    }
}

request! {
    /// An invitation by mail.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CreateInvitation {
        /// The address.
        email: Email = parsed::<Email>(1..=MAX_EMAIL),
        /// What you add in your own words.
        message: Option<String> = text(0..=MAX_MESSAGE_CHARS),
    }
}

request! {
    /// Many invitations at once.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ImportInvitations {
        /// Addresses, with or without names, separated by commas, semicolons or line ends; up to
        /// 10,000.
        list: String = text(1..=usize::MAX),
        /// What you add in your own words.
        message: Option<String> = text(0..=MAX_MESSAGE_CHARS),
    }
}

request! {
    /// The acceptance of an invitation.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AcceptInvitation {
        /// accepted.
        state: () = choice(&[("accepted", ())]),
    }
}
