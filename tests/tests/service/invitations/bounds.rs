//! Bounds on invitations and their mail, each at its edge.

use std::collections::BTreeSet;
use std::time::Duration;

use eddyline_client::{Json, Method, RawResponse};
use eddyline_tests::{Acme, Backend, Caller, PASSWORD, Server, on_both_databases, run};
use serde_json::json;

const PATH: &str = "/flows/acme/main/invitations";
const IMPORT: &str = "/flows/acme/main/invitations/import";

on_both_databases![
    the_same_invitation_is_mailed_once_in_a_pause,
    an_import_within_the_pause_mails_nobody_twice,
    the_page_says_who_was_invited_before_and_got_no_second_mail,
    pending_invitations_are_listed_in_pages,
    an_import_of_several_portions_is_told_once_in_the_order_of_the_list,
];
on_both_databases![
    &["--mail-per-recipient-minute", "2", "--invitation-pause-seconds", "0"];
    an_address_gets_no_more_mail_than_its_quota,
    requests_at_a_join_link_have_a_quota_of_their_own
];
on_both_databases![
    &["--mail-per-user-minute", "3", "--mail-per-organization-minute", "5"];
    users_and_organizations_cause_no_more_mail_than_their_quotas,
    an_import_does_what_the_quota_leaves_and_names_the_rest
];
on_both_databases![&["--mail-per-user-minute", "0", "--mail-per-user-day", "2"]; a_quota_can_be_of_a_day];
on_both_databases![
    &["--max-pending-invitations", "3"];
    a_flow_has_no_more_pending_invitations_than_its_bound,
    requests_at_a_join_link_leave_room_for_invitations
];

async fn invite(caller: &Caller, email: &str) -> RawResponse {
    caller
        .send(Method::POST, PATH, &json!({"email": email}))
        .await
}

async fn invited(caller: &Caller, email: &str) -> Json {
    let answer = invite(caller, email).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

async fn imported(caller: &Caller, list: &[String]) -> Json {
    let answer = caller
        .send(Method::POST, IMPORT, &json!({"list": list.join(",")}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// That a quota on mail has refused it, for at most so many seconds.
#[track_caller]
fn is_over_quota(answer: &RawResponse, reason: &str, longest: u64) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    let seconds: u64 = answer
        .header("retry-after")
        .expect("a time to wait")
        .parse()
        .unwrap();
    assert!((1..=longest).contains(&seconds), "{seconds}");
    let text = format!("{reason}; try again in {seconds} seconds");
    assert_eq!(answer.json(), json!({"message": text}));
}

fn emails(list: &Json) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["email"].as_str().unwrap())
        .collect()
}

fn addresses(name: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{name}{number}@elsewhere.example"))
        .collect()
}

/// Waits until all mail that was queued before is sent.
async fn mail_is_out(server: &Server, caller: &Caller, last: &str) {
    invited(caller, last).await;
    server.letter(last, 1).await;
}

async fn the_same_invitation_is_mailed_once_in_a_pause(server: Server) {
    let Acme { ada, ben } = server.acme();
    let stranger = "stranger@elsewhere.example";
    let first = invited(&ben, stranger).await;
    let letter = server.letter(stranger, 1).await;
    let again = json!({"email": stranger, "message": "Are you there?"});
    let answer = ada.send(Method::POST, PATH, &again).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (201, first),
        "clients are answered as ever"
    );
    mail_is_out(&server, &ada, "last@elsewhere.example").await;
    assert_eq!(server.letters_to(stranger).len(), 1);
    // The new words are on the page of the link.
    let path = letter.link().strip_prefix(server.base_url()).unwrap();
    server.visitor().get(path).await.says(200, "Are you there?");
}

async fn an_import_within_the_pause_mails_nobody_twice(server: Server) {
    let Acme { ada, .. } = server.acme();
    let list = addresses("p", 3);
    let first = imported(&ada, &list).await;
    assert_eq!(imported(&ada, &list).await, first);
    mail_is_out(&server, &ada, "last@elsewhere.example").await;
    for address in &list {
        assert_eq!(server.letters_to(address).len(), 1, "{address}");
    }
}

async fn the_page_says_who_was_invited_before_and_got_no_second_mail(server: Server) {
    let Acme { ada, .. } = server.acme();
    let page = "/app/acme/main/settings/invitations";
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    for (list, done, text) in [
        (
            "gus@guests.example",
            "sent",
            "The invitations are on their way.",
        ),
        ("gus@guests.example", "pending", "They are invited already."),
        (
            "gus@guests.example, ida@guests.example",
            "some-pending",
            "Some of these addresses had been invited",
        ),
    ] {
        visitor.get(page).await;
        let sent = visitor
            .post(page, &[("do", "invite"), ("list", list)])
            .await;
        assert_eq!(sent.sent_on(), format!("{page}?done={done}"));
        visitor.get(sent.sent_on()).await.says(200, text);
    }
    server.letter("ida@guests.example", 1).await;
    assert_eq!(server.letters_to("gus@guests.example").len(), 1);
}

async fn pending_invitations_are_listed_in_pages(server: Server) {
    let Acme { ada, .. } = server.acme();
    let list = addresses("p", 5);
    imported(&ada, &list).await;
    let whole = ada.send(Method::GET, PATH, &Json::Null).await;
    assert_eq!(emails(&whole.json()), list);
    assert_eq!(
        whole.header("link"),
        None,
        "a client that knows no pages gets all"
    );
    let (mut path, mut pages) = (format!("{PATH}?limit=2"), Vec::new());
    loop {
        let answer = ada.send(Method::GET, &path, &Json::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        pages.push(
            emails(&answer.json())
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        );
        let Some(next) = answer.header("link") else {
            break;
        };
        let next = next
            .strip_prefix('<')
            .unwrap()
            .strip_suffix(">; rel=\"next\"")
            .unwrap();
        next.strip_prefix(server.base_url())
            .unwrap()
            .clone_into(&mut path);
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(pages.concat(), list);
    for limit in ["0", "1001", "x"] {
        let answer = ada
            .send(Method::GET, &format!("{PATH}?limit={limit}"), &Json::Null)
            .await;
        assert_eq!(answer.status, 400, "{limit}");
        assert!(
            answer.json()["errors"]["limit"].is_array(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(
        ada.send(Method::GET, &format!("{PATH}?after=x"), &Json::Null)
            .await
            .status,
        400
    );
}

async fn an_import_of_several_portions_is_told_once_in_the_order_of_the_list(server: Server) {
    let Acme { ada, .. } = server.acme();
    let mut list = addresses("p", 450);
    list[7] = "broken".to_owned();
    list[333] = "broken too".to_owned();
    let (olga, oscar) = (server.user("acme", "olga"), server.user("acme", "oscar"));
    list.insert(100, olga.email.clone());
    list.insert(440, oscar.email.clone());
    let answer = imported(&ada, &list).await;
    let known = [&olga.email, &oscar.email];
    let expected: Vec<&str> = list
        .iter()
        .filter(|text| !text.starts_with("broken") && !known.contains(text))
        .map(|t| &**t)
        .collect();
    assert_eq!(emails(&answer["invitations"]), expected);
    assert_eq!(emails(&answer["added_users"]), known.map(String::as_str));
    let wrong: Vec<&String> = answer["erroneous_emails"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|entry| entry.as_object().unwrap().keys())
        .collect();
    assert_eq!(wrong, ["broken", "broken too"]);
    let told = ada.get("/flows/acme/main/messages?event=action").await;
    let contents: Vec<&Json> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|action| &action["content"])
        .collect();
    assert_eq!(
        contents,
        [&json!({"type": "add_people", "description": "olga,oscar"})]
    );
}

async fn an_address_gets_no_more_mail_than_its_quota(server: Server) {
    let Acme { ada, ben } = server.acme();
    for flow in ["side", "third"] {
        server.flow("acme", flow, &[&ada]);
    }
    server.organization("other");
    let eve = server.administrator("other", "eve");
    server.flow("other", "main", &[&eve]);
    let stranger = "stranger@elsewhere.example";
    let [side, third, other] =
        ["acme/side", "acme/third", "other/main"].map(|flow| format!("/flows/{flow}/invitations"));
    invited(&ben, stranger).await;
    ada.does(Method::POST, &side, &json!({"email": stranger}))
        .await;
    // One quota of an organization for all of its flows and all servers of the database.
    let (reason, wish) = (
        "too much mail has gone to this address",
        json!({"email": stranger}),
    );
    is_over_quota(&ada.send(Method::POST, &third, &wish).await, reason, 60);
    let node = server.another_node("node-2", &["--mail-per-recipient-minute", "2"]);
    let elsewhere = node.client().api_token(&ada.token).build().unwrap();
    is_over_quota(
        &elsewhere
            .request(Method::POST, &third)
            .json(&wish)
            .send()
            .await
            .unwrap(),
        reason,
        60,
    );
    assert_eq!(
        ada.get(&third).await,
        json!([]),
        "what is refused leaves nothing behind"
    );
    eve.does(Method::POST, &other, &wish).await;
    // Other addresses have quotas of their own.
    mail_is_out(&server, &ada, "last@elsewhere.example").await;
    assert_eq!(server.letters_to(stranger).len(), 3);
}

async fn requests_at_a_join_link_have_a_quota_of_their_own(server: Server) {
    let Acme { ada, .. } = server.acme();
    let stranger = "stranger@elsewhere.example";
    let mut visitor = server.visitor();
    for flow in ["north", "east", "south", "west"] {
        server.flow("acme", flow, &[&ada]);
        let link = join_link(&server, &ada, flow).await;
        // Nothing tells how much mail the address has had.
        visitor
            .post(&link, &[("do", "mail"), ("email", stranger)])
            .await
            .says(200, "Check your e-mail");
    }
    mail_is_out(&server, &ada, "last@elsewhere.example").await;
    assert_eq!(server.letters_to(stranger).len(), 2);
    // A member may still invite the address, which is what the requests could have prevented.
    invited(&ada, stranger).await;
    server.letter(stranger, 3).await;
}

/// The path of the page where one joins a flow of Acme by its link.
async fn join_link(server: &Server, caller: &Caller, flow: &str) -> String {
    let open = json!({"access_mode": "link"});
    let opened = caller
        .send(Method::PUT, &format!("/flows/acme/{flow}"), &open)
        .await
        .json();
    opened["join_url"]
        .as_str()
        .unwrap()
        .strip_prefix(server.base_url())
        .unwrap()
        .to_owned()
}

async fn users_and_organizations_cause_no_more_mail_than_their_quotas(server: Server) {
    let Acme { ada, ben } = server.acme();
    for address in addresses("a", 3) {
        invited(&ada, &address).await;
    }
    let own = "you have sent too much mail";
    is_over_quota(&invite(&ada, "a3@elsewhere.example").await, own, 60);
    let list = json!({"list": "a3@elsewhere.example, a4@elsewhere.example"});
    is_over_quota(&ada.send(Method::POST, IMPORT, &list).await, own, 60);
    let change = json!({"email": "ada@new.example", "current_password": PASSWORD});
    is_over_quota(&ada.send(Method::PUT, "/user", &change).await, own, 60);
    assert_eq!(ada.get("/user").await["email"], ada.email);
    for address in addresses("b", 2) {
        invited(&ben, &address).await;
    }
    is_over_quota(
        &invite(&ben, "b2@elsewhere.example").await,
        "the organization has sent too much mail",
        60,
    );
    // Other organizations have quotas of their own.
    server.organization("other");
    let eve = server.administrator("other", "eve");
    server.flow("other", "main", &[&eve]);
    let answer = eve
        .send(
            Method::POST,
            "/flows/other/main/invitations",
            &json!({"email": "x@x.example"}),
        )
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(ada.get(PATH).await.as_array().unwrap().len(), 5);
}

async fn an_import_does_what_the_quota_leaves_and_names_the_rest(server: Server) {
    let Acme { ada, .. } = server.acme();
    let olga = server.user("acme", "olga");
    let mut list = addresses("p", 5);
    list.push(olga.email.clone());
    let answer = imported(&ada, &list).await;
    assert_eq!(emails(&answer["invitations"]), list[..3]);
    assert_eq!(
        emails(&answer["added_users"]),
        [&olga.email],
        "who is added gets no mail"
    );
    let errors = answer["erroneous_emails"].as_array().unwrap();
    assert_eq!(errors.len(), 2);
    for (error, address) in errors.iter().zip(&list[3..]) {
        let why = error[address].as_str().unwrap();
        assert!(
            why.starts_with("you have sent too much mail; try again in "),
            "{why}"
        );
    }
    assert_eq!(emails(&ada.get(PATH).await), list[..3]);
}

async fn a_quota_can_be_of_a_day(server: Server) {
    let Acme { ada, .. } = server.acme();
    for address in addresses("a", 2) {
        invited(&ada, &address).await;
    }
    let refused = invite(&ada, "a2@elsewhere.example").await;
    is_over_quota(&refused, "you have sent too much mail", 24 * 3600);
    assert!(
        refused
            .header("retry-after")
            .unwrap()
            .parse::<u64>()
            .unwrap()
            > 23 * 3600
    );
}

async fn a_flow_has_no_more_pending_invitations_than_its_bound(server: Server) {
    let Acme { ada, ben } = server.acme();
    let list = addresses("p", 5);
    let answer = imported(&ada, &list).await;
    assert_eq!(emails(&answer["invitations"]), list[..3]);
    let full = "the flow has 3 pending invitations, and no more are possible; cancel some first";
    let refused: Vec<Json> = list[3..]
        .iter()
        .map(|address| json!({address: full}))
        .collect();
    assert_eq!(answer["erroneous_emails"], json!(refused));
    let answer = invite(&ben, &list[3]).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (409, json!({"message": full}))
    );
    invited(&ben, &list[0]).await;
    let pending = ada.get(PATH).await;
    ada.does(
        Method::DELETE,
        &format!("{PATH}/{}", pending[0]["id"]),
        &Json::Null,
    )
    .await;
    invited(&ben, &list[3]).await;
    assert_eq!(invite(&ben, &list[4]).await.status, 409);
}

async fn requests_at_a_join_link_leave_room_for_invitations(server: Server) {
    let Acme { ada, .. } = server.acme();
    let link = join_link(&server, &ada, "main").await;
    let mut visitor = server.visitor();
    let list = addresses("p", 4);
    for address in &list[..3] {
        visitor
            .post(&link, &[("do", "mail"), ("email", address)])
            .await
            .says(200, "Check your e-mail");
    }
    visitor
        .post(&link, &[("do", "mail"), ("email", &list[3])])
        .await
        .says(409, "You can’t do that now");
    invited(&ada, "guest@elsewhere.example").await;
}

/// Kills the server while it imports, and imports again.
fn an_interrupted_import_is_repeated_and_doubles_nothing(backend: Backend) {
    let options = [
        "--max-pending-invitations",
        "0",
        "--mail-per-user-minute",
        "0",
        "--mail-per-user-day",
        "0",
    ];
    let more = [
        "--mail-per-organization-minute",
        "0",
        "--mail-per-organization-day",
        "0",
    ];
    run(
        backend,
        &[&options[..], &more].concat(),
        async |mut server| {
            let Acme { ada, .. } = server.acme();
            let list = addresses("p", 4000);
            let request = ada
                .client
                .request(Method::POST, IMPORT)
                .json(&json!({"list": list.join(",")}));
            let first = tokio::spawn(async move { request.send().await.is_ok() });
            let begun = async { while ada.get(&format!("{PATH}?limit=1")).await == json!([]) {} };
            assert!(
                tokio::time::timeout(Duration::from_secs(60), begun)
                    .await
                    .is_ok(),
                "the import begins"
            );
            server.kill9();
            assert!(
                !first.await.unwrap(),
                "the server died before it had answered"
            );
            server.restart();
            let mut pending = all_pending(&ada).await;
            let before: BTreeSet<String> = pending.iter().cloned().collect();
            assert!(
                !before.is_empty() && before.len() < list.len(),
                "{} of {}",
                before.len(),
                list.len()
            );
            let answer = imported(&ada, &list).await;
            assert_eq!(emails(&answer["invitations"]), list);
            pending = all_pending(&ada).await;
            assert_eq!(pending.len(), list.len());
            assert_eq!(
                pending.into_iter().collect::<BTreeSet<_>>(),
                list.iter().cloned().collect()
            );
            let told = ada.get("/flows/acme/main/messages?event=action").await;
            let told = told.as_array().unwrap();
            assert_eq!(told.len(), 1, "{told:?}");
            assert_eq!(
                told[0]["content"]["description"]["more"],
                list.len() - before.len() - 50
            );
        },
    );
}

mod an_interrupted_import {
    use super::{Backend, an_interrupted_import_is_repeated_and_doubles_nothing as test};

    #[test]
    fn sqlite() {
        test(Backend::Sqlite);
    }

    #[test]
    fn postgres() {
        test(Backend::Postgres);
    }
}

async fn all_pending(caller: &Caller) -> Vec<String> {
    let (mut all, mut path) = (Vec::new(), PATH.to_owned());
    loop {
        let page = caller.get(&path).await;
        all.extend(emails(&page).into_iter().map(str::to_owned));
        match page.as_array().unwrap().last() {
            Some(last) => path = format!("{PATH}?after={}", last["id"]),
            None => return all,
        }
    }
}
