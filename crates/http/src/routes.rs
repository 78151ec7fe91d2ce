//! The table of endpoints, and finding one in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddyline_model::scopes::Scope::{Flow, Integration, Manage, Private};
use eddyline_openapi::AllowedCallers;
use eddyline_openapi::DescribeOperation as _;
use eddyline_openapi::Shape::{Empty, Many, Media, One, Stream};
use eddyline_openapi::response_headers::{COMMENTS, EVENT_ID, NEXT, STREAM_ID};
use eddyline_openapi::tags::{self, Tag};
use http::Method;

use crate::endpoint::Endpoint;
use crate::path_params::PathParams;
use crate::{
    audit, avatars, files, flow_users, flows, groups, health, invitations, media, messages,
    notifications, oauth, organizations, private, push, reactions, read_marks, scim, sources,
    stream, stream_probe, tabs, threads, users,
};

const FLOW: &str = "/flows/{organization}/{flow}";
const JOIN_LINK: &str = "/flows/{organization}/{flow}/join_url";

/// Everything of the API but the stream.
pub(crate) fn api() -> Vec<Endpoint> {
    let lists = [
        (tags::FLOWS, flow_endpoints()),
        (tags::MESSAGES, sending_endpoints()),
        (tags::MESSAGES, message_endpoints()),
        (tags::FLOWS, flow_user_endpoints()),
        (tags::USERS, users::endpoints()),
        (tags::USERS, avatars::endpoints()),
        (tags::FILES, files::endpoints()),
        (tags::ORGANIZATIONS, organizations::endpoints()),
        (tags::ORGANIZATIONS, audit::endpoints()),
        (tags::GROUPS, groups::endpoints()),
        (tags::INVITATIONS, invitations::endpoints()),
        (tags::PRIVATE_CONVERSATIONS, private::endpoints()),
        (tags::MESSAGES, reactions::endpoints()),
        (tags::FLOWS, read_marks::endpoints()),
        (tags::FLOWS, tabs::endpoints()),
        (tags::STREAMING, stream::endpoints()),
        (tags::USERS, notifications::endpoints()),
        (tags::THREADS, threads::endpoints()),
        (tags::PUSH, push::endpoints()),
        (tags::SOURCES, sources::endpoints()),
        (tags::OAUTH, oauth::endpoints()),
        (tags::SCIM, scim::endpoints()),
        (tags::HEALTH, health()),
    ];
    let lists = lists.into_iter();
    lists.flat_map(|(tag, list)| tagged(tag, list)).collect()
}

/// The endpoints of a list, with the tag of those that have none of their own.
fn tagged(tag: Tag, list: Vec<Endpoint>) -> impl Iterator<Item = Endpoint> {
    list.into_iter().map(move |mut endpoint| {
        endpoint.operation.tag.get_or_insert(tag);
        endpoint
    })
}

/// What only the classic profile has beside that.
pub(crate) fn classic() -> Vec<Endpoint> {
    tagged(tags::OAUTH, vec![oauth::applications::endpoint()]).collect()
}

fn flow_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/flows",
            "listFlows",
            "The flows you are in",
            flows::joined,
        )
        .scopes(&[Flow, Manage, Integration])
        .answers(
            200,
            "Your flows; the header Link says where the list goes on",
            Some(Many("Flow")),
        )
        .response_headers(&[NEXT]),
        Endpoint::new(
            Method::GET,
            "/flows/all",
            "listAllFlows",
            "The flows you are in or could join",
            flows::all,
        )
        .scopes(&[Flow, Manage, Integration])
        .answers(
            200,
            "The flows; the header Link says where the list goes on",
            Some(Many("Flow")),
        )
        .response_headers(&[NEXT]),
        Endpoint::new(
            Method::GET,
            "/flows/find",
            "findFlow",
            "A flow by its id",
            flows::find,
        )
        .may_be_not_found()
        .scopes(&[Flow, Manage, Integration])
        .answers(200, "The flow, with its users", Some(One("Flow"))),
        Endpoint::new(Method::GET, FLOW, "getFlow", "A flow", flows::get)
            .scopes(&[Flow, Manage, Integration])
            .answers(200, "The flow, with its users", Some(One("Flow"))),
        Endpoint::new(
            Method::POST,
            "/flows/{organization}",
            "createFlow",
            "Create a flow",
            flows::create,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(201, "The new flow, with you in it", Some(One("Flow"))),
        Endpoint::new(
            Method::PUT,
            FLOW,
            "updateFlow",
            "Change a flow, join it, or show and hide its tab",
            flows::update,
        )
        .may_conflict()
        .scopes(&[Flow, Manage])
        .answers(200, "The flow, with its users", Some(One("Flow"))),
        Endpoint::new(
            Method::POST,
            JOIN_LINK,
            "replaceJoinLink",
            "Replace the join link of a flow",
            flows::replace_join_link,
        )
        .scopes(&[Manage])
        .answers(
            200,
            "The flow, with its users; the link before leads nowhere",
            Some(One("Flow")),
        ),
    ]
}

fn sending_endpoints() -> Vec<Endpoint> {
    let posts = |endpoint: Endpoint| {
        endpoint
            .callers(AllowedCallers::UsersAndFlowTokens)
            .may_conflict()
            .scopes(&[Flow])
            .header(
                "X-Service-Wait-For-Message",
                "With any value, waits for the message and answers with it",
            )
            .answers(202, "It is on disk", Some(Empty))
            .answers(
                200,
                "The message, when the wait header is set",
                Some(One("Message")),
            )
            .response_headers(&[COMMENTS])
            .unless_classic()
            .answers(201, "The message", Some(One("Message")))
            .response_headers(&[COMMENTS])
            .in_classic()
    };
    let flow = "/flows/{organization}/{flow}/messages";
    let thread = "/flows/{organization}/{flow}/threads/{thread}/messages";
    let comments = "/flows/{organization}/{flow}/messages/{message}/comments";
    let send = messages::send::<messages::PostMessage>;
    let send_to = messages::send::<messages::PostMessageTo>;
    let comment = messages::comment::<messages::PostComment>;
    let comment_to = messages::comment::<messages::PostCommentTo>;
    vec![
        posts(Endpoint::new(
            Method::POST,
            "/messages",
            "postMessage",
            "Post a message",
            send_to,
        ))
        .may_be_not_found()
        .takes_uploads(),
        posts(Endpoint::new(
            Method::POST,
            flow,
            "postFlowMessage",
            "Post a message to a flow",
            send,
        ))
        .takes_uploads(),
        posts(Endpoint::new(
            Method::POST,
            thread,
            "postThreadMessage",
            "Post a message to a thread",
            send,
        ))
        .takes_uploads(),
        posts(Endpoint::new(
            Method::POST,
            "/comments",
            "postComment",
            "Comment on a message",
            comment_to,
        ))
        .may_be_not_found(),
        posts(Endpoint::new(
            Method::POST,
            comments,
            "postMessageComment",
            "Comment on a message of a flow",
            comment,
        )),
    ]
}

fn message_endpoints() -> Vec<Endpoint> {
    let messages = "/flows/{organization}/{flow}/messages";
    let message = "/flows/{organization}/{flow}/messages/{message}";
    let thread = "/flows/{organization}/{flow}/threads/{thread}/messages";
    let comments = "/flows/{organization}/{flow}/messages/{message}/comments";
    vec![
        Endpoint::new(
            Method::GET,
            "/search",
            "searchMessages",
            "Search messages in all your flows and private conversations",
            messages::search_everywhere,
        )
        .scopes(&[Flow, Private])
        .answers_messages_of_rooms(),
        Endpoint::new(
            Method::GET,
            "/mentions",
            "listMentions",
            "Messages that mention you",
            messages::mentions,
        )
        .scopes(&[Flow, Private])
        .answers_messages_of_rooms(),
        Endpoint::new(
            Method::GET,
            messages,
            "listFlowMessages",
            "List or search messages",
            messages::list,
        )
        .scopes(&[Flow])
        .answers_messages(),
        Endpoint::new(
            Method::GET,
            thread,
            "listThreadMessages",
            "List a thread",
            messages::list_thread,
        )
        .scopes(&[Flow])
        .answers_messages(),
        Endpoint::new(
            Method::GET,
            comments,
            "listMessageComments",
            "List comments",
            messages::list_comments,
        )
        .scopes(&[Flow])
        .answers_messages(),
        Endpoint::new(
            Method::GET,
            message,
            "getFlowMessage",
            "A message",
            messages::get,
        )
        .scopes(&[Flow])
        .answers(200, "The message", Some(One("Message"))),
        Endpoint::new(
            Method::PUT,
            message,
            "editFlowMessage",
            "Edit a message",
            messages::edit,
        )
        .scopes(&[Flow])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            message,
            "deleteFlowMessage",
            "Delete a message",
            messages::delete,
        )
        .scopes(&[Flow])
        .answers(
            200,
            "Your chat message or comment is empty now",
            Some(Empty),
        )
        .answers(204, "The message is gone", None),
    ]
}

fn flow_user_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/flows/{organization}/{flow}/users",
            "listFlowUsers",
            "The users of a flow",
            flow_users::list,
        )
        .scopes(&[Flow, Manage])
        .answers(200, "The users", Some(Many("User"))),
        Endpoint::new(
            Method::GET,
            "/flows/{organization}/{flow}/former_users",
            "listFormerFlowUsers",
            "The users who have left a flow",
            flow_users::former,
        )
        .scopes(&[Flow])
        .answers(200, "The users who have left", Some(Many("FormerUser"))),
        Endpoint::new(
            Method::POST,
            "/flows/{organization}/{flow}/users",
            "addFlowUser",
            "Add a user to a flow",
            flow_users::add,
        )
        .may_conflict()
        .scopes(&[Manage])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::PUT,
            "/flows/{organization}/{flow}/users/{user}",
            "setFlowUserBlocked",
            "Block a user from a flow, or let them back in",
            flow_users::block,
        )
        .scopes(&[Manage])
        .answers(200, "Done", Some(Empty)),
        Endpoint::new(
            Method::DELETE,
            "/flows/{organization}/{flow}/users/{user}",
            "leaveFlow",
            "Leave a flow",
            flow_users::leave,
        )
        .scopes(&[Manage])
        .answers(204, "You are out", None),
    ]
}

/// The stream.
pub(crate) fn streams() -> Vec<Endpoint> {
    let listens = |endpoint: Endpoint| {
        endpoint
            .uncompressed()
            .header(
                "Last-Event-ID",
                "The event you had last; the stream goes on after it",
            )
            .answers(
                200,
                "Messages, for as long as you listen",
                Some(Stream("StreamEvent")),
            )
            .response_headers(&[EVENT_ID, STREAM_ID])
    };
    let one = "/flows/{organization}/{flow}";
    let list = vec![
        listens(Endpoint::new(
            Method::GET,
            "/flows",
            "streamFlows",
            "Listen to flows",
            stream::several,
        ))
        .may_be_not_found()
        .scopes(&[Flow, Private]),
        listens(Endpoint::new(
            Method::GET,
            one,
            "streamFlow",
            "Listen to a flow",
            stream::one,
        ))
        .scopes(&[Flow]),
        Endpoint::new(
            Method::GET,
            "/probe",
            "probeStream",
            "Three events within a second, which show what the proxies on the way do to a stream",
            stream_probe::probe,
        )
        .uncompressed()
        .answers(200, "Three events", Some(Media(&[media::EVENT_STREAM]))),
    ];
    tagged(tags::STREAMING, list).collect()
}

/// Whether the server is well.
pub(crate) fn health() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/healthz",
            "checkLiveness",
            "Whether the server runs",
            health::alive,
        )
        .answers(200, "It runs", Some(Empty)),
        Endpoint::new(
            Method::GET,
            "/readyz",
            "checkReadiness",
            "Whether the server can do its work",
            health::ready,
        )
        .answers(200, "It can", Some(Empty)),
    ]
}

/// Where each endpoint is.
pub(crate) struct Routes {
    paths: matchit::Router<Vec<Arc<Endpoint>>>,
}

/// What is at a path.
pub(crate) enum RouteMatch {
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
    /// When two endpoints name the same path in different ways, which is a mistake in the table
    /// above.
    pub(crate) fn new(parts: impl IntoIterator<Item = (String, Vec<Endpoint>)>) -> Self {
        let mut by_path: BTreeMap<String, Vec<Arc<Endpoint>>> = BTreeMap::new();
        for (prefix, endpoints) in parts {
            for endpoint in endpoints {
                let path = format!("{prefix}{}", endpoint.operation.path);
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
    pub(crate) fn find(&self, method: &Method, path: &str) -> RouteMatch {
        let Ok(found) = self.paths.at(path) else {
            return RouteMatch::Nothing;
        };
        let by = |wanted: &Method| {
            found
                .value
                .iter()
                .find(|endpoint| endpoint.operation.method == *wanted)
        };
        let endpoint = by(method).or_else(|| match *method {
            Method::HEAD => by(&Method::GET),
            // Endpoints that do not tell PATCH and PUT apart serve both alike.
            Method::PATCH => by(&Method::PUT),
            _ => None,
        });
        let Some(endpoint) = endpoint else {
            return RouteMatch::OtherMethods(methods(found.value));
        };
        match PathParams::decode(&found.params) {
            Some(segments) => RouteMatch::Endpoint(endpoint.clone(), segments),
            None => RouteMatch::Nothing,
        }
    }
}

fn methods(endpoints: &[Arc<Endpoint>]) -> String {
    let all = endpoints
        .iter()
        .flat_map(|endpoint| match endpoint.operation.method {
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
