//! The Debian package.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use eddyline_tests::eddyline;
use tempfile::TempDir;

use super::{checker, file, output_of, text};

const CONFIGURATION: &str = "deploy/debian/eddyline.toml";

/// Makes the package of the binary of this build, which is taken for one that is built for release.
fn package(directory: &Path) -> PathBuf {
    let target = directory.join("target");
    fs::create_dir_all(target.join("release")).unwrap();
    let binary = PathBuf::from(eddyline().get_program());
    let copy = target.join("release/eddyline");
    if fs::hard_link(&binary, &copy).is_err() {
        fs::copy(&binary, &copy).unwrap();
    }
    let mut command = Command::new(file("deploy/package"));
    command.arg(directory).args(["--fast", "--no-strip"]);
    // What cargo tells this test is about another package.
    let own = env::vars().map(|(name, _)| name);
    for name in own.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("EDDYLINE_")) {
        command.env_remove(name);
    }
    output_of(command.env("CARGO_TARGET_DIR", &target));
    let mut made = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    made.find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .unwrap()
}

/// The one test that makes a package, because that takes ten seconds.
#[test]
fn the_package_has_all_that_is_needed() {
    let (Some(mut dpkg), Some(_)) = (checker("dpkg-deb"), checker("cargo-deb")) else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let package = package(directory.path());
    let about = output_of(dpkg.arg("--field").arg(&package));
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        about.contains(&format!("Version: {version}-1\n")),
        "{about}"
    );
    assert!(about.contains("Depends: libc6 ("), "{about}");
    let root = directory.path().join("root");
    output_of(
        Command::new("dpkg-deb")
            .arg("--extract")
            .arg(&package)
            .arg(&root),
    );
    let control = directory.path().join("control");
    output_of(
        Command::new("dpkg-deb")
            .arg("--control")
            .arg(&package)
            .arg(&control),
    );
    check_files(&root);
    check_scripts(&control);
    check_unit(&root);
}

fn check_files(root: &Path) {
    for (path, mode) in [
        ("usr/bin/eddyline", 0o755),
        ("etc/eddyline/eddyline.toml", 0o640),
        ("usr/lib/systemd/system/eddyline.service", 0o644),
        ("usr/lib/systemd/system/eddyline-api.socket", 0o644),
        ("usr/lib/systemd/system/eddyline-stream.socket", 0o644),
        ("usr/lib/systemd/system/eddyline-standby.service", 0o644),
        ("usr/lib/sysusers.d/eddyline.conf", 0o644),
        ("usr/share/man/man1/eddyline.1.gz", 0o644),
        ("usr/share/man/man1/eddyline-admin-org-create.1.gz", 0o644),
        ("usr/share/bash-completion/completions/eddyline", 0o644),
        ("usr/share/zsh/vendor-completions/_eddyline", 0o644),
        ("usr/share/fish/vendor_completions.d/eddyline.fish", 0o644),
        ("usr/share/doc/eddyline/copyright", 0o644),
        ("usr/share/doc/eddyline/changelog.Debian.gz", 0o644),
        ("usr/share/doc/eddyline/operating.md", 0o644),
    ] {
        let metadata =
            fs::metadata(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{path}");
    }
    let printed = output_of(Command::new(root.join("usr/bin/eddyline")).arg("--version"));
    assert_eq!(
        printed.trim(),
        format!("eddyline {}", env!("CARGO_PKG_VERSION"))
    );
}

fn check_scripts(control: &Path) {
    let read = |name: &str| fs::read_to_string(control.join(name)).unwrap();
    assert_eq!(read("conffiles").trim(), "/etc/eddyline/eddyline.toml");
    for name in ["postinst", "prerm", "postrm"] {
        output_of(Command::new("sh").arg("-n").arg(control.join(name)));
        assert!(!read(name).contains("#DEBHELPER#"), "{name}");
    }
    let (made, owned) = (
        read("postinst").find("systemd-sysusers"),
        read("postinst").find("chown"),
    );
    assert!(made.is_some() && made < owned, "the user is made first");
    assert!(
        read("postinst").contains("eddyline.conf"),
        "by the file that is installed"
    );
    assert!(
        read("postinst").contains("[ \"$1\" = configure ] && [ -z \"$2\" ]"),
        "an upgrade leaves owner and mode of the configuration"
    );
    let starts = ["deb-systemd-invoke start", "deb-systemd-invoke $_dh_action"];
    assert!(
        !starts.iter().any(|start| read("postinst").contains(start)),
        "only what runs is restarted"
    );
    assert!(read("postinst").contains("deb-systemd-invoke try-restart eddyline.service"));
    assert!(read("prerm").contains("deb-systemd-invoke stop eddyline.service"));
    let postinst = read("postinst");
    let place = |text: &str| {
        postinst
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {postinst}"))
    };
    assert!(
        place("start eddyline-standby") < place("try-restart eddyline.service")
            && place("try-restart eddyline.service") < place("stop eddyline-standby"),
        "a standby serves during the restart"
    );
    assert!(
        !postinst.contains("restart eddyline-")
            && read("prerm").contains("disable --now eddyline-api.socket"),
        "sockets close only when the package is removed"
    );
}

/// The unit and its user, in the tree of the package alone.
fn check_unit(root: &Path) {
    let (Some(mut analyze), Some(mut users)) =
        (checker("systemd-analyze"), checker("systemd-sysusers"))
    else {
        return;
    };
    // Of another package, procps.
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::copy("/bin/true", root.join("bin/kill")).unwrap();
    let root = format!("--root={}", root.display());
    let options = ["verify", "--recursive-errors=no", "--man=no", &root];
    let units = [
        "eddyline.service",
        "eddyline-api.socket",
        "eddyline-stream.socket",
        "eddyline-standby.service",
    ];
    let said = output_of(analyze.args(options).args(units));
    assert!(!said.contains("eddyline"), "{said}");
    let said = output_of(users.arg(&root).arg("eddyline.conf"));
    assert!(said.contains("Creating user 'eddyline'"), "{said}");
}

/// Every line of the configuration is one that the server takes, also those that are comments at
/// first.
#[test]
fn the_configuration_of_the_package_is_right() {
    let installed = text(CONFIGURATION);
    let whole: String = installed
        .lines()
        .filter(|line| !line.starts_with("# "))
        .map(|line| line.trim_start_matches('#').to_owned() + "\n")
        .map(|line| line.replace("smtp_password = \"\"", "smtp_password = \"secret\""))
        .collect();
    assert!(
        whole.contains("\nbase_url") && whole.contains("\ndatabase"),
        "{whole}"
    );
    let directory = TempDir::new().unwrap();
    for text in [installed, whole] {
        let configuration = directory.path().join("eddyline.toml");
        fs::write(&configuration, text).unwrap();
        let mut command = eddyline();
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--stream-listen",
            "127.0.0.1:0",
        ]);
        // Everything in the file is taken before the missing certificate stops the server.
        command.args(["--tls-cert", "missing.pem", "--tls-key", "missing.pem"]);
        let output = command
            .arg("--config")
            .arg(&configuration)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("missing.pem"), "{said}");
    }
}
