//! The flows one is in.

use askama::Template;
use axum::response::Response;
use eddyline_wire::Flow;

use crate::error::PageError;
use crate::local_path::deletion_of;
use crate::moment;
pub(super) use crate::pages::settings::general::show_settings;
use crate::pages::settings::organization::new_flow_in;
use crate::pages::shell::Shell;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "flows.html")]
struct Flows {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    flows: Vec<Flow>,
    /// The pages that make a flow, each in an organization with this name.
    new_flow: Vec<(String, String)>,
    /// The closed organizations of the reader: path, name and what will become of each.
    closed: Vec<(String, String, String)>,
}

pub(super) async fn list(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let flows = visit.app().flows().all(actor).await?;
    let own = visit.app().organizations().list_own(actor).await?;
    let new_flow = own
        .into_iter()
        .filter(|one| one.active)
        .map(|one| (new_flow_in(&one.parameterized_name), one.name));
    let closed = visit.app().deletions().list_closed(actor).await?;
    let texts = visit.texts();
    let closed = closed.into_iter().map(|one| {
        let state = match one.begun {
            true => texts.closing.begun.clone(),
            false => {
                let day = moment::day(&one.due_at, texts);
                texts.closing.due.with("day", day).to_string()
            }
        };
        (deletion_of(&one.parameterized_name), one.name, state)
    });
    let t = &texts.own_flows;
    let done = match visit.query("done") {
        "left" => Some(t.left.as_str()),
        "archived" => Some(t.archived.as_str()),
        _ => None,
    };
    let page = Flows {
        t: texts,
        closed: closed.collect(),
        shell: Shell::beside(&visit).await?,
        done,
        flows,
        new_flow: new_flow.collect(),
    };
    visit.client_page(&page).await
}
