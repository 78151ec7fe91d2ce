//! A service of a team that has a chat: the API of Eddyline is nested under `/chat`, beside a route
//! of the service itself. That route takes the credentials of the chat, and posts to a flow in
//! their name without a request over HTTP.
//!
//! ```text
//! cargo run -p eddyline-example-host
//! curl -u TOKEN: -d 'api 2.4.0' http://127.0.0.1:8080/deployments
//! ```
//!
//! The pages are left out; `eddyline_web` has them.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use axum::extract::{Extension, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Router, response::IntoResponse};
use eddyline_app::{
    Addresses, App, Config, Credentials, Error as ChatError, ErrorKind, NewFlow, NewOrganization,
    NewPerson, NewPost, Secret,
};
use eddyline_http::serve::{Limits, Peer, Server, bind};
use eddyline_model::messages::MessageKind;
use eddyline_model::names::Email;
use eddyline_model::policy::FlowAction;
use eddyline_storage::Store;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::var("PORT")
        .unwrap_or_else(|_| "8080".to_owned())
        .parse()?;
    let listener = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let origin = format!("http://{}", listener.local_addr()?);

    let addresses = Addresses {
        base: format!("{origin}/chat"),
        stream: format!("{origin}/chat/stream"),
        web: origin.clone(),
    };
    let store = Store::open("sqlite::memory:")?;
    let chat = App::new(
        store,
        Config {
            addresses,
            ..Config::default()
        },
    )
    .await?;
    let background = chat.start().await?;
    let token = set_up(&chat).await?;

    let config = eddyline_http::Config {
        stream_prefix: Some("/stream".to_owned()),
        ..eddyline_http::Config::default()
    };
    let site = Router::new()
        .route("/", get(async || "The chat is under /chat.\n"))
        .route("/deployments", post(deployed))
        .with_state(chat.clone())
        .nest("/chat", eddyline_http::router(chat.clone(), &config));
    announce(&origin, token.expose());

    // This server tells the chat who a request comes from, which limits by network need.
    let server = Server::new(Limits::default()).listen(listener, site);
    let ending = async {
        stop_requested().await;
        // Streams have no end of their own, and the shutdown waits for them.
        chat.end_streams();
    };
    server.run(ending).await;
    background.stop().await?;
    chat.close().await;
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "the program speaks to the person who starts it"
)]
fn announce(origin: &str, token: &str) {
    println!("listening on {origin}, the chat under {origin}/chat, API token {token}");
}

/// Makes an organization, a flow, and a user for programs, with an API token.
async fn set_up(chat: &App) -> Result<Secret, Box<dyn Error>> {
    let acme = NewOrganization {
        name: "Acme".into(),
        parameterized_name: None,
        user_limit: 50,
        parent: None,
    };
    chat.operator().create_organization(acme).await?;
    let email: Email = "deployments@acme.example".parse()?;
    let bot = NewPerson {
        id: None,
        organization: "acme".into(),
        email: email.clone(),
        name: "Deployments".into(),
        nick: "deployments".parse()?,
        password: None,
        admin: false,
        bot: true,
    };
    let (_, token) = chat.operator().create_user(bot).await?;
    chat.operator()
        .create_flow(NewFlow {
            organization: "acme".into(),
            name: "Releases".parse()?,
        })
        .await?;
    chat.operator()
        .add_flow_user("acme", "releases", &email)
        .await?;
    Ok(token)
}

/// `POST /deployments`: says in the flow what was deployed, in the name of the caller.
async fn deployed(
    State(chat): State<App>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    version: String,
) -> impl IntoResponse {
    let text = format!("Deployed {}", version.trim());
    match say(&chat, peer, &headers, text).await {
        Ok(()) => (StatusCode::CREATED, String::new()),
        Err(error) => {
            // The kind, where there is no more for callers: `Display` adds what is for the log.
            let kind = error.kind().to_string();
            let text = error.message().unwrap_or(&kind);
            (status_of(&error), format!("{text}\n"))
        }
    }
}

async fn say(chat: &App, peer: Peer, headers: &HeaderMap, text: String) -> Result<(), ChatError> {
    let header = headers
        .get(AUTHORIZATION)
        .ok_or_else(|| ChatError::unauthenticated("an API token is needed"))?;
    let credentials = Credentials::parse(header.as_bytes())
        .map_err(|_| ChatError::unauthenticated("the credentials cannot be read"))?;
    let caller = chat
        .authentication()
        .authenticate(credentials, peer.addr.ip())
        .await?;
    let room = chat
        .rooms()
        .find(&caller, "acme", "releases", FlowAction::Post)
        .await?;
    chat.messages()
        .post(&caller, room, NewPost::of(MessageKind::Message, text))
        .await?;
    Ok(())
}

fn status_of(error: &ChatError) -> StatusCode {
    match error.kind() {
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Resolves when the process is asked to end.
async fn stop_requested() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
