//! What belongs to a flow, and with which methods a caller may go there (specification, section 2,
//! Flow).

use std::collections::BTreeMap;

use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::{Scope, Scopes};
use eddyline_wire::Link;

use super::View;
use crate::actor::Actor;
use crate::addresses::Addresses;

/// What the credentials of a caller cover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CredentialScopes {
    scopes: Scopes,
    application: bool,
}

impl CredentialScopes {
    /// Everything, for a text that every client of a user is sent.
    pub(crate) const ALL: Self = Self {
        scopes: Scopes::ALL,
        application: true,
    };

    pub(crate) fn by(actor: &Actor) -> Self {
        let scopes = match actor {
            Actor::User { scopes, .. } => *scopes,
            Actor::FlowToken { .. } => Scopes::ALL,
        };
        Self {
            scopes,
            application: actor.application().is_some(),
        }
    }

    /// Whether the join link of a flow is among it: the link lets people in, which is for those who
    /// manage members.
    pub(crate) fn join_link(self) -> bool {
        self.scopes.allows_any(Scopes::of(&[Manage]))
    }
}

/// A method, what one must be allowed to for it, and the scopes of which one will do.
type Method = (&'static str, FlowAction, &'static [Scope]);

use FlowAction::{AddUser, Invite, ManageSources, Post, Read, See};
use Scope::{Flow, Integration, Manage};

const RESOURCES: [(&str, &[Method]); 7] = [
    (
        "self",
        &[
            ("GET", See, &[Flow, Manage, Integration]),
            ("PUT", See, &[Flow, Manage]),
        ],
    ),
    (
        "messages",
        &[("GET", Read, &[Flow]), ("POST", Post, &[Flow])],
    ),
    ("threads", &[("GET", Read, &[Flow])]),
    (
        "sources",
        &[
            ("GET", ManageSources, &[Integration]),
            ("POST", ManageSources, &[Integration]),
        ],
    ),
    (
        "users",
        &[("GET", See, &[Flow, Manage]), ("POST", AddUser, &[Manage])],
    ),
    (
        "invitations",
        &[("GET", Invite, &[Manage]), ("POST", Invite, &[Manage])],
    ),
    ("stream", &[("GET", Read, &[Flow])]),
];

/// The resources of a flow with the methods this caller may use.
pub(crate) fn links(
    view: &View<'_>,
    addresses: &Addresses,
    shown: CredentialScopes,
) -> BTreeMap<String, Link> {
    let base = addresses.flow(view.organization, view.flow);
    let each = RESOURCES.into_iter().map(|(name, methods)| {
        let url = match name {
            "self" => base.clone(),
            "stream" => addresses.flow_stream(view.organization, view.flow),
            other => format!("{base}/{other}"),
        };
        let usable = methods.iter().filter(|(method, action, scopes)| {
            // Of the flow itself one can always set `open`.
            let possible = *method == "GET" || *action == See || view.is_writable();
            // Only an application has sources.
            let suitable = (name, *method) != ("sources", "POST") || shown.application;
            view.may(*action) && possible && suitable && shown.scopes.allows_any(Scopes::of(scopes))
        });
        let methods = usable.map(|(method, ..)| (*method).to_owned()).collect();
        (name.to_owned(), Link { url, methods })
    });
    each.collect()
}
