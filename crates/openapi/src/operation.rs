//! One operation of the API, as the document describes it.

use eddyline_model::scopes::Scope;
use eddyline_wire::request::ParameterSpec;
use http::Method;
use serde_json::json;

use crate::access::{AllowedCallers, EndpointAccess};
use crate::body_kind::{BodyKind, FileBody};
use crate::response::{Profiles, ResponseSpec, Shape};
use crate::response_headers::{AnswerHeader, NEXT};
use crate::tags::Tag;

/// One operation: what it takes, what it answers, and who may call it.
#[derive(Debug)]
pub struct Operation {
    /// The method of the request.
    pub method: Method,
    /// The path, in which `{name}` stands for one segment.
    pub path: &'static str,
    /// Its name in the document. Generated clients have it as the name of a function, so it stays
    /// as it is.
    pub id: &'static str,
    /// Its group in the document.
    pub tag: Option<Tag>,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Who may call it.
    pub access: EndpointAccess,
    /// Whose credentials it takes.
    pub callers: AllowedCallers,
    /// The scopes of which an access token needs one.
    pub scopes: &'static [Scope],
    /// The parameters of the query or of the body.
    pub parameters: Vec<ParameterSpec>,
    /// Headers of a request that change the answer, with what they say.
    pub headers: Vec<(&'static str, &'static str)>,
    /// What it answers when all goes well.
    pub answers: Vec<ResponseSpec>,
    /// Whether it can answer 409.
    pub may_conflict: bool,
    /// Whether it can answer 404 because of a parameter, although its path names no resource.
    pub may_be_not_found: bool,
    /// What it takes as the body of a request.
    pub takes: BodyKind,
}

impl Operation {
    /// An operation that takes parameters, and of which nothing more is described yet.
    #[must_use]
    pub fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        access: EndpointAccess,
        parameters: Vec<ParameterSpec>,
    ) -> Self {
        Self {
            method,
            path,
            id,
            tag: None,
            summary,
            access,
            callers: AllowedCallers::Users,
            scopes: &[],
            parameters,
            headers: Vec::new(),
            answers: Vec::new(),
            may_conflict: false,
            may_be_not_found: false,
            // What providers send is left to the handler, as it came.
            takes: if access == EndpointAccess::Provider {
                BodyKind::Resource
            } else {
                BodyKind::Parameters
            },
        }
    }
}

impl DescribeOperation for Operation {
    fn operation(&mut self) -> &mut Operation {
        self
    }
}

/// Describes an operation step by step. An endpoint of a server implements it too, so that its
/// handler and its description are declared in one chain.
pub trait DescribeOperation: Sized {
    /// The operation described.
    fn operation(&mut self) -> &mut Operation;

    /// Puts it into another group of the document than the rest of its list.
    #[must_use]
    fn tag(mut self, tag: Tag) -> Self {
        self.operation().tag = Some(tag);
        self
    }

    /// Takes the credentials of these callers.
    #[must_use]
    fn callers(mut self, callers: AllowedCallers) -> Self {
        self.operation().callers = callers;
        self
    }

    /// May be asked for what contradicts what is there.
    #[must_use]
    fn may_conflict(mut self) -> Self {
        self.operation().may_conflict = true;
        self
    }

    /// May be asked, by a parameter, for what is not there.
    #[must_use]
    fn may_be_not_found(mut self) -> Self {
        self.operation().may_be_not_found = true;
        self
    }

    /// Takes a file as the body instead of parameters.
    #[must_use]
    fn takes_file(mut self, kinds: &'static [&'static str], bytes: usize) -> Self {
        self.operation().takes = BodyKind::File(FileBody { kinds, bytes });
        self
    }

    /// Takes files beside the parameters: as parts of a form, or as Base64 in JSON.
    #[must_use]
    fn takes_uploads(mut self) -> Self {
        self.operation().takes = BodyKind::Uploads;
        self
    }

    /// The same for the classic profile. In others a form with parts is a form like any other.
    #[must_use]
    fn takes_old_uploads(mut self) -> Self {
        self.operation().takes = BodyKind::OldUploads;
        self
    }

    /// Leaves the body to the handler, as it came.
    #[must_use]
    fn raw_body(mut self) -> Self {
        self.operation().takes = BodyKind::Raw;
        self
    }

    /// Describes the answer that is a list of messages.
    #[must_use]
    fn answers_messages(self) -> Self {
        let text = "Messages, ascending by id; the header Link says where the list goes on";
        self.answers(200, text, Some(Shape::Many("Message")))
            .response_headers(&[NEXT])
    }

    /// Describes the answer that is a list of messages of several rooms.
    #[must_use]
    fn answers_messages_of_rooms(self) -> Self {
        let text = "Messages, the newest first; the header Link says where the list goes on";
        self.answers(200, text, Some(Shape::Many("Message")))
            .response_headers(&[NEXT])
    }

    /// Names the scopes of which an access token needs one.
    #[must_use]
    fn scopes(mut self, scopes: &'static [Scope]) -> Self {
        self.operation().scopes = scopes;
        self
    }

    /// Describes a parameter that another crate reads, and that may be left out. Its kind is a type
    /// of JSON schema, or `objects` for a list of them.
    #[must_use]
    fn optional_parameter(
        self,
        name: &'static str,
        kind: &'static str,
        text: &'static str,
    ) -> Self {
        with_parameter(self, name, kind, false, text)
    }

    /// Describes a parameter that another crate reads, and that must be there.
    #[must_use]
    fn required_parameter(
        self,
        name: &'static str,
        kind: &'static str,
        text: &'static str,
    ) -> Self {
        with_parameter(self, name, kind, true, text)
    }

    /// Describes a header of the request, which may be left out.
    #[must_use]
    fn header(mut self, name: &'static str, text: &'static str) -> Self {
        self.operation().headers.push((name, text));
        self
    }

    /// Describes an answer.
    #[must_use]
    fn answers(mut self, status: u16, text: &'static str, schema: Option<Shape>) -> Self {
        self.operation()
            .answers
            .push(ResponseSpec::new(status, text, schema));
        self
    }

    /// Says that only the classic profile gives the answer described last.
    #[must_use]
    fn in_classic(self) -> Self {
        with_last_answer(self, |answer| answer.profiles = Profiles::Classic)
    }

    /// Says that the classic profile does not give the answer described last.
    #[must_use]
    fn unless_classic(self) -> Self {
        with_last_answer(self, |answer| answer.profiles = Profiles::Others)
    }

    /// Names headers of the answer described last.
    #[must_use]
    fn response_headers(self, headers: &'static [AnswerHeader]) -> Self {
        with_last_answer(self, |answer| answer.headers = headers)
    }
}

fn with_parameter<D: DescribeOperation>(
    mut described: D,
    name: &'static str,
    kind: &str,
    required: bool,
    text: &str,
) -> D {
    let schema = match kind {
        "objects" => {
            json!({"type": "array", "items": {"type": "object", "additionalProperties": true}})
        }
        "object" => json!({"type": "object", "additionalProperties": true}),
        kind => json!({"type": kind}),
    };
    described.operation().parameters.push(ParameterSpec {
        name,
        required,
        text: text.to_owned(),
        schema,
    });
    described
}

fn with_last_answer<D: DescribeOperation>(
    mut described: D,
    change: impl FnOnce(&mut ResponseSpec),
) -> D {
    if let Some(answer) = described.operation().answers.last_mut() {
        change(answer);
    }
    described
}
