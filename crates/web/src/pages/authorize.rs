//! The consent: what an application asks a user for, and the answer (RFC 6749, section 4.1).
//!
//! The browser carries the request along, through signing in and the form, and each step judges it
//! anew. Nothing is kept here before somebody consents, and everybody is asked every time.

use askama::Template;
use axum::response::Response;
use eddyline_app::{
    Actor, AuthorizationParameters, AuthorizationPrompt, AuthorizeError, ErrorKind, OAuthParameters,
};
use eddyline_model::applications::Destination;

use super::plain::Plain;
use crate::answer::{elsewhere, let_forms_lead_to, see_other};
use crate::error::PageError;
use crate::field::FormView;
use crate::form::Form;
use crate::local_path::local_path;
use crate::local_path::sign_in_path;
use crate::scope_words::words;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

const PATH: &str = "/oauth/authorize";
/// What the form has of its own, so that no parameter can stand for it.
const OWN_FIELDS: [&str; 2] = ["csrf", "decision"];

#[derive(Template)]
#[template(path = "consent.html")]
struct Consent<'a> {
    t: &'static Texts,
    application: &'a str,
    organization: &'a str,
    scopes: Vec<&'static str>,
    destination: Destination,
    name: &'a str,
    email: &'a str,
    action: String,
    csrf: &'a str,
    hidden: Vec<(&'a str, &'a str)>,
    with_other_account: FormView,
}

pub(super) async fn show(visit: Visit) -> Result<Response, PageError> {
    let asking = Asking::of(visit.whole_query().pairs(), visit.texts())?;
    match asking.judge(&visit).await? {
        Judged::Asks(actor, asked) => asking.page(&visit, actor, &asked),
        Judged::Elsewhere(response) => Ok(response),
    }
}

pub(super) async fn decide(sent: Submission) -> Result<Response, PageError> {
    let visit = &sent.visit;
    let asking = Asking::of(
        visit.whole_query().pairs().chain(sent.form().pairs()),
        visit.texts(),
    )?;
    let (actor, asked) = match asking.judge(visit).await? {
        Judged::Asks(actor, asked) => (actor, asked),
        Judged::Elsewhere(response) => return Ok(response),
    };
    match sent.get("decision") {
        "accept" => asking.accept(visit, actor, &asked).await,
        "deny" => Ok(deny(visit, &asked)),
        _ => Err(PageError::unreadable()),
    }
}

/// The site to which signing in leads at last when one goes on to this path, if it is not ours: an
/// application that asks for something wrong is told at once.
pub(super) async fn way_back(visit: &Visit, next: &str) -> Result<Option<String>, PageError> {
    let query = next
        .strip_prefix(PATH)
        .and_then(|rest| rest.strip_prefix('?'));
    let Some(form) = query.and_then(|query| Form::parse(query.as_bytes())) else {
        return Ok(None);
    };
    match visit
        .app()
        .oauth()
        .authorization_prompt(&parameters(&form))
        .await
    {
        Err(AuthorizeError::SendBack { redirect_uri, .. }) => Ok(redirect_uri.policy_source()),
        Err(AuthorizeError::App(error)) => Err(error.into()),
        _ => Ok(None),
    }
}

fn parameters(form: &Form) -> AuthorizationParameters {
    AuthorizationParameters::new(OAuthParameters::new(form.pairs()))
}

/// A request as the browser carries it.
struct Asking {
    form: Form,
    parameters: AuthorizationParameters,
    /// Where the request is put before the user.
    path: String,
}

/// What becomes of a request.
enum Judged<'a> {
    /// Who is signed in is asked this.
    Asks(&'a Actor, AuthorizationPrompt),
    /// The browser goes on without that.
    Elsewhere(Response),
}

impl Asking {
    fn of(pairs: impl Iterator<Item = (String, String)>, t: &Texts) -> Result<Self, PageError> {
        let form: Form = pairs
            .filter(|(name, _)| !OWN_FIELDS.contains(&name.as_str()))
            .collect();
        let path = format!("{PATH}?{}", form.encoded());
        if local_path(&path).is_none() {
            return Err(PageError::InvalidAuthorization(t.consent.too_long.clone()));
        }
        Ok(Self {
            parameters: parameters(&form),
            form,
            path,
        })
    }

    /// Nobody is sent to another site before they have signed in, so that links to us do not lead
    /// just anybody to a site that somebody has registered (RFC 9700, section 4.11.2).
    async fn judge<'a>(&self, visit: &'a Visit) -> Result<Judged<'a>, PageError> {
        let asked = match visit
            .app()
            .oauth()
            .authorization_prompt(&self.parameters)
            .await
        {
            Ok(asked) => Ok(asked),
            Err(AuthorizeError::SendBack { address, .. }) => Err(address),
            Err(failure) => return Err(failure.into()),
        };
        let actor = visit.signed_in_for(&self.path)?;
        Ok(match asked {
            Ok(asked) => Judged::Asks(actor, asked),
            Err(address) => Judged::Elsewhere(elsewhere(&address)),
        })
    }

    /// Where the form goes, and what it carries. Browsers write line breaks of fields in a way of
    /// their own, and what was sent must come back unchanged, so such parameters go with the
    /// address.
    fn carried(&self) -> (String, Vec<(&str, &str)>) {
        let has_line_break = |text: &str| text.contains(['\r', '\n']);
        let (with_line_breaks, hidden): (Vec<_>, Vec<_>) = self
            .form
            .iter()
            .partition(|(name, value)| has_line_break(name) || has_line_break(value));
        if with_line_breaks.is_empty() {
            return (PATH.to_owned(), hidden);
        }
        let owned = with_line_breaks
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        (
            format!("{PATH}?{}", owned.collect::<Form>().encoded()),
            hidden,
        )
    }

    fn page(
        &self,
        visit: &Visit,
        actor: &Actor,
        asked: &AuthorizationPrompt,
    ) -> Result<Response, PageError> {
        let user = &actor.user()?.user;
        let redirect_uri = &asked.request.redirect_uri;
        let t = visit.texts();
        let sign_out = visit.form("/sign-out", &t.consent.other_account);
        let (action, hidden) = self.carried();
        let mut response = visit.page(&Consent {
            t,
            application: &asked.application.name,
            organization: &asked.organization_name,
            scopes: asked
                .request
                .scopes
                .iter()
                .map(|scope| words(scope, t))
                .collect(),
            destination: redirect_uri.destination(),
            name: &user.name,
            email: &user.email,
            action,
            csrf: visit.csrf(),
            hidden,
            with_other_account: sign_out.hidden("next", &self.path).quiet(),
        });
        if let Some(source) = redirect_uri.policy_source() {
            let_forms_lead_to(&mut response, &source);
        }
        Ok(response)
    }

    async fn accept(
        &self,
        visit: &Visit,
        actor: &Actor,
        asked: &AuthorizationPrompt,
    ) -> Result<Response, PageError> {
        let code = match visit.app().oauth().consent(actor, asked).await {
            Ok(code) => code,
            // The session ended at this very moment.
            Err(error) if error.kind() == ErrorKind::Unauthenticated => {
                return Ok(see_other(&sign_in_path(&self.path)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let removed = visit.texts().consent.removed.clone();
                return Err(PageError::InvalidAuthorization(removed));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(match visit.app().oauth().accepted_at(asked, &code) {
            Some(address) => elsewhere(&address),
            None => see_other(&format!("{PATH}/{}", code.expose())),
        })
    }
}

fn deny(visit: &Visit, asked: &AuthorizationPrompt) -> Response {
    match visit.app().oauth().denied_at(asked) {
        Some(address) => elsewhere(&address),
        None => {
            let denied = &visit.texts().consent.denied;
            let text = denied.text.with("application", &asked.application.name);
            visit.page(&Plain::new(visit, &denied.title).text(text))
        }
    }
}
