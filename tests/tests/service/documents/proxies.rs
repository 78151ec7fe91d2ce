//! Configuration of reverse proxies, which the proxies themselves check where they are installed. What
//! the documents show is what `deploy` has.

use std::io::Write as _;
use std::process::Command;
use std::{env, fs, io};

use eddyline_tests::Certificate;
use tempfile::TempDir;

use super::{Block, blocks_in, place, root};

/// What the documents show of a proxy is its file in `deploy`, without the comment at its start.
fn are_the_file(blocks: &[Block], path: &str) {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let (_, shown) = text.split_once('\n').unwrap();
    for block in blocks {
        assert_eq!(block.text, shown, "{} shows {path}", place(block));
    }
}

/// Whether a program is installed. Where it is not, its check is passed over, with a line that says
/// so; where `EDDYLINE_TEST_REQUIRE` names `proxies` it fails.
pub(crate) fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("-v").output().is_ok();
    if !found {
        let required = env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("proxies"));
        assert!(
            !required,
            "{program} is required by EDDYLINE_TEST_REQUIRE and was not found"
        );
        // Past the test harness, which would show it for failed tests only.
        let _ = writeln!(
            io::stderr(),
            "eddyline tests: {program} is not installed; its check is passed over"
        );
    }
    found
}

#[test]
fn configurations_of_nginx_are_right() {
    let blocks = blocks_in(&["nginx"]);
    are_the_file(&blocks, "deploy/nginx/eddyline.conf");
    if !is_installed("nginx") {
        return;
    }
    let directory = TempDir::new().unwrap();
    let at = directory.path().display();
    Certificate::new("chat.example.org").write(directory.path());
    for block in blocks {
        // Addresses and files that a test may have.
        let server = block
            .text
            .replace("listen 443", &format!("listen unix:{at}/socket"));
        let server = server.replace("/etc/ssl/chat.example.org.pem", &format!("{at}/cert.pem"));
        let server = server.replace("/etc/ssl/chat.example.org.key", &format!("{at}/key.pem"));
        let file = directory.path().join("nginx.conf");
        let text = format!(
            "pid {at}/nginx.pid; error_log stderr; events {{}} http {{ access_log off; {temporary}\n{server}}}",
            temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map(|name| format!("{name}_temp_path {at}/{name};"))
                .join(" ")
        );
        fs::write(&file, text).unwrap();
        let output = Command::new("nginx")
            .arg("-t")
            .arg("-c")
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", place(&block));
    }
}

#[test]
fn configurations_of_caddy_are_right() {
    are_the_file(&blocks_in(&["caddyfile"]), "deploy/caddy/Caddyfile");
    if !is_installed("caddy") {
        return;
    }
    let directory = TempDir::new().unwrap();
    for path in ["deploy/caddy/Caddyfile", "deploy/compose/Caddyfile"] {
        let mut command = Command::new("caddy");
        command
            .args(["validate", "--adapter", "caddyfile", "--config"])
            .arg(root().join(path));
        let output = command
            .env("HOME", directory.path())
            .env("CHAT_HOST", "chat.example.org")
            .env("FILES_HOST", "files.chat.example.org")
            .env_remove("XDG_DATA_HOME")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{path}: {said}");
    }
}
