//! A person with a real browser, whom an application sends to be asked: on both databases, and
//! without scripts. The application's site is a listener here, and the browser must really come
//! back to it.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Backend, Caller, PASSWORD, Robot, Server, note_secret, run};
use tokio::task::block_in_place;
use url::Url;
use url::form_urlencoded::Serializer;

use super::relying::{Site, Visit};

const STATE: &str = "a b&c=%2F \"ø\"\n";

/// Makes a test of each of these `fn NAME(walk: &Walk)` on each database, and one without scripts.
macro_rules! in_browsers {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn sqlite() {
                    super::walk(eddyline_tests::Backend::Sqlite, true, super::$test);
                }

                #[test]
                fn postgres() {
                    super::walk(eddyline_tests::Backend::Postgres, true, super::$test);
                }

                #[test]
                fn without_javascript() {
                    super::walk(eddyline_tests::Backend::Sqlite, false, super::$test);
                }
            }
        )+
    };
}

in_browsers![
    one_signs_in_and_allows_it,
    one_denies_it,
    one_copies_a_code,
    one_whose_session_has_ended_signs_in_and_is_asked_again,
    one_who_was_sent_by_somebody_else_is_not_taken_back,
    a_form_with_a_wrong_token_is_explained,
    one_signs_in_as_somebody_else,
    an_application_that_asks_wrongly_is_told_after_signing_in,
    nobody_is_asked_in_a_frame,
];

/// Everything of a walk: a server, an application with its site, and a browser.
struct Walk {
    server: Server,
    site: Site,
    robot: Robot,
    browser: Browser,
    acme: Acme,
}

fn walk(backend: Backend, javascript: bool, test: fn(&Walk)) {
    let start = if javascript {
        Browser::start
    } else {
        Browser::with_javascript_disabled
    };
    let Some(browser) = start() else { return };
    run(backend, &[], async |server| {
        let (site, acme) = (Site::start(), server.acme());
        let robot = server.robot("acme", &["--redirect-uri", &site.callback()]);
        block_in_place(|| {
            test(&Walk {
                server,
                site,
                robot,
                browser,
                acme,
            });
        });
    });
}

impl Walk {
    /// The address to which the application sends people, with these parameters beside the usual.
    fn asks(&self, more: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(String::new());
        query
            .append_pair("client_id", &self.robot.client_id)
            .append_pair("response_type", "code");
        format!(
            "{}/oauth/authorize?{}",
            self.server.base_url(),
            query.extend_pairs(more).finish()
        )
    }

    /// Begins at the application's site, and signs in on the way.
    fn begin(&self, more: &[(&str, &str)]) {
        self.browser.open(&self.site.beginning(&self.asks(more)));
        self.sign_in(&self.acme.ben, PASSWORD);
    }

    fn sign_in(&self, user: &Caller, password: &str) {
        assert!(
            self.browser.url().contains("/sign-in?next="),
            "{}",
            self.browser.url()
        );
        self.is_fit("Sign in");
        self.browser.fill_label("E-mail address", &user.email);
        self.browser.fill_label("Password", password);
        self.browser.press("Sign in");
    }

    /// The page has this heading, and everybody can use it.
    #[track_caller]
    fn is_fit(&self, heading: &str) {
        let text = self.browser.text();
        assert!(
            text.contains(heading),
            "{heading} in {text} at {}",
            self.browser.url()
        );
        assert_eq!(self.browser.audit(), Vec::<String>::new(), "{heading}");
    }

    #[track_caller]
    fn is_asked(&self) {
        self.is_fit("Robot wants to access your account");
        let host = Url::parse(&self.site.callback()).unwrap();
        let text = self.browser.text();
        assert!(
            text.contains(&format!("127.0.0.1:{}", host.port().unwrap())),
            "{text}"
        );
    }

    /// The browser has come back to the application, once, and told it not from where.
    #[track_caller]
    fn came_back(&self, says: &str) -> Visit {
        let url = self.browser.url();
        assert!(
            url.starts_with(&format!("{}?", self.site.callback())),
            "{url}"
        );
        assert!(
            self.browser.text().contains(says),
            "{}",
            self.browser.text()
        );
        let [visit] = <[Visit; 1]>::try_from(self.site.visits()).unwrap();
        assert_eq!(visit.parameters["iss"], self.server.base_url());
        // The site that sent it is all that a browser may tell.
        assert!(
            visit
                .referer
                .as_ref()
                .is_none_or(|from| !from.contains("authorize")),
            "{visit:?}"
        );
        visit
    }

    /// The console has no more than advice: no policy was broken, and each request was answered.
    #[track_caller]
    fn no_complaints(&self) {
        let mut lines = self.browser.log();
        lines.retain(|line| !line.starts_with("DEBUG "));
        assert_eq!(lines, Vec::<String>::new());
    }

    /// The application exchanges the code, and learns whose it is.
    fn belongs_to(&self, fields: &[(&str, &str)], user: &Caller) {
        fields
            .iter()
            .filter(|(name, _)| *name == "code")
            .for_each(|(_, code)| note_secret(code));
        let fields = [&[("grant_type", "authorization_code")], fields].concat();
        let told = tokio::runtime::Handle::current().block_on(async {
            let tokens = self.robot.tokens(&fields).await;
            self.robot.introspect(&tokens["access_token"]).await
        });
        assert_eq!(told["sub"], user.id.to_string());
    }
}

/// Shows: 5.5
fn one_signs_in_and_allows_it(walk: &Walk) {
    walk.begin(&[("state", STATE), ("scope", "flow profile offline_access")]);
    walk.is_asked();
    for words in [
        "Acme",
        "ben@acme.example",
        "See and change your profile",
        "when you are not there",
    ] {
        let text = walk.browser.text();
        assert!(
            text.to_lowercase().contains(&words.to_lowercase()),
            "{words} in {text}"
        );
    }
    walk.browser.set_window_size(320, 640);
    walk.is_asked();
    walk.browser.press("Allow");
    let visit = walk.came_back("Welcome back");
    assert_eq!(visit.parameters["state"], STATE);
    walk.belongs_to(&[("code", &visit.parameters["code"])], &walk.acme.ben);
    walk.no_complaints();
}

fn one_denies_it(walk: &Walk) {
    walk.begin(&[("state", STATE)]);
    walk.is_asked();
    walk.browser.press("Deny");
    let visit = walk.came_back("Welcome back");
    assert_eq!(visit.parameters["error"], "access_denied");
    assert_eq!(visit.parameters["state"], STATE);
    assert!(!visit.parameters.contains_key("code"), "{visit:?}");
    walk.no_complaints();
}

fn one_copies_a_code(walk: &Walk) {
    let oob = ("redirect_uri", "urn:ietf:wg:oauth:2.0:oob");
    walk.begin(&[oob]);
    walk.is_fit("you’ll get a code to copy");
    walk.browser.press("Allow");
    walk.is_fit("Copy this code");
    let url = walk.browser.url();
    let code = url
        .strip_prefix(&format!("{}/oauth/authorize/", walk.server.base_url()))
        .unwrap();
    assert!(
        walk.browser.text().contains(code),
        "{}",
        walk.browser.text()
    );
    walk.no_complaints();
    walk.belongs_to(&[("code", code), oob], &walk.acme.ben);
    walk.browser.open(&url);
    walk.is_fit("This code doesn’t work any more");
    walk.browser.open(&walk.asks(&[oob]));
    walk.browser.press("Deny");
    walk.is_fit("You denied access");
    assert!(walk.site.visits().is_empty());
}

fn one_whose_session_has_ended_signs_in_and_is_asked_again(walk: &Walk) {
    const OTHER: &str = "violet umbrella on the tram";
    walk.begin(&[("state", STATE), ("scope", "private")]);
    walk.is_asked();
    // A new password, set elsewhere, ends the session of this browser.
    tokio::runtime::Handle::current().block_on(async {
        let mut elsewhere = walk.server.signed_in(&walk.acme.ben.email, PASSWORD).await;
        let change = [
            ("part", "password"),
            ("current_password", PASSWORD),
            ("password", OTHER),
        ];
        elsewhere.post("/account", &change).await.sent_on();
    });
    walk.browser.press("Allow");
    assert!(walk.site.visits().is_empty(), "nothing was allowed");
    walk.sign_in(&walk.acme.ben, OTHER);
    walk.is_asked();
    assert!(
        walk.browser.text().contains("private conversations"),
        "{}",
        walk.browser.text()
    );
    walk.browser.press("Allow");
    let visit = walk.came_back("Welcome back");
    assert_eq!(visit.parameters["state"], STATE);
    walk.belongs_to(&[("code", &visit.parameters["code"])], &walk.acme.ben);
    walk.no_complaints();
}

fn one_who_was_sent_by_somebody_else_is_not_taken_back(walk: &Walk) {
    walk.begin(&[("state", "the application's own")]);
    walk.is_asked();
    // Somebody else sends the same browser with a state that the application has never sent.
    walk.browser
        .open(&walk.asks(&[("state", "somebody else's")]));
    walk.is_asked();
    walk.browser.press("Allow");
    let visit = walk.came_back("Nobody here has sent you");
    assert_eq!(visit.parameters["state"], "somebody else's");
    walk.no_complaints();
}

fn a_form_with_a_wrong_token_is_explained(walk: &Walk) {
    walk.begin(&[("state", STATE)]);
    walk.is_asked();
    let zeros = "0".repeat(64);
    let forms = "document.querySelectorAll('input[name=csrf]')";
    walk.browser.execute(&format!(
        "{forms}.forEach(field => field.value = '{zeros}')"
    ));
    walk.browser.press("Allow");
    walk.is_fit("We couldn’t accept this form");
    assert!(walk.site.visits().is_empty());
    // The page says what to do, and that helps.
    walk.browser.open(&walk.asks(&[("state", STATE)]));
    walk.is_asked();
    walk.browser.press("Allow");
    walk.came_back("Welcome back");
}

fn one_signs_in_as_somebody_else(walk: &Walk) {
    walk.begin(&[("state", STATE)]);
    walk.is_asked();
    walk.browser.press("Sign in with another account");
    walk.sign_in(&walk.acme.ada, PASSWORD);
    walk.is_asked();
    assert!(
        walk.browser.text().contains(&walk.acme.ada.email),
        "{}",
        walk.browser.text()
    );
    walk.browser.press("Allow");
    let visit = walk.came_back("Welcome back");
    assert_eq!(visit.parameters["state"], STATE);
    walk.belongs_to(&[("code", &visit.parameters["code"])], &walk.acme.ada);
    walk.no_complaints();
}

fn an_application_that_asks_wrongly_is_told_after_signing_in(walk: &Walk) {
    walk.begin(&[("state", STATE), ("scope", "everything")]);
    let visit = walk.came_back("Welcome back");
    assert_eq!(visit.parameters["error"], "invalid_scope");
    walk.no_complaints();
    // Who is signed in is not stopped on the way.
    walk.browser.open(
        &walk
            .site
            .beginning(&walk.asks(&[("state", STATE), ("scope", "everything")])),
    );
    assert_eq!(
        walk.came_back("Welcome back").parameters["error"],
        "invalid_scope"
    );
    walk.no_complaints();
}

fn nobody_is_asked_in_a_frame(walk: &Walk) {
    walk.browser.open(&walk.site.framing(&walk.asks(&[])));
    assert!(
        walk.browser.text().contains("Framed"),
        "{}",
        walk.browser.text()
    );
    let complaints = walk.browser.log();
    assert!(
        complaints
            .iter()
            .any(|line| line.contains("frame-ancestors")),
        "{complaints:?}"
    );
}
