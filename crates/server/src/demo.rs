//! A server with a small, lively organization to try things on.

mod files;
mod inbox;

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use eddyline_app::{
    Actor, App, Credentials, Error, ErrorKind, FlowChanges, NewFlow, NewOrganization, NewPerson,
    NewPost, Password, Posted, Secret,
};
use eddyline_model::MessageId;
use eddyline_model::mail::SIGN_IN_MINUTES;
use eddyline_model::messages::MessageKind;
use eddyline_model::names::Email;
use eddyline_model::policy::{FlowAction, MessageAction};

use self::inbox::Tools;
use crate::config::Settings;
use crate::serve::Node;
use crate::{CommandError, mail};

const ORGANIZATION: &str = "demo";
const FLOW: &str = "main";
const EMAIL: &str = "ada@demo.example";
const CHATTER_PAUSE: Duration = Duration::from_secs(15);

const PEOPLE: [(&str, &str, &str); 4] = [
    (EMAIL, "Ada Lovelace", "Ada"),
    ("grace@demo.example", "Grace Hopper", "Grace"),
    ("alan@demo.example", "Alan Turing", "Alan"),
    ("eddy@demo.example", "Eddy", "Eddy"),
];

/// The flows, and what they are for.
const FLOWS: [(&str, &str); 2] = [
    ("Main", "Everything about the gauges and the gateways"),
    ("Lobby", "What belongs nowhere else"),
];

/// Who sends which files: name, type and bytes.
const FILES: [(usize, &str, &str, &[u8]); 2] = [
    (
        2,
        "humidity-run-3.csv",
        "text/csv",
        b"minute,humidity,packets lost\n0,61,0\n5,74,1\n10,83,9\n15,91,12\n",
    ),
    (
        1,
        "level-14.png",
        "image/png",
        include_bytes!("../assets/level-14.png"),
    ),
];

const TALK: [(usize, &str); 8] = [
    (0, "Good morning! The release is on for today. #release"),
    (1, "@Ada I found a moth in relay 70. First actual bug! #bug"),
    (
        2,
        "Can we decide whether the build will ever finish? #build",
    ),
    (0, "@Grace please tape it into the log book."),
    (
        1,
        "@everyone the fix is in: https://example.com/pulls/9 #release",
    ),
    (
        2,
        "The answer is 42, but `imitation_game::score` disagrees.",
    ),
    (
        1,
        "A gateway restarts after a minute of silence, so a longer pause would never end:\n\
         ```rust\n\
         let pause = BASE * 2u32.pow(attempt.min(5));\n\
         sleep(pause.min(CAP) + jitter()).await;\n\
         ```",
    ),
    (0, "Then let us ship it."),
];

/// What is said in the thread of the first item of the inbox.
const ABOUT_ITEM: [(usize, &str); 2] = [
    (
        2,
        "Reproduced in the climate chamber. It is the connector, not the radio.",
    ),
    (
        0,
        "@Alan great, can you tell site 7? **Before** noon, please.",
    ),
];

const CHATTER: [&str; 5] = [
    "Build 1815 is green. #build",
    "Nightly backup finished in 42 s. #ops",
    "A new comment arrived on ticket 70. #support",
    "Two people are waiting for a review. #review",
    "The coffee machine reports: beans low. #ops",
];

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
    let node = Node::start(settings, None).await?;
    let app = node.app().clone();
    let tools = populate(&app).await?;
    let welcome = Welcome::prepare(&app).await?;
    print_welcome(&app, &welcome, &mailbox)?;
    #[expect(clippy::disallowed_methods, reason = "aborted below")]
    let chatter = tokio::spawn(chatter(app, tools));
    let outcome = node.run().await;
    chatter.abort();
    outcome
}

/// Fills the organization, unless a kept directory holds it already.
async fn populate(app: &App) -> Result<Option<Tools>, CommandError> {
    let organization = NewOrganization {
        name: "Demo".to_owned(),
        parameterized_name: Some(ORGANIZATION.to_owned()),
        user_limit: 100,
        parent: None,
    };
    match app.operator().create_organization(organization).await {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    for (name, _) in FLOWS {
        let flow = NewFlow {
            organization: ORGANIZATION.to_owned(),
            name: name.parse()?,
        };
        app.operator().create_flow(flow).await?;
    }
    let mut actors = Vec::new();
    for (email, name, nick) in PEOPLE {
        actors.push(add_person(app, email, name, nick).await?);
    }
    for (name, description) in FLOWS {
        describe(app, &actors[0], &name.to_lowercase(), description).await?;
    }
    talk(app, &actors).await?;
    whisper(app, &actors[1], &actors[0]).await?;
    let mut tools = Tools::set_up(app).await?;
    let item = tools.step(app, 0).await?;
    for (who, text) in ABOUT_ITEM {
        say(app, &actors[who], text, TalkPlace::Thread(item)).await?;
    }
    for (who, name, kind, bytes) in FILES {
        files::send(app, &actors[who], (name, kind), bytes).await?;
    }
    Ok(Some(tools))
}

/// Says what a flow is for.
async fn describe(app: &App, actor: &Actor, flow: &str, text: &str) -> Result<(), Error> {
    let rooms = app.rooms();
    let room = rooms
        .find(actor, ORGANIZATION, flow, FlowAction::Configure)
        .await?;
    let changes = FlowChanges {
        description: Some(text.to_owned()),
        ..FlowChanges::default()
    };
    app.flows().update(actor, &room, changes).await.map(drop)
}

/// Says something in the private conversation of two users.
async fn whisper(app: &App, from: &Actor, to: &Actor) -> Result<(), Error> {
    let Some(to) = to.user_id() else {
        return Ok(());
    };
    let room = app.rooms().private(from, to, MessageAction::Post).await?;
    let text = "Tea at four? The moth is on display.".to_owned();
    let post = NewPost::of(MessageKind::Message, text);
    app.messages().post(from, room, post).await.map(drop)
}

async fn add_person(app: &App, email: &str, name: &str, nick: &str) -> Result<Actor, CommandError> {
    let address: Email = email.parse()?;
    let person = NewPerson {
        id: None,
        organization: ORGANIZATION.to_owned(),
        email: address.clone(),
        name: name.to_owned(),
        nick: nick.parse()?,
        password: None,
        admin: email == EMAIL,
        bot: nick == "Eddy",
    };
    let (_, token) = app.operator().create_user(person).await?;
    for flow in ["main", "lobby"] {
        app.operator()
            .add_flow_user(ORGANIZATION, flow, &address)
            .await?;
    }
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    Ok(app
        .authentication()
        .authenticate(Credentials::Token(token), local)
        .await?)
}

async fn talk(app: &App, actors: &[Actor]) -> Result<(), CommandError> {
    let mut first = None;
    for (who, text) in TALK {
        let id = say(app, &actors[who], text, TalkPlace::Chat).await?;
        first = first.or(id);
    }
    let reply = TalkPlace::Comment(first);
    say(app, &actors[2], "I will bring the punch cards.", reply).await?;
    Ok(())
}

/// Where something is said.
enum TalkPlace {
    Chat,
    /// On a message.
    Comment(Option<MessageId>),
    /// In the thread that a message began.
    Thread(Option<MessageId>),
}

async fn say(
    app: &App,
    actor: &Actor,
    text: &str,
    place: TalkPlace,
) -> Result<Option<MessageId>, Error> {
    let room = app
        .rooms()
        .find(actor, ORGANIZATION, FLOW, FlowAction::Post)
        .await?;
    let post = NewPost::of(MessageKind::Message, text.to_owned());
    let post = match place {
        TalkPlace::Chat => post,
        TalkPlace::Comment(parent) => NewPost {
            parent,
            event: MessageKind::Comment,
            ..post
        },
        TalkPlace::Thread(root) => NewPost {
            thread_id: root.map(|root| app.encoder().thread_id(room.id(), root)),
            ..post
        },
    };
    let post = NewPost { wait: true, ..post };
    Ok(match app.messages().post(actor, room, post).await? {
        Posted::Message(view) => Some(view.message.id),
        Posted::Accepted => None,
    })
}

/// A bot that says something now and then, and tools that report, so that a listener hears
/// something.
async fn chatter(app: App, mut tools: Option<Tools>) {
    let Ok(email) = PEOPLE[3].0.parse::<Email>() else {
        return;
    };
    let Ok((_, token)) = app.operator().create_user_token(&email).await else {
        return;
    };
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    let Ok(eddy) = app
        .authentication()
        .authenticate(Credentials::Token(token), local)
        .await
    else {
        return;
    };
    for (turn, text) in CHATTER.iter().cycle().enumerate() {
        #[expect(clippy::disallowed_methods, reason = "the bot speaks at intervals")]
        tokio::time::sleep(CHATTER_PAUSE).await;
        if let Err(error) = say(&app, &eddy, text, TalkPlace::Chat).await {
            tracing::debug!(%error, "the bot could not say anything");
        }
        if let Some(tools) = &mut tools
            && let Err(error) = tools.step(&app, turn).await
        {
            tracing::debug!(%error, "a tool could not report");
        }
    }
}

/// What opens the account of the administrator. All of it is random, and made anew at each start.
struct Welcome {
    token: Secret,
    password: Secret,
    /// The address of a page that signs in, once.
    link: String,
}

impl Welcome {
    async fn prepare(app: &App) -> Result<Self, CommandError> {
        let email: Email = EMAIL.parse()?;
        let password = Secret::generate();
        app.operator()
            .set_password(&email, &Password::new(password.expose()))
            .await?;
        let (_, token) = app.operator().create_user_token(&email).await?;
        let link = app.operator().create_sign_in_link(&email).await?;
        Ok(Self {
            token,
            password,
            link,
        })
    }
}

fn print_welcome(app: &App, welcome: &Welcome, mailbox: &Path) -> Result<(), CommandError> {
    let addresses = &app.config().addresses;
    let (base, stream, web) = (&addresses.base, &addresses.stream, &addresses.web);
    let Welcome {
        token,
        password,
        link,
    } = welcome;
    let (token, password) = (token.expose(), password.expose());
    let mailbox = mailbox.display();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "Eddyline is running with an organization to try things on.\n\
         \n\
         Open this first; the link works once, within {SIGN_IN_MINUTES} minutes:\n\
         \x20 {link}\n\
         \n\
         API:        {base}\n\
         Stream:     {stream}\n\
         API docs:   {base}/openapi.json\n\
         Pages:      {web}/sign-in\n\
         Sign-in:    {EMAIL} with password {password}\n\
         API token:  {token}\n\
         \n\
         Post a message:\n\
         \x20 curl -u {token}: -H 'Content-Type: application/json' -d '{{\"event\":\"message\",\"content\":\"Hello from curl #demo\"}}' {base}/flows/{ORGANIZATION}/{FLOW}/messages\n\
         \n\
         List the latest messages:\n\
         \x20 curl -u {token}: '{base}/flows/{ORGANIZATION}/{FLOW}/messages?limit=5'\n\
         \n\
         Listen (a bot says something every few seconds):\n\
         \x20 curl -N -u {token}: {stream}/flows/{ORGANIZATION}/{FLOW}\n\
         \n\
         Invite somebody (the mail, with its link, is put into {mailbox}):\n\
         \x20 curl -u {token}: -d email=you@example.com {base}/flows/{ORGANIZATION}/{FLOW}/invitations\n\
         \n\
         For the commands of the README:\n\
         \x20 export BASE={base} STREAM={stream} TOKEN={token} FLOW={ORGANIZATION}/{FLOW}\n\
         \n\
         Stop with Ctrl-C."
    )?;
    out.flush()?;
    Ok(())
}
