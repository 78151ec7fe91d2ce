//! No file speaks of the machine it was written on, or of anything outside the project.

use std::fs;

/// Taken apart, so that this file does not hold them.
const FORBIDDEN: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/home", "/"),
    concat!("registry", "/src"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("deb.", "debian.org"),
    concat!("pypi.", "org"),
    concat!("python", "hosted.org"),
    concat!("registry.", "npmjs.org"),
    concat!("proxy.", "golang.org"),
    concat!("decisions", ".md"),
    concat!("houses", ".md"),
    concat!("checklist", ".md"),
];

#[test]
fn no_file_speaks_of_machines_or_papers_outside() {
    let mut found = Vec::new();
    for path in super::files() {
        // What is not text has nothing to say.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            let words = FORBIDDEN.iter().filter(|word| line.contains(**word));
            found.extend(words.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
