//! Takes the pictures of the README, of the demonstration in a real browser: `just screenshots`.

use std::io::{self, BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::{env, fs};

use eddyline_testing::browser::Browser;
use eddyline_tests::eddyline;
use serde_json::json;

const FLOW: &str = "/app/demo/main";
const CHAT: &str = "#chat article";
const THREAD: &str = "#thread article";

/// A page as it is shown.
struct Picture {
    name: &'static str,
    theme: &'static str,
    size: (u32, u32),
    /// What is done on the page of the flow, before the element is waited for.
    script: &'static str,
    shows: &'static str,
}

const PICTURES: [Picture; 6] = [
    Picture {
        name: "flow",
        theme: "light",
        size: (1700, 950),
        script: OPEN_THREAD,
        shows: THREAD,
    },
    Picture {
        name: "flow-dark",
        theme: "dark",
        size: (1280, 800),
        script: "",
        shows: CHAT,
    },
    Picture {
        name: "switcher",
        theme: "light",
        size: (1280, 800),
        script: "document.querySelector('[data-do=jump]').click()",
        shows: "[role=option]",
    },
    Picture {
        name: "chat-narrow",
        theme: "light",
        size: (360, 780),
        script: "",
        shows: CHAT,
    },
    Picture {
        name: "inbox-narrow-dark",
        theme: "dark",
        size: (360, 780),
        script: "document.querySelector('.both [href$=\"/inbox\"]').click()",
        shows: "#inbox li",
    },
    Picture {
        name: "thread-narrow",
        theme: "light",
        size: (360, 780),
        script: OPEN_THREAD,
        shows: THREAD,
    },
];

const OPEN_THREAD: &str = "document.querySelector('#inbox a').click()";

/// Ends the demonstration with this program, however that ends.
struct Demonstration {
    child: Child,
    /// What it prints. It would end where this is closed.
    out: Lines<BufReader<ChildStdout>>,
}

impl Drop for Demonstration {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images"),
        PathBuf::from,
    );
    fs::create_dir_all(&folder)?;
    let (_demonstration, link) = demonstrate()?;
    let browser = Browser::start().ok_or_else(|| io::Error::other("there is no browser"))?;
    browser.open(&link);
    browser.press("Sign in as Ada Lovelace");
    let (origin, _) = link
        .split_once("/sign-in/")
        .ok_or_else(|| io::Error::other("the link has another form"))?;
    for picture in &PICTURES {
        let name = format!("{}.png", picture.name);
        fs::write(folder.join(name), take(&browser, origin, picture))?;
    }
    Ok(())
}

/// Starts the demonstration, and gives the link that signs in.
fn demonstrate() -> io::Result<(Demonstration, String)> {
    let mut child = eddyline()
        .args([
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--stream-listen",
            "127.0.0.1:0",
        ])
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take();
    let out = out.ok_or_else(|| io::Error::other("the demonstration has no output"))?;
    let mut demonstration = Demonstration {
        child,
        out: BufReader::new(out).lines(),
    };
    while let Some(line) = demonstration.out.next().transpose()? {
        if line.contains("/sign-in/") {
            return Ok((demonstration, line.trim().to_owned()));
        }
    }
    Err(io::Error::other("the demonstration printed no link"))
}

fn take(browser: &Browser, origin: &str, picture: &Picture) -> Vec<u8> {
    let (width, height) = picture.size;
    browser.set_window_size(width, height);
    let theme = json!({"name": "prefers-color-scheme", "value": picture.theme});
    let still = json!({"name": "prefers-reduced-motion", "value": "reduce"});
    browser.command(
        "Emulation.setEmulatedMedia",
        &json!({"features": [theme, still]}),
    );
    browser.open(&format!("{origin}{FLOW}"));
    browser.wait_for("document.documentElement.dataset.ready !== undefined");
    browser.execute(picture.script);
    browser.wait_for(&format!(
        "document.querySelector('{}')?.checkVisibility() && document.documentElement.dataset.ready !== undefined
         && [...document.images].every((image) => image.complete)",
        picture.shows
    ));
    // A link that a script gave the focus to has the ring of the keyboard, which pointers do not show.
    browser.execute("if (document.activeElement.matches('a')) document.activeElement.blur()");
    browser.execute("return document.fonts.ready.then(() => null)");
    browser.screenshot()
}
