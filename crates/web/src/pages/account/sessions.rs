//! The browsers that are signed in to one's account.

use std::borrow::Cow;

use askama::Template;
use axum::response::Response;
use eddyline_app::OneSession;

use crate::answer::see_other;
use crate::browser::known;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::shell::Shell;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

const PATH: &str = "/account/sessions";

#[derive(Template)]
#[template(path = "sessions.html")]
struct Sessions {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    /// Each with the form that ends it, but for the one that looks.
    sessions: Vec<(OneSession, Option<FormView>)>,
    others: Option<FormView>,
}

pub(in crate::pages) async fn show(visit: Visit) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let sessions: Vec<_> = visit.app().accounts().sessions(actor).await?;
    let sessions: Vec<_> = (1..)
        .zip(sessions)
        .map(|(number, session)| {
            let form = (!session.is_this).then(|| ending(&visit, number, &session));
            (session, form)
        })
        .collect();
    let others = sessions
        .iter()
        .any(|(session, _)| !session.is_this)
        .then(|| {
            visit
                .form(PATH, &visit.texts().sessions.end_others)
                .hidden("do", "end-others")
        });
    let t = &visit.texts().sessions;
    let done = match visit.query("done") {
        "ended" => Some(t.ended.as_str()),
        "others" => Some(t.others_ended.as_str()),
        _ => None,
    };
    let page = Sessions {
        t: visit.texts(),
        shell: Shell::beside(&visit).await?,
        done,
        sessions,
        others,
    };
    visit.client_page(&page).await
}

pub(in crate::pages) async fn end(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    match sent.get("do") {
        "end" => {
            let id = sent
                .get("session")
                .parse()
                .map_err(|_| PageError::unreadable())?;
            visit.app().accounts().end_session(actor, id).await?;
            Ok(see_other(&format!("{PATH}?done=ended")))
        }
        "end-others" => {
            visit.app().accounts().end_other_sessions(actor).await?;
            Ok(see_other(&format!("{PATH}?done=others")))
        }
        _ => Err(PageError::unreadable()),
    }
}

/// `number` is that of the heading: browsers of one kind call themselves the same.
fn ending(visit: &Visit, number: usize, session: &OneSession) -> FormView {
    let t = visit.texts();
    visit
        .form(PATH, &t.sessions.end)
        .hidden("do", "end")
        .hidden("session", &session.id.to_string())
        .about(format!("{number}. {}", called(session, t)))
        .quiet()
}

/// The name of the browser: short where it is known, otherwise its `User-Agent` header.
fn called<'a>(session: &'a OneSession, t: &'a Texts) -> Cow<'a, str> {
    let t = &t.sessions;
    match known(&session.agent) {
        Some((browser, system)) => {
            let name = t.browser.with("browser", browser);
            name.with("system", system).to_string().into()
        }
        None if session.agent.is_empty() => t.unknown.as_str().into(),
        None => session.agent.as_str().into(),
    }
}

/// The `User-Agent` header, where only a short name was shown.
fn whole_agent(session: &OneSession) -> Option<&str> {
    known(&session.agent).map(|_| session.agent.as_str())
}
