//! The files that come with a request: as parts of a form, streamed to where files are kept, or as
//! Base64 in JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use eddyline_app::{Actor, App, Error, NewAttachment, Uploaded};
use eddyline_model::files::MAX_ATTACHMENTS;
use eddyline_model::messages::Event;
use eddyline_model::policy::FlowDeed;
use eddyline_wire::forms::Form;
use futures_util::StreamExt as _;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyStream;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout, timeout_at};

use crate::Shared;
use crate::call::{Segments, authenticate, busy, invalid, kind_of};
use crate::endpoint::Endpoint;
use crate::error::Failure;
use crate::multipart::{self, Multipart, Part};
use crate::params::{Params, Reader};
use crate::serve::{BodyError, BodyLimit};

/// The most characters of the id by which a body refers to a file.
const MAX_ID_CHARS: usize = 255;

/// Where a file belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    /// It is the message.
    Content,
    /// It comes with the message, which may refer to it by an id.
    Attachment(Option<String>),
}

/// A file that came as a part of a form.
#[derive(Debug)]
pub(crate) struct Received {
    role: Role,
    file_name: Option<String>,
    content_type: Option<String>,
    uploaded: Uploaded,
}

/// What a form held.
pub(crate) struct FormBody {
    pub(crate) fields: Map<String, Value>,
    pub(crate) files: Vec<Received>,
}

/// Reads a form. Its files are taken only from a sender who is known when they come.
pub(crate) async fn read_form(
    shared: &Arc<Shared>,
    endpoint: &Endpoint,
    parts: &Parts,
    body: Body,
    segments: &Segments,
    query: &Params,
    actor: &mut Option<Actor>,
) -> Result<FormBody, Failure> {
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mut form = Multipart::new(patient(body, shared.body), content_type.unwrap_or_default())?;
    let mut fields = Form::new();
    let mut files = Vec::new();
    let mut turn = None;
    // Who is not known yet can keep us for no longer, and with no more, than with any other body.
    let until = Instant::now() + shared.body.time;
    let mut unknown = if actor.is_none() { shared.unknown_body().bytes } else { usize::MAX };
    loop {
        let next = form.next();
        let Some(part) = (match actor {
            Some(_) => next.await?,
            None => timeout_at(until, next).await.map_err(|_| BodyError::Timeout)??,
        }) else {
            break;
        };
        let Some(role) = role_of(&part, &fields, query)? else {
            let name = part.name.clone();
            let text = form.text(part);
            let text = match actor {
                Some(_) => text.await?,
                None => timeout_at(until, text).await.map_err(|_| BodyError::Timeout)??,
            };
            unknown = unknown.checked_sub(name.len() + text.len()).ok_or(BodyError::TooLarge)?;
            fields.add(&name, text)?;
            continue;
        };
        if turn.is_none() {
            if !endpoint.takes_files(&shared.names) {
                return Err(invalid("content", "must be a text: private messages are no files"));
            }
            know_sender(shared, endpoint, parts, query, &fields, actor).await?;
            unknown = usize::MAX;
            admit(shared, segments, actor.as_ref(), &query.clone().with_body(fields.clone().finish()))
                .await?;
            turn = Some(shared.forms.try_acquire().map_err(|_| busy())?);
        }
        check_role(&role, &files)?;
        let before: i64 = files.iter().map(|file: &Received| file.uploaded.size()).sum();
        files.extend(receive(&shared.app, part, role, before.unsigned_abs()).await?);
    }
    Ok(FormBody { fields: fields.finish(), files })
}

/// The body as it comes, while it comes.
fn patient(
    body: Body,
    limit: BodyLimit,
) -> impl futures_util::Stream<Item = Result<Bytes, BodyError>> + Send + Unpin + 'static {
    let frames = futures_util::stream::unfold(BodyStream::new(body), move |mut frames| async move {
        loop {
            return match timeout(limit.time, frames.next()).await {
                Err(_) => Some((Err(BodyError::Timeout), frames)),
                Ok(None) => None,
                Ok(Some(Err(_))) => Some((Err(BodyError::Aborted), frames)),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => Some((Ok(data), frames)),
                    Err(_) => continue,
                },
            };
        }
    });
    frames.boxed()
}

/// Where a part belongs if it is a file; `None` for a text.
fn role_of(part: &Part, so_far: &Form, query: &Params) -> Result<Option<Role>, Failure> {
    let rest = part.name.strip_prefix("attachments");
    if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('[')) {
        let id = match rest {
            "" | "[]" => Some(None),
            _ => rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(|id| Some(id.to_owned())),
        };
        return match id {
            Some(id) => Ok(Some(Role::Attachment(id))),
            None => Err(invalid("attachments", "must be called attachments[ID] or attachments[]")),
        };
    }
    let is_marked = part.file_name.is_some()
        || part.content_type.as_deref().is_some_and(|kind| !kind.starts_with("text/plain"));
    match part.name.as_str() {
        "content" if is_marked || query.clone().with_body(so_far.clone().finish()).is_file() => {
            Ok(Some(Role::Content))
        }
        name if part.file_name.is_some() => {
            let shown: String = name.chars().take(100).collect();
            Err(invalid(&shown, "can't be a file; files are called content or attachments[ID]"))
        }
        _ => Ok(None),
    }
}

/// Whoever sends files must have shown credentials before them.
async fn know_sender(
    shared: &Arc<Shared>,
    endpoint: &Endpoint,
    parts: &Parts,
    query: &Params,
    so_far: &Form,
    actor: &mut Option<Actor>,
) -> Result<(), Failure> {
    let fields = so_far.clone().finish();
    if actor.is_none() || fields.contains_key("flow_token") {
        *actor = authenticate(shared, parts, &query.clone().with_body(fields)).await?;
    }
    let sender = actor.as_ref().ok_or(Failure::Anonymous)?;
    sender.require_any(endpoint.scopes)?;
    Ok(())
}

/// Whether the sender may post where the files go, as far as that is told by now: before they are written.
async fn admit(
    shared: &Shared,
    segments: &Segments,
    actor: Option<&Actor>,
    so_far: &Params,
) -> Result<(), Failure> {
    let sender = actor.ok_or(Failure::Anonymous)?;
    if !segments.get("user").is_empty() {
        let to = segments.get("user").parse().map_err(|_| Error::NotFound)?;
        return Ok(shared.app.may_write_to(sender, to).await?);
    }
    let mut params = so_far.reader();
    let flow = params.opt_text("flow", 1..=300);
    let event = params.opt_text("event", 0..=100);
    params.finish()?;
    let (organization, name) = (segments.get("organization"), segments.get("flow"));
    match (sender, flow) {
        _ if !name.is_empty() => {
            shared.app.room(sender, organization, name, FlowDeed::Post).await?;
        }
        (Actor::FlowToken { room, .. }, _) => {
            shared.app.own_room(sender, *room).await?;
        }
        (Actor::User { .. }, Some(flow)) => {
            shared.app.room_named(sender, &flow, FlowDeed::Post).await?;
        }
        // It is told later, or is missing.
        (Actor::User { .. }, None) => {}
    }
    match event.as_deref().and_then(Event::parse) {
        Some(Event::Activity | Event::Discussion) if !sender.may_integrate() => Err(Error::Denied.into()),
        _ => Ok(()),
    }
}

fn check_role(role: &Role, before: &[Received]) -> Result<(), Failure> {
    let attachments = || before.iter().filter(|file| file.role != Role::Content);
    if let Role::Attachment(Some(id)) = role
        && !is_decent_id(id)
    {
        return Err(invalid("attachments", "must have ids of 1 to 255 characters without brackets"));
    }
    let Role::Attachment(id) = role else {
        return match before.iter().any(|file| file.role == Role::Content) {
            true => Err(invalid("content", "must be one file")),
            false => Ok(()),
        };
    };
    if attachments().count() == MAX_ATTACHMENTS {
        return Err(invalid("attachments", &format!("can't be more than {MAX_ATTACHMENTS}")));
    }
    let ids: BTreeSet<Option<&String>> = attachments()
        .map(|file| match &file.role {
            Role::Attachment(id) => id.as_ref(),
            Role::Content => None,
        })
        .collect();
    if ids.iter().any(|other| other.is_some() != id.is_some()) {
        return Err(invalid("attachments", "must all have an id, or none of them"));
    }
    if id.is_some() && ids.contains(&id.as_ref()) {
        return Err(invalid("attachments", "must have ids that differ"));
    }
    Ok(())
}

/// Whether an id can stand in a body, and is none that is written to mislead.
fn is_decent_id(id: &str) -> bool {
    let decent = |c: char| !matches!(c, '[' | ']') && !eddyline_wire::is_unseen(c);
    (1..=MAX_ID_CHARS).contains(&id.chars().count()) && id.chars().all(decent)
}

/// Takes a file in. Browsers send an empty one without a name for a field that nobody filled in.
async fn receive(app: &App, mut part: Part, role: Role, before: u64) -> Result<Option<Received>, Failure> {
    let mut chunk = part.chunk().await?;
    while chunk.as_ref().is_some_and(Bytes::is_empty) {
        chunk = part.chunk().await?;
    }
    if chunk.is_none() && part.file_name.as_deref() == Some("") {
        return Ok(None);
    }
    let mut upload = app.begin_upload(before).await?;
    while let Some(bytes) = chunk {
        upload.write(bytes).await?;
        chunk = part.chunk().await?;
    }
    let uploaded = upload.finish().await?;
    let (file_name, content_type) = (part.file_name.take(), part.content_type.take());
    Ok(Some(Received { role, file_name, content_type, uploaded }))
}

/// The one file that a file message is, as the parameters describe it. What is handed back beside it
/// must be held until the message is posted.
pub(crate) async fn content(
    app: &App,
    received: Vec<Received>,
    described: Described,
) -> Result<(NewAttachment, Uploaded), Failure> {
    let Described { file_name, content_type, data } = described;
    let (uploaded, told_name, told_type) = match (received.into_iter().next(), data) {
        (Some(file), _) => (file.uploaded, file.file_name, file.content_type),
        (None, Some(data)) => (keep(app, data).await?, None, None),
        (None, None) => return Err(invalid("content", "is required")),
    };
    let name = file_name.or(told_name);
    let attachment = uploaded.named(name.as_deref(), content_type.or(told_type).as_deref(), None)?;
    Ok((attachment, uploaded))
}

async fn keep(app: &App, data: Bytes) -> Result<Uploaded, Failure> {
    let mut upload = app.begin_upload(0).await?;
    upload.write(data).await?;
    Ok(upload.finish().await?)
}

/// The attachments of a message, and what must be held until it is posted.
pub(crate) fn attachments(received: Vec<Received>) -> Result<(Vec<NewAttachment>, Vec<Uploaded>), Failure> {
    let mut attachments = Vec::new();
    let mut held = Vec::new();
    for Received { role, file_name, content_type, uploaded } in received {
        let Role::Attachment(id) = role else { continue };
        attachments.push(uploaded.named(file_name.as_deref(), content_type.as_deref(), id)?);
        held.push(uploaded);
    }
    Ok((attachments, held))
}

/// Notes a mistake where files came that the message has no place for.
pub(crate) fn check_places(
    received: &[Received],
    takes_content: bool,
    takes_attachments: bool,
    params: &mut Reader<'_>,
) {
    for file in received {
        match file.role {
            Role::Content if !takes_content => params.error("content", "must be a text, not a file"),
            Role::Attachment(_) if !takes_attachments => {
                params.error("attachments", "goes with activity and discussion messages only");
                return;
            }
            _ => {}
        }
    }
}

/// What the parameters say of the file that a message is.
#[derive(Debug, Default)]
pub(crate) struct Described {
    file_name: Option<String>,
    content_type: Option<String>,
    data: Option<Bytes>,
}

impl Described {
    /// Reads `content` with `data`, `content_type` and `file_name`, and the latter two beside it, as
    /// forms have them.
    pub(crate) async fn read(params: &Params, is_received: bool, most: usize) -> Result<Self, Failure> {
        let mut reader = params.reader();
        let mut described = Self {
            file_name: reader.opt_text("file_name", 0..=1000),
            content_type: reader.opt_text("content_type", 0..=1000),
            data: None,
        };
        if is_received {
            reader.finish()?;
            return Ok(described);
        }
        let object = match reader.value("content") {
            Some(Value::Object(object)) => Some(object),
            Some(_) => {
                reader.error("content", "must be an object with data, content_type and file_name, or a file");
                None
            }
            None => {
                reader.error("content", "is required");
                None
            }
        };
        let mut text = |name: &str| match object.and_then(|object| object.get(name)) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                reader.error(&format!("content[{name}]"), "must be a text");
                None
            }
        };
        described.file_name = text("file_name").or(described.file_name);
        described.content_type = text("content_type").or(described.content_type);
        let data = text("data");
        if object.is_some() && data.is_none() {
            reader.error("content[data]", "is required");
        }
        reader.finish()?;
        if let Some(data) = data {
            described.data = Some(decode(data, most).await?);
        }
        Ok(described)
    }
}

/// Base64 of either alphabet, with or without padding, in lines, or as a `data:` address.
async fn decode(text: String, most: usize) -> Result<Bytes, Failure> {
    if text.len() / 4 * 3 > most + most / 16 + 1024 {
        return Err(BodyError::TooLarge.into());
    }
    let decoded = tokio::task::spawn_blocking(move || decode_now(&text)).await;
    let decoded = decoded.map_err(|error| Failure::internal(error.to_string()))?;
    let bytes = decoded.ok_or_else(|| invalid("content[data]", "is not valid Base64"))?;
    if bytes.len() > most {
        return Err(BodyError::TooLarge.into());
    }
    Ok(bytes.into())
}

fn decode_now(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let text = match text.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data:") => {
            let (kind, data) = text[5..].split_once(',')?;
            let coding = kind.get(kind.len().checked_sub(7)?..)?;
            coding.eq_ignore_ascii_case(";base64").then_some(data)?
        }
        _ => text,
    };
    let letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    });
    LENIENT.decode(letters.collect::<Vec<u8>>()).ok()
}

/// Whether the body is a form with parts.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    kind_of(headers) == "multipart/form-data"
}

/// Whether the body can be JSON, which has files as Base64.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    matches!(kind_of(headers).as_str(), "application/json" | "text/json" | "")
}

/// How long JSON may be that has a file of so many bytes in it.
pub(crate) fn json_bytes(file: usize, rest: usize) -> usize {
    (file / 3 + 1).saturating_mul(4).saturating_add(rest)
}

impl From<multipart::Error> for Failure {
    fn from(error: multipart::Error) -> Self {
        use multipart::Error::{Body, LongText, TooManyParts, Utf8};
        let text = error.to_string();
        match error {
            Utf8(name) => invalid(&name, &text),
            LongText(_) => BodyError::TooLarge.into(),
            TooManyParts => Self::Request(StatusCode::PAYLOAD_TOO_LARGE, text),
            Body(why) => why.downcast::<BodyError>().map_or(BodyError::Aborted, |error| *error).into(),
            _ => Self::Request(StatusCode::BAD_REQUEST, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_clients_write_it() {
        for text in [
            "+/+/aGk=",
            "-_-_aGk=",
            "-_-_aGk",
            "+/+/\r\naGk=\r\n",
            "data:text/plain;base64,+/+/aGk=",
            "DATA:;Base64,+/+/aGk=",
        ] {
            assert_eq!(decode_now(text).as_deref(), Some(&b"\xfb\xff\xbfhi"[..]), "{text}");
        }
        assert_eq!(decode_now("").as_deref(), Some(&b""[..]));
        for bad in ["a", "a*bc", "data:text/plain,hi", "data:base64,hi", "data:hi", "=", "grüße"] {
            assert_eq!(decode_now(bad), None, "{bad}");
        }
    }

    #[test]
    fn json_has_room_for_the_largest_file() {
        for bytes in 0..10 {
            assert!(json_bytes(bytes, 0) >= bytes.div_ceil(3) * 4, "{bytes}");
        }
    }
}
