//! The identity provider of an organization: what it needs to be connected, and ending that.

use askama::Template;
use axum::response::Response;
use eddyline_app::{ScimDetails, TokenReplaced};

use super::{Own, Subject, find};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::secret_page::SecretPage;
use crate::pages::settings::Frame;
use crate::pages::settings::ask::Ask;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::visit::{Inside, Visit};

#[derive(Template)]
#[template(path = "settings/organization/provider.html")]
struct Provider {
    inside: Inside,
    frame: Frame,
    /// What is known of it, if there ever was one.
    known: Option<ScimDetails>,
    /// Lets one in, where none is.
    connect: Option<FormView>,
    /// The page that replaces the token of the one that is let in.
    replacement: Option<String>,
    /// The page that lets it in no longer.
    end: Option<String>,
}

pub(in crate::pages) async fn show(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Provider.action()).await?;
    let organizations = visit.app().organizations();
    let known = organizations.provider(visit.signed_in()?, own.id).await?;
    let here = own.path(Subject::Provider);
    let connected = known.as_ref().is_some_and(|known| known.enabled);
    let t = &visit.texts().provider;
    let button = match known {
        Some(_) => &t.connect_again,
        None => &t.connect,
    };
    let done = (visit.query("done") == "disconnected").then_some(t.disconnected.as_str());
    Ok(visit.page(&Provider {
        inside: visit.inside(),
        frame: Frame {
            done,
            ..own.frame(&visit, Subject::Provider)
        },
        connect: (!connected && own.takes_changes()).then(|| visit.form(&here, button)),
        replacement: (connected && own.takes_changes()).then(|| format!("{here}/token")),
        end: connected.then(|| format!("{here}/disconnect")),
        known,
    }))
}

pub(in crate::pages) async fn connect(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let own = find(&sent.visit, &name, Subject::Provider.action()).await?;
    let_in(&sent.visit, &own, TokenReplaced::None).await
}

pub(in crate::pages) async fn ask_to_replace(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Provider.action()).await?;
    let t = &visit.texts().provider;
    ask(&visit, &own, &t.replace, &t.replace_text).await
}

pub(in crate::pages) async fn replace(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let own = find(&sent.visit, &name, Subject::Provider.action()).await?;
    let_in(&sent.visit, &own, TokenReplaced::Present).await
}

pub(in crate::pages) async fn ask_to_disconnect(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Provider.action()).await?;
    let t = &visit.texts().provider;
    ask(&visit, &own, &t.disconnect_it, &t.disconnect_text).await
}

pub(in crate::pages) async fn disconnect(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, Subject::Provider.action()).await?;
    let organizations = visit.app().organizations();
    organizations
        .shut_provider_out(visit.signed_in()?, own.id)
        .await
        .map_err(PageError::not_allowed)?;
    let here = own.path(Subject::Provider);
    Ok(see_other(&format!("{here}?done=disconnected")))
}

/// Asks about the provider that is let in. `what` is done is the heading and the button.
async fn ask(visit: &Visit, own: &Own, what: &str, text: &str) -> Result<Response, PageError> {
    let organizations = visit.app().organizations();
    let known = organizations.provider(visit.signed_in()?, own.id).await?;
    if !known.is_some_and(|known| known.enabled) {
        return Err(PageError::not_found());
    }
    Ok(visit.page(&Ask {
        inside: visit.inside(),
        frame: own.frame(visit, Subject::Provider).headed(what.to_owned()),
        text: text.to_owned(),
        form: visit.form(visit.path(), what),
        back: own.path(Subject::Provider),
    }))
}

async fn let_in(visit: &Visit, own: &Own, replaced: TokenReplaced) -> Result<Response, PageError> {
    let organizations = visit.app().organizations();
    let (url, token) = organizations
        .let_provider_in(visit.signed_in()?, own.id, replaced)
        .await
        .map_err(PageError::not_allowed)?;
    let here = own.path(Subject::Provider);
    let t = &visit.texts().provider;
    let page = SecretPage::new(visit, &t.secret_title, (&here, &t.back))
        .shows(&t.address, &url)
        .shows(&t.token, token.expose())
        .text(&t.how);
    Ok(visit.page(&page))
}
