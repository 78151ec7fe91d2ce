//! Pictures of integrations, which the server fetches for the pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use eddyline_client::Json;
use eddyline_tests::{Acme, PASSWORD, Server, on_both_databases};
use serde_json::json;

use crate::avatars::{png, png_that_claims};
use crate::integrations::Source;
use crate::receiver::{Answer, Receiver};

on_both_databases![&["--allow-private-targets"];
    a_picture_is_fetched_once_and_shown_to_who_is_signed_in,
    only_addresses_of_messages_are_asked,
    what_is_no_picture_is_not_handed_out,
    an_application_has_its_picture,
];
on_both_databases![
    a_host_of_a_private_network_is_not_asked,
    the_picture_of_a_user_needs_no_fetching,
];
on_both_databases![&["--fetch-pictures", "off", "--allow-private-targets"];
    nothing_is_fetched_where_that_is_switched_off,
];

const MAIN: &str = "acme/main";
/// The paths begin with this.
const PICTURES: &str = "/app/-/pictures/";

/// A discussion by an author with this picture.
pub(crate) fn discussion(picture: &str) -> Json {
    json!({
        "event": "discussion", "external_thread_id": "7", "body": "I have seen this, too.",
        "author": {"name": "Zoë", "avatar": picture},
    })
}

/// A source, and a host that has a picture.
async fn set(server: &Server) -> (Acme, Source, Receiver) {
    let acme = server.acme();
    let robot = server.robot("acme", &[]);
    let source = Source::of(&robot, &acme.ben, MAIN, "Tickets").await;
    let host = Receiver::start().await;
    host.answers(Answer::File(png(200)));
    (acme, source, host)
}

/// Where the pages show the picture of a message's author.
fn path_of(message: &Json) -> String {
    let path = message["author"]["avatar_path"].as_str();
    path.expect("the picture has a path").to_owned()
}

/// The page with the thread of a message.
fn page_of(message: &Json) -> String {
    let thread = message["thread_id"].as_str().expect("it is in a thread");
    format!("/app/{MAIN}/threads/{thread}")
}

async fn a_picture_is_fetched_once_and_shown_to_who_is_signed_in(server: Server) {
    let (acme, source, host) = set(&server).await;
    let pushed = source.push(&discussion(&host.url("/zoe.png?v=1"))).await;
    let path = path_of(&pushed);
    assert!(path.starts_with(PICTURES), "{path}");

    let mut ada = server.signed_in(&acme.ada.email, PASSWORD).await;
    let mut stranger = server.visitor();
    assert_eq!(stranger.get(&path).await.status, 404);
    let foreign = ["Sec-Fetch-Site: cross-site"];
    assert_eq!(ada.send("GET", &path, &foreign, "").await.status, 404);
    assert_eq!(host.asked().len(), 0);

    let page = ada.get(&page_of(&pushed)).await;
    assert!(page.text.contains(&format!("<img src=\"{path}\"")));
    assert_eq!(host.asked().len(), 0, "the page itself asks nobody");
    for _ in 0..2 {
        let picture = ada.get(&path).await;
        assert_eq!(picture.status, 200);
        for (name, value) in [
            ("content-type", "image/jpeg"),
            ("cache-control", "private, max-age=86400"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(picture.header(name), value);
        }
    }
    let asked = host.asked_once();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("GET", "/zoe.png?v=1")
    );
    // The host learns nothing of the reader.
    let names: Vec<&str> = asked.headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["accept", "connection", "host", "user-agent"]);
}

async fn only_addresses_of_messages_are_asked(server: Server) {
    let (acme, source, host) = set(&server).await;
    let path = path_of(&source.push(&discussion(&host.url("/zoe.png"))).await);
    let token = path.strip_prefix(PICTURES).unwrap();
    let known = URL_SAFE_NO_PAD.decode(token).unwrap();
    let mut ada = server.signed_in(&acme.ada.email, PASSWORD).await;
    let other = host.url("/other.png");
    let tag = &known[..16];
    for forged in [
        URL_SAFE_NO_PAD.encode(&other),
        URL_SAFE_NO_PAD.encode([tag, other.as_bytes()].concat()),
        URL_SAFE_NO_PAD.encode([&[0; 16], other.as_bytes()].concat()),
        format!("{token}AA"),
        token[..token.len() - 4].to_owned(),
        "none".to_owned(),
        "%00".to_owned(),
    ] {
        let refused = ada.get(&format!("{PICTURES}{forged}")).await;
        assert_eq!(refused.status, 404, "{forged}");
    }
    assert_eq!(host.asked().len(), 0);
}

async fn what_is_no_picture_is_not_handed_out(server: Server) {
    let (acme, source, host) = set(&server).await;
    let mut ada = server.signed_in(&acme.ada.email, PASSWORD).await;
    let page = b"<!doctype html><script>alert(1)</script>".to_vec();
    let drawing = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>".to_vec();
    for (number, answer) in [
        Answer::File(page),
        Answer::File(drawing),
        Answer::File(png_that_claims(50_000)),
        Answer::File(vec![0; 2 << 20]),
        Answer::Text("HTTP/1.1 500 Broken\r\n\r\n".to_owned()),
        Answer::Text("nonsense".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        host.answers(answer);
        let address = host.url(&format!("/{number}"));
        let path = path_of(&source.push(&discussion(&address)).await);
        for _ in 0..2 {
            let missing = ada.get(&path).await;
            assert_eq!((missing.status, missing.text.as_str()), (404, ""));
            assert_eq!(missing.header("cache-control"), "private, max-age=300");
        }
        host.asked_once();
    }
}

async fn an_application_has_its_picture(server: Server) {
    let host = Receiver::start().await;
    host.answers(Answer::File(png(64)));
    let acme = server.acme();
    let robot = server.robot("acme", &["--icon", &host.url("/icon.png")]);
    let source = Source::of(&robot, &acme.ben, MAIN, "Tickets").await;
    let mut message = discussion("");
    message["author"] = Json::Null;
    let pushed = source.push(&message).await;
    let path = pushed["thread"]["source"]["icon_path"].as_str().unwrap();
    let mut ada = server.signed_in(&acme.ada.email, PASSWORD).await;
    let page = ada.get(&page_of(&pushed)).await;
    assert!(page.text.contains(&format!("<img src=\"{path}\"")));
    assert_eq!(ada.get(path).await.status, 200);
}

async fn a_host_of_a_private_network_is_not_asked(server: Server) {
    let (acme, source, host) = set(&server).await;
    let mut ada = server.signed_in(&acme.ada.email, PASSWORD).await;
    let port = host.port();
    for address in [
        host.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
    ] {
        let path = path_of(&source.push(&discussion(&address)).await);
        assert_eq!(ada.get(&path).await.status, 404, "{address}");
    }
    assert_eq!(host.asked().len(), 0);
}

async fn the_picture_of_a_user_needs_no_fetching(server: Server) {
    let (acme, source, _) = set(&server).await;
    let own = acme.ben.get("/user").await["avatar"].take();
    let path = path_of(&source.push(&discussion(own.as_str().unwrap())).await);
    assert!(path.starts_with("/avatars/"), "{path}");
    assert_eq!(server.visitor().get(&path).await.status, 200);
}

async fn nothing_is_fetched_where_that_is_switched_off(server: Server) {
    let (acme, source, host) = set(&server).await;
    let address = host.url("/zoe.png");
    let pushed = source.push(&discussion(&address)).await;
    assert_eq!(pushed["author"], json!({"name": "Zoë", "avatar": address}));
    let mut ada = server.signed_in(&acme.ada.email, PASSWORD).await;
    let page = ada.get(&page_of(&pushed)).await;
    assert!(!page.text.contains(PICTURES));
    assert_eq!(host.asked().len(), 0);
}
