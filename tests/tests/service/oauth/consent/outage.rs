//! What the consent says while the database does not answer, and what it never says to the log.

use eddyline_testing::postgres::{Cluster, Stop};
use eddyline_tests::{PASSWORD, SESSION, Server, Setting, on_both_databases};
use tokio::task::block_in_place;

use super::{asks, brought, consent};

on_both_databases![the_log_has_neither_code_nor_state];

#[test]
fn one_is_told_that_the_database_does_not_answer_and_goes_on_when_it_does() {
    let Some(cluster) = Cluster::own(&[]) else {
        return;
    };
    let setting = Setting {
        database: Some(cluster.database()),
        ..Setting::default()
    };
    let server = Server::start_in(setting, &[]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        server.organization("acme");
        let ben = server.user("acme", "ben");
        let robot = server.robot("acme", &[]);
        let mut visitor = server.signed_in(&ben.email, PASSWORD).await;
        let address = asks(&robot, &[("state", "s")]);
        let form = consent(&mut visitor, &address).await;

        block_in_place(|| cluster.stop(Stop::Fast));
        for page in [
            visitor.get(&address).await,
            server.visitor().get(&address).await,
            form.send(&mut visitor, "accept").await,
            form.send(&mut visitor, "deny").await,
            visitor.get("/oauth/authorize/none").await,
        ] {
            page.says(503, "Temporarily unavailable");
            assert!(page.header("retry-after").parse::<u32>().is_ok());
        }

        block_in_place(|| cluster.start());
        let answer = loop {
            let answer = form.send(&mut visitor, "accept").await;
            if answer.status != 503 {
                break answer;
            }
        };
        assert_eq!(brought(answer.sent_on(), "state").as_deref(), Some("s"));
    });
}

async fn the_log_has_neither_code_nor_state(server: Server) {
    server.organization("acme");
    let ben = server.user("acme", "ben");
    let robot = server.robot("acme", &[]);
    let mut visitor = server.signed_in(&ben.email, PASSWORD).await;
    let (state, oob) = (
        ("state", "a-state-of-ones-own"),
        ("redirect_uri", "urn:ietf:wg:oauth:2.0:oob"),
    );
    let form = consent(&mut visitor, &asks(&robot, &[state])).await;
    let sent = brought(form.send(&mut visitor, "accept").await.sent_on(), "code").unwrap();
    let form = consent(&mut visitor, &asks(&robot, &[state, oob])).await;
    let path = form.send(&mut visitor, "accept").await.sent_on().to_owned();
    let shown = path.strip_prefix("/oauth/authorize/").unwrap();
    visitor.get(&path).await.says(200, shown);
    server.visitor().get(&path).await.sent_on();
    let log = server.log();
    assert!(log.contains("/oauth/authorize/…"), "requests are logged");
    for secret in [
        &sent,
        shown,
        state.1,
        visitor.cookie(SESSION).unwrap(),
        form.get("csrf"),
    ] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
