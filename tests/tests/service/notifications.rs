//! What is pushed to users' browsers, and what is not. A push service on this machine takes it;
//! `web_client::notifications` shows that browsers can read it.

use eddyline_client::Method;
use eddyline_tests::{Acme, Caller, PASSWORD, Patience, Server, Visitor, on_both_databases};
use serde_json::json;

use crate::receiver::{Answer, Receiver, Request, status, with_headers};

on_both_databases![an_endpoint_that_is_not_public_is_refused];
on_both_databases![&["--allow-private-targets"];
    a_user_is_notified_of_what_was_chosen,
    nothing_is_pushed_in_quiet_hours,
    what_is_gone_or_not_to_be_read_any_more_is_not_pushed,
    what_was_read_with_its_thread_is_not_pushed,
    a_push_service_that_is_busy_is_asked_again,
    push_services_that_do_not_answer_hold_up_no_other_user,
    a_browser_takes_messages_until_its_session_ends,
    a_user_has_twenty_browsers_that_take_messages,
    what_is_no_subscription_is_refused,
];

/// The keys of a browser (RFC 8291, appendix A).
pub(crate) const P256DH: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
pub(crate) const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";
const MAIN: &str = "acme/main";

/// Two members. The browser of Ben is subscribed to push messages.
struct Stage {
    server: Server,
    acme: Acme,
    ben: Visitor,
    pushes: Receiver,
}

impl Stage {
    async fn set(server: Server) -> Self {
        let acme = server.acme();
        let pushes = Receiver::start().await;
        pushes.answers(Answer::Text(status("201 Created")));
        let mut ben = server.signed_in(&acme.ben.email, PASSWORD).await;
        subscribe(&mut ben, &pushes.url("/ben")).await;
        Self {
            server,
            acme,
            ben,
            pushes,
        }
    }

    async fn chooses(&mut self, fields: &[(&str, &str)]) {
        let saved = self.ben.post("/account/notifications", fields).await;
        assert_eq!(saved.sent_on(), "/account/notifications?done=saved");
    }

    async fn chooses_for_main(&mut self, level: &str) {
        let path = format!("/app/{MAIN}/settings/notifications");
        let saved = self.ben.post(&path, &[("level", level)]).await;
        assert_eq!(saved.sent_on(), format!("{path}?done=saved"));
    }

    async fn ada_says(&self, text: &str) {
        self.acme.ada.say(MAIN, text).await;
    }

    /// Ada writes to Ben privately, of which Ben is notified, and after that of nothing else that
    /// happened before. Gives how many messages were pushed.
    async fn pushed_before_a_private_one(&self, times: usize) -> Vec<Request> {
        write_privately(&self.acme.ada, &self.acme.ben, "privately").await;
        self.pushes.is_asked(times + 1).await;
        let mut asked = self.pushes.asked();
        assert_eq!(asked.len(), times + 1, "{asked:?}");
        asked.pop();
        asked
    }
}

pub(crate) async fn subscribe(visitor: &mut Visitor, endpoint: &str) {
    let keys = [
        ("do", "subscribe"),
        ("endpoint", endpoint),
        ("p256dh", P256DH),
        ("auth", AUTH),
    ];
    let answer = visitor.post("/app/-/push", &keys).await;
    assert_eq!(answer.status, 204, "{}", answer.text);
}

/// Whether the server sends push messages to the browser.
async fn is_subscribed(visitor: &mut Visitor) -> bool {
    let page = visitor.get(&format!("/app/{MAIN}")).await;
    page.text.contains("data-pushed")
}

async fn write_privately(from: &Caller, to: &Caller, text: &str) {
    let path = format!("/private/{}/messages", to.id);
    let message = json!({"event": "message", "content": text});
    from.does(Method::POST, &path, &message).await;
}

async fn a_user_is_notified_of_what_was_chosen(server: Server) {
    let mut stage = Stage::set(server).await;
    stage.ada_says("hello all").await;
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);

    stage.ada_says("hello @ben").await;
    stage.pushes.is_asked(1).await;
    let push = stage.pushes.asked_once();
    assert_eq!((push.method.as_str(), push.path.as_str()), ("POST", "/ben"));
    for (name, value) in [
        ("content-encoding", "aes128gcm"),
        ("ttl", "86400"),
        ("urgency", "high"),
    ] {
        assert_eq!(push.headers[name], value);
    }
    assert!(push.headers["authorization"].starts_with("vapid t="));
    let plain = String::from_utf8_lossy(&push.body);
    assert!(!plain.contains("hello") && !plain.contains("acme"));

    stage.acme.ben.say(MAIN, "@everyone, from Ben").await;
    stage.chooses_for_main("all").await;
    stage.ada_says("hello all").await;
    stage.pushes.is_asked(1).await;
    stage.pushes.asked_once();

    stage.chooses_for_main("nothing").await;
    stage.ada_says("hello @ben").await;
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);

    stage.chooses_for_main("account").await;
    stage.chooses(&[("level", "nothing")]).await;
    write_privately(&stage.acme.ada, &stage.acme.ben, "unheard").await;
    stage.chooses_for_main("mentions").await;
    stage.ada_says("@everyone").await;
    stage.pushes.is_asked(1).await;
    stage.pushes.asked_once();
}

async fn nothing_is_pushed_in_quiet_hours(server: Server) {
    let mut stage = Stage::set(server).await;
    let all_day = [
        ("level", "all"),
        ("quiet", "1"),
        ("from", "00:00"),
        ("until", "00:00"),
        ("zone", "Europe/Helsinki"),
    ];
    let first = stage
        .ben
        .get("/account/notifications?zone=Asia/Tokyo")
        .await;
    first.says(200, "<option value=\"Asia/Tokyo\" selected>");
    stage.chooses(&all_day).await;
    let page = stage.ben.get("/account/notifications").await;
    page.says(200, "<option value=\"Europe/Helsinki\" selected>");
    stage.ada_says("@ben, at night").await;
    write_privately(&stage.acme.ada, &stage.acme.ben, "at night").await;
    // What is looked at after the end of the quiet hours is not quiet any more, so both have to be
    // looked at before.
    let other = Receiver::start().await;
    other.answers(Answer::Text(status("201 Created")));
    let Acme { ada, ben } = &stage.acme;
    let mut browser = stage.server.signed_in(&ada.email, PASSWORD).await;
    subscribe(&mut browser, &other.url("/ada")).await;
    write_privately(ben, ada, "by day").await;
    other.is_asked(1).await;

    stage.chooses(&[("level", "mentions")]).await;
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);

    for (field, value) in [
        ("from", "25:00"),
        ("until", ""),
        ("zone", "Nowhere/Land"),
        ("level", "some"),
    ] {
        let mut fields = all_day.to_vec();
        fields.retain(|(name, _)| *name != field);
        fields.push((field, value));
        let page = stage.ben.post("/account/notifications", &fields).await;
        page.says(400, &format!("href=\"#{field}\""));
    }
}

async fn what_is_gone_or_not_to_be_read_any_more_is_not_pushed(server: Server) {
    let stage = Stage::set(server).await;
    stage.pushes.answers(Answer::Text(with_headers(
        "503 Service Unavailable",
        "Retry-After: 1\r\n",
    )));
    let said = stage.acme.ada.say(MAIN, "@ben, a mistake").await;
    stage.pushes.is_asked(1).await;
    let path = format!("/flows/{MAIN}/messages/{}", said["id"]);
    stage
        .acme
        .ada
        .does(Method::DELETE, &path, &json!(null))
        .await;
    stage.pushes.answers(Answer::Text(status("201 Created")));
    stage.pushes.asked();
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);

    let user = format!("/flows/{MAIN}/users/{}", stage.acme.ben.id);
    let blocked = json!({"disabled": true});
    stage.acme.ada.does(Method::PUT, &user, &blocked).await;
    stage.ada_says("@everyone but Ben").await;
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);
}

async fn what_was_read_with_its_thread_is_not_pushed(server: Server) {
    let stage = Stage::set(server).await;
    let (ada, ben) = (&stage.acme.ada, &stage.acme.ben);
    // The marker of the chat stays before this one.
    let question = ada.say(MAIN, "Lunch?").await;
    stage.pushes.answers(Answer::Text(with_headers(
        "503 Service Unavailable",
        "Retry-After: 1\r\n",
    )));
    let thread = question["thread_id"]
        .as_str()
        .expect("each message has one");
    let thread = format!("/flows/{MAIN}/threads/{thread}");
    let text = json!({"event": "message", "content": "@ben?"});
    let path = format!("{thread}/messages");
    ada.does(Method::POST, &path, &text).await;
    let mention = ada.get(&format!("{path}?limit=1")).await[0].take();
    stage.pushes.is_asked(1).await;
    let read = json!({"message": mention["id"]});
    ben.does(Method::PUT, &format!("{thread}/read"), &read)
        .await;
    stage.pushes.answers(Answer::Text(status("201 Created")));
    stage.pushes.asked();
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);
}

async fn a_push_service_that_is_busy_is_asked_again(server: Server) {
    let stage = Stage::set(server).await;
    let busy = with_headers("429 Too Many Requests", "Retry-After: 1\r\n");
    stage.pushes.answers(Answer::Text(busy));
    stage.ada_says("hello @ben").await;
    stage.pushes.is_asked(2).await;
    let asked = stage.pushes.asked();
    assert_ne!(asked[0].body, asked[1].body, "a key is used once");
}

async fn push_services_that_do_not_answer_hold_up_no_other_user(server: Server) {
    let acme = server.acme();
    server.organization("beta");
    let (eve, dan) = (
        server.administrator("beta", "eve"),
        server.user("beta", "dan"),
    );
    let (silent, pushes) = (Receiver::start().await, Receiver::start().await);
    silent.answers(Answer::Silence);
    pushes.answers(Answer::Text(status("201 Created")));
    for number in 0..20 {
        let mut browser = server.signed_in(&acme.ben.email, PASSWORD).await;
        subscribe(&mut browser, &silent.url(&format!("/{number}"))).await;
    }
    let mut browser = server.signed_in(&dan.email, PASSWORD).await;
    subscribe(&mut browser, &pushes.url("/dan")).await;
    for number in 0..10 {
        let flow = format!("flow-{number}");
        server.flow("acme", &flow, &[&acme.ada, &acme.ben]);
        acme.ada.say(&format!("acme/{flow}"), "hello @ben").await;
    }
    silent.is_asked(16).await;
    write_privately(&eve, &dan, "hello").await;
    pushes.is_asked(1).await;
    // Two hundred messages wait for Ben, and most of them are not even tried.
    let tried = silent.asked().len();
    assert!(tried < 100, "{tried}");
}

async fn a_browser_takes_messages_until_its_session_ends(server: Server) {
    let mut stage = Stage::set(server).await;
    // The same browser, where another user has signed in.
    let mut ada = stage
        .server
        .signed_in(&stage.acme.ada.email, PASSWORD)
        .await;
    subscribe(&mut ada, &stage.pushes.url("/ben")).await;
    stage.ada_says("hello @ben").await;
    write_privately(&stage.acme.ben, &stage.acme.ada, "hello").await;
    stage.pushes.is_asked(1).await;
    stage.pushes.asked_once();

    subscribe(&mut stage.ben, &stage.pushes.url("/other")).await;
    ada.post("/sign-out", &[]).await;
    write_privately(&stage.acme.ben, &stage.acme.ada, "hello").await;
    assert_eq!(stage.pushed_before_a_private_one(0).await.len(), 0);

    // The browser has forgotten its subscription.
    stage.pushes.answers(Answer::Text(status("410 Gone")));
    stage.ada_says("hello @ben").await;
    stage.pushes.is_asked(1).await;
    let forgotten = Patience::until("the server has forgotten the browser");
    while is_subscribed(&mut stage.ben).await {
        forgotten.goes_on().await;
    }
    stage.pushes.asked();
    stage.pushes.answers(Answer::Text(status("201 Created")));
    let mut phone = stage
        .server
        .signed_in(&stage.acme.ben.email, PASSWORD)
        .await;
    subscribe(&mut phone, &stage.pushes.url("/phone")).await;
    stage.ada_says("hello @ben").await;
    stage.pushes.is_asked(1).await;
    assert_eq!(stage.pushes.asked_once().path, "/phone");

    let stopped = phone.post("/app/-/push", &[("do", "unsubscribe")]).await;
    assert_eq!(stopped.status, 204);
    assert!(!is_subscribed(&mut phone).await);
}

async fn a_user_has_twenty_browsers_that_take_messages(server: Server) {
    let mut stage = Stage::set(server).await;
    let mut last = None;
    for number in 0..20 {
        let mut browser = stage
            .server
            .signed_in(&stage.acme.ben.email, PASSWORD)
            .await;
        assert!(is_subscribed(&mut stage.ben).await, "{number}");
        subscribe(&mut browser, &stage.pushes.url(&format!("/{number}"))).await;
        last = Some(browser);
    }
    assert!(!is_subscribed(&mut stage.ben).await);
    assert!(is_subscribed(&mut last.unwrap()).await);
}

async fn an_endpoint_that_is_not_public_is_refused(server: Server) {
    let acme = server.acme();
    let mut ben = server.signed_in(&acme.ben.email, PASSWORD).await;
    for endpoint in [
        "https://127.0.0.1/push",
        "https://2130706433/push",
        "https://169.254.169.254/push",
        "https://10.0.0.1:8443/push",
        "https://[::1]/push",
        "https://[::ffff:10.0.0.1]/push",
        "https://localhost/push",
        "https://push.localhost./push",
    ] {
        let fields = [
            ("do", "subscribe"),
            ("endpoint", endpoint),
            ("p256dh", P256DH),
            ("auth", AUTH),
        ];
        let refused = ben.post("/app/-/push", &fields).await;
        refused.says(400, "Endpoint leads to an address that is not public");
    }
    subscribe(&mut ben, "https://push.example/ben").await;
}

async fn what_is_no_subscription_is_refused(server: Server) {
    let mut stage = Stage::set(server).await;
    let long = format!("https://push.example/{}", "x".repeat(2048));
    for (endpoint, p256dh, auth) in [
        ("", P256DH, AUTH),
        ("ftp://push.example/", P256DH, AUTH),
        (long.as_str(), P256DH, AUTH),
        ("https://user@push.example/", P256DH, AUTH),
        ("https://:password@push.example/", P256DH, AUTH),
        ("https://push.example/", AUTH, AUTH),
        ("https://push.example/", P256DH, P256DH),
    ] {
        let fields = [
            ("do", "subscribe"),
            ("endpoint", endpoint),
            ("p256dh", p256dh),
            ("auth", auth),
        ];
        let page = stage.ben.post("/app/-/push", &fields).await;
        assert_eq!(page.status, 400, "{endpoint} {p256dh} {auth}");
    }
    let forged = stage
        .ben
        .send(
            "POST",
            "/app/-/push",
            &["Content-Type: application/x-www-form-urlencoded"],
            "do=unsubscribe",
        )
        .await;
    assert_eq!(forged.status, 403);
    let mut stranger = stage.server.visitor();
    let refused = stranger.post("/app/-/push", &[("do", "subscribe")]).await;
    assert!(refused.sent_on().starts_with("/sign-in"));
}
