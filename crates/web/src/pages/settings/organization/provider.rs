//! The identity provider of an organization: what it needs to be connected, and ending that.

use askama::Template;
use axum::response::Response;
use eddyline_app::{Actor, Error, ErrorKind, ExpectedToken, ScimDetails, Secret};
use http::StatusCode;

use super::{Own, Subject, confirmation, find, with_confirmation};
use crate::answer::see_other;
use crate::error::PageError;
use crate::field::FormView;
use crate::pages::secret_page::SecretPage;
use crate::pages::settings::Frame;
use crate::pages::settings::ask::Ask;
use crate::pages::shell::Shell;
use crate::segments::OrganizationName;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "settings/organization/provider.html")]
struct Provider {
    t: &'static Texts,
    shell: Shell,
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
    page(&visit, &own, None).await
}

/// The page, with what was wrong with its form.
async fn page(visit: &Visit, own: &Own, error: Option<Error>) -> Result<Response, PageError> {
    let organizations = visit.app().organizations();
    let known = organizations.provider(visit.signed_in()?, own.id).await?;
    let here = own.path(Subject::Provider);
    let connected = known.as_ref().is_some_and(|known| known.enabled);
    let t = &visit.texts().provider;
    let button = match known {
        Some(_) => &t.connect_again,
        None => &t.connect,
    };
    let mut connect = None;
    if !connected && own.takes_changes() {
        connect = Some(with_confirmation(visit, visit.form(&here, button)).await?);
    }
    let connect = with_error(connect, error)?;
    let wrong = connect.as_ref().is_some_and(FormView::is_wrong);
    let done = (visit.query("done") == "disconnected").then_some(t.disconnected.as_str());
    let page = Provider {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            done,
            wrong,
            ..own.frame(visit, Subject::Provider)
        },
        connect,
        replacement: (connected && own.takes_changes()).then(|| format!("{here}/token")),
        end: connected.then(|| format!("{here}/disconnect")),
        known,
    };
    visit.client_page_with(status(wrong), &page).await
}

/// A form with what was wrong with it. What no form can show is an error page.
fn with_error(form: Option<FormView>, error: Option<Error>) -> Result<Option<FormView>, PageError> {
    match (form, error) {
        (form, None) => Ok(form),
        (Some(form), Some(error)) if error.kind() == ErrorKind::Invalid => {
            Ok(Some(form.with_error(error)?))
        }
        (_, Some(error)) => Err(PageError::not_allowed(error)),
    }
}

fn status(wrong: bool) -> StatusCode {
    match wrong {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    }
}

pub(in crate::pages) async fn connect(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let own = find(&sent.visit, &name, Subject::Provider.action()).await?;
    let actor = sent.visit.signed_in()?;
    match new_token(&sent, actor, &own, ExpectedToken::None).await {
        Ok(shown) => token_page(&sent.visit, &own, shown).await,
        Err(error) => page(&sent.visit, &own, Some(error)).await,
    }
}

pub(in crate::pages) async fn ask_to_replace(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Provider.action()).await?;
    replacement(&visit, &own, None).await
}

/// Asks whether the token shall be replaced.
async fn replacement(
    visit: &Visit,
    own: &Own,
    error: Option<Error>,
) -> Result<Response, PageError> {
    let t = &visit.texts().provider;
    let form = with_confirmation(visit, visit.form(visit.path(), &t.replace)).await?;
    let form = with_error(Some(form), error)?;
    ask(visit, own, (&t.replace, &t.replace_text), form).await
}

pub(in crate::pages) async fn replace(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let own = find(&sent.visit, &name, Subject::Provider.action()).await?;
    let actor = sent.visit.signed_in()?;
    match new_token(&sent, actor, &own, ExpectedToken::Present).await {
        Ok(shown) => token_page(&sent.visit, &own, shown).await,
        Err(error) => replacement(&sent.visit, &own, Some(error)).await,
    }
}

pub(in crate::pages) async fn ask_to_disconnect(
    visit: Visit,
    OrganizationName(name): OrganizationName,
) -> Result<Response, PageError> {
    let own = find(&visit, &name, Subject::Provider.action()).await?;
    let t = &visit.texts().provider;
    let form = visit.form(visit.path(), &t.disconnect_it);
    ask(
        &visit,
        &own,
        (&t.disconnect_it, &t.disconnect_text),
        Some(form),
    )
    .await
}

pub(in crate::pages) async fn disconnect(
    OrganizationName(name): OrganizationName,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let own = find(visit, &name, Subject::Provider.action()).await?;
    let organizations = visit.app().organizations();
    organizations
        .disconnect_provider(visit.signed_in()?, own.id)
        .await
        .map_err(PageError::not_allowed)?;
    let here = own.path(Subject::Provider);
    Ok(see_other(&format!("{here}?done=disconnected")))
}

/// Asks about the provider that is let in; `what` is done is the heading.
async fn ask(
    visit: &Visit,
    own: &Own,
    (what, text): (&str, &str),
    form: Option<FormView>,
) -> Result<Response, PageError> {
    let organizations = visit.app().organizations();
    let known = organizations.provider(visit.signed_in()?, own.id).await?;
    let form = form.filter(|_| known.is_some_and(|known| known.enabled));
    let form = form.ok_or_else(PageError::not_found)?;
    let wrong = form.is_wrong();
    let page = Ask {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        frame: Frame {
            wrong,
            ..own.frame(visit, Subject::Provider).headed(what.to_owned())
        },
        text: text.to_owned(),
        form,
        back: own.path(Subject::Provider),
    };
    visit.client_page_with(status(wrong), &page).await
}

/// Makes a token, and gives it with the address that it is for.
async fn new_token(
    sent: &Submission,
    actor: &Actor,
    own: &Own,
    replaced: ExpectedToken,
) -> Result<(String, Secret), Error> {
    let organizations = sent.visit.app().organizations();
    organizations
        .connect_provider(actor, own.id, replaced, &confirmation(sent))
        .await
}

async fn token_page(
    visit: &Visit,
    own: &Own,
    (url, token): (String, Secret),
) -> Result<Response, PageError> {
    let here = own.path(Subject::Provider);
    let t = &visit.texts().provider;
    let page = SecretPage::new(visit, &t.secret_title, (&here, &t.back))
        .await?
        .shows(&t.address, &url)
        .shows(&t.token, token.expose())
        .text(&t.how);
    visit.client_page(&page).await
}
