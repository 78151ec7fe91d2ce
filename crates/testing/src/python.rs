//! A Python that has the modules that a test's helper wants.

use std::env;
use std::process::{Command, Stdio};

use crate::say;

/// The command of a Python that can import all of these modules: the system's, or another that
/// comes first on the path. Where there is none, `None` is given, with a line that says that tests
/// which need `part` are passed over.
///
/// ```no_run
/// use eddyline_testing::python;
///
/// let Some(python) = python::with("authlib", &["authlib", "requests"]) else { return };
/// // … start it …
/// ```
///
/// # Panics
/// When there is none and `EDDYLINE_TEST_REQUIRE` names `part`.
pub fn with(part: &str, modules: &[&str]) -> Option<&'static str> {
    let found = find(modules);
    if found.is_none() {
        miss(
            part,
            modules,
            &env::var("EDDYLINE_TEST_REQUIRE").unwrap_or_default(),
        );
    }
    found
}

fn find(modules: &[&str]) -> Option<&'static str> {
    let import = format!("import {}", modules.join(", "));
    ["/usr/bin/python3", "python3"].into_iter().find(|python| {
        let mut command = Command::new(python);
        command
            .args(["-c", &import])
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

/// Goes on without, unless the part is among the required ones.
fn miss(part: &str, modules: &[&str], required: &str) {
    let missing = modules.join(" and ");
    let required = required.split(',').any(|known| known.trim() == part);
    assert!(
        !required,
        "{part} is required by EDDYLINE_TEST_REQUIRE, and no Python has {missing}"
    );
    say(&format!(
        "no Python has {missing}; tests that need {part} are passed over"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_python_has_is_passed_over_unless_it_is_required() {
        assert_eq!(find(&["sys", "no_module_has_this_name"]), None);
        miss("snakes", &["no_module_has_this_name"], "postgres,cobras");
        miss("snakes", &["no_module_has_this_name"], "sea-snakes");
    }

    #[test]
    #[should_panic(expected = "snakes is required")]
    fn what_is_required_and_missing_fails() {
        miss("snakes", &["no_module_has_this_name"], "postgres, snakes");
    }
}
