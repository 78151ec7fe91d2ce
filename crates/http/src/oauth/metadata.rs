//! How OAuth works here, for clients that find out by themselves (RFC 8414).

use eddyline_model::scopes::Scope;
use http::StatusCode;
use serde_json::json as object;

use crate::answer::{Answer, json};
use crate::context::RequestContext;
use crate::requester::Anybody;

pub(super) async fn show(ctx: RequestContext<Anybody>) -> Answer {
    let app = ctx.app();
    let (base, web) = (app.oauth().issuer(), &app.config().addresses.web);
    let with_secret = ["client_secret_basic", "client_secret_post"];
    let with_or_without = ["client_secret_basic", "client_secret_post", "none"];
    let mut grant_types = vec!["authorization_code", "refresh_token"];
    if app.config().oauth.password_grant {
        grant_types.push("password");
    }
    let about = object!({
        "issuer": base,
        "authorization_endpoint": format!("{web}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "token_endpoint_auth_methods_supported": with_or_without,
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "revocation_endpoint_auth_methods_supported": with_or_without,
        "introspection_endpoint": format!("{base}/oauth/introspect"),
        "introspection_endpoint_auth_methods_supported": with_secret,
        "scopes_supported": Scope::EACH.map(Scope::as_str),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": grant_types,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    json(StatusCode::OK, &about)
}
