//! What stands around every page of the client: the flows of the reader, and who the reader is.

use eddyline_app::Actor;
use eddyline_model::EventId;
use eddyline_wire::Flow;

use crate::error::PageError;
use crate::pages::assets;
use crate::visit::Visit;

/// The list of flows beside the page, and what its script needs.
pub(super) struct Shell {
    pub(super) csrf: String,
    /// The event after which the stream goes on.
    pub(super) event: String,
    pub(super) me: Me,
    pub(super) tabs: Vec<Tab>,
    /// The organization whose name stands above.
    pub(super) organization: String,
    /// The script, and the modules that it loads.
    pub(super) script: String,
    pub(super) modules: Vec<String>,
}

/// The reader.
pub(super) struct Me {
    pub(super) id: i64,
    pub(super) nick: String,
    pub(super) name: String,
    pub(super) avatar: String,
}

/// A flow in the list.
pub(super) struct Tab {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) api: String,
    pub(super) current: bool,
    pub(super) unread: bool,
    pub(super) mentions: i64,
}

impl Shell {
    pub(super) async fn load(
        visit: &Visit,
        actor: &Actor,
        shown: Option<&Flow>,
        event: EventId,
    ) -> Result<Self, PageError> {
        let flows = visit.app().flows().all(actor).await?;
        let user = &actor.user()?.user;
        let base = &visit.app().config().addresses.base;
        let me = eddyline_wire::User::of(user, base);
        let organization = shown.map_or_else(String::new, |flow| flow.organization.name.clone());
        let tabs = flows
            .iter()
            .filter(|flow| flow.open || shown.is_some_and(|shown| shown.id == flow.id))
            .map(|flow| Tab::of(flow, shown.is_some_and(|shown| shown.id == flow.id)));
        Ok(Self {
            csrf: visit.csrf().to_owned(),
            event: event.to_string(),
            tabs: tabs.collect(),
            me: Me {
                id: me.id,
                nick: me.nick,
                name: me.name,
                avatar: format!("{}72", me.avatar),
            },
            organization,
            script: assets::script_url("app.js"),
            modules: assets::module_urls(),
        })
    }
}

impl Tab {
    fn of(flow: &Flow, current: bool) -> Self {
        let api = format!(
            "{}/{}",
            flow.organization.parameterized_name, flow.parameterized_name
        );
        Self {
            id: flow.id.clone(),
            name: flow.name.clone(),
            path: format!("/app/{api}"),
            api,
            current,
            unread: flow.last_message_id.unwrap_or_default() > flow.read.unwrap_or_default(),
            mentions: flow.unread_mentions,
        }
    }
}
