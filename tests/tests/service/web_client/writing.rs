//! What helps with writing: files, completion, emoji, the switcher and the keys.

use eddyline_client::Method;
use eddyline_testing::browser::Browser;
use eddyline_tests::{Acme, Server, on_both_databases};
use serde_json::json;

use super::{
    DOWN, ENTER, ESCAPE, MAIN, WRITE, complaints, open, open_flow, sees, shows, texts, write,
};

on_both_databases![
    files_are_picked_pasted_and_dropped_and_the_pictures_looked_at,
    an_upload_is_cancelled_and_one_that_fails_is_sent_again,
    names_tags_and_emoji_are_completed_by_the_keyboard,
    the_switcher_leads_to_flows_people_threads_and_commands,
    keys_lead_through_the_page_unless_single_letters_are_off,
    tags_are_edited_in_the_row,
    an_edit_of_the_text_changes_tags_and_mentions,
    a_status_is_set_and_shown_beside_the_name,
    a_reaction_is_one_click_and_counted_everywhere,
    a_long_text_is_folded_until_it_is_asked_for,
];

const TAB: &str = "\u{e004}";
const CONTROL: &str = "\u{e009}";
const RELEASE: &str = "\u{e000}";

/// A picture of 40 by 20 pixels, as a data address.
const PICTURE: &str = "const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 20 });
    const bytes = Uint8Array.from(atob(canvas.toDataURL('image/png').split(',')[1]), (each) => each.charCodeAt());
    const file = (name) => new File([bytes], name, { type: 'image/png' });
    const transfer = new DataTransfer();";

async fn files_are_picked_pasted_and_dropped_and_the_pictures_looked_at(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "to be read").unwrap();
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        one.type_keys("#composer input[type=file]", notes.to_str().unwrap());
        shows(&one, "#composer .going");
        one.execute(&format!(
            "{PICTURE} transfer.items.add(file('pasted.png'));
             document.querySelector('{WRITE}').dispatchEvent(new ClipboardEvent('paste',
                 {{ clipboardData: transfer, bubbles: true, cancelable: true }}));"
        ));
        one.execute(&format!(
            "{PICTURE} transfer.items.add(file('dropped.png'));
             document.querySelector('.talk').dispatchEvent(new DragEvent('drop',
                 {{ dataTransfer: transfer, bubbles: true, cancelable: true }}));"
        ));
        assert_eq!(one.count("#composer .going"), 3);
        assert_eq!(one.audit(), Vec::<String>::new());
        write(&one, "Three files");
        for browser in [&one, &other] {
            browser.wait_for(
                "document.querySelectorAll('#chat article[data-id] :is(.file, .shot)').length === 3",
            );
            sees(browser, "Three files");
            assert_eq!(
                names(browser),
                ["notes.txt", "pasted.png", "dropped.png"],
                "in the order in which they were added"
            );
        }
        assert_eq!(one.count("#composer .going"), 0);

        // A picture has its place before it is loaded, and is looked at in the page.
        assert_eq!(
            other.attribute("#chat .shot img", "width").as_deref(),
            Some("40")
        );
        other.execute("document.querySelector('#chat .shot').click()");
        shows(&other, "#lightbox[open]");
        let named = "return document.querySelector('#lightbox b').textContent";
        assert_eq!(other.execute(named), "pasted.png");
        other.type_keys("#lightbox .after", "\u{e014}");
        assert_eq!(other.execute(named), "dropped.png");
        other.wait_for("document.querySelector('#lightbox img').naturalWidth === 40");
        other.type_keys("#lightbox .before", ESCAPE);
        other.wait_for("!document.querySelector('#lightbox').open");
        // The focus returns to the picture that was shown, after the window has closed.
        other.wait_for("document.activeElement.dataset.name === 'dropped.png'");
        for browser in [&one, &other] {
            assert_eq!(complaints(browser), Vec::<String>::new());
        }
    });
}

/// The names of the files in the chat, in their order.
fn names(browser: &Browser) -> Vec<String> {
    let names = browser.execute(
        "return [...document.querySelectorAll('#chat :is(.file .name, .shot)')]
             .map((place) => place.dataset.name ?? place.textContent)",
    );
    serde_json::from_value(names).unwrap()
}

async fn an_upload_is_cancelled_and_one_that_fails_is_sent_again(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, .. } = server.acme();
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.bin");
    // More than the buffers of a socket hold: what is in them arrives though the upload is cancelled.
    std::fs::write(&large, vec![7; 16 * 1024 * 1024]).unwrap();
    let network = |conditions: &serde_json::Value| {
        browser.command("Network.enable", &json!({}));
        browser.command("Network.emulateNetworkConditions", conditions);
    };
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        network(
            &json!({"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2048}),
        );
        let pick = || browser.type_keys("#composer input[type=file]", large.to_str().unwrap());
        pick();
        browser.type_keys(WRITE, ENTER);
        shows(&browser, "#composer .going progress:not([hidden])");
        browser.execute("document.querySelector('#composer .going .bare').click()");
        browser.wait_for("document.querySelectorAll('#composer .going').length === 0");

        network(
            &json!({"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}),
        );
        pick();
        browser.type_keys(WRITE, ENTER);
        shows(&browser, "#composer .going .again");
        network(
            &json!({"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}),
        );
        browser.execute("document.querySelector('#composer .going .again')?.click()");
        browser.wait_for("document.querySelectorAll('#chat article[data-id] .file').length === 1");
        browser.wait_for("document.querySelectorAll('#composer .going').length === 0");
        assert_eq!(names(&browser), ["large.bin"], "the first one was not sent");
    });
}

async fn names_tags_and_emoji_are_completed_by_the_keyboard(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    ben.say(MAIN, "the #release is near").await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let nick = browser.execute(&format!(
            "return document.querySelector('#people [data-id=\"{}\"]').dataset.nick",
            ben.id
        ));
        let nick = nick.as_str().unwrap();
        browser.type_keys(WRITE, &format!("Hi @{}", &nick[..1]));
        shows(
            &browser,
            "#composer-menu:not([hidden]) [aria-selected=true]",
        );
        assert_eq!(browser.audit(), Vec::<String>::new());
        let marked = browser.attribute(WRITE, "aria-activedescendant").unwrap();
        assert_eq!(browser.count(&format!("#{marked}[role=option]")), 1);
        // From the last choice the key leads to the first.
        let count = browser.count("#composer-menu [role=option]");
        browser.type_keys(WRITE, &DOWN.repeat(count));
        assert_eq!(
            browser.attribute(WRITE, "aria-activedescendant").unwrap(),
            marked
        );
        browser.type_keys(WRITE, TAB);
        browser.type_keys(WRITE, "see #rel");
        shows(&browser, "#composer-menu:not([hidden])");
        browser.type_keys(WRITE, ENTER);
        browser.type_keys(WRITE, ":rocke");
        shows(&browser, "#composer-menu:not([hidden])");
        browser.type_keys(WRITE, ENTER);
        let text = format!("Hi @{nick} see #release 🚀");
        let written = browser.execute(&format!("return document.querySelector('{WRITE}').value"));
        assert_eq!(written.as_str().unwrap().trim_end(), text);
        // Escape closes the list and leaves what was written.
        browser.type_keys(WRITE, "@");
        shows(&browser, "#composer-menu:not([hidden])");
        browser.type_keys(WRITE, ESCAPE);
        shows(&browser, "#composer-menu[hidden]");
        browser.type_keys(WRITE, ENTER);
        sees(&browser, &format!("{text} @"));
        // Not in a word, and not for a lone colon.
        for none in ["a@b", "so: ", ":x"] {
            browser.type_keys(WRITE, none);
            assert_eq!(browser.count("#composer-menu:not([hidden])"), 0, "{none}");
            browser.type_keys(WRITE, ENTER);
            sees(&browser, none.trim_end());
        }
        // A name that is typed in full becomes its emoji, which the browser undoes.
        let written = |text: &str| {
            browser.wait_for(&format!(
                "document.querySelector('{WRITE}').value === '{text}'"
            ));
        };
        browser.type_keys(WRITE, "Bye :wave:");
        written("Bye 👋");
        browser.type_keys(WRITE, &format!("{CONTROL}z{RELEASE}"));
        written("Bye :wave:");
        browser.type_keys(WRITE, " :nosuchname: `:wave:` 👋");
        written("Bye :wave: :nosuchname: `:wave:` 👋");
        // Those who want to see the name write it as code.
        browser.type_keys(WRITE, ENTER);
        sees(&browser, "Bye 👋 :nosuchname: :wave: 👋");
        // The picker writes at the caret.
        browser.execute("document.querySelector('#composer [data-do=emoji]').click()");
        shows(&browser, "#picker[open] [role=option]");
        browser.type_keys("#picker input", "tada");
        browser.wait_for(
            "document.querySelector('#picker [aria-selected=true]')?.textContent === '🎉'",
        );
        browser.type_keys("#picker input", ENTER);
        browser.type_keys(WRITE, ENTER);
        sees(&browser, "🎉");
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn the_switcher_leads_to_flows_people_threads_and_commands(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let root = ben.say(MAIN, "Whale sighted").await;
    let thread = &root["thread_id"];
    let reply = json!({"event": "message", "content": "Where?", "thread_id": thread});
    ben.post(MAIN, &reply).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let go = |letters: &str| {
            browser.type_keys("body", &format!("{CONTROL}k{RELEASE}"));
            shows(&browser, "#switcher[open]");
            browser.type_keys("#switcher input", letters);
            browser.wait_for(&format!(
                "document.querySelector('#switcher [aria-selected=true] .t mark')?.textContent.toLowerCase() === '{}'",
                letters.to_lowercase()
            ));
            assert_eq!(browser.audit(), Vec::<String>::new());
            browser.type_keys("#switcher input", ENTER);
        };
        go("whale");
        browser.wait_for("location.pathname.includes('/threads/')");
        super::ready(&browser);
        // The server knows threads that the page does not, and finds words in any order.
        browser.type_keys("body", &format!("{CONTROL}k{RELEASE}"));
        browser.type_keys("#switcher input", "sight wha");
        browser.wait_for(
            "document.querySelector('#switcher [aria-selected=true] .t')?.textContent === 'Whale sighted'",
        );
        browser.type_keys("#switcher input", ESCAPE);
        go("Ben");
        browser.wait_for(&format!(
            "location.pathname === '/app/-/private/{}'",
            ben.id
        ));
        super::ready(&browser);
        go("main");
        browser.wait_for(&format!("location.pathname === '/app/{MAIN}'"));
        super::ready(&browser);
        go("keys");
        shows(&browser, "#keys[open]");
        browser.execute("document.querySelector('#keys button').click()");
        // A name of nothing is said to be one, and Escape leads back.
        browser.type_keys("body", &format!("{CONTROL}k{RELEASE}"));
        browser.type_keys("#switcher input", "zzzz");
        browser.wait_for("document.querySelector('#found').textContent.includes('Nothing')");
        browser.type_keys("#switcher input", ESCAPE);
        browser.wait_for("!document.querySelector('#switcher').open");
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn keys_lead_through_the_page_unless_single_letters_are_off(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    for text in ["one", "two @ada", "three"] {
        ben.say(MAIN, text).await;
    }
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        let focused = || {
            let text = "return document.activeElement.closest('article')?.querySelector('.text').textContent ?? document.activeElement.tagName";
            browser.execute(text).as_str().unwrap().to_owned()
        };
        let press = |keys: &str| browser.press_keys(keys);
        browser.execute("document.activeElement.blur()");
        press("k");
        assert_eq!(focused(), "three");
        press("k");
        press("k");
        assert_eq!(focused(), "one");
        press("j");
        assert_eq!(focused(), "two @ada");
        press("\u{e010}");
        assert_eq!(focused(), "three", "End leads to the newest");
        press("m");
        assert_eq!(focused(), "two @ada");
        press("c");
        assert_eq!(focused(), "TEXTAREA");
        press("?m");
        assert_eq!(
            browser.count("#keys[open]"),
            0,
            "in a field a letter is a letter"
        );
        press("\u{e00f}");
        browser.execute("document.activeElement.blur()");
        press("?");
        shows(&browser, "#keys[open]");
        assert_eq!(browser.audit(), Vec::<String>::new());
        browser.execute("document.querySelector('#keys input').click(); document.querySelector('#keys').close()");
        browser.execute("document.activeElement.blur()");
        press("c");
        assert_eq!(focused(), "BODY", "single letters are switched off");
        open_flow(&browser, &server, "");
        press("k");
        assert_eq!(focused(), "BODY", "also on the next page");
        // Keys that are no letters stay.
        press("\u{e036}");
        assert_ne!(focused(), "BODY", "F6 leads into a pane");
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_status_is_set_and_shown_beside_the_name(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        for (browser, who) in [(&one, &ada), (&other, &ben)] {
            open(browser, &server, who);
            open_flow(browser, &server, "/people");
        }
        assert_eq!(one.count("[data-do=status]"), 1, "only in one's own line");
        one.press("Set your status");
        one.press_keys(&format!("In the workshop{ENTER}"));
        for browser in [&one, &other] {
            browser.wait_for(&format!(
                "document.querySelector('[data-person=\"{}\"] small').textContent === 'In the workshop'",
                ada.id
            ));
            sees(browser, "In the workshop");
        }
        // Escape leaves it as it was, and the focus comes back.
        one.press("Change your status");
        one.press_keys(&format!("Gone{ESCAPE}"));
        one.wait_for("document.activeElement.dataset.do === 'status'");
        assert_eq!(texts(&other), ["In the workshop"]);
        // The chat says that it is a status, live and when the page is made anew.
        let line =
            "document.querySelector('#chat .msg.act .sets')?.textContent === 'set a status:'";
        other.wait_for(line);
        open_flow(&other, &server, "");
        other.wait_for(line);
        for browser in [&one, &other] {
            assert_eq!(complaints(browser), [""; 0]);
        }
    });
}

async fn tags_are_edited_in_the_row(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        write(&one, "Tag me");
        sees(&other, "Tag me");
        let edit = |browser: &Browser, tags: &str| {
            browser.execute("document.querySelector('#chat article[data-id]').focus()");
            browser.press_keys("t");
            shows(browser, "#chat .line-form");
            browser.execute("document.querySelector('.line-form input').select()");
            browser.type_keys("#chat .line-form input", tags);
            browser.type_keys("#chat .line-form input", ENTER);
            browser.wait_for("!document.querySelector('#chat .line-form')");
        };
        let shown = |browser: &Browser, tags: &str| {
            browser.wait_for(&format!(
                "(document.querySelector('#chat .tags')?.textContent ?? '') === '{tags}'"
            ));
        };
        // Who has not written the message may do it as well.
        edit(&other, "#release, Urgent");
        shown(&one, "#release#urgent");
        edit(&one, "#release");
        shown(&other, "#release");
        edit(&one, "\u{e003}");
        shown(&other, "");
        assert_eq!(texts(&other), ["Tag me"]);
        assert_eq!(complaints(&one), Vec::<String>::new());
    });
}

async fn an_edit_of_the_text_changes_tags_and_mentions(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let said = ben.say(MAIN, "See below").await;
    let path = format!("/flows/{MAIN}/messages/{}", said["id"]);
    let edit = |text: &str| json!({"content": text});
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        shows(&browser, "#chat article:not(.hit):not([data-tags])");
    });
    ben.does(Method::PUT, &path, &edit("@ada see #release"))
        .await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#chat article.hit[data-tags*='release']");
    });
    ben.does(Method::PUT, &path, &edit("See below")).await;
    tokio::task::block_in_place(|| {
        shows(&browser, "#chat article:not(.hit):not([data-tags])");
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}

async fn a_reaction_is_one_click_and_counted_everywhere(server: Server) {
    let (Some(one), Some(other)) = (Browser::start(), Browser::start()) else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    tokio::task::block_in_place(|| {
        open(&one, &server, &ada);
        open(&other, &server, &ben);
        write(&one, "It works");
        sees(&other, "It works");
        let reactions = |browser: &Browser, wanted: &str| {
            browser.wait_for(&format!(
                "[...document.querySelectorAll('#chat .react')].map((each) =>
                     each.textContent + each.title + each.ariaPressed).join() === '{wanted}'"
            ));
        };
        other.execute("document.querySelector('#chat article[data-id]').focus()");
        other.press_keys("+");
        shows(&other, "#picker[open] [role=option]");
        other.type_keys("#picker input", "tada");
        other.wait_for(
            "document.querySelector('#picker [aria-selected=true]')?.textContent === '🎉'",
        );
        other.type_keys("#picker input", ENTER);
        reactions(&other, "🎉1bentrue");
        reactions(&one, "🎉1benfalse");
        assert_eq!(one.audit(), Vec::<String>::new());
        let click = |browser: &Browser| {
            browser.execute("document.querySelector('#chat .react').click()");
        };
        click(&one);
        reactions(&one, "🎉2ben, adatrue");
        reactions(&other, "🎉2ben, adatrue");
        click(&other);
        reactions(&one, "🎉1adatrue");
        reactions(&other, "🎉1adafalse");
        // The page that the server makes anew shows the same.
        open_flow(&other, &server, "");
        reactions(&other, "🎉1adafalse");
        click(&one);
        reactions(&other, "");
        for browser in [&one, &other] {
            assert_eq!(complaints(browser), Vec::<String>::new());
        }
    });
}

async fn a_long_text_is_folded_until_it_is_asked_for(server: Server) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Acme { ada, ben } = server.acme();
    let lines = |count: usize| vec!["line"; count].join("\n");
    ben.say(MAIN, &lines(12)).await;
    ben.say(MAIN, &lines(13)).await;
    tokio::task::block_in_place(|| {
        open(&browser, &server, &ada);
        assert_eq!(browser.count("#chat .msg.long"), 1);
    });
    ben.say(MAIN, &lines(12)).await;
    ben.say(MAIN, &lines(13)).await;
    tokio::task::block_in_place(|| {
        browser.wait_for("document.querySelectorAll('#chat article[data-id]').length === 4");
        assert_eq!(
            browser.count("#chat .msg.long"),
            2,
            "the stream folds by the same rule"
        );
        let height = "return document.querySelectorAll('#chat .text')[1].clientHeight";
        let folded = browser.execute(height).as_i64().unwrap();
        browser.execute("document.querySelector('#chat .long .unfold').click()");
        assert!(browser.execute(height).as_i64().unwrap() > folded);
        assert_eq!(browser.count("#chat .msg.long"), 1);
        assert_eq!(complaints(&browser), Vec::<String>::new());
    });
}
