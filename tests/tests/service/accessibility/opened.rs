//! What the script of the page of a flow shows when it is asked.

use super::{JudgedPages, MAIN, judge, judge_everywhere};

/// Waits for what is shown a moment later.
const SHOWS: &str = "const shows = (css) => new Promise((resolve) => {
        const look = () => document.querySelector(css)?.checkVisibility() ? resolve() : setTimeout(look, 20);
        look();
    });";

/// How each is opened.
const WINDOWS: [(&str, &str); 5] = [
    (
        "switcher",
        "document.querySelector('[data-do=jump]').click()",
    ),
    (
        "keys",
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }))",
    ),
    (
        "notifications",
        "document.querySelector('[data-do=notices]').click()",
    ),
    (
        "picture",
        "document.querySelector('#chat .shot').click(); return shows('#lightbox[open] img')",
    ),
    (
        // There is one on narrow screens only.
        "drawer",
        "if (innerWidth < 1000) document.querySelector('.talk [data-drawer-opener]').click()",
    ),
];
const FORMS: [(&str, &str); 6] = [
    (
        "emoji",
        "document.querySelector('#composer [data-do=emoji]').click();
         return shows('#picker [role=option]')",
    ),
    (
        "tools",
        "document.querySelector('#chat article[data-mine]').focus()",
    ),
    (
        "tags",
        "document.querySelector('#chat article[data-mine]').focus();
         document.querySelector('#chat [data-do=tags]').click();
         return shows('#chat .line-form input')",
    ),
    (
        "completion",
        "document.querySelector('#composer [data-do=mention]').click();
         return shows('#composer-menu [role=option]')",
    ),
    (
        "files to be sent",
        "const transfer = new DataTransfer();
         transfer.items.add(new File(['tea'], 'tea.txt', { type: 'text/plain' }));
         document.querySelector('#composer textarea').dispatchEvent(new ClipboardEvent('paste',
             { clipboardData: transfer, bubbles: true, cancelable: true }));
         return shows('#composer .going')",
    ),
    (
        "answer",
        "document.querySelector('#chat article[data-thread]').focus();
         document.querySelector('#chat [data-do=reply]').click();
         return shows('#composer .to')",
    ),
];

#[test]
fn axe_finds_nothing_in_windows_of_a_flow() {
    judge(|judged| {
        let mut faults = faults(judged, &WINDOWS);
        faults.retain(|fault| !fault.starts_with("drawer ") || !is_of_page(fault));
        faults
    });
}

#[test]
fn axe_finds_nothing_in_forms_of_a_flow() {
    judge(|judged| faults(judged, &FORMS));
}

fn faults(judged: &JudgedPages, opened: &[(&str, &str)]) -> Vec<String> {
    let faults = opened.iter().map(|(name, script)| {
        let open = || {
            judged.open(MAIN);
            judged
                .browser
                .wait_for("document.documentElement.dataset.ready !== undefined");
            judged.browser.execute(&format!("{SHOWS} {script}"));
        };
        judge_everywhere(&judged.browser, &judged.axe, &open, name)
    });
    faults.flatten().collect()
}

/// Whether a fault is that the page has no main part or heading. While the drawer is open, what is
/// behind it is inert, and the rules do not find it.
fn is_of_page(fault: &str) -> bool {
    ["landmark-one-main", "page-has-heading-one"]
        .iter()
        .any(|rule| fault.contains(rule))
}
