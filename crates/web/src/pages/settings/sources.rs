//! What posts into the inbox of a flow: its sources, each with what is wrong with it, where it is
//! configured, and a way to be rid of it (specification, section 4, Sources); what else can be
//! connected, and how a script posts.

use askama::Template;
use axum::response::Response;
use eddyline_app::{Error, FlowRoom};
use eddyline_model::SourceId;
use eddyline_model::policy::FlowAction;
use eddyline_wire::{Flow, SetupApplication, Source};

use super::ask::Ask;
use super::{Frame, Subject, describe, find, path_of_room};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::secret_page::SecretPage;
use crate::pages::shell::Shell;
use crate::segments::FlowNames;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/sources.html")]
struct Sources {
    t: &'static Texts,
    shell: Shell,
    frame: Frame,
    sources: Vec<SourceCard>,
    /// The applications that can be set up for the flow, each with the path of its picture.
    applications: Vec<(SetupApplication, Option<String>)>,
    /// Where a script posts, and the page that makes a token for it.
    messages: String,
    new: Option<String>,
}

/// A source that is connected.
struct SourceCard {
    source: Source,
    /// The path of its picture.
    icon: Option<String>,
    /// What removes it, where the organization takes changes.
    form: Option<FormView>,
}

pub(in crate::pages) async fn show(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::ManageSources).await?;
    let flow = describe(&visit, &room).await?;
    let t = &visit.texts().sources;
    let here = Subject::Sources.path(&path_of_room(&room));
    let found = visit.app().sources().list_of_flow(&room).await?;
    let mut icons = visit.app().sources().icon_paths(&room).await?;
    let sources = found.into_iter().map(|source| {
        let form = flow.organization.active.then(|| {
            visit
                .form(&here, &t.remove)
                .hidden("source", &source.id.to_string())
                .about(&source.name)
                .quiet()
        });
        let icon = icons.remove(&source.id);
        SourceCard { source, icon, form }
    });
    let actor = visit.signed_in()?;
    let applications = visit.app().oauth().set_up_in(actor, &room).await?;
    let applications = applications.into_iter().map(|application| {
        let address = application.icon_url.as_deref();
        let icon = address.and_then(|address| visit.app().encoder().pictures().path(address));
        (application, icon)
    });
    let takes_changes = flow.organization.active;
    let done = (visit.query("done") == "removed").then_some(t.removed.as_str());
    let page = Sources {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        sources: sources.collect(),
        applications: applications.collect(),
        messages: messages(&visit),
        new: takes_changes.then(|| format!("{here}/new")),
        frame: Frame {
            done,
            ..Frame::new(&visit, &flow, Subject::Sources)
        },
    };
    visit.client_page(&page).await
}

/// Where a script posts.
fn messages(visit: &Visit) -> String {
    format!("{}/messages", visit.app().config().addresses.base)
}

/// Asks what the source of a script is called.
pub(in crate::pages) async fn ask(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    let room = find(&visit, &names, FlowAction::ManageSources).await?;
    let flow = describe(&visit, &room).await?;
    if !flow.organization.active {
        return Err(PageError::not_allowed(Error::denied()));
    }
    let form = naming(&visit, "");
    new_page(&visit, &flow, &room, form).await
}

/// Makes the source of a script, and shows its token once.
pub(in crate::pages) async fn make(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let t = &visit.texts().sources;
    let actor = visit.signed_in()?;
    let room = find(visit, &names, FlowAction::ManageSources).await?;
    let name = sent.get("name").trim().to_owned();
    let made = visit.app().sources();
    match made.create_for_script(actor, &room, name).await {
        Ok(source) => {
            let here = Subject::Sources.path(&path_of_room(&room));
            let token = source.flow_token.unwrap_or_default();
            let command = format!(
                "curl {} -d flow_token={token} -d event=activity -d external_thread_id=hello \
                 -d title=Hello -d 'thread[title]=Hello from a script'",
                messages(visit)
            );
            let page = SecretPage::new(visit, t.made.with("name", &source.name), (&here, &t.go))
                .await?
                .shows(&t.token, &token)
                .shows(&t.command, &command)
                .text(&t.use_token);
            visit.client_page(&page).await
        }
        Err(error) => {
            let form = naming(visit, sent.get("name")).with_error(error);
            let form = form.map_err(PageError::not_allowed)?;
            let flow = describe(visit, &room).await?;
            new_page(visit, &flow, &room, form).await
        }
    }
}

fn naming(visit: &Visit, name: &str) -> FormView {
    let t = visit.texts();
    let field = FormField::text("name", &t.field.name, "off").value(name);
    visit
        .form(visit.path(), &t.sources.make)
        .field(field.hint(&t.sources.name_hint))
}

async fn new_page(
    visit: &Visit,
    flow: &Flow,
    room: &FlowRoom,
    form: FormView,
) -> Result<Response, PageError> {
    let t = &visit.texts().sources;
    let wrong = form.is_wrong();
    Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            wrong,
            ..Frame::new(visit, flow, Subject::Sources).headed(t.make.clone())
        },
        text: t.make_text.with("flow", &flow.name).to_string(),
        form,
        back: Subject::Sources.path(&path_of_room(room)),
    }
    .answer(visit)
    .await
}

pub(in crate::pages) async fn remove(
    names: FlowNames,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let source = sent
        .get("source")
        .parse()
        .map_err(|_| PageError::unreadable())?;
    let room = find(visit, &names, FlowAction::ManageSources).await?;
    if sent.get("sure") != "1" {
        return ask_to_remove(visit, &room, source).await;
    }
    visit
        .app()
        .sources()
        .remove(actor, (room.id(), source))
        .await?;
    let here = Subject::Sources.path(&path_of_room(&room));
    Ok(see_other(&format!("{here}?done=removed")))
}

/// Asks first, since any member may remove a source, and nothing brings it back.
async fn ask_to_remove(
    visit: &Visit,
    room: &FlowRoom,
    source: SourceId,
) -> Result<Response, PageError> {
    let source = visit.app().sources().get(room, source).await?;
    let flow = describe(visit, room).await?;
    if !flow.organization.active {
        return Err(Error::denied().into());
    }
    let t = &visit.texts().sources;
    let here = Subject::Sources.path(&path_of_room(room));
    let form = visit.form(&here, &t.remove);
    let heading = t.removal.with("name", &source.name);
    let heading = heading.with("flow", &flow.name).to_string();
    Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame::new(visit, &flow, Subject::Sources).headed(heading),
        text: t.removal_text.clone(),
        form: form
            .hidden("source", &source.id.to_string())
            .hidden("sure", "1"),
        back: here,
    }
    .answer(visit)
    .await
}
