//! Notifications of an open page that is not looked at, in a browser without a push service.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, PASSWORD, Server, Visitor, on_both_databases};
use serde_json::json;

use super::{MAIN, complaints, open, open_flow, sees, shows};

on_both_databases![
    the_chosen_level_says_of_what_a_page_tells,
    the_level_of_a_flow_goes_before_that_of_the_account,
    a_page_tells_nothing_in_quiet_hours,
    a_page_that_is_looked_at_tells_nothing,
    a_page_tells_nothing_while_another_is_looked_at,
    a_notification_leads_to_what_it_tells_of,
];

/// Records notifications instead of showing them, and has the test say whether the page is looked
/// at.
const SYSTEM: &str = "
    window.notified = [];
    window.Notification = class {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, { body, tag }) {
            Object.assign(this, { title, body, tag });
            window.notified.push(this);
        }
        close() {}
    };
    PushManager.prototype.getSubscription = async () => null;
    PushManager.prototype.subscribe = async () => { throw new Error('there is no push service'); };
    window.isLookedAt = false;
    document.hasFocus = () => window.isLookedAt;
    Object.defineProperty(document, 'visibilityState', {
        get: () => (window.isLookedAt ? 'visible' : 'hidden'),
    });";

/// Opens the flow in a browser whose user has turned notifications on.
fn open_with_notices(browser: &Browser, server: &Server, who: &Caller) {
    browser.command(
        "Page.addScriptToEvaluateOnNewDocument",
        &json!({"source": SYSTEM}),
    );
    open(browser, server, who);
    super::click(browser, "[data-do=notices]");
    browser.press("Turn on");
    browser.wait_for("document.querySelector('#notices .told').textContent.includes('is open')");
    browser.execute("document.querySelector('#notices').close()");
}

/// Waits until the last notification has this title, and gives those of all.
fn notified(browser: &Browser, last: &str) -> Vec<String> {
    let last = serde_json::Value::from(last);
    browser.wait_for(&format!("window.notified.at(-1)?.title === {last}"));
    let titles = browser.execute("return window.notified.map(({ title }) => title)");
    serde_json::from_value(titles).unwrap()
}

/// Writes privately: of that a page tells unless nothing is wanted.
async fn write_privately(from: &Caller, to: &Caller) {
    let text = json!({"event": "message", "content": "psst"});
    let path = format!("/private/{}/messages", to.id);
    from.does(Method::POST, &path, &text).await;
}

async fn chooses(visitor: &mut Visitor, path: &str, fields: &[(&str, &str)]) {
    let saved = visitor.post(path, fields).await;
    assert_eq!(saved.sent_on(), format!("{path}?done=saved"));
}

async fn the_chosen_level_says_of_what_a_page_tells(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    tokio::task::block_in_place(|| open_with_notices(&browser, &server, &ada));
    // By default the page notifies of mentions and private messages.
    ben.say(MAIN, "Good morning").await;
    ben.say(MAIN, "Lunch, @ada?").await;
    write_privately(&ben, &ada).await;
    ada.say(MAIN, "Yes, @ada will come").await;
    tokio::task::block_in_place(|| {
        assert_eq!(notified(&browser, "ben"), ["ben in main", "ben"]);
        let bodies = browser.execute("return window.notified.map(({ body }) => body)");
        assert_eq!(bodies, json!(["New message", "New message"]));
    });
    let all = [("level", "all"), ("shows_text", "1")];
    chooses(&mut visitor, "/account/notifications", &all).await;
    tokio::task::block_in_place(|| open_flow(&browser, &server, ""));
    ben.say(MAIN, "Good evening").await;
    write_privately(&ben, &ada).await;
    tokio::task::block_in_place(|| {
        assert_eq!(notified(&browser, "ben"), ["ben in main", "ben"]);
        let bodies = browser.execute("return window.notified.map(({ body }) => body)");
        assert_eq!(bodies, json!(["Good evening", "psst"]));
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn the_level_of_a_flow_goes_before_that_of_the_account(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    let of_main = format!("/app/{MAIN}/settings/notifications");
    chooses(&mut visitor, &of_main, &[("level", "nothing")]).await;
    tokio::task::block_in_place(|| open_with_notices(&browser, &server, &ada));
    ben.say(MAIN, "@ada!").await;
    ben.say("acme/side", "@ada?").await;
    tokio::task::block_in_place(|| assert_eq!(notified(&browser, "ben in side"), ["ben in side"]));

    let nothing = [("level", "nothing")];
    chooses(&mut visitor, "/account/notifications", &nothing).await;
    chooses(&mut visitor, &of_main, &[("level", "all")]).await;
    tokio::task::block_in_place(|| open_flow(&browser, &server, ""));
    ben.say("acme/side", "@ada?").await;
    write_privately(&ben, &ada).await;
    ben.say(MAIN, "Good morning").await;
    tokio::task::block_in_place(|| {
        assert_eq!(notified(&browser, "ben in main"), ["ben in main"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_page_tells_nothing_in_quiet_hours(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let mut visitor = server.signed_in(&ada.email, PASSWORD).await;
    let all_day = [
        ("level", "all"),
        ("quiet", "1"),
        ("from", "00:00"),
        ("until", "00:00"),
        ("zone", "UTC"),
    ];
    chooses(&mut visitor, "/account/notifications", &all_day).await;
    tokio::task::block_in_place(|| {
        open_with_notices(&browser, &server, &ada);
        assert_eq!(
            browser.attribute("body", "data-quiet").as_deref(),
            Some("00:00-00:00")
        );
        assert_eq!(
            browser.attribute("body", "data-quiet-zone").as_deref(),
            Some("UTC")
        );
    });
    ben.say(MAIN, "@ada, at night").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "@ada, at night");
        browser.execute("delete document.body.dataset.quiet");
    });
    write_privately(&ben, &ada).await;
    tokio::task::block_in_place(|| {
        assert_eq!(
            notified(&browser, "ben"),
            ["ben"],
            "nothing that was sent in the quiet hours"
        );
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_page_that_is_looked_at_tells_nothing(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open_with_notices(&browser, &server, &ada);
        browser.execute("window.isLookedAt = true");
    });
    ben.say(MAIN, "@ada, seen").await;
    tokio::task::block_in_place(|| {
        sees(&browser, "@ada, seen");
        browser.execute("window.isLookedAt = false");
    });
    write_privately(&ben, &ada).await;
    tokio::task::block_in_place(|| {
        assert_eq!(notified(&browser, "ben"), ["ben"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

/// Has the page wait for an answer of the others until the test goes on, and counts what pages say to
/// each other.
const ASKING: &str = "
    const start = window.setTimeout;
    window.setTimeout = (run, pause, ...rest) =>
        pause === 150 ? (window.goOn = run) : start(run, pause, ...rest);
    window.said = [];
    window.overhearing = new BroadcastChannel('eddyline-notices');
    window.overhearing.onmessage = ({ data }) => window.said.push(data);";

async fn a_page_tells_nothing_while_another_is_looked_at(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let (first, second) = tokio::task::block_in_place(|| {
        open_with_notices(&browser, &server, &ada);
        browser.execute(ASKING);
        let tabs = (browser.tab(), browser.open_tab());
        let stub = json!({"source": SYSTEM});
        browser.command("Page.addScriptToEvaluateOnNewDocument", &stub);
        open_flow(&browser, &server, "");
        browser.execute("window.isLookedAt = true");
        tabs
    });
    ben.say(MAIN, "@ada, seen beside").await;
    tokio::task::block_in_place(|| {
        browser.show_tab(&first);
        sees(&browser, "@ada, seen beside");
        browser.wait_for("window.said.includes('looking')");
        browser.execute("window.goOn()");
        browser.show_tab(&second);
        browser.close_tab();
        browser.show_tab(&first);
    });
    write_privately(&ben, &ada).await;
    tokio::task::block_in_place(|| {
        shows(&browser, ".tab[data-private] .count:not([hidden])");
        browser.execute("window.goOn()");
        assert_eq!(notified(&browser, "ben"), ["ben"]);
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_notification_leads_to_what_it_tells_of(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    tokio::task::block_in_place(|| open_with_notices(&browser, &server, &ada));
    ben.say("acme/side", "@ada?").await;
    tokio::task::block_in_place(|| {
        assert_eq!(notified(&browser, "ben in side"), ["ben in side"]);
        browser.execute("window.notified[0].onclick()");
        browser.wait_for("location.pathname === '/app/acme/side'");
        super::ready(&browser);
        sees(&browser, "@ada?");
    });
    write_privately(&ben, &ada).await;
    tokio::task::block_in_place(|| {
        assert_eq!(notified(&browser, "ben"), ["ben"]);
        browser.execute("window.notified[0].onclick()");
        browser.wait_for(&format!(
            "location.pathname === '/app/-/private/{}'",
            ben.id
        ));
        super::ready(&browser);
        shows(&browser, "#chat article[data-id]");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}
