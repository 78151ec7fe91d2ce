use super::*;
use proptest::prelude::*;

/// The tokens under which a text is filed, one by one.
fn tokens(text: &str) -> Vec<String> {
    super::tokens(text).iter().map(str::to_owned).collect()
}

/// The tokens that a search looks up, one by one.
fn query(text: &str) -> Vec<String> {
    let query = super::query(text);
    let words = query.words().iter();
    words.map(|word| word.token.clone()).collect()
}

/// Whether a search for `query_text` finds a message with `text`.
fn finds(query_text: &str, text: &str) -> bool {
    let (tokens, query) = (tokens(text), super::query(query_text));
    let is_there = |word: &QueryWord| tokens.iter().any(|token| word.accepts(token));
    !query.is_empty() && query.words().iter().all(is_there) && query.accepts_phrases(text)
}

#[test]
fn all_words_of_a_search_must_be_there() {
    let text = "The quick brown fox jumps.";
    assert!(finds("fox quick", text));
    assert!(finds("FOX", text));
    assert!(!finds("fox wolf", text));
    assert!(!finds("ox", text), "the end of a word is not the word");
}

#[test]
fn a_search_without_a_word_finds_nothing() {
    for nothing in [
        "",
        "  ",
        "...",
        "_",
        "__ -- ::",
        "\0\u{7}",
        "\u{301}",
        "\u{fe0f}\u{200d}",
    ] {
        assert_eq!(query(nothing), [""; 0], "{nothing:?}");
        assert_eq!(tokens(nothing), [""; 0], "{nothing:?}");
    }
}

#[test]
fn accents_and_case_do_not_count() {
    assert!(finds("cafe", "CAFÉ"));
    assert!(finds("Café", "cafe"));
    assert!(finds("cafe\u{301}", "café"));
    assert!(finds("ΟΔΟΣ", "οδός"));
    assert!(finds("istanbul", "İstanbul"));
    assert!(finds("uber", "Über"));
}

#[test]
fn code_is_found_whole_and_by_its_words() {
    let text = "see `foo_bar::baz` and parseHTTPRequest in __init__";
    for word in [
        "foo_bar::baz",
        "foo_bar",
        "foo",
        "bar",
        "baz",
        "parseHTTPRequest",
        "parsehttprequest",
    ] {
        assert!(finds(word, text), "{word}");
    }
    for word in ["parse", "http", "request", "init", "__init__", "_foo_"] {
        assert!(finds(word, text), "{word}");
    }
    assert!(!finds("\"parsehttp\"", text));
    assert!(!finds("foobar", text));
}

#[test]
fn identifiers_part_at_underscores_and_humps_only() {
    assert_eq!(
        tokens("get_userName"),
        ["get", "get_username", "name", "user", "username"]
    );
    assert_eq!(
        tokens("parseHTTPRequest"),
        ["http", "parse", "parsehttprequest", "request"]
    );
    assert_eq!(tokens("sha256sum v2 README"), ["readme", "sha256sum", "v2"]);
    assert_eq!(tokens("größeÄndern"), ["andern", "grosse", "grosseandern"]);
    assert_eq!(query("get_userName::x"), ["get_username", "x"]);
}

#[test]
fn addresses_are_found_by_their_words() {
    let text =
        "mail bob.smith@example.org or see https://www.example.org:8080/a-b/index.html?q=1#top";
    for word in [
        "bob.smith@example.org",
        "bob",
        "example",
        "https://www.example.org",
        "index.html",
        "q=1",
        "a-b",
    ] {
        assert!(finds(word, text), "{word}");
    }
}

#[test]
fn east_asian_text_is_found_by_any_sequence() {
    for (word, text) in [
        ("京都", "東京都に行く"),
        ("東京都", "東京都に行く"),
        ("都", "東京都に行く"),
        ("カタカナ", "ｶﾀｶﾅで"),
        ("ガ", "ｶﾞ"),
        ("국어", "한국어입니다"),
        ("葛", "葛\u{e0100}城"),
        ("docker", "使用docker部署"),
        ("部署", "使用docker部署"),
        ("𠮷野", "𠮷野家"),
    ] {
        assert!(finds(word, text), "{word} in {text}");
    }
    assert!(!finds("京東", "東京都"));
    assert!(!finds("か", "が"));
    assert_eq!(tokens("東京都"), ["京", "京都", "東", "東京", "都"]);
    assert_eq!(query("東京都"), ["京都", "東京"]);
    assert_eq!(query("東"), ["東"]);
    assert_eq!(query("v2版"), ["v2", "版"]);
}

#[test]
fn scripts_without_spaces_are_found_by_any_sequence() {
    for (word, text) in [
        ("โรงพยาบาล", "โรงพยาบาลไม่เปิดทำการวันนี้"),
        ("ทำการ", "โรงพยาบาลไม่เปิดทำการวันนี้"),
        ("ဆေးရုံ", "ကျွန်တော်ဆေးရုံသွားမယ်"),
        ("ໂຮງໝໍ", "ຂ້ອຍໄປໂຮງໝໍມື້ນີ້"),
        ("ពេទ្យ", "ខ្ញុំទៅមន្ទីរពេទ្យថ្ងៃនេះ"),
        ("docker", "ใช้dockerครับ"),
    ] {
        assert!(finds(word, text), "{word} in {text}");
    }
    assert!(!finds("บาลพยา", "โรงพยาบาล"));
}

#[test]
fn a_pasted_sentence_counts_as_the_words_it_has() {
    let sentence = "来週の会議は金曜日の午後三時から大会議室で行う予定なので資料を準備";
    assert_eq!(count_words(sentence), 1);
    assert!(finds(sentence, &format!("連絡：{sentence}してください")));
    assert_eq!(count_words("a b 東京 A c👍"), 5);
    let long = format!("{} tail", sentence.repeat(5));
    assert!(query(&long).len() <= super::query::MAX_QUERY_TOKENS);
    assert!(query(&long).contains(&"tail".to_owned()));
}

#[test]
fn letters_without_a_decomposition_are_found_by_their_ascii() {
    for (word, text) in [
        ("mass", "Eine Maß Bier"),
        ("Maß", "EINE MASS"),
        ("lodz malpa", "Łódź i małpa"),
        ("diyarbakir", "DİYARBAKIR toplantısı"),
        ("toplantisi", "DİYARBAKIR toplantısı"),
        ("smorrebrod", "Smørrebrød"),
        ("aesir", "Æsir"),
        ("coeur", "cœur"),
        ("thor", "Þór"),
        ("da nang", "Đà Nẵng"),
    ] {
        assert!(finds(word, text), "{word} in {text}");
    }
}

#[test]
fn other_scripts_keep_their_words() {
    assert!(finds("привет", "Привет, мир"));
    assert!(finds("हिन्दी", "मैं हिन्दी बोलता हूँ"));
    assert!(finds("سلام", "سلام دنیا"));
    assert!(finds("می‌خواهم", "میخواهم"), "a joiner is invisible");
}

#[test]
fn an_emoji_is_a_word_in_any_skin_tone() {
    assert_eq!(tokens("nice👍🏽work ❤️"), ["nice", "work", "❤", "👍"]);
    assert!(finds("👍", "👍🏿"));
    assert!(finds("👍🏽", "👍"));
    assert!(finds("💻", "👩‍💻"));
    assert!(finds("🇫🇮", "🇫🇮"));
    assert!(!finds("🎉", "👍"));
    assert!(finds("1", "1️⃣"));
    assert!(finds("foo", "Foo™"));
    assert!(finds("20°C", "20℃"));
}

#[test]
fn long_words_are_the_same_when_they_begin_the_same() {
    let long = "x".repeat(1000);
    assert_eq!(query(&long), ["x".repeat(64)]);
    assert!(finds(&"x".repeat(70), &long));
    assert_eq!(query(&format!("{}__y", "x".repeat(63))), ["x".repeat(63)]);
}

#[test]
fn a_repeated_word_is_one_token() {
    assert_eq!(tokens("b a B b. A"), ["a", "b"]);
}

/// Texts in which everything the rules speak of is likely to meet.
fn mixed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9_]{1,8}",
        "[ .:/'\\-\"\\\\\\n\\x00]{1,2}",
        "[éÉßΣςİǆﬁ①™²½\u{301}\u{308}\u{345}\u{3099}\u{fe0f}\u{200d}\u{20e3}]",
        "[東京都かがガｶﾞ한국ㅋᄀ葛𠮷々ー]{1,4}",
        "[👍🏽❤🇫🇮Ⓐ⼀]",
        "\\PC",
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_word_of_a_text_finds_it(text in prop_oneof![mixed(), any::<String>()]) {
        let tokens = tokens(&text);
        for word in text.split_whitespace().flat_map(query) {
            prop_assert!(tokens.contains(&word), "{word:?} not in {tokens:?}");
        }
        for word in query(&text) {
            prop_assert!(tokens.contains(&word), "{word:?} not in {tokens:?}");
        }
    }

    #[test]
    fn words_of_ascii_are_the_same_beside_another_script(text in "[ -~\\n]{0,40}") {
        let mut beside = tokens(&format!("{text} 東"));
        prop_assert_eq!(beside.pop(), Some("東".to_owned()));
        prop_assert_eq!(tokens(&text), beside);
    }

    #[test]
    fn every_token_finds_its_text(text in mixed()) {
        for token in tokens(&text) {
            prop_assert_eq!(query(&token), [token.clone()]);
        }
    }

    #[test]
    fn a_token_is_a_short_word_or_one_symbol(text in prop_oneof![mixed(), any::<String>()]) {
        let tokens = tokens(&text);
        prop_assert!(tokens.is_sorted_by(|a, b| a < b));
        for token in &tokens {
            let mut characters = token.chars();
            prop_assert!((1..=MAX_TOKEN).contains(&token.chars().count()));
            prop_assert!(
                token.chars().all(is_word_char) || characters.next().map(kind) == Some(CharClass::Symbol) && characters.next().is_none(),
                "{:?}", token
            );
            prop_assert!(!token.starts_with('_') && !token.ends_with('_'));
        }
    }

    #[test]
    fn case_does_not_matter(text in "[a-zA-Zäöüéñ ]{0,40}") {
        prop_assert_eq!(query(&text.to_uppercase()), query(&text.to_lowercase()));
    }
}
