//! A server with a small, lively organization to try things on.

mod activity;
mod answers;
mod company;
mod files;
mod receiver;
mod script;
mod stories;
mod tools;
mod welcome;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use eddyline_app::{App, Error, ErrorKind, FlowChanges, NewFlow, NewOrganization, NewPost};
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::{FlowAction, MessageAction};
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinSet;

use self::activity::{converse, make};
use self::answers::Attention;
use self::company::{Company, Persona, SentLine, Spot};
use self::receiver::{Behind, Receiver};
use self::script::Conversation;
use self::tools::{Tools, register_all};
use self::welcome::Welcome;
use crate::config::Settings;
use crate::serve::{Node, ServerListeners};
use crate::sockets::PassedSockets;
use crate::{CommandError, mail};

const ORGANIZATION: &str = "demo";
const MAIN: &str = "main";
const LOBBY: &str = "lobby";

/// The flows, and what they are for.
const FLOWS: [(&str, &str); 2] = [
    ("Main", "Everything about the gauges and the gateways"),
    ("Lobby", "Lunch, travel, and what belongs nowhere else"),
];

/// Where a kept demonstration has what its tools sign in with.
const TOOLS_FILE: &str = "demo-tools.json";

/// Serves a demonstration until it is told to stop. Unless the data is to be kept, it lives in a
/// directory of its own that goes with it.
pub(crate) async fn run(mut settings: Settings, keep: bool) -> Result<(), CommandError> {
    let throw_away = if keep {
        None
    } else {
        Some(
            tempfile::Builder::new()
                .prefix("eddyline-demo-")
                .tempdir()?,
        )
    };
    if let Some(directory) = &throw_away {
        settings.data_dir = directory.path().to_owned();
    }
    let mailbox = mail::outbox(&settings)?;
    let kept_tools = settings.data_dir.join(TOOLS_FILE);
    let receiver = Receiver::bind().await?;
    let mut listeners = ServerListeners::new(&settings, PassedSockets::default())?;
    let node = Node::start(settings, &mut listeners, Some(receiver.address)).await?;
    // It follows no move to another database.
    drop(listeners);
    let app = node.app().clone();
    let (company, tools) = set_up(&app, &kept_tools, receiver.address).await?;
    let mut life = bring_to_life(company, tools, receiver).await;
    let welcome = Welcome::prepare(&app).await?;
    welcome::print(&app, &welcome, &mailbox)?;
    let outcome = node.run(oneshot::channel().0).await;
    life.shutdown().await;
    outcome
}

/// Lets people and tools act until what is given is dropped. The people are there when this
/// answers.
async fn bring_to_life(company: Company, tools: Tools, receiver: Receiver) -> JoinSet<()> {
    let tools = Arc::new(Mutex::new(tools));
    let mut life = JoinSet::new();
    let behind = Behind {
        company: company.clone(),
        tools: tools.clone(),
    };
    life.spawn(receiver.serve(behind));
    for persona in Persona::EACH {
        if persona != Persona::Ada {
            let attention = Attention::open(&company, persona).await;
            life.spawn(answers::listen(company.clone(), persona, attention));
        }
    }
    life.spawn(activity::go_on(company, tools));
    life
}

/// Fills the organization, or finds what a kept directory holds of it.
async fn set_up(
    app: &App,
    kept_tools: &Path,
    address: SocketAddr,
) -> Result<(Company, Tools), CommandError> {
    let is_new = create_organization(app).await?;
    let company = if is_new {
        let company = Company::create(app, &[MAIN, LOBBY]).await?;
        for (name, description) in FLOWS {
            describe(&company, &name.to_lowercase(), description).await?;
        }
        company
    } else {
        Company::find(app).await?
    };
    let mut tools = connect_tools(app, kept_tools, address).await?;
    if is_new {
        talk(&company).await?;
        for remark in tools.begin().await? {
            make(&company, &remark).await;
        }
    } else {
        tools.begin_again().await?;
    }
    Ok((company, tools))
}

/// Whether there was none before.
async fn create_organization(app: &App) -> Result<bool, CommandError> {
    let organization = NewOrganization {
        name: "Demo".to_owned(),
        parameterized_name: Some(ORGANIZATION.to_owned()),
        user_limit: 100,
        parent: None,
    };
    match app.operator().create_organization(organization).await {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    for (name, _) in FLOWS {
        let flow = NewFlow {
            organization: ORGANIZATION.to_owned(),
            name: name.parse()?,
        };
        app.operator().create_flow(flow).await?;
    }
    Ok(true)
}

/// The tools as they were kept, or registered anew and kept.
async fn connect_tools(app: &App, kept: &Path, address: SocketAddr) -> Result<Tools, CommandError> {
    // Visitors may have removed a tool.
    if let Ok(text) = std::fs::read(kept)
        && let Ok(access) = serde_json::from_slice(&text)
        && let Ok(tools) = Tools::connect(app, access, address).await
    {
        return Ok(tools);
    }
    let access = register_all(app).await?;
    keep(kept, &serde_json::to_vec(&access)?)?;
    Tools::connect(app, access, address).await
}

/// Writes a file that only its owner reads.
fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(bytes)
}

/// Says what a flow is for.
async fn describe(company: &Company, flow: &str, text: &str) -> Result<(), Error> {
    let (app, ada) = (&company.app, company.actor(Persona::Ada)?);
    let rooms = app.rooms();
    let room = rooms
        .find(ada, ORGANIZATION, flow, FlowAction::Configure)
        .await?;
    let changes = FlowChanges {
        description: Some(text.to_owned()),
        ..FlowChanges::default()
    };
    app.flows().update(ada, &room, changes).await.map(drop)
}

/// Has said what was said before the visitor came.
async fn talk(company: &Company) -> Result<(), Error> {
    for persona in Persona::EACH {
        if let Some(status) = persona.status() {
            let post = NewPost::of(MessageKind::Status, status.to_owned());
            company.post(persona, &Spot::chat(LOBBY), post).await?;
        }
    }
    converse_all(company, MAIN, script::MORNING).await?;
    files::send(company, &files::MEASUREMENTS).await?;
    let read = converse_all(company, MAIN, script::MEASURED).await?;
    mark_read(company, read).await?;
    converse_all(company, MAIN, script::LATER).await?;
    files::send(company, &files::CHART).await?;
    converse_all(company, MAIN, script::LATEST).await?;
    let read = converse_all(company, LOBBY, script::LOBBY_BEFORE).await?;
    mark_read(company, read).await?;
    converse_all(company, LOBBY, script::LOBBY_LATER).await?;
    let (text, ada) = (
        "Do you have five minutes for me today? It is about the plan for next month.",
        company.user_id(Persona::Ada),
    );
    match ada {
        Some(ada) => answers::whisper(company, Persona::Grace, ada, text).await,
        None => Ok(()),
    }
}

/// Has several conversations, one after the other. Gives the last message.
async fn converse_all(
    company: &Company,
    flow: &str,
    conversations: &[Conversation],
) -> Result<Option<SentLine>, Error> {
    let mut last = None;
    for conversation in conversations {
        last = converse(company, flow, conversation).await?;
    }
    Ok(last)
}

/// The visitor has read a flow up to here.
async fn mark_read(company: &Company, last: Option<SentLine>) -> Result<(), Error> {
    let Some(last) = last else { return Ok(()) };
    let (app, ada) = (&company.app, company.actor(Persona::Ada)?);
    let read = MessageAction::Read.in_flow();
    let room = app.rooms().find_named(ada, &last.spot.flow, read).await?;
    app.messages()
        .mark_read(ada, &room.into(), None, last.message)
        .await
}
