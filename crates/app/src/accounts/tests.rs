//! What depends on the time, and on who comes first.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

mod addresses;
mod confirmation;
mod credentials;
mod ended;
mod mail;
mod waits;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use eddyline_auth::{Password, PasswordPolicy, Secret};
use eddyline_model::mail::{MailedLink, Purpose};
use eddyline_model::names::Email;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::policy::FlowAction;
use eddyline_model::users::Account;
use eddyline_model::{InvitationId, OrganizationId, Timestamp, UserId};
use eddyline_storage::{NewInvitations, Options, Store};

use super::{MAX_SESSIONS, NewAccount};
use crate::charging::current_keys;
use crate::core::transaction::NoCaller;
use crate::error::kind_of;
use crate::{
    Actor, App, Config, Credentials, Error, ErrorKind, NewFlow, NewOrganization, NewPerson,
    QuotaKey, UserChanges, as_client, current_caller,
};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const START: i64 = 1_800_000_000_000;
const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
const ADA: &str = "ada@acme.example";
const GOOD: &str = "correct horse battery staple";

/// An application whose clock stands still until it is moved, with Ada in the flow `acme/main`.
pub(crate) struct World {
    pub(crate) app: App,
    clock: Arc<AtomicI64>,
    pub(crate) ada: Actor,
    token: Secret,
}

impl World {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(AtomicI64::new(START));
        let read = clock.clone();
        let options = Options {
            clock: Arc::new(move || Timestamp(read.load(Ordering::SeqCst))),
            ..Options::default()
        };
        let store = Store::open_with("sqlite::memory:", options).unwrap();
        let config = Config {
            passwords: PasswordPolicy::cheapest(),
            ..Config::default()
        };
        let app = App::new(store, config).await.unwrap();
        let organization = NewOrganization {
            name: "acme".into(),
            parameterized_name: None,
            user_limit: 2,
            parent: None,
        };
        app.operator()
            .create_organization(organization)
            .await
            .unwrap();
        let (ada, token) = person_with_token(&app, ADA, "ada").await;
        let flow = NewFlow {
            organization: "acme".into(),
            name: "main".parse().unwrap(),
        };
        app.operator().create_flow(flow).await.unwrap();
        app.operator()
            .add_flow_user("acme", "main", &ADA.parse().unwrap())
            .await
            .unwrap();
        Self {
            app,
            clock,
            ada,
            token,
        }
    }

    pub(crate) fn pass(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    fn ada_id(&self) -> UserId {
        self.ada.user_id().unwrap()
    }

    /// Makes a link as the sender of mails does.
    async fn link(&self, purpose: Purpose, email: Option<&str>, millis: i64) -> Secret {
        let secret = Secret::generate_hex::<32>();
        let hash = secret.hash();
        let link = MailedLink {
            purpose,
            email: email.map(str::to_owned),
            expires_at: self.app.now().plus_millis(millis),
        };
        self.app
            .core()
            .store()
            .write(NoCaller::Operator, move |tx| {
                tx.mails().insert_link(&hash.0, &link)
            })
            .await
            .unwrap();
        secret
    }

    async fn account(&self, email: &str) -> Option<Account> {
        let email = email.to_owned();
        self.app
            .core()
            .store()
            .read(move |reader| reader.users().find_account_by_email(&email))
            .await
            .unwrap()
    }

    async fn waiting_mails(&self) -> Vec<(Purpose, String)> {
        let far = Timestamp(START + 1000 * DAY);
        let taken = self
            .app
            .core()
            .store()
            .write(NoCaller::Operator, move |tx| {
                tx.mails().claim_due(far, far, 1000)
            });
        taken
            .await
            .unwrap()
            .0
            .into_iter()
            .map(|mail| (mail.purpose, mail.recipient))
            .collect()
    }

    async fn change_email(&self, email: &str) {
        // As she is now.
        let ada = self
            .app
            .authentication()
            .authenticate(Credentials::Token(self.token.clone()), HERE)
            .await
            .unwrap();
        self.app
            .users()
            .update(&ada, address(email), HERE)
            .await
            .unwrap();
    }

    /// Ada invites somebody; gives the link of the mail.
    async fn invite(&self, email: &str) -> Secret {
        let room = self
            .app
            .rooms()
            .find(&self.ada, "acme", "main", FlowAction::Invite)
            .await
            .unwrap();
        let made = self
            .app
            .invitations()
            .create(&self.ada, &room, email.parse().unwrap(), None)
            .await
            .unwrap();
        self.link(Purpose::Invitation(InvitationId(made.id)), None, 30 * DAY)
            .await
    }
}

/// Another address, with the password that it needs.
fn address(email: &str) -> UserChanges {
    UserChanges {
        email: Some(email.parse().unwrap()),
        current_password: Some(Password::new(GOOD)),
        ..UserChanges::default()
    }
}

pub(crate) async fn person(app: &App, email: &str, nick: &str) -> Actor {
    person_with_token(app, email, nick).await.0
}

async fn person_with_token(app: &App, email: &str, nick: &str) -> (Actor, Secret) {
    let new = NewPerson {
        id: None,
        organization: "acme".into(),
        email: email.parse().unwrap(),
        name: nick.to_owned(),
        nick: nick.parse().unwrap(),
        password: Some(Password::new(GOOD)),
        admin: false,
        bot: false,
    };
    let (_, token) = app.operator().create_user(new).await.unwrap();
    (
        app.authentication()
            .authenticate(Credentials::Token(token.clone()), HERE)
            .await
            .unwrap(),
        token,
    )
}

fn newcomer(nick: &str, password: &str) -> NewAccount {
    NewAccount {
        name: "Grace".into(),
        nick: nick.into(),
        password: Password::new(password),
    }
}

async fn sign_in(world: &World, password: &str) -> Result<Secret, Error> {
    world
        .app
        .accounts()
        .sign_in(ADA, &Password::new(password), HERE)
        .await
}

#[tokio::test]
async fn of_too_many_sessions_the_longest_unused_ends() {
    let world = World::new().await;
    let mut sessions = Vec::new();
    for _ in 0..=MAX_SESSIONS {
        sessions.push(sign_in(&world, GOOD).await.unwrap());
        world.pass(1);
    }
    assert!(
        world
            .app
            .accounts()
            .by_session(&sessions[0])
            .await
            .unwrap()
            .is_none()
    );
    let last = world
        .app
        .accounts()
        .by_session(&sessions[MAX_SESSIONS])
        .await
        .unwrap()
        .unwrap();
    assert!(
        world
            .app
            .accounts()
            .by_session(&sessions[1])
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        world.app.accounts().sessions(&last).await.unwrap().len(),
        MAX_SESSIONS
    );
}

#[tokio::test]
async fn whoever_shows_a_password_is_charged_with_their_organization() {
    let world = World::new().await;
    let signing_in = async {
        sign_in(&world, GOOD).await.unwrap();
        (current_keys(), current_caller())
    };
    // The way of the password grant of OAuth.
    let showing_it = async {
        world
            .app
            .authentication()
            .check_password(ADA, &Password::new(GOOD), HERE)
            .await
            .unwrap();
        (current_keys(), current_caller())
    };
    let by_credentials = async {
        world
            .app
            .authentication()
            .authenticate(Credentials::Token(world.token.clone()), HERE)
            .await
            .unwrap();
        (current_keys(), current_caller())
    };
    let charged = as_client(HERE, signing_in).await;
    assert_eq!(charged.0, Some(world.ada.quota_keys()));
    assert_eq!(charged, as_client(HERE, showing_it).await);
    assert_eq!(charged, as_client(HERE, by_credentials).await);
    let guessing = async {
        sign_in(&world, "another password").await.unwrap_err();
        current_keys()
    };
    assert_eq!(
        as_client(HERE, guessing).await,
        Some(QuotaKey::network(HERE).into())
    );
}

#[tokio::test]
async fn a_session_ends_when_it_was_not_used_for_thirty_days() {
    let world = World::new().await;
    let session = sign_in(&world, GOOD).await.unwrap();
    for _ in 0..3 {
        world.pass(29 * DAY);
        let actor = world.app.accounts().by_session(&session).await.unwrap();
        assert_eq!(
            actor.and_then(|actor| actor.user_id()),
            Some(world.ada_id())
        );
    }
    world.pass(30 * DAY);
    assert!(
        world
            .app
            .accounts()
            .by_session(&session)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_session_is_noted_as_used_once_an_hour() {
    let world = World::new().await;
    let session = sign_in(&world, GOOD).await.unwrap();
    world.pass(59 * MINUTE);
    world
        .app
        .accounts()
        .by_session(&session)
        .await
        .unwrap()
        .unwrap();
    world.pass(30 * DAY - 59 * MINUTE);
    assert!(
        world
            .app
            .accounts()
            .by_session(&session)
            .await
            .unwrap()
            .is_none(),
        "the look an hour ago did not count"
    );
}

#[tokio::test]
async fn a_session_ends_when_one_signs_out() {
    let world = World::new().await;
    let (session, other) = (
        sign_in(&world, GOOD).await.unwrap(),
        sign_in(&world, GOOD).await.unwrap(),
    );
    world.app.accounts().sign_out(&session).await.unwrap();
    world.app.accounts().sign_out(&session).await.unwrap();
    assert!(
        world
            .app
            .accounts()
            .by_session(&session)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        world
            .app
            .accounts()
            .by_session(&other)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        world
            .app
            .accounts()
            .by_session(&Secret::generate_long())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn mail_about_a_password_goes_out_once_in_five_minutes() {
    let world = World::new().await;
    let ask = async |email: &str| {
        world
            .app
            .accounts()
            .request_password_reset(email, HERE)
            .await
            .unwrap();
    };
    ask("nobody@acme.example").await;
    assert_eq!(world.waiting_mails().await.len(), 0);
    ask(ADA).await;
    ask("ADA@acme.example").await;
    assert_eq!(world.waiting_mails().await.len(), 1, "one waits already");
    let about = Purpose::PasswordReset(world.ada_id());
    world
        .app
        .core()
        .store()
        .write(NoCaller::Operator, move |tx| tx.mails().delete_about(about))
        .await
        .unwrap();
    world.link(about, None, 4 * 60 * MINUTE).await;
    world.pass(4 * MINUTE);
    ask(ADA).await;
    assert_eq!(
        world.waiting_mails().await.len(),
        0,
        "one went out four minutes ago"
    );
    world.pass(2 * MINUTE);
    ask(ADA).await;
    assert_eq!(world.waiting_mails().await.len(), 1);
}

#[tokio::test]
async fn a_client_that_asks_for_mail_too_often_has_to_wait() {
    let world = World::new().await;
    let ask = async || {
        world
            .app
            .accounts()
            .request_password_reset("nobody@acme.example", HERE)
            .await
    };
    for _ in 0..10 {
        ask().await.unwrap();
    }
    let refused = ask().await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.retry_after()),
        (ErrorKind::TooManyRequests, Some(60))
    );
    world.pass(MINUTE);
    ask().await.unwrap();
}

#[tokio::test]
async fn a_link_to_a_new_password_ends_with_its_time_and_its_use() {
    let world = World::new().await;
    let about = Purpose::PasswordReset(world.ada_id());
    let late = world.link(about, None, 4 * 60 * MINUTE).await;
    world.pass(4 * 60 * MINUTE);
    let new = Password::new("violet umbrella on the tram");
    assert_eq!(
        kind_of(&world.app.accounts().reset_link(&late).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        kind_of(&world.app.accounts().reset_password(&late, &new).await),
        Some(ErrorKind::NotFound)
    );

    let session = sign_in(&world, GOOD).await.unwrap();
    let (used, other) = (
        world.link(about, None, DAY).await,
        world.link(about, None, DAY).await,
    );
    let weak = world
        .app
        .accounts()
        .reset_password(&used, &Password::new("ada@acme.example"))
        .await;
    assert!(matches!(&weak, Err(error) if error.fields().contains_key("password")));
    let fresh = world
        .app
        .accounts()
        .reset_password(&used, &new)
        .await
        .unwrap();
    assert!(
        world
            .app
            .accounts()
            .by_session(&fresh)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        world
            .app
            .accounts()
            .by_session(&session)
            .await
            .unwrap()
            .is_none(),
        "older sessions are over"
    );
    for link in [&used, &other] {
        assert_eq!(
            kind_of(&world.app.accounts().reset_link(link).await),
            Some(ErrorKind::NotFound)
        );
    }
    assert_eq!(
        kind_of(&sign_in(&world, GOOD).await),
        Some(ErrorKind::Unauthenticated)
    );
    assert!(sign_in(&world, new.expose()).await.is_ok());
}

#[tokio::test]
async fn new_passwords_of_a_caller_are_checked_one_after_the_other() {
    let world = World::new().await;
    let link = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    let reset = |address: [u8; 4], new: &str| {
        let (app, link, new) = (world.app.clone(), link.clone(), Password::new(new));
        let resetting = async move { app.accounts().reset_password(&link, &new).await };
        tokio::spawn(as_client(IpAddr::from(address), resetting))
    };
    let count = |key: QuotaKey| world.app.accounts().new_passwords.acquire(key.into(), 1);
    let held = [
        count(QuotaKey::network(HERE)).unwrap(),
        count(QuotaKey::network(HERE)).unwrap(),
    ];
    let waiting = reset([192, 0, 2, 1], "violet umbrella on the tram");
    let elsewhere = reset([192, 0, 2, 2], "ada@acme.example").await.unwrap();
    assert_eq!(
        kind_of(&elsewhere),
        Some(ErrorKind::Invalid),
        "another network is answered"
    );
    assert!(!waiting.is_finished());
    drop(held);
    assert!(waiting.await.unwrap().is_ok());
    let _one = count(QuotaKey::User(world.ada_id())).unwrap();
    assert!(
        count(QuotaKey::User(world.ada_id())).is_err(),
        "a user has one at a time"
    );
}

#[tokio::test]
async fn invented_sessions_and_links_cost_no_transaction() {
    let world = World::new().await;
    let (store, network) = (world.app.core().store(), QuotaKey::network(HERE).into());
    let _all = [
        store.transaction_permit(network).await.unwrap(),
        store.transaction_permit(network).await.unwrap(),
    ];
    let invented = Secret::generate_long();
    as_client(HERE, world.app.accounts().sign_out(&invented))
        .await
        .unwrap();
    let as_stranger = async |link: &Secret| {
        let not_found = [
            world.app.accounts().undo_email_change(link).await.err(),
            world.app.accounts().sign_in_by_link(link).await.err(),
            world.app.accounts().decline_link(link).await.err(),
            world
                .app
                .accounts()
                .reset_password(link, &Password::new(GOOD))
                .await
                .err(),
        ];
        assert!(
            not_found
                .iter()
                .all(|error| error.as_ref().map(Error::kind) == Some(ErrorKind::NotFound)),
            "{not_found:?}"
        );
    };
    as_client(HERE, as_stranger(&invented)).await;
}

#[tokio::test]
async fn a_link_does_only_what_it_is_for() {
    let world = World::new().await;
    let reset = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    let undo = world
        .link(
            Purpose::EmailChange(world.ada_id()),
            Some("old@acme.example"),
            DAY,
        )
        .await;
    assert_eq!(
        kind_of(&world.app.accounts().undo_link(&reset).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        kind_of(&world.app.accounts().reset_link(&undo).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        kind_of(&world.app.accounts().invitation_link(&undo).await),
        Some(ErrorKind::NotFound)
    );
}

#[tokio::test]
async fn a_password_set_by_an_operator_ends_what_the_old_one_opened() {
    let world = World::new().await;
    let session = sign_in(&world, GOOD).await.unwrap();
    let reset = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    let new = Password::new("another staple of horses");
    world
        .app
        .operator()
        .set_password(&ADA.parse().unwrap(), &new)
        .await
        .unwrap();
    assert!(
        world
            .app
            .accounts()
            .by_session(&session)
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(
        kind_of(&world.app.accounts().reset_link(&reset).await),
        Some(ErrorKind::NotFound)
    );
}

#[tokio::test]
async fn an_invitations_link_ends_after_a_month() {
    let world = World::new().await;
    let link = world.invite("grace@hopper.example").await;
    world.pass(30 * DAY - 1);
    assert!(
        !world
            .app
            .accounts()
            .invitation_link(&link)
            .await
            .unwrap()
            .has_account
    );
    world.pass(1);
    assert_eq!(
        kind_of(&world.app.accounts().invitation_link(&link).await),
        Some(ErrorKind::NotFound)
    );
    let late = world
        .app
        .accounts()
        .sign_up(&link, newcomer("grace", GOOD))
        .await;
    assert_eq!(kind_of(&late), Some(ErrorKind::NotFound));
}

#[tokio::test]
async fn an_invitation_that_was_left_over_is_refused_and_gives_way_to_a_new_one() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben")
        .await
        .user_id()
        .unwrap();
    let email: Email = "grace@hopper.example".parse().unwrap();
    let room = world
        .app
        .rooms()
        .find(&world.ada, "acme", "main", FlowAction::Invite)
        .await
        .unwrap();
    // As earlier versions left them: by a user who is no member any more, and requested at a link
    // that ended.
    for inviter in [Some(ben), None] {
        let (id, address) = (room.id(), email.clone());
        let left = world
            .app
            .core()
            .store()
            .write(NoCaller::Operator, move |tx| {
                tx.organization_members().delete(OrganizationId(1), ben)?;
                let (now, emails) = (tx.now(), [&address]);
                tx.invitations().insert(NewInvitations {
                    room: id,
                    emails: &emails,
                    inviter,
                    message: None,
                    now,
                })
            });
        let left = left.await.unwrap().0[0].id;
        let link = world.link(Purpose::Invitation(left), None, DAY).await;
        assert_eq!(
            kind_of(&world.app.accounts().invitation_link(&link).await),
            Some(ErrorKind::NotFound),
            "{inviter:?}"
        );
        let late = world.app.accounts().accept_link(&world.ada, &link).await;
        assert_eq!(
            kind_of(&late),
            Some(ErrorKind::NotFound),
            "{inviter:?} {late:?}"
        );
        let made = world
            .app
            .invitations()
            .create(&world.ada, &room, email.clone(), None)
            .await
            .unwrap();
        assert_ne!(made.id, left.0);
        world
            .app
            .accounts()
            .invitation_link(
                &world
                    .link(Purpose::Invitation(InvitationId(made.id)), None, DAY)
                    .await,
            )
            .await
            .unwrap();
        world
            .app
            .invitations()
            .delete(&world.ada, "acme", "main", InvitationId(made.id))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn somebody_who_signs_up_is_told_of_everything_that_is_wrong() {
    let world = World::new().await;
    let link = world.invite("grace@hopper.example").await;
    let wrong = NewAccount {
        name: " ".into(),
        nick: "two words".into(),
        password: Password::new("grace"),
    };
    let refused = world.app.accounts().sign_up(&link, wrong).await;
    assert_eq!(
        refused.unwrap_err().fields().keys().collect::<Vec<_>>(),
        ["name", "nick", "password"]
    );
    let refused = world
        .app
        .accounts()
        .sign_up(&link, newcomer("ADA", GOOD))
        .await;
    assert_eq!(
        refused.unwrap_err().fields().keys().collect::<Vec<_>>(),
        ["nick"],
        "it is taken"
    );
    let (session, path) = world
        .app
        .accounts()
        .sign_up(&link, newcomer("grace", GOOD))
        .await
        .unwrap();
    assert_eq!((&*path.organization, &*path.flow), ("acme", "main"));
    assert!(
        world
            .app
            .accounts()
            .by_session(&session)
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn a_full_organization_leaves_no_account_behind() {
    let world = World::new().await;
    let link = world.invite("grace@hopper.example").await;
    person(&world.app, "ben@acme.example", "ben").await;
    let full = world
        .app
        .accounts()
        .sign_up(&link, newcomer("grace", GOOD))
        .await;
    assert_eq!(kind_of(&full), Some(ErrorKind::Conflict), "{full:?}");
    assert!(world.account("grace@hopper.example").await.is_none());
    assert!(
        world.app.accounts().invitation_link(&link).await.is_ok(),
        "when there is room again it still holds"
    );
}
