//! The `eddyline` binary of the same build as the running test.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Path of the binary, brought up to date once per process. `EDDYLINE_TEST_BINARY` names another
/// one and spares the look.
fn path() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match env::var_os("EDDYLINE_TEST_BINARY") {
        Some(path) => path.into(),
        None => build(),
    })
}

/// A command that runs the binary, as yet without arguments. What the developer has set in the
/// environment for a server of their own does not reach it.
pub fn eddyline() -> Command {
    command_of(path())
}

/// The same of another binary.
pub(crate) fn command_of(path: &Path) -> Command {
    let mut command = Command::new(path);
    let own = env::vars_os().map(|(name, _)| name);
    for name in own.filter(|name| name.to_string_lossy().starts_with("EDDYLINE_")) {
        command.env_remove(name);
    }
    command
}

fn build() -> PathBuf {
    // The test is TARGET/PROFILE/deps/NAME; the binary belongs to TARGET/PROFILE/eddyline.
    let test = env::current_exe().unwrap();
    let directory = test.parent().and_then(Path::parent).unwrap();
    let profile = match directory.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        profile => profile,
    };
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // cargo tells each test about its package. ring's build script reads variables of these names,
    // so that with them ring would be compiled again, with all that stands on it, and once more at
    // the next build without them.
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| is_of_package(&name.to_string_lossy())) {
        cargo.env_remove(name);
    }
    // The whole workspace is selected so that the dependencies have the features they have in
    // `cargo test --workspace`: with others all would be compiled again.
    let output = cargo
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap())
        .args([
            "build",
            "--workspace",
            "--bin",
            "eddyline",
            "--profile",
            profile,
            "--target-dir",
        ])
        .arg(directory.parent().unwrap())
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the server cannot be built:\n{messages}"
    );
    directory.join("eddyline")
}

/// Whether cargo sets a variable of this name for the tests of a package.
fn is_of_package(name: &str) -> bool {
    name == "OUT_DIR"
        || ["CARGO_MANIFEST_", "CARGO_PKG_"]
            .iter()
            .any(|start| name.starts_with(start))
}
