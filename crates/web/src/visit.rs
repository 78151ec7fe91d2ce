//! Somebody's look at a page: whose browser it is, and what its forms must show.

use std::fmt::Display;
use std::net::IpAddr;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::response::Response;
use eddyline_app::{Actor, App, Secret};
use eddyline_http::serve::mark_authenticated;
use http::header::{HeaderMap, HeaderValue, SET_COOKIE, USER_AGENT};
use http::{StatusCode, request::Parts};

use crate::Site;
use crate::answer::{let_scripts_run, page, see_other};
use crate::cookies::{self, CookieNames};
use crate::error::PageError;
use crate::field::FormView;
use crate::form::Form;
use crate::language::Language;
use crate::texts::Texts;
use crate::theme::Theme;
use crate::zone::Zone;

/// A request for a page.
pub(crate) struct Visit {
    site: Site,
    cookies: CookieNames,
    actor: Option<Actor>,
    session: Option<Secret>,
    /// What our forms bear, and whether the browser does not have it yet.
    csrf: (String, bool),
    client: IpAddr,
    query: Form,
    path: String,
    /// The path with its query.
    address: String,
    /// What the browser calls itself.
    agent: String,
    zone: Zone,
    is_hinted: bool,
    theme: Option<Theme>,
    t: &'static Texts,
    /// The language that was chosen in this browser.
    language: Option<Language>,
}

impl FromRequestParts<Site> for Visit {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        let client = site.proxies.client(&parts.headers, &parts.extensions);
        // A proxy may do the encryption, and say so.
        let cookies = CookieNames::new(site.secure || client.secure == Some(true));
        let session = cookies.session(&parts.headers).map(Secret::presented);
        let actor = match &session {
            Some(session) => site.app.accounts().by_session(session).await?,
            None => None,
        };
        if let Some(actor) = &actor {
            mark_authenticated(&parts.extensions, actor.quota_subject());
            if let Actor::User { caller, .. } = actor {
                site.proxies.note_user(client.addr, caller.user.id);
            }
        }
        let csrf = match cookies.csrf(&parts.headers) {
            Some(token) => (token, false),
            None => (new_token(), true),
        };
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self {
            actor,
            session,
            csrf,
            client: client.addr,
            cookies,
            query: Form::parse(query.as_bytes()).ok_or(PageError::InvalidAddress)?,
            path: parts.uri.path().to_owned(),
            address: parts
                .uri
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            agent: agent(&parts.headers),
            zone: Zone::of(&parts.headers),
            is_hinted: cookies::find(&parts.headers, cookies::HINT).is_none(),
            theme: Theme::of(&parts.headers),
            t: Texts::of(&parts.headers),
            language: Language::chosen(&parts.headers),
            site: site.clone(),
        })
    }
}

impl Visit {
    pub(crate) fn app(&self) -> &App {
        &self.site.app
    }

    /// Looks the session up once more, after a wait.
    pub(crate) async fn look_up_again(&mut self) -> Result<(), PageError> {
        if let Some(session) = &self.session {
            self.actor = self.site.app.accounts().by_session(session).await?;
        }
        Ok(())
    }

    /// Who is signed in.
    pub(crate) fn actor(&self) -> Option<&Actor> {
        self.actor.as_ref()
    }

    /// The full name of who is signed in.
    pub(crate) fn name(&self) -> Option<&str> {
        self.actor
            .as_ref()
            .and_then(|actor| actor.user().ok())
            .map(|caller| caller.user.name.as_str())
    }

    /// Where the request comes from, for counting.
    pub(crate) fn client(&self) -> IpAddr {
        self.client
    }

    /// The time zone of the browser.
    pub(crate) fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Whether the page says what a flow is: the user of this browser has not closed that hint.
    pub(crate) fn is_hinted(&self) -> bool {
        self.is_hinted
    }

    /// A value of the query.
    pub(crate) fn query(&self, name: &str) -> &str {
        self.query.get(name)
    }

    /// The whole query.
    pub(crate) fn whole_query(&self) -> &Form {
        &self.query
    }

    /// The path that was asked for.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// What a form of ours bears.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf.0
    }

    /// Whether a form bears what the browser's cookie holds. Another site can have the browser send
    /// the cookie, but cannot read it.
    pub(crate) fn is_own_form(&self, shown: &str) -> bool {
        let (token, fresh) = &self.csrf;
        !fresh && eddyline_app::constant_time_eq(token.as_bytes(), shown.as_bytes())
    }

    pub(crate) fn is_foreign(&self, headers: &HeaderMap) -> bool {
        self.site.origin.is_foreign(headers)
    }

    pub(crate) fn body_time(&self) -> std::time::Duration {
        self.site.body_time
    }

    /// The colours that the reader has chosen, or `None` for those of the system.
    pub(crate) fn theme(&self) -> Option<Theme> {
        self.theme
    }

    /// Has the browser keep a choice of colours.
    pub(crate) fn keep_theme(&self, theme: Option<Theme>, response: &mut Response) {
        let cookie = self.cookies.set_theme(theme.map(Theme::name));
        response.headers_mut().append(SET_COOKIE, cookie);
    }

    /// The texts in the language of the request.
    pub(crate) fn texts(&self) -> &'static Texts {
        self.t
    }

    /// The language that the reader has chosen, or `None` for the one that the browser says.
    pub(crate) fn language(&self) -> Option<Language> {
        self.language
    }

    /// Has the browser keep a choice of a language.
    pub(crate) fn keep_language(&self, language: Option<Language>, response: &mut Response) {
        let cookie = self.cookies.set_language(language.map(Language::tag));
        response.headers_mut().append(SET_COOKIE, cookie);
    }

    /// A form of a page, which posts to this path.
    pub(crate) fn form(&self, action: impl Into<String>, button: impl Display) -> FormView {
        FormView::new(self.t, action, self.csrf(), button)
    }

    /// Who must be signed in for a page.
    ///
    /// # Errors
    ///
    /// [`PageError::SignIn`].
    pub(crate) fn signed_in(&self) -> Result<&Actor, PageError> {
        self.signed_in_for(&self.address)
    }

    /// The same for a page that is elsewhere.
    pub(crate) fn signed_in_for(&self, next: &str) -> Result<&Actor, PageError> {
        self.actor()
            .ok_or_else(|| PageError::SignIn(next.to_owned()))
    }

    /// The answer to the request.
    pub(crate) fn page(&self, template: &impl Template) -> Response {
        self.page_with(StatusCode::OK, template)
    }

    /// The answer, with this status.
    pub(crate) fn page_with(&self, status: StatusCode, template: &impl Template) -> Response {
        let mut response = page(self.t, status, template);
        if self.csrf.1 {
            response
                .headers_mut()
                .append(SET_COOKIE, self.cookies.set_csrf(&self.csrf.0));
        }
        response
    }

    /// The answer, as a page for a signed-in user, whose scripts run.
    pub(crate) async fn client_page(
        &self,
        template: &impl Template,
    ) -> Result<Response, PageError> {
        self.client_page_with(StatusCode::OK, template).await
    }

    /// The same, with this status.
    pub(crate) async fn client_page_with(
        &self,
        status: StatusCode,
        template: &impl Template,
    ) -> Result<Response, PageError> {
        let mut response = self.page_with(status, template);
        let store = self.app().files().origin().await?;
        let base = &self.app().config().addresses.base;
        let_scripts_run(&mut response, base, store.as_deref());
        Ok(response)
    }

    /// Sends the browser on, signed in. Its session before ends: it has one at a time. Pages that
    /// were open before cannot send their forms any more, since somebody else may have loaded them.
    pub(crate) async fn begin_session(
        &self,
        session: &Secret,
        path: &str,
    ) -> Result<Response, PageError> {
        if let Err(error) = self
            .app()
            .accounts()
            .name_session(session, &self.agent)
            .await
        {
            // It is only for its owner to tell it from others.
            tracing::debug!(%error, "what a browser calls itself could not be noted");
        }
        let cookie = self.cookies.set_session(session.expose());
        self.replace_session(cookie, see_other(path)).await
    }

    /// Ends the session of the browser, and lets it forget it.
    pub(crate) async fn end_session(&self, response: Response) -> Result<Response, PageError> {
        self.replace_session(self.cookies.end_session(), response)
            .await
    }

    async fn replace_session(
        &self,
        cookie: HeaderValue,
        mut response: Response,
    ) -> Result<Response, PageError> {
        if let Some(session) = &self.session {
            self.app().accounts().sign_out(session).await?;
        }
        let token = self.cookies.set_csrf(&new_token());
        response.headers_mut().append(SET_COOKIE, cookie);
        response.headers_mut().append(SET_COOKIE, token);
        Ok(response)
    }
}

fn agent(headers: &HeaderMap) -> String {
    let said = headers
        .get(USER_AGENT)
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    said.unwrap_or_default().into_owned()
}

fn new_token() -> String {
    Secret::generate_hex::<32>().expose().to_owned()
}
