//! The services of Compose.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use eddyline_client::Json;
use eddyline_testing::python;
use eddyline_tests::eddyline;
use serde_json::json;
use tempfile::TempDir;

use super::{are_known, file, is_pinned, output_of, pass_over, text};

const COMPOSE: &str = "deploy/compose/compose.yaml";

/// The documents of a file in YAML; `None` where nothing reads it.
pub(super) fn documents(path: &str) -> Option<Vec<Json>> {
    let python = python::with("packages", &["yaml"])?;
    let script = "import json, sys, yaml\n\
                  print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let printed = output_of(Command::new(python).args(["-c", script]).arg(file(path)));
    Some(serde_json::from_str(&printed).unwrap())
}

fn services() -> Option<serde_json::Map<String, Json>> {
    let read = documents(COMPOSE)?;
    Some(read[0]["services"].as_object().unwrap().clone())
}

fn variables(service: &Json) -> impl Iterator<Item = (&str, &str)> {
    let pairs = service["environment"].as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
}

#[test]
fn containers_have_no_rights_and_write_into_volumes_only() {
    for (name, service) in services().into_iter().flatten() {
        let user = service["user"].as_str().unwrap();
        assert!(
            !user.starts_with('0') && user.contains(':'),
            "{name}: {user}"
        );
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"], json!(["ALL"]), "{name}");
        let added = service.get("cap_add");
        let is_fixed = service["security_opt"] == json!(["no-new-privileges:true"]);
        // The proxy has its one right as a capability of its file.
        assert_ne!(is_fixed, added.is_some(), "{name}");
        assert!(
            added.is_none_or(|added| *added == json!(["NET_BIND_SERVICE"])),
            "{name}"
        );
        assert!(
            service["healthcheck"]["test"][0] == "CMD",
            "{name} needs no shell"
        );
    }
}

#[test]
fn images_have_versions() {
    let example = text("deploy/compose/.env.example");
    for (name, service) in services().into_iter().flatten() {
        let image = service["image"].as_str().unwrap();
        let own = example
            .lines()
            .find_map(|line| line.strip_prefix("EDDYLINE_IMAGE="));
        let image = if name == "eddyline" {
            own.unwrap()
        } else {
            image
        };
        assert!(is_pinned(image), "{name}: {image}");
    }
}

#[test]
fn volumes_and_secrets_are_there() {
    if !may_give_files_away() {
        return;
    }
    let Some(read) = documents(COMPOSE) else {
        return;
    };
    let directory = TempDir::new().unwrap();
    prepared(directory.path());
    let folder = directory.path().join("compose");
    for (name, secret) in read[0]["secrets"].as_object().unwrap() {
        let path = secret["file"].as_str().unwrap();
        assert!(folder.join(path).is_file(), "{name}: {path}");
    }
    for (name, service) in services().into_iter().flatten() {
        let files = service["env_file"].as_array().into_iter().flatten();
        for path in files.filter_map(Json::as_str) {
            assert!(folder.join(path).is_file(), "{name}: {path}");
        }
        let user = service["user"].as_str().unwrap();
        let volumes = service["volumes"].as_array().into_iter().flatten();
        for volume in volumes.filter_map(Json::as_str) {
            let path = volume.split(':').next().unwrap();
            let metadata = fs::metadata(folder.join(path))
                .unwrap_or_else(|error| panic!("{name}: {path}: {error}"));
            if volume.ends_with(":ro") {
                assert!(metadata.is_file(), "{name}: {path}");
            } else {
                let owner = format!("{}:{}", metadata.uid(), metadata.gid());
                assert!(
                    metadata.is_dir() && owner == user,
                    "{name}: {path}: {owner}"
                );
            }
        }
    }
}

/// The server trusts the address of the proxy only, not the whole network of the containers.
#[test]
fn only_the_proxy_is_trusted() {
    let Some(read) = documents(COMPOSE) else {
        return;
    };
    let services = &read[0]["services"];
    let address = services["caddy"]["networks"]["edge"]["ipv4_address"]
        .as_str()
        .unwrap();
    assert_eq!(
        services["eddyline"]["environment"]["EDDYLINE_TRUSTED_PROXY"],
        format!("{address}/32")
    );
}

#[test]
fn no_secret_is_in_a_file_of_the_project() {
    for (name, service) in services().into_iter().flatten() {
        for (variable, value) in variables(&service) {
            let is_secret = ["PASSWORD", "SECRET", "ACCESS_KEY"]
                .iter()
                .any(|word| variable.contains(word));
            assert!(
                !is_secret || (variable.ends_with("_FILE") && value.starts_with("/run/secrets/")),
                "{name}: {variable}"
            );
        }
    }
    let ignored = text("deploy/compose/.gitignore");
    for path in ["/.env", "/secrets", "/secrets.new", "/data"] {
        assert!(ignored.lines().any(|line| line == path), "{path}");
    }
}

#[test]
fn variables_of_the_server_are_options() {
    let Some(services) = services() else { return };
    are_known(
        variables(&services["eddyline"])
            .map(|(name, _)| name)
            .filter(|name| *name != "EDDYLINE_CONFIG"),
        COMPOSE,
    );
}

/// The value of a variable, with those of `.env` in the place of references.
fn interpolated(value: &str, known: &HashMap<&str, &str>) -> String {
    let mut value = value.to_owned();
    for (name, known) in known {
        while let Some(at) = value.find(&format!("${{{name}:?")) {
            let end = at + value[at..].find('}').unwrap();
            value.replace_range(at..=end, known);
        }
    }
    value
}

/// Whether files can be given to the users of the containers.
fn may_give_files_away() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        pass_over("deploy/compose/prepare needs root");
    }
    is_root
}

/// Prepares a copy of the folder.
fn prepared(directory: &Path) {
    output_of(
        Command::new("cp")
            .arg("-R")
            .arg(file("deploy/compose"))
            .arg(directory),
    );
    output_of(&mut Command::new(directory.join("compose/prepare")));
}

#[test]
fn what_is_prepared_starts_the_server() {
    if !may_give_files_away() {
        return;
    }
    let Some(services) = services() else { return };
    let directory = TempDir::new().unwrap();
    prepared(directory.path());
    let folder = directory.path().join("compose");
    let secret = folder.join("secrets/eddyline.toml");
    let before = fs::read_to_string(&secret).unwrap();
    for (name, owner) in [
        ("eddyline.toml", 65532),
        ("postgres-password", 999),
        // Compose reads it.
        ("garage.env", 0),
    ] {
        let metadata = fs::metadata(folder.join("secrets").join(name)).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!((mode, metadata.uid()), (0o400, owner), "{name}");
    }
    let password = fs::read_to_string(folder.join("secrets/postgres-password")).unwrap();
    assert!(
        password.len() >= 48 && before.contains(&password),
        "{before}"
    );

    let mode = fs::metadata(folder.join(".env"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644, "it has nothing secret");

    // Everything is taken before the missing certificate stops the server.
    let example = text("deploy/compose/.env.example");
    let known: HashMap<&str, &str> = example
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .collect();
    let mut command = eddyline();
    command.args([
        "serve",
        "--tls-cert",
        "missing.pem",
        "--tls-key",
        "missing.pem",
    ]);
    command.args(["--listen", "127.0.0.1:0", "--stream-listen", "127.0.0.1:0"]);
    for (name, value) in variables(&services["eddyline"]) {
        command.env(name, interpolated(value, &known));
    }
    let output = command.env("EDDYLINE_CONFIG", &secret).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("missing.pem"), "{said}");

    output_of(&mut Command::new(folder.join("prepare")));
    assert_eq!(fs::read_to_string(&secret).unwrap(), before, "secrets stay");
}

#[test]
fn secrets_agree_after_an_interruption() {
    if !may_give_files_away() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let folder = directory.path().join("compose");
    prepared(directory.path());
    let secrets = folder.join("secrets");
    let unfinished = folder.join("secrets.new");
    let read = |name: &str| fs::read_to_string(secrets.join(name)).unwrap();
    let password = read("postgres-password");

    // As it is when the first run ends before all secrets are made.
    fs::rename(&secrets, &unfinished).unwrap();
    fs::remove_file(unfinished.join("eddyline.toml")).unwrap();
    output_of(&mut Command::new(folder.join("prepare")));
    assert_ne!(read("postgres-password"), password);
    assert!(read("eddyline.toml").contains(&read("postgres-password")));
    assert!(!unfinished.exists());

    // One that was lost later is not made anew.
    fs::remove_file(secrets.join("postgres-password")).unwrap();
    let refused = Command::new(folder.join("prepare")).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(
        said.contains("secrets/postgres-password is missing"),
        "{said}"
    );
}
