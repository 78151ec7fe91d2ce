//! Threads (specification, section 4, Threads), and triggering their actions (section 6).

use eddyline_app::{Error, LIST_BYTES, Room, ThreadPage, ThreadsOf};
use eddyline_model::Timestamp;
use eddyline_model::items::MAX_SHORT_CHARS;
use eddyline_model::messages::ThreadState;
use eddyline_model::policy::FlowAction;
use eddyline_model::scopes::Scope::Flow;
use eddyline_model::threads::{ThreadQuery, Threads};
use http::header::LINK;
use http::{Method, StatusCode};

use crate::answer::{Answer, done, encoded, with_header};
use crate::answer_bytes::expect_answer;
use crate::context::RequestContext;
use crate::endpoint::Shape::{Empty, Many, One};
use crate::endpoint::{Endpoint, NEXT};
use crate::error::Failure;
use crate::params::Reader;

const ACTION: &str = "/flows/{organization}/{flow}/threads/{thread}/actions/{position}";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/flows/{organization}/{flow}/threads", "List threads", list)
            .scopes(&[Flow])
            .takes("since", "string", "Only threads that changed after this time, ISO 8601")
            .takes("until", "string", "Only threads that changed before this time, ISO 8601")
            .takes("before", "string", "With until, of threads of that very time: only those before this one")
            .takes("application", "string", "chat, inbox, or an application's id")
            .takes("empty", "boolean", "1 adds threads that nobody answered")
            .takes("limit", "integer", "1 to 100, 30 unless given")
            .answers(200, "Threads, those that changed last first", Some(Many("Thread")))
            .tells(&[NEXT]),
        Endpoint::new(Method::GET, "/flows/{organization}/{flow}/threads/{thread}", "A thread", get)
            .scopes(&[Flow])
            .answers(200, "The thread", Some(One("Thread"))),
        Endpoint::new(Method::POST, ACTION, "Have an integration do what a thread offers", trigger)
            .can_conflict()
            .scopes(&[Flow])
            .takes("name", "string", "The action's name; with another it is not done")
            .answers(200, "It is done", Some(Empty))
            .answers(410, "The source that offers it was removed", Some(One("ErrorBody")))
            .answers(424, "The integration did not do it", Some(One("IntegrationError")))
            .answers(
                429,
                "Too many of your actions, or of the application's, are under way",
                Some(One("ErrorBody")),
            ),
    ]
}

async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    let thread = ctx.app().thread(&room, ctx.segment("thread")).await?;
    Ok(encoded(StatusCode::OK, ctx.app().encoder().thread(room.id(), &thread)))
}

async fn trigger(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Post).await?;
    let mut params = ctx.params.reader();
    let name = params.opt_text("name", 0..=MAX_SHORT_CHARS);
    params.finish()?;
    let (thread, position) = (ctx.segment("thread"), position(&ctx)?);
    ctx.app().trigger_action(ctx.actor()?, &room, thread, position, name.as_deref()).await?;
    Ok(done())
}

/// The position that the path names, which has one spelling.
fn position(ctx: &RequestContext) -> Result<usize, Failure> {
    let text = ctx.segment("position");
    let position = text.parse().ok().filter(|position: &usize| position.to_string() == text);
    position.ok_or_else(|| Error::NotFound.into())
}

async fn list(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    let (of, query) = question(&ctx, &room)?;
    expect_answer(LIST_BYTES)?;
    let ThreadPage { threads, more } = ctx.app().threads(&room, of, query).await?;
    let answer = encoded(StatusCode::OK, ctx.app().encoder().threads(room.id(), &threads));
    match threads.last() {
        Some(last) if more => {
            Ok(with_header(answer, LINK, &format!("<{}>; rel=\"next\"", next(&ctx, &room, &query, last))))
        }
        _ => Ok(answer),
    }
}

fn question(ctx: &RequestContext, room: &Room) -> Result<(ThreadsOf, ThreadQuery), Failure> {
    let mut params = ctx.params.reader();
    let of = match params.opt_text("application", 0..=200).as_deref() {
        None | Some("") => ThreadsOf::All,
        Some("chat") => ThreadsOf::Chat,
        Some("inbox") => ThreadsOf::Inbox,
        Some(name) => ThreadsOf::Application(name.to_owned()),
    };
    let before = params.opt_text("before", 1..=100);
    if before.is_some() && !ctx.params.has("until") {
        params.error("before", "goes with until only");
    }
    let query = ThreadQuery {
        threads: Threads::All,
        since: time(&mut params, "since"),
        until: time(&mut params, "until"),
        before: before.and_then(|id| match ctx.app().thread_root(room, &id) {
            Ok(root) => Some(root),
            Err(_) => {
                params.error("before", "is not a thread of this flow");
                None
            }
        }),
        empty: params.opt_bool("empty").unwrap_or(false),
        limit: params.number_in("limit", 1..=100, 30),
    };
    params.finish()?;
    Ok((of, query))
}

fn time(params: &mut Reader<'_>, name: &str) -> Option<Timestamp> {
    let text = params.opt_text(name, 0..=100).filter(|text| !text.is_empty())?;
    let time = Timestamp::parse_iso8601(&text);
    if time.is_none() {
        params.error(name, "must be a time such as 2026-01-31T12:00:00.000Z");
    }
    time
}

/// The address of the page that follows the one that ends with `last`. Several threads may have changed
/// in the same millisecond, so that also says which of them were shown.
fn next(ctx: &RequestContext, room: &Room, query: &ThreadQuery, last: &ThreadState) -> String {
    let threads = ctx.app().config().addresses.threads(&room.organization, &room.flow);
    let mut params = ctx.params.reader();
    let application = params.opt_text("application", 0..=200).unwrap_or_default();
    let until = last.counts.updated_at.to_string();
    let before = ctx.app().encoder().thread_id(room.id(), last.root);
    let limit = query.limit.to_string();
    let since = query.since.map(|since| since.to_string()).unwrap_or_default();
    let empty = if query.empty { "1" } else { "" };
    let all = [
        ("until", until.as_str()),
        ("before", &before),
        ("limit", &limit),
        ("since", &since),
        ("application", &application),
        ("empty", empty),
    ];
    let given: Vec<(&str, &str)> = all.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    eddyline_model::applications::with_query(&threads, &given)
}
