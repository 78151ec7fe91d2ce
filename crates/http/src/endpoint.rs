//! One endpoint of the API: where it is, who may use it, what it does, and how it is described.

use eddyline_model::scopes::Scope;
use eddyline_wire::Parameters;
use eddyline_wire::request::ParameterSpec;
use http::Method;
use serde_json::json;

use crate::access::{AllowedCallers, EndpointAccess};
use crate::body_kind::{BodyKind, FileBody};
use crate::handler::{BoxedHandler, Handler, boxed};
use crate::operation_tags::Tag;
use crate::requester::Requester;

/// The profiles in which a response occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profiles {
    All,
    Classic,
    Others,
}

/// What an endpoint answers when all goes well.
pub(crate) struct ResponseSpec {
    profiles: Profiles,
    pub(crate) status: u16,
    pub(crate) text: &'static str,
    pub(crate) schema: Option<Shape>,
    pub(crate) headers: &'static [AnswerHeader],
}

impl ResponseSpec {
    pub(crate) fn new(status: u16, text: &'static str, schema: Option<Shape>) -> Self {
        Self {
            profiles: Profiles::All,
            status,
            text,
            schema,
            headers: &[],
        }
    }

    /// Whether the response occurs in this profile.
    pub(crate) fn is_in(&self, is_classic: bool) -> bool {
        match self.profiles {
            Profiles::All => true,
            Profiles::Classic => is_classic,
            Profiles::Others => !is_classic,
        }
    }
}

/// A header of an answer: its name, and what it says.
pub(crate) type AnswerHeader = (&'static str, &'static str);

/// Headers of several answers.
pub(crate) const NEXT: AnswerHeader = (
    "Link",
    "Where the list goes on, as rel=\"next\" (RFC 8288); it is not there at the end of the list",
);
pub(crate) const COMMENTS: AnswerHeader = (
    "Link",
    "Where the comments are, as rel=\"comments\" (RFC 8288)",
);
pub(crate) const EVENT_ID: AnswerHeader = (
    "Event-Id",
    "The event after which the stream began; Last-Event-ID if it breaks before it brings one",
);
pub(crate) const LOCATION: AnswerHeader = ("Location", "Where it is");
pub(crate) const ETAG: AnswerHeader = ("ETag", "The version (RFC 9110, section 8.8.3)");

/// The shape of an answer's JSON.
pub(crate) enum Shape {
    /// One of them.
    One(&'static str),
    /// One of them, as a form unless JSON is asked for.
    OneOrForm(&'static str),
    /// An array of them.
    Many(&'static str),
    /// The empty object.
    Empty,
    /// Any number of them, one after the other, as JSON or as server-sent events.
    Stream(&'static str),
    /// No JSON, but one of these content types.
    Media(&'static [&'static str]),
}

/// An endpoint.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Its name in the OpenAPI document. Generated clients have it as the name of a function, so it
    /// stays as it is.
    pub(crate) operation_id: &'static str,
    /// Its group in the OpenAPI document.
    pub(crate) tag: Option<Tag>,
    pub(crate) summary: &'static str,
    pub(crate) access: EndpointAccess,
    pub(crate) callers: AllowedCallers,
    /// An access token needs one of these.
    pub(crate) scopes: &'static [Scope],
    pub(crate) parameters: Vec<ParameterSpec>,
    /// Headers of a request that change the answer, with what they say.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) answers: Vec<ResponseSpec>,
    /// Whether the endpoint can answer 409.
    pub(crate) may_conflict: bool,
    /// Whether the endpoint can answer 404 because of a parameter, although its path names no
    /// resource.
    pub(crate) may_be_not_found: bool,
    /// Whether the answer may be compressed. That would delay a stream.
    pub(crate) compress: bool,
    pub(crate) takes: BodyKind,
    pub(crate) handler: BoxedHandler,
}

impl Endpoint {
    /// An endpoint, whose handler says by its type who may call it and which parameters it takes.
    pub(crate) fn new<M, H: Handler<M>>(
        method: Method,
        path: &'static str,
        operation_id: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        let access = H::Requester::ACCESS;
        Self {
            method,
            path,
            operation_id,
            tag: None,
            summary,
            access,
            callers: AllowedCallers::Users,
            scopes: &[],
            parameters: H::Takes::fields(),
            headers: Vec::new(),
            answers: Vec::new(),
            may_conflict: false,
            may_be_not_found: false,
            compress: true,
            // What providers send is left to the handler, as it came.
            takes: if access == EndpointAccess::Provider {
                BodyKind::Resource
            } else {
                BodyKind::Parameters
            },
            handler: boxed(handler),
        }
    }

    /// Puts the endpoint into another group of the document than the rest of its list.
    pub(crate) fn tag(mut self, tag: Tag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// Takes the credentials of these callers.
    pub(crate) fn callers(mut self, callers: AllowedCallers) -> Self {
        self.callers = callers;
        self
    }

    /// May be asked for what contradicts what is there.
    pub(crate) fn may_conflict(mut self) -> Self {
        self.may_conflict = true;
        self
    }

    /// May be asked, by a parameter, for what is not there.
    pub(crate) fn may_be_not_found(mut self) -> Self {
        self.may_be_not_found = true;
        self
    }

    /// Leaves the answer as it is for those who take it compressed too.
    pub(crate) fn uncompressed(mut self) -> Self {
        self.compress = false;
        self
    }

    /// Takes a file as the body instead of parameters.
    pub(crate) fn takes_file(mut self, kinds: &'static [&'static str], bytes: usize) -> Self {
        self.takes = BodyKind::File(FileBody { kinds, bytes });
        self
    }

    /// Takes files beside the parameters: as parts of a form, or as Base64 in JSON.
    pub(crate) fn takes_uploads(mut self) -> Self {
        self.takes = BodyKind::Uploads;
        self
    }

    /// The same for the classic profile. In others a form with parts is a form like any other.
    pub(crate) fn takes_old_uploads(mut self) -> Self {
        self.takes = BodyKind::OldUploads;
        self
    }

    /// Leaves the body to the handler, as it came.
    pub(crate) fn raw_body(mut self) -> Self {
        self.takes = BodyKind::Raw;
        self
    }

    /// Describes the answer that is a list of messages.
    pub(crate) fn answers_messages(self) -> Self {
        let text = "Messages, ascending by id; the header Link says where the list goes on";
        self.answers(200, text, Some(Shape::Many("Message")))
            .response_headers(&[NEXT])
    }

    /// Names the scopes of which an access token needs one.
    pub(crate) fn scopes(mut self, scopes: &'static [Scope]) -> Self {
        self.scopes = scopes;
        self
    }

    /// Describes a parameter that another crate reads, and that may be left out.
    pub(crate) fn optional_parameter(
        self,
        name: &'static str,
        kind: &'static str,
        text: &'static str,
    ) -> Self {
        self.parameter(name, kind, false, text)
    }

    /// Describes a parameter that another crate reads, and that must be there.
    pub(crate) fn required_parameter(
        self,
        name: &'static str,
        kind: &'static str,
        text: &'static str,
    ) -> Self {
        self.parameter(name, kind, true, text)
    }

    fn parameter(mut self, name: &'static str, kind: &str, required: bool, text: &str) -> Self {
        let schema = match kind {
            "objects" => {
                json!({"type": "array", "items": {"type": "object", "additionalProperties": true}})
            }
            "object" => json!({"type": "object", "additionalProperties": true}),
            kind => json!({"type": kind}),
        };
        self.parameters.push(ParameterSpec {
            name,
            required,
            text: text.to_owned(),
            schema,
        });
        self
    }

    /// Describes a header of the request, which may be left out.
    pub(crate) fn header(mut self, name: &'static str, text: &'static str) -> Self {
        self.headers.push((name, text));
        self
    }

    /// Describes an answer.
    pub(crate) fn answers(
        mut self,
        status: u16,
        text: &'static str,
        schema: Option<Shape>,
    ) -> Self {
        self.answers.push(ResponseSpec::new(status, text, schema));
        self
    }

    /// Says that only the classic profile gives the answer described last.
    pub(crate) fn in_classic(self) -> Self {
        self.of_last(|answer| answer.profiles = Profiles::Classic)
    }

    /// Says that the classic profile does not give the answer described last.
    pub(crate) fn unless_classic(self) -> Self {
        self.of_last(|answer| answer.profiles = Profiles::Others)
    }

    /// Names headers of the answer described last.
    pub(crate) fn response_headers(self, headers: &'static [AnswerHeader]) -> Self {
        self.of_last(|answer| answer.headers = headers)
    }

    fn of_last(mut self, change: impl FnOnce(&mut ResponseSpec)) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            change(answer);
        }
        self
    }
}
