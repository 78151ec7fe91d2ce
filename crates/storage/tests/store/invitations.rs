//! Invitations, and the mails and links that go with them.

use std::sync::Arc;

use eddyline_model::invitations::{Invitation, InvitationState};
use eddyline_model::mail::{MailedLink, Purpose, QueuedMail};
use eddyline_model::names::Email;
use eddyline_model::{InvitationId, OrganizationId, Timestamp, UserId};
use eddyline_storage::{Error, NewInvitations, NewMail};

use crate::home::{Home, on_every_database};
use crate::world::{World, new_flow, new_user};

on_every_database!(
    many_invitations_are_made_at_once_in_order,
    one_invitation_to_an_address_is_pending_in_a_room,
    words_and_the_name_under_them_go_together,
    invitations_are_found_by_what_they_rest_on,
    addresses_are_known_with_their_owners,
    an_accepted_invitation_is_not_pending_any_more,
    mail_and_links_of_an_invitation_end_together,
    organizations_take_turns_whatever_invitations_of_another_wait,
    a_mail_is_taken_once_until_its_time_comes_again,
    a_mail_that_is_given_back_is_due_and_was_not_tried,
    what_has_ended_is_forgotten,
);

fn email(text: &str) -> Email {
    text.parse().expect("an address")
}

/// Invites to the main room.
async fn invite(world: &World, addresses: &[String], inviter: Option<UserId>) -> Vec<Invitation> {
    let room = world.main;
    let addresses: Vec<Email> = addresses.iter().map(|address| email(address)).collect();
    let made = world.store.write(move |tx| {
        let emails: Vec<&Email> = addresses.iter().collect();
        tx.invitations().insert(NewInvitations {
            room,
            emails: &emails,
            inviter,
            message: Some("hi"),
            now: Timestamp(5),
        })
    });
    made.await.expect("they are made").0
}

async fn many_invitations_are_made_at_once_in_order(home: Arc<Home>) {
    let world = World::new(&home).await;
    let addresses: Vec<String> = (0..1203)
        .map(|number| format!("P{}@x.org", number * 7 % 1203))
        .collect();
    let made = invite(&world, &addresses, Some(world.ann)).await;
    let emails: Vec<&str> = made
        .iter()
        .map(|invitation| invitation.email.as_str())
        .collect();
    assert_eq!(emails, addresses);
    let room = world.main;
    let pending = world
        .read(move |reader| {
            reader
                .invitations()
                .list_pending(room, InvitationId(0), 5000)
        })
        .await;
    assert_eq!(pending.len(), made.len());
    let after = made[700].id;
    let page = world
        .read(move |reader| reader.invitations().list_pending(room, after, 2))
        .await;
    assert_eq!(page, made[701..703]);
    let id = made[600].id;
    assert_eq!(
        world
            .read(move |reader| reader.invitations().find(id))
            .await
            .as_ref(),
        Some(&made[600])
    );
    let keys: Vec<String> = addresses
        .iter()
        .map(|address| address.to_lowercase())
        .collect();
    let found = world
        .read(move |reader| reader.invitations().list_pending_to(room, &keys))
        .await;
    assert_eq!(found.len(), made.len());
    let side = world.side;
    assert_eq!(
        world
            .read(move |reader| reader
                .invitations()
                .list_pending(side, InvitationId(0), 5000))
            .await,
        []
    );
    let everywhere = world
        .read(|reader| reader.invitations().list_for_email("p7@x.org"))
        .await;
    assert_eq!(everywhere, [made[1].clone()]);
}

async fn one_invitation_to_an_address_is_pending_in_a_room(home: Arc<Home>) {
    let world = World::new(&home).await;
    let address = ["dan@x.org".to_owned()];
    let first = invite(&world, &address, None).await.remove(0);
    assert_eq!(
        (first.inviter, first.state),
        (None, InvitationState::Pending)
    );
    let room = world.main;
    let again = world.store.write(move |tx| {
        let (dan, now) = (email("DAN@x.org"), Timestamp(6));
        tx.invitations().insert(NewInvitations {
            room,
            emails: &[&dan],
            inviter: None,
            message: None,
            now,
        })
    });
    assert!(matches!(again.await, Err(Error::Exists(_))));
    world
        .store
        .write(move |tx| tx.invitations().set_accepted(&[first.id]))
        .await
        .expect("it is accepted");
    let second = invite(&world, &address, None).await.remove(0);
    assert_ne!(second.id, first.id);
    world
        .store
        .write(move |tx| tx.invitations().delete(&[second.id]))
        .await
        .expect("it is removed");
    assert_eq!(
        world
            .read(move |reader| reader.invitations().find(second.id))
            .await,
        None
    );
}

async fn words_and_the_name_under_them_go_together(home: Arc<Home>) {
    let world = World::new(&home).await;
    let made = invite(&world, &["dan@x.org".to_owned()], Some(world.ann))
        .await
        .remove(0);
    let asked = invite(&world, &["eve@x.org".to_owned()], None)
        .await
        .remove(0);
    let room = world.main;
    let counted = world.read(move |reader| {
        Ok((
            reader.invitations().count_pending(room, true)?,
            reader.invitations().count_pending(room, false)?,
        ))
    });
    assert_eq!(
        counted.await,
        (1, 1),
        "those of members and those that were requested are counted apart"
    );
    let (bob, ids) = (Some(world.bob), [made.id, asked.id]);
    let seen = async |id: InvitationId| {
        let now = world
            .read(move |reader| reader.invitations().find(id))
            .await
            .expect("it is there");
        (now.inviter, now.message, now.sent_at.0)
    };
    let sent = world
        .store
        .write(move |tx| tx.invitations().set_sent(&ids, Timestamp(7)));
    sent.await.expect("they are sent");
    assert_eq!(seen(made.id).await, (Some(world.ann), Some("hi".into()), 7));
    assert_eq!(seen(asked.id).await, (None, Some("hi".into()), 7));
    let touch = async |message: Option<&'static str>| {
        let touched = world
            .store
            .write(move |tx| tx.invitations().touch(&ids, world.bob, message));
        touched.await.expect("they are touched");
    };
    touch(None).await;
    assert_eq!(seen(made.id).await, (Some(world.ann), Some("hi".into()), 7));
    assert_eq!(seen(asked.id).await, (bob, Some("hi".into()), 7));
    touch(Some("come")).await;
    assert_eq!(seen(made.id).await, (bob, Some("come".into()), 7));
}

async fn invitations_are_found_by_what_they_rest_on(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (organization, ann, main, side) = (world.organization, world.ann, world.main, world.side);
    let addresses = |name: &str| vec![format!("{name}1@x.org"), format!("{name}2@x.org")];
    let by_ann = invite(&world, &addresses("ann"), Some(ann)).await;
    invite(&world, &addresses("bob"), Some(world.bob)).await;
    let asked = invite(&world, &addresses("asked"), None).await;
    let accepted = [by_ann[0].id, asked[0].id];
    world
        .store
        .write(move |tx| tx.invitations().set_accepted(&accepted))
        .await
        .expect("they are accepted");
    let made = world
        .read(move |reader| reader.invitations().list_made_by(organization, ann))
        .await;
    assert_eq!(made, [(main, by_ann[1].id)]);
    let elsewhere = OrganizationId(organization.0 + 1);
    assert_eq!(
        world
            .read(move |reader| reader.invitations().list_made_by(elsewhere, ann))
            .await,
        []
    );
    let requested = world
        .read(move |reader| reader.invitations().list_requested(&[side, main]))
        .await;
    assert_eq!(requested, [asked[1].id]);
    assert_eq!(
        world
            .read(move |reader| reader.invitations().list_requested(&[side]))
            .await,
        []
    );
    let ids = [asked[1].id, by_ann[1].id];
    world
        .store
        .write(move |tx| tx.invitations().delete(&ids))
        .await
        .expect("they are removed");
    assert_eq!(
        world
            .read(move |reader| reader.invitations().list_requested(&[main]))
            .await,
        []
    );
    assert_eq!(
        world
            .read(move |reader| reader.invitations().list_made_by(organization, ann))
            .await,
        []
    );
}

async fn addresses_are_known_with_their_owners(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (dan, _) = world
        .store
        .write(|tx| tx.users().insert(&new_user("dan")))
        .await
        .expect("dan is added");
    let keys = ["ann@example.org", "dan@example.org", "nobody@example.org"].map(str::to_owned);
    let organization = world.organization;
    let mut owners = world
        .read(move |reader| {
            reader
                .invitations()
                .list_address_owners(&keys, organization)
        })
        .await;
    owners.sort_by_key(|owner| owner.user.id);
    let known: Vec<_> = owners
        .iter()
        .map(|o| (o.email_key.as_str(), o.user.id, o.belongs))
        .collect();
    assert_eq!(
        known,
        [
            ("ann@example.org", world.ann, true),
            ("dan@example.org", dan, false)
        ]
    );
}

async fn an_accepted_invitation_is_not_pending_any_more(home: Arc<Home>) {
    let world = World::new(&home).await;
    let made = invite(
        &world,
        &["a@x.org".to_owned(), "b@x.org".to_owned()],
        Some(world.ann),
    )
    .await;
    let (accepted, room) = (made[0].id, world.main);
    world
        .store
        .write(move |tx| tx.invitations().set_accepted(&[accepted]))
        .await
        .expect("it is accepted");
    assert_eq!(
        world
            .read(move |reader| reader
                .invitations()
                .list_pending(room, InvitationId(0), 5000))
            .await,
        made[1..]
    );
    let shown = world
        .read(move |reader| reader.invitations().find(accepted))
        .await
        .expect("it is kept");
    assert_eq!(shown.state, InvitationState::Accepted);
    assert_eq!(
        world
            .read(|reader| reader.invitations().list_for_email("a@x.org"))
            .await,
        []
    );
}

fn mail_about(purpose: Purpose) -> NewMail {
    NewMail {
        purpose,
        recipient: "a@x.org".into(),
        detail: None,
    }
}

async fn mail_and_links_of_an_invitation_end_together(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (one, two) = (InvitationId(1), InvitationId(2));
    // The number of a user is no number of an invitation.
    let about = [
        Purpose::Invitation(one),
        Purpose::Invitation(two),
        Purpose::PasswordReset(UserId(1)),
    ];
    let made = world.store.write(move |tx| {
        tx.mails().insert(&about.map(mail_about), Timestamp(5))?;
        for (number, purpose) in (0u8..).zip(about) {
            tx.mails().insert_link(
                &[number; 32],
                &MailedLink {
                    purpose,
                    email: None,
                    expires_at: Timestamp(100),
                },
            )?;
        }
        Ok(())
    });
    made.await.expect("they are queued");
    let waiting = world
        .read(move |reader| reader.mails().list_waiting_invitations(&[one, two]))
        .await;
    assert_eq!(waiting.len(), 2);
    world
        .store
        .write(move |tx| tx.mails().delete_of_invitations(&[one]))
        .await
        .expect("it ends");
    let waiting = world
        .read(move |reader| reader.mails().list_waiting_invitations(&[one, two]))
        .await;
    assert_eq!(waiting.into_iter().collect::<Vec<_>>(), [two]);
    let links = world.read(|reader| {
        (0u8..3)
            .map(|number| {
                Ok(reader
                    .mails()
                    .find_link(&[number; 32], Timestamp(99))?
                    .is_some())
            })
            .collect::<Result<Vec<_>, _>>()
    });
    assert_eq!(links.await, [false, true, true]);
    assert!(
        world
            .read(move |reader| reader.mails().contains(about[2]))
            .await
    );
}

async fn organizations_take_turns_whatever_invitations_of_another_wait(home: Arc<Home>) {
    let world = World::new(&home).await;
    let main = world.main;
    let queued = world.store.write(move |tx| {
        let beta = tx
            .organizations()
            .insert("Beta", "beta", 10, Timestamp(1))?;
        let other = tx.flows().insert(&new_flow(beta, "other"))?;
        for (room, count) in [(main, 30), (other, 2)] {
            let addresses: Vec<Email> = (0..count)
                .map(|number| email(&format!("{number}@{room}.example.org")))
                .collect();
            let invitations = tx.invitations().insert(NewInvitations {
                room,
                emails: &addresses.iter().collect::<Vec<_>>(),
                inviter: None,
                message: None,
                now: Timestamp(5),
            })?;
            for invitation in invitations {
                let mut mail = mail_about(Purpose::Invitation(invitation.id));
                mail.recipient = room.to_string();
                tx.mails().insert(&[mail], Timestamp(5))?;
            }
        }
        tx.mails()
            .claim_due(Timestamp(5), Timestamp(50), 5)
            .map(|taken| (taken, other))
    });
    let ((taken, other), _) = queued.await.expect("they are taken");
    let rooms: Vec<String> = taken.into_iter().map(|mail| mail.recipient).collect();
    assert_eq!(
        rooms,
        [main, other, main, other, main].map(|room| room.to_string())
    );
}

async fn a_mail_is_taken_once_until_its_time_comes_again(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mails = [1, 2, 3].map(|number| mail_about(Purpose::Invitation(InvitationId(number))));
    world
        .store
        .write(move |tx| tx.mails().insert(&mails, Timestamp(5)))
        .await
        .expect("they are queued");
    let take = async |now: i64, limit| -> Vec<QueuedMail> {
        let taken = world.store.write(move |tx| {
            tx.mails()
                .claim_due(Timestamp(now), Timestamp(now + 10), limit)
        });
        taken.await.expect("they are taken").0
    };
    let due = async || world.read(|reader| reader.mails().find_next_due()).await;
    assert_eq!(due().await, Some(Timestamp(5)));
    assert_eq!(take(4, 9).await, []);
    let first = take(6, 2).await;
    assert_eq!(
        first.iter().map(|mail| mail.attempts).collect::<Vec<_>>(),
        [1, 1]
    );
    let rest = take(7, 9).await;
    assert_eq!(rest.len(), 1);
    assert_eq!(take(8, 9).await, []);
    let (sent, put_off) = (first[0].id, first[1].id);
    let noted = world.store.write(move |tx| {
        tx.mails().delete(sent)?;
        tx.mails().postpone(put_off, Timestamp(30))
    });
    noted.await.expect("it is noted");
    assert_eq!(due().await, Some(Timestamp(17)));
    let again = take(20, 9).await;
    assert_eq!(
        again
            .iter()
            .map(|mail| (mail.id, mail.attempts))
            .collect::<Vec<_>>(),
        [(rest[0].id, 2)]
    );
    assert_eq!(take(30, 9).await.len(), 2);
}

async fn a_mail_that_is_given_back_is_due_and_was_not_tried(home: Arc<Home>) {
    let world = World::new(&home).await;
    let mail = mail_about(Purpose::Invitation(InvitationId(1)));
    world
        .store
        .write(move |tx| tx.mails().insert(std::slice::from_ref(&mail), Timestamp(5)))
        .await
        .expect("it is queued");
    let take = async |now: i64| -> Vec<QueuedMail> {
        let taken = world
            .store
            .write(move |tx| tx.mails().claim_due(Timestamp(now), Timestamp(now + 10), 9));
        taken.await.expect("it is taken").0
    };
    let give_back = async |mail: &QueuedMail, now: i64| {
        let mail = mail.clone();
        let given = world
            .store
            .write(move |tx| tx.mails().release(&mail, Timestamp(now)));
        given.await.expect("it is given back");
    };
    let first = take(6).await;
    give_back(&first[0], 7).await;
    let second = take(7).await;
    assert_eq!(second, first, "it was not tried");
    let third = take(17).await;
    assert_eq!(third[0].attempts, 2, "the second try came to nothing");
    give_back(&second[0], 18).await;
    assert_eq!(take(18).await, [], "somebody else holds it");
}

async fn what_has_ended_is_forgotten(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (ann, purpose) = (world.ann, Purpose::PasswordReset(world.ann));
    let made = world.store.write(move |tx| {
        for (hash, end) in [(b"early", 10), (b"later", 20)] {
            tx.mails().insert_link(
                hash,
                &MailedLink {
                    purpose,
                    email: None,
                    expires_at: Timestamp(end),
                },
            )?;
        }
        tx.sessions().insert(b"old", ann, Timestamp(1))?;
        tx.sessions().insert(b"new", ann, Timestamp(2))?;
        tx.mails().delete_ended_links(Timestamp(10))?;
        tx.sessions().delete_idle(Timestamp(1))
    });
    made.await.expect("it is written");
    let left = world.read(|reader| {
        let links = [
            reader.mails().find_link(b"early", Timestamp(0))?,
            reader.mails().find_link(b"later", Timestamp(0))?,
        ];
        let sessions = [
            reader.sessions().find_user(b"old", Timestamp(0))?,
            reader.sessions().find_user(b"new", Timestamp(0))?,
        ];
        Ok((
            links.map(|link| link.is_some()),
            sessions.map(|session| session.is_some()),
        ))
    });
    assert_eq!(left.await, ([false, true], [false, true]));
}
