//! Scopes in plain words, for those who decide about them.

use eddyline_model::scopes::Scope;

/// What an application may do that has this scope.
pub(crate) fn words(scope: Scope) -> &'static str {
    match scope {
        Scope::Flow => "Read your flows, and write in them as you",
        Scope::Private => "Read your private conversations, and write in them as you",
        Scope::Manage => "Make and change flows, and manage who is in your flows and organizations",
        Scope::Profile => "See and change your profile",
        Scope::OfflineAccess => "Act for you also when you are not there",
        Scope::Integration => "Add integrations to your flows, change and remove them",
    }
}
