//! A server with two organizations that have nothing to do with each other, but for one person.

use eddyline_model::applications::Application;
use eddyline_model::messages::{Author, Draft, MessageKind, MessageQuery, Placement};
use eddyline_model::names::{email_key, nick_key};
use eddyline_model::organizations::{OrganizationMembership, OrganizationRole};
use eddyline_model::tags::Tags;
use eddyline_model::{ApplicationId, FlowId, OrganizationId, RoomId, Timestamp, UserId, search};
use eddyline_storage::{AppendOutcome, NewFlowRow, NewUser, Result, Store, Tx};

/// The flows and users that archives try to reach.
pub(crate) struct Tenants {
    /// The id of a flow of Beta.
    pub(crate) flow_of_beta: String,
    /// The id of a flow of Acme.
    pub(crate) flow_of_acme: String,
    vic: UserId,
    wil: UserId,
    room: RoomId,
    talk: RoomId,
}

fn make_user(tx: &mut Tx<'_>, email: &str, organizations: &[OrganizationId]) -> Result<UserId> {
    let nick = email.split('@').next().unwrap_or_default();
    let now = tx.now();
    let user = tx.users().insert(&NewUser {
        id: None,
        email: email.to_owned(),
        email_key: email_key(email),
        name: nick.to_uppercase(),
        nick: nick.to_owned(),
        avatar: eddyline_random::hex::<16>(),
        bot: false,
        active: true,
        password_hash: Some("a hash".to_owned()),
        created_at: now,
    })?;
    tx.emails().set_proved(user, true)?;
    for organization in organizations {
        let membership = OrganizationMembership {
            organization: *organization,
            user,
            role: OrganizationRole::Member,
        };
        tx.organization_members()
            .insert(membership, &nick_key(nick), now)?;
    }
    Ok(user)
}

fn make_flow(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    name: &str,
    members: &[UserId],
) -> Result<(RoomId, String)> {
    let id = format!("flow-{name}-{}", eddyline_random::hex::<4>());
    let now = tx.now();
    let room = tx.flows().insert(&NewFlowRow {
        id: FlowId(id.clone()),
        organization,
        name: name.to_owned(),
        parameterized_name: name.to_owned(),
        creator: Some(members[0]),
        join_secret: eddyline_random::hex::<20>(),
        created_at: now,
    })?;
    for user in members {
        tx.members().insert(room, *user, now)?;
    }
    Ok((room, id))
}

fn make_application(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<ApplicationId> {
    let application = Application {
        id: ApplicationId(0),
        client_id: eddyline_random::hex::<32>(),
        organization,
        name: "Tracker".to_owned(),
        public: false,
        redirect_uris: Vec::new(),
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: false,
        out_of_band: false,
        creator: None,
        created_at: tx.now(),
    };
    tx.applications().insert(&application, Some(b"sealed"))
}

impl Tenants {
    pub(crate) async fn make(store: &Store) -> Self {
        let (made, _) = store
            .write(|tx| {
                let now = tx.now();
                let acme = tx.organizations().insert("Acme", "acme", 1_000_000, now)?;
                let beta = tx.organizations().insert("Beta", "beta", 1_000_000, now)?;
                for (domain, organization) in [("acme.example", acme), ("beta.example", beta)] {
                    tx.organizations()
                        .insert_domain(domain, organization, now)?;
                }
                let ada = make_user(tx, "ada@acme.example", &[acme])?;
                let bob = make_user(tx, "bob@acme.example", &[acme])?;
                let vic = make_user(tx, "vic@beta.example", &[beta])?;
                let wil = make_user(tx, "wil@beta.example", &[beta])?;
                make_user(tx, "mal@acme.example", &[acme])?;
                make_user(tx, "yan@beta.example", &[beta])?;
                make_user(tx, "lou@lone.example", &[])?;
                let sam = make_user(tx, "sam@shared.example", &[acme, beta])?;
                let (_, flow_of_acme) = make_flow(tx, acme, "main", &[ada, bob, sam])?;
                let (room, flow_of_beta) = make_flow(tx, beta, "room", &[vic, wil, sam])?;
                let talk = tx.rooms().insert_private(vic, wil)?;
                for pair in [(sam, vic), (sam, ada), (vic, vic)] {
                    tx.rooms().insert_private(pair.0, pair.1)?;
                }
                for organization in [acme, beta] {
                    make_application(tx, organization)?;
                    let key = "crew";
                    let group = tx.groups().insert(organization, ("Crew", key), now)?;
                    tx.groups()
                        .insert_members(organization, group, &[ada, vic, sam])?;
                }
                Ok(Self {
                    flow_of_beta,
                    flow_of_acme,
                    vic,
                    wil,
                    room,
                    talk,
                })
            })
            .await
            .unwrap();
        made.still_post(store).await;
        made
    }

    /// The people of Beta post, in their flow and to each other.
    pub(crate) async fn still_post(&self, store: &Store) {
        post(store, self.room, self.vic, None).await;
        post(store, self.room, self.wil, None).await;
        post(store, self.talk, self.vic, Some(self.wil)).await;
        post(store, self.talk, self.wil, Some(self.vic)).await;
    }
}

/// A user posts to another one under a uuid, in the conversation that they have.
pub(crate) async fn post_as(store: &Store, from: &str, to: &str, uuid: &str) {
    let keys = [email_key(from), email_key(to)];
    let found = store.read(move |reader| {
        let mut users = Vec::new();
        for key in &keys {
            let account = reader.users().find_account_by_email(key)?;
            users.extend(account.map(|account| account.user.id));
        }
        users.sort_unstable();
        let room = reader.rooms().find_private(users[0], users[1])?;
        Ok((room.map(|room| room.id), users))
    });
    let (room, users) = found.await.unwrap();
    post_under(store, room.unwrap(), users[0], Some(users[1]), Some(uuid)).await;
}

/// A user comes into a flow and leaves it.
pub(crate) async fn leave(store: &Store, organization: &str, flow: &str, email: &str) {
    let (organization, flow) = (organization.to_owned(), flow.to_owned());
    let key = email_key(email);
    let left = store.write(move |tx| {
        let organization = tx.organizations().find_id_by_name(&organization)?.unwrap();
        let room = tx.flows().find_room_by_name(organization, &flow)?.unwrap();
        let user = tx.users().find_account_by_email(&key)?.unwrap().user.id;
        let now = tx.now();
        tx.members().insert(room, user, now)?;
        tx.members().delete(room, user)
    });
    left.await.unwrap();
}

async fn post(store: &Store, room: RoomId, user: UserId, to: Option<UserId>) -> i64 {
    post_under(store, room, user, to, None).await
}

async fn post_under(
    store: &Store,
    room: RoomId,
    user: UserId,
    to: Option<UserId>,
    uuid: Option<&str>,
) -> i64 {
    let text = "said afterwards";
    let draft = Draft {
        room,
        access_version: None,
        credential_epoch: None,
        event: MessageKind::Message,
        author: Author::user(user),
        content: text.to_owned(),
        tags: Tags::default(),
        explicit_tags: Vec::new(),
        search_tokens: search::tokens(text),
        uuid: uuid.map(str::to_owned),
        fingerprint: 0,
        placement: match to {
            Some(_) => Placement::Unthreaded,
            None => Placement::StartsThread,
        },
        thread: None,
        files: Vec::new(),
        to,
        live: None,
        sent: Timestamp(1_700_000_000_000),
    };
    match store.post(draft).await.unwrap().outcome {
        AppendOutcome::Added(view) => view.message.id.0,
        other => panic!("{other:?}"),
    }
}

/// All flows of an organization take a post and list it.
pub(crate) async fn take_posts(store: &Store, organization: &str) {
    let name = organization.to_owned();
    let (rooms, user) = store
        .read(move |reader| {
            let Some(id) = reader.organizations().find_id_by_name(&name)? else {
                return Ok((Vec::new(), None));
            };
            let flows = reader.flows().list_of_organization(id)?;
            let members = reader.organization_members().list_users(id)?;
            let rooms: Vec<RoomId> = flows.into_iter().map(|flow| flow.room).collect();
            Ok((rooms, members.first().map(|(user, _)| user.id)))
        })
        .await
        .unwrap();
    let Some(user) = user else { return };
    for room in rooms {
        let id = post(store, room, user, None).await;
        let listed = store
            .list(room, MessageQuery::default(), usize::MAX, |page| {
                page.messages
            })
            .await
            .unwrap();
        let last = listed.iter().map(|view| view.message.id.0).max();
        assert_eq!(last, Some(id), "the post is the last message of its flow");
    }
}
