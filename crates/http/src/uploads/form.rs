//! Forms with parts, read part by part.

use std::collections::BTreeSet;

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Actor, App, Error, Limit, Permit, Room};
use eddyline_model::files::MAX_ATTACHMENTS;
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::{FlowAction, MessageAction};
use eddyline_wire::forms::Bounds;
use eddyline_wire::params::Params;
use futures_util::StreamExt as _;
use http::header::CONTENT_TYPE;
use http_body_util::BodyStream;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::{Received, Role};
use crate::Shared;
use crate::authenticate::authenticate;
use crate::body::{self, BodyReader, UNCOUNTED_BODY};
use crate::error::missing_credentials;
use crate::multipart::{Multipart, Part};
use crate::path_params::PathParams;
use crate::path_room;
use crate::serve::{BodyError, BodyLimit, RateMeter};

/// The most characters of the id by which a body refers to a file.
const MAX_ID_CHARS: usize = 255;

/// What a form held.
pub(crate) struct FormBody {
    /// The names and values of its texts.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) files: Vec<Received>,
    /// To be held until the request is answered where the texts are long.
    pub(crate) permit: Option<Permit>,
}

/// Reads a form. Its files are taken only from a sender who is known when they come.
pub(crate) async fn read_form(
    reader: BodyReader<'_>,
    body: Body,
    actor: &mut Option<Actor>,
) -> Result<FormBody, Error> {
    let BodyReader {
        shared,
        takes,
        parts,
        segments,
        query,
        ..
    } = reader;
    let content_type = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let mut form = Multipart::new(paced(body, shared.body), content_type.unwrap_or_default())?;
    // Decoded when the whole form is there, because parameters take more memory than their texts.
    let mut fields = Vec::new();
    let mut files = Vec::new();
    // A text counts before it has come, since its sender may take long.
    let (mut permit, mut texts, mut texts_permit) = (None, 0, reader.count_long_body()?);
    // Until the first file arrives, the time limit of an ordinary body applies, and for an
    // unauthenticated sender its size limit too.
    let until = Instant::now() + shared.body.time;
    let mut unknown = if actor.is_none() {
        shared.unknown_body().bytes
    } else {
        usize::MAX
    };
    loop {
        let next = form.next();
        let Some(part) = (match permit {
            Some(_) => next.await?,
            None => timeout_at(until, next)
                .await
                .map_err(|_| BodyError::Timeout)??,
        }) else {
            break;
        };
        let Some(role) = role_of(&part, is_file(&fields, query))? else {
            let name = part.name.clone();
            body::check_charset(part.content_type.as_deref().unwrap_or_default().as_bytes())?;
            let text = form.text(part);
            let text = match permit {
                Some(_) => text.await?,
                None => timeout_at(until, text)
                    .await
                    .map_err(|_| BodyError::Timeout)??,
            };
            unknown = unknown
                .checked_sub(name.len() + text.len())
                .ok_or(BodyError::TooLarge(shared.unknown_body().limit))?;
            texts += name.len() + text.len();
            if texts > UNCOUNTED_BODY && texts_permit.is_none() {
                texts_permit = reader.count_body()?;
            }
            fields.push((name, text));
            continue;
        };
        if permit.is_none() {
            if !takes.files(shared.profile.classic) {
                return Err(Error::invalid(
                    "content",
                    "must be a text: private messages are no files",
                ));
            }
            // Mistakes in the texts before the files are found before the files are taken.
            body::form(fields.iter().cloned(), Bounds::CHANGE)?;
            let so_far = body::eager_of(&fields)?;
            let sender = know_sender(reader, &so_far, actor).await?;
            unknown = usize::MAX;
            admit(shared, segments, sender, &query.clone().with_body(so_far)).await?;
            let acquired = shared.forms.acquire(sender.quota_keys(), 1);
            permit = Some(acquired.map_err(|exceeded| exceeded.of(Limit::Forms))?);
            // Files are not in memory.
            texts_permit = texts_permit.filter(|_| texts > UNCOUNTED_BODY);
        }
        check_role(&role, &files)?;
        let before: i64 = files
            .iter()
            .map(|file: &Received| file.uploaded.size())
            .sum();
        let sender = actor.as_ref().ok_or_else(missing_credentials)?;
        files.extend(receive((&shared.app, sender), part, role, before.unsigned_abs()).await?);
    }
    Ok(FormBody {
        fields,
        files,
        permit: texts_permit,
    })
}

/// The body as it comes, while it comes fast enough.
fn paced(
    body: Body,
    limit: BodyLimit,
) -> impl futures_util::Stream<Item = Result<Bytes, BodyError>> + Send + Unpin + 'static {
    let state = (BodyStream::new(body), RateMeter::new(limit.rate));
    let frames = futures_util::stream::unfold(state, move |(mut frames, mut meter)| async move {
        loop {
            let item = match meter.wait(frames.next()).await {
                Err(_) => Err(BodyError::Timeout),
                Ok(None) => return None,
                Ok(Some(Err(error))) => Err(BodyError::of_frame(&error)),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        meter.passed(data.len() as u64);
                        Ok(data)
                    }
                    Err(_) => continue,
                },
            };
            return Some((item, (frames, meter)));
        }
    });
    frames.boxed()
}

/// Whether the message is known to be a file by now.
fn is_file(so_far: &[(String, String)], query: &Params) -> bool {
    let told = so_far.iter().rev().find(|(name, _)| name == "event");
    told.map_or_else(|| query.is_file(), |(_, event)| event == "file")
}

/// Where a part belongs if it is a file; `None` for a text. Of a message that `is_file`, the
/// content need not be marked as one.
fn role_of(part: &Part, is_file: bool) -> Result<Option<Role>, Error> {
    let rest = part.name.strip_prefix("attachments");
    if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('[')) {
        let id = match rest {
            "" | "[]" => Some(None),
            _ => rest
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
                .map(|id| Some(id.to_owned())),
        };
        return match id {
            Some(id) => Ok(Some(Role::Attachment(id))),
            None => Err(Error::invalid(
                "attachments",
                "must be called attachments[ID] or attachments[]",
            )),
        };
    }
    let is_marked = part.file_name.is_some()
        || part
            .content_type
            .as_deref()
            .is_some_and(|kind| !kind.starts_with("text/plain"));
    match part.name.as_str() {
        "content" if is_marked || is_file => Ok(Some(Role::Content)),
        name if part.file_name.is_some() => {
            let shown: String = name.chars().take(100).collect();
            Err(Error::invalid(
                &shown,
                "can't be a file; files are called content or attachments[ID]",
            ))
        }
        _ => Ok(None),
    }
}

/// A client that sends files must have shown credentials before them.
async fn know_sender<'a>(
    reader: BodyReader<'_>,
    so_far: &Map<String, Value>,
    actor: &'a mut Option<Actor>,
) -> Result<&'a Actor, Error> {
    let BodyReader {
        shared,
        scopes,
        parts,
        query,
        ..
    } = reader;
    if actor.is_none() || so_far.contains_key("flow_token") {
        *actor = authenticate(shared, parts, &query.clone().with_body(so_far.clone())).await?;
    }
    let sender = actor.as_ref().ok_or_else(missing_credentials)?;
    sender.require_any(scopes)?;
    Ok(sender)
}

/// Whether the sender may post where the files go, as far as that is told by now: before they are
/// written.
async fn admit(
    shared: &Shared,
    segments: &PathParams,
    sender: &Actor,
    so_far: &Params,
) -> Result<(), Error> {
    let named = path_room::find(&shared.app, segments, sender, MessageAction::Post).await?;
    if let Some(room @ Room::Private(_)) = &named {
        return shared.app.files().may_send(room).await;
    }
    let mut params = so_far.reader();
    let flow = params.opt_text("flow", 1..=300);
    let event = params.opt_text("event", 0..=100);
    params.finish()?;
    let rooms = shared.app.rooms();
    let room = match (named, sender, flow) {
        (Some(room), _, _) => Some(room),
        (None, Actor::FlowToken { room, .. }, _) => {
            Some(rooms.of_flow_token(sender, *room).await?.into())
        }
        (None, Actor::User { .. }, Some(flow)) => {
            let flow = rooms.find_named(sender, &flow, FlowAction::Post).await?;
            Some(flow.into())
        }
        // It is told later, or is missing.
        (None, Actor::User { .. }, None) => None,
    };
    if let Some(room) = room {
        shared.app.files().may_send(&room).await?;
    }
    match event.as_deref().and_then(MessageKind::parse) {
        Some(MessageKind::Activity | MessageKind::Discussion) if !sender.may_integrate() => {
            Err(Error::denied())
        }
        _ => Ok(()),
    }
}

fn check_role(role: &Role, before: &[Received]) -> Result<(), Error> {
    let attachments = || before.iter().filter(|file| file.role != Role::Content);
    if let Role::Attachment(Some(id)) = role
        && !is_decent_id(id)
    {
        return Err(Error::invalid(
            "attachments",
            "must have ids of 1 to 255 characters without brackets",
        ));
    }
    let Role::Attachment(id) = role else {
        return match before.iter().any(|file| file.role == Role::Content) {
            true => Err(Error::invalid("content", "must be one file")),
            false => Ok(()),
        };
    };
    if attachments().count() == MAX_ATTACHMENTS {
        return Err(Error::invalid(
            "attachments",
            format!("can't be more than {MAX_ATTACHMENTS}"),
        ));
    }
    let ids: BTreeSet<Option<&String>> = attachments()
        .map(|file| match &file.role {
            Role::Attachment(id) => id.as_ref(),
            Role::Content => None,
        })
        .collect();
    if ids.iter().any(|other| other.is_some() != id.is_some()) {
        return Err(Error::invalid(
            "attachments",
            "must all have an id, or none of them",
        ));
    }
    if id.is_some() && ids.contains(&id.as_ref()) {
        return Err(Error::invalid("attachments", "must have ids that differ"));
    }
    Ok(())
}

/// Whether an id can stand in a body, and is none that is written to mislead.
fn is_decent_id(id: &str) -> bool {
    let well_formed = |c: char| !matches!(c, '[' | ']') && !eddyline_wire::is_unseen(c);
    (1..=MAX_ID_CHARS).contains(&id.chars().count()) && id.chars().all(well_formed)
}

/// Takes a file in. Browsers send an empty one without a name for a field that nobody filled in.
async fn receive(
    (app, sender): (&App, &Actor),
    mut part: Part,
    role: Role,
    before: u64,
) -> Result<Option<Received>, Error> {
    let mut chunk = part.chunk().await?;
    while chunk.as_ref().is_some_and(Bytes::is_empty) {
        chunk = part.chunk().await?;
    }
    if chunk.is_none() && part.file_name.as_deref() == Some("") {
        return Ok(None);
    }
    let mut upload = app.files().begin_upload(sender, before).await?;
    while let Some(bytes) = chunk {
        upload.write(bytes).await?;
        chunk = part.chunk().await?;
    }
    let uploaded = upload.finish().await?;
    let (file_name, content_type) = (part.file_name.take(), part.content_type.take());
    Ok(Some(Received {
        role,
        file_name,
        content_type,
        uploaded,
    }))
}
