//! Rights that are taken away are gone at once.

use bytes::Buf;

use super::*;
use crate::{CredentialKey, OpenedWith};

fn own(rooms: &[i64], user: i64) -> SubscriptionFilter {
    SubscriptionFilter::new(
        rooms.iter().copied().map(RoomId).collect(),
        Some(UserId(user)),
    )
}

#[test]
fn a_lost_room_is_silent_at_once_wherever_the_listener_stands() {
    let world = World::new(small());
    let mut live = world.listen(own(&[1, 2], 7), None);
    for n in 0..10 {
        world.tell(room(1 + n % 2));
    }
    let mut behind = world.listen(own(&[1, 2], 7), after(0));
    let mut other = world.listen(own(&[1, 2], 8), after(8));
    world.hub.revoke_room(UserId(7), RoomId(1));
    assert_eq!(all(&mut live), [2, 4, 6, 8, 10]);
    assert_eq!(all(&mut behind), [2, 4, 6, 8, 10]);
    assert_eq!(all(&mut other), [9, 10]);
    world.tell(room(1));
    world.tell(room(2));
    assert_eq!(all(&mut live), [12]);
    assert_eq!(all(&mut other), [11, 12]);
}

#[tokio::test]
async fn a_page_on_its_way_is_filtered_by_the_rights_of_now() {
    let world = World::new(small());
    for n in 0..10 {
        world.tell(room(1 + n % 2));
    }
    let mut stream = world.listen(own(&[1, 2], 7), after(0));
    world
        .log
        .slow
        .store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(poll(&mut stream).is_pending());
    world.hub.revoke_room(UserId(7), RoomId(1));
    assert_eq!(
        numbers(std::str::from_utf8(&stream.next().await.unwrap().into_bytes()).unwrap()),
        [2]
    );
}

#[test]
fn what_is_left_of_a_write_is_cut_at_a_frame() {
    let world = World::new(small());
    let mut stream = world.listen(own(&[1, 2], 7), None);
    for n in 0..4 {
        world.tell(room(1 + n % 2));
    }
    let Poll::Ready(Some(mut batch)) = poll(&mut stream) else {
        panic!("a batch is waiting")
    };
    batch.advance(3);
    let wakes = Arc::new(Wakes::default());
    let lost = |stream: &Subscription| {
        stream
            .poll_rights_lost(&mut Context::from_waker(&Waker::from(wakes.clone())))
            .is_ready()
    };
    assert!(!lost(&stream));
    world.hub.revoke_room(UserId(7), RoomId(1));
    assert_eq!(wakes.take(), 1);
    assert!(lost(&stream));
    assert!(stream.retain_allowed(&mut batch));
    assert!(!lost(&stream));
    assert_eq!(
        &batch.into_bytes()[..],
        b"\":1}\r\n{\"n\":2}\r\n{\"n\":4}\r\n"
    );
}

#[test]
fn a_stream_that_is_ended_while_it_writes_writes_no_more() {
    let world = World::new(small());
    let mut stream = world.listen(own(&[1], 7), None);
    world.tell(room(1));
    let Poll::Ready(Some(mut batch)) = poll(&mut stream) else {
        panic!("a batch is waiting")
    };
    world.hub.revoke_user(UserId(7));
    assert!(!stream.retain_allowed(&mut batch));
    assert!(is_ended(&mut stream));
}

#[test]
fn streams_of_rooms_go_on_when_those_of_what_is_sent_to_the_user_end() {
    let world = World::new(small());
    let request = SubscribeRequest {
        caller: Some(UserId(7)),
        ..world.request(rooms(&[1]), None)
    };
    let mut of_room = world.try_listen(request).unwrap();
    let (mut of_user, mut of_other) = (
        world.listen(own(&[1], 7), None),
        world.listen(own(&[1], 8), None),
    );
    world.hub.revoke_private(UserId(7));
    world.tell(room(1));
    assert!(is_ended(&mut of_user));
    assert_eq!(all(&mut of_room), [1]);
    assert_eq!(all(&mut of_other), [1]);
}

#[test]
fn a_stream_with_nothing_left_ends() {
    let world = World::new(small());
    let request = SubscribeRequest {
        caller: Some(UserId(7)),
        ..world.request(rooms(&[1]), None)
    };
    let mut stream = world.try_listen(request).unwrap();
    one(&mut stream);
    let wakes = Arc::new(Wakes::default());
    assert!(wakes.poll(&mut stream).is_pending());
    world.hub.revoke_room(UserId(7), RoomId(1));
    assert_eq!(wakes.take(), 1);
    assert!(is_ended(&mut stream));
    assert!(is_ended(&mut stream));
    assert_eq!(world.hub.listeners(), 0);
    assert!(is_ended(&mut world.listen(rooms(&[]), None)));
}

#[test]
fn a_revoked_credential_ends_its_streams_only() {
    let world = World::new(small());
    let with = |key, family: Option<u64>| {
        let with = OpenedWith {
            credential: CredentialKey(key),
            family: family.map(CredentialKey),
        };
        world
            .try_listen(SubscribeRequest {
                credential: Some(with),
                ..world.request(rooms(&[1]), None)
            })
            .unwrap()
    };
    let (mut one_token, mut other_token) = (with(1, None), with(2, Some(3)));
    world.hub.revoke_credentials(&[CredentialKey(1)].into());
    world.tell(room(1));
    assert_eq!(one(&mut one_token).as_deref(), Some("\n"));
    assert!(is_ended(&mut one_token));
    assert_eq!(all(&mut other_token), [1]);
    world
        .hub
        .revoke_credentials(&[CredentialKey(3), CredentialKey(4)].into());
    world.tell(room(1));
    assert!(is_ended(&mut other_token));
}

#[test]
fn a_room_that_is_gone_is_gone_for_all() {
    let world = World::new(small());
    let mut streams = [
        world.listen(own(&[1], 7), None),
        world.listen(rooms(&[1, 2]), None),
    ];
    let mut nothing_left = world.listen(rooms(&[1]), None);
    world.hub.revoke_room_for_all(RoomId(1));
    world.tell(room(1));
    world.tell(room(2));
    assert_eq!(streams.each_mut().map(all), [vec![], vec![2]]);
    assert!(is_ended(&mut nothing_left));
}

#[test]
fn closing_ends_all_streams_and_each_new_one_at_once() {
    let world = World::new(small());
    let mut stream = world.listen(rooms(&[1]), None);
    world.hub.close_all();
    assert!(is_ended(&mut stream));
    for heard in [&[1][..], &[]] {
        let mut late = world.listen(rooms(heard), None);
        assert!(is_ended(&mut late));
    }
}

#[test]
fn rights_that_were_taken_away_while_a_stream_was_opened_refuse_it() {
    let world = World::new(small());
    let request = world.request(own(&[1], 7), None);
    world.hub.revoke_room(UserId(7), RoomId(1));
    assert_eq!(
        world.try_listen(request).unwrap_err(),
        SubscribeError::RightsChanged
    );
    assert!(world.try_listen(world.request(own(&[], 7), None)).is_ok());
}
