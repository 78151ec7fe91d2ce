//! Notifications of the system while no page is open, and pages without a network.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, PASSWORD, Patience, Server, on_both_databases};
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;

use super::{MAIN, complaints, open, open_flow, ready, sees, shows};
use crate::receiver::{Answer, Receiver, status};

on_both_databases![&["--allow-private-targets"];
    a_push_message_is_shown_when_no_page_is_open,
];
on_both_databases![
    a_page_that_was_seen_starts_without_a_network,
    pages_of_a_flow_are_not_kept_when_the_reader_is_out,
    an_open_page_removes_kept_pages_when_the_reader_leaves_a_flow,
];

/// Stands for the push service of the browser, which is on the internet. The keys are as real.
const PUSH_MANAGER: &str = "
    const known = {};
    PushManager.prototype.getSubscription = async () => known.subscription ?? null;
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
        known.keys = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
        const raw = new Uint8Array(await crypto.subtle.exportKey('raw', known.keys.publicKey));
        known.auth = crypto.getRandomValues(new Uint8Array(16));
        known.raw = raw;
        globalThis.askedWith = applicationServerKey;
        const text = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
        known.subscription = {
            toJSON: () => ({ endpoint: ENDPOINT, keys: { p256dh: text(raw), auth: text(known.auth) } }),
            unsubscribe: async () => { known.subscription = null; },
        };
        return known.subscription;
    };
    const derive = async (salt, secret, info, length) => {
        const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
        return crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, 8 * length);
    };
    globalThis.decrypt = async (base64) => {
        const body = Uint8Array.from(atob(base64), (each) => each.charCodeAt());
        const [salt, sender] = [body.slice(0, 16), body.slice(21, 86)];
        const theirs = await crypto.subtle.importKey('raw', sender, { name: 'ECDH', namedCurve: 'P-256' }, false, []);
        const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, known.keys.privateKey, 256);
        const encode = (text) => [...new TextEncoder().encode(text)];
        const both = Uint8Array.from([...encode('WebPush: info\\0'), ...known.raw, ...sender]);
        const input = await derive(known.auth, shared, both, 32);
        const bits = await derive(salt, input, Uint8Array.from(encode('Content-Encoding: aes128gcm\\0')), 16);
        const iv = await derive(salt, input, Uint8Array.from(encode('Content-Encoding: nonce\\0')), 12);
        const key = await crypto.subtle.importKey('raw', bits, 'AES-GCM', false, ['decrypt']);
        const text = new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, body.slice(86)));
        return new TextDecoder().decode(text.slice(0, text.lastIndexOf(2)));
    };";

/// The notifications that the system shows.
fn notifications(browser: &Browser) -> Json {
    browser.execute(
        "return navigator.serviceWorker.getRegistration('/').then((one) => one.getNotifications())
             .then((all) => all.map(({ title, body, data }) => ({ title, body, path: data.path })))",
    )
}

/// What the browser reads in a push message.
async fn pushed(browser: &Browser, pushes: &Receiver) -> String {
    pushes.is_asked(1).await;
    let body = STANDARD.encode(pushes.asked_once().body);
    tokio::task::block_in_place(|| {
        let text = browser.execute(&format!("return decrypt('{body}')"));
        text.as_str().unwrap().to_owned()
    })
}

async fn a_push_message_is_shown_when_no_page_is_open(server: Server) {
    // WebDriver does not report the id of a service worker's registration. In a new profile it is 0.
    let Some(browser) = Browser::start_whole() else {
        return;
    };
    let pushes = Receiver::start().await;
    pushes.answers(Answer::Text(status("201 Created")));
    let Acme { ada, ben } = server.acme();
    let origin = server.base_url();
    tokio::task::block_in_place(|| {
        let allowed = json!({"origin": origin, "permissions": ["notifications"]});
        browser.command("Browser.grantPermissions", &allowed);
        open(&browser, &server, &ben);
        // Not the page of the flow, which would mark what comes as read.
        browser.open(&format!("{origin}/app/-/mentions"));
        ready(&browser);
        let stub = PUSH_MANAGER.replace("ENDPOINT", &format!("'{}'", pushes.url("/ben")));
        browser.add_script(&format!("{{ {stub} }}"));
        browser.execute("document.querySelector('[data-do=notices]').click()");
        browser.press("Turn on");
        browser
            .wait_for("document.querySelector('#notices .told').textContent.includes('not open')");
        assert_eq!(
            browser.execute("return askedWith === document.body.dataset.pushKey"),
            true
        );
    });
    let said = ada.say(MAIN, "Lunch, @ben?").await;
    let hidden: Json = serde_json::from_str(&pushed(&browser, &pushes).await).unwrap();
    let path = format!("/app/{MAIN}/messages/{}", said["id"]);
    assert_eq!(
        hidden,
        json!({
            "from": "ada", "flow": "main", "event": "message", "text": null,
            "path": path, "tag": hidden["tag"],
        })
    );
    let mut page = server.signed_in(&ben.email, PASSWORD).await;
    let wanted = [("level", "mentions"), ("shows_text", "1")];
    page.post("/account/notifications", &wanted).await.sent_on();
    ada.say(MAIN, "At noon, @ben?").await;
    let shown = pushed(&browser, &pushes).await;
    tokio::task::block_in_place(|| {
        browser.execute("return navigator.serviceWorker.ready.then(() => null)");
        let message = json!({"origin": origin, "registrationId": "0", "data": shown});
        browser.command("ServiceWorker.enable", &json!({}));
        // The worker shows nothing while a page of the client has the focus, and the page below is
        // one. If it opens before the worker has the message, the message is delivered again: the
        // tag makes the browser show it once.
        let patience = Patience::until("the notification is shown");
        let all = loop {
            browser.open("about:blank");
            browser.command("ServiceWorker.deliverPushMessage", &message);
            Handle::current().block_on(patience.goes_on());
            browser.open(&format!("{origin}/app/-/offline"));
            let all = notifications(&browser);
            if all[0].is_object() {
                break all;
            }
        };
        assert_eq!(all.as_array().map(Vec::len), Some(1));
        assert_eq!(all[0]["title"], "ada in main");
        assert_eq!(all[0]["body"], "At noon, @ben?");
        let path = all[0]["path"].as_str().unwrap().to_owned();
        browser.open(&format!("{origin}{path}"));
        sees(&browser, "At noon, @ben?");
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_page_that_was_seen_starts_without_a_network(mut server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ada.say(MAIN, "Said before").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ben);
        browser.wait_for("navigator.serviceWorker.controller");
        // The first page was loaded before there was a service worker.
        open_flow(&browser, &server, "");
        sees(&browser, "Said before");
        // Redirects of the client keep what was seen.
        browser.open(&format!("{}/app/{MAIN}/", server.base_url()));
        open_flow(&browser, &server, "");
        browser.wait_for(
            "caches.open('eddyline-pages').then((cache) => cache.keys())
                 .then((all) => { globalThis.kept = all.length; }) && globalThis.kept > 0",
        );
    });
    server.kill9();
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
        sees(&browser, "Said before");
        shows(&browser, "#offline:not([hidden])");
        super::write(&browser, "Written without a network");
        browser.open(&format!("{}/app/{MAIN}/people", server.base_url()));
        assert!(browser.text().contains("No connection"));
        // Where the installed client starts.
        browser.open(&format!("{}/", server.base_url()));
        sees(&browser, "Said before");
    });
    server.restart();
    tokio::task::block_in_place(|| {
        open_flow(&browser, &server, "");
        sees(&browser, "Written without a network");
        // The session ends elsewhere, and another user signs in.
        browser.command("Network.clearBrowserCookies", &json!({}));
        // A page of the client would be kept anew.
        browser.open(&format!("{}/sign-in?next=%2Faccount", server.base_url()));
        browser.fill_label("E-mail address", &ada.email);
        browser.fill_label("Password", PASSWORD);
        browser.press("Sign in");
        browser.wait_for(
            "caches.open('eddyline-pages').then((cache) => cache.keys())
                 .then((all) => { globalThis.left = all.map(({ url }) => new URL(url).pathname); })
             && globalThis.left && !globalThis.left.includes('/app/acme/main')",
        );
        browser.open(&format!("{}/account", server.base_url()));
        super::click(&browser, "[data-drawer-opener]");
        super::click(&browser, ".home-menu > summary");
        browser.press("Sign out");
        browser.wait_for("caches.has('eddyline-pages').then((has) => { globalThis.kept = has; }) && globalThis.kept === false");
    });
}

/// Waits until this holds of the paths of the pages that are kept.
fn has_kept(browser: &Browser, what: &str) {
    browser.wait_for(&format!(
        "caches.open('eddyline-pages').then((cache) => cache.keys())
             .then((all) => {{ globalThis.kept = all.map(({{ url }}) => new URL(url).pathname); }})
         && globalThis.kept && {what}"
    ));
}

async fn pages_of_a_flow_are_not_kept_when_the_reader_is_out(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    let base = server.base_url();
    let kept = |what: &str| has_kept(&browser, what);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ben);
        browser.wait_for("navigator.serviceWorker.controller");
        for path in ["/app/acme/main", "/app/acme/side", "/app/acme/side/people"] {
            browser.open(&format!("{base}{path}"));
            ready(&browser);
            kept(&format!("kept.includes('{path}')"));
        }
    });
    // No page is open, so that the browser learns it with the next visit only.
    tokio::task::block_in_place(|| browser.open("about:blank"));
    let out = format!("/flows/acme/side/users/{}", ben.id);
    ben.does(Method::DELETE, &out, &json!(null)).await;
    tokio::task::block_in_place(|| {
        browser.open(&format!("{base}/app/{MAIN}/messages/999"));
        // A page that is not there, of a flow that Ben is in.
        assert!(browser.text().contains("Page not found"));
        browser.open(&format!("{base}/app/acme/side/people"));
        kept("!kept.some((path) => path.includes('/side'))");
        assert_eq!(
            browser.execute("return kept.includes('/app/acme/main')"),
            true
        );
    });
}

async fn an_open_page_removes_kept_pages_when_the_reader_leaves_a_flow(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    server.flow("acme", "side", &[&ada, &ben]);
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ben);
        browser.wait_for("navigator.serviceWorker.controller");
        for path in ["acme/side", MAIN] {
            browser.open(&format!("{}/app/{path}", server.base_url()));
            ready(&browser);
            has_kept(&browser, &format!("kept.includes('/app/{path}')"));
        }
    });
    let out = format!("/flows/acme/side/users/{}", ben.id);
    ben.does(Method::DELETE, &out, &json!(null)).await;
    tokio::task::block_in_place(|| {
        has_kept(&browser, "!kept.includes('/app/acme/side')");
    });
}
