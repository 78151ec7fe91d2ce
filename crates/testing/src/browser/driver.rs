//! One chromedriver with one browser: their processes, and the protocol spoken with them
//! (WebDriver, JSON over HTTP).

use std::collections::HashSet;
use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const RUN: &str = include_str!("driver.sh");
/// What comes before the port on the line by which a driver says that it is ready.
const READY: &str = "started successfully on port ";
/// How long a page may load, and a script run, before the driver gives up.
pub(super) const PAGE_PATIENCE: Duration = Duration::from_secs(60);
/// How long the driver may take for an answer: longer than for anything it waits for itself, of
/// which the start of a browser is the longest, with a minute.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);
/// How long it may take when something has gone wrong already.
pub(super) const LITTLE_PATIENCE: Duration = Duration::from_secs(5);

/// Where the two programs are.
pub(super) struct Programs {
    driver: PathBuf,
    browser: PathBuf,
}

impl Programs {
    /// The headless shell, where there is one: the engine without the rest of the browser takes
    /// half of the processor time.
    pub(super) fn find() -> Option<Self> {
        let shell = on_path(&["chromium-headless-shell"]).zip(on_path(&["chromedriver"]));
        let shell = shell.map(|(browser, driver)| Self { driver, browser });
        shell.or_else(Self::find_whole)
    }

    /// The browser with all that it has, such as notifications of the system.
    pub(super) fn find_whole() -> Option<Self> {
        let driver = on_path(&["chromedriver"])?;
        let browser = on_path(&["chromium", "chromium-browser", "google-chrome"])?;
        Some(Self { driver, browser })
    }
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let directories: Vec<PathBuf> = env::split_paths(&path).collect();
    names.iter().find_map(|name| {
        directories
            .iter()
            .map(|dir| dir.join(name))
            .find(|file| file.is_file())
    })
}

/// A driver and its session, which is one browser. Both end with this value.
pub(super) struct Driver {
    keeper: Child,
    port: u16,
    /// Path of the session; empty until there is one.
    session: String,
    /// Origins of which pages were opened.
    origins: Mutex<HashSet<String>>,
}

impl Driver {
    pub(super) fn start(programs: &Programs, javascript: bool) -> Result<Self, String> {
        // The driver takes one port for IPv6 and IPv4, which somebody may have for one of them.
        let mut attempts = 0;
        let mut driver = loop {
            attempts += 1;
            match Self::launch(&programs.driver) {
                Err(text) if attempts < 5 && text.contains("Address already in use") => {}
                launched => break launched?,
            }
        };
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities(&programs.browser, javascript) } });
        let made = driver.ask("POST", "/session", Some(&wanted), PATIENCE)?;
        let id = made["sessionId"]
            .as_str()
            .ok_or("the driver made a session without an id")?;
        driver.session = format!("/session/{id}");
        Ok(driver)
    }

    fn launch(program: &Path) -> Result<Self, String> {
        let keeper = Command::new("sh")
            .args(["-c", RUN, "driver.sh"])
            .arg(program)
            // What the browser downloads goes where it works.
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // An interrupt at the terminal ends the tests; then it ends the browser in order.
            .process_group(0)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut driver = Self {
            keeper,
            port: 0,
            session: String::new(),
            origins: Mutex::default(),
        };
        let said = lines_of(
            driver
                .keeper
                .stdout
                .take()
                .expect("standard output is a pipe"),
        );
        driver.port = port_of(&said)?;
        Ok(driver)
    }

    /// Makes the browser what it was when it started: one empty tab, without cookies, data of
    /// pages, permissions and lines in its log.
    pub(super) fn empty(&self) -> Result<(), String> {
        let call = |method: &str, path: &str, body: Value| {
            self.call(method, path, Some(&body), LITTLE_PATIENCE)
        };
        let command = |name: &str, parameters: Value| {
            call(
                "POST",
                "/goog/cdp/execute",
                json!({ "cmd": name, "params": parameters }),
            )
        };
        // Emulation, network conditions and scripts of the developer tools end with their tab.
        let old = call("GET", "/window/handles", Value::Null)?;
        let new = call("POST", "/window/new", json!({ "type": "tab" }))?["handle"].take();
        for handle in old.as_array().into_iter().flatten() {
            call("POST", "/window", json!({ "handle": handle }))?;
            call("DELETE", "/window", Value::Null)?;
        }
        call("POST", "/window", json!({ "handle": new }))?;
        for origin in self
            .origins
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain()
        {
            command(
                "Storage.clearDataForOrigin",
                json!({ "origin": origin, "storageTypes": "all" }),
            )?;
        }
        command("Page.bringToFront", json!({}))?;
        command("Network.clearBrowserCookies", json!({}))?;
        command("Network.clearBrowserCache", json!({}))?;
        command("Browser.resetPermissions", json!({}))?;
        call("POST", "/se/log", json!({ "type": "browser" }))?;
        Ok(())
    }

    /// Records the origin of an address, so that [`Driver::empty`] clears its data.
    pub(super) fn note_origin(&self, url: &str) {
        // `scheme://host:port`, which the third slash ends.
        let end = url
            .match_indices('/')
            .nth(2)
            .map_or(url.len(), |(at, _)| at);
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        origins.insert(url[..end].to_owned());
    }

    /// Asks something of the session, and gives the value of the answer, or what went wrong.
    pub(super) fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Duration,
    ) -> Result<Value, String> {
        self.ask(method, &format!("{}{path}", self.session), body, patience)
    }

    fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Duration,
    ) -> Result<Value, String> {
        let body = body
            .filter(|body| !body.is_null())
            .map(Value::to_string)
            .unwrap_or_default();
        let (status, text) = exchange(self.port, method, path, &body, patience)
            .map_err(|error| format!("chromedriver did not answer {method} {path}: {error}"))?;
        let mut answer: Value = serde_json::from_str(&text).map_err(|error| {
            format!("chromedriver answered {method} {path} with {text:?}: {error}")
        })?;
        let value = answer["value"].take();
        if status == 200 {
            return Ok(value);
        }
        let word = |key: &str| value[key].as_str().unwrap_or("?").to_owned();
        Err(format!("{}: {}", word("error"), word("message")))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // What does not end by itself is killed below.
            let _ = self.ask("DELETE", &self.session, None, LITTLE_PATIENCE);
        }
        // Closes the pipe first, which tells it to kill the driver and what is left of the browser.
        let _ = self.keeper.wait();
    }
}

fn capabilities(browser: &Path, javascript: bool) -> Value {
    let milliseconds = PAGE_PATIENCE.as_millis();
    // Not by a preference of the profile, which the headless shell does not read.
    let scripts = format!("--blink-settings=scriptEnabled={javascript}");
    json!({
        "timeouts": { "pageLoad": milliseconds, "script": milliseconds },
        "goog:loggingPrefs": { "browser": "ALL" },
        "goog:chromeOptions": {
            "binary": browser,
            "args": [
                "--headless=new",
                // Chromium's sandbox refuses to run as root, and cannot in many containers. Tests
                // do run as root, and show the browser nothing but their own pages.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                // Whatever is not on this machine cannot be reached, not even by a proxy.
                "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
                "--no-proxy-server",
                scripts,
            ],
        },
    })
}

/// The lines of a pipe, which is read to its end whether they are wanted or not: a driver must not
/// wait for a reader.
fn lines_of(pipe: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

fn port_of(said: &Receiver<String>) -> Result<u16, String> {
    let mut before = String::new();
    while let Ok(line) = said.recv_timeout(PATIENCE) {
        if let Some((_, port)) = line.split_once(READY) {
            let port = port.trim_end_matches('.');
            return port
                .parse()
                .map_err(|_| format!("chromedriver is on a strange port: {line}"));
        }
        before = before + &line + "\n";
    }
    Err(format!("chromedriver named no port, but said: {before}"))
}

/// One request and its answer: status and body.
fn exchange(
    port: u16,
    method: &str,
    path: &str,
    body: &str,
    patience: Duration,
) -> io::Result<(u16, String)> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .ok_or(wrong("no status"))?;
    let mut length = None;
    loop {
        line.clear();
        answer.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
        }
    }
    let mut bytes = vec![0; length.ok_or(wrong("no length"))?];
    answer.read_exact(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8"))?;
    Ok((status, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn children(process: u32) -> Vec<u32> {
        let threads = fs::read_dir(format!("/proc/{process}/task")).expect("the process is there");
        // A thread may be gone by now; its children are another's then.
        let lists = threads
            .flatten()
            .map(|thread| fs::read_to_string(thread.path().join("children")));
        let all = lists.flatten().collect::<String>();
        all.split_whitespace()
            .map(|id| id.parse().expect("a number"))
            .collect()
    }

    fn argument(process: u32, name: &str) -> Option<String> {
        let line =
            fs::read_to_string(format!("/proc/{process}/cmdline")).expect("the process is there");
        line.split(['\0', ' '])
            .find_map(|word| word.strip_prefix(name))
            .map(ToOwned::to_owned)
    }

    #[test]
    fn nothing_of_a_browser_stays_behind() {
        let Some(programs) = super::super::programs(Programs::find) else {
            return;
        };
        let driver = Driver::start(&programs, true).expect("it starts");
        let port = driver.port;
        let browser = children(driver.keeper.id())
            .into_iter()
            .flat_map(children)
            .find(|process| argument(*process, "--user-data-dir=").is_some())
            .expect("the driver has a browser");
        let profile = argument(browser, "--user-data-dir=").expect("it has one");
        assert!(Path::new(&profile).is_dir());

        drop(driver);
        // Of a process that has ended and was not waited for yet there is still an empty file.
        let command = fs::read(format!("/proc/{browser}/cmdline")).unwrap_or_default();
        assert!(command.is_empty(), "the browser's process");
        assert!(!Path::new(&profile).exists(), "the profile");
        assert!(
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(),
            "the driver"
        );
    }

    #[test]
    fn a_driver_that_fails_is_told_from_one_that_is_slow() {
        let programs = Programs {
            driver: "/bin/false".into(),
            browser: "/bin/false".into(),
        };
        let Err(text) = Driver::start(&programs, true) else {
            panic!("nothing can have started")
        };
        assert_eq!(text, "chromedriver named no port, but said: ");
    }
}
