//! What is written in one browser stands there at once, and in others as soon as the server has it.

use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Caller, Server, on_both_databases};

use super::{
    ENTER, ESCAPE, UP, WRITE, complaints, open, open_flow, ready, sees, shows, texts, write,
};

on_both_databases![
    two_browsers_chat,
    two_people_write_to_each_other_privately,
    what_is_sent_while_the_server_is_down_comes_once_when_it_is_back,
    a_refused_message_stays_until_it_is_dropped,
    the_last_message_is_edited_and_deleted,
    a_reply_goes_into_its_thread_from_either_pane,
    a_composition_of_an_input_method_sends_nothing,
    a_draft_outlives_a_reload,
];

async fn two_browsers_chat(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        write(&one, "Good **morning** @ben");
        sees(&one, "Good morning @ben");
        sees(&other, "Good morning @ben");
        shows(&other, "article.hit .at.you");
        assert_eq!(one.count("article.hit"), 0, "it mentions the other");
        write(&other, "Hello");
        sees(&one, "Hello");
        assert_eq!(texts(&one), ["Good morning @ben", "Hello"]);
        assert_eq!(texts(&other), texts(&one));
        assert_eq!(complaints(&one), Vec::<String>::new());
        assert_eq!(complaints(&other), Vec::<String>::new());

        // The page that the server makes anew shows the same.
        let rows =
            "return document.querySelector('#chat').innerHTML.replace(/ tabindex=\"-?\\d\"/g, '')";
        let live = parts(&other.execute(rows));
        open_flow(&other, &server, "");
        assert_eq!(parts(&other.execute(rows)), live);
    });
}

/// What a row consists of, whatever the order of its attributes.
fn parts(html: &serde_json::Value) -> Vec<String> {
    let mut parts: Vec<String> = html
        .as_str()
        .unwrap()
        .split(['<', '>', ' '])
        .map(|part| {
            part.trim()
                .replace("=\"\"", "")
                .trim_matches('"')
                .to_owned()
        })
        .filter(|part| !part.is_empty() && part != "you" && !part.starts_with("class=\"at"))
        .collect();
    parts.sort_unstable();
    parts
}

async fn two_people_write_to_each_other_privately(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let with = |person: &Caller| format!("{}/app/-/private/{}", server.base_url(), person.id);
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        one.open(&with(&ben));
        ready(&one);
        shows(&one, "#hello");
        write(&one, "psst");
        sees(&one, "psst");
        shows(
            &other,
            &format!(
                ".tab.unread[data-private='{}'] .count:not([hidden])",
                ada.id
            ),
        );
        assert_eq!(
            other.count("#chat article"),
            0,
            "nothing of it stands in the flow"
        );
        other.open(&with(&ada));
        ready(&other);
        sees(&other, "psst");
        write(&other, "yes?");
        sees(&one, "yes?");
        one.type_keys(WRITE, UP);
        one.wait_for(&format!(
            "document.querySelector('{WRITE}').value === 'psst'"
        ));
        one.type_keys(WRITE, "!");
        one.type_keys(WRITE, ENTER);
        sees(&other, "psst! (edited)");
        sees(&one, "psst! (edited)");
        assert_eq!(texts(&one), ["psst! (edited)", "yes?"]);
        for browser in [&one, &other] {
            assert_eq!(complaints(browser), Vec::<String>::new());
            assert_eq!(browser.audit(), Vec::<String>::new());
        }
        // It was read there, so the flow has nothing to say of it.
        open_flow(&other, &server, "");
        shows(
            &other,
            &format!(
                ".tab[data-private='{}']:not(.unread) .count[hidden]",
                ada.id
            ),
        );
        other.open(&format!("{}/app/-/private/999999", server.base_url()));
        assert!(other.text().contains("Page not found"));
    });
}

async fn what_is_sent_while_the_server_is_down_comes_once_when_it_is_back(mut server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        write(&one, "before");
        sees(&other, "before");
        server.kill9();
        write(&one, "meanwhile");
        shows(&one, "article.wait .state");
        shows(&one, "#offline:not([hidden])");
        server.restart();
        sees(&one, "meanwhile");
        sees(&other, "meanwhile");
        write(&other, "after");
        sees(&one, "after");
        for browser in [&one, &other] {
            browser.wait_for("document.querySelector('#offline').hidden");
            assert_eq!(texts(browser), ["before", "meanwhile", "after"]);
        }

        // The same over a reload: the page that comes back sends what the one before has not.
        server.kill9();
        write(&one, "reloaded");
        shows(&one, "article.wait .state");
        server.restart();
        open_flow(&one, &server, "");
        sees(&one, "reloaded");
        sees(&other, "reloaded");
        assert_eq!(texts(&one), ["before", "meanwhile", "after", "reloaded"]);
        assert_eq!(texts(&other), texts(&one));
    });
}

async fn a_refused_message_stays_until_it_is_dropped(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        // A text that is too long stays where it can be shortened.
        let long = "document.querySelector('#composer textarea').value";
        browser.execute(&format!("{long} = 'x'.repeat(8097)"));
        browser.type_keys(WRITE, ENTER);
        browser.wait_for("document.body.textContent.includes('8096 characters. Yours has 8097.')");
        assert_eq!(browser.execute(&format!("return {long}.length")), 8097);
        assert_eq!(browser.count("#chat article"), 0);
        // A page that counts otherwise than the server sends it.
        browser.execute("String.prototype[Symbol.iterator] = function* () {}");
        browser.type_keys(WRITE, ENTER);
        shows(&browser, "article.lost .state");
        let state = browser.execute("return document.querySelector('.state').textContent");
        assert!(
            state
                .as_str()
                .unwrap()
                .starts_with("Not sent: the text is longer than 8096 characters"),
            "{state}"
        );
        open_flow(&browser, &server, "");
        shows(&browser, "article.lost .state");
        browser.execute("document.querySelectorAll('.state button')[1].click()");
        browser.wait_for("!document.querySelector('#chat article')");
        open_flow(&browser, &server, "");
        assert_eq!(texts(&browser), Vec::<String>::new());
    });
}

async fn the_last_message_is_edited_and_deleted(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        write(&one, "Helo");
        sees(&other, "Helo");
        one.type_keys(WRITE, UP);
        one.wait_for(&format!(
            "document.querySelector('{WRITE}').value === 'Helo'"
        ));
        one.execute(&format!("document.querySelector('{WRITE}').select()"));
        write(&one, "Hello");
        sees(&one, "Hello (edited)");
        sees(&other, "Hello (edited)");
        assert_eq!(texts(&other).len(), 1);

        // Escape leaves a message as it is.
        one.type_keys(WRITE, UP);
        one.wait_for(&format!(
            "document.querySelector('{WRITE}').value === 'Hello'"
        ));
        one.type_keys(WRITE, ESCAPE);
        one.wait_for(&format!("document.querySelector('{WRITE}').value === ''"));

        one.execute("document.querySelector('#chat article').focus()");
        shows(&one, "[data-do=delete]");
        one.execute("document.querySelector('[data-do=delete]').click()");
        super::click(&one, "#delete[open] [value='delete']");
        sees(&other, "Deleted");
        sees(&one, "Deleted");
    });
}

async fn a_reply_goes_into_its_thread_from_either_pane(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        for text in ["Lunch?", "Something else"] {
            write(&browser, text);
            sees(&browser, text);
        }
        browser.execute("document.querySelector('#chat article').focus()");
        shows(&browser, "[data-do=reply]");
        browser.execute("document.querySelector('[data-do=reply]').click()");
        shows(&browser, "#composer .to:not([hidden])");
        write(&browser, "At noon");
        sees(&browser, "At noon");
        // The first row of the thread has its mark now, and the reply says what it is about.
        browser.wait_for("document.querySelectorAll('#chat .strung.knot').length === 2");
        shows(&browser, "#chat .about:not([hidden])");
        browser.execute("document.querySelectorAll('#chat .about')[2].click()");
        shows(&browser, "#thread");
        ready(&browser);
        browser.wait_for("document.querySelectorAll('#thread article').length === 2");
        browser.type_keys("#reply textarea", "Good");
        browser.type_keys("#reply textarea", ENTER);
        browser.wait_for("document.querySelectorAll('#thread article[data-id]').length === 3");
        sees(&browser, "Good");
        browser.type_keys("#reply textarea", ESCAPE);
        browser.wait_for("!document.querySelector('#thread')");
        ready(&browser);
        assert_eq!(
            texts(&browser),
            ["Lunch?", "Something else", "At noon", "Good"]
        );
    });
}

async fn a_composition_of_an_input_method_sends_nothing(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.execute(&format!("document.querySelector('{WRITE}').focus()"));
        let composing = serde_json::json!({"text": "に", "selectionStart": 1, "selectionEnd": 1});
        browser.command("Input.imeSetComposition", &composing);
        // Enter takes the composed text over, and belongs to the input method.
        let enter = serde_json::json!({"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229});
        browser.command("Input.dispatchKeyEvent", &enter);
        browser.command("Input.insertText", &serde_json::json!({"text": "日本"}));
        browser.wait_for(&format!(
            "document.querySelector('{WRITE}').value === '日本'"
        ));
        assert_eq!(texts(&browser), Vec::<String>::new());
        browser.type_keys(WRITE, ENTER);
        sees(&browser, "日本");
    });
}

async fn a_draft_outlives_a_reload(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        browser.type_keys(WRITE, "not yet");
        open_flow(&browser, &server, "");
        browser.wait_for(&format!(
            "document.querySelector('{WRITE}').value === 'not yet'"
        ));
        browser.type_keys(WRITE, ENTER);
        sees(&browser, "not yet");
        open_flow(&browser, &server, "");
        browser.wait_for(&format!("document.querySelector('{WRITE}').value === ''"));
    });
}
