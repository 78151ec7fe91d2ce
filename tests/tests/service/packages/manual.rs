//! Manual pages and completions, by the programs that read them.

use std::fs;
use std::process::Command;

use eddyline_tests::eddyline;
use tempfile::TempDir;

use super::{checker, output_of};

#[test]
fn the_pages_are_right() {
    let directory = TempDir::new().unwrap();
    let pages = directory.path().join("man1");
    output_of(eddyline().arg("man").arg(&pages));
    let names: Vec<_> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(names.len() > 50, "{}", names.len());
    let main = fs::read_to_string(pages.join("eddyline.1")).unwrap();
    assert_eq!(output_of(eddyline().arg("man")), main);
    let Some(mut groff) = checker("groff") else {
        return;
    };
    let said = output_of(groff.args(["-man", "-ww", "-z", "-Tutf8"]).args(&names));
    assert_eq!(said, "");
}

#[test]
fn every_command_has_a_page_that_the_main_page_names() {
    let main = output_of(eddyline().arg("man"));
    let help = output_of(eddyline().arg("--help"));
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  "))
        // The rest of an explanation.
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.contains(&"completions"), "{names:?}");
    for name in names {
        assert!(main.contains(&format!("eddyline\\-{name}(1)")), "{name}");
    }
}

#[test]
fn shells_take_the_completions() {
    let directory = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = output_of(eddyline().args(["completions", shell]));
        assert!(script.contains("healthcheck"), "{shell}");
        let file = directory.path().join(shell);
        fs::write(&file, script).unwrap();
        let is_installed = Command::new(shell).arg("--version").output().is_ok();
        if is_installed {
            output_of(Command::new(shell).arg("-n").arg(&file));
        }
    }
    let refused = eddyline().args(["completions", "abacus"]).output().unwrap();
    assert!(!refused.status.success());
}

#[test]
fn bash_completes_an_option() {
    let script = output_of(eddyline().args(["completions", "bash"]));
    let ask = "COMP_WORDS=(eddyline serve --data); COMP_CWORD=2
               _eddyline eddyline --data serve; echo \"${COMPREPLY[@]}\"";
    // It is longer than an argument may be.
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("completions.bash");
    fs::write(&file, format!("{script}\n{ask}")).unwrap();
    let printed = output_of(Command::new("bash").arg(&file));
    assert_eq!(printed.trim(), "--data-dir --database");
}
