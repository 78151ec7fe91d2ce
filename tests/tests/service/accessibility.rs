//! Every page is judged by axe-core, the rules that most accessibility tools share: light and dark,
//! on a phone and on a desk.
//!
//! Where the package of `tests/axe` is not installed, the test is passed over, with a line that says
//! so; where `EDDYLINE_TEST_REQUIRE` names `axe` it fails.

use std::io::Write as _;
use std::{env, fs, io};

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Backend, PASSWORD, Server, run};
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
const MAIN: &str = "/app/acme/main";

// The pages are the same with each database.
#[test]
fn axe_finds_nothing_on_any_page() {
    let Some(axe) = axe() else { return };
    run(Backend::Sqlite, &[], async |server: Server| {
        let Some(browser) = Browser::start() else {
            return;
        };
        let pages = fill(&server).await;
        tokio::task::block_in_place(|| {
            let mut faults = Vec::new();
            let open = |path: &str| browser.open(&format!("{}{path}", server.base_url()));
            for path in [
                "/sign-in",
                "/password",
                "/invitations/none",
                "/app/no/such/page",
            ] {
                faults.extend(judge_everywhere(&browser, &axe, &|| open(path), path));
            }
            open("/sign-in");
            browser.fill_label("E-mail address", &pages.email);
            browser.fill_label("Password", PASSWORD);
            browser.press("Sign in");
            for path in &pages.paths {
                faults.extend(judge_everywhere(&browser, &axe, &|| open(path), path));
            }
            for (name, script) in OPENED {
                let shown = || {
                    open(MAIN);
                    browser.wait_for("document.documentElement.dataset.ready !== undefined");
                    browser.execute(script);
                };
                faults.extend(judge_everywhere(&browser, &axe, &shown, name));
            }
            browser.set_languages("de");
            for path in [MAIN, "/account"] {
                let what = format!("{path} in German");
                faults.extend(judge_everywhere(&browser, &axe, &|| open(path), &what));
            }
            assert_eq!(faults, Vec::<String>::new());
        });
    });
}

/// What the script of the page of a flow shows, and how it is opened.
const OPENED: [(&str, &str); 4] = [
    (
        "switcher",
        "document.querySelector('[data-do=jump]').click()",
    ),
    (
        "keys",
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }))",
    ),
    (
        "emoji",
        "document.querySelector('#composer [data-do=emoji]').click();
         return new Promise((resolve) => {
             const look = () => document.querySelector('#picker [role=option]') ? resolve() : setTimeout(look, 20);
             look();
         })",
    ),
    (
        "tools",
        "document.querySelector('#chat article[data-mine]').focus()",
    ),
];

/// The pages of a user.
struct Pages {
    email: String,
    paths: Vec<String>,
}

/// Fills an organization with what pages show.
async fn fill(server: &Server) -> Pages {
    let Acme { ada, ben } = server.acme();
    server.provider("acme");
    let flow = &MAIN[5..];
    ben.say(flow, "Good morning @ada, see #release").await;
    ben.say(flow, "> quoted\n`code` and\n```\nlet it = be;\n```")
        .await;
    let root = ada.say(flow, "**Who** takes it? https://example.com").await;
    ben.say(flow, &vec!["a line"; 30].join("\n")).await;
    let thread = root["thread_id"].as_str().unwrap_or_default();
    let paths = [
        "/app".to_owned(),
        MAIN.to_owned(),
        format!("{MAIN}/threads"),
        format!("{MAIN}/files"),
        format!("{MAIN}/people"),
        format!("{MAIN}/search?q=line"),
        format!("{MAIN}/threads/{thread}"),
        format!("{MAIN}/settings"),
        format!("{MAIN}/settings/leave"),
        format!("{MAIN}/settings/archive"),
        format!("{MAIN}/settings/members"),
        format!("{MAIN}/settings/invitations"),
        format!("{MAIN}/settings/joining"),
        format!("{MAIN}/settings/sources"),
        format!("{MAIN}/settings/sources/new"),
        "/app/acme/settings/flows/new".to_owned(),
        format!("{MAIN}/settings/notifications"),
        "/account/notifications".to_owned(),
        "/app/-/offline".to_owned(),
        "/app/acme/settings".to_owned(),
        "/app/acme/settings/applications".to_owned(),
        "/app/acme/settings/identity-provider".to_owned(),
        "/app/acme/settings/identity-provider/token".to_owned(),
        "/app/acme/settings/identity-provider/disconnect".to_owned(),
        format!("/app/acme/settings/people/{}/administrator", ben.id),
        "/app/acme/settings/people".to_owned(),
        format!("/app/acme/settings/people/{}", ben.id),
        format!("/app/-/private/{}", ben.id),
        "/account".to_owned(),
        "/account/applications".to_owned(),
        "/account/tokens".to_owned(),
        "/account/sessions".to_owned(),
        "/developer".to_owned(),
    ];
    Pages {
        email: ada.email.clone(),
        paths: paths.into(),
    }
}

/// Judges what `open` shows, in light and dark, narrow and wide. A theme changes colours and nothing
/// else, so that the other rules judge the light one only.
fn judge_everywhere(browser: &Browser, axe: &str, open: &dyn Fn(), what: &str) -> Vec<String> {
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
fn axe() -> Option<String> {
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
