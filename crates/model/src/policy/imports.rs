//! The people whom an archive reaches.
//!
//! An archive is untrusted input. It may say anything of the members of the organization that it is
//! imported into, and of accounts that are made for it. All other people have not consented:
//! nothing is said in their name, and they come in by an invitation only.

use serde::Serialize;

/// The account that has the address of a person of an archive, as it is before the import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressAccount {
    /// `true` if it belongs to the organization.
    pub is_member: bool,
    /// `true` if another organization has a part in it: as a member, also a suspended one or one of
    /// an organization that is to be deleted, or by its identity provider.
    pub is_elsewhere: bool,
    /// `true` if its address is proved.
    pub is_proved: bool,
    /// `true` if it may be used.
    pub is_active: bool,
    /// True if its owner has chosen a password.
    pub has_password: bool,
    /// `true` if an import into the organization made it for this address.
    pub is_imported: bool,
    /// `true` if it was removed from the organization, or its identity provider keeps it out.
    pub is_kept_out: bool,
}

/// The owner of the domain of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressDomain {
    /// The organization, or one above it: an archive may then prove the address.
    Own,
    /// No organization.
    Unclaimed,
    /// Another organization.
    Another,
}

/// The relation of a person of an archive to the organization that it is imported into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonRelation {
    /// A member.
    Member,
    /// Has an account that an import into the organization made and that has not been used since.
    Imported,
    /// Has no account, and gets one.
    New,
    /// Has an account that does not belong to the organization: is invited.
    Elsewhere,
    /// Has no account, and an address within the domain of another organization: gets none.
    AnotherDomain,
    /// Has the address of an account that has not proved it, so that another person may have entered
    /// it, or an address that an account may take back.
    Unproved,
    /// Was removed from the organization, is kept out of it, or has an account that may not be used.
    KeptOut,
    /// Has no address, and so no account.
    WithoutAddress,
}

impl PersonRelation {
    /// Returns `true` if messages, reactions, mentions and the like may be those of the account.
    /// Those of other people have their names only.
    #[must_use]
    pub fn is_reached(self) -> bool {
        matches!(self, Self::Member | Self::Imported | Self::New)
    }
}

/// Returns the relation of a person to the organization, by the domain of the address and the
/// account that has it, if there is one. `is_claimed` says that an account which had the address may
/// take it back.
#[must_use]
pub fn person_relation(
    domain: AddressDomain,
    account: Option<AddressAccount>,
    is_claimed: bool,
) -> PersonRelation {
    let Some(account) = account else {
        return match domain {
            _ if is_claimed => PersonRelation::Unproved,
            AddressDomain::Own | AddressDomain::Unclaimed => PersonRelation::New,
            AddressDomain::Another => PersonRelation::AnotherDomain,
        };
    };
    let is_unused = account.is_imported && !account.has_password && !account.is_elsewhere;
    match account {
        account if account.is_member && (account.is_proved || account.is_imported) => {
            PersonRelation::Member
        }
        account if account.is_member => PersonRelation::Unproved,
        _ if is_unused => PersonRelation::Imported,
        account if account.is_kept_out || !account.is_active => PersonRelation::KeptOut,
        account if !account.is_proved => PersonRelation::Unproved,
        _ => PersonRelation::Elsewhere,
    }
}

/// Returns `true` if an archive may bring private messages of a person: a conversation is one of
/// two users and of no organization, so both must belong to the organization alone.
#[must_use]
pub fn may_import_conversation(relation: PersonRelation, is_elsewhere: bool) -> bool {
    relation.is_reached() && !is_elsewhere
}

/// Returns `true` if an archive proves the address of an account that is made for it.
#[must_use]
pub fn proves_address(domain: AddressDomain, is_marked: bool) -> bool {
    is_marked && domain == AddressDomain::Own
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: AddressAccount = AddressAccount {
        is_member: false,
        is_elsewhere: false,
        is_proved: true,
        is_active: true,
        has_password: true,
        is_imported: false,
        is_kept_out: false,
    };
    const MEMBER: AddressAccount = AddressAccount {
        is_member: true,
        ..ACCOUNT
    };
    const IMPORTED: AddressAccount = AddressAccount {
        is_proved: false,
        has_password: false,
        is_imported: true,
        ..ACCOUNT
    };

    #[test]
    fn who_is_no_member_is_invited() {
        use PersonRelation::{Elsewhere, Imported, KeptOut, Member, Unproved};
        let unproved = |account| AddressAccount {
            is_proved: false,
            ..account
        };
        let elsewhere = |account| AddressAccount {
            is_elsewhere: true,
            ..account
        };
        let kept_out = |account| AddressAccount {
            is_kept_out: true,
            ..account
        };
        let inactive = |account| AddressAccount {
            is_active: false,
            ..account
        };
        let used = |account| AddressAccount {
            has_password: true,
            ..account
        };
        let member = |account| AddressAccount {
            is_member: true,
            ..account
        };
        for (account, expected) in [
            (MEMBER, Member),
            (elsewhere(MEMBER), Member),
            (inactive(MEMBER), Member),
            (unproved(MEMBER), Unproved),
            (member(IMPORTED), Member),
            (ACCOUNT, Elsewhere),
            (elsewhere(ACCOUNT), Elsewhere),
            (unproved(ACCOUNT), Unproved),
            (kept_out(ACCOUNT), KeptOut),
            (inactive(ACCOUNT), KeptOut),
            (IMPORTED, Imported),
            (inactive(IMPORTED), Imported),
            (kept_out(IMPORTED), Imported),
            (elsewhere(IMPORTED), Unproved),
            (used(IMPORTED), Unproved),
        ] {
            let found = person_relation(AddressDomain::Own, Some(account), false);
            assert_eq!(found, expected, "{account:?}");
        }
    }

    #[test]
    fn no_account_is_made_in_the_domain_of_another_organization() {
        for (domain, expected) in [
            (AddressDomain::Own, PersonRelation::New),
            (AddressDomain::Unclaimed, PersonRelation::New),
            (AddressDomain::Another, PersonRelation::AnotherDomain),
        ] {
            assert_eq!(person_relation(domain, None, false), expected);
            let claimed = person_relation(domain, None, true);
            assert_eq!(claimed, PersonRelation::Unproved);
            let is_own = domain == AddressDomain::Own;
            assert_eq!(proves_address(domain, true), is_own);
            assert!(!proves_address(domain, false));
        }
    }

    #[test]
    fn private_messages_are_those_of_people_who_belong_nowhere_else() {
        assert!(may_import_conversation(PersonRelation::Member, false));
        assert!(may_import_conversation(PersonRelation::New, false));
        assert!(!may_import_conversation(PersonRelation::Member, true));
        assert!(!may_import_conversation(PersonRelation::Elsewhere, false));
        assert!(!may_import_conversation(PersonRelation::Elsewhere, true));
    }
}
