//! Identifiers. Each is its own type, so that a user's number cannot be taken for a room's.

use std::fmt;
use std::str::FromStr;

macro_rules! numeric_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(
            /// The number as it is stored and written on the wire.
            pub i64,
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            /// Reads a positive decimal number; anything else, also one that overflows, is refused.
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                if !text.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(InvalidId);
                }
                match text.parse() {
                    Ok(number) if number > 0 => Ok(Self(number)),
                    _ => Err(InvalidId),
                }
            }
        }
    };
}

numeric_id!(
    /// A user, unique in the whole server.
    UserId
);
numeric_id!(
    /// An organization; persistent, unlike its changeable name in URLs.
    OrganizationId
);
numeric_id!(
    /// A group of users within an organization, unique in the whole server. Numbers of removed
    /// groups are not used again.
    GroupId
);
numeric_id!(
    /// A room: the place that messages belong to, which is a flow or a private conversation.
    RoomId
);
numeric_id!(
    /// An invitation, unique in the whole server.
    InvitationId
);
numeric_id!(
    /// An application that acts for users by OAuth, unique in the whole server.
    ApplicationId
);
numeric_id!(
    /// A source: an application's place in a flow, unique in the whole server.
    SourceId
);
numeric_id!(
    /// What a user allowed an application at one time, unique in the whole server.
    GrantId
);
numeric_id!(
    /// A credential of a user: an API token, an access token or a session. The number comes from
    /// the digest of its secret, so it tells nothing of the secret and can stand in logs and forms.
    CredentialId
);
numeric_id!(
    /// A message within its room. The numbers of a room count up from 1 without gaps.
    MessageId
);

impl MessageId {
    /// The largest number a message can have: it shares 64 bits with the room in search indexes
    /// and thread ids.
    pub const MAX: Self = Self(u32::MAX as i64);
}

/// The public identifier of a flow: a random UUID in text form (specification, section 2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(
    /// The text as it stands on the wire.
    pub String,
);

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is not an identifier of the wanted kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a valid id")]
pub struct InvalidId;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_positive_decimal_number() {
        assert_eq!("42".parse(), Ok(UserId(42)));
        for bad in [
            "",
            "0",
            "-1",
            "+1",
            " 1",
            "1e3",
            "0x1",
            "99999999999999999999",
        ] {
            assert_eq!(bad.parse::<UserId>(), Err(InvalidId), "{bad:?}");
        }
    }
}
