//! The author of a transaction, as its records in the audit log name it.

use eddyline_model::audit::{AuditAuthor, actor};

use crate::actor::Actor;
use crate::charging::current_address;
use crate::core::provider::ScimProvider;

/// Who a caller is in the records of a transaction.
pub(super) fn author(of: &Actor) -> AuditAuthor {
    let actor = match of {
        Actor::User { caller, .. } => actor::user(caller.user.id),
        Actor::FlowToken {
            source: Some(source),
            ..
        } => actor::source(source.id),
        Actor::FlowToken { source: None, .. } => "flow_token".to_owned(),
    };
    AuditAuthor {
        application: of.application(),
        ..unnamed(&actor)
    }
}

/// Who an identity provider is in the records of a transaction.
pub(super) fn provider(of: &ScimProvider) -> AuditAuthor {
    unnamed(&of.actor())
}

/// An actor who is no caller, from where the present request came.
pub(super) fn unnamed(actor: &str) -> AuditAuthor {
    AuditAuthor {
        actor: actor.to_owned(),
        application: None,
        address: current_address(),
    }
}
