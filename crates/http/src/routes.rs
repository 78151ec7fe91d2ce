//! The table of endpoints, and finding one in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddyline_model::scopes::Scope::{Flow, Integration, Manage, Private};
use http::Method;

use crate::context::{PathParams, RequestContext};
use crate::endpoint::Shape::{Empty, Many, One, Stream};
use crate::endpoint::{COMMENTS, Callers, Endpoint, NEXT};
use crate::{
    avatars, files, flow_users, flows, groups, health, invitations, messages, oauth, organizations, private,
    push, reading, scim, sources, stream, threads, users,
};

const FLOW: &str = "/flows/{organization}/{flow}";
const JOIN_LINK: &str = "/flows/{organization}/{flow}/join_url";

/// Everything of the API but the stream.
pub(crate) fn api() -> Vec<Endpoint> {
    let mut all = flow_endpoints();
    all.extend(sending_endpoints());
    all.extend(message_endpoints());
    all.extend(flow_user_endpoints());
    all.extend(users::endpoints());
    all.extend(avatars::endpoints());
    all.extend(files::endpoints());
    all.extend(organizations::endpoints());
    all.extend(groups::endpoints());
    all.extend(invitations::endpoints());
    all.extend(private::endpoints());
    all.extend(reading::endpoints());
    all.extend(threads::endpoints());
    all.extend(push::endpoints());
    all.extend(sources::endpoints());
    all.extend(oauth::endpoints());
    all.extend(scim::endpoints());
    all.extend(health());
    all
}

/// What only the classic profile has beside that.
pub(crate) fn classic() -> Vec<Endpoint> {
    vec![oauth::applications::endpoint()]
}

fn flow_endpoints() -> Vec<Endpoint> {
    let users = "1 adds the users of each flow";
    let after = "Only the flows behind the one with this id";
    vec![
        Endpoint::new(Method::GET, "/flows", "The flows you are in", flows::joined)
            .scopes(&[Flow, Manage, Integration])
            .takes("users", "boolean", users)
            .takes("after", "string", after)
            .answers(200, "Your flows; the header Link says where the list goes on", Some(Many("Flow")))
            .tells(&[NEXT]),
        Endpoint::new(Method::GET, "/flows/all", "The flows you are in or could join", flows::all)
            .scopes(&[Flow, Manage, Integration])
            .takes("users", "boolean", users)
            .takes("after", "string", after)
            .answers(200, "The flows; the header Link says where the list goes on", Some(Many("Flow")))
            .tells(&[NEXT]),
        Endpoint::new(Method::GET, "/flows/find", "A flow by its id", flows::find)
            .can_miss()
            .scopes(&[Flow, Manage, Integration])
            .needs("id", "string", "The flow's id")
            .answers(200, "The flow, with its users", Some(One("Flow"))),
        Endpoint::new(Method::GET, FLOW, "A flow", flows::get).scopes(&[Flow, Manage, Integration]).answers(
            200,
            "The flow, with its users",
            Some(One("Flow")),
        ),
        Endpoint::new(Method::POST, "/flows/{organization}", "Make a flow", flows::create)
            .can_conflict()
            .scopes(&[Manage])
            .needs("name", "string", "1 to 100 characters")
            .answers(201, "The new flow, with you in it", Some(One("Flow"))),
        Endpoint::new(Method::PUT, FLOW, "Change a flow, join it, or show and hide its tab", flows::update)
            .can_conflict()
            .scopes(&[Flow, Manage])
            .takes("name", "string", "1 to 100 characters; the addresses stay")
            .takes("description", "string", "What the flow is for; up to 1000 characters")
            .takes("open", "boolean", "Whether your clients show a tab; true joins")
            .takes("disabled", "boolean", "Whether the flow is archived")
            .takes("access_mode", "string", "invitation, link or organization")
            .answers(200, "The flow, with its users", Some(One("Flow"))),
        Endpoint::new(Method::POST, JOIN_LINK, "Replace the join link of a flow", flows::replace_join_link)
            .scopes(&[Manage])
            .answers(200, "The flow, with its users; the link before leads nowhere", Some(One("Flow"))),
    ]
}

fn sending_endpoints() -> Vec<Endpoint> {
    let send = |path, summary| {
        Endpoint::new(Method::POST, path, summary, messages::send)
            .callers(Callers::UsersAndFlowTokens)
            .can_conflict()
            .takes_uploads()
            .needs("event", "string", "message, status or file; activity and discussion through an application")
            .takes("content", "string", "1 to 8096 characters; of a file the file, or data, content_type and file_name; not of activity and discussion")
            .takes("attachments", "object", "Files of activity and discussion, by the id that the body has for them, in a form with parts")
            .takes("title", "string", "Of activity and discussion: what happened")
            .takes("body", "string", "Of activity and discussion: what was said, in HTML")
            .takes("author", "object", "Of activity and discussion: name and avatar of the person who did it")
            .takes("thread", "object", "The new state of the thread; of activity and discussion only")
            .takes("external_thread_id", "string", "Your own id of the thread it goes to")
            .takes("tags", "array", "Tags, also as a comma-separated text")
            .takes("uuid", "string", "Your own id for it; repeating a post with it is safe")
            .takes("external_user_name", "string", "A sender's name; makes the message anonymous")
            .takes("thread_id", "string", "The thread it goes to")
            .header("X-Service-Wait-For-Message", "true waits for the message and answers with it")
            .answers(202, "It is on disk", Some(Empty))
            .answers(200, "The message, when the wait header is set", Some(One("Message")))
            .tells(&[COMMENTS])
            .unless_classic()
            .answers(201, "The message", Some(One("Message")))
            .tells(&[COMMENTS])
            .in_classic()
    };
    let comment = |path, summary| {
        Endpoint::new(Method::POST, path, summary, messages::comment)
            .callers(Callers::UsersAndFlowTokens)
            .can_conflict()
            .needs("content", "string", "1 to 8096 characters")
            .takes("event", "string", "comment")
            .takes("tags", "array", "Tags, also as a comma-separated text")
            .takes("uuid", "string", "Your own id for it; repeating a post with it is safe")
            .takes("external_user_name", "string", "A sender's name; makes the comment anonymous")
            .header("X-Service-Wait-For-Message", "true waits for the message and answers with it")
            .answers(202, "It is on disk", Some(Empty))
            .answers(200, "The comment, when the wait header is set", Some(One("Message")))
            .tells(&[COMMENTS])
            .unless_classic()
            .answers(201, "The comment", Some(One("Message")))
            .tells(&[COMMENTS])
            .in_classic()
    };
    let flow = "The flow: its id, organization/flow or organization:flow; not with a flow token";
    vec![
        send("/messages", "Post a message").can_miss().scopes(&[Flow]).takes("flow", "string", flow),
        send("/flows/{organization}/{flow}/messages", "Post a message to a flow").scopes(&[Flow]),
        send("/flows/{organization}/{flow}/threads/{thread}/messages", "Post a message to a thread")
            .scopes(&[Flow]),
        comment("/comments", "Comment on a message")
            .can_miss()
            .scopes(&[Flow])
            .takes("flow", "string", flow)
            .needs("message", "integer", "The message to comment on"),
        comment("/flows/{organization}/{flow}/messages/{message}/comments", "Comment on a message of a flow")
            .scopes(&[Flow]),
    ]
}

fn message_endpoints() -> Vec<Endpoint> {
    let list = |path, summary, handler: fn(RequestContext) -> messages::Listing| {
        Endpoint::new(Method::GET, path, summary, handler)
            .scopes(&[Flow])
            .lists_messages()
            .takes("tags", "string", "Tags, comma-separated")
            .takes("tag_mode", "string", "and or or")
    };
    let message = "/flows/{organization}/{flow}/messages/{message}";
    vec![
        list("/flows/{organization}/{flow}/messages", "List or search messages", messages::list),
        list(
            "/flows/{organization}/{flow}/threads/{thread}/messages",
            "List a thread",
            messages::list_thread,
        ),
        list(
            "/flows/{organization}/{flow}/messages/{message}/comments",
            "List comments",
            messages::list_comments,
        ),
        Endpoint::new(Method::GET, message, "A message", messages::get).scopes(&[Flow]).answers(
            200,
            "The message",
            Some(One("Message")),
        ),
        Endpoint::new(Method::PUT, message, "Edit a message", messages::edit)
            .scopes(&[Flow])
            .takes("content", "string", "The new text, of your own chat message or comment")
            .takes("tags", "array", "All tags it is to have")
            .answers(200, "Done", Some(Empty)),
        Endpoint::new(Method::DELETE, message, "Delete a message", messages::delete)
            .scopes(&[Flow])
            .answers(200, "Your chat message or comment is empty now", Some(Empty))
            .answers(204, "The message is gone", None),
    ]
}

fn flow_user_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/flows/{organization}/{flow}/users",
            "The users of a flow",
            flow_users::list,
        )
        .scopes(&[Flow, Manage])
        .answers(200, "The users", Some(Many("User"))),
        Endpoint::new(
            Method::POST,
            "/flows/{organization}/{flow}/users",
            "Add a user to a flow",
            flow_users::add,
        )
        .can_conflict()
        .scopes(&[Manage])
        .needs("id", "integer", "A user of the organization")
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::PUT,
            "/flows/{organization}/{flow}/users/{user}",
            "Block a user from a flow, or let them back in",
            flow_users::block,
        )
        .scopes(&[Manage])
        .needs("disabled", "boolean", "true blocks, false unblocks")
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            "/flows/{organization}/{flow}/users/{user}",
            "Leave a flow",
            flow_users::leave,
        )
        .scopes(&[Manage])
        .answers(204, "You are out", None),
    ]
}

/// The stream.
pub(crate) fn streams() -> Vec<Endpoint> {
    let listen = |path, summary, handler: fn(RequestContext) -> stream::Opening| {
        Endpoint::new(Method::GET, path, summary, handler)
            .uncompressed()
            .takes("user", "boolean", "1 adds what is sent to you")
            .takes("accept", "string", "application/json or text/event-stream")
            .takes("active", "string", "true or idle shows you as present")
            .takes("presence", "boolean", "1 tells who comes and goes")
            .header("Last-Event-ID", "The event you had last; the stream goes on after it")
            .takes("last_event_id", "string", "The event you had last, also as the header Last-Event-ID")
            .answers(200, "Messages, for as long as you listen", Some(Stream("StreamEvent")))
    };
    vec![
        listen("/flows", "Listen to flows", stream::several).can_miss().scopes(&[Flow, Private]).takes(
            "filter",
            "string",
            "Flows by id or organization/flow, comma-separated; required unless user=1",
        ),
        listen("/flows/{organization}/{flow}", "Listen to a flow", stream::one).scopes(&[Flow]),
    ]
}

/// Whether the server is well.
pub(crate) fn health() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/healthz", "Whether the server runs", health::alive).public().answers(
            200,
            "It runs",
            Some(Empty),
        ),
        Endpoint::new(Method::GET, "/readyz", "Whether the server can do its work", health::ready)
            .public()
            .answers(200, "It can", Some(Empty)),
    ]
}

/// Where each endpoint is.
pub(crate) struct Routes {
    paths: matchit::Router<Vec<Arc<Endpoint>>>,
}

/// What is at a path.
pub(crate) enum Found {
    /// An endpoint, with the segments of the path that it names.
    Endpoint(Arc<Endpoint>, PathParams),
    /// Endpoints for other methods, which are named.
    OtherMethods(String),
    /// Nothing.
    Nothing,
}

impl Routes {
    /// The endpoints, each under its prefix.
    ///
    /// # Panics
    ///
    /// When two endpoints name the same path in different ways, which is a mistake in the table above.
    pub(crate) fn new(parts: impl IntoIterator<Item = (String, Vec<Endpoint>)>) -> Self {
        let mut by_path: BTreeMap<String, Vec<Arc<Endpoint>>> = BTreeMap::new();
        for (prefix, endpoints) in parts {
            for endpoint in endpoints {
                let path = format!("{prefix}{}", endpoint.path);
                by_path.entry(path).or_default().push(Arc::new(endpoint));
            }
        }
        let mut paths = matchit::Router::new();
        for (path, endpoints) in by_path {
            paths.insert(path, endpoints).expect("paths are told apart");
        }
        Self { paths }
    }

    /// What is at a path that was made regular.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Found {
        let Ok(found) = self.paths.at(path) else { return Found::Nothing };
        let by = |wanted: &Method| found.value.iter().find(|endpoint| endpoint.method == *wanted);
        let endpoint = by(method).or_else(|| match *method {
            Method::HEAD => by(&Method::GET),
            // Endpoints that do not tell PATCH and PUT apart serve both alike.
            Method::PATCH => by(&Method::PUT),
            _ => None,
        });
        let Some(endpoint) = endpoint else { return Found::OtherMethods(methods(found.value)) };
        match PathParams::decode(&found.params) {
            Some(segments) => Found::Endpoint(endpoint.clone(), segments),
            None => Found::Nothing,
        }
    }
}

fn methods(endpoints: &[Arc<Endpoint>]) -> String {
    let all = endpoints.iter().flat_map(|endpoint| match endpoint.method {
        Method::GET => vec!["GET", "HEAD"],
        Method::PUT => vec!["PUT", "PATCH"],
        Method::POST => vec!["POST"],
        Method::DELETE => vec!["DELETE"],
        _ => vec![],
    });
    let mut all: Vec<&str> = all.collect();
    all.dedup();
    all.join(",")
}
