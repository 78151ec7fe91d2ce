//! The unit for systemd, and the changes to it that documents show.

use std::fs;
use std::path::Path;
use std::process::Command;

use eddyline_tests::{eddyline, snippets};
use tempfile::TempDir;

use super::{checker, file, output_of, text};

const UNIT: &str = "deploy/systemd/eddyline.service";
/// How exposed systemd may call the unit, in tenths: above 20 it is no longer "OK".
const EXPOSURE: &str = "--threshold=15";

/// The unit with the binary of this build, in a directory. Gives its path.
fn with_own_binary(directory: &TempDir) -> std::path::PathBuf {
    let program = eddyline().get_program().to_str().unwrap().to_owned();
    let path = directory.path().join("eddyline.service");
    fs::write(&path, text(UNIT).replace("/usr/bin/eddyline", &program)).unwrap();
    path
}

/// Verifies a unit, but not the units that it names, which are the machine's, nor its pages, which
/// are not installed.
fn verify(analyze: &mut Command, unit: &Path) {
    let options = ["verify", "--recursive-errors=no", "--man=no"];
    let said = output_of(analyze.args(options).arg(unit));
    let name = unit.file_name().unwrap().to_str().unwrap();
    assert!(!said.contains(name), "{said}");
}

#[test]
fn the_unit_names_a_command_that_exists() {
    let unit = text(UNIT);
    let (_, start) = unit.split_once("ExecStart=/usr/bin/eddyline ").unwrap();
    let start = start.lines().next().unwrap();
    output_of(eddyline().args(start.split(' ')).arg("--help"));
}

#[test]
fn the_unit_is_right() {
    let Some(mut analyze) = checker("systemd-analyze") else {
        return;
    };
    let directory = TempDir::new().unwrap();
    verify(&mut analyze, &with_own_binary(&directory));
}

#[test]
fn the_unit_exposes_little() {
    let Some(mut analyze) = checker("systemd-analyze") else {
        return;
    };
    output_of(
        analyze
            .args(["security", "--offline=true", EXPOSURE])
            .arg(file(UNIT)),
    );
}

/// What the standby may do, and how it is started, differs from the server only where it must.
#[test]
fn the_standby_is_as_the_server() {
    let lines = |path: &str| -> Vec<String> {
        let unit = text(path);
        let (_, service) = unit.split_once("\n[Service]\n").unwrap();
        let lines = service.lines().take_while(|line| *line != "[Install]");
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    let (server, standby) = (
        lines(UNIT),
        lines("deploy/systemd/eddyline-standby.service"),
    );
    // Without it the start of the second process makes the sockets of the first one blocking.
    assert!(
        server.contains(&"NonBlocking=true".to_owned()),
        "{server:?}"
    );
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        let lines = one.iter().filter(|line| !other.contains(line));
        lines.cloned().collect()
    };
    assert_eq!(
        only(&server, &standby),
        [
            "ExecStart=/usr/bin/eddyline serve --config /etc/eddyline/eddyline.toml",
            "ExecReload=/bin/kill -HUP $MAINPID",
            "Restart=on-failure",
            "RestartSec=2",
            "RuntimeDirectory=eddyline",
        ]
    );
    assert_eq!(
        only(&standby, &server),
        [
            "Sockets=eddyline-api.socket eddyline-stream.socket",
            "ExecStart=/usr/bin/eddyline serve --config /etc/eddyline/eddyline.toml --metrics-listen 127.0.0.1:0",
            "RuntimeDirectory=eddyline-standby",
        ]
    );
}

/// The sockets have the addresses at which the server listens by itself.
#[test]
fn the_sockets_are_those_of_the_server() {
    let help = output_of(eddyline().args(["serve", "--help"]));
    for name in ["api", "stream"] {
        let unit = text(&format!("deploy/systemd/eddyline-{name}.socket"));
        assert!(
            unit.contains(&format!("\nFileDescriptorName={name}\n")),
            "{unit}"
        );
        let address = unit
            .lines()
            .find_map(|line| line.strip_prefix("ListenStream="));
        assert!(help.contains(address.unwrap()), "{unit}");
    }
}

#[test]
fn changes_of_the_documents_suit_the_unit() {
    let root = file("");
    let blocks = snippets::blocks(&root).unwrap();
    let changes: Vec<_> = blocks
        .iter()
        .filter(|block| block.language == "ini")
        .filter(|block| {
            ["[Service]", "[Socket]"]
                .iter()
                .any(|of| block.text.contains(of))
        })
        .collect();
    assert!(!changes.is_empty(), "no document changes the unit");
    for change in changes {
        let Some(mut analyze) = checker("systemd-analyze") else {
            return;
        };
        let directory = TempDir::new().unwrap();
        let unit = with_own_binary(&directory);
        let changed = match change.text.contains("[Socket]") {
            true => "eddyline-api.socket",
            false => "eddyline.service",
        };
        let sockets = text("deploy/systemd/eddyline-api.socket");
        fs::write(directory.path().join("eddyline-api.socket"), sockets).unwrap();
        let folder = directory.path().join(format!("{changed}.d"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("override.conf"), &change.text).unwrap();
        analyze.env(
            "SYSTEMD_UNIT_PATH",
            format!("{}:", directory.path().display()),
        );
        verify(&mut analyze, &unit.with_file_name(changed));
    }
}
