//! Sources and the tokens that stand for them.

use std::sync::Arc;

use eddyline_model::applications::Application;
use eddyline_model::sources::{Source, ThreadSource};
use eddyline_model::{ApplicationId, RoomId, SourceId, Timestamp};
use eddyline_storage::NewSourceRow;

use crate::applications::{register, robot};
use crate::home::{Home, on_every_database};
use crate::world::World;

on_every_database!(
    a_source_is_found_as_it_was_made,
    sources_are_listed_by_flow_and_by_application_the_oldest_first,
    a_source_is_changed,
    a_removed_source_is_off_the_lists_but_its_token_is_known,
    a_token_leads_to_its_source_or_its_flow,
    a_source_whose_application_goes_shows_its_own_name,
);

async fn make(world: &World, room: RoomId, application: ApplicationId, name: &str) -> Source {
    let new = NewSourceRow {
        room,
        application: Some(application),
        name: name.to_owned(),
        external_url: Some(format!("https://{name}.example/")),
        creator: Some(world.ann),
        created_at: Timestamp(7),
    };
    let hash = name.as_bytes().to_vec();
    let made = world.store.write(move |tx| {
        let id = tx.sources().insert(&new)?;
        tx.sources()
            .insert_token(&hash, room, Some(id), Timestamp(7))?;
        tx.sources().find(id)
    });
    made.await.expect("it is made").0.expect("it is there")
}

async fn an_application(world: &World, client_id: &str) -> Application {
    register(world, robot(world, client_id), None).await
}

async fn find(world: &World, id: SourceId) -> Option<Source> {
    world.read(move |reader| reader.sources().find(id)).await
}

async fn a_source_is_found_as_it_was_made(home: Arc<Home>) {
    let world = World::new(&home).await;
    let application = an_application(&world, "abc").await.id;
    let made = make(&world, world.main, application, "tickets").await;
    let expected = Source {
        id: made.id,
        room: world.main,
        application: Some(application),
        name: "tickets".to_owned(),
        external_url: Some("https://tickets.example/".to_owned()),
        configuration_url: None,
        error_message: None,
        creator: Some(world.ann),
        created_at: Timestamp(7),
        updated_at: Timestamp(7),
        removed_at: None,
    };
    assert_eq!(made, expected);
    assert_eq!(find(&world, SourceId(999)).await, None);
}

async fn sources_are_listed_by_flow_and_by_application_the_oldest_first(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (one, two) = (
        an_application(&world, "one").await.id,
        an_application(&world, "two").await.id,
    );
    let mut made = Vec::new();
    for (room, application, name) in [
        (world.main, one, "a"),
        (world.side, one, "b"),
        (world.main, two, "c"),
        (world.main, one, "d"),
    ] {
        made.push(make(&world, room, application, name).await);
    }
    let (main, side) = (world.main, world.side);
    let names = |sources: Vec<Source>| {
        sources
            .into_iter()
            .map(|source| source.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(
            world
                .read(move |reader| reader.sources().list_of_rooms(&[main]))
                .await
        ),
        ["a", "c", "d"]
    );
    assert_eq!(
        names(
            world
                .read(move |reader| reader.sources().list_of_rooms(&[side, main]))
                .await
        ),
        ["a", "b", "c", "d"]
    );
    assert_eq!(
        names(
            world
                .read(move |reader| reader.sources().list_of_rooms(&[]))
                .await
        ),
        [""; 0]
    );
    let there = |room, most| {
        world.read(move |reader| reader.sources().list_of_application(one, room, most))
    };
    assert_eq!(names(there(main, 9).await), ["a", "d"]);
    assert_eq!(names(there(main, 1).await), ["a"]);
    assert_eq!(
        world
            .read(move |reader| reader.sources().list_rooms_of_application(one))
            .await,
        [main, side]
    );
}

async fn a_source_is_changed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let application = an_application(&world, "abc").await.id;
    let made = make(&world, world.main, application, "tickets").await;
    let other = make(&world, world.main, application, "builds").await;
    let changed = Source {
        name: "bugs".to_owned(),
        external_url: None,
        configuration_url: Some("https://tickets.example/7".to_owned()),
        error_message: Some("The key has ended.".to_owned()),
        updated_at: Timestamp(8),
        ..made
    };
    let kept = changed.clone();
    world
        .store
        .write(move |tx| tx.sources().update(&kept))
        .await
        .expect("it is changed");
    assert_eq!(find(&world, changed.id).await, Some(changed));
    assert_eq!(find(&world, other.id).await, Some(other));
}

/// What a token stands for: the flow, and the source with what threads show of it.
async fn token(
    world: &World,
    hash: &'static [u8],
) -> Option<(RoomId, Option<(Source, ThreadSource)>)> {
    let found = world
        .read(move |reader| reader.sources().find_token(hash))
        .await;
    found.map(|token| (token.room, token.source))
}

async fn a_removed_source_is_off_the_lists_but_its_token_is_known(home: Arc<Home>) {
    let world = World::new(&home).await;
    let application = an_application(&world, "abc").await.id;
    let (made, main) = (
        make(&world, world.main, application, "tickets").await,
        world.main,
    );
    world
        .store
        .write(move |tx| tx.sources().delete(made.id, Timestamp(9)))
        .await
        .expect("it is removed");
    assert_eq!(
        world
            .read(move |reader| reader.sources().list_of_rooms(&[main]))
            .await,
        []
    );
    assert_eq!(
        world
            .read(move |reader| reader.sources().list_of_application(application, main, 9))
            .await,
        []
    );
    assert_eq!(
        find(&world, made.id).await.expect("it is known").removed_at,
        Some(Timestamp(9))
    );
    let (_, source) = token(&world, b"tickets").await.expect("it is known");
    assert_eq!(source.expect("a source").0.removed_at, Some(Timestamp(9)));
}

async fn a_token_leads_to_its_source_or_its_flow(home: Arc<Home>) {
    let world = World::new(&home).await;
    let application = an_application(&world, "abc").await;
    let made = make(&world, world.main, application.id, "tickets").await;
    let side = world.side;
    let own = world
        .store
        .write(move |tx| tx.sources().insert_token(b"own", side, None, Timestamp(7)));
    own.await.expect("it is made");
    let icon = application.icon_url.map(|url| url.as_str().to_owned());
    let shown = ThreadSource {
        id: made.id,
        icon,
        application: "Robot".to_owned(),
    };
    assert_eq!(
        token(&world, b"tickets").await,
        Some((world.main, Some((made, shown))))
    );
    assert_eq!(token(&world, b"own").await, Some((world.side, None)));
    assert_eq!(token(&world, b"nobody's").await, None);
}

async fn a_source_whose_application_goes_shows_its_own_name(home: Arc<Home>) {
    let world = World::new(&home).await;
    let application = an_application(&world, "abc").await.id;
    let made = make(&world, world.main, application, "tickets").await;
    let main = world.main;
    let gone = world.store.write(move |tx| {
        tx.sources()
            .delete_of_application(application, main, Timestamp(9))?;
        tx.sources().clear_application(application)
    });
    gone.await.expect("they are removed");
    let kept = find(&world, made.id).await.expect("it is there");
    assert_eq!(
        (kept.application, kept.removed_at),
        (None, Some(Timestamp(9)))
    );
    let shown = ThreadSource {
        id: made.id,
        icon: None,
        application: "tickets".to_owned(),
    };
    assert_eq!(
        token(&world, b"tickets").await,
        Some((world.main, Some((kept, shown))))
    );
}
