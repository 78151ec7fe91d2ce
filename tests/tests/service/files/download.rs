//! Downloading files by links that soon end.

use eddyline_client::{Json, Method};
use eddyline_tests::{Caller, Server, Tenant, note_secret, on_both_databases, on_shared_servers};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Form, PIXEL, follow, follow_with, link, text, upload};

on_shared_servers![
    a_link_needs_no_credentials_and_is_bound_to_its_file,
    only_who_reads_the_flow_is_given_a_link,
    a_part_of_a_file_can_be_asked_for,
    a_file_need_not_be_downloaded_again,
    a_page_that_was_uploaded_cannot_run,
    text_names_its_charset_where_it_is_utf8,
    documents_sound_and_video_open_in_place,
    a_head_has_no_body,
    a_thumbnail_is_called_what_it_is,
];
on_both_databases![&["--download-link-ttl", "1s"]; a_link_ends];
on_both_databases![
    &["--max-downloads", "2", "--trusted-proxy", "127.0.0.0/8"];
    downloads_are_bounded_and_nobody_has_them_all
];
on_both_databases![
    &["--max-downloads", "8", "--trusted-proxy", "127.0.0.0/8"];
    downloads_are_charged_to_whoever_asked_for_the_link
];

fn token(link: &str) -> &str {
    link.split("/download/")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap()
}

async fn sent(tenant: &Tenant) -> String {
    let message = upload(tenant, "data.json", "text/plain", b"0123456789").await;
    text(&message["content"]["path"]).to_owned()
}

/// Shows: 4.41
async fn a_link_needs_no_credentials_and_is_bound_to_its_file(tenant: Tenant) {
    let (server, path) = (tenant.server(), sent(&tenant).await);
    let link = link(&tenant.ada.client, &path).await;
    note_secret(token(&link));
    let answer = follow(server, &link).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.body[..]),
        (200, &b"0123456789"[..])
    );
    assert!(link.ends_with("/data.json"), "{link}");
    let other_name = link.replace("data.json", "other");
    assert_eq!(
        follow(server, &other_name)
            .await
            .header("content-disposition"),
        Some("inline; filename=\"data.json\"")
    );
    let token = token(&link);
    let first = if token.starts_with('A') { "B" } else { "A" };
    let changed = format!("{first}{}", &token[1..]);
    for forged in [
        &changed,
        &token[..token.len() - 1],
        "x",
        "..",
        &format!("{token}A"),
    ] {
        let answer = follow(server, &link.replace(token, forged)).await;
        assert_eq!(answer.status, 404, "{forged}");
    }
    assert_eq!(
        tenant
            .ben
            .send(
                Method::POST,
                link.strip_prefix(server.base_url()).unwrap(),
                &Json::Null
            )
            .await
            .status,
        405
    );
}

/// Shows: 4.41, 8.6
async fn a_link_ends(server: Server) {
    let acme = server.acme();
    let file = Form::of("file").file("content", "a.txt", "text/plain", b"hello");
    let message = file
        .posted(&acme.ben.client, "/flows/acme/main/messages")
        .await;
    let path = text(&message["content"]["path"]);
    let link = link(&acme.ada.client, path).await;
    let ended = loop {
        let answer = follow(&server, &link).await;
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!(
        (ended.status.as_u16(), text(&ended.json()["message"])),
        (410, "This link has ended")
    );
}

/// Shows: 4.41, 7.5
async fn only_who_reads_the_flow_is_given_a_link(tenant: Tenant) {
    let path = sent(&tenant).await;
    let answer = |client: eddyline_client::Client, path: String| async move {
        client
            .request(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .status
            .as_u16()
    };
    let outsider = tenant.user("olga");
    let stranger = tenant.neighbour();
    assert_eq!(answer(tenant.ada.client.clone(), path.clone()).await, 302);
    assert_eq!(
        answer(tenant.ada.client.clone(), format!("/v1{path}")).await,
        302
    );
    assert_eq!(answer(outsider.client.clone(), path.clone()).await, 403);
    assert_eq!(answer(stranger.ada.client.clone(), path.clone()).await, 404);
    assert_eq!(
        answer(
            tenant.client(eddyline_client::Credentials::None),
            path.clone()
        )
        .await,
        401
    );
    let id = path.split('/').nth(2).unwrap();
    for wrong in [
        format!("/files/{id}"),
        path.replace(id, "nothing"),
        format!("/files/{id}/thumbnail/data.json"),
    ] {
        assert_eq!(
            answer(tenant.ada.client.clone(), wrong.clone()).await,
            404,
            "{wrong}"
        );
    }
}

async fn a_part_of_a_file_can_be_asked_for(tenant: Tenant) {
    let link = link(&tenant.ada.client, &sent(&tenant).await).await;
    let server = tenant.server();
    for (range, content, sent) in [
        ("bytes=0-3", "bytes 0-3/10", "0123"),
        ("bytes=7-", "bytes 7-9/10", "789"),
        ("bytes=-2", "bytes 8-9/10", "89"),
        ("bytes=5-99", "bytes 5-9/10", "56789"),
    ] {
        let answer = follow_with(server, &link, &[("Range", range)]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-range")),
            (206, Some(content)),
            "{range}"
        );
        assert_eq!(answer.text(), sent, "{range}");
        assert_eq!(
            answer.header("content-length"),
            Some(sent.len().to_string().as_str())
        );
    }
    for range in ["bytes=10-", "bytes=-0"] {
        let answer = follow_with(server, &link, &[("Range", range)]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-range")),
            (416, Some("bytes */10")),
            "{range}"
        );
    }
    for range in ["bytes=0-1,3-4", "lines=1-2", "bytes=x"] {
        let answer = follow_with(server, &link, &[("Range", range)]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text().len()),
            (200, 10),
            "{range}"
        );
    }
    let whole = follow(server, &link).await;
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    let tag = whole.header("etag").unwrap();
    let same = follow_with(server, &link, &[("Range", "bytes=0-0"), ("If-Range", tag)]).await;
    assert_eq!(same.status, 206);
    let other = follow_with(
        server,
        &link,
        &[("Range", "bytes=0-0"), ("If-Range", "\"x\"")],
    )
    .await;
    assert_eq!(other.status, 200);
}

async fn a_file_need_not_be_downloaded_again(tenant: Tenant) {
    let link = link(&tenant.ada.client, &sent(&tenant).await).await;
    let whole = follow(tenant.server(), &link).await;
    let again = follow_with(
        tenant.server(),
        &link,
        &[("If-None-Match", whole.header("etag").unwrap())],
    )
    .await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
}

async fn a_page_that_was_uploaded_cannot_run(tenant: Tenant) {
    let page = b"<script>alert(1)</script>";
    for (kind, name, disposition) in [
        (
            "text/html",
            "grüße\".html",
            "attachment; filename=\"gr__e_.html\"; filename*=UTF-8''gr%C3%BC%C3%9Fe%22.html",
        ),
        ("image/svg+xml", "a.svg", "attachment; filename=\"a.svg\""),
        (
            "application/xhtml+xml",
            "a.xhtml",
            "attachment; filename=\"a.xhtml\"",
        ),
        ("text/plain", "a.txt", "inline; filename=\"a.txt\""),
    ] {
        let message = upload(&tenant, &name.replace('"', "\\\""), kind, page).await;
        let link = link(&tenant.ada.client, text(&message["content"]["path"])).await;
        let answer = follow_with(tenant.server(), &link, &[("Accept-Encoding", "gzip")]).await;
        assert_eq!(answer.header("content-disposition"), Some(disposition));
        let essence = answer.header("content-type").unwrap().split(';').next();
        assert_eq!(essence, Some(kind));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(
            answer.header("content-security-policy"),
            Some("sandbox; default-src 'none'")
        );
        assert_eq!(
            answer.header("cross-origin-resource-policy"),
            Some("cross-origin")
        );
        assert_eq!(
            (answer.header("content-encoding"), &answer.body[..]),
            (None, &page[..])
        );
    }
}

async fn text_names_its_charset_where_it_is_utf8(tenant: Tenant) {
    for (kind, content, served) in [
        (
            "text/plain",
            "Grüße".as_bytes(),
            "text/plain; charset=utf-8",
        ),
        ("text/csv", b"a,b", "text/csv; charset=utf-8"),
        ("text/plain", b"Gr\xfc\xdfe", "text/plain"),
        ("text/plain", b"", "text/plain"),
        (
            "text/plain; charset=utf-16",
            b"a",
            "text/plain; charset=utf-16",
        ),
        ("application/xml", b"<a/>", "application/xml"),
    ] {
        let message = upload(&tenant, "a.txt", kind, content).await;
        assert_eq!(message["content"]["content_type"], kind, "as it was sent");
        let link = link(&tenant.ada.client, text(&message["content"]["path"])).await;
        let answer = follow(tenant.server(), &link).await;
        assert_eq!(answer.header("content-type"), Some(served));
        assert_eq!(answer.body, content);
    }
    // A character that the examined beginning cuts is none that is wrong.
    let long = format!("a{}", "é".repeat(64 << 10));
    let message = upload(&tenant, "a.txt", "text/plain", long.as_bytes()).await;
    let link = link(&tenant.ada.client, text(&message["content"]["path"])).await;
    let answer = follow(tenant.server(), &link).await;
    let served = Some("text/plain; charset=utf-8");
    assert_eq!(answer.header("content-type"), served);
}

async fn documents_sound_and_video_open_in_place(tenant: Tenant) {
    let nothing = "sandbox; default-src 'none'";
    let media = "sandbox; default-src 'none'; media-src 'self'";
    for (kind, disposition, policy) in [
        ("application/pdf", "inline", nothing),
        ("video/mp4", "inline", media),
        ("audio/ogg", "inline", media),
        ("application/zip", "attachment", nothing),
    ] {
        let message = upload(&tenant, "a.bin", kind, b"0123456789").await;
        let link = link(&tenant.ada.client, text(&message["content"]["path"])).await;
        let part = [("Range", "bytes=2-3")];
        let answer = follow_with(tenant.server(), &link, &part).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body[..]),
            (206, &b"23"[..])
        );
        let shown = format!("{disposition}; filename=\"a.bin\"");
        assert_eq!(answer.header("content-disposition"), Some(shown.as_str()));
        assert_eq!(answer.header("content-security-policy"), Some(policy));
    }
}

async fn a_head_has_no_body(tenant: Tenant) {
    let link = link(&tenant.ada.client, &sent(&tenant).await).await;
    let path = link.strip_prefix(tenant.server().base_url()).unwrap();
    let answer = tenant
        .ben
        .client
        .request(Method::HEAD, path)
        .anonymous()
        .send()
        .await
        .unwrap();
    assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 0));
    assert_eq!(answer.header("content-length"), Some("10"));
}

async fn a_thumbnail_is_called_what_it_is(tenant: Tenant) {
    let message = upload(&tenant, "x.html", "text/html", PIXEL).await;
    let small = link(
        &tenant.ada.client,
        text(&message["content"]["thumbnail"]["path"]),
    )
    .await;
    assert!(small.ends_with("/x.png"), "{small}");
    let answer = follow(tenant.server(), &small).await;
    assert_eq!(answer.header("content-type"), Some("image/png"));
    assert_eq!(
        answer.header("content-disposition"),
        Some("inline; filename=\"x.png\"")
    );
}

/// Begins to download and reads no more than the beginning.
async fn begin(server: &Server, link: &str, address: &str) -> TcpStream {
    let host = server.base_url().split('/').nth(2).unwrap();
    let path = link.strip_prefix(server.base_url()).unwrap();
    let mut socket = TcpStream::connect(host).await.unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-For: {address}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    socket.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    socket
}

/// A file that is larger than what sockets hold; gives its path.
async fn large(sender: &Caller, flow: &str) -> String {
    let file = Form::of("file").file("content", "large", "", &vec![7; 32 << 20]);
    let message = file
        .posted(&sender.client, &format!("/flows/{flow}/messages"))
        .await;
    text(&message["content"]["path"]).to_owned()
}

/// What a download of one byte is answered, and whether it may be tried again.
async fn one_byte(server: &Server, link: &str, address: &str) -> (u16, bool) {
    let headers = [("X-Forwarded-For", address), ("Range", "bytes=0-0")];
    let answer = follow_with(server, link, &headers).await;
    (
        answer.status.as_u16(),
        answer.header("retry-after").is_some(),
    )
}

async fn downloads_are_bounded_and_nobody_has_them_all(server: Server) {
    let mut links = Vec::new();
    for organization in ["acme", "beta", "gamma"] {
        server.organization(organization);
        let member = server.user(organization, organization);
        let flow = format!("{organization}/main");
        server.flow(organization, "main", &[&member]);
        let path = large(&member, &flow).await;
        links.push(link(&member.client, &path).await);
    }
    let first = begin(&server, &links[0], "192.0.2.1").await;
    assert_eq!(
        one_byte(&server, &links[0], "192.0.2.2").await,
        (429, true),
        "the organization has its share"
    );
    assert_eq!(
        one_byte(&server, &links[1], "192.0.2.1").await,
        (429, true),
        "the network has its share"
    );
    assert_eq!(
        one_byte(&server, &links[1], "192.0.2.2").await,
        (206, false)
    );
    let _second = begin(&server, &links[1], "192.0.2.2").await;
    assert_eq!(one_byte(&server, &links[2], "192.0.2.3").await, (503, true));
    drop(first);
    while one_byte(&server, &links[2], "192.0.2.3").await != (206, false) {}
}

async fn downloads_are_charged_to_whoever_asked_for_the_link(server: Server) {
    let acme = server.acme();
    let path = large(&acme.ben, "acme/main").await;
    let (ada, ben) = (
        link(&acme.ada.client, &path).await,
        link(&acme.ben.client, &path).await,
    );
    let again = link(&acme.ben.client, &path).await;
    let mut first = Vec::new();
    for number in 1..=3 {
        first.push(begin(&server, &ben, &format!("192.0.2.{number}")).await);
    }
    assert_eq!(
        one_byte(&server, &again, "192.0.2.7").await,
        (429, true),
        "whichever link and address"
    );
    assert_eq!(one_byte(&server, &ada, "192.0.2.1").await, (206, false));
    drop(first);
    while one_byte(&server, &again, "192.0.2.2").await != (206, false) {}
}
