//! Several processes on one database: two servers on one PostgreSQL, and the command line beside a
//! running server.

use eddyline_client::{Json, Method, StatusCode, StreamRequest};
use eddyline_tests::{
    Acme, Backend, Caller, Listener, PASSWORD, Patience, Server, eddyline, on_both_databases, run,
};
use serde_json::json;

on_both_databases![
    who_was_added_on_the_command_line_is_in_at_once,
    an_old_password_is_refused_once_the_command_line_has_answered,
    a_token_of_the_command_line_opens_at_once,
    the_command_line_gets_in_while_the_server_writes,
];

/// On PostgreSQL, where several processes write.
mod on_postgres {
    use super::{Backend, run};

    #[test]
    fn what_a_killed_server_left_behind_is_removed() {
        run(
            Backend::Postgres,
            &[],
            super::what_a_killed_server_left_behind_is_removed,
        );
    }

    #[test]
    fn an_outage_is_logged_and_so_is_its_end() {
        run(
            Backend::Postgres,
            &["--log", "debug"],
            super::an_outage_is_logged_and_so_is_its_end,
        );
    }

    #[test]
    fn a_log_row_of_a_later_version_stops_the_server_instead_of_being_passed_over() {
        run(
            Backend::Postgres,
            &[],
            super::a_log_row_of_a_later_version_stops_the_server,
        );
    }
}

const MAIN: &str = "acme/main";
const USERS: &str = "/flows/acme/main/users";
const MESSAGES: &str = "/flows/acme/main/messages";

/// Makes tests of these functions with two servers on one PostgreSQL.
macro_rules! on_two_servers {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn postgres() {
                    super::run(super::Backend::Postgres, &[], async |one| {
                        let other = one.another_node("node-2", &[]);
                        super::$test(one, other).await;
                    });
                }
            }
        )+
    };
}

on_two_servers![
    what_is_posted_on_one_server_is_heard_on_the_other_in_one_order,
    a_list_shows_at_once_what_was_done_on_the_other_server,
    a_stream_goes_on_at_another_server,
    a_block_on_one_server_acts_on_the_other,
    leaving_on_one_server_acts_on_the_other,
    a_changed_flow_is_known_to_the_other_server,
    a_changed_organization_is_known_to_the_other_server,
    a_changed_group_is_mentioned_as_it_is_at_the_other_server,
    who_is_removed_from_the_organization_is_out_at_the_other_server,
    of_two_administrators_who_remove_each_other_one_stays,
    a_changed_account_is_known_to_the_other_server,
    what_is_read_on_one_server_is_read_on_the_other,
    a_dead_server_holds_nobody_up,
];

/// The same person at another server.
pub(crate) fn at(server: &Server, caller: &Caller) -> Caller {
    let client = server.client().api_token(&caller.token).build().unwrap();
    Caller {
        client,
        id: caller.id,
        email: caller.email.clone(),
        token: caller.token.clone(),
    }
}

async fn what_is_posted_on_one_server_is_heard_on_the_other_in_one_order(
    one: Server,
    other: Server,
) {
    const EACH: usize = 150;
    let Acme { ada, ben } = one.acme();
    let ben = at(&other, &ben);
    let mut here = Listener::to(&ada.client, &[MAIN]).await;
    let mut there = Listener::to(&ben.client, &[MAIN]).await;
    tokio::join!(
        ada.flood(MAIN, EACH, |number| format!("one {number}")),
        ben.flood(MAIN, EACH, |number| format!("other {number}")),
    );
    let mut ids = Vec::new();
    for _ in 0..2 * EACH {
        let message = here.json().await;
        assert_eq!(there.json().await, message);
        ids.push(message["id"].as_i64().unwrap());
    }
    assert!(ids.is_sorted_by(|one, next| *next == one + 1), "{ids:?}");
}

async fn a_list_shows_at_once_what_was_done_on_the_other_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let there = at(&other, &ada);
    let last = async || {
        there
            .get(MESSAGES)
            .await
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    for number in 1..=20 {
        let said = ben.say(MAIN, &format!("number {number}")).await;
        assert_eq!(last().await["id"], said["id"]);
        let again = format!("number {number} again");
        let path = format!("{MESSAGES}/{}", said["id"]);
        ben.does(Method::PUT, &path, &json!({"content": again}))
            .await;
        assert_eq!(last().await["content"], again);
    }
}

async fn a_stream_goes_on_at_another_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let mut stream = Listener::to(&ada.client, &[MAIN]).await;
    ben.say(MAIN, "heard").await;
    stream.texts_through("heard").await;
    let missed = ben.say(MAIN, "missed").await;
    let request = StreamRequest::new()
        .flow(MAIN)
        .after(&stream.last_event_id());
    let mut stream = Listener::open(&at(&other, &ada).client, &request).await;
    assert_eq!(stream.json().await, missed);
}

async fn a_block_on_one_server_acts_on_the_other(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let ben = at(&other, &ben);
    for _ in 0..3 {
        let mut stream = Listener::to(&ben.client, &[MAIN]).await;
        // The other server knows him now, without a look at the database.
        ben.say(MAIN, "known").await;
        // Who is blocked hears no more, not even what was posted before.
        while stream.json().await["content"] != "known" {}
        let path = format!("{USERS}/{}", ben.id);
        ada.does(Method::PUT, &path, &json!({"disabled": true}))
            .await;
        assert_eq!(
            status(&ben, Method::GET, MESSAGES).await,
            StatusCode::FORBIDDEN
        );
        let post = json!({"event": "message", "content": "too late"});
        assert_eq!(
            ben.send(Method::POST, MESSAGES, &post).await.status,
            StatusCode::FORBIDDEN
        );
        ada.say(MAIN, "secret").await;
        let rest = stream.rest().await;
        let texts: Vec<_> = rest
            .iter()
            .filter(|event| event["event"] == "message")
            .collect();
        assert!(texts.is_empty(), "{texts:?}");
        ada.does(Method::PUT, &path, &json!({"disabled": false}))
            .await;
        assert_eq!(
            status(&ben, Method::GET, MESSAGES).await,
            StatusCode::OK,
            "let in again at once"
        );
    }
}

async fn leaving_on_one_server_acts_on_the_other(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let ben_there = at(&other, &ben);
    let stream = Listener::to(&ben_there.client, &[MAIN]).await;
    assert_eq!(
        status(&ben_there, Method::GET, MESSAGES).await,
        StatusCode::OK
    );
    ben.does(Method::DELETE, &format!("{USERS}/{}", ben.id), &Json::Null)
        .await;
    assert_eq!(
        status(&ben_there, Method::GET, MESSAGES).await,
        StatusCode::FORBIDDEN
    );
    ada.say(MAIN, "secret").await;
    assert!(
        stream
            .rest()
            .await
            .iter()
            .all(|event| event["event"] != "message")
    );
}

async fn a_changed_flow_is_known_to_the_other_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let ben_there = at(&other, &ben);
    assert_eq!(ben_there.get("/flows/acme/main").await["name"], "main");
    ada.does(
        Method::PUT,
        "/flows/acme/main",
        &json!({"name": "Headquarters"}),
    )
    .await;
    assert_eq!(
        ben_there.get("/flows/acme/main").await["name"],
        "Headquarters"
    );
    ada.does(Method::PUT, "/flows/acme/main", &json!({"disabled": true}))
        .await;
    assert_eq!(
        status(&ben_there, Method::GET, MESSAGES).await,
        StatusCode::NOT_FOUND
    );
}

async fn a_changed_organization_is_known_to_the_other_server(one: Server, other: Server) {
    let Acme { ben, .. } = one.acme();
    let ben_there = at(&other, &ben);
    let post = json!({"event": "message", "content": "hello"});
    let posted = async || ben_there.send(Method::POST, MESSAGES, &post).await.status;
    assert_eq!(posted().await, StatusCode::ACCEPTED);
    for (active, expected) in [
        ("false", StatusCode::FORBIDDEN),
        ("true", StatusCode::ACCEPTED),
    ] {
        one.admin(&["org", "update", "--org", "acme", "--active", active]);
        assert_eq!(posted().await, expected);
    }
    one.admin(&[
        "org",
        "update",
        "--org",
        "acme",
        "--parameterized-name",
        "acme-ltd",
    ]);
    let flow = ben_there.get("/flows/acme/main").await;
    assert_eq!(flow["organization"]["parameterized_name"], "acme-ltd");
    assert_eq!(
        ben_there.get("/flows/acme-ltd/main").await["id"],
        flow["id"]
    );
}

async fn who_is_removed_from_the_organization_is_out_at_the_other_server(
    one: Server,
    other: Server,
) {
    let Acme { ada, ben } = one.acme();
    let ben_there = at(&other, &ben);
    let stream = Listener::to(&ben_there.client, &[MAIN]).await;
    ben_there.say(MAIN, "known").await;
    ada.does(
        Method::DELETE,
        &format!("/organizations/acme/users/{}", ben.id),
        &Json::Null,
    )
    .await;
    for path in [MESSAGES, "/organizations/acme"] {
        assert_eq!(
            status(&ben_there, Method::GET, path).await,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    assert_eq!(
        status(&ben_there, Method::GET, "/user").await,
        StatusCode::OK
    );
    ada.say(MAIN, "secret").await;
    let rest = stream.rest().await;
    let texts: Vec<_> = rest
        .iter()
        .filter(|event| event["event"] == "message")
        .collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

async fn of_two_administrators_who_remove_each_other_one_stays(one: Server, other: Server) {
    let Acme { mut ada, .. } = one.acme();
    for round in 0..8 {
        let mut otto = at(&other, &one.administrator("acme", &format!("otto{round}")));
        let path = |caller: &Caller| format!("/organizations/acme/users/{}", caller.id);
        let (of_otto, of_ada) = (path(&otto), path(&ada));
        let (here, there) = tokio::join!(
            status(&ada, Method::DELETE, &of_otto),
            status(&otto, Method::DELETE, &of_ada)
        );
        let removed = [here, there]
            .iter()
            .filter(|status| **status == StatusCode::NO_CONTENT)
            .count();
        assert_eq!(removed, 1, "{here} {there}");
        if there == StatusCode::NO_CONTENT {
            std::mem::swap(&mut ada, &mut otto);
        }
        assert_eq!(
            ada.get("/organizations/acme").await["users"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }
}

async fn a_changed_account_is_known_to_the_other_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let by_password = |email: &str| other.client().basic(email, PASSWORD).build().unwrap();
    for _ in 0..2 {
        by_password(&ben.email).me().await.unwrap();
    }
    let change =
        json!({"nick": "bunny", "email": "bunny@acme.example", "current_password": PASSWORD});
    ben.does(Method::PUT, "/user", &change).await;
    let refused = by_password(&ben.email)
        .me()
        .await
        .err()
        .and_then(|error| error.status());
    assert_eq!(refused, Some(StatusCode::UNAUTHORIZED));
    assert_eq!(
        by_password("bunny@acme.example").me().await.unwrap().nick,
        "bunny"
    );
    let message = at(&other, &ada).say(MAIN, "@bunny hello").await;
    assert_eq!(message["tags"][0], format!(":user:{}", ben.id));
}

async fn what_is_read_on_one_server_is_read_on_the_other(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let (ada_there, ben_there) = (at(&other, &ada), at(&other, &ben));
    let mut there =
        Listener::open(&ada_there.client, &StreamRequest::new().user().flow(MAIN)).await;
    let mut bens = Listener::open(&ben_there.client, &StreamRequest::new().user().flow(MAIN)).await;
    ben_there.say(MAIN, "@ada one").await;
    let last = ben.say(MAIN, "@everyone two").await;
    let unread =
        async |caller: &Caller| caller.get("/flows/acme/main").await["unread_mentions"].clone();
    assert_eq!(
        (unread(&ada).await, unread(&ada_there).await),
        (json!(2), json!(2))
    );
    ada.does(
        Method::PUT,
        "/flows/acme/main/read",
        &json!({"message": last["id"]}),
    )
    .await;
    assert_eq!(
        (unread(&ada).await, unread(&ada_there).await),
        (json!(0), json!(0))
    );
    assert_eq!(there.event("read").await["content"]["message"], last["id"]);
    // One that is edited on the one and deleted on the other is counted nowhere.
    let third = ben.say(MAIN, "three").await;
    let path = format!("{MESSAGES}/{}", third["id"]);
    ben_there
        .does(Method::PUT, &path, &json!({"content": "@ada three"}))
        .await;
    assert_eq!(
        (unread(&ada).await, unread(&ada_there).await),
        (json!(1), json!(1))
    );
    ben.does(Method::DELETE, &path, &Json::Null).await;
    assert_eq!(
        (unread(&ada).await, unread(&ada_there).await),
        (json!(0), json!(0))
    );
    // What ada has read is nobody else's business.
    ben.say(MAIN, "the end").await;
    loop {
        let event = bens.json().await;
        assert_ne!(event["event"], "read", "{event}");
        if event["content"] == "the end" {
            break;
        }
    }
}

async fn a_changed_group_is_mentioned_as_it_is_at_the_other_server(one: Server, other: Server) {
    let Acme { ada, ben } = one.acme();
    let there = at(&other, &ben);
    let tags = async || there.say(MAIN, "@team").await["tags"].clone();
    assert_eq!(tags().await, json!([]));
    let answer = ada
        .send(
            Method::POST,
            "/organizations/acme/groups",
            &json!({"name": "team"}),
        )
        .await;
    let path = format!("/organizations/acme/groups/{}", answer.json()["id"]);
    for _ in 0..5 {
        assert_eq!(tags().await, json!([":user:team"]));
        ada.does(
            Method::POST,
            &format!("{path}/users"),
            &json!({"id": ada.id}),
        )
        .await;
        assert_eq!(
            tags().await,
            json!([":user:team", format!(":unread:{}", ada.id)])
        );
        ada.does(Method::PUT, &path, &json!({"users": []})).await;
    }
    ada.does(Method::DELETE, &path, &json!({})).await;
    assert_eq!(tags().await, json!([]));
}

async fn a_dead_server_holds_nobody_up(one: Server, mut other: Server) {
    let Acme { ada, ben } = one.acme();
    assert_eq!(
        status(&at(&other, &ben), Method::GET, MESSAGES).await,
        StatusCode::OK
    );
    other.kill9();
    ada.does(
        Method::PUT,
        &format!("{USERS}/{}", ben.id),
        &json!({"disabled": true}),
    )
    .await;
    ada.say(MAIN, "alone").await;
    other.restart();
    assert_eq!(
        status(&at(&other, &ben), Method::GET, MESSAGES).await,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        at(&other, &ada).get(MESSAGES).await,
        ada.get(MESSAGES).await
    );
}

async fn status(caller: &Caller, method: Method, path: &str) -> StatusCode {
    caller.send(method, path, &Json::Null).await.status
}

async fn who_was_added_on_the_command_line_is_in_at_once(server: Server) {
    let Acme { ada, .. } = server.acme();
    let cyd = server.user("acme", "cyd");
    let mut stream = Listener::open(&cyd.client, &StreamRequest::new().user()).await;
    assert_eq!(
        status(&cyd, Method::GET, MESSAGES).await,
        StatusCode::FORBIDDEN
    );
    server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &cyd.email]);
    assert_eq!(status(&cyd, Method::GET, MESSAGES).await, StatusCode::OK);
    assert_eq!(
        stream.event("flow-add").await["content"]["parameterized_name"],
        "main"
    );
    let mut stream = Listener::to(&cyd.client, &[MAIN]).await;
    ada.say(MAIN, "@cyd welcome").await;
    let message = stream.event("message").await;
    assert_eq!(
        message["tags"][0],
        format!(":user:{}", cyd.id),
        "the flow knows who is meant"
    );
}

async fn an_old_password_is_refused_once_the_command_line_has_answered(server: Server) {
    let Acme { ben, .. } = server.acme();
    let mut old = PASSWORD.to_owned();
    for new in ["first of the new", "second of the new"] {
        let with = |password: &str| server.client().basic(&ben.email, password).build().unwrap();
        // Twice: the second time it is only remembered to be right.
        for _ in 0..2 {
            with(&old).me().await.unwrap();
        }
        server.admin(&[
            "user",
            "set-password",
            "--email",
            &ben.email,
            "--password",
            new,
        ]);
        let refused = with(&old).me().await.err().and_then(|error| error.status());
        assert_eq!(refused, Some(StatusCode::UNAUTHORIZED));
        with(new).me().await.unwrap();
        old = new.to_owned();
    }
}

async fn a_token_of_the_command_line_opens_at_once(server: Server) {
    let Acme { ada, ben } = server.acme();
    let token = server.admin(&["user", "token", "--email", &ben.email])["api_token"].clone();
    let client = server
        .client()
        .api_token(token.as_str().unwrap())
        .build()
        .unwrap();
    let me: Json = client.request(Method::GET, "/user").call().await.unwrap();
    assert_eq!(me["id"], ben.id);
    let token = server.admin(&["flow", "token", "--flow", MAIN])["flow_token"].clone();
    let pushed = json!({"event": "message", "content": "pushed", "flow_token": token, "external_user_name": "ci"});
    let request = server
        .client()
        .build()
        .unwrap()
        .request(Method::POST, "/messages");
    assert_eq!(
        request.json(&pushed).send().await.unwrap().status,
        StatusCode::ACCEPTED
    );
    assert_eq!(ada.get(MESSAGES).await[0]["content"], "pushed");
}

async fn the_command_line_gets_in_while_the_server_writes(server: Server) {
    let Acme { ada, ben } = server.acme();
    let writing = tokio::spawn(async move {
        ben.flood(MAIN, 1500, |number| number.to_string()).await;
    });
    for nick in ["cyd", "dan", "eva"] {
        let person = tokio::task::block_in_place(|| server.user("acme", nick));
        tokio::task::block_in_place(|| {
            server.admin(&["flow", "add-user", "--flow", MAIN, "--email", &person.email])
        });
        assert_eq!(status(&person, Method::GET, MESSAGES).await, StatusCode::OK);
    }
    writing.await.unwrap();
    assert_eq!(ada.get(USERS).await.as_array().unwrap().len(), 5);
}

async fn what_a_killed_server_left_behind_is_removed(mut server: Server) {
    let Acme { ada, .. } = server.acme();
    ada.say(MAIN, "hello").await;
    server.kill9();
    let run = |server: &Server, sql: &str| {
        server
            .database()
            .unwrap()
            .run(sql)
            .unwrap()
            .trim()
            .to_owned()
    };
    let left = run(
        &server,
        "update writers set noted_at = noted_at - 25 * 3600000 returning id",
    );
    assert!(
        !left.is_empty() && !left.contains('\n'),
        "the row of the one that was killed: {left}"
    );
    server.restart();
    let gone = Patience::until("the row is removed");
    while !run(
        &server,
        &format!("select id from writers where id = '{left}'"),
    )
    .is_empty()
    {
        gone.goes_on().await;
    }
    assert!(
        !run(&server, "select id from writers").is_empty(),
        "the server has a row of its own"
    );
}

async fn an_outage_is_logged_and_so_is_its_end(server: Server) {
    let Acme { ada, .. } = server.acme();
    let rename = |from, to| {
        server
            .database()
            .unwrap()
            .run(&format!("alter table {from} rename to {to}"))
            .unwrap()
    };
    let logged = async |text, times| {
        let patience = Patience::until(text);
        while server.log().matches(text).count() < times {
            patience.goes_on().await;
        }
    };
    rename("event_log", "away");
    logged("the log cannot be read; trying again", 1).await;
    logged("the log still cannot be read", 2).await;
    rename("away", "event_log");
    logged("the log can be read again", 1).await;
    assert_eq!(
        server
            .log()
            .matches("the log cannot be read; trying again")
            .count(),
        1,
        "{}",
        server.log()
    );
    ada.say(MAIN, "hello").await;
}

async fn a_log_row_of_a_later_version_stops_the_server(mut server: Server) {
    const ROW: &str = "with next as (update log_clock set sequence = sequence + 1 returning sequence) \
        insert into event_log (seq, check_value, kind, created_at) select sequence, 1, 77, 0 from next";
    let Acme { ada, ben } = server.acme();
    let mut stream = Listener::to(&ben.client, &[MAIN]).await;
    ada.say(MAIN, "before").await;
    assert_eq!(stream.event("message").await["content"], "before");
    server.database().unwrap().run(ROW).unwrap();
    assert_eq!(stream.rest().await, Vec::<Json>::new());
    assert_eq!(server.ended().code(), Some(1));
    let named = "of the log is of kind 77, which this version cannot read";
    assert!(server.log().contains(named), "{}", server.log());

    let data = tempfile::TempDir::new().unwrap();
    let output = eddyline()
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--stream-listen",
            "127.0.0.1:0",
            "--data-dir",
        ])
        .arg(data.path())
        .args(["--database", server.database().unwrap().url()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(named), "a start is refused too: {said}");
}
