//! A file that is larger than the memory a server may take for it. `EDDYLINE_TEST_BIG=1` makes it 1
//! GiB.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use eddyline_tests::{Server, basic, on_both_databases};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{link, text};

on_both_databases![
    &["--max-upload-bytes", "2000000000", "--log", "info"];
    a_large_file_goes_through_little_memory
];

const MIB: u64 = 1 << 20;

fn size() -> u64 {
    if std::env::var_os("EDDYLINE_TEST_BIG").is_some() {
        1024 * MIB
    } else {
        256 * MIB
    }
}

/// The most memory that the server has from now on, looked at all the time.
struct Watch {
    most: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
}

impl Watch {
    fn begin(process: u32) -> Self {
        let (most, ended) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (noted, stop) = (most.clone(), ended.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let status =
                    std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
                let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
                let kib = line
                    .and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
                noted.fetch_max(kib.unwrap_or_default() * 1024, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        Self { most, ended }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

async fn a_large_file_goes_through_little_memory(server: Server) {
    let acme = server.acme();
    // What the first upload and download of all bring along counts as what was there before.
    transfer(&server, &acme.ben, MIB).await;
    let before = server.resident_bytes();
    let watch = Watch::begin(server.process_id());
    transfer(&server, &acme.ben, size()).await;
    let most = watch.most.load(Ordering::Relaxed);
    assert!(
        most > 0 && most <= before + 64 * MIB,
        "{} MiB, then up to {} MiB",
        before / MIB,
        most / MIB
    );
}

/// Sends a file of this size and downloads it again.
async fn transfer(server: &Server, sender: &eddyline_tests::Caller, size: u64) {
    let host = server.base_url().split('/').nth(2).unwrap();
    let head = "--edge\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\nfile\r\n--edge\r\n\
                Content-Disposition: form-data; name=\"content\"; filename=\"large.bin\"\r\n\r\n";
    let end = "\r\n--edge--\r\n";
    let length = size + (head.len() + end.len()) as u64;
    let mut socket = TcpStream::connect(host).await.unwrap();
    let request = format!(
        "POST /flows/acme/main/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {}\r\n\
         X-Service-Wait-For-Message: 1\r\nConnection: close\r\nContent-Length: {length}\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\n\r\n{head}",
        basic(&sender.token, "")
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let chunk: Vec<u8> = (0..MIB).map(|byte| (byte % 251) as u8).collect();
    for _ in 0..size / MIB {
        socket.write_all(&chunk).await.unwrap();
    }
    socket.write_all(end.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let message: eddyline_client::Json = serde_json::from_str(body).unwrap();
    assert_eq!(message["content"]["file_size"], size);

    let link = link(&sender.client, text(&message["content"]["path"])).await;
    let path = link.strip_prefix(server.base_url()).unwrap();
    let mut socket = TcpStream::connect(host).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let (mut buffer, mut received, mut last) = (vec![0; 1 << 16], 0, Vec::new());
    loop {
        let count = socket.read(&mut buffer).await.unwrap();
        if count == 0 {
            break;
        }
        received += count as u64;
        last = buffer[..count].to_vec();
    }
    assert!(
        received > size && received < size + 2000,
        "{received} of {size}"
    );
    assert_eq!(last.last(), chunk.last());
}
