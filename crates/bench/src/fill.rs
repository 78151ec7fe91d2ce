//! The data under the servers: a flow with a hundred members, once without messages and once with
//! very many.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use eddyline_model::messages::{Author, Draft, MessageKind, Placement};
use eddyline_model::tags::Tags;
use eddyline_model::{RoomId, UserId, search};
use eddyline_storage::{AppendOutcome, Store};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::plan::MEMBERS;
use crate::random::Random;
use crate::requests::Credential;
use crate::server::Binary;
use crate::words::Vocabulary;
use crate::{Result, progress};

/// The organization, as in URLs.
pub(crate) const ORGANIZATION: &str = "bench";
/// Path of the flow, in the API as on the stream.
pub(crate) const FLOW: &str = "bench/main";
/// Posts that wait for the writer at once: some batches, and far from what a store refuses.
const WAITING: usize = 1024;
const SEED: u64 = 0xed_d11e;

/// Data to start servers on.
pub(crate) struct Homes {
    scratch: PathBuf,
    /// The data of the flow without messages. Servers run on copies of it.
    empty: PathBuf,
    /// The data of the flow with many messages.
    pub(crate) filled: PathBuf,
    /// The members' tokens.
    pub(crate) tokens: Vec<String>,
    copies: Cell<usize>,
}

impl Homes {
    /// Makes a flow and its members in `scratch`, and `messages` messages in a twin of it.
    pub(crate) async fn make(binary: &Binary, scratch: &Path, messages: usize) -> Result<Self> {
        let (empty, filled) = (scratch.join("empty"), scratch.join("filled"));
        progress(&format!("making a flow of {MEMBERS} members"));
        let members = people(binary, &empty)?;
        copy(&empty, &filled)?;
        if messages > 0 {
            progress(&format!("filling a room with {messages} messages"));
            let users = members.iter().map(|(user, _)| *user).collect();
            fill(&filled, users, messages).await?;
        }
        let tokens = members.into_iter().map(|(_, token)| token).collect();
        Ok(Self {
            scratch: scratch.to_owned(),
            empty,
            filled,
            tokens,
            copies: Cell::new(0),
        })
    }

    /// A fresh copy of the data without messages.
    pub(crate) fn empty(&self) -> Result<PathBuf> {
        let number = self.copies.replace(self.copies.get() + 1);
        let directory = self.scratch.join(format!("empty-{number}"));
        copy(&self.empty, &directory)?;
        Ok(directory)
    }

    /// The API token of a member; after the last comes the first again.
    pub(crate) fn token(&self, number: usize) -> Credential<'_> {
        Credential::ApiToken(&self.tokens[number % self.tokens.len()])
    }
}

fn people(binary: &Binary, data: &Path) -> Result<Vec<(UserId, String)>> {
    binary.admin(
        data,
        &[
            "org",
            "create",
            "--name",
            "Bench",
            "--parameterized-name",
            ORGANIZATION,
        ],
    )?;
    binary.admin(
        data,
        &["flow", "create", "--org", ORGANIZATION, "--name", "Main"],
    )?;
    let mut members = Vec::new();
    for number in 0..MEMBERS {
        let (nick, email) = (
            format!("member{number}"),
            format!("member{number}@bench.example"),
        );
        let who = [
            "--org",
            ORGANIZATION,
            "--email",
            &email,
            "--name",
            &nick,
            "--nick",
            &nick,
        ];
        let answer = binary.admin(data, &[&["user", "create"], &who[..]].concat())?;
        binary.admin(
            data,
            &["flow", "add-user", "--flow", FLOW, "--email", &email],
        )?;
        let id = answer["id"].as_i64().ok_or("a new user has no id")?;
        let token = answer["api_token"]
            .as_str()
            .ok_or("a new user has no token")?;
        members.push((UserId(id), token.to_owned()));
    }
    Ok(members)
}

async fn fill(data: &Path, users: Vec<UserId>, messages: usize) -> Result<()> {
    let store = Store::open(&format!("sqlite:{}", data.join("eddyline.db").display()))?;
    let room = room(&store).await?;
    let (vocabulary, mut random) = (Vocabulary::new(), Random::new(SEED));
    let drafts = (0..messages).map(|number| {
        let author = users[random.within(0..users.len())];
        let text = vocabulary.message(number, &mut random);
        store.post(draft(room, author, text, &store))
    });
    stream::iter(drafts)
        .buffered(WAITING)
        .map_err(crate::BenchError::from)
        .try_for_each(|posted| async move {
            match posted.outcome {
                AppendOutcome::Added(_) => Ok(()),
                other => {
                    Err(format!("a message of the filled room was not added: {other:?}").into())
                }
            }
        })
        .await?;
    store.close().await;
    Ok(())
}

async fn room(store: &Store) -> Result<RoomId> {
    let found = store
        .read(
            |reader| match reader.organizations().find_id_by_name(ORGANIZATION)? {
                Some(organization) => reader.flows().find_room_by_name(organization, "main"),
                None => Ok(None),
            },
        )
        .await?;
    found.ok_or_else(|| "the flow is not in the store".into())
}

/// A chat message as the server would make it of this text, which has no tags and no mentions.
fn draft(room: RoomId, author: UserId, text: String, store: &Store) -> Draft {
    Draft {
        room,
        access_version: None,
        credential_epoch: None,
        event: MessageKind::Message,
        author: Author::user(author),
        search_tokens: search::tokens(&text),
        content: text,
        tags: Tags::default(),
        explicit_tags: Vec::new(),
        uuid: None,
        fingerprint: 0,
        placement: Placement::StartsThread,
        thread: None,
        files: Vec::new(),
        to: None,
        live: None,
        sent: store.now(),
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
