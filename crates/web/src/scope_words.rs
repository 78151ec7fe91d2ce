//! What scopes mean, in the words that people read when an application asks for them.

use eddyline_model::scopes::Scope;

/// What an application may do with a scope; it follows "It may:".
pub(crate) fn words(scope: Scope) -> &'static str {
    match scope {
        Scope::Flow => "Read and write messages in your flows",
        Scope::Private => "Read and write your private messages",
        Scope::Manage => "Manage flows, organizations and their people, as far as you may",
        Scope::Profile => "See and change your profile, your address among it",
        Scope::OfflineAccess => "Go on while you are away, until you take it back",
        Scope::Integration => "Set up integrations in your flows",
    }
}
