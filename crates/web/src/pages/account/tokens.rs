//! One's API tokens: making, naming and ending them.

use askama::Template;
use axum::response::Response;
use eddyline_app::ApiToken;
use eddyline_model::CredentialId;
use http::StatusCode;

use crate::answer::see_other;
use crate::error::PageError;
use crate::field::{FormField, FormView};
use crate::pages::secret_page::SecretPage;
use crate::pages::shell::Shell;
use crate::pages::within::Within;
use crate::segments::Numbered;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

const PATH: &str = "/account/tokens";

#[derive(Template)]
#[template(path = "tokens.html")]
struct Tokens {
    t: &'static Texts,
    shell: Shell,
    done: Option<&'static str>,
    tokens: Vec<ApiToken>,
    form: FormView,
}

pub(in crate::pages) async fn list(visit: Visit) -> Result<Response, PageError> {
    let t = &visit.texts().tokens;
    let done = match visit.query("done") {
        "renamed" => Some(t.renamed.as_str()),
        "ended" => Some(t.ended.as_str()),
        _ => None,
    };
    listed(&visit, done, making(&visit, "")).await
}

pub(in crate::pages) async fn make(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    let form = making(visit, sent.get("name"));
    let form = match visit
        .app()
        .accounts()
        .make_api_token(actor, sent.get("name"))
        .await
    {
        Ok(secret) => {
            let t = &visit.texts().tokens;
            let page = SecretPage::new(visit, &t.fresh, (PATH, &t.all))
                .await?
                .shows(&t.label, secret.expose())
                .text(&t.how);
            return visit.client_page(&page).await;
        }
        Err(error) => form.with_error(error)?,
    };
    listed(visit, None, form).await
}

async fn listed(
    visit: &Visit,
    done: Option<&'static str>,
    form: FormView,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let tokens = visit.app().accounts().api_tokens(actor).await?;
    let status = if form.is_wrong() {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    let page = Tokens {
        t: visit.texts(),
        shell: Shell::beside(visit).await?,
        done,
        tokens,
        form,
    };
    visit.client_page_with(status, &page).await
}

/// One of them, with what can be done to it.
pub(in crate::pages) async fn show(
    visit: Visit,
    Numbered(id): Numbered<CredentialId>,
) -> Result<Response, PageError> {
    shown(&visit, id, None).await
}

pub(in crate::pages) async fn change(
    Numbered(id): Numbered<CredentialId>,
    sent: Submission,
) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let actor = visit.signed_in()?;
    match sent.get("do") {
        "rename" => match visit
            .app()
            .accounts()
            .rename_api_token(actor, id, sent.get("name"))
            .await
        {
            Ok(()) => Ok(see_other(&format!("{PATH}?done=renamed"))),
            Err(error) => {
                let form = renaming(visit, sent.get("name")).with_error(error)?;
                shown(visit, id, Some(form)).await
            }
        },
        "end" => {
            visit.app().accounts().end_api_token(actor, id).await?;
            Ok(see_other(&format!("{PATH}?done=ended")))
        }
        _ => Err(PageError::unreadable()),
    }
}

/// The page of a token; `wrong` is the form as it was sent, when something is wrong with it.
async fn shown(
    visit: &Visit,
    id: CredentialId,
    wrong: Option<FormView>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let tokens = visit.app().accounts().api_tokens(actor).await?;
    let token = tokens
        .into_iter()
        .find(|token| token.id == id)
        .ok_or_else(PageError::not_found)?;
    let status = if wrong.is_some() {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    let t = visit.texts();
    let created = crate::moment::minute(&token.created_at, t);
    let ending = visit
        .form(visit.path(), &t.tokens.end)
        .hidden("do", "end")
        .quiet();
    let page = Within::new(visit, t.tokens.named.with("name", &token.name))
        .await?
        .text(t.tokens.created.with("time", created))
        .form(wrong.unwrap_or_else(|| renaming(visit, &token.name)))
        .form(ending)
        .link(PATH, &t.tokens.all);
    visit.client_page_with(status, &page).await
}

fn making(visit: &Visit, name: &str) -> FormView {
    let t = visit.texts();
    let field = FormField::text("name", &t.field.name, "off")
        .value(name)
        .hint(&t.tokens.name_hint);
    visit.form(PATH, &t.tokens.create).field(field)
}

fn renaming(visit: &Visit, name: &str) -> FormView {
    let t = visit.texts();
    visit
        .form(visit.path(), &t.tokens.rename)
        .hidden("do", "rename")
        .field(FormField::text("name", &t.field.name, "off").value(name))
}
