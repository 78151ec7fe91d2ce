//! Messages of flows; listing, reading and deleting also serve private conversations
//! (specification, section 4, Messages).

use std::collections::BTreeSet;
use std::sync::Arc;

use eddyline_app::{
    Actor, Edit, Error, FlowRoom, LIST_BYTES, NewAttachment, NewInbox, NewPost, Posted, Pushed,
    Room, RoomsMessages, TagEdit, Uploaded,
};
use eddyline_model::messages::{Around, MessageCursor, MessageKind, MessageQuery, Sort};
use eddyline_model::policy::{Deletion, FlowAction, MessageAction};
use eddyline_model::search::{self, SearchQuery};
use eddyline_model::{MessageId, Timestamp, UserId};
use eddyline_wire::params::{ParamReader, Params};
use eddyline_wire::requests::{
    ChatContent, CommentEvent, CommentParent, DEFAULT_LIST, EditMessage, InboxEntry, ListMentions,
    ListMessages, PostEvent, PostOptions, PostThread, SearchEverywhere, TagMode, ToFlow,
};
use eddyline_wire::{OneOf, Request};
use http::StatusCode;
use http::header::LINK;

use axum::response::Response;

use crate::answer::{Answer, done, encoded, nothing};
use crate::context::RequestContext;
use crate::handler::UnparsedParams;
use crate::response::with_header;
use crate::response_budget::expect_response_bytes;
use crate::uploads::{self, FileParameters, Received};

/// The order of the parameters in the link to where a list goes on.
const IN_LINKS: [&str; 14] = [
    "event",
    "tags",
    "tag_mode",
    "html",
    "search",
    "user",
    "since_time",
    "until_time",
    "sort",
    "limit",
    "before",
    "beyond_id",
    "since_id",
    "until_id",
];

/// What posts a message.
pub(crate) type PostMessage = (
    PostEvent,
    PostOptions,
    PostThread,
    OneOf<ChatContent, InboxEntry>,
);
/// The same where the address names no flow.
pub(crate) type PostMessageTo = (PostMessage, ToFlow);
/// What comments on a message.
pub(crate) type PostComment = (CommentEvent, PostOptions, ChatContent);
/// The same where the address names no message.
pub(crate) type PostCommentTo = (PostComment, ToFlow, CommentParent);

/// Posts a message with parameters that depend on its kind.
pub(crate) async fn send<P>(ctx: RequestContext, request: UnparsedParams<P>) -> Answer {
    send_params(ctx, request.into_params()).await
}

async fn send_params(mut ctx: RequestContext, params: Params) -> Answer {
    let files = std::mem::take(&mut ctx.files);
    let mut reader = params.reader();
    let event = match posted_event(&ctx, &mut reader) {
        Ok(event) => event,
        // What else the message holds does not matter, but whether the flow is there does.
        Err(denied) => {
            target(&ctx, &params).await?;
            return Err(denied);
        }
    };
    let in_inbox = matches!(event, MessageKind::Activity | MessageKind::Discussion);
    uploads::check_places(&files, event == MessageKind::File, in_inbox, &mut reader);
    let mut new = new_post(&ctx, &mut reader, event);
    let segment = ctx.segment("thread");
    if !segment.is_empty() {
        new.thread_id = Some(segment.to_owned());
        new.external_thread_id = None;
        new.by_address = true;
    }
    let wrong = ["thread_id", "external_thread_id"]
        .into_iter()
        .any(|name| reader.is_wrong(name));
    if new.pushed.is_some() && new.thread_id.is_none() && new.external_thread_id.is_none() && !wrong
    {
        reader.error("external_thread_id", "is required, or thread_id");
    }
    reader.finish()?;
    let flow = target(&ctx, &params).await?;
    if !segment.is_empty() {
        // Of the address, so its absence is a matter of the address.
        ctx.app().messages().thread_root(&flow, segment)?;
    }
    // What was taken in is held until it is posted.
    let _held;
    (new.files, _held) = match event {
        MessageKind::File => file_of(&ctx, &flow.clone().into(), files, &params).await?,
        _ => uploads::attachments(files)?,
    };
    // Many requests of one caller may wait from here on.
    drop(params);
    post(&ctx, flow, new).await
}

/// The file of a file message. Its bytes are taken after the quota of the room was checked.
pub(crate) async fn file_of(
    ctx: &RequestContext,
    room: &Room,
    files: Vec<Received>,
    params: &Params,
) -> Result<(Vec<NewAttachment>, Vec<Uploaded>), Error> {
    ctx.app().files().may_send(room).await?;
    let described = FileParameters::read(params, !files.is_empty(), ctx.shared.json_upload).await?;
    let (attachment, held) = uploads::content((ctx.app(), ctx.actor()), files, described).await?;
    Ok((vec![attachment], vec![held]))
}

/// Comments on the message that the path names, or that the parameters do.
pub(crate) async fn comment<P>(ctx: RequestContext, request: UnparsedParams<P>) -> Answer {
    comment_params(ctx, request.into_params()).await
}

async fn comment_params(ctx: RequestContext, params: Params) -> Answer {
    let mut reader = params.reader();
    CommentEvent::read(&mut reader);
    let parent = match ctx.segment("message") {
        "" => CommentParent::read(&mut reader).map(|parent| parent.message),
        segment => Some(segment.parse().map_err(|_| Error::not_found())?),
    };
    let mut new = new_post(&ctx, &mut reader, MessageKind::Comment);
    reader.finish()?;
    new.parent = parent;
    new.thread_id = None;
    new.external_thread_id = None;
    let flow = target(&ctx, &params).await?;
    drop(params);
    post(&ctx, flow, new).await
}

/// The kinds that can be posted, and who may post which.
fn posted_event(ctx: &RequestContext, reader: &mut ParamReader<'_>) -> Result<MessageKind, Error> {
    let name = PostEvent::read(reader)
        .and_then(|post| post.event)
        .unwrap_or_default();
    match MessageKind::parse(&name) {
        Some(event @ (MessageKind::Message | MessageKind::Status | MessageKind::File)) => {
            return Ok(event);
        }
        Some(MessageKind::Comment) => {
            reader.error("event", "comment goes to the comments of a message");
        }
        Some(event @ (MessageKind::Activity | MessageKind::Discussion)) => {
            return if ctx.actor().may_integrate() {
                Ok(event)
            } else {
                Err(Error::denied())
            };
        }
        Some(_) => reader.error("event", format!("{name} can't be posted here")),
        None if name.is_empty() => {}
        None => reader.error("event", "is not a known event"),
    }
    Ok(MessageKind::Message)
}

fn new_post(ctx: &RequestContext, reader: &mut ParamReader<'_>, event: MessageKind) -> NewPost {
    let in_inbox = matches!(event, MessageKind::Activity | MessageKind::Discussion);
    if !in_inbox {
        for name in ["thread", "attachments"] {
            if reader.has(name) {
                reader.error(name, "goes with activity and discussion messages only");
            }
        }
    }
    let PostThread {
        thread_id,
        external_thread_id,
    } = PostThread::read(reader).unwrap_or_default();
    let PostOptions {
        tags,
        uuid,
        external_user_name,
    } = PostOptions::read(reader).unwrap_or_default();
    let content = match event {
        MessageKind::Activity | MessageKind::Discussion | MessageKind::File => None,
        _ => ChatContent::read(reader),
    };
    NewPost {
        event,
        content: content.unwrap_or_default().content,
        tags: ctx.shared.profile.tags(tags.unwrap_or_default()),
        external_user_name,
        uuid,
        parent: None,
        external_thread_id: external_thread_id.filter(|_| thread_id.is_none()),
        thread_id,
        pushed: in_inbox.then(|| Pushed::Inbox(inbox(reader))),
        by_address: false,
        files: Vec::new(),
        wait: ctx.shared.profile.asks_to_wait(&ctx.headers),
    }
}

/// What an activity or a discussion says.
fn inbox(reader: &mut ParamReader<'_>) -> NewInbox {
    let InboxEntry {
        author,
        thread,
        title,
        body,
        attachments: _,
    } = InboxEntry::read(reader).unwrap_or_default();
    NewInbox {
        author,
        title: title.unwrap_or_default(),
        body: body.unwrap_or_default(),
        item: thread,
    }
}

/// The flow a message goes to: the path's, the flow token's own, or the one named.
async fn target(ctx: &RequestContext, params: &Params) -> Result<Arc<FlowRoom>, Error> {
    if !ctx.segment("flow").is_empty() {
        return ctx.flow(FlowAction::Post).await;
    }
    let actor = ctx.actor();
    if let Actor::FlowToken { room, .. } = actor {
        return ctx.app().rooms().of_flow_token(actor, *room).await;
    }
    let mut reader = params.reader();
    reader.require("flow");
    let named = ToFlow::read(&mut reader).unwrap_or_default();
    reader.finish()?;
    ctx.app()
        .rooms()
        .find_named(actor, &named.flow.unwrap_or_default(), FlowAction::Post)
        .await
}

async fn post(ctx: &RequestContext, flow: Arc<FlowRoom>, mut new: NewPost) -> Answer {
    let actor = ctx.actor();
    let classic_user = ctx.shared.profile.classic && actor.user_id().is_some();
    new.wait |= classic_user;
    let room = Room::from(flow.clone());
    match ctx.app().messages().post(actor, room.clone(), new).await? {
        Posted::Accepted => Ok(encoded(StatusCode::ACCEPTED, "{}")),
        Posted::Message(view) => {
            let status = if ctx.shared.profile.classic {
                StatusCode::CREATED
            } else {
                StatusCode::OK
            };
            let bytes = ctx.app().encoder().message(&view, room.reference());
            let addresses = &ctx.app().config().addresses;
            let comments = addresses.comments(&flow.organization, &flow.flow, view.message.id);
            Ok(with_header(
                encoded(status, bytes),
                LINK,
                &format!("<{comments}>; rel=\"comments\""),
            ))
        }
    }
}

pub(crate) async fn list(ctx: RequestContext, request: UnparsedParams<ListMessages>) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let wanted = request.read_checked(check_around)?;
    find(&ctx, &room, &wanted, query(&ctx, &wanted), "messages").await
}

pub(crate) async fn list_thread(
    ctx: RequestContext,
    request: UnparsedParams<ListMessages>,
) -> Answer {
    let flow = ctx.flow(FlowAction::Read).await?;
    let thread = ctx.segment("thread");
    let root = ctx.app().messages().thread_root(&flow, thread)?;
    let wanted = request.read_checked(check_around)?;
    let query = MessageQuery {
        thread_root: Some(root),
        ..query(&ctx, &wanted)
    };
    let path = format!("threads/{thread}/messages");
    find(&ctx, &flow.into(), &wanted, query, &path).await
}

pub(crate) async fn list_comments(
    ctx: RequestContext,
    request: UnparsedParams<ListMessages>,
) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let parent = ctx.id("message")?;
    let parent = ctx.app().messages().get(&room, parent).await?.message;
    let wanted = request.read_checked(check_around)?;
    let query = MessageQuery {
        parent: Some(parent.id),
        thread_root: parent.thread_root,
        ..query(&ctx, &wanted)
    };
    let path = format!("messages/{}/comments", parent.id);
    find(&ctx, &room, &wanted, query, &path).await
}

/// A list around a place has no other bounds.
fn check_around(wanted: &mut ListMessages, reader: &mut ParamReader<'_>) {
    let around = match (wanted.around_id, wanted.around_time) {
        (Some(_), _) => "around_id",
        (None, Some(_)) => "around_time",
        (None, None) => return,
    };
    let others = [
        (
            "around_time",
            wanted.around_time.is_some() && around != "around_time",
        ),
        ("since_id", wanted.since_id.is_some()),
        ("until_id", wanted.until_id.is_some()),
        ("beyond_id", wanted.beyond_id.is_some()),
        ("sort", wanted.sort.is_some()),
        ("skip", wanted.skip.is_some()),
        ("search", wanted.search.is_some()),
        ("user", wanted.user.is_some()),
        ("since_time", wanted.since_time.is_some()),
        ("until_time", wanted.until_time.is_some()),
    ];
    for (name, _) in others.into_iter().filter(|(_, given)| *given) {
        reader.error(name, format!("can't go with {around}"));
    }
}

/// Several values of a parameter, each once and in their order.
fn once<T: Ord + Clone>(values: Option<&Vec<T>>) -> Vec<T> {
    let distinct: BTreeSet<T> = values.into_iter().flatten().cloned().collect();
    distinct.into_iter().collect()
}

/// The words of a search; those of an empty text are none.
pub(crate) fn search_words(text: Option<&str>) -> Option<SearchQuery> {
    text.filter(|text| !text.is_empty()).map(search::query)
}

/// What a list of messages asks for.
fn query(ctx: &RequestContext, wanted: &ListMessages) -> MessageQuery {
    let around_id = wanted.around_id.map(MessageId).map(Around::Message);
    let around_time = wanted.around_time.map(Timestamp).map(Around::Time);
    MessageQuery {
        events: once(wanted.event.as_ref()),
        limit: wanted.limit.unwrap_or(DEFAULT_LIST),
        skip: wanted.skip.unwrap_or_default(),
        sort: wanted.sort.unwrap_or_default(),
        since: wanted.since_id.map(MessageId),
        until: wanted.until_id.map(MessageId),
        beyond: wanted.beyond_id.map(MessageId),
        tags: ctx.shared.profile.tags(once(wanted.tags.as_ref())),
        any_tag: wanted.tag_mode == Some(TagMode::Or),
        search: search_words(wanted.search.as_deref()),
        by: wanted.user.map(UserId),
        since_time: wanted.since_time.map(Timestamp),
        until_time: wanted.until_time.map(Timestamp),
        around: around_id.or(around_time),
        ..MessageQuery::default()
    }
}

/// Answers with a list of messages and a link to its next part. `path` is the address of the list
/// below that of its room.
async fn find(
    ctx: &RequestContext,
    room: &Room,
    wanted: &ListMessages,
    query: MessageQuery,
    path: &str,
) -> Answer {
    expect_response_bytes(LIST_BYTES)?;
    let mut list = ctx.app().messages().list(room, query.clone()).await?;
    if wanted.html == Some(true) {
        list = list.with_html();
    }
    let answer = encoded(StatusCode::OK, list.json);
    let address = || [&room.address(&ctx.app().config().addresses), "/", path].concat();
    let mut links = Vec::new();
    if let Some(previous) = list.previous {
        links.push((earlier_address(wanted, &address(), previous), "prev"));
    }
    if let Some(next) = list.next {
        links.push((next_address(wanted, &query, &address(), next), "next"));
    }
    Ok(with_links(answer, &links))
}

/// The answer with a header `Link` that has these addresses with their relations.
fn with_links(answer: Response, links: &[(String, &str)]) -> Response {
    if links.is_empty() {
        return answer;
    }
    let each: Vec<String> = links
        .iter()
        .map(|(address, relation)| ["<", address, ">; rel=\"", relation, "\""].concat())
        .collect();
    with_header(answer, LINK, &each.join(", "))
}

/// The address of the earlier part of a list around a place.
fn earlier_address(wanted: &ListMessages, address: &str, before: MessageId) -> String {
    let rest = ListMessages {
        around_id: None,
        around_time: None,
        until_id: Some(before.0),
        ..wanted.clone()
    };
    link_to(address, rest.to_query())
}

/// The address of the part of a list that goes on beyond `next`.
fn next_address(
    wanted: &ListMessages,
    query: &MessageQuery,
    address: &str,
    next: MessageId,
) -> String {
    let sort = match query.around {
        Some(_) => Some(Sort::Ascending),
        None => wanted.sort,
    };
    // A search has no other bounds.
    let (since, until, beyond) = match (&query.search, sort.unwrap_or_default()) {
        (Some(_), _) => (None, None, Some(next)),
        (None, Sort::Descending) => (query.since, Some(next), None),
        (None, Sort::Ascending) => (Some(next), query.until, None),
    };
    let number = |id: Option<MessageId>| id.map(|id| id.0);
    let (since_id, until_id, beyond_id) = (number(since), number(until), number(beyond));
    let rest = ListMessages {
        skip: None,
        since_id,
        until_id,
        beyond_id,
        around_id: None,
        around_time: None,
        sort,
        ..wanted.clone()
    };
    link_to(address, rest.to_query())
}

/// An address with these parameters in the order of links.
fn link_to(address: &str, mut given: Vec<(String, String)>) -> String {
    given.sort_by_key(|(name, _)| IN_LINKS.iter().position(|known| known == name));
    let given: Vec<(&str, &str)> = given
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    eddyline_model::applications::with_query(address, &given)
}

/// Searches all rooms of the caller.
pub(crate) async fn search_everywhere(
    ctx: RequestContext,
    request: UnparsedParams<SearchEverywhere>,
) -> Answer {
    ctx.actor().user()?;
    let wanted = request.read_checked(|wanted: &mut SearchEverywhere, reader| {
        let is_empty = search_words(wanted.search.as_deref()).is_none()
            && wanted.tags.as_ref().is_none_or(Vec::is_empty);
        if is_empty {
            reader.error("search", "is required, or tags");
        }
    })?;
    let query = MessageQuery {
        events: once(wanted.event.as_ref()),
        limit: wanted.limit.unwrap_or(DEFAULT_LIST),
        tags: ctx.shared.profile.tags(once(wanted.tags.as_ref())),
        any_tag: wanted.tag_mode == Some(TagMode::Or),
        search: search_words(wanted.search.as_deref()),
        by: wanted.user.map(UserId),
        since_time: wanted.since_time.map(Timestamp),
        until_time: wanted.until_time.map(Timestamp),
        ..MessageQuery::default()
    };
    expect_response_bytes(LIST_BYTES)?;
    let messages = ctx.app().messages();
    let found = messages.search_everywhere(ctx.actor(), query, wanted.before);
    let found = found.await?;
    let next = |before| {
        let rest = SearchEverywhere {
            before: Some(before),
            ..wanted.clone()
        };
        rest.to_query()
    };
    Ok(everywhere(&ctx, &found, wanted.html, "/search", next))
}

/// Lists what mentions the caller in all rooms.
pub(crate) async fn mentions(ctx: RequestContext, request: UnparsedParams<ListMentions>) -> Answer {
    ctx.actor().user()?;
    let wanted = request.read()?;
    let limit = wanted.limit.unwrap_or(DEFAULT_LIST);
    expect_response_bytes(LIST_BYTES)?;
    let messages = ctx.app().messages();
    let found = messages.mentions(ctx.actor(), limit, wanted.before).await?;
    let next = |before| {
        let rest = ListMentions {
            before: Some(before),
            ..wanted.clone()
        };
        rest.to_query()
    };
    Ok(everywhere(&ctx, &found, wanted.html, "/mentions", next))
}

/// The answer that is a list over several rooms, with a link to its next part.
fn everywhere(
    ctx: &RequestContext,
    found: &RoomsMessages,
    html: Option<bool>,
    path: &str,
    next: impl FnOnce(MessageCursor) -> Vec<(String, String)>,
) -> Response {
    let mut found = found.encode(ctx.app().encoder());
    if html == Some(true) {
        found = found.with_html();
    }
    let address = [&ctx.app().config().addresses.base, path].concat();
    let link = found
        .next
        .map(|place| (link_to(&address, next(place)), "next"));
    with_links(encoded(StatusCode::OK, found.json), link.as_slice())
}

pub(crate) async fn get(ctx: RequestContext) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let view = ctx.app().messages().get(&room, ctx.id("message")?).await?;
    let bytes = ctx.app().encoder().message(&view, room.reference());
    Ok(encoded(StatusCode::OK, bytes))
}

pub(crate) async fn edit(ctx: RequestContext, request: UnparsedParams<EditMessage>) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let id = ctx.id("message")?;
    let edit = message_edit(&ctx, request.read()?)?;
    ctx.app()
        .messages()
        .edit(ctx.actor(), &room, id, edit)
        .await?;
    Ok(done())
}

fn message_edit(ctx: &RequestContext, request: EditMessage) -> Result<Edit, Error> {
    let EditMessage {
        content,
        tags,
        add_tags,
        remove_tags,
    } = request;
    let in_form = |tags: Option<Vec<String>>| ctx.shared.profile.tags(tags.unwrap_or_default());
    let amends = add_tags.is_some() || remove_tags.is_some();
    let tags = match tags {
        Some(_) if amends => {
            let text = "can't go with add_tags or remove_tags, since it names all tags";
            return Err(Error::invalid("tags", text));
        }
        None if !amends => None,
        None => Some(TagEdit::Amend {
            add: in_form(add_tags),
            remove: in_form(remove_tags),
        }),
        all => Some(TagEdit::Replace(in_form(all))),
    };
    Ok(Edit { content, tags })
}

pub(crate) async fn delete(ctx: RequestContext) -> Answer {
    let room = ctx.room(MessageAction::Read).await?;
    let deletion = ctx
        .app()
        .messages()
        .delete(ctx.actor(), &room, ctx.id("message")?)
        .await?;
    Ok(match deletion {
        Deletion::Remove => nothing(),
        Deletion::Truncate => done(),
    })
}
