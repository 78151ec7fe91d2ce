//! A service of a team that has a chat: the API of Eddyline is nested under `/chat`, beside a route of the service
//! itself, which posts to a flow without a request over HTTP.
//!
//! ```text
//! cargo run -p eddyline-example-host
//! curl -d 'api 2.4.0' http://127.0.0.1:8080/deployments
//! ```

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use eddyline_app::{
    Actor, Addresses, App, Config, Credentials, NewFlow, NewOrganization, NewPerson, NewPost, Secret,
};
use eddyline_model::messages::Event;
use eddyline_model::names::Email;
use eddyline_model::policy::FlowAction;
use eddyline_storage::Store;
use tokio::net::TcpListener;

const HOME: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What the routes of the service share.
#[derive(Clone)]
struct Site {
    chat: App,
    /// The API token of the user who posts for the service.
    bot: Secret,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::var("PORT").unwrap_or_else(|_| "8080".to_owned()).parse()?;
    let listener = TcpListener::bind((HOME, port)).await?;
    let origin = format!("http://{}", listener.local_addr()?);

    let addresses = Addresses {
        base: format!("{origin}/chat"),
        stream: format!("{origin}/chat/stream"),
        web: origin.clone(),
    };
    let store = Store::open("sqlite::memory:")?;
    let chat = App::new(store, Config { addresses, ..Config::default() }).await?;
    let background = chat.start().await?;
    let bot = set_up(&chat).await?;
    let token = bot.expose().to_owned();

    let config = eddyline_http::Config {
        stream_prefix: Some("/stream".to_owned()),
        ..eddyline_http::Config::default()
    };
    let site = Router::new()
        .route("/", get(async || "The chat is under /chat.\n"))
        .route("/deployments", post(deployed))
        .with_state(Site { chat: chat.clone(), bot })
        .nest("/chat", eddyline_http::router(chat.clone(), &config));
    announce(&origin, &token);

    let ending = {
        let chat = chat.clone();
        async move {
            stop_requested().await;
            // Streams have no end of their own, and the shutdown waits for them.
            chat.end_streams();
        }
    };
    axum::serve(listener, site).with_graceful_shutdown(ending).await?;
    background.stop().await?;
    chat.close().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the program speaks to the person who starts it")]
fn announce(origin: &str, token: &str) {
    println!("listening on {origin}, the chat under {origin}/chat, API token {token}");
}

/// Makes an organization, a flow, and a user who posts for this service.
async fn set_up(chat: &App) -> Result<Secret, Box<dyn Error>> {
    let acme =
        NewOrganization { name: "Acme".into(), parameterized_name: None, user_limit: 50, parent: None };
    chat.operator_create_organization(acme).await?;
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
    let (_, token) = chat.operator_create_user(bot).await?;
    chat.operator_create_flow(NewFlow { organization: "acme".into(), name: "Releases".parse()? }).await?;
    chat.operator_add_flow_user("acme", "releases", &email).await?;
    Ok(token)
}

/// `POST /deployments`: says in the flow what was deployed.
async fn deployed(State(site): State<Site>, version: String) -> (StatusCode, String) {
    match say(&site, format!("Deployed {}", version.trim())).await {
        Ok(()) => (StatusCode::CREATED, String::new()),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
    }
}

async fn say(site: &Site, text: String) -> eddyline_app::Result<()> {
    let bot: Actor = site.chat.authenticate(Credentials::Token(site.bot.clone()), HOME).await?;
    let room = site.chat.room(&bot, "acme", "releases", FlowAction::Post).await?;
    site.chat.post(&bot, room, NewPost::of(Event::Message, text)).await?;
    Ok(())
}

/// Resolves when the process is asked to end.
async fn stop_requested() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
