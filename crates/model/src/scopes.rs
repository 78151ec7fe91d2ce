//! OAuth scopes and sets of them (specification, section 5).

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

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope: what a password or an API token carries.
    pub const ALL: Self = Self(63);

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

    /// Whether any of `wanted` is in the set.
    #[must_use]
    pub fn allows_any(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }
}

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
}
