//! A visitor of the pages: a browser as far as they need one. It keeps cookies and sends forms;
//! where it is sent on to, the test goes itself.

mod slow;

use std::collections::BTreeMap;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub use self::slow::SlowRequest;
use crate::record;
use crate::secrets::note_secret;
use crate::server::Server;

/// The cookie of a session.
pub const SESSION: &str = "eddyline-session";
/// The cookie with the token of forms.
pub const CSRF: &str = "eddyline-csrf";

/// What a form in parts is sent with.
pub const PARTS: &str = "Content-Type: multipart/form-data; boundary=parts";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

/// A browser with nothing in it but cookies.
#[derive(Clone)]
pub struct Visitor {
    host: String,
    cookies: BTreeMap<String, String>,
}

/// What a visitor was answered.
#[derive(Debug)]
pub struct Page {
    /// The status code.
    pub status: u16,
    /// The text of the page.
    pub text: String,
    headers: Vec<(String, String)>,
}

impl Page {
    /// The values of a header.
    pub fn headers(&self, name: &str) -> Vec<&str> {
        let found = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).collect()
    }

    /// The only value of a header, empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers(name);
        assert!(found.len() <= 1, "{name}: {found:?}");
        found.first().copied().unwrap_or_default()
    }

    /// Where the browser is sent on to.
    #[track_caller]
    pub fn sent_on(&self) -> &str {
        assert_eq!(self.status, 303, "{}", self.text);
        self.header("location")
    }

    /// Checks the status and that the page says this.
    #[track_caller]
    pub fn says(&self, status: u16, text: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(self.text.contains(text), "{text} in {}", self.text);
    }

    /// Checks that the page has one heading, that all of its fields have labels, and that no two of
    /// its buttons have one name for different things.
    #[track_caller]
    pub fn is_named_throughout(&self, path: &str) {
        let text = self.main();
        assert_eq!(text.matches("<h1>").count(), 1, "{path}: {text}");
        let fields =
            ["<input id=", "<select id=", "<textarea id="].map(|tag| text.matches(tag).count());
        assert_eq!(
            fields.iter().sum::<usize>(),
            text.matches("<label for=").count(),
            "{path}: {text}"
        );
        let mut names: Vec<&str> = text.split("<button ").skip(1).map(button_name).collect();
        names.sort_unstable();
        assert!(names.iter().all(|name| !name.is_empty()), "{path}: {text}");
        assert!(
            names.windows(2).all(|two| two[0] != two[1]),
            "{path}: {names:?}"
        );
    }

    /// The page without what stands around every page.
    #[track_caller]
    pub fn main(&self) -> &str {
        self.between("<main", "</main>")
    }

    /// What comes between two texts, the first time; it must be there.
    #[track_caller]
    pub fn between(&self, before: &str, after: &str) -> &str {
        let found = self
            .text
            .split_once(before)
            .and_then(|(_, rest)| rest.split_once(after));
        found
            .unwrap_or_else(|| panic!("nothing between {before} and {after} in {}", self.text))
            .0
    }

    pub(crate) fn parse(answer: &str) -> Self {
        let (head, text) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .expect("a status");
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            status: status.parse().unwrap(),
            text: text.to_owned(),
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }
}

impl Server {
    /// Somebody who has never been here.
    pub fn visitor(&self) -> Visitor {
        let host = self
            .base_url()
            .split('/')
            .nth(2)
            .expect("an address has a host");
        Visitor {
            host: host.to_owned(),
            cookies: BTreeMap::new(),
        }
    }

    /// Somebody who has signed in.
    pub async fn signed_in(&self, email: &str, password: &str) -> Visitor {
        let mut visitor = self.visitor();
        let page = visitor
            .post("/sign-in", &[("email", email), ("password", password)])
            .await;
        assert_eq!(page.sent_on(), "/");
        visitor
    }
}

impl Visitor {
    /// A cookie that it has.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.get(name).map(String::as_str)
    }

    /// Gets a page.
    pub async fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, &[], "").await
    }

    /// Sends a form as a page of ours would: with the token that it holds. Gets a page first when
    /// it has no token yet.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        if self.cookie(CSRF).is_none() {
            self.get("/password").await;
        }
        let token = self
            .cookie(CSRF)
            .expect("every page brings a token")
            .to_owned();
        let fields = [&[("csrf", token.as_str())], fields].concat();
        self.send("POST", path, &[FORM], &encode(&fields)).await
    }

    /// Sends all of a form but its end, and gives what is left to do.
    pub async fn post_slowly(&mut self, path: &str, fields: &[(&str, &str)]) -> SlowRequest {
        let token = self
            .cookie(CSRF)
            .expect("every page brings a token")
            .to_owned();
        let fields = [&[("csrf", token.as_str())], fields].concat();
        let lines = [self.cookie_line(), FORM.to_owned()];
        SlowRequest::open(&self.host, "POST", path, &lines, encode(&fields).as_bytes()).await
    }

    /// Sends a form in parts with the token, of which one is a file of this name.
    pub async fn upload(&mut self, path: &str, name: &str, file: &[u8]) -> Page {
        let body = self.parts(name, file);
        self.send_bytes("POST", path, &[PARTS], &body).await
    }

    /// As [`Visitor::upload`], but for the end of the form; gives what is left to do.
    pub async fn upload_slowly(&mut self, path: &str, name: &str, file: &[u8]) -> SlowRequest {
        let lines = [self.cookie_line(), PARTS.to_owned()];
        SlowRequest::open(&self.host, "POST", path, &lines, &self.parts(name, file)).await
    }

    fn parts(&self, name: &str, file: &[u8]) -> Vec<u8> {
        let token = self.cookie(CSRF).expect("every page brings a token");
        let head = format!(
            "--parts\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n\
             --parts\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"file\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        [head.as_bytes(), file, b"\r\n--parts--\r\n"].concat()
    }

    /// The line of a head with its cookies.
    pub fn cookie_line(&self) -> String {
        let pairs: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("Cookie: {}", pairs.join("; "))
    }

    /// Sends any request.
    pub async fn send(&mut self, method: &str, path: &str, headers: &[&str], body: &str) -> Page {
        self.send_bytes(method, path, headers, body.as_bytes())
            .await
    }

    async fn send_bytes(
        &mut self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Page {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            self.host
        );
        if !self.cookies.is_empty() {
            head += &format!("{}\r\n", self.cookie_line());
        }
        for line in headers {
            head += &format!("{line}\r\n");
        }
        if method == "POST" {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut socket = TcpStream::connect(&self.host).await.unwrap();
        socket
            .write_all(&[head.as_bytes(), b"\r\n", body].concat())
            .await
            .unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        // Of a picture the head is all that can be read.
        let answer = String::from_utf8_lossy(&answer);
        record::note(
            &format!("{head}\r\n{}", String::from_utf8_lossy(body)),
            &answer,
        );
        let page = Page::parse(&answer);
        for cookie in page.headers("set-cookie") {
            self.keep(cookie);
        }
        page
    }

    fn keep(&mut self, cookie: &str) {
        let (pair, attributes) = cookie.split_once("; ").unwrap_or((cookie, ""));
        let (name, value) = pair.split_once('=').expect("a cookie has a name");
        if attributes.contains("Max-Age=0") {
            self.cookies.remove(name);
        } else {
            note_secret(value);
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// What screen readers call a button, of which this is all that follows the beginning of its tag.
fn button_name(rest: &str) -> &str {
    let (attributes, rest) = rest.split_once('>').expect("a tag has an end");
    match attributes.split_once("aria-label=\"") {
        Some((_, label)) => label.split('"').next().unwrap_or_default(),
        None => rest.split('<').next().unwrap_or_default(),
    }
}

fn encode(fields: &[(&str, &str)]) -> String {
    let escape = |text: &str| {
        let bytes = text.bytes().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        });
        bytes.collect::<String>()
    };
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}
