//! The flows one is in.

use askama::Template;
use axum::response::Response;
use eddyline_wire::Flow;

use crate::error::PageError;
pub(super) use crate::pages::settings::general::show_settings;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "flows.html")]
struct Flows {
    inside: Inside,
    done: Option<&'static str>,
    flows: Vec<Flow>,
}

pub(super) async fn list(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let flows = visit.app().flows().all(actor).await?;
    let t = &visit.texts().own_flows;
    let done = match visit.query("done") {
        "left" => Some(t.left.as_str()),
        "archived" => Some(t.archived.as_str()),
        _ => None,
    };
    Ok(visit.page(&Flows {
        inside: visit.inside(),
        done,
        flows,
    }))
}
