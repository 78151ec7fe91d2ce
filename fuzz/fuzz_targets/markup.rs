//! Whatever comes in, a browser finds nothing in what goes out that is not allowed, and cleaning it
//! again changes nothing.

#![no_main]

// The same judge as in the tests.
#[path = "../../crates/markup/tests/markup/judge.rs"]
mod judge;

use eddyline_markup::{body, escape, text, title};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|html: &str| {
    let cleaned = body(html, |_| None);
    assert_eq!(
        judge::faults_of_body(&cleaned),
        <Vec<String>>::new(),
        "{cleaned}"
    );
    assert_eq!(body(&cleaned, |_| None), cleaned);

    // Addresses that are put in cannot break out of their attributes.
    let address = "https://x.example/?a=\"&lt;'>";
    let filled = body(html, |_| Some(address.to_owned()));
    assert_eq!(
        judge::faults_of_body(&filled),
        <Vec<String>>::new(),
        "{filled}"
    );
    assert_eq!(body(&filled, |_| None), filled);

    let cleaned = title(html);
    assert_eq!(
        judge::faults_of_title(&cleaned),
        <Vec<String>>::new(),
        "{cleaned}"
    );
    assert_eq!(title(&cleaned), cleaned);

    let words = text(html);
    assert_eq!(text(&escape(&words)), words);
});
