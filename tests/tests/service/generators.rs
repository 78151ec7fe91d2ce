//! Generators of others make clients from the OpenAPI document, in three languages. What they make
//! compiles, and each client plays the same scenario (`tests/generated`): it lists flows, posts,
//! finds what it posted, edits it, is refused with an error that has a type, and lists users.
//!
//! Where a generator is not installed, its test is passed over, with a line that says so; where
//! `EDDYLINE_TEST_REQUIRE` names `generators` it fails.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use eddyline_client::Json;
use eddyline_tests::{Backend, Python, Tenant, converse, run_on_shared, run_program};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/generated");

#[test]
fn a_client_in_python_gets_along() {
    run_on_shared(Backend::Sqlite, |tenant| async move {
        let Some(python) = Python::with("generators", &["openapi_python_client"]) else {
            return;
        };
        let directory = TempDir::new().unwrap();
        write_document(&tenant, &directory.path().join("openapi.json")).await;
        let mut about = about(&tenant).await;
        about["directory"] = json!(directory.path());
        let answer: Json = python
            .run(include_str!("../../generated/python/scenario.py"), &about)
            .await;
        has_edited(&tenant, &answer, "Edited in Python").await;
        // It knows neither bodies nor answers of other types than JSON and forms.
        let left_out = [
            "GET /avatars/{avatar}",
            "GET /avatars/{avatar}/{size}",
            "GET /download/{link}/{name}",
            "PUT /users/{user}/avatar",
        ];
        assert_eq!(answer["left_out"], json!(left_out));
    });
}

#[test]
fn a_client_in_typescript_gets_along() {
    run_on_shared(Backend::Sqlite, |tenant| async move {
        let folder = Path::new(FOLDER).join("typescript");
        let packages = folder.join("node_modules");
        if is_missing(
            "the packages of tests/generated/typescript",
            packages.join(".bin/tsc").exists(),
        ) {
            return;
        }
        let directory = TempDir::new().unwrap();
        let directory = directory.path();
        write_document(&tenant, &directory.join("openapi.json")).await;
        for file in ["package.json", "scenario.ts", "tsconfig.json"] {
            fs::copy(folder.join(file), directory.join(file)).unwrap();
        }
        std::os::unix::fs::symlink(&packages, directory.join("node_modules")).unwrap();
        let tool = |name: &str| {
            let mut command = Command::new(packages.join(".bin").join(name));
            command.current_dir(directory);
            command
        };
        run_program(
            tool("openapi-typescript").args(["openapi.json", "--output", "schema.d.ts"]),
            "",
        )
        .await;
        run_program(&mut tool("tsc"), "").await;
        let mut scenario = Command::new("node");
        scenario.arg(directory.join("scenario.js"));
        let answer: Json = converse(&mut scenario, &about(&tenant).await).await;
        has_edited(&tenant, &answer, "Edited in TypeScript").await;
    });
}

#[test]
fn a_client_in_rust_gets_along() {
    // Once they have been fetched, the crates are here.
    let fetched = cargo("metadata")
        .args(["--format-version", "1"])
        .as_std_mut()
        .output()
        .unwrap();
    if is_missing(
        "the crates of tests/generated/rust",
        fetched.status.success(),
    ) {
        return;
    }
    // Under the same name each time, so that what depends on nothing else is compiled once.
    let document = target_directory().join("generated").join("openapi.json");
    fs::create_dir_all(document.parent().unwrap()).unwrap();
    run_on_shared(Backend::Sqlite, async |tenant| {
        write_document(&tenant, &document).await;
    });
    let client = |command: &str| {
        let mut cargo = cargo(command);
        cargo
            .args(["--quiet", "--target-dir"])
            .arg(target_directory())
            .env("OPENAPI_DOCUMENT", &document);
        cargo
    };
    // The first build takes longer than a test may, on a machine that is busy.
    let built = client("build").as_std_mut().status().unwrap();
    assert!(built.success());
    run_on_shared(Backend::Sqlite, async |tenant| {
        let mut run = client("run");
        let answer: Json = converse(&mut run, &about(&tenant).await).await;
        has_edited(&tenant, &answer, "Edited in Rust").await;
    });
}

/// A command of cargo for the project with the client, which takes nothing from the network.
fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([command, "--locked", "--offline", "--manifest-path"]);
    cargo.arg(Path::new(FOLDER).join("rust/Cargo.toml"));
    cargo
}

/// Where cargo puts what it builds: the test is TARGET/PROFILE/deps/NAME.
fn target_directory() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().nth(3).expect("it is that deep").to_owned()
}

/// Whether something is missing, without which the test is passed over.
fn is_missing(what: &str, is_there: bool) -> bool {
    if !is_there {
        let required =
            env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("generators"));
        assert!(
            !required,
            "{what} are required by EDDYLINE_TEST_REQUIRE and are not installed"
        );
        // Past the test harness, which would show it for failed tests only.
        let _ = writeln!(
            io::stderr(),
            "eddyline tests: {what} are not installed; a test is passed over"
        );
    }
    !is_there
}

async fn write_document(tenant: &Tenant, file: &Path) {
    let document = tenant.ben.get("/openapi.json").await;
    fs::write(file, document.to_string()).unwrap();
}

/// What a client is to know.
async fn about(tenant: &Tenant) -> Json {
    let robot = tenant.server().robot(&tenant.name, &[]);
    let tokens = robot.by_password(&tenant.ben, "flow").await;
    json!({
        "server": tenant.server().base_url(),
        "token": tokens["access_token"],
        "api_token": tenant.ben.token,
        "organization": tenant.name,
        "flow": "main",
        "nick": "ben",
    })
}

/// Makes sure that the client did what it says.
async fn has_edited(tenant: &Tenant, answer: &Json, text: &str) {
    let message = tenant
        .ben
        .get(&tenant.path(&format!("/messages/{}", answer["message"])))
        .await;
    assert_eq!(message["content"], text, "{message}");
}
