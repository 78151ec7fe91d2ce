//! Pictures of users without one.

use eddyline_avatars::draw;
use proptest::prelude::*;

const KEY: &str = "5f3a1c0b9d7e4f62a1b2c3d4e5f60718";

/// What stands in the only text of a drawing.
fn text(drawing: &str) -> &str {
    let (_, rest) = drawing
        .split_once(r##"fill="#fff">"##)
        .expect("there is a text");
    rest.split_once("</text></svg>").expect("the text ends").0
}

#[test]
fn a_drawing_is_initials_on_a_colour() {
    assert_eq!(
        draw("Ada Lovelace", KEY, None),
        concat!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" role="img" aria-label="AL">"##,
            r##"<rect width="100" height="100" fill="#7b62b8"/>"##,
            r##"<text x="50" y="50" dy=".35em" text-anchor="middle" font-family="sans-serif" "##,
            r##"font-size="40" fill="#fff">AL</text></svg>"##,
        )
    );
}

#[test]
fn a_drawing_has_the_size_asked_for_within_the_sizes_there_are() {
    for (asked, given) in [(64, 64), (0, 16), (u32::MAX, 512)] {
        let size = format!(r#" width="{given}" height="{given}" viewBox="0 0 100 100""#);
        assert!(draw("Ada", KEY, Some(asked)).contains(&size));
    }
}

#[test]
fn the_key_chooses_the_colour_and_the_name_does_not() {
    let colour = |name: &str, key: &str| {
        let drawing = draw(name, key, None);
        let (_, rest) = drawing.split_once(r##"fill="#"##).unwrap();
        rest[..6].to_owned()
    };
    assert_eq!(colour("Ada", KEY), colour("Grace Hopper", KEY));
    assert_ne!(
        colour("Ada", KEY),
        colour("Ada", "00000000000000000000000000000000")
    );
}

#[test]
fn a_drawing_tells_the_initials_and_nothing_more() {
    let drawing = draw("Ada Lovelace", KEY, None);
    assert!(!drawing.contains("da") && !drawing.contains("ovelace") && !drawing.contains(KEY));
}

#[test]
fn who_has_no_name_gets_a_question_mark() {
    assert_eq!(text(&draw(" - ", KEY, None)), "?");
}

#[test]
fn letters_of_a_joined_script_stand_apart() {
    assert_eq!(text(&draw("محمد علي", KEY, None)), "م\u{200c}ع");
    assert_eq!(text(&draw("דוד כהן", KEY, None)), "דכ");
}

#[test]
fn what_means_something_in_xml_is_escaped() {
    // A sign that goes before a letter takes whatever follows for its letter.
    for (name, expected) in [
        ("\u{d4e}<script>", "\u{d4e}&lt;"),
        ("\u{d4e}&amp;", "\u{d4e}&amp;"),
        ("\u{d4e}\" onload=\"", "\u{d4e}&quot;O"),
        ("\u{d4e}' x", "\u{d4e}&#39;X"),
        ("</text><script>alert(1)</script>", "T"),
    ] {
        assert_eq!(text(&draw(name, KEY, None)), expected, "{name}");
    }
}

proptest! {
    #[test]
    fn any_name_makes_a_small_and_whole_drawing(
        name in prop_oneof![any::<String>(), "[\u{d4e}\u{600}-\u{605}<>&\"'\u{301}\u{200d}👩 \0]{0,40}"],
        key in any::<String>(),
        side in any::<Option<u32>>(),
    ) {
        let drawing = draw(&name, &key, side);
        prop_assert!(drawing.len() < 1024, "{}", drawing.len());
        // Of the tags only ours, and of the entities only those that escape.
        prop_assert_eq!(drawing.matches('<').count(), 5);
        prop_assert_eq!(drawing.matches('>').count(), 5);
        let text = text(&drawing);
        let label = format!(r#"aria-label="{text}">"#);
        prop_assert!(drawing.contains(&label));
        prop_assert!(!text.contains(['<', '>', '"', '\'']) && !text.chars().any(char::is_control));
        let escapes = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        let escaped: usize = escapes.iter().map(|escape| text.matches(escape).count()).sum();
        prop_assert_eq!(text.matches('&').count(), escaped);
    }
}
