//! Messages of a flow (specification, section 4, Messages).

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::response::Response;
use eddyline_app::{Actor, Edit, Error, LIST_BYTES, MessageList, NewInbox, NewPost, Posted, Pushed, Room};
use eddyline_model::items::{MAX_BODY_BYTES, MAX_EXTERNAL_ID_CHARS, MAX_TITLE_CHARS};
use eddyline_model::messages::{
    Event, MAX_EXTERNAL_NAME_CHARS, MAX_UUID_CHARS, MessageQuery, MessageView, Sort,
};
use eddyline_model::names::check_external_name;
use eddyline_model::policy::{Deletion, FlowAction};
use eddyline_model::tags::MAX_TAGS;
use eddyline_model::{MessageId, search};
use eddyline_wire::{FieldErrors, Place, read_author, read_item};
use http::StatusCode;
use http::header::LINK;

use crate::answer::{Answer, done, encoded, nothing, with_header};
use crate::answer_bytes::expect_answer;
use crate::context::RequestContext;
use crate::error::Failure;
use crate::uploads::{self, Described};
use eddyline_wire::params::Reader;

/// The most a search may say.
const MAX_SEARCH_CHARS: usize = 500;
/// The most words of a search. More are refused: leaving some out would find what was not asked for.
const MAX_SEARCH_WORDS: usize = 20;
/// The most messages that a list passes over. Ids lead further.
const MAX_SKIP: i64 = 10_000;

/// A list under way, so that lists can stand in one table.
pub(crate) type Listing = Pin<Box<dyn Future<Output = Answer> + Send>>;

pub(crate) async fn send(mut ctx: RequestContext) -> Answer {
    let files = std::mem::take(&mut ctx.files);
    let mut params = ctx.params.reader();
    let event = params.required_text("event", 1..=100);
    let event = match posted_event(&ctx, &event, &mut params) {
        Ok(event) => event,
        // What else the message holds does not matter, but whether the flow is there does.
        Err(denied) => {
            target(&ctx).await?;
            return Err(denied);
        }
    };
    let in_inbox = matches!(event, Event::Activity | Event::Discussion);
    uploads::check_places(&files, event == Event::File, in_inbox, &mut params);
    let mut new = new_post(&ctx, &mut params, event);
    let segment = ctx.segment("thread");
    if !segment.is_empty() {
        new.thread_id = Some(segment.to_owned());
        new.external_thread_id = None;
        new.by_address = true;
    }
    let wrong = ["thread_id", "external_thread_id"].into_iter().any(|name| params.is_wrong(name));
    if new.pushed.is_some() && new.thread_id.is_none() && new.external_thread_id.is_none() && !wrong {
        params.error("external_thread_id", "is required, or thread_id");
    }
    params.finish()?;
    let room = target(&ctx).await?;
    if !segment.is_empty() {
        // Of the address, so its absence is a matter of the address.
        ctx.app().thread_root(&room, segment)?;
    }
    // What was taken in is held until it is posted.
    let _held = match event {
        Event::File => {
            let described = Described::read(&ctx.params, !files.is_empty(), ctx.shared.json_upload).await?;
            let (attachment, held) = uploads::content((ctx.app(), ctx.actor()?), files, described).await?;
            new.files.push(attachment);
            vec![held]
        }
        _ => {
            let (attachments, held) = uploads::attachments(files)?;
            new.files = attachments;
            held
        }
    };
    ctx.drop_params();
    post(&ctx, room, new).await
}

pub(crate) async fn comment(mut ctx: RequestContext) -> Answer {
    let mut params = ctx.params.reader();
    if let Some(event) = params.opt_text("event", 0..=100)
        && event != Event::Comment.as_str()
    {
        params.error("event", "must be comment");
    }
    let in_path = ctx.segment("message");
    let parent = match in_path {
        "" => params.opt_id::<MessageId>("message"),
        segment => Some(segment.parse().map_err(|_| Error::NotFound)?),
    };
    if parent.is_none() && !ctx.params.has("message") {
        params.error("message", "is required");
    }
    let mut new = new_post(&ctx, &mut params, Event::Comment);
    params.finish()?;
    new.parent = parent;
    new.thread_id = None;
    new.external_thread_id = None;
    let room = target(&ctx).await?;
    ctx.drop_params();
    post(&ctx, room, new).await
}

/// The kinds that can be posted, and who may post which.
fn posted_event(ctx: &RequestContext, name: &str, params: &mut Reader<'_>) -> Result<Event, Failure> {
    match Event::parse(name) {
        Some(event @ (Event::Message | Event::Status | Event::File)) => return Ok(event),
        Some(Event::Comment) => params.error("event", "comment goes to the comments of a message"),
        Some(event @ (Event::Activity | Event::Discussion)) => {
            return if ctx.actor()?.may_integrate() { Ok(event) } else { Err(Error::Denied.into()) };
        }
        Some(_) => params.error("event", format!("{name} can't be posted here")),
        None if name.is_empty() => {}
        None => params.error("event", "is not a known event"),
    }
    Ok(Event::Message)
}

fn new_post(ctx: &RequestContext, params: &mut Reader<'_>, event: Event) -> NewPost {
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let in_inbox = matches!(event, Event::Activity | Event::Discussion);
    if !in_inbox {
        for name in ["thread", "attachments"] {
            if ctx.params.has(name) {
                params.error(name, "goes with activity and discussion messages only");
            }
        }
    }
    if in_inbox && ctx.params.has("attachments") {
        params.error("attachments", "are files: send them as parts of multipart/form-data");
    }
    let thread_id = filled(params.opt_text("thread_id", 0..=100));
    let external = filled(params.opt_text("external_thread_id", 0..=MAX_EXTERNAL_ID_CHARS));
    NewPost {
        event,
        content: match event {
            Event::Activity | Event::Discussion | Event::File => String::new(),
            _ => params.required_text("content", 0..=usize::MAX),
        },
        tags: ctx.shared.profile.tags(params.list_of_text("tags").unwrap_or_default()),
        external_user_name: {
            let name = filled(params.opt_text("external_user_name", 0..=MAX_EXTERNAL_NAME_CHARS));
            check_external(name, params)
        },
        uuid: filled(params.opt_text("uuid", 0..=MAX_UUID_CHARS)),
        parent: None,
        external_thread_id: external.filter(|_| thread_id.is_none()),
        thread_id,
        pushed: in_inbox.then(|| Pushed::Inbox(inbox(params))),
        by_address: false,
        files: Vec::new(),
        wait: ctx.shared.profile.asks_to_wait(&ctx.headers),
    }
}

/// Notes what is wrong with the name under which a message is sent that is none of a user's.
pub(crate) fn check_external(name: Option<String>, params: &mut Reader<'_>) -> Option<String> {
    if let Some(Err(wrong)) = name.as_deref().map(check_external_name) {
        params.error("external_user_name", wrong.to_string());
    }
    name
}

/// What an activity or a discussion says.
fn inbox(params: &mut Reader<'_>) -> NewInbox {
    let mut errors = FieldErrors::new();
    let author = params.value("author").and_then(|value| read_author(value, &mut errors));
    let item = params.value("thread").and_then(|value| read_item(value, &mut errors));
    for (name, texts) in errors {
        texts.into_iter().for_each(|text| params.error(&name, text));
    }
    NewInbox {
        author,
        title: params.opt_text("title", 0..=MAX_TITLE_CHARS).unwrap_or_default(),
        body: params.opt_text("body", 0..=MAX_BODY_BYTES).unwrap_or_default(),
        item,
    }
}

/// The flow a message goes to: the path's, the flow token's own, or the one named.
async fn target(ctx: &RequestContext) -> Result<Arc<Room>, Failure> {
    if !ctx.segment("flow").is_empty() {
        return ctx.room(FlowAction::Post).await;
    }
    let actor = ctx.actor()?;
    if let Actor::FlowToken { room, .. } = actor {
        return Ok(ctx.app().own_room(actor, *room).await?);
    }
    let mut params = ctx.params.reader();
    let flow = params.required_text("flow", 1..=300);
    params.finish()?;
    Ok(ctx.app().room_named(actor, &flow, FlowAction::Post).await?)
}

async fn post(ctx: &RequestContext, room: Arc<Room>, mut new: NewPost) -> Answer {
    let actor = ctx.actor()?;
    let classic_user = ctx.shared.profile.classic && actor.user_id().is_some();
    new.wait |= classic_user;
    match ctx.app().post(actor, room.clone(), new).await? {
        Posted::Accepted => Ok(encoded(StatusCode::ACCEPTED, "{}")),
        Posted::Message(view) => {
            let status = if ctx.shared.profile.classic { StatusCode::CREATED } else { StatusCode::OK };
            let bytes = ctx.app().encoder().message(&view, Place::Flow(&room.flow.id));
            let addresses = &ctx.app().config().addresses;
            let comments = addresses.comments(&room.organization, &room.flow, view.message.id);
            Ok(with_header(encoded(status, bytes), LINK, &format!("<{comments}>; rel=\"comments\"")))
        }
    }
}

pub(crate) fn list(ctx: RequestContext) -> Listing {
    Box::pin(async move {
        let room = ctx.room(FlowAction::Read).await?;
        let query = query(&ctx)?;
        find(&ctx, &room, query, "messages").await
    })
}

pub(crate) fn list_thread(ctx: RequestContext) -> Listing {
    Box::pin(async move {
        let room = ctx.room(FlowAction::Read).await?;
        let thread = ctx.segment("thread");
        let root = ctx.app().thread_root(&room, thread)?;
        let query = MessageQuery { thread_root: Some(root), ..query(&ctx)? };
        find(&ctx, &room, query, &format!("threads/{thread}/messages")).await
    })
}

pub(crate) fn list_comments(ctx: RequestContext) -> Listing {
    Box::pin(async move {
        let room = ctx.room(FlowAction::Read).await?;
        let parent = ctx.id("message")?;
        let parent = ctx.app().message(&room, parent).await?.message;
        let query = MessageQuery { parent: Some(parent.id), thread_root: parent.thread_root, ..query(&ctx)? };
        find(&ctx, &room, query, &format!("messages/{}/comments", parent.id)).await
    })
}

/// What a list of messages asks for.
pub(crate) fn query(ctx: &RequestContext) -> Result<MessageQuery, Failure> {
    let mut params = ctx.params.reader();
    let mut events = Vec::new();
    for name in params.list_of_text("event").unwrap_or_default().into_iter().collect::<BTreeSet<_>>() {
        match Event::parse(&name).filter(|event| event.is_listed()) {
            Some(event) => events.push(event),
            None => params.error("event", format!("{name} is not a kind of message that is listed")),
        }
    }
    let tags: BTreeSet<String> = params.list_of_text("tags").unwrap_or_default().into_iter().collect();
    if tags.len() > MAX_TAGS {
        params.error("tags", format!("can't be more than {MAX_TAGS}"));
    }
    let search = params.opt_text("search", 0..=MAX_SEARCH_CHARS).filter(|text| !text.is_empty());
    let search = search.map(|text| search::query(&text));
    if search.as_ref().is_some_and(|words| words.len() > MAX_SEARCH_WORDS) {
        params.error("search", format!("can't have more than {MAX_SEARCH_WORDS} words"));
    }
    let query = MessageQuery {
        events,
        limit: params.number_in("limit", 1..=100, 30),
        skip: params.number_in("skip", 0..=MAX_SKIP, 0),
        sort: params
            .opt_choice("sort", &[("asc", Sort::Ascending), ("desc", Sort::Descending)])
            .unwrap_or_default(),
        since: params.opt_number_in("since_id", 0..=i64::MAX).map(MessageId),
        until: params.opt_number_in("until_id", 0..=i64::MAX).map(MessageId),
        beyond: params.opt_number_in("beyond_id", 0..=i64::MAX).map(MessageId),
        tags: ctx.shared.profile.tags(tags.into_iter().collect()),
        any_tag: params.opt_choice("tag_mode", &[("and", false), ("or", true)]).unwrap_or_default(),
        search,
        tags_widen: false,
        thread_root: None,
        parent: None,
    };
    params.finish()?;
    Ok(query)
}

/// Answers with a list of messages, which has this path below its flow.
async fn find(ctx: &RequestContext, room: &Room, query: MessageQuery, path: &str) -> Answer {
    expect_answer(LIST_BYTES)?;
    let list = ctx.app().list_messages(room, query.clone()).await?;
    let flow = || ctx.app().config().addresses.flow(&room.organization, &room.flow);
    Ok(listed(ctx, list, &query, || [&flow(), "/", path].concat()))
}

/// A list of messages, with a link to where it goes on at this address.
pub(crate) fn listed(
    ctx: &RequestContext,
    list: MessageList,
    query: &MessageQuery,
    address: impl FnOnce() -> String,
) -> Response {
    let answer = encoded(StatusCode::OK, list.json);
    match list.next {
        None => answer,
        Some(next) => {
            let next = next_address(ctx, query, &address(), next);
            with_header(answer, LINK, &["<", &next, ">; rel=\"next\""].concat())
        }
    }
}

/// The address of the part of a list that goes on beyond `next`.
fn next_address(ctx: &RequestContext, query: &MessageQuery, address: &str, next: MessageId) -> String {
    let mut params = ctx.params.reader();
    let mut given = Vec::with_capacity(4);
    for name in ["event", "tags"] {
        given.extend(params.list_of_text(name).map(|list| (name, list.join(","))));
    }
    for name in ["tag_mode", "search", "sort", "limit"] {
        given.extend(params.opt_text(name, 0..=MAX_SEARCH_CHARS).map(|text| (name, text)));
    }
    let id = |name, id: Option<MessageId>| id.map(|id| (name, id.to_string()));
    // A search has no other bounds.
    let (since, until) = match (&query.search, query.sort) {
        (Some(_), _) => {
            given.extend(id("beyond_id", Some(next)));
            (None, None)
        }
        (None, Sort::Descending) => (query.since, Some(next)),
        (None, Sort::Ascending) => (Some(next), query.until),
    };
    given.extend(id("since_id", since));
    given.extend(id("until_id", until));
    let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    eddyline_model::applications::with_query(address, &given)
}

pub(crate) async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    let view: MessageView = ctx.app().message(&room, ctx.id("message")?).await?;
    let bytes = ctx.app().encoder().message(&view, Place::Flow(&room.flow.id));
    Ok(encoded(StatusCode::OK, bytes))
}

pub(crate) async fn edit(mut ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    let id = ctx.id("message")?;
    let mut params = ctx.params.reader();
    let edit = Edit {
        content: params.opt_text("content", 0..=usize::MAX),
        tags: params.list_of_text("tags").map(|tags| ctx.shared.profile.tags(tags)),
    };
    params.finish()?;
    ctx.drop_params();
    ctx.app().edit_message(ctx.actor()?, &room, id, edit).await?;
    Ok(done())
}

pub(crate) async fn delete(ctx: RequestContext) -> Answer {
    let room = ctx.room(FlowAction::Read).await?;
    let deletion = ctx.app().delete_message(ctx.actor()?, &room, ctx.id("message")?).await?;
    Ok(match deletion {
        Deletion::Remove => nothing(),
        Deletion::Truncate => done(),
    })
}
