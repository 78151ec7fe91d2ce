//! Code in messages: its parts have colours, and a button copies it.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{MAIN, complaints, open, open_flow, shows};

on_both_databases![code_is_highlighted_and_copied];

const CODE: &str = "// Why\nlet a = \"<b>\";";

async fn code_is_highlighted_and_copied(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        let allowed = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
        browser.command("Browser.grantPermissions", &allowed);
        open(&browser, &server, &ada);
    });
    ben.say(MAIN, &format!("```rust\n{CODE}\n```")).await;
    tokio::task::block_in_place(|| {
        // The same for what the stream brings, and for what the server has put into the page.
        for is_new in [true, false] {
            if !is_new {
                open_flow(&browser, &server, "");
            }
            shows(&browser, ".code .copy");
            let parts = browser.execute(
                "return [...document.querySelectorAll('.code code > *')]
                     .map((part) => `${part.className} ${part.textContent}`)",
            );
            assert_eq!(parts, json!(["c // Why", "k let", "s \"<b>\""]));
            let colours = browser.execute(
                "return new Set([...document.querySelectorAll('.code code, .code code > *')]
                     .map((part) => getComputedStyle(part).color)).size",
            );
            assert_eq!(colours, 4);
            browser.execute("document.querySelector('.copy').click()");
            browser.wait_for(
                "navigator.clipboard.readText().then((text) => { globalThis.copied = text; }) &&
                 globalThis.copied",
            );
            assert_eq!(browser.execute("return globalThis.copied"), CODE);
            browser.execute("return navigator.clipboard.writeText('')");
        }
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}
