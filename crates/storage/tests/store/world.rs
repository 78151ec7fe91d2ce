//! A small organization to tell things in: three people and two flows.

use std::sync::Arc;

use eddyline_model::messages::{Author, Draft, MessageKind, MessageQuery, MessageView, Placement};
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::tags::{Cohort, CohortMarks, Tags};
use eddyline_model::{FlowId, MessageId, OrganizationId, RoomId, Timestamp, UserId, search};
use eddyline_storage::{
    AppendOutcome, Error, NewFlowRow, NewUser, PostResult, Reader, Result, Store,
};

use crate::home::Home;

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) organization: OrganizationId,
    pub(crate) ann: UserId,
    pub(crate) bob: UserId,
    pub(crate) cid: UserId,
    pub(crate) main: RoomId,
    pub(crate) side: RoomId,
}

impl World {
    pub(crate) async fn new(home: &Home) -> Self {
        Self::in_store(home.open()).await
    }

    pub(crate) async fn in_store(store: Store) -> Self {
        let ((organization, [ann, bob, cid], [main, side]), _) = store
            .write(|tx| {
                let organization = tx
                    .organizations()
                    .insert("Acme", "acme", 10, Timestamp(1))?;
                let mut people = Vec::new();
                for nick in ["ann", "bob", "cid"] {
                    let user = tx.users().insert(&new_user(nick))?;
                    tx.organization_members().insert(
                        member(organization, user),
                        nick,
                        Timestamp(2),
                    )?;
                    people.push(user);
                }
                let main = tx.flows().insert(&new_flow(organization, "main"))?;
                let side = tx.flows().insert(&new_flow(organization, "side"))?;
                for room in [main, side] {
                    for user in &people {
                        tx.members().insert(room, *user, Timestamp(3))?;
                    }
                }
                let people = people
                    .try_into()
                    .map_err(|_| Error::Refused("three people"))?;
                Ok((organization, people, [main, side]))
            })
            .await
            .expect("the world is made");
        Self {
            store,
            organization,
            ann,
            bob,
            cid,
            main,
            side,
        }
    }

    /// Posts, and expects a new message.
    pub(crate) async fn say(&self, draft: Draft) -> Arc<MessageView> {
        added(self.post(draft).await)
    }

    pub(crate) async fn post(&self, draft: Draft) -> PostResult {
        self.store.post(draft).await.expect("the post is answered")
    }

    pub(crate) async fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> Result<R> + Send + 'static,
    ) -> R {
        self.store.read(work).await.expect("the read is answered")
    }

    /// The numbers of the messages of the main room that match.
    pub(crate) async fn find(&self, query: MessageQuery) -> Vec<i64> {
        self.find_in(self.main, query).await
    }

    pub(crate) async fn find_in(&self, room: RoomId, query: MessageQuery) -> Vec<i64> {
        let found = self
            .store
            .list(room, query, usize::MAX, |page| page.messages)
            .await
            .expect("the search is answered");
        found.iter().map(|view| view.message.id.0).collect()
    }

    /// A message of the main room as it is shown now.
    pub(crate) async fn view(&self, id: MessageId) -> MessageView {
        let room = self.main;
        let mut views = self
            .read(move |reader| {
                let found = reader.messages().list_by_id(room, &[id.0])?;
                reader.messages().list_views(room, found)
            })
            .await;
        assert_eq!(views.len(), 1, "message {id} is there");
        views.remove(0)
    }
}

pub(crate) fn added(posted: PostResult) -> Arc<MessageView> {
    match posted.outcome {
        AppendOutcome::Added(view) => view,
        other => panic!("not a new message but {other:?}"),
    }
}

pub(crate) fn new_user(nick: &str) -> NewUser {
    NewUser {
        id: None,
        email: format!("{nick}@Example.org"),
        email_key: format!("{nick}@example.org"),
        name: nick.to_uppercase(),
        nick: nick.to_owned(),
        avatar: "0".repeat(32),
        bot: false,
        active: true,
        password_hash: None,
        created_at: Timestamp(2),
    }
}

pub(crate) fn member(organization: OrganizationId, user: UserId) -> OrganizationMembership {
    OrganizationMembership {
        organization,
        user,
        role: OrganizationRole::Member,
    }
}

pub(crate) fn new_flow(organization: OrganizationId, name: &str) -> NewFlowRow {
    NewFlowRow {
        id: FlowId(format!("id-of-{name}")),
        organization,
        name: name.to_uppercase(),
        parameterized_name: name.to_owned(),
        creator: None,
        join_secret: "a".repeat(40),
        created_at: Timestamp(3),
    }
}

/// Chat; found by its words, tagged with the words that begin with `#`.
pub(crate) fn chat(room: RoomId, user: UserId, text: &str) -> Draft {
    let explicit_tags = Vec::new();
    Draft {
        room,
        access_version: None,
        credential_epoch: None,
        event: MessageKind::Message,
        author: Author::user(user),
        content: text.to_owned(),
        tags: hash_tags(text).into(),
        explicit_tags,
        search_tokens: search::tokens(text),
        uuid: None,
        fingerprint: text
            .bytes()
            .fold(0, |sum, byte| sum * 31 % 1_000_003 + i64::from(byte)),
        placement: Placement::StartsThread,
        thread: None,
        files: Vec::new(),
        to: None,
        live: None,
        sent: Timestamp(1_000),
    }
}

pub(crate) fn comment(parent: MessageId, draft: Draft) -> Draft {
    Draft {
        event: MessageKind::Comment,
        placement: Placement::Answers(parent),
        ..draft
    }
}

/// The draft with mentions of `users` by name, and of everyone, who are the users in `everyone`.
pub(crate) fn mentioning(users: &[UserId], everyone: &[UserId], draft: Draft) -> Draft {
    let mut tags = draft.tags.listed().to_vec();
    tags.extend(
        users
            .iter()
            .flat_map(|user| [format!(":user:{user}"), format!(":unread:{user}")]),
    );
    let mut without: Vec<UserId> = draft.author.user.iter().chain(users).copied().collect();
    without.sort_unstable();
    let marks = (!everyone.is_empty()).then(|| {
        tags.push(":user:everyone".to_owned());
        CohortMarks {
            place: tags.len(),
            cohorts: vec![Arc::new(Cohort::of(everyone.to_vec()))],
            without,
        }
    });
    Draft {
        tags: Tags::new(tags, marks),
        ..draft
    }
}

pub(crate) fn words(text: &str) -> search::SearchQuery {
    search::query(text)
}

pub(crate) fn hash_tags(text: &str) -> Vec<String> {
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .map(str::to_owned)
        .collect()
}

pub(crate) fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}
