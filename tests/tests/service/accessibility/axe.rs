//! What axe-core says of the page that a browser shows.

use std::io::Write as _;
use std::{env, fs, io};

use eddyline_testing::browser::Browser;
use serde_json::json;

const AXE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/axe/node_modules/axe-core/axe.min.js"
);
/// Gives a line for each element that breaks a rule, when colours that change have changed.
const JUDGE: &str =
    "return Promise.all(document.getAnimations().map((change) => change.finished))
    .then(() => axe.run(document, { resultTypes: ['violations'], ...RULES })).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
        `${id} at ${target.join(' ')}: ${failureSummary.replaceAll('\\n', ' ')}`)))";

/// Judges what `open` shows, in light and dark, narrow and wide. A theme changes colours and nothing
/// else, so that the other rules judge the light one only.
pub(super) fn judge_everywhere(
    browser: &Browser,
    axe: &str,
    open: &dyn Fn(),
    what: &str,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (width, height) in [(360, 640), (1440, 900)] {
        browser.set_window_size(width, height);
        set_theme(browser, "light");
        open();
        browser.add_script(axe);
        for (theme, rules) in [
            ("light", "{}"),
            (
                "dark",
                "{ runOnly: ['color-contrast', 'link-in-text-block'] }",
            ),
        ] {
            set_theme(browser, theme);
            let found = browser.execute(&JUDGE.replace("RULES", rules));
            let found: Vec<String> = serde_json::from_value(found).unwrap();
            let place = format!("{what} at {width} pixels in {theme}");
            faults.extend(found.into_iter().map(|fault| format!("{place}: {fault}")));
        }
    }
    faults
}

fn set_theme(browser: &Browser, theme: &str) {
    let features = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
    browser.command("Emulation.setEmulatedMedia", &features);
}

/// The text of axe-core, unless the test shall be passed over.
pub(super) fn axe() -> Option<String> {
    let text = fs::read_to_string(AXE).ok();
    if text.is_none() {
        let required = env::var("EDDYLINE_TEST_REQUIRE").is_ok_and(|list| list.contains("axe"));
        assert!(
            !required,
            "axe-core is required by EDDYLINE_TEST_REQUIRE and is not installed"
        );
        // Past the test harness, which would show it for failed tests only.
        let _ = writeln!(
            io::stderr(),
            "eddyline tests: the package of tests/axe is not installed; a test is passed over"
        );
    }
    text
}
