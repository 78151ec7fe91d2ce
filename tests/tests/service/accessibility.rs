//! Every page is judged by axe-core, the rules that most accessibility tools share: light and dark,
//! on a phone and on a desk.
//!
//! Where the package of `tests/axe` is not installed, the tests are passed over, with a line that
//! says so; where `EDDYLINE_TEST_REQUIRE` names `axe` they fail.

mod axe;
mod opened;
mod scene;

use eddyline_testing::browser::Browser;
use eddyline_tests::{Backend, Server, run};
use serde_json::json;
use tokio::task::block_in_place;

use self::axe::{axe, judge_everywhere};
use self::scene::Showcase;
use crate::web_client::sign_in;

const MAIN: &str = "/app/acme/main";

/// A browser in which a user has signed in, and what it finds there.
struct JudgedPages {
    browser: Browser,
    axe: String,
    base_url: String,
    scene: Showcase,
}

impl JudgedPages {
    fn open(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.base_url));
    }

    /// What axe-core finds wrong on these pages, which must be there.
    fn faults(&self, paths: &[String]) -> Vec<String> {
        let faults = paths.iter().map(|path| {
            let open = || {
                self.open(path);
                let title = self.browser.title();
                assert!(!title.contains("not found"), "{title} at {path}");
            };
            judge_everywhere(&self.browser, &self.axe, &open, path)
        });
        faults.flatten().collect()
    }
}

/// Fills an organization, and has a test judge what a user sees of it. The pages are the same with
/// each database.
fn judge(test: impl FnOnce(&JudgedPages) -> Vec<String>) {
    let Some(axe) = axe() else { return };
    run(Backend::Sqlite, &[], async |server: Server| {
        let Some(browser) = Browser::start() else {
            return;
        };
        let scene = Showcase::fill(&server).await;
        let base_url = server.base_url().to_owned();
        block_in_place(|| sign_in(&browser, &server, &base_url, &scene.ada));
        let judged = JudgedPages {
            browser,
            axe,
            base_url,
            scene,
        };
        assert_eq!(block_in_place(|| test(&judged)), [""; 0]);
    });
}

/// Addresses below another one.
fn below(path: &str, rest: &[&str]) -> Vec<String> {
    rest.iter().map(|rest| format!("{path}{rest}")).collect()
}

#[test]
fn axe_finds_nothing_where_people_come_in() {
    judge(|judged| {
        judged
            .browser
            .command("Network.clearBrowserCookies", &json!({}));
        let paths = [
            "/api",
            "/sign-in",
            "/password",
            "/invitations/none",
            "/app/no/such/page",
        ];
        let each = paths.map(|path| {
            judge_everywhere(&judged.browser, &judged.axe, &|| judged.open(path), path)
        });
        each.concat()
    });
}

#[test]
fn axe_finds_nothing_in_a_flow() {
    judge(|judged| {
        judged.open(MAIN);
        for what in scene::SHOWN {
            assert_ne!(judged.browser.count(what), 0, "{what} is to be judged");
        }
        let mut paths = below(
            MAIN,
            &[
                "",
                "/threads",
                "/files",
                "/people",
                "/search?q=line",
                "/search?q=nothing+of+the+kind",
                "/messages/1#m1",
                "/on/2020-01-01#here",
            ],
        );
        for thread in &judged.scene.threads {
            paths.push(format!("{MAIN}/threads/{thread}"));
        }
        judged.faults(&paths)
    });
}

#[test]
fn axe_finds_nothing_over_all_flows() {
    judge(|judged| {
        let ben = judged.scene.ben.id;
        let mut paths = below(
            "/app",
            &[
                "",
                "/-/search",
                "/-/search?q=line",
                "/-/search?tags=release",
                "/-/mentions",
                "/-/offline",
            ],
        );
        paths.push(format!("/app/-/private/{ben}"));
        paths.push(format!("/app/-/private/{ben}/messages/1#m1"));
        judged.faults(&paths)
    });
}

#[test]
fn axe_finds_nothing_in_the_settings_of_a_flow() {
    judge(|judged| {
        judged.faults(&below(
            &format!("{MAIN}/settings"),
            &[
                "",
                "/leave",
                "/archive",
                "/members",
                "/invitations",
                "/joining",
                "/sources",
                "/sources/new",
                "/notifications",
            ],
        ))
    });
}

#[test]
fn axe_finds_nothing_in_the_settings_of_an_organization() {
    judge(|judged| {
        let ben = judged.scene.ben.id;
        let mut paths = below(
            "/app/acme/settings",
            &[
                "",
                "/applications",
                "/audit",
                "/audit?what=flow.create&from=x",
                "/flows/new",
                "/identity-provider",
                "/identity-provider/token",
                "/identity-provider/disconnect",
                "/people",
            ],
        );
        paths.push(format!("/app/acme/settings/people/{ben}"));
        paths.push(format!("/app/acme/settings/people/{ben}/administrator"));
        judged.faults(&paths)
    });
}

#[test]
fn axe_finds_nothing_in_an_account() {
    judge(|judged| {
        let mut paths = below(
            "/account",
            &[
                "",
                "/applications",
                "/notifications",
                "/sessions",
                "/tokens",
            ],
        );
        paths.push(format!("/account/tokens/{}", judged.scene.token));
        paths.push("/developer".to_owned());
        judged.faults(&paths)
    });
}

#[test]
fn axe_finds_nothing_in_german() {
    judge(|judged| {
        judged.browser.set_languages("de");
        judged.faults(&[MAIN.to_owned(), "/account".to_owned()])
    });
}
