//! Private conversations: who may talk to whom.

use super::Refusal;

/// What two users are to each other, for a private conversation between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquaintance {
    /// Whether they are one and the same user.
    pub same: bool,
    /// Whether they belong to a common organization.
    pub share_organization: bool,
    /// Whether one of their common organizations is active.
    pub share_active: bool,
    /// Whether they have a conversation already.
    pub conversation: bool,
}

/// What somebody wants to do with a private conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateAction {
    /// Open it, read it, or mark it read.
    Read,
    /// Write into it, or change what was written.
    Write,
}

/// Whether a user may do `action` in the private conversation with another.
///
/// # Errors
///
/// [`Refusal::NotFound`] for strangers, [`Refusal::Denied`] for those with whom there is a
/// conversation but no common organization any more, and for writing when all common organizations
/// are inactive.
pub fn private(to: Acquaintance, action: PrivateAction) -> Result<(), Refusal> {
    match (to.same || to.share_organization, action) {
        (true, PrivateAction::Read) => Ok(()),
        (true, PrivateAction::Write) if to.same || to.share_active => Ok(()),
        (false, _) if !to.conversation => Err(Refusal::NotFound),
        _ => Err(Refusal::Denied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+` yes, `-` denied, `.` not found; reading first, writing second.
    /// Shows: 4.31
    #[test]
    fn private_conversations_are_for_those_who_share_an_organization() {
        let who = |same, share_organization, share_active, conversation| Acquaintance {
            same,
            share_organization,
            share_active,
            conversation,
        };
        for (name, to, expected) in [
            ("oneself", who(true, true, true, false), "++"),
            (
                "oneself, in no organization",
                who(true, false, false, true),
                "++",
            ),
            ("a colleague", who(false, true, true, false), "++"),
            (
                "a colleague in an inactive organization",
                who(false, true, false, true),
                "+-",
            ),
            ("a stranger", who(false, false, false, false), ".."),
            ("one who has left", who(false, false, false, true), "--"),
        ] {
            let got: String = [PrivateAction::Read, PrivateAction::Write]
                .map(|action| match private(to, action) {
                    Ok(()) => '+',
                    Err(Refusal::Denied) => '-',
                    Err(Refusal::NotFound) => '.',
                })
                .iter()
                .collect();
            assert_eq!(got, expected, "{name}");
        }
    }
}
