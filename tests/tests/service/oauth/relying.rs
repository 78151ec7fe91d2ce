//! The site of an application, as browsers see it: it sends them off to be asked, and takes back
//! those whose state it sent.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use url::Url;

/// A site on this machine. It ends with this value.
pub(super) struct Site {
    address: SocketAddr,
    told: Arc<Told>,
    thread: Option<JoinHandle<()>>,
}

/// What a browser brought back.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub(super) parameters: BTreeMap<String, String>,
    /// From where the browser said it came.
    pub(super) referer: Option<String>,
}

#[derive(Default)]
struct Told {
    /// Where those who begin are sent.
    asks: Mutex<String>,
    visits: Mutex<Vec<Visit>>,
    ended: AtomicBool,
}

impl Site {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, told) = (listener.local_addr().unwrap(), Arc::new(Told::default()));
        let shared = Arc::clone(&told);
        let thread = thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                if shared.ended.load(Ordering::Acquire) {
                    break;
                }
                // A browser may open connections and say nothing on them.
                let shared = Arc::clone(&shared);
                thread::spawn(move || drop(shared.answer(&socket)));
            }
        });
        Self {
            address,
            told,
            thread: Some(thread),
        }
    }

    /// Where users are sent back to.
    pub(super) fn callback(&self) -> String {
        format!("http://{}/back", self.address)
    }

    /// Where users begin who want to be asked there.
    pub(super) fn beginning(&self, asks: &str) -> String {
        asks.clone_into(&mut self.told.asks.lock().unwrap());
        format!("http://{}/begin", self.address)
    }

    /// A page that shows this address in a frame.
    pub(super) fn framing(&self, url: &str) -> String {
        url.clone_into(&mut self.told.asks.lock().unwrap());
        format!("http://{}/frame", self.address)
    }

    /// Everybody who came back since this was asked last.
    pub(super) fn visits(&self) -> Vec<Visit> {
        std::mem::take(&mut self.told.visits.lock().unwrap())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.told.ended.store(true, Ordering::Release);
        // It may be waiting for somebody.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Told {
    fn answer(&self, socket: &TcpStream) -> io::Result<()> {
        let mut lines = BufReader::new(socket).lines();
        let first = lines.next().unwrap_or(Ok(String::new()))?;
        let mut referer = None;
        for line in lines {
            let line = line?;
            match line.split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("referer") => {
                    referer = Some(value.to_owned());
                }
                Some(_) => {}
                None => break,
            }
        }
        let path = first.split(' ').nth(1).unwrap_or("/");
        let url = Url::parse(&format!("http://robot.example{path}")).unwrap();
        let asks = self.asks.lock().unwrap().clone();
        match url.path() {
            "/begin" => reply(socket, &format!("303 See Other\r\nLocation: {asks}"), ""),
            "/frame" => reply(
                socket,
                "200 OK",
                &format!("<h1>Framed</h1><iframe src=\"{asks}\"></iframe>"),
            ),
            "/back" => {
                let parameters: BTreeMap<_, _> = url.query_pairs().into_owned().collect();
                let sent = Url::parse(&asks).ok();
                let sent = sent
                    .as_ref()
                    .and_then(|url| url.query_pairs().find(|(name, _)| name == "state"));
                let same = sent
                    .is_some_and(|(_, sent)| parameters.get("state") == Some(&sent.into_owned()));
                self.visits.lock().unwrap().push(Visit {
                    parameters,
                    referer,
                });
                match same {
                    true => reply(socket, "200 OK", "<h1>Welcome back</h1>"),
                    false => reply(socket, "200 OK", "<h1>Nobody here has sent you</h1>"),
                }
            }
            _ => reply(socket, "200 OK", ""),
        }
    }
}

fn reply(mut socket: &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let body = format!("<!DOCTYPE html><html lang=\"en\"><title>Robot</title>{body}");
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nConnection: close");
    write!(socket, "{head}\r\nContent-Length: {length}\r\n\r\n{body}")
}
