//! One endpoint of the API: where it is, who may use it, what it does, and how it is described.

use eddyline_model::scopes::Scope;
use eddyline_wire::Parameters;
use eddyline_wire::request::Field;
use http::Method;
use serde_json::json;

use crate::context::Sender;
use crate::handler::{BoxedHandler, Handler, boxed};
use crate::wire_profile::WireProfile;

/// Who may call an endpoint at all. The type of its handler's context says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Callers who show credentials.
    Caller,
    /// Anybody.
    Public,
    /// Callers who show flow tokens in the path, which the handler looks at.
    TokensInPath,
    /// The identity provider whose uid stands in the path.
    Provider,
}

/// What an endpoint answers when all goes well.
pub(crate) struct Described {
    /// Whether only the classic profile answers so.
    pub(crate) is_classic: bool,
    pub(crate) status: u16,
    pub(crate) text: &'static str,
    pub(crate) schema: Option<Shape>,
}

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
    /// No JSON, but one of these content types.
    Media(&'static [&'static str]),
}

/// A body that is not parameters but one file.
#[derive(Clone, Copy)]
pub(crate) struct File {
    /// The types it may have; what it is without a type, its content tells.
    pub(crate) kinds: &'static [&'static str],
    /// The most bytes taken.
    pub(crate) bytes: usize,
}

/// What an endpoint takes as the body of a request.
#[derive(Clone, Copy)]
pub(crate) enum BodyKind {
    /// Parameters.
    Parameters,
    /// Parameters, and files beside them: as parts of a form, or as Base64 in JSON.
    Uploads,
    /// The same in the classic profile. In others a form with parts is a form like any other.
    OldUploads,
    /// A file. Credentials must stand elsewhere then.
    File(File),
    /// What the handler reads itself.
    Raw,
    /// The same, of a SCIM resource.
    Resource,
}

impl BodyKind {
    /// Whether forms with parts are read.
    pub(crate) fn forms_with_parts(self) -> bool {
        matches!(self, Self::Uploads | Self::OldUploads)
    }

    /// Whether files may come with the parameters.
    pub(crate) fn files(self, names: &WireProfile) -> bool {
        match self {
            Self::Uploads => true,
            Self::OldUploads => names.classic,
            Self::Parameters | Self::File(_) | Self::Raw | Self::Resource => false,
        }
    }
}

/// An endpoint.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) access: Access,
    /// An access token needs one of these.
    pub(crate) scopes: &'static [Scope],
    pub(crate) parameters: Vec<Field>,
    /// Headers of a request that change the answer, with what they say.
    pub(crate) headers: Vec<(&'static str, &'static str)>,

    pub(crate) answers: Vec<Described>,
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
        summary: &'static str,
        handler: H,
    ) -> Self {
        let access = H::Sender::ACCESS;
        Self {
            method,
            path,
            summary,
            access,
            scopes: &[],
            parameters: H::Takes::fields(),
            headers: Vec::new(),

            answers: Vec::new(),
            compress: true,
            // What providers send is left to the handler, as it came.
            takes: if access == Access::Provider { BodyKind::Resource } else { BodyKind::Parameters },
            handler: boxed(handler),
        }
    }

    /// Leaves the answer as it is for those who take it compressed too.
    pub(crate) fn uncompressed(mut self) -> Self {
        self.compress = false;
        self
    }

    /// Takes a file as the body instead of parameters.
    pub(crate) fn takes_file(mut self, kinds: &'static [&'static str], bytes: usize) -> Self {
        self.takes = BodyKind::File(File { kinds, bytes });
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
    }

    /// Names the scopes of which an access token needs one.
    pub(crate) fn scopes(mut self, scopes: &'static [Scope]) -> Self {
        self.scopes = scopes;
        self
    }

    /// Describes a parameter that another crate reads, and that may be left out.
    pub(crate) fn takes(self, name: &'static str, kind: &'static str, text: &'static str) -> Self {
        self.parameter(name, kind, false, text)
    }

    /// Describes a parameter that another crate reads, and that must be there.
    pub(crate) fn needs(self, name: &'static str, kind: &'static str, text: &'static str) -> Self {
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
        self.parameters.push(Field { name, required, text: text.to_owned(), schema });
        self
    }

    /// Describes a header of the request, which may be left out.
    pub(crate) fn header(mut self, name: &'static str, text: &'static str) -> Self {
        self.headers.push((name, text));
        self
    }

    /// Describes an answer.
    pub(crate) fn answers(mut self, status: u16, text: &'static str, schema: Option<Shape>) -> Self {
        self.answers.push(Described { is_classic: false, status, text, schema });
        self
    }

    /// Describes an answer of the classic profile.
    pub(crate) fn answers_classic(mut self, status: u16, text: &'static str, schema: Option<Shape>) -> Self {
        self.answers.push(Described { is_classic: true, status, text, schema });
        self
    }
}
