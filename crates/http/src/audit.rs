//! The audit log of an organization (docs/protocol.md, Audit log).

use eddyline_app::{AuditFilter, AuditRange, LIST_BYTES};
use eddyline_model::audit::AuditActions;
use eddyline_model::messages::Sort;
use eddyline_model::policy::OrganizationAction;
use eddyline_model::scopes::Scope::Manage;
use eddyline_model::{Timestamp, UserId};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::Many;
use eddyline_openapi::response_headers::NEXT;
use eddyline_wire::requests::{DEFAULT_LIST, ListAudit};
use eddyline_wire::{NamedRecord, Request};
use http::header::LINK;
use http::{Method, StatusCode};

use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::organizations;
use crate::response::with_header;
use crate::response_budget::expect_response_bytes;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/organizations/{organization}/audit",
            "listAuditRecords",
            "The audit log of an organization",
            list,
        )
        .scopes(&[Manage])
        .answers(
            200,
            "The records; the header Link says where the list goes on",
            Some(Many("AuditRecord")),
        )
        .response_headers(&[NEXT]),
    ]
}

async fn list(ctx: RequestContext, request: UnparsedParams<ListAudit>) -> Answer {
    let id = organizations::named(&ctx, OrganizationAction::Administer).await?;
    let wanted = request.read()?;
    let range = range(&wanted);
    expect_response_bytes(LIST_BYTES)?;
    let organizations = ctx.app().organizations();
    let records = organizations.audit(ctx.actor(), id, filter(&wanted), range);
    let records = records.await?;
    let answer = json(StatusCode::OK, &records)?;
    Ok(match records.last() {
        Some(last) if records.len() as i64 == range.limit => {
            let link = format!("<{}>; rel=\"next\"", next_address(&ctx, wanted, last));
            with_header(answer, LINK, &link)
        }
        _ => answer,
    })
}

fn filter(wanted: &ListAudit) -> AuditFilter {
    let actions = wanted.action.iter().flat_map(AuditActions::iter);
    AuditFilter {
        actions: actions.map(|action| action.name().to_owned()).collect(),
        concerning: wanted.user.map(UserId),
        since: wanted.since_time.map(Timestamp),
        until: wanted.until_time.map(Timestamp),
        ..AuditFilter::default()
    }
}

fn range(wanted: &ListAudit) -> AuditRange {
    AuditRange {
        sort: wanted.sort.unwrap_or_default(),
        after: wanted.since_id,
        before: wanted.until_id,
        limit: wanted.limit.unwrap_or(DEFAULT_LIST),
    }
}

/// The address of the part of a list that goes on behind its last record.
fn next_address(ctx: &RequestContext, wanted: ListAudit, last: &NamedRecord) -> String {
    let rest = match wanted.sort.unwrap_or_default() {
        Sort::Descending => ListAudit {
            until_id: Some(last.id),
            ..wanted
        },
        Sort::Ascending => ListAudit {
            since_id: Some(last.id),
            ..wanted
        },
    };
    let given = rest.to_query();
    let given: Vec<(&str, &str)> = given
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let base = &ctx.app().config().addresses.base;
    let address = format!("{base}/organizations/{}/audit", ctx.segment("organization"));
    eddyline_model::applications::with_query(&address, &given)
}
