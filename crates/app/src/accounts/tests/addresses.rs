//! Which account has an e-mail address, and which gets it back.

use super::*;
use crate::ErrorKind;
use crate::error::kind_of;

#[tokio::test]
async fn the_owner_of_the_older_address_wins() {
    let world = World::new().await;
    let about = Purpose::EmailChange(world.ada_id());
    // A thief changes the address twice, so as to get a mail with which to undo.
    world.change_email("thief@evil.example").await;
    let owner_link = world.link(about, Some(ADA), 7 * DAY).await;
    world.pass(1);
    world.change_email("other@evil.example").await;
    let thief_link = world.link(about, Some("thief@evil.example"), 7 * DAY).await;
    world
        .app
        .accounts()
        .undo_email_change(&thief_link)
        .await
        .unwrap();
    assert!(world.account("thief@evil.example").await.is_some());
    world
        .app
        .accounts()
        .undo_email_change(&owner_link)
        .await
        .unwrap();
    assert!(world.account(ADA).await.is_some());
    for link in [&owner_link, &thief_link] {
        assert_eq!(
            kind_of(&world.app.accounts().undo_email_change(link).await),
            Some(ErrorKind::NotFound)
        );
    }
}

#[tokio::test]
async fn undoing_ends_sessions_links_and_the_password() {
    let world = World::new().await;
    let session = sign_in(&world, GOOD).await.unwrap();
    world.change_email("thief@evil.example").await;
    let undo = world
        .link(Purpose::EmailChange(world.ada_id()), Some(ADA), 7 * DAY)
        .await;
    let reset = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    world.pass(1);
    world.change_email("other@evil.example").await;
    world
        .app
        .accounts()
        .request_password_reset("other@evil.example", HERE)
        .await
        .unwrap();

    world.app.accounts().undo_email_change(&undo).await.unwrap();
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
    assert!(
        sign_in(&world, GOOD).await.is_err(),
        "nor does the password open it"
    );
    let new_password = (Purpose::PasswordReset(world.ada_id()), ADA.to_owned());
    assert_eq!(
        world.waiting_mails().await,
        [new_password],
        "no other address gets mail"
    );
}

#[tokio::test]
async fn an_address_that_was_never_proved_gets_no_way_back() {
    let world = World::new().await;
    world.change_email("ada@typo.example").await;
    world.change_email("ada@new.example").await;
    world.change_email(ADA).await;
    // Ada gets mail, although the address is hers again.
    let change = Purpose::EmailChange(world.ada_id());
    assert_eq!(world.waiting_mails().await, [(change, ADA.to_owned())]);
}

#[tokio::test]
async fn an_address_given_up_is_kept_for_its_owner_for_seven_days() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben").await;
    world.change_email("ada@new.example").await;
    let take = address(ADA);
    world.pass(7 * DAY - 1);
    let early = world.app.users().update(&ben, take.clone(), HERE).await;
    assert_eq!(kind_of(&early), Some(ErrorKind::Conflict), "{early:?}");
    world.pass(1);
    world.app.users().update(&ben, take, HERE).await.unwrap();
}

#[tokio::test]
async fn an_address_merely_entered_accepts_no_invitation() {
    let world = World::new().await;
    let ben = person(&world.app, "ben@acme.example", "ben").await;
    let link = world.invite("grace@hopper.example").await;
    world
        .app
        .users()
        .update(&ben, address("grace@hopper.example"), HERE)
        .await
        .unwrap();
    let accepted = world
        .app
        .invitations()
        .accept(&ben, "acme", "main", InvitationId(1))
        .await;
    assert_eq!(kind_of(&accepted), Some(ErrorKind::Denied), "{accepted:?}");
    // The link proves the address.
    world.app.accounts().accept_link(&ben, &link).await.unwrap();
}

#[tokio::test]
async fn an_address_of_another_account_is_not_taken_back() {
    let world = World::new().await;
    let undo = world
        .link(
            Purpose::EmailChange(world.ada_id()),
            Some("ben@acme.example"),
            DAY,
        )
        .await;
    person(&world.app, "ben@acme.example", "ben").await;
    assert_eq!(
        kind_of(&world.app.accounts().undo_email_change(&undo).await),
        Some(ErrorKind::Conflict)
    );
    assert!(world.account(ADA).await.is_some(), "nothing changed");
}

#[tokio::test]
async fn an_address_merely_entered_goes_to_the_user_who_proves_it() {
    let world = World::new().await;
    let link = world.invite("grace@hopper.example").await;
    world.change_email("grace@hopper.example").await;
    assert!(
        !world
            .app
            .accounts()
            .invitation_link(&link)
            .await
            .unwrap()
            .has_account
    );
    world
        .app
        .accounts()
        .sign_up(&link, newcomer("grace", GOOD))
        .await
        .unwrap();
    let grace = world.account("grace@hopper.example").await.unwrap();
    assert_ne!(grace.user.id, world.ada_id());
    assert_eq!(
        world.account(ADA).await.unwrap().user.id,
        world.ada_id(),
        "Ada, who entered it, has her old address again"
    );
}

#[tokio::test]
async fn a_reset_by_an_unproved_address_ends_what_was_there_before() {
    let world = World::new().await;
    let token = world
        .app
        .operator()
        .create_user_token(&ADA.parse().unwrap())
        .await
        .unwrap()
        .1;
    world.change_email("other@acme.example").await;
    let reset = world
        .link(Purpose::PasswordReset(world.ada_id()), None, DAY)
        .await;
    world
        .app
        .accounts()
        .reset_password(&reset, &Password::new("another staple of horses"))
        .await
        .unwrap();
    assert!(
        world
            .app
            .authentication()
            .authenticate(Credentials::Token(token), HERE)
            .await
            .is_err()
    );
    assert!(
        world
            .account("other@acme.example")
            .await
            .unwrap()
            .user
            .email_proved
    );
}
