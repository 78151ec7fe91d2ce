//! OAuth scopes and sets of them (specification, section 5).

use std::fmt;
use std::str::FromStr;

/// What an access token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Read and send messages to flows.
    Flow = 1,
    /// Read and send private messages.
    Private = 2,
    /// Manage flows, organizations and their users.
    Manage = 4,
    /// Access the user's profile.
    Profile = 8,
    /// Access when the user is absent.
    OfflineAccess = 16,
    /// Create sources.
    Integration = 32,
}

impl Scope {
    /// Every scope, in the order in which they are listed.
    pub const EACH: [Self; 6] = [
        Self::Flow,
        Self::Private,
        Self::Manage,
        Self::Profile,
        Self::OfflineAccess,
        Self::Integration,
    ];

    /// The scope's name in requests and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Private => "private",
            Self::Manage => "manage",
            Self::Profile => "profile",
            Self::OfflineAccess => "offline_access",
            Self::Integration => "integration",
        }
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope: what a password or an API token carries.
    pub const ALL: Self = Self::of(&Scope::EACH);
    /// What somebody gets who names no scope.
    pub const DEFAULT: Self = Self::of(&[Scope::Flow, Scope::Private]);

    /// A set of the given scopes.
    #[must_use]
    pub const fn of(scopes: &[Scope]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < scopes.len() {
            bits |= scopes[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// The set that [`Scopes::bits`] gave. Bits without a meaning are dropped.
    #[must_use]
    pub const fn from_bits(bits: i16) -> Self {
        Self((bits & Self::ALL.0 as i16) as u8)
    }

    /// The set as a number, for storing it.
    #[must_use]
    pub const fn bits(self) -> i16 {
        self.0 as i16
    }

    /// Whether a scope is in the set.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope as u8 != 0
    }

    /// Whether any of `wanted` is in the set.
    #[must_use]
    pub const fn allows_any(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }

    /// Whether the set has nothing that `other` has not.
    #[must_use]
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// What is in either of the two.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there is no scope in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scopes of the set.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::EACH
            .into_iter()
            .filter(move |scope| self.contains(*scope))
    }

    /// The names with something between them: a space in requests and in what RFC 6749, section 3.3
    /// describes, a comma in the answers of the token endpoint (specification, section 5).
    #[must_use]
    pub fn joined(self, separator: &str) -> String {
        self.iter()
            .map(Scope::as_str)
            .collect::<Vec<_>>()
            .join(separator)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined(" "))
    }
}

/// Reads names between spaces. Commas will do as well, since answers have them and clients send
/// back what they got. No name at all is the empty set, for which [`Scopes::DEFAULT`] is meant.
impl FromStr for Scopes {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let names = text.split([' ', ',']).filter(|name| !name.is_empty());
        names
            .map(|name| {
                Scope::EACH
                    .into_iter()
                    .find(|scope| scope.as_str() == name)
                    .ok_or(UnknownScope)
            })
            .try_fold(Self::default(), |set, scope| {
                Ok(set.union(Self::of(&[scope?])))
            })
    }
}

/// There is no such scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such scope")]
pub struct UnknownScope;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_wanted_scopes_is_enough() {
        let held = Scopes::of(&[Scope::Flow, Scope::Private]);
        assert!(held.allows_any(Scopes::of(&[Scope::Manage, Scope::Flow])));
        assert!(!held.allows_any(Scopes::of(&[Scope::Manage])));
        assert!(Scopes::ALL.allows_any(Scopes::of(&[Scope::Integration])));
    }

    /// Shows: 5.9
    #[test]
    fn a_set_is_read_from_names_in_any_order() {
        let both = Scopes::of(&[Scope::Flow, Scope::OfflineAccess]);
        for text in [
            "flow offline_access",
            "offline_access  flow flow",
            "flow,offline_access",
            " offline_access, flow",
        ] {
            assert_eq!(text.parse(), Ok(both), "{text:?}");
        }
        assert_eq!("".parse(), Ok(Scopes::default()));
        for unknown in ["flows", "Flow", "flow\tprivate", "flow;private", "*"] {
            assert_eq!(unknown.parse::<Scopes>(), Err(UnknownScope), "{unknown:?}");
        }
    }

    #[test]
    fn every_set_survives_its_text_and_its_number() {
        for bits in 0..64 {
            let set = Scopes::from_bits(bits);
            assert_eq!(set.bits(), bits);
            assert_eq!(set.to_string().parse(), Ok(set));
            assert_eq!(set.joined(",").parse(), Ok(set));
        }
        assert_eq!(Scopes::from_bits(-1), Scopes::ALL);
    }

    #[test]
    fn a_set_is_within_another_that_has_all_of_it() {
        assert!(Scopes::DEFAULT.is_within(Scopes::ALL));
        assert!(!Scopes::ALL.is_within(Scopes::DEFAULT));
        assert!(Scopes::default().is_within(Scopes::default()));
    }
}
