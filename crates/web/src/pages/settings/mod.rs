//! The settings of flows and of organizations: a page for each subject, with a list of them beside
//! it. Each page is for all who may see its subject; its forms are for those who may change it.

pub(super) mod archive;
mod ask;
pub(super) mod general;
pub(super) mod invitations;
pub(super) mod joining;
pub(super) mod leave;
pub(super) mod members;
pub(super) mod notifications;
pub(super) mod organization;
pub(super) mod sources;

use std::sync::Arc;

use eddyline_app::FlowRoom;
use eddyline_model::policy::FlowAction;
use eddyline_wire::Flow;

use crate::error::PageError;
use crate::pages::shell::settings_of;
use crate::segments::FlowNames;
use crate::texts::Texts;
use crate::visit::Visit;

/// A page of the settings of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    General,
    Members,
    Invitations,
    Joining,
    Sources,
    Notifications,
}

impl Subject {
    /// Each, in the order of the list.
    const ALL: [Self; 6] = [
        Self::General,
        Self::Members,
        Self::Invitations,
        Self::Joining,
        Self::Sources,
        Self::Notifications,
    ];

    fn label(self, t: &'static Texts) -> &'static str {
        let t = &t.settings;
        match self {
            Self::General => &t.general,
            Self::Members => &t.members,
            Self::Invitations => &t.invitations,
            Self::Joining => &t.joining,
            Self::Sources => &t.sources,
            Self::Notifications => &t.notifications,
        }
    }

    /// The path of the page, where `flow` is that of the flow.
    fn path(self, flow: &str) -> String {
        let rest = match self {
            Self::General => "",
            Self::Members => "/members",
            Self::Invitations => "/invitations",
            Self::Joining => "/joining",
            Self::Sources => "/sources",
            Self::Notifications => "/notifications",
        };
        format!("{flow}/settings{rest}")
    }

    /// Whether the caller who got this description of the flow may see the page.
    fn is_shown(self, flow: &Flow) -> bool {
        match self {
            Self::General | Self::Members | Self::Joining => true,
            Self::Invitations => may(flow, "invitations", "GET"),
            Self::Sources => may(flow, "sources", "GET"),
            Self::Notifications => flow.joined,
        }
    }
}

/// What stands around a page of the settings.
struct Frame {
    title: String,
    heading: String,
    done: Option<&'static str>,
    /// Whether a form of the page has a mistake.
    wrong: bool,
    /// What it is called whose settings these are.
    of: String,
    /// Where one came from: path and label.
    back: Option<(String, String)>,
    /// The settings of the organization of a flow: path and name.
    above: Option<(String, String)>,
    /// The list of pages: path, label, and the value of `aria-current`.
    pages: Vec<(String, &'static str, Option<&'static str>)>,
}

impl Frame {
    /// That of a flow.
    fn new(visit: &Visit, flow: &Flow, subject: Subject) -> Self {
        let t = visit.texts();
        let own = path_of(flow);
        let shown = Subject::ALL.into_iter().filter(|page| page.is_shown(flow));
        let pages = shown.map(|page| {
            let path = page.path(&own);
            let current = match visit.path() == path {
                true => "page",
                false => "true",
            };
            (path, page.label(t), (page == subject).then_some(current))
        });
        let heading = subject.label(t);
        let title = t.settings.page_of.with("page", heading);
        let back = t.page.back.with("name", &flow.name);
        Self {
            title: title.with("flow", &flow.name).to_string(),
            heading: heading.to_owned(),
            done: None,
            wrong: false,
            of: flow.name.clone(),
            pages: pages.collect(),
            back: flow.joined.then(|| (own, back.to_string())),
            above: Some((
                settings_of(&flow.organization.parameterized_name),
                flow.organization.name.clone(),
            )),
        }
    }

    /// The same with another heading, which is the title too.
    fn headed(mut self, heading: String) -> Self {
        self.title.clone_from(&heading);
        self.heading = heading;
        self
    }
}

/// The page of a flow.
fn path_of(flow: &Flow) -> String {
    let organization = &flow.organization.parameterized_name;
    format!("/app/{organization}/{}", flow.parameterized_name)
}

/// The same, where only its room is known.
fn path_of_room(room: &FlowRoom) -> String {
    let organization = &room.organization.parameterized_name;
    format!("/app/{organization}/{}", room.flow.parameterized_name)
}

/// Whether the flow was described to a caller who may use this method of a resource of it.
fn may(flow: &Flow, resource: &str, method: &str) -> bool {
    let link = flow.links.get(resource);
    link.is_some_and(|link| link.methods.iter().any(|usable| usable == method))
}

/// The flow that a path names, for a visitor who is signed in and may do this in it.
async fn find(
    visit: &Visit,
    FlowNames(organization, flow): &FlowNames,
    action: FlowAction,
) -> Result<Arc<FlowRoom>, PageError> {
    let actor = visit.signed_in()?;
    let rooms = visit.app().rooms();
    Ok(rooms.find(actor, organization, flow, action).await?)
}

/// The flow as the visitor sees it.
async fn describe(visit: &Visit, room: &FlowRoom) -> Result<Flow, PageError> {
    Ok(visit.app().flows().get(visit.signed_in()?, room).await?)
}
