//! Threads (specification, section 4, Threads), and triggering their actions (section 6).

use eddyline_app::{Error, FlowRoom, LIST_BYTES, ThreadPage, ThreadsOf, add_plain_titles};
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::Flow;
use eddyline_model::threads::{ThreadPlace, ThreadQuery, ThreadSelection};
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, Many, One};
use eddyline_openapi::response_headers::NEXT;
use eddyline_wire::ThreadNews;
use eddyline_wire::requests::{DEFAULT_LIST, ListThreads, TriggerAction};
use http::header::LINK;
use http::{Method, StatusCode};

use crate::answer::{Answer, done, encoded};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::handler::UnparsedParams;
use crate::messages::search_words;
use crate::response::with_header;
use crate::response_budget::expect_response_bytes;

const ACTION: &str = "/flows/{organization}/{flow}/threads/{thread}/actions/{position}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/flows/{organization}/{flow}/threads",
            "listThreads",
            "List threads",
            list,
        )
        .scopes(&[Flow])
        .answers(
            200,
            "Threads, those that changed last first",
            Some(Many("Thread")),
        )
        .response_headers(&[NEXT]),
        Endpoint::new(
            Method::GET,
            "/flows/{organization}/{flow}/threads/{thread}",
            "getThread",
            "A thread",
            get,
        )
        .scopes(&[Flow])
        .answers(200, "The thread", Some(One("Thread"))),
        Endpoint::new(
            Method::POST,
            ACTION,
            "triggerThreadAction",
            "Have an integration do what a thread offers",
            trigger,
        )
        .may_conflict()
        .scopes(&[Flow])
        .answers(200, "It is done", Some(Empty))
        .answers(
            410,
            "The source that offers it was removed",
            Some(One("ErrorBody")),
        )
        .answers(
            424,
            "The integration did not do it",
            Some(One("IntegrationError")),
        )
        .answers(
            429,
            "Too many of your actions, or of the application's, are under way",
            Some(One("ErrorBody")),
        ),
    ]
}

async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.flow(FlowAction::Read).await?;
    let thread = ctx
        .app()
        .threads()
        .get(&room, ctx.segment("thread"))
        .await?;
    Ok(encoded(
        StatusCode::OK,
        ctx.app().encoder().thread(room.id(), &thread),
    ))
}

async fn trigger(ctx: RequestContext, request: UnparsedParams<TriggerAction>) -> Answer {
    let room = ctx.flow(FlowAction::Post).await?;
    let TriggerAction { name } = request.read()?;
    let (thread, position) = (ctx.segment("thread"), position(&ctx)?);
    ctx.app()
        .threads()
        .trigger_action(ctx.actor(), &room, thread, position, name.as_deref())
        .await?;
    Ok(done())
}

/// The position that the path names, which has one spelling.
fn position(ctx: &RequestContext) -> Result<usize, Error> {
    let text = ctx.segment("position");
    let position = text
        .parse()
        .ok()
        .filter(|position: &usize| position.to_string() == text);
    position.ok_or_else(Error::not_found)
}

async fn list(ctx: RequestContext, request: UnparsedParams<ListThreads>) -> Answer {
    let room = ctx.flow(FlowAction::Read).await?;
    let mut before = None;
    let request = request.read_checked(|request, reader| {
        let Some(id) = &request.before else { return };
        if !reader.has("until") {
            reader.error("before", "goes with until only");
        }
        match ctx.app().messages().thread_root(&room, id) {
            Ok(root) => before = Some(root),
            Err(_) => reader.error("before", "is not a thread of this flow"),
        }
    })?;
    let query = ThreadQuery {
        threads: ThreadSelection::All,
        since: request.since,
        until: request.until,
        before,
        empty: request.empty.unwrap_or_default(),
        search: search_words(request.search.as_deref()),
        status: request.status.clone().filter(|status| !status.is_empty()),
        limit: request.limit.unwrap_or(DEFAULT_LIST),
        last_message: request.last_message.unwrap_or_default(),
        reader: ctx.actor().user_id(),
    };
    let (with_last, has_reader) = (query.last_message, query.reader.is_some());
    expect_response_bytes(LIST_BYTES)?;
    let ThreadPage {
        threads,
        next,
        last_messages,
        unread,
    } = ctx
        .app()
        .threads()
        .list(&room, wanted(&request), query)
        .await?;
    let news = ThreadNews {
        last: &last_messages,
        unread: has_reader.then_some(&unread),
    };
    let json = ctx
        .app()
        .encoder()
        .threads(room.id(), &threads, with_last.then_some(news));
    let json = match request.html {
        Some(true) => add_plain_titles(&json),
        _ => json,
    };
    let answer = encoded(StatusCode::OK, json);
    match next {
        Some(place) => Ok(with_header(
            answer,
            LINK,
            &format!(
                "<{}>; rel=\"next\"",
                next_page(&ctx, &room, &request, place)
            ),
        )),
        None => Ok(answer),
    }
}

fn wanted(request: &ListThreads) -> ThreadsOf {
    match request.application.as_deref() {
        None | Some("") => ThreadsOf::All,
        Some("chat") => ThreadsOf::Chat,
        Some("inbox") => ThreadsOf::Inbox,
        Some(name) => ThreadsOf::Application(name.to_owned()),
    }
}

/// The address of the page that goes on at `place`. Several threads may have
/// changed in the same millisecond, so that also says which of them were shown.
fn next_page(
    ctx: &RequestContext,
    room: &FlowRoom,
    request: &ListThreads,
    place: ThreadPlace,
) -> String {
    let threads = ctx
        .app()
        .config()
        .addresses
        .threads(&room.organization, &room.flow);
    let until = place.updated_at.to_string();
    let before = ctx.app().encoder().thread_id(room.id(), place.root);
    let limit = request.limit.unwrap_or(DEFAULT_LIST).to_string();
    let since = request
        .since
        .map(|since| since.to_string())
        .unwrap_or_default();
    let flag = |given: Option<bool>| if given == Some(true) { "1" } else { "" };
    let all = [
        ("until", until.as_str()),
        ("before", &before),
        ("limit", &limit),
        ("since", &since),
        (
            "application",
            request.application.as_deref().unwrap_or_default(),
        ),
        ("empty", flag(request.empty)),
        ("search", request.search.as_deref().unwrap_or_default()),
        ("status", request.status.as_deref().unwrap_or_default()),
        ("last_message", flag(request.last_message)),
        ("html", flag(request.html)),
    ];
    let given: Vec<(&str, &str)> = all
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect();
    eddyline_model::applications::with_query(&threads, &given)
}
