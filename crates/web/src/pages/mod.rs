//! The pages, one file for each subject, and their paths.

mod account;
pub(crate) mod assets;
mod authorize;
mod code;
mod developer;
mod email;
mod flows;
mod inbox;
mod invitations;
mod join;
mod password;
mod plain;
mod secret_page;
mod sign_in;
mod within;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use http::{Method, Uri};

use crate::Site;
use crate::answer::moved;
use crate::failure::Failure;
use crate::local_path::local_path;

/// Every page at its path.
pub(crate) fn router(site: Site) -> Router {
    Router::new()
        .route("/", get(sign_in::first))
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/sign-in/{link}", get(sign_in::show_link).post(sign_in::use_link))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/password", get(password::ask).post(password::request))
        .route("/password/{link}", get(password::choose).post(password::set))
        .route("/email/{link}", get(email::show).post(email::undo))
        .route("/invitations/{link}", get(invitations::show).post(invitations::submit))
        .route("/app", get(flows::list))
        .route("/app/{organization}/{flow}", get(flows::show).post(flows::change))
        .route("/app/{organization}/{flow}/inbox", get(inbox::show).post(inbox::remove))
        .route("/account", get(account::show).post(account::change))
        .route("/account/picture", post(account::picture::upload))
        .route("/oauth/authorize", get(authorize::show).post(authorize::decide))
        .route("/oauth/authorize/{code}", get(code::show))
        .route(
            "/account/applications",
            get(account::applications::show).post(account::applications::take_back),
        )
        .route("/account/tokens", get(account::tokens::list).post(account::tokens::make))
        .route("/account/tokens/{token}", get(account::tokens::show).post(account::tokens::change))
        .route("/account/sessions", get(account::sessions::show).post(account::sessions::end))
        .route(
            "/account/organizations/{organization}",
            get(account::organization::show).post(account::organization::take_back),
        )
        .route("/developer", get(developer::list).post(developer::register))
        .route(
            "/developer/{application}",
            get(developer::application::show).post(developer::application::change),
        )
        .route("/developer/{application}/secret", get(developer::secret::ask).post(developer::secret::renew))
        .route("/developer/{application}/remove", get(developer::remove::ask).post(developer::remove::remove))
        .route("/developer/{application}/setup", get(developer::setup::show))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/icon.svg", get(assets::icon))
        .fallback(elsewhere)
        .method_not_allowed_fallback(async || Failure::WrongMethod)
        .with_state(site)
}

/// Where no page is: whoever reads with one slash too many at the end is sent to the path without it.
async fn elsewhere(method: Method, uri: Uri) -> Result<Response, Failure> {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Err(Failure::NoPage);
    }
    let path = uri.path().strip_suffix('/').filter(|path| !path.ends_with('/')).ok_or(Failure::NoPage)?;
    let path = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    local_path(&path).map(moved).ok_or(Failure::NoPage)
}

/// The secret of a link with this many hexadecimal digits.
fn secret(text: &str, digits: usize) -> Option<eddyline_app::Secret> {
    let hex = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hex.then(|| eddyline_app::Secret::presented(text))
}
