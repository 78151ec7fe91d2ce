//! Why the server refused something stands there in the language of the page.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{ENTER, MAIN, WRITE, click, complaints, open_flow, sees, shows, sign_in};

on_both_databases![
    mistakes_that_a_reader_can_mend_are_named,
    a_status_says_what_happened,
];

/// Opens the flow in German, with the focus on the only message.
fn open_in_german(browser: &Browser, server: &Server, who: &eddyline_tests::Caller) {
    browser.set_languages("de");
    sign_in(browser, server, server.base_url(), who);
    open_flow(browser, server, "");
    sees(browser, "moin");
    browser.execute("document.querySelector('#chat article').focus()");
}

/// Waits until the page says this for a while.
fn says(browser: &Browser, text: &str) {
    browser.wait_for(&format!(
        "document.querySelector('#notice').textContent === {}",
        json!(text)
    ));
}

async fn mistakes_that_a_reader_can_mend_are_named(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let message = ben.say(MAIN, "moin").await;
    let all = "😀😃😄😁😆😅😂🙂🙃😉😊😇😍😘😗😚😙😋😛😜";
    for emoji in all.chars() {
        let emoji: String = emoji
            .to_string()
            .bytes()
            .map(|byte| format!("%{byte:02X}"))
            .collect();
        let path = format!("/flows/{MAIN}/messages/{}/reactions/{emoji}", message["id"]);
        ben.does(Method::PUT, &path, &json!({})).await;
    }
    tokio::task::block_in_place(|| {
        open_in_german(&browser, &server, &ada);
        browser.press_keys("t");
        shows(&browser, ".line-form input:focus");
        browser.type_keys(".line-form input", &"x".repeat(101));
        browser.type_keys(".line-form input", ENTER);
        says(
            &browser,
            "Tags nicht geändert: ein Tag hat höchstens 100 Zeichen",
        );
        click(&browser, ".line-form [type=button]");

        browser.press_keys("+");
        shows(&browser, "#picker[open]");
        browser.type_keys("#picker input", "tada");
        browser.wait_for(
            "document.querySelector('#picker [aria-selected=true]')?.textContent === '🎉'",
        );
        browser.type_keys("#picker input", ENTER);
        says(
            &browser,
            "Nicht reagiert: eine Nachricht hat höchstens 20 verschiedene Emojis",
        );

        // A page that counts otherwise than the server sends a text that is too long.
        browser.execute(&format!(
            "document.querySelector('{WRITE}').value = 'x'.repeat(8097);
             String.prototype[Symbol.iterator] = function* () {{}}"
        ));
        browser.type_keys(WRITE, ENTER);
        shows(&browser, "article.lost .state");
        let state =
            browser.execute("return document.querySelector('article.lost .state').textContent");
        let state = state.as_str().unwrap();
        let reason = "Nicht gesendet: der Text ist länger als 8096 Zeichen";
        assert!(state.starts_with(reason), "{state}");
        assert_eq!(complaints(&browser), [""; 0]);
    });
}

async fn a_status_says_what_happened(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "moin").await;
    let answers = [
        (403, "", "das darfst du hier nicht mehr"),
        (
            404,
            "",
            "du hast keinen Zugriff mehr, oder es wurde gelöscht",
        ),
        (
            429,
            "7",
            "das war zu viel auf einmal; versuche es in 7 Sekunden noch einmal",
        ),
        (
            503,
            "",
            "der Server ist ausgelastet; versuche es gleich noch einmal",
        ),
        (507, "", "dafür ist kein Speicher mehr frei"),
        // Of a contradiction the page knows nothing better than the server.
        (409, "", "It contradicts what is there"),
    ];
    tokio::task::block_in_place(|| {
        open_in_german(&browser, &server, &ada);
        browser.execute(
            "const real = fetch;
             window.fetch = async (address, options) => {
                 if (!String(address).includes('/messages/')) return real(address, options);
                 if (window.answer === undefined) throw new TypeError('Failed to fetch');
                 const [status, wait] = window.answer;
                 const headers = { 'Retry-After': wait };
                 const body = JSON.stringify({ message: 'It contradicts what is there' });
                 return new Response(body, { status, headers });
             }",
        );
        browser.press_keys("t");
        shows(&browser, ".line-form input:focus");
        browser.type_keys(".line-form input", "neu");
        browser.type_keys(".line-form input", ENTER);
        says(&browser, "Tags nicht geändert: keine Verbindung");
        for (status, wait, reason) in answers {
            browser.execute(&format!("window.answer = [{status}, '{wait}']"));
            browser.type_keys(".line-form input", ENTER);
            says(&browser, &format!("Tags nicht geändert: {reason}"));
        }
    });
}
