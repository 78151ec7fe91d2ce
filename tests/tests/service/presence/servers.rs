//! Presence and activity between two servers on one database.

use std::time::{Duration, Instant};

use eddyline_client::StreamRequest;
use eddyline_tests::{Acme, Backend, Caller, Listener, Patience, Server, run};

use super::{MAIN, next_state, place_of};
use crate::nodes::at;

/// Makes tests of these functions with two servers on each database.
macro_rules! on_two_servers {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    super::with_two_servers(super::Backend::Sqlite, super::$test);
                }

                #[test]
                fn postgres() {
                    super::with_two_servers(super::Backend::Postgres, super::$test);
                }
            }
        )+
    };
}

on_two_servers![
    who_comes_and_goes_is_heard_once_at_the_other_server,
    who_is_present_at_two_servers_goes_with_the_last_stream,
    an_opened_stream_is_activity_at_the_other_server,
    presence_of_another_server_keeps_to_its_flow,
    who_was_present_at_a_killed_server_goes,
    who_was_present_before_is_present_at_a_server_that_starts_later,
];

fn with_two_servers<F: Future<Output = ()>>(
    backend: Backend,
    test: impl FnOnce(Server, Server) -> F,
) {
    run(backend, &[], async |one| {
        let other = one.another_node("node-2", &[]);
        test(one, other).await;
    });
}

fn shows(state: &str) -> StreamRequest {
    StreamRequest::new().flow(MAIN).active(state)
}

async fn asking(caller: &Caller, flow: &str) -> Listener {
    let asks = StreamRequest {
        presence: true,
        ..StreamRequest::new().flow(flow)
    };
    Listener::open(&caller.client, &asks).await
}

fn is(user: &Caller, state: &str) -> (i64, String) {
    (user.id, state.to_owned())
}

fn cyd(server: &Server) -> Caller {
    let cyd = server.user("acme", "cyd");
    server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &cyd.email]);
    cyd
}

async fn who_comes_and_goes_is_heard_once_at_the_other_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let cyd = cyd(&one);
    let mut here = asking(&ada, MAIN).await;
    let mut there = asking(&at(&other, &ada), MAIN).await;
    let mut heard = async |state: (i64, String)| {
        assert_eq!(next_state(&mut here).await, state);
        assert_eq!(next_state(&mut there).await, state);
    };
    let idle = Listener::open(&ben.client, &shows("idle")).await;
    heard(is(&ben, "idle")).await;
    let active = Listener::open(&ben.client, &shows("true")).await;
    heard(is(&ben, "active")).await;
    drop(active);
    heard(is(&ben, "idle")).await;
    drop(idle);
    heard(is(&ben, "offline")).await;
    // The other way round; nothing came twice in between.
    let _there = Listener::open(&at(&other, &cyd).client, &shows("true")).await;
    heard(is(&cyd, "active")).await;
    let _again = Listener::open(&ben.client, &shows("idle")).await;
    heard(is(&ben, "idle")).await;
}

async fn who_is_present_at_two_servers_goes_with_the_last_stream(one: Server, other: Server) {
    const SIDE: &str = "acme/side";
    let Acme { ada, ben } = one.acme();
    let cyd = cyd(&one);
    one.flow("acme", "side", &[&ada, &ben]);
    let there = at(&other, &ada);
    let mut mains = [asking(&ada, MAIN).await, asking(&there, MAIN).await];
    let mut sides = [asking(&ada, SIDE).await, asking(&there, SIDE).await];

    let in_both = StreamRequest::new().flow(MAIN).flow(SIDE).active("true");
    let first = Listener::open(&ben.client, &in_both).await;
    for stream in mains.iter_mut().chain(&mut sides) {
        assert_eq!(next_state(stream).await, is(&ben, "active"));
    }
    let in_side = StreamRequest::new().flow(SIDE).active("true");
    let second = Listener::open(&at(&other, &ben).client, &in_side).await;
    drop(first);
    for stream in &mut mains {
        assert_eq!(next_state(stream).await, is(&ben, "offline"));
    }
    // What follows was told after that.
    let _cyd = Listener::open(&cyd.client, &shows("idle")).await;
    for stream in &mut mains {
        assert_eq!(next_state(stream).await, is(&cyd, "idle"));
    }
    drop(second);
    for stream in &mut sides {
        assert_eq!(next_state(stream).await, is(&ben, "offline"));
    }
}

async fn an_opened_stream_is_activity_at_the_other_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let cyd = cyd(&one);
    let there = at(&other, &ada);
    // From here on the one server knows of the other.
    let mut asking = asking(&there, MAIN).await;
    let _cyd = Listener::open(&cyd.client, &shows("idle")).await;
    assert_eq!(next_state(&mut asking).await, is(&cyd, "idle"));

    let mut stream = Listener::to(&there.client, &[MAIN]).await;
    let active = Listener::open(&ben.client, &shows("true")).await;
    let activity = stream.anything().await;
    assert_eq!(activity.id, None);
    assert_eq!(activity.json["event"], "activity.user");
    assert_eq!(activity.json["user"], ben.id.to_string());
    let place = place_of(&ben, &there).await;
    assert_eq!(
        place["last_activity"],
        activity.json["content"]["last_activity"]
    );
    let came = place["last_ping"].clone();
    assert!(came.as_i64() >= place["last_activity"].as_i64(), "{place}");

    assert_eq!(next_state(&mut asking).await, is(&ben, "active"));
    let again = Listener::open(&ben.client, &shows("true")).await;
    drop((active, again));
    assert_eq!(next_state(&mut asking).await, is(&ben, "offline"));
    let gone = place_of(&ben, &there).await;
    assert!(gone["last_ping"].as_i64() >= came.as_i64(), "{gone}");
    assert_eq!(place_of(&ben, &there).await["last_ping"], gone["last_ping"]);
    cyd.say(MAIN, "the end").await;
    let next = stream.anything().await;
    assert_eq!(
        next.json["event"], "message",
        "once a minute: {:?}",
        next.json
    );
}

async fn presence_of_another_server_keeps_to_its_flow(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let cyd = one.user("acme", "cyd");
    one.flow("acme", "side", &[&ada, &cyd]);
    let mut ada_there = asking(&at(&other, &ada), MAIN).await;
    let mut cyd_there = asking(&at(&other, &cyd), "acme/side").await;
    let _ben = Listener::open(&ben.client, &shows("true")).await;
    assert_eq!(next_state(&mut ada_there).await, is(&ben, "active"));
    let _ada = Listener::open(
        &ada.client,
        &StreamRequest::new().flow("acme/side").active("idle"),
    )
    .await;
    assert_eq!(next_state(&mut cyd_there).await, is(&ada, "idle"));
}

async fn who_was_present_at_a_killed_server_goes(mut one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let cyd = cyd(&one);
    let there = at(&other, &ada);
    let mut stream = asking(&there, MAIN).await;
    let lost = Listener::open(&ben.client, &shows("true")).await;
    assert_eq!(next_state(&mut stream).await, is(&ben, "active"));
    assert!(is_present(&ben, &there).await);
    let _cyd = Listener::open(&at(&other, &cyd).client, &shows("idle")).await;
    assert_eq!(next_state(&mut stream).await, is(&cyd, "idle"));
    one.kill9();
    assert!(lost.rest().await.is_empty());
    assert_eq!(next_state(&mut stream).await, is(&ben, "offline"));
    assert!(!is_present(&ben, &there).await);
    assert_ne!(
        place_of(&ben, &there).await["last_ping"],
        0,
        "when the server last showed a sign of life"
    );

    // The next server on that address is another one, which takes the presences up anew.
    one.restart();
    let _ben = Listener::open(&ben.client, &shows("idle")).await;
    assert_eq!(next_state(&mut stream).await, is(&ben, "idle"));
    let mut here = asking(&ada, MAIN).await;
    let _ada = Listener::open(&there.client, &shows("true")).await;
    loop {
        let (user, state) = next_state(&mut here).await;
        if user == ada.id {
            assert_eq!(state, "active");
            break;
        }
        assert!(user == ben.id || (user, state) == is(&cyd, "idle"));
    }
}

async fn who_was_present_before_is_present_at_a_server_that_starts_later(
    one: Server,
    mut other: Server,
) {
    let Acme { ada, ben } = one.acme();
    assert!(other.terminate().success());
    let mut here = asking(&ada, MAIN).await;
    let stream = Listener::open(&ben.client, &shows("true")).await;
    assert_eq!(next_state(&mut here).await, is(&ben, "active"));
    for _ in 0..2 {
        other.restart();
        let there = at(&other, &ada);
        let shown = Patience::until("the other server shows who is present");
        while !is_present(&ben, &there).await {
            shown.goes_on().await;
        }
        assert!(other.terminate().success());
    }
    drop(stream);
    assert_eq!(next_state(&mut here).await, is(&ben, "offline"));
    other.restart();
    let there = at(&other, &ada);
    let mut asking = asking(&there, MAIN).await;
    let _ada = Listener::open(&ada.client, &shows("idle")).await;
    while next_state(&mut asking).await != is(&ada, "idle") {}
    assert!(
        !is_present(&ben, &there).await,
        "nothing is left of what ended before"
    );
    assert!(is_present(&ada, &there).await);
}

/// Whether the flow shows a user as present: then the time of the last ping is the present time.
async fn is_present(user: &Caller, asking: &Caller) -> bool {
    let first = place_of(user, asking).await["last_ping"].clone();
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_millis(2) {
        place_of(user, asking).await;
    }
    place_of(user, asking).await["last_ping"] != first
}
