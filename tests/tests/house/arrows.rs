//! The crates may know each other only along the arrows drawn here.

use std::process::Command;

use serde_json::Value;

/// Each crate with the crates it may know, all without the prefix `eddyline-`. Development
/// dependencies are free, since no user of a crate gets them.
const ARROWS: &[(&str, &[&str])] = &[
    ("syntax", &[]),
    ("model", &["syntax"]),
    ("wire", &["model"]),
    ("random", &[]),
    ("auth", &["model", "random"]),
    ("mail", &[]),
    ("acme", &[]),
    ("scim", &["model"]),
    ("pictures", &[]),
    ("avatars", &["pictures"]),
    ("files", &["pictures", "random"]),
    ("markup", &["syntax"]),
    ("openapi", &["model", "scim", "wire"]),
    ("outbound", &[]),
    ("syslog", &[]),
    ("webpush", &["random"]),
    ("streaming", &["model"]),
    ("sqlite-interrupt", &[]),
    ("postgres-tls", &[]),
    ("portable", &[]),
    (
        "storage",
        &[
            "model",
            "portable",
            "postgres-tls",
            "random",
            "sqlite-interrupt",
        ],
    ),
    (
        "app",
        &[
            "model",
            "wire",
            "auth",
            "avatars",
            "files",
            "mail",
            "markup",
            "outbound",
            "random",
            "scim",
            "streaming",
            "syslog",
            "webpush",
            "storage",
        ],
    ),
    ("http", &["app", "model", "openapi", "scim", "wire"]),
    ("web", &["app", "http", "markup", "model", "random", "wire"]),
    (
        "server",
        &[
            "acme",
            "app",
            "archive",
            "auth",
            "backup",
            "export",
            "files",
            "http",
            "import",
            "mail",
            "model",
            "outbound",
            "scim",
            "storage",
            "streaming",
            "syslog",
            "web",
            "wire",
        ],
    ),
    ("archive", &["markup", "random"]),
    (
        "export",
        &["archive", "backup", "files", "model", "storage"],
    ),
    (
        "import",
        &[
            "archive", "avatars", "files", "markup", "model", "random", "storage", "wire",
        ],
    ),
    ("backup", &["files", "model", "random", "storage"]),
    ("client", &["model", "random", "wire"]),
    ("example-host", &["app", "http", "model", "storage"]),
    ("testing", &[]),
    ("tests", &["client", "model", "testing", "wire"]),
    ("bench", &["client", "model", "storage", "testing", "wire"]),
];

pub(super) fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(super::root())
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The name of one of our crates without its prefix.
fn own(name: &Value) -> Option<&str> {
    name.as_str().unwrap().strip_prefix("eddyline-")
}

#[test]
fn every_crate_knows_only_the_crates_below_it() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = own(&package["name"]).expect("our crates begin with eddyline-");
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            wrong.push(format!("{name} has no place in the table of arrows"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let Some(known) = own(&dependency["name"]) else {
                continue;
            };
            if dependency["kind"] != "dev" && !allowed.contains(&known) {
                wrong.push(format!("{name} must not know {known}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
