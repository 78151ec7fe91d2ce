//! No use case writes for a caller whose credential has ended, however the caller was found; and
//! what an address needs.

use std::sync::Arc;

use eddyline_model::messages::MessageKind;
use eddyline_model::policy::MessageAction;
use eddyline_model::{MessageId, OrganizationId};

use super::*;
use crate::error::kind_of;
use crate::{Edit, Error, ErrorKind, FlowChanges, FlowRoom, NewPost};

async fn signed_in(world: &World) -> (Secret, Actor) {
    let session = sign_in(world, GOOD).await.unwrap();
    let actor = world
        .app
        .accounts()
        .by_session(&session)
        .await
        .unwrap()
        .unwrap();
    (session, actor)
}

async fn main(world: &World) -> Arc<FlowRoom> {
    world
        .app
        .rooms()
        .find(&world.ada, "acme", "main", FlowAction::Read)
        .await
        .unwrap()
}

fn said(text: &str) -> NewPost {
    NewPost::of(MessageKind::Message, text.to_owned())
}

/// Tries one use case for each way to a transaction, and for each kind of post.
async fn try_everything(world: &World, actor: &Actor) -> Vec<(&'static str, Option<Error>)> {
    let (app, room, me) = (&world.app, main(world).await, actor.user_id().unwrap());
    let edit = || Edit {
        content: Some("changed".into()),
        tags: None,
    };
    let named = UserChanges {
        name: Some("Changed".into()),
        ..UserChanges::default()
    };
    let archive = FlowChanges {
        disabled: Some(true),
        ..FlowChanges::default()
    };
    let private = app
        .rooms()
        .private(actor, me, MessageAction::Post)
        .await
        .unwrap();
    let mut status = said("late");
    status.event = MessageKind::Status;
    vec![
        (
            "post",
            app.messages()
                .post(actor, room.clone(), said("late"))
                .await
                .err(),
        ),
        (
            "status",
            app.messages().post(actor, room.clone(), status).await.err(),
        ),
        (
            "private",
            app.messages()
                .post(actor, private, said("late"))
                .await
                .err(),
        ),
        (
            "edit",
            app.messages()
                .edit(actor, &room.clone().into(), MessageId(1), edit())
                .await
                .err(),
        ),
        (
            "delete",
            app.messages()
                .delete(actor, &room.clone().into(), MessageId(1))
                .await
                .err(),
        ),
        (
            "read",
            app.messages()
                .mark_read(actor, &room.clone().into(), None, MessageId(1))
                .await
                .err(),
        ),
        ("user", app.users().update(actor, named, HERE).await.err()),
        (
            "address",
            app.users()
                .update(actor, address("late@evil.example"), HERE)
                .await
                .err(),
        ),
        ("avatar", app.avatars().delete(actor).await.err()),
        (
            "token",
            app.accounts().make_api_token(actor, "late").await.err(),
        ),
        (
            "sessions",
            app.accounts().end_other_sessions(actor).await.err(),
        ),
        (
            "flow",
            app.flows()
                .create(actor, "acme", "Late".parse().unwrap())
                .await
                .err(),
        ),
        (
            "archive",
            app.flows().update(actor, &room, archive).await.err(),
        ),
        ("add", app.flows().add_user(actor, &room, me).await.err()),
        (
            "block",
            app.flows()
                .set_user_blocked(actor, &room, me, true)
                .await
                .err(),
        ),
        ("leave", app.flows().leave(actor, &room, me).await.err()),
        (
            "invite",
            app.invitations()
                .create(actor, &room, "late@evil.example".parse().unwrap(), None)
                .await
                .err(),
        ),
        (
            "import",
            app.invitations()
                .import(actor, &room, "late@evil.example", None)
                .await
                .err(),
        ),
        (
            "rename",
            app.organizations()
                .rename(actor, OrganizationId(1), "Late")
                .await
                .err(),
        ),
        (
            "remove",
            app.organizations()
                .remove_user(actor, OrganizationId(1), me)
                .await
                .err(),
        ),
    ]
}

async fn everything_is_refused(world: &World, actor: &Actor) {
    for (name, error) in try_everything(world, actor).await {
        assert_eq!(
            error.as_ref().map(Error::kind),
            Some(ErrorKind::Unauthenticated),
            "{name}: {error:?}"
        );
    }
    let user = world.account(ADA).await.unwrap().user;
    assert_eq!((user.name.as_str(), user.status), ("ada", None));
}

#[tokio::test]
async fn nothing_is_done_for_a_session_that_has_ended() {
    let world = World::new().await;
    world
        .app
        .messages()
        .post(&world.ada, main(&world).await, said("hello"))
        .await
        .unwrap();
    let (session, actor) = signed_in(&world).await;
    world.app.accounts().sign_out(&session).await.unwrap();
    everything_is_refused(&world, &actor).await;
}

#[tokio::test]
async fn nothing_is_done_for_a_password_that_was_replaced() {
    let world = World::new().await;
    world
        .app
        .messages()
        .post(&world.ada, main(&world).await, said("hello"))
        .await
        .unwrap();
    let credentials = Credentials::Basic {
        user: ADA.to_owned(),
        password: Password::new(GOOD),
    };
    let actor = world
        .app
        .authentication()
        .authenticate(credentials, HERE)
        .await
        .unwrap();
    let new = Password::new("another staple of horses");
    world
        .app
        .operator()
        .set_password(&ADA.parse().unwrap(), &new)
        .await
        .unwrap();
    everything_is_refused(&world, &actor).await;
}

#[tokio::test]
async fn nothing_is_done_for_a_token_of_somebody_who_was_made_inactive() {
    let world = World::new().await;
    world
        .app
        .messages()
        .post(&world.ada, main(&world).await, said("hello"))
        .await
        .unwrap();
    for active in [false, true] {
        world
            .app
            .operator()
            .set_active(&ADA.parse().unwrap(), active)
            .await
            .unwrap();
    }
    everything_is_refused(&world, &world.ada).await;
}

#[tokio::test]
async fn a_credential_may_end_itself() {
    let world = World::new().await;
    let (_, actor) = signed_in(&world).await;
    let own = world
        .app
        .accounts()
        .sessions(&actor)
        .await
        .unwrap()
        .iter()
        .find(|session| session.is_this)
        .unwrap()
        .id;
    world.app.accounts().end_session(&actor, own).await.unwrap();
    let own = world.app.accounts().api_tokens(&world.ada).await.unwrap()[0].id;
    world
        .app
        .accounts()
        .end_api_token(&world.ada, own)
        .await
        .unwrap();
    let again = world.app.accounts().end_api_token(&world.ada, own).await;
    assert_eq!(
        kind_of(&again),
        Some(ErrorKind::Unauthenticated),
        "{again:?}"
    );
}

#[tokio::test]
async fn a_new_address_needs_the_password_or_a_fresh_session() {
    let world = World::new().await;
    let bare = |email: &str| UserChanges {
        current_password: None,
        ..address(email)
    };
    let is_asked = |outcome: Result<(), Error>| match outcome {
        Err(error) => error.fields().contains_key("current_password"),
        _ => false,
    };
    assert!(is_asked(
        world
            .app
            .users()
            .update(&world.ada, bare("a@new.example"), HERE)
            .await
    ));
    let wrong = UserChanges {
        current_password: Some(Password::new("wrong")),
        ..address("a@new.example")
    };
    assert!(is_asked(
        world.app.users().update(&world.ada, wrong, HERE).await
    ));
    // Another spelling is no other address, and what else changes needs nothing.
    world
        .app
        .users()
        .update(&world.ada, bare("Ada@acme.example"), HERE)
        .await
        .unwrap();

    let (session, _) = signed_in(&world).await;
    world.pass(10 * MINUTE - 1);
    let actor = world
        .app
        .accounts()
        .by_session(&session)
        .await
        .unwrap()
        .unwrap();
    world
        .app
        .users()
        .update(&actor, bare("b@new.example"), HERE)
        .await
        .unwrap();
    world.pass(1);
    let actor = world
        .app
        .accounts()
        .by_session(&session)
        .await
        .unwrap()
        .unwrap();
    assert!(is_asked(
        world
            .app
            .users()
            .update(&actor, bare("c@new.example"), HERE)
            .await
    ));
    world
        .app
        .users()
        .update(&actor, address("c@new.example"), HERE)
        .await
        .unwrap();

    let credentials = Credentials::Basic {
        user: "c@new.example".into(),
        password: Password::new(GOOD),
    };
    let actor = world
        .app
        .authentication()
        .authenticate(credentials, HERE)
        .await
        .unwrap();
    world
        .app
        .users()
        .update(&actor, bare("d@new.example"), HERE)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_user_tries_ten_addresses_a_day() {
    let world = World::new().await;
    person(&world.app, "ben@acme.example", "ben").await;
    let credentials = || Credentials::Basic {
        user: ADA.into(),
        password: Password::new(GOOD),
    };
    let actor = world
        .app
        .authentication()
        .authenticate(credentials(), HERE)
        .await
        .unwrap();
    for number in 0..10 {
        let from = IpAddr::V4(Ipv4Addr::new(192, 0, 2, number));
        let taken = world
            .app
            .users()
            .update(&actor, address("ben@acme.example"), from)
            .await;
        assert_eq!(kind_of(&taken), Some(ErrorKind::Conflict), "{taken:?}");
    }
    let refused = world
        .app
        .users()
        .update(&actor, address("free@acme.example"), HERE)
        .await;
    let refused = refused.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.retry_after()),
        (ErrorKind::TooManyRequests, Some(24 * 3600))
    );
    world.pass(DAY - 1);
    let actor = world
        .app
        .authentication()
        .authenticate(credentials(), HERE)
        .await
        .unwrap();
    assert!(
        world
            .app
            .users()
            .update(&actor, address("free@acme.example"), HERE)
            .await
            .is_err()
    );
    world.pass(1);
    world
        .app
        .users()
        .update(&actor, address("free@acme.example"), HERE)
        .await
        .unwrap();
}
