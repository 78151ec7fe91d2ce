//! Applications and their sealed secrets.

use std::sync::Arc;

use eddyline_model::applications::Application;
use eddyline_model::{ApplicationId, OrganizationId, Timestamp};
use eddyline_storage::Error;

use crate::home::{Home, on_every_database};
use crate::world::World;

on_every_database!(
    an_application_is_found_as_it_was_registered,
    the_applications_of_an_organization_are_listed_the_oldest_first,
    an_application_is_changed_but_not_what_it_is,
    a_secret_is_replaced,
    an_application_is_removed,
    no_two_applications_call_themselves_the_same,
);

/// An application of Ann's with everything that one can have.
pub(crate) fn robot(world: &World, client_id: &str) -> Application {
    Application {
        id: ApplicationId(0),
        client_id: client_id.to_owned(),
        organization: world.organization,
        name: "Robot".to_owned(),
        public: false,
        redirect_uris: ["https://robot.example/back?x=1", "robot.app:/back"]
            .map(|uri| uri.parse().expect("a redirect URI"))
            .into(),
        configuration_uri: Some("https://robot.example/configure".parse().expect("a page")),
        setup_uri: Some("https://robot.example/{flow_id}".parse().expect("a page")),
        icon_url: Some("https://robot.example/icon.png".parse().expect("a page")),
        password_grant: true,
        out_of_band: false,
        creator: Some(world.ann),
        created_at: Timestamp(7),
    }
}

/// Registers it and gives it as it is kept then.
pub(crate) async fn register(
    world: &World,
    application: Application,
    secret: Option<&[u8]>,
) -> Application {
    let secret = secret.map(<[u8]>::to_vec);
    let kept = application.clone();
    let made = world
        .store
        .write(move |tx| tx.applications().insert(&kept, secret.as_deref()));
    Application {
        id: made.await.expect("it is registered").0,
        ..application
    }
}

async fn find(world: &World, id: ApplicationId) -> Option<Application> {
    world
        .read(move |reader| reader.applications().find(id))
        .await
}

async fn an_application_is_found_as_it_was_registered(home: Arc<Home>) {
    let world = World::new(&home).await;
    let robot = register(&world, robot(&world, "abc"), Some(b"\0sealed")).await;
    let bare = Application {
        client_id: "def".to_owned(),
        public: true,
        redirect_uris: vec!["https://bare.example".parse().expect("a redirect URI")],
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: false,
        out_of_band: true,
        creator: None,
        ..robot.clone()
    };
    let bare = register(&world, bare, None).await;
    assert_eq!(find(&world, robot.id).await.as_ref(), Some(&robot));
    assert_eq!(find(&world, bare.id).await.as_ref(), Some(&bare));
    assert_eq!(find(&world, ApplicationId(99)).await, None);
    let by_client_id = async |text: &'static str| {
        world
            .read(move |reader| reader.applications().find_by_client_id(text))
            .await
    };
    assert_eq!(
        by_client_id("abc").await,
        Some((robot.clone(), Some(b"\0sealed".to_vec())))
    );
    assert_eq!(by_client_id("def").await, Some((bare.clone(), None)));
    assert_eq!(by_client_id("ABC").await, None);
    let secret = async |id| {
        world
            .read(move |reader| reader.applications().find_secret(id))
            .await
    };
    assert_eq!(secret(robot.id).await.as_deref(), Some(&b"\0sealed"[..]));
    assert_eq!(
        (secret(bare.id).await, secret(ApplicationId(99)).await),
        (None, None)
    );
}

async fn the_applications_of_an_organization_are_listed_the_oldest_first(home: Arc<Home>) {
    let world = World::new(&home).await;
    let (other, _) = world
        .store
        .write(|tx| {
            tx.organizations()
                .insert("Other", "other", 10, Timestamp(1))
        })
        .await
        .expect("another organization");
    let first = register(&world, robot(&world, "z"), None).await;
    let elsewhere = register(
        &world,
        Application {
            organization: other,
            ..robot(&world, "y")
        },
        None,
    )
    .await;
    let second = register(&world, robot(&world, "x"), None).await;
    let list = async |id| {
        world
            .read(move |reader| reader.applications().list_of_organization(id))
            .await
    };
    assert_eq!(list(world.organization).await, [first, second]);
    assert_eq!(list(other).await, [elsewhere]);
    assert_eq!(list(OrganizationId(99)).await, []);
}

async fn an_application_is_changed_but_not_what_it_is(home: Arc<Home>) {
    let world = World::new(&home).await;
    let before = register(&world, robot(&world, "abc"), Some(b"sealed")).await;
    let untouched = register(&world, robot(&world, "def"), None).await;
    let after = Application {
        name: "Android".to_owned(),
        redirect_uris: vec!["https://android.example/".parse().expect("a redirect URI")],
        configuration_uri: None,
        setup_uri: None,
        icon_url: None,
        password_grant: false,
        out_of_band: true,
        ..before.clone()
    };
    let wish = Application {
        client_id: "other".to_owned(),
        public: true,
        creator: None,
        created_at: Timestamp(99),
        ..after.clone()
    };
    world
        .store
        .write(move |tx| tx.applications().update(&wish))
        .await
        .expect("it is changed");
    assert_eq!(find(&world, before.id).await, Some(after));
    assert_eq!(find(&world, untouched.id).await, Some(untouched));
}

async fn a_secret_is_replaced(home: Arc<Home>) {
    let world = World::new(&home).await;
    let robot = register(&world, robot(&world, "abc"), Some(b"old")).await;
    let id = robot.id;
    world
        .store
        .write(move |tx| tx.applications().set_secret(id, b"new"))
        .await
        .expect("it is replaced");
    let found = world
        .read(|reader| reader.applications().find_by_client_id("abc"))
        .await;
    assert_eq!(found, Some((robot, Some(b"new".to_vec()))));
}

async fn an_application_is_removed(home: Arc<Home>) {
    let world = World::new(&home).await;
    let robot = register(&world, robot(&world, "abc"), None).await;
    let id = robot.id;
    let held = world.store.write(move |tx| {
        Ok((
            tx.applications().lock(id)?,
            tx.applications().lock_shared(id)?,
        ))
    });
    assert_eq!(held.await.expect("it is held").0, (Some(robot), true));
    for _ in 0..2 {
        world
            .store
            .write(move |tx| tx.applications().delete(id))
            .await
            .expect("it is removed");
        assert_eq!(find(&world, id).await, None);
        let held = world.store.write(move |tx| {
            Ok((
                tx.applications().lock(id)?,
                tx.applications().lock_shared(id)?,
            ))
        });
        assert_eq!(held.await.expect("an answer").0, (None, false));
    }
}

async fn no_two_applications_call_themselves_the_same(home: Arc<Home>) {
    let world = World::new(&home).await;
    let first = register(&world, robot(&world, "abc"), None).await;
    let again = world
        .store
        .write(move |tx| tx.applications().insert(&first, None))
        .await;
    assert!(matches!(again, Err(Error::Exists(_))), "{again:?}");
}
