//! The pages, one file for each subject, and their paths.

mod account;
pub(crate) mod assets;
mod authorize;
mod code;
mod developer;
mod email;
mod flow;
mod flows;
mod invitations;
mod join;
mod password;
mod pictures;
mod plain;
mod push;
mod reference;
mod secret_page;
mod settings;
mod shell;
mod sign_in;
mod within;

use axum::Router;
use axum::handler::Handler;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use eddyline_app::FlowPath;
use eddyline_http::request_envelope::{Answerable as _, AnsweredBy};
use http::{Method, Uri};

use crate::answer::moved;
use crate::error::PageError;
use crate::local_path::local_path;
use crate::session_api;
use crate::{Rooted, Site};

pub(crate) use self::reference::WrittenReference;

/// The router of all pages. Answers of one that is observed say at which path they are.
pub(crate) fn router(site: Site, is_observed: bool) -> Router {
    pages()
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            let methods = match is_observed {
                true => methods.layer(map_response(async move |response| noted(path, response))),
                false => methods,
            };
            router.route(path, methods)
        })
        .fallback(elsewhere)
        .method_not_allowed_fallback(async || PageError::WrongMethod)
        .with_state(site)
}

/// The answer, with the path of its page for metrics and traces, unless an endpoint of the API gave
/// it.
fn noted(route: &'static str, mut response: Response) -> Response {
    let endpoint = Rooted::COUNTED_AS;
    response
        .extensions_mut()
        .get_or_insert_with(|| AnsweredBy { endpoint, route });
    response
}

/// Every page at its path.
fn pages() -> Vec<(&'static str, MethodRouter<Site>)> {
    vec![
        ("/", get(sign_in::first)),
        ("/sign-in", get(sign_in::show).post(sign_in::submit)),
        (
            "/sign-in/{link}",
            get(sign_in::show_link).post(sign_in::use_link),
        ),
        ("/sign-out", post(sign_in::sign_out)),
        ("/password", get(password::ask).post(password::request)),
        (
            "/password/{link}",
            get(password::choose).post(password::set),
        ),
        ("/email/{link}", get(email::show).post(email::undo)),
        (
            "/invitations/{link}",
            get(invitations::show).post(invitations::submit),
        ),
        ("/app", get(flows::list)),
        ("/app/-/api/{*path}", scripts(session_api::api)),
        ("/app/-/stream/{*path}", get(session_api::stream)),
        ("/app/-/pictures/{picture}", get(pictures::show)),
        ("/app/-/push", post(push::change)),
        ("/app/-/service-worker.js", get(push::service_worker)),
        ("/app/-/manifest.webmanifest", get(push::manifest)),
        ("/app/-/offline", get(push::offline)),
        ("/app/-/search", get(flow::search_everywhere)),
        ("/app/-/mentions", get(flow::mentions)),
        ("/app/-/private/{user}", get(flow::private)),
        (
            "/app/-/private/{user}/messages/{message}",
            get(flow::private_message),
        ),
        ("/app/-/private/{user}/on/{day}", get(flow::private_on)),
        ("/app/{organization}/{flow}", get(flow::chat)),
        ("/app/{organization}/{flow}/inbox", get(flow::inbox)),
        ("/app/{organization}/{flow}/threads", get(flow::threads)),
        ("/app/{organization}/{flow}/files", get(flow::files)),
        ("/app/{organization}/{flow}/people", get(flow::people)),
        ("/app/{organization}/{flow}/search", get(flow::search)),
        (
            "/app/{organization}/{flow}/messages/{message}",
            get(flow::message),
        ),
        ("/app/{organization}/{flow}/on", get(flow::choose_day)),
        ("/app/{organization}/{flow}/on/{day}", get(flow::on)),
        (
            "/app/{organization}/{flow}/threads/{thread}",
            get(flow::thread),
        ),
        (
            "/app/{organization}/settings",
            get(settings::organization::general::show)
                .post(settings::organization::general::rename),
        ),
        (
            "/app/{organization}/settings/deletion",
            get(settings::organization::deletion::show)
                .post(settings::organization::deletion::change),
        ),
        (
            "/app/{organization}/settings/flows/new",
            get(settings::organization::new_flow::show)
                .post(settings::organization::new_flow::create),
        ),
        (
            "/app/{organization}/settings/people",
            get(settings::organization::people::list),
        ),
        (
            "/app/{organization}/settings/people/{user}",
            get(settings::organization::people::ask).post(settings::organization::people::remove),
        ),
        (
            "/app/{organization}/settings/people/{user}/administrator",
            get(settings::organization::administrator::ask)
                .post(settings::organization::administrator::change),
        ),
        (
            "/app/{organization}/settings/applications",
            get(settings::organization::applications::show)
                .post(settings::organization::applications::take_back),
        ),
        (
            "/app/{organization}/settings/identity-provider",
            get(settings::organization::provider::show)
                .post(settings::organization::provider::connect),
        ),
        (
            "/app/{organization}/settings/identity-provider/token",
            get(settings::organization::provider::ask_to_replace)
                .post(settings::organization::provider::replace),
        ),
        (
            "/app/{organization}/settings/identity-provider/disconnect",
            get(settings::organization::provider::ask_to_disconnect)
                .post(settings::organization::provider::disconnect),
        ),
        (
            "/app/{organization}/settings/audit",
            get(settings::organization::audit::show),
        ),
        (
            "/app/{organization}/settings/audit/download",
            post(settings::organization::audit::download),
        ),
        (
            "/app/{organization}/{flow}/settings",
            get(settings::general::show).post(settings::general::change),
        ),
        (
            "/app/{organization}/{flow}/settings/leave",
            get(settings::leave::ask).post(settings::leave::leave),
        ),
        (
            "/app/{organization}/{flow}/settings/archive",
            get(settings::archive::ask).post(settings::archive::archive),
        ),
        (
            "/app/{organization}/{flow}/settings/members",
            get(settings::members::show).post(settings::members::change),
        ),
        (
            "/app/{organization}/{flow}/settings/invitations",
            get(settings::invitations::show).post(settings::invitations::change),
        ),
        (
            "/app/{organization}/{flow}/settings/joining",
            get(settings::joining::show).post(settings::joining::change),
        ),
        (
            "/app/{organization}/{flow}/settings/notifications",
            get(settings::notifications::show).post(settings::notifications::change),
        ),
        (
            "/app/{organization}/{flow}/settings/sources",
            get(settings::sources::show).post(settings::sources::remove),
        ),
        (
            "/app/{organization}/{flow}/settings/sources/new",
            get(settings::sources::ask).post(settings::sources::make),
        ),
        ("/account", get(account::show).post(account::change)),
        (
            "/account/notifications",
            get(account::notifications::show).post(account::notifications::change),
        ),
        ("/account/picture", post(account::picture::upload)),
        (
            "/oauth/authorize",
            get(authorize::show).post(authorize::decide),
        ),
        ("/oauth/authorize/{code}", get(code::show)),
        (
            "/account/applications",
            get(account::applications::show).post(account::applications::take_back),
        ),
        (
            "/account/tokens",
            get(account::tokens::list).post(account::tokens::make),
        ),
        (
            "/account/tokens/{token}",
            get(account::tokens::show).post(account::tokens::change),
        ),
        (
            "/account/sessions",
            get(account::sessions::show).post(account::sessions::end),
        ),
        (
            "/account/organizations/{organization}",
            get(settings::organization::applications::from_account)
                .post(settings::organization::applications::form_from_account),
        ),
        ("/developer", get(developer::list).post(developer::register)),
        (
            "/developer/{application}",
            get(developer::application::show).post(developer::application::change),
        ),
        (
            "/developer/{application}/secret",
            get(developer::secret::ask).post(developer::secret::renew),
        ),
        (
            "/developer/{application}/remove",
            get(developer::remove::ask).post(developer::remove::remove),
        ),
        (
            "/developer/{application}/setup",
            get(developer::setup::show),
        ),
        ("/api", get(reference::show)),
        ("/assets/reference.js", get(assets::reference_script)),
        ("/assets/style.css", get(assets::style)),
        ("/assets/icon.svg", get(assets::icon)),
        ("/assets/{digest}/{name}", get(assets::script)),
    ]
}

/// What scripts of pages reach by the methods of the API.
fn scripts<H: Handler<T, Site>, T: 'static>(handler: H) -> MethodRouter<Site> {
    get(handler.clone())
        .post(handler.clone())
        .put(handler.clone())
        .patch(handler.clone())
        .delete(handler)
}

/// Where no page is: a browser that asks with one slash too many at the end is sent to the path
/// without it.
async fn elsewhere(method: Method, uri: Uri) -> Result<Response, PageError> {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Err(PageError::not_found());
    }
    let path = uri
        .path()
        .strip_suffix('/')
        .filter(|path| !path.ends_with('/'))
        .ok_or_else(PageError::not_found)?;
    let path = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    local_path(&path)
        .map(moved)
        .ok_or_else(PageError::not_found)
}

/// The secret of a link with this many hexadecimal digits.
fn secret(text: &str, digits: usize) -> Option<eddyline_app::Secret> {
    eddyline_random::is_hex(text, digits).then(|| eddyline_app::Secret::presented(text))
}

/// The page of a flow.
fn page_of(path: &FlowPath) -> String {
    format!("/app/{}/{}", path.organization, path.flow)
}

#[cfg(test)]
mod tests {
    use eddyline_model::paths::is_page;

    use super::*;

    #[test]
    fn every_page_is_at_a_path_of_pages() {
        for (path, _) in pages() {
            assert!(is_page(path), "{path}");
        }
    }
}
