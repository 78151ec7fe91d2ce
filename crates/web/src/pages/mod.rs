//! The pages, one file for each subject, and their paths.

mod account;
pub(crate) mod assets;
mod email;
mod flows;
mod invitations;
mod join;
mod password;
mod plain;
mod sign_in;

use axum::Router;
use axum::routing::{get, post};

use crate::Site;
use crate::failure::Failure;

/// Every page at its path.
pub(crate) fn router(site: Site) -> Router {
    Router::new()
        .route("/", get(sign_in::first))
        .route("/sign-in", get(sign_in::show).post(sign_in::submit))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/password", get(password::ask).post(password::request))
        .route("/password/{link}", get(password::choose).post(password::set))
        .route("/email/{link}", get(email::show).post(email::undo))
        .route("/invitations/{link}", get(invitations::show).post(invitations::submit))
        .route("/app", get(flows::list))
        .route("/app/{organization}/{flow}", get(flows::show))
        .route("/account", get(account::show).post(account::change))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/icon.svg", get(assets::icon))
        .fallback(async || Failure::NoPage)
        .method_not_allowed_fallback(async || Failure::WrongMethod)
        .with_state(site)
}

/// The secret of a link with this many hexadecimal digits.
fn secret(text: &str, digits: usize) -> Option<eddyline_app::Secret> {
    let hex = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hex.then(|| eddyline_app::Secret::presented(text))
}
