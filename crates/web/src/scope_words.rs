//! Scopes in plain words, for those who decide about them.

use eddyline_model::scopes::Scope;

use crate::texts::Texts;

/// What an application may do that has this scope.
pub(crate) fn words(scope: Scope, t: &Texts) -> &str {
    let t = &t.scopes;
    match scope {
        Scope::Flow => &t.flow,
        Scope::Private => &t.private,
        Scope::Manage => &t.manage,
        Scope::Profile => &t.profile,
        Scope::OfflineAccess => &t.offline_access,
        Scope::Integration => &t.integration,
    }
}
