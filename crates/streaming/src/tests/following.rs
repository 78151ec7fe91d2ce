//! Streams that follow their callers into rooms.

use super::*;

const ADA: UserId = UserId(7);

/// A stream of Ada that follows her, and is in these rooms at first.
fn following(world: &World, rooms_at_first: &[i64]) -> Subscription {
    let request = SubscribeRequest {
        caller: Some(ADA),
        follows: true,
        ..world.request(rooms(rooms_at_first), None)
    };
    let mut stream = world.try_listen(request).unwrap();
    assert_eq!(one(&mut stream).as_deref(), Some("\n"));
    stream
}

#[test]
fn a_stream_that_follows_goes_on_with_the_rooms_its_caller_comes_into() {
    let world = World::new(small());
    let mut stream = following(&world, &[1]);
    let mut other = world.listen(SubscriptionFilter::new(vec![RoomId(1)], Some(ADA)), None);
    // An entry from before the join, which the stream has not read yet, is not delivered.
    world.tell(room(2));
    world.hub.add_room(&[ADA], RoomId(2));
    // Again, which changes nothing.
    world.hub.add_room(&[ADA, UserId(8)], RoomId(2));
    world.tell(room(2));
    world.tell(room(1));
    world.hub.add_room(&[UserId(8)], RoomId(3));
    world.tell(room(3));
    assert_eq!(all(&mut stream), [2, 3]);
    assert_eq!(all(&mut other), [3]);
}

#[test]
fn a_stream_that_follows_stays_open_without_a_room() {
    let world = World::new(small());
    let mut stream = following(&world, &[]);
    world.hub.add_room(&[ADA], RoomId(1));
    world.tell(room(1));
    assert_eq!(all(&mut stream), [1]);
    world.hub.revoke_room(ADA, RoomId(1));
    world.tell(room(1));
    assert_eq!(all(&mut stream), [0; 0]);
    world.hub.add_room(&[ADA], RoomId(1));
    world.tell(room(1));
    assert_eq!(all(&mut stream), [3]);
    world.hub.revoke_user(ADA);
    assert!(is_ended(&mut stream));
    assert_eq!(world.hub.listeners(), 0);
}

#[test]
fn a_sleeping_stream_is_woken_by_a_room_it_follows() {
    let world = World::new(small());
    let mut stream = following(&world, &[]);
    let wakes = Arc::new(Wakes::default());
    assert!(wakes.poll(&mut stream).is_pending());
    world.hub.add_room(&[ADA], RoomId(1));
    world.tell(room(1));
    assert_eq!(wakes.take(), 1);
    assert_eq!(all(&mut stream), [1]);
}

#[test]
fn rights_that_were_checked_before_a_user_came_into_a_room_are_checked_again() {
    let world = World::new(small());
    let request = || SubscribeRequest {
        caller: Some(ADA),
        follows: true,
        ..world.request(rooms(&[1]), None)
    };
    let others = SubscribeRequest {
        follows: false,
        ..request()
    };
    let before = request();
    world.hub.add_room(&[UserId(8)], RoomId(2));
    assert!(world.try_listen(before.clone()).is_ok());
    world.hub.add_room(&[ADA], RoomId(2));
    let refused = world.try_listen(before).err();
    assert_eq!(refused, Some(SubscribeError::RightsChanged));
    assert!(
        world.try_listen(others).is_ok(),
        "no stream that does not follow"
    );
    // Of a mark that is too old nothing is known.
    let old = request();
    for _ in 0..=64 {
        world.hub.add_room(&[UserId(8)], RoomId(2));
    }
    let refused = world.try_listen(old).err();
    assert_eq!(refused, Some(SubscribeError::RightsChanged));
}
