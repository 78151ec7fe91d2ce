//! The order of tabs (docs/protocol.md, Tabs).

use eddyline_app::TabOrder;
use eddyline_model::scopes::Scope::{Flow, Private};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::Empty;
use eddyline_wire::requests::OrderTabs;
use http::Method;

use crate::answer::{Answer, done};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::PUT,
            "/tabs",
            "orderTabs",
            "Put your tabs in order",
            order,
        )
        .may_be_not_found()
        .scopes(&[Flow, Private])
        .answers(200, "Done", Some(Empty)),
    ]
}

async fn order(ctx: RequestContext, request: UnparsedParams<OrderTabs>) -> Answer {
    let OrderTabs {
        flows,
        conversations,
    } = request.read()?;
    let order = TabOrder {
        flows,
        conversations,
    };
    ctx.app().order_tabs(ctx.actor(), &order).await?;
    Ok(done())
}
