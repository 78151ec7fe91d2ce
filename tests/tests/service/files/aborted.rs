//! Uploads that end in the middle.

use eddyline_tests::{Server, basic, on_both_databases};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Form, until_kept};

on_both_databases![
    a_connection_that_breaks_leaves_no_half_file,
    a_server_that_dies_leaves_no_half_file,
    what_comes_with_a_refused_message_goes,
    messages_that_come_in_pieces_are_no_files,
];

/// Begins to send a file and does not end.
async fn begin(server: &Server, token: &str) -> TcpStream {
    let host = server.base_url().split('/').nth(2).unwrap();
    let mut socket = TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST /flows/acme/main/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {}\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: 10000000\r\n\r\n",
        basic(token, "")
    );
    let body = Form::of("file")
        .file("content", "a.bin", "", &vec![7; 3_000_000])
        .end();
    socket.write_all(head.as_bytes()).await.unwrap();
    let kept = server.kept_files().len();
    socket.write_all(&body[..2_500_000]).await.unwrap();
    until_kept(server, kept + 1).await;
    socket
}

async fn a_connection_that_breaks_leaves_no_half_file(server: Server) {
    let acme = server.acme();
    drop(begin(&server, &acme.ben.token).await);
    until_kept(&server, 0).await;
    assert_eq!(
        acme.ada.get("/flows/acme/main/messages?event=file").await,
        serde_json::json!([])
    );
}

async fn a_server_that_dies_leaves_no_half_file(mut server: Server) {
    let acme = server.acme();
    let kept = Form::of("file").file("content", "kept", "", b"kept");
    let socket = begin(&server, &acme.ben.token).await;
    kept.posted(&acme.ben.client, "/flows/acme/main/messages")
        .await;
    server.kill9();
    drop(socket);
    assert_eq!(server.kept_files().len(), 2);
    server.restart();
    until_kept(&server, 1).await;
}

async fn what_comes_with_a_refused_message_goes(server: Server) {
    let acme = server.acme();
    let path = "/flows/acme/main/messages";
    let file = || Form::of("file").file("content", "a", "", b"a");
    file()
        .text("thread_id", "none")
        .refused(&acme.ben.client, path, 400)
        .await;
    file()
        .file("other", "b", "", b"b")
        .refused(&acme.ben.client, path, 400)
        .await;
    until_kept(&server, 0).await;
}

async fn messages_that_come_in_pieces_are_no_files(server: Server) {
    let acme = server.acme();
    let host = server.base_url().split('/').nth(2).unwrap();
    let message = r#"{"event":"message","content":"in pieces"}"#;
    let begun = format!(
        "POST /flows/acme/main/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{message}\r\n",
        basic(&acme.ben.token, ""),
        message.len(),
    );
    let mut sockets = Vec::new();
    for _ in 0..20 {
        let mut socket = TcpStream::connect(host).await.unwrap();
        socket.write_all(begun.as_bytes()).await.unwrap();
        sockets.push(socket);
    }
    for mut socket in sockets {
        socket.write_all(b"0\r\n\r\n").await.unwrap();
        let mut status = [0; 12];
        socket.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 202");
    }
}
